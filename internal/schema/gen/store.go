package main

import (
	"fmt"
	"strings"

	"stackagent/internal/schema"
)

func wideType(t string) bool {
	return integers[t].bits == 64
}

// storedAs is the type of a column in the file, of a big table.
func storedAs(f schema.Field) string {
	if f.Row.Value != "" && parquetType(f.Row.Type) == "int64" {
		return "int64"
	}
	return parquetType(f.Row.Type)
}

// columnFields are the fields of a row that are stored.
func columnFields(r *schema.Record) (list []schema.Field) {
	for _, f := range rowFields(r) {
		if f.Row.Column != "" {
			list = append(list, f)
		}
	}
	return list
}

// there is the condition under which x[i] has a value in the column.
func there(f schema.Field) string {
	if parquetType(f.Row.Type) == "int64" && f.Row.Type != "units.MonoNs" {
		return "x[i]." + f.Row.Name + ".Measured()"
	}
	return "x[i]." + f.Row.Name + " != 0"
}

// writeStoreColumns makes the columns of the big tables on their way to the disk.
func writeStoreColumns(c *code) {
	c.begin("store")
	for _, r := range big() {
		c.p("// %sSchema fixes the columns of the table %s in a file. The writer decides for each value whether it is null.\ntype %sSchema struct {", lower(r.Name), r.Table.Name, lower(r.Name))
		for _, f := range columnFields(r) {
			c.p("\t%s %s %s", f.Row.Name, storedAs(f), tag(r, f))
		}
		c.p("}\n\n// %sColumns are the columns of the table %s, in the order of its schema.\nvar %sColumns = []bigColumn[%s]{", lower(r.Name), r.Table.Name, lower(r.Name), r.Name)
		for _, f := range columnFields(r) {
			get := "get" + r.Name + f.Row.Name
			used := ""
			if f.Row.LeftOut {
				used = ", used: any" + r.Name + f.Row.Name
			}
			c.p("\t{name: %q, wide: %t, optional: %t, unsigned: %t, get: %s%s},", f.Row.Column, wideType(storedAs(f)), f.Row.Null != "",
				strings.HasPrefix(storedAs(f), "uint"), get, used)
		}
		c.p("}\n")
	}
	for _, r := range big() {
		for _, f := range columnFields(r) {
			getter(c, r, f)
			if f.Row.LeftOut {
				c.p("func any%s%s(x []%s) bool {\n\tfor i := range x {\n\t\tif %s {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n",
					r.Name, f.Row.Name, r.Name, there(f))
			}
		}
	}
}

// getter makes get of a column.
func getter(c *code, r *schema.Record, f schema.Field) {
	value, has := "int64(x[i]."+f.Row.Name+")", there(f)
	null := "_"
	if f.Row.Null != "" {
		null = "there"
	}
	c.p("func get%s%s(x []%s, v []int64, %s []byte) int {", r.Name, f.Row.Name, r.Name, null)
	switch {
	case f.Row.Null == "":
		if f.Row.Value != "" {
			value = f.Row.Value + "(&x[i])"
		}
		c.p("\tfor i := range x {\n\t\tv[i] = %s\n\t}\n\treturn len(x)\n}\n", value)
	case f.Row.Value != "":
		c.p("\tn := 0\n\tfor i := range x {\n\t\tvalue, ok := %s(&x[i])\n\t\tv[n], there[i] = value, 0\n\t\tif ok {\n\t\t\tthere[i] = 1\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}\n", f.Row.Value)
	default:
		c.p("\tn := 0\n\tfor i := range x {\n\t\tv[n], there[i] = %s, 0\n\t\tif %s {\n\t\t\tthere[i] = 1\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}\n", value, has)
	}
}

// writeReaders makes the sets of columns that readers ask for, and how they lie in a part.
func writeReaders(c *code) {
	c.begin("store", "stackagent/internal/units")
	for _, r := range big() {
		c.p("// Columns of the table %s.\nconst (", r.Table.Name)
		for i, f := range readable(r) {
			c.p("\t%s%s%s", r.Name, f.Row.Set, map[bool]string{true: " Columns = 1 << iota"}[i == 0])
		}
		c.p(")\n")
	}
	for _, r := range big() {
		places(c, r, false)
		for _, f := range r.Fields {
			if f.Row.Version1 != "" {
				places(c, r, true)
				break
			}
		}
	}
	c.p("// endColumn1 is a column of the executions that only version 1 of the format has.\nconst endColumn1 = %q", version1End())
}

// version1End is the column by which a part of version 1 is known.
func version1End() string {
	for _, r := range big() {
		for _, f := range r.Fields {
			if f.Row.Version1 != "" && f.Row.Column == "" {
				return f.Row.Version1
			}
		}
	}
	return ""
}

// readable are the fields that readers may ask for.
func readable(r *schema.Record) (list []schema.Field) {
	for _, f := range rowFields(r) {
		if f.Row.Read != "-" {
			list = append(list, f)
		}
	}
	return list
}

// places makes the places of the columns of a table, in parts of today or of version 1.
func places(c *code, r *schema.Record, version1 bool) {
	suffix, note := "", ""
	if version1 {
		suffix, note = "1", " of version 1 of the format"
	}
	c.p("// %sPlaces%s are the columns%s that readers of the table %s get.\nvar %sPlaces%s = []place[%sColumns]{", lower(r.Name), suffix, note, r.Table.Name, lower(r.Name), suffix, r.Name)
	for _, f := range readable(r) {
		name, optional := f.Row.Column, f.Row.Null != ""
		if version1 && f.Row.Version1 != "" {
			name, optional = f.Row.Version1, true
		}
		spec := ""
		if name != "" {
			spec = fmt.Sprintf("columnSpec{name: %q, wide: %t, optional: %t, mayMiss: %t}", name, wideType(f.Row.ReadType), optional, f.Row.LeftOut)
		} else {
			spec = "columnSpec{}"
		}
		list := fmt.Sprintf("func(c *%sColumns) *[]%s { return &c.%s }", r.Name, f.Row.ReadType, f.Row.Read)
		fill := fmt.Sprintf("narrow(%s)", list)
		if wideType(f.Row.ReadType) {
			null := "0"
			if f.Row.ReadType == "units.Ns" {
				null = "units.NotMeasured"
			}
			fill = fmt.Sprintf("wide(%s, %s)", list, null)
		}
		c.p("\t{%s, %s},", spec, fill)
	}
	c.p("}\n")
}
