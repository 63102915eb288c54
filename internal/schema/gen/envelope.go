package main

import (
	"fmt"
	"strings"

	"stackagent/internal/schema"
)

// sent are the records that have a list in the envelope.
func sent() []*schema.Record {
	return with(func(r *schema.Record) bool { return r.Wire.Key != "" })
}

// listName is the name of a record's list: the last one of its path in a batch, for an entry of Contexts that of the records.
func listName(r *schema.Record) string {
	if name := inBatch(r); !strings.Contains(name, ".") {
		return name
	}
	return r.Plural
}

// listLabel is how errors name a record's list.
func listLabel(r *schema.Record) string {
	if r.Wire.Coding == schema.List && r.Wire.What != "" {
		return r.Wire.What + "s"
	}
	return words(r.Plural)
}

// writeEnvelope makes what writes and reads the lists of records in a batch.
func writeEnvelope(c *code) {
	c.begin("wire", "cmp")
	c.p("// keyOrder are all keys of the envelope in the order in which they are written.\nconst keyOrder = %q\n\n// Keys of the lists of records. They are for ever.\nconst (", schema.Keys)
	for _, r := range sent() {
		c.p("\tkey%s = %q", listName(r), r.Wire.Key)
	}
	c.p(")\n\n// lists are how the lists of b travel.\nfunc (e *Encoder) lists(w *writer, b *Batch) []field {\n\treturn []field{")
	for _, r := range sent() {
		in, write := inBatch(r), ""
		switch r.Wire.Coding {
		case schema.List:
			write = fmt.Sprintf("each(w, b.%s, (*writer).%s)", in, lower(r.Name))
		case schema.Entries:
			write = fmt.Sprintf("e.payload = append%s(e.payload[:0], b.%s); w.bin(e.payload)", in, in)
		default:
			work := "Work{}"
			if r.Wire.Work {
				work = "b." + r.Name + "Work"
			}
			write = fmt.Sprintf("e.payload = appendPayload(e, e.payload[:0], b.%s, %s, &%sPayload); w.bin(e.payload)", in, work, lower(r.Plural))
		}
		c.p("\t\t{key%s, len(b.%s) > 0, func() { %s }},", listName(r), in, write)
	}
	c.p("\t}\n}\n\n// list reads the list of records with this key, and reports whether there is such a key.\nfunc (r *reader) list(key string) bool {\n\tb := r.batch\n\tswitch key {")
	for _, r := range sent() {
		in := inBatch(r)
		c.p("\tcase key%s:", listName(r))
		switch work := "_"; r.Wire.Coding {
		case schema.List:
			c.p("\t\tb.%s = listOf(r, %q, (*reader).%s)", in, listLabel(r), lower(r.Name))
		case schema.Entries:
			c.p("\t\tb.%s = entriesOf(r, %q, decode%s)", in, listLabel(r), in)
		default:
			if r.Wire.Work {
				work = "b." + r.Name + "Work"
			}
			c.p("\t\tb.%s, %s = recordsOf(r, %q, &%sPayload)", in, work, listLabel(r), lower(r.Plural))
		}
	}
	c.p("\tdefault:\n\t\treturn false\n\t}\n\treturn true\n}\n\n// checkLists refuses lists that are longer than a message may hold.\nfunc (b *Batch) checkLists() error {\n\treturn cmp.Or(")
	for _, r := range sent() {
		most := map[schema.Coding]string{schema.List: "MaxItems", schema.Columnar: "MaxEvents"}[r.Wire.Coding]
		if most != "" {
			c.p("\t\ttooMany(len(b.%s), %s, %q),", inBatch(r), most, listLabel(r))
		}
	}
	c.p("\t)\n}")
}
