package main

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/schema"
)

// listed are the fields of a list or entry: those that every agent writes, and the later ones.
func listed(r *schema.Record) (first, later []schema.Field) {
	for _, f := range r.Fields {
		switch {
		case f.Name == "" || f.Wire.Number < 0:
		case f.Wire.Later:
			later = append(later, f)
		case !f.Wire.Newer:
			first = append(first, f)
		}
	}
	return first, later
}

// newest are the fields of a list behind all others that newer agents write, together.
func newest(r *schema.Record) (list []schema.Field) {
	for _, f := range r.Fields {
		if f.Wire.Newer {
			list = append(list, f)
		}
	}
	return list
}

// writeLists makes the codecs of what travels as msgpack arrays, and of the numbers of entries.
func writeLists(c *code) {
	c.begin("wire", "math", "", "stackagent/internal/units")
	for _, r := range with(func(r *schema.Record) bool { return r.Wire.Coding == schema.List }) {
		listWriter(c, r)
		listReader(c, r)
	}
	for _, r := range with(func(r *schema.Record) bool { return r.Wire.Coding == schema.Entries }) {
		first, later := listed(r)
		c.p("// How many numbers an entry has, and how many may stand behind them.\nconst %sFields, %sLaterFields = %d, %d\n", lower(r.Name), lower(r.Name), len(first), len(later))
		entryNumbers(c, r, "Numbers", first)
		entryNumbers(c, r, "LaterNumbers", later)
	}
}

func listWriter(c *code, r *schema.Record) {
	first, later := listed(r)
	last := newest(r)
	c.p("func (w *writer) %s(x *%s) {", lower(r.Name), r.Name)
	if len(later) == 0 {
		c.p("\tw.arrayLen(%d)", len(first))
	} else {
		c.p("\tn, more := %d, %s\n\tif more {\n\t\tn = %d\n\t}", len(first), haveLater(r, later), len(first)+len(later))
		if len(last) > 0 {
			c.p("\tif %s {\n\t\tn += %d\n\t}", anyOf(last), len(last))
		}
		c.p("\tw.arrayLen(n)")
	}
	for _, f := range first {
		c.p("\t%s", listWrite(f))
	}
	if len(later) > 0 {
		c.p("\tif more {")
		for _, f := range later {
			c.p("\t\t%s", listWrite(f))
		}
		c.p("\t}")
	}
	if len(last) > 0 {
		c.p("\tif %s {", anyOf(last))
		for _, f := range last {
			c.p("\t\t%s", listWrite(f))
		}
		c.p("\t}")
	}
	c.p("}\n")
}

// haveLater is the condition under which the later fields of x travel.
func haveLater(r *schema.Record, later []schema.Field) string {
	if r.Wire.If != "" {
		return "x." + r.Wire.If
	}
	if last := newest(r); withLater(later, last) {
		return anyOf(append(slices.Clone(later), last...))
	}
	return anyOf(later)
}

// withLater reports whether the newest fields never travel without the later ones: older readers would take them for these.
func withLater(later, last []schema.Field) bool { return len(last) > 0 && len(last) >= len(later) }

// anyOf is the condition under which one of the fields of x has a value.
func anyOf(fields []schema.Field) string {
	var any []string
	for _, f := range fields {
		switch f.Type {
		case "string":
			any = append(any, "x."+f.Name+` != ""`)
		case "bool":
			any = append(any, "x."+f.Name)
		default:
			any = append(any, "x."+f.Name+" != 0")
		}
	}
	return strings.Join(any, " || ")
}

func listReader(c *code, r *schema.Record) {
	first, later := listed(r)
	last := newest(r)
	least, all := len(first), len(first)+len(later)
	c.p("func (r *reader) %s(field string) (x %s) {", lower(r.Name), r.Name)
	switch {
	case len(later) == 0:
		c.p("\tend := r.fields(field, %d)", least)
	case withLater(later, last):
		c.p("\tn, end := r.fieldsFrom(field, %d, %d, %d)", least, all, all+len(last))
	case len(last) > 0:
		c.p("\tn, end := r.fieldsFrom(field, %d, %d, %d, %d)", least, least+len(last), all, all+len(last))
	default:
		c.p("\tn, end := r.fieldsFrom(field, %d, %d)", least, all)
	}
	for _, f := range first {
		c.p("\tx.%s = %s", f.Name, listRead(f))
	}
	if len(later) > 0 {
		if r.Wire.If != "" {
			c.p("\tif x.%s = n >= %d; x.%s {", r.Wire.If, all, r.Wire.If)
		} else {
			c.p("\tif n >= %d {", all)
		}
		for _, f := range later {
			c.p("\t\tx.%s = %s", f.Name, listRead(f))
		}
		c.p("\t}")
	}
	if len(last) > 0 {
		have := fmt.Sprintf("n == %d", all+len(last))
		if !withLater(later, last) {
			have = fmt.Sprintf("n == %d || ", least+len(last)) + have
		}
		c.p("\tif %s {", have)
		for _, f := range last {
			c.p("\t\tx.%s = %s", f.Name, listRead(f))
		}
		c.p("\t}")
	}
	c.p("\tend()\n\treturn x\n}\n")
}

// label is how errors name a field.
func label(f schema.Field) string {
	if f.Wire.What != "" {
		return f.Wire.What
	}
	return words(f.Name)
}

// msgTypes are the methods for what is not an integer.
var msgTypes = map[string]string{"string": "str", "bool": "bool", "[]uint32": "ids"}

// msgOf is the method that writes and reads a type, and its argument.
func msgOf(t string) (method, arg string) {
	switch i, ok := integerOf(t); {
	case !ok:
		return msgTypes[t], t
	case i.signed:
		return "int", "int64"
	}
	return "uint", "uint64"
}

func listWrite(f schema.Field) string {
	method, arg := msgOf(f.Type)
	return fmt.Sprintf("w.%s(%s)", method, as(arg, f.Type, "x."+f.Name))
}

func listRead(f schema.Field) string {
	method, arg := msgOf(f.Type)
	field := fmt.Sprintf("field+%q", "."+label(f))
	if n := bits(f.Type); n > 0 && method == "int" {
		return as(f.Type, arg, fmt.Sprintf("r.intWithin(%s, %d)", field, n))
	} else if n > 0 {
		return as(f.Type, arg, fmt.Sprintf("r.uintMax(%s, 1<<%d-1)", field, n))
	}
	return as(f.Type, arg, fmt.Sprintf("r.%s(%s)", method, field))
}

// entryNumbers makes the numbers of an entry of a payload, and reads them.
func entryNumbers(c *code, r *schema.Record, what string, fields []schema.Field) {
	name := lower(r.Name) + what
	entry := r.Wire.What
	if entry == "" {
		entry = lower(r.Name)
	}
	c.p("func %s(x *%s) [%d]uint64 {\n\treturn [...]uint64{", name, r.Name, len(fields))
	for _, f := range fields {
		value := as("uint64", f.Type, "x."+f.Name)
		switch f.Wire.Code {
		case schema.Since:
			value = fmt.Sprintf("uint64(x.%s - x.%s)", f.Name, f.Wire.Of)
		case schema.Measured:
			value = "measuredNumber(x." + f.Name + ")"
		}
		c.p("\t\t%s,", value)
	}
	c.p("\t}\n}\n\nfunc (p *payload) %s(x *%s, end int) {", name, r.Name)
	for _, f := range fields {
		most := "math.MaxUint64"
		if n := bits(f.Type); n > 0 {
			most = fmt.Sprintf("math.MaxUint%d", n)
		} else if f.Wire.Bounded {
			most = "math.MaxInt64"
		}
		read := "within"
		if f.Wire.Alone {
			read = "later"
		}
		value := fmt.Sprintf("p.%s(%q, end, %s)", read, entry+"."+label(f), most)
		switch f.Wire.Code {
		case schema.Since:
			value = fmt.Sprintf("x.%s + %s", f.Wire.Of, as(f.Type, "uint64", value))
		case schema.Measured:
			value = "numberMeasured(" + value + ")"
		default:
			value = as(f.Type, "uint64", value)
		}
		c.p("\tx.%s = %s", f.Name, value)
	}
	c.p("}\n")
}
