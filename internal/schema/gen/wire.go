package main

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/schema"
)

// writeWireTypes makes the Go types of package wire.
func writeWireTypes(c *code) {
	c.begin("wire", "stackagent/internal/units")
	for _, s := range schema.FlagSets {
		c.comment(s.Doc)
		c.p("type %s uint16\n\n// The bits of %s.\nconst (", s.Name, s.Name)
		for _, f := range s.Flags {
			c.p("\t%s %s = 1 << %d // %s", f.Name, s.Name, f.Bit, f.Doc)
		}
		c.p(")\n")
	}
	for _, s := range schema.KindSets {
		c.comment(s.Doc)
		c.p("type %s uint8\n\n// The values of %s.\nconst (", s.Name, s.Name)
		for i, k := range s.Kinds {
			c.p("\t%s%s // %s", k.Name, map[bool]string{true: " " + s.Name + " = iota"}[i == 0], k.Doc)
		}
		c.p("\tNum%ss\n)\n", s.Name)
	}
	for _, r := range with(func(r *schema.Record) bool { return r.Wire.Coding != schema.NotSent }) {
		c.comment(r.Doc)
		c.p("type %s struct {", r.Name)
		for _, f := range r.Fields {
			if f.Name != "" {
				c.p("\t%s %s // %s", f.Name, f.Type, plain(fieldDoc(f)))
			}
		}
		c.p("}\n")
	}
	writeCounts(c)
}

// sum makes a method that adds up the lengths of the lists of x.
func sum(c *code, x, head string, records []*schema.Record) {
	var lengths []string
	for _, r := range records {
		lengths = append(lengths, "len("+x+"."+inBatch(r)+")")
	}
	c.p("func (%s %s int {\n\treturn %s\n}\n", x, head, strings.Join(lengths, " +\n\t\t"))
}

// writeCounts makes the counts of a batch.
func writeCounts(c *code) {
	c.p("// Records counts all records but those that only take the place of earlier ones.")
	sum(c, "b", "*Batch) Records()", with(func(r *schema.Record) bool { return r.Wire.Key != "" && !r.Wire.Latest }))
	c.p("// Events counts the records that probes write one by one.")
	sum(c, "b", "*Batch) Events()", events())
}

// events are the records that probes write one by one.
func events() []*schema.Record {
	return with(func(r *schema.Record) bool {
		return r.Ring.Struct != "" && (r.Wire.Coding == schema.Columnar || r.Wire.Coding == schema.Entries)
	})
}

func fieldDoc(f schema.Field) string {
	if set := flagNames(f.Type); set != "" && f.Doc == "flags" {
		return "see " + f.Type
	}
	return f.Doc
}

// columns are the fields in a columnar payload, by their numbers.
func columns(r *schema.Record) (list []schema.Field) {
	for _, f := range r.Fields {
		if f.Wire.Number > 0 {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b schema.Field) int { return a.Wire.Number - b.Wire.Number })
	return list
}

func columnar() []*schema.Record {
	return with(func(r *schema.Record) bool { return r.Wire.Coding == schema.Columnar })
}

// writeColumns makes the codecs of the columnar payloads: a function for each column and way.
func writeColumns(c *code) {
	c.begin("wire", "stackagent/internal/units")
	c.p("// colWork is the number of the first column of an extra metric.\nconst colWork = %d\n", schema.ExtraColumns)
	names := map[int]string{}
	for _, r := range columnar() {
		c.p("// %s is how %s travel.\nvar %s = columnarOf[%s]{", lower(r.Plural)+"Payload", strings.ToLower(r.Plural), lower(r.Plural)+"Payload", r.Name)
		if r.Wire.Ratio {
			c.p("\tratio: ratioOf%s,", r.Plural)
		}
		c.p("\twork: %t,\n\tcolumns: []columnOf[%s]{", r.Wire.Work, r.Name)
		for _, f := range columns(r) {
			names[f.Wire.Number] = f.Wire.What
			used := ""
			if f.Wire.LeftOut {
				used = ", used: " + "any" + r.Name + f.Name
			}
			c.p("\t\t{number: %d, codes: code%s%s, set: set%s%s%s},", f.Wire.Number, r.Name, f.Name, r.Name, f.Name, used)
		}
		c.p("\t},\n}\n")
	}
	c.p("// columnNames are how errors name the columns.\nvar columnNames = map[uint64]string{")
	for n := range schema.ExtraColumns {
		if names[n] != "" {
			c.p("\t%d: %q,", n, names[n])
		}
	}
	c.p("}\n")
	for _, r := range columnar() {
		for _, f := range columns(r) {
			columnCodes(c, r, f)
			columnValues(c, r, f)
			if f.Wire.LeftOut {
				c.p("func any%s%s(x []%s) bool {\n\tfor i := range x {\n\t\tif x[i].%s != 0 {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n",
					r.Name, f.Name, r.Name, f.Name)
			}
		}
	}
}

// as converts an expression to a type unless it has it.
func as(to, from, expression string) string {
	if to == from {
		return expression
	}
	return to + "(" + expression + ")"
}

// of makes an expression of a record one of entry i.
func of(expression string) string { return strings.ReplaceAll(expression, "x.", "x[i].") }

// columnCodes makes the function that turns the values of a column into codes.
func columnCodes(c *code, r *schema.Record, f schema.Field) {
	ratio := "_ cpuRatio"
	value := as("uint64", f.Type, "x[i]."+f.Name)
	before, loop := "", ""
	switch f.Wire.Code {
	case schema.Delta:
		before, loop = "var last uint64", fmt.Sprintf("c[i], last = zigzag(%s-last), %s", value, value)
	case schema.AsIs:
		loop = "c[i] = " + value
	case schema.Outer:
		before, loop = "var outer outerCoder", "c[i] = outer.encode("+value+")"
	case schema.Residual:
		ratio, loop = "ratio cpuRatio", fmt.Sprintf("c[i] = ratio.encode(x[i].%s, uint64(%s))", f.Name, of(f.Wire.Of))
	case schema.Start:
		before, loop = "var last uint64", "c[i] = zigzag(uint64(x[i].Start) - last)\n\t\tlast = edge(x[i].Start, x[i].End)"
	case schema.End:
		loop = "c[i] = uint64(x[i].End - x[i].Start)"
	case schema.Submitted:
		loop = "c[i] = codeSubmitted(x[i]." + f.Name + ", x[i].Start)"
	}
	c.p("func code%s%s(c []uint64, x []%s, %s) {\n\tc = c[:len(x)]\n\t%s\n\tfor i := range x {\n\t\t%s\n\t}\n}\n", r.Name, f.Name, r.Name, ratio, before, loop)
}

// bits is the width of an integer type that is narrower than a code, else 0.
func bits(t string) int {
	if i, _ := integerOf(t); i.bits < 64 {
		return i.bits
	}
	return 0
}

// columnValues makes the function that turns codes into the values of a column; false: one does not fit.
func columnValues(c *code, r *schema.Record, f schema.Field) {
	ratio, before, loop, fits := "_ cpuRatio", "", "", "true"
	value := "c"
	switch f.Wire.Code {
	case schema.Delta:
		before, value, loop = "last uint64", "last", "last += unzigzag(c)\n\t\t"
	case schema.AsIs:
	case schema.Outer:
		before, value = "outer outerCoder", "outer.decode(c)"
	case schema.Residual:
		ratio, value = "ratio cpuRatio", fmt.Sprintf("ratio.decode(c, uint64(%s))", of(f.Wire.Of))
	case schema.Start: // by the edge of the record before, whose end is known with the next column: finished there
		value = "unzigzag(c)"
	case schema.End:
		before, value, loop = "last uint64", "", "e := &x[i]\n\t\te.Start += units.Ticks(last)\n\t\te.End = e.Start + units.Ticks(c)\n\t\tlast = edge(e.Start, e.End)"
	case schema.Submitted:
		value = "decodeSubmitted(c, x[i].Start)"
	}
	from := "uint64"
	if f.Wire.Code == schema.Residual || f.Wire.Code == schema.Submitted {
		from = f.Type
	}
	if value != "" {
		loop += fmt.Sprintf("x[i].%s = %s", f.Name, as(f.Type, from, value))
	}
	if n := bits(f.Type); n > 0 {
		if before == "" {
			before = "seen uint64"
		} else {
			before += "\n\tvar seen uint64"
		}
		rest := fmt.Sprintf("%s >> %d", value, n)
		if i, _ := integerOf(f.Type); i.signed {
			rest = fmt.Sprintf("%s ^ uint64(%s(%s))", value, f.Type, value)
		}
		loop += "\n\t\tseen |= " + rest
		fits = "seen == 0"
	}
	if before != "" {
		before = "var " + before
	}
	c.p("func set%s%s(x []%s, codes []uint64, %s) bool {\n\tx = x[:len(codes)]\n\t%s\n\tfor i, c := range codes {\n\t\t%s\n\t}\n\treturn %s\n}\n",
		r.Name, f.Name, r.Name, ratio, before, loop, fits)
}
