package main

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/schema"
)

// stored are the records that have a table, in the order of the tables.
func stored() []*schema.Record {
	list := with(func(r *schema.Record) bool { return r.Table.Name != "" })
	slices.SortFunc(list, func(a, b *schema.Record) int { return a.Table.Order - b.Table.Order })
	return list
}

func big() []*schema.Record {
	return slices.DeleteFunc(stored(), func(r *schema.Record) bool { return !r.Table.Big })
}

func small() []*schema.Record {
	return slices.DeleteFunc(stored(), func(r *schema.Record) bool { return r.Table.Big })
}

// rowFields are the fields of a row, with their names and types filled in.
func rowFields(r *schema.Record) (list []schema.Field) {
	for _, f := range r.Fields {
		if f.Row.Name == "-" {
			continue
		}
		if f.Row.Name == "" {
			f.Row.Name = f.Name
		}
		if f.Row.Type == "" {
			f.Row.Type = f.Type
		}
		if f.Row.Read == "" {
			f.Row.Read = f.Row.Name
		}
		if f.Row.ReadType == "" {
			f.Row.ReadType = f.Row.Type
		}
		if f.Row.Set == "" {
			f.Row.Set = strings.TrimSuffix(f.Row.Read, "Ns")
		}
		if f.Row.Doc == "" {
			f.Row.Doc = f.Doc
		}
		list = append(list, f)
	}
	return list
}

// parquetType is the type in Parquet of a Go type in a row.
func parquetType(t string) string {
	t = strings.TrimPrefix(t, "*")
	switch t {
	case "units.Ns", "units.MonoNs":
		return "int64"
	}
	return t
}

// tag is the Parquet tag of a column.
func tag(r *schema.Record, f schema.Field) string {
	parts := []string{f.Row.Column}
	if r.Table.Big && f.Row.Null != "" {
		parts = append(parts, "optional")
	}
	encoding, t := f.Row.Tag, parquetType(f.Row.Type)
	switch {
	case encoding == "-" || encoding == "" && (t == "string" || t == "bool"):
	case encoding != "":
		parts = append(parts, encoding)
	case strings.HasPrefix(t, "[]"):
		parts = append(parts, "list")
	default:
		parts = append(parts, "delta")
	}
	return "`parquet:\"" + strings.Join(parts, ",") + "\"`"
}

// rowDoc is what the comment of a row's field says.
func rowDoc(f schema.Field) string {
	if f.Row.FieldDoc != "" {
		return f.Row.FieldDoc
	}
	doc := plain(f.Row.Doc)
	if doc == "flags" {
		doc = "wire." + f.Type
	}
	if f.Row.Null != "" && strings.HasPrefix(f.Row.Type, "*") {
		doc += "; nil: " + f.Row.Null
	} else if f.Row.Null != "" && parquetType(f.Row.Type) == "int64" && f.Row.Type != "units.MonoNs" {
		doc += "; units.NotMeasured: " + f.Row.Null
	} else if f.Row.Null != "" && !strings.Contains(doc, "0:") {
		doc += "; 0: " + f.Row.Null
	}
	return doc
}

// writeRows makes the rows of all tables, and the columns of the big ones.
func writeRows(c *code) {
	c.begin("store", "stackagent/internal/units")
	for _, r := range stored() {
		c.comment(strings.TrimSpace(r.Name + " is a row of the table " + r.Table.Name + ". " + plain(r.Table.RowDoc+" "+r.Table.Note)))
		c.p("type %s struct {", r.Name)
		for _, f := range rowFields(r) {
			t := tag(r, f)
			if r.Table.Big {
				t = ""
			}
			c.p("\t%s %s %s // %s", f.Row.Name, f.Row.Type, t, rowDoc(f))
		}
		c.p("}\n")
	}
	for _, r := range big() {
		c.comment(fmt.Sprintf("%sColumns are %s in columns of equal length; those that were not asked for are empty. They are reused: copy what is kept.", r.Name, strings.ToLower(r.Plural)))
		c.p("type %sColumns struct {", r.Name)
		for _, f := range rowFields(r) {
			if f.Row.Read != "-" {
				read := f
				read.Row.Type = f.Row.ReadType
				if f.Row.Read != f.Row.Name { // readers get the column, not the field
					read.Row.FieldDoc = ""
				}
				c.p("\t%s []%s // %s", f.Row.Read, f.Row.ReadType, rowDoc(read))
			}
		}
		if r.Table.Work != schema.NoWork {
			c.p("\tExtra [][]units.Ns // of extra metric k of Manifest.Extra, in its own unit; units.NotMeasured where not measured")
		}
		if r.Table.Work == schema.NestedWork {
			c.p("\tSelfExtra [][]units.Ns // of the execution itself")
		}
		c.p("}\n")
		c.p("// Len is the number of rows.\nfunc (c *%sColumns) Len() int {\n\treturn max(", r.Name)
		for _, f := range rowFields(r) {
			if f.Row.Read != "-" {
				c.p("\t\tlen(c.%s),", f.Row.Read)
			}
		}
		c.p("\t)\n}\n")
	}
}

// writeTables makes the lists of all tables.
func writeTables(c *code) {
	c.begin("store", "fmt", "io", "", "github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/format", "", "guarded stackagent/internal/parquet", "stackagent/internal/wire")
	c.p("// The tables of a session.\nconst (")
	for i, r := range stored() {
		c.p("\t%s%s", r.Plural, map[bool]string{true: " Table = iota"}[i == 0])
	}
	c.p("\tnumTables\n)\n\nvar tableNames = [numTables]string{")
	for _, r := range stored() {
		c.p("\t%q,", r.Table.Name)
	}
	c.p("}\n\n// Part is what a run of consecutive batches brought, on its way to the disk.\ntype Part struct {\n\tRange")
	for _, r := range stored() {
		c.p("\t%s []%s", r.Plural, r.Name)
	}
	c.p("\n\tClock []wire.ClockPair // the knots of the clock that its times rest on\n\tExtra []string // columns of the extra metrics, by the place in wire.Hello.Extra")
	for _, r := range big() {
		if r.Table.Work != schema.NoWork {
			c.p("\t%sWork wire.Work // of %s, or no columns", r.Name, r.Plural)
		}
	}
	c.p("}\n\n// rows is the number of rows of t in p.\nfunc (p *Part) rows(t Table) int {\n\tswitch t {")
	for _, r := range stored() {
		c.p("\tcase %s:\n\t\treturn len(p.%s)", r.Plural, r.Plural)
	}
	c.p("\t}\n\treturn 0\n}\n")
	c.p("// Clear empties p and keeps its memory.\nfunc (p *Part) Clear() {\n\tp.Range, p.Clock = Range{}, nil")
	for _, r := range stored() {
		c.p("\tp.%s = p.%s[:0]", r.Plural, r.Plural)
	}
	for _, r := range big() {
		if r.Table.Work != schema.NoWork {
			c.p("\tclearWork(&p.%sWork)", r.Name)
		}
	}
	c.p("}\n")
	encoders(c)
	c.p("// schemas are those of the tables as this version writes them.\nfunc makeSchemas() [numTables]*parquet.Schema {\n\treturn [numTables]*parquet.Schema{")
	for _, r := range stored() {
		name := r.Name
		if r.Table.Big {
			name = lower(r.Name) + "Schema"
		}
		c.p("\t\t%s: parquet.SchemaOf(%s{}),", r.Plural, name)
	}
	c.p("\t}\n}\n")
	for _, r := range small() {
		c.p("// Read%s calls row for every row of the table %s, in order.\nfunc (f *Folder) Read%s(row func(*%s)) ([]*PartError, error) {\n\treturn readSmall(f, %s, row)\n}\n",
			r.Plural, r.Table.Name, r.Plural, r.Name, r.Plural)
	}
}

// encoders makes what writes and merges the tables.
func encoders(c *code) {
	c.p("// encoder has the writers of the big tables, with megabytes of buffers.\ntype encoder struct {")
	for _, r := range big() {
		c.p("\t%s *bigWriter[%s]", lower(r.Plural), r.Name)
	}
	c.p("}\n\nfunc newEncoder() (*encoder, error) {\n\tvar e encoder\n\tvar err error")
	for _, r := range big() {
		check := "nil"
		if r.Table.Check {
			check = "(*" + r.Name + ").check"
		}
		c.p("\tif e.%s, err = newBigWriter[%sSchema](%sColumns, %s); err != nil {\n\t\treturn nil, err\n\t}", lower(r.Plural), lower(r.Name), lower(r.Name), check)
	}
	c.p("\treturn &e, nil\n}\n\n// encode writes table t of p as one Parquet file.\nfunc (e *encoder) encode(w io.Writer, t Table, p *Part, meta []format.KeyValue) error {\n\tswitch t {")
	for _, r := range stored() {
		switch {
		case !r.Table.Big:
			c.p("\tcase %s:\n\t\treturn guarded.Write(w, p.%s, Version, meta)", r.Plural, r.Plural)
		case r.Table.Work == schema.NoWork:
			c.p("\tcase %s:\n\t\treturn e.%s.encode(w, p.%s, nil, wire.Work{}, meta)", r.Plural, lower(r.Plural), r.Plural)
		default:
			c.p("\tcase %s:\n\t\treturn e.%s.encode(w, p.%s, p.Extra, p.%sWork, meta)", r.Plural, lower(r.Plural), r.Plural, r.Name)
		}
	}
	c.p("\t}\n\treturn fmt.Errorf(\"no such table: %%v\", t)\n}\n\n// merge writes the rows of all sources as one file of table t.\nfunc (e *encoder) merge(out io.Writer, t Table, s *sources, meta []format.KeyValue) error {\n\tswitch t {")
	for _, r := range stored() {
		if r.Table.Big {
			c.p("\tcase %s:\n\t\treturn mergeBig(e.%s, out, s, meta)", r.Plural, lower(r.Plural))
		} else {
			c.p("\tcase %s:\n\t\treturn mergeSmall[%s](out, s, meta)", r.Plural, r.Name)
		}
	}
	c.p("\t}\n\treturn fmt.Errorf(\"no such table: %%v\", t)\n}\n")
}
