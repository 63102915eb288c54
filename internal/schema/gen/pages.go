package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stackagent/internal/schema"
)

// The pages that describe the formats.
const (
	sessionPage = "docs/internals/format-session.md"
	wirePage    = "docs/internals/format-wire.md"
)

var generatedRE = regexp.MustCompile(`(?s)<!-- generated: ([a-z_ ]+) -->\n.*?<!-- end of ([a-z_ ]+) -->`)

// addPages puts the tables into the pages, between the marks that name them.
func addPages(root string, files map[string][]byte) error {
	for page, tables := range map[string]map[string]string{sessionPage: sessionTables(), wirePage: wireTables()} {
		old, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return err
		}
		var wrong error
		files[page] = generatedRE.ReplaceAllFunc(old, func(part []byte) []byte {
			name := string(generatedRE.FindSubmatch(part)[1])
			text, ok := tables[name]
			if !ok {
				wrong = fmt.Errorf("%s: no table %q is generated", page, name)
			}
			delete(tables, name)
			return []byte("<!-- generated: " + name + " -->\n" + text + "<!-- end of " + name + " -->")
		})
		if wrong != nil {
			return wrong
		}
		for name := range tables {
			return fmt.Errorf("%s: the marks of the table %q are missing", page, name)
		}
	}
	return nil
}

// sessionTables are the tables of the session's page.
func sessionTables() map[string]string {
	tables := map[string]string{}
	var files strings.Builder
	files.WriteString("| file | holds |\n|---|---|\n")
	for _, r := range stored() {
		fmt.Fprintf(&files, "| `%s-FROM-TO.parquet` | %s |\n", r.Table.Name, r.Table.Doc)
		tables[r.Table.Name] = tableOf(r)
	}
	tables["parts"] = files.String()
	return tables
}

// tableOf describes the columns of a table.
func tableOf(r *schema.Record) string {
	var b strings.Builder
	b.WriteString("| column | type | null | meaning |\n|---|---|---|---|\n")
	for _, f := range columnFields(r) {
		mark := ""
		if f.Row.LeftOut {
			mark = " *"
		}
		t := parquetType(f.Row.Type)
		if f.Row.ReadType != f.Row.Type && r.Table.Big {
			t = parquetType(f.Row.ReadType)
		}
		null := " "
		if f.Row.Null != "" {
			null = " " + f.Row.Null + " "
		}
		if t == "bool" {
			t = "boolean"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s |%s| %s |\n", f.Row.Column, mark, strings.Replace(t, "[]", "list of ", 1), null, meaning(f))
	}
	if r.Table.Work != schema.NoWork {
		b.WriteString("| an extra metric * | int64 | not measured | named by `extra` in the manifest: `bytecodes`, `alloc_bytes`, ... |\n")
	}
	if r.Table.Work == schema.NestedWork {
		b.WriteString("| `nested_` + its name * | int64 | not measured | the part of it in executions directly inside |\n")
	}
	if r.Table.Note != "" {
		b.WriteString("\n" + r.Table.Note + "\n")
	}
	return b.String()
}

// meaning is the doc of a column; the bits of flags are named.
func meaning(f schema.Field) string {
	if set := flagNames(f.Type); f.Row.Doc == "flags" && set != "" {
		return set
	}
	return f.Row.Doc
}

// codeTexts say how a page describes the codes.
var codeTexts = map[schema.Code]string{
	schema.Delta: "zigzag(value - last)", schema.AsIs: "as is", schema.Outer: "0 if none, otherwise 1 for the same as the last that was not none; see below",
	schema.Start: "zigzag(start - end of the record before, or its start if it has no end)", schema.End: "end - start; the end of a running execution is 0",
	schema.Submitted: "0 if not known, otherwise z = zigzag(start - submission), with a hole",
}

// wireTables are the tables of the wire's page.
func wireTables() map[string]string {
	return map[string]string{"columns": payloadTable(), "flags": flagTable(), "lists": listTables(), "totals": statementTable(&schema.Totals), "hello": statementTable(&schema.Hello)}
}

// payloadTable describes the columns of the payloads.
func payloadTable() string {
	var b strings.Builder
	b.WriteString("| records | number | column | code |\n|---|---|---|---|\n")
	for _, r := range columnar() {
		for _, f := range columns(r) {
			how := codeTexts[f.Wire.Code]
			if f.Wire.Code == schema.Residual {
				how = "0 if not measured, otherwise the residual to predict(" + strings.ReplaceAll(f.Wire.Of, "x.", "") + "); see below"
			}
			if n := bits(f.Type); n > 0 && n < 32 {
				how += fmt.Sprintf(", %d bits", n)
			}
			if f.Wire.LeftOut {
				how += "; left out where all are 0"
			}
			fmt.Fprintf(&b, "| %s | %d | %s: %s | %s |\n", strings.ToLower(r.Plural), f.Wire.Number, f.Wire.What, columnDoc(f), how)
		}
		if r.Wire.Work {
			fmt.Fprintf(&b, "| %s | 32 + 2k | extra metric k of the hello | 0 if not measured, otherwise z = zigzag(value - last that was measured), with a hole |\n", strings.ToLower(r.Plural))
		}
		if r.Table.Work == schema.NestedWork {
			fmt.Fprintf(&b, "| %s | 33 + 2k | of this, in nested executions | the same |\n", strings.ToLower(r.Plural))
		}
	}
	return b.String()
}

// columnDoc is the doc of a column of a payload.
func columnDoc(f schema.Field) string {
	if f.Doc == "flags" {
		return "see below"
	}
	return f.Doc
}

// flagTable lists the bits of all flags.
func flagTable() string {
	var b strings.Builder
	b.WriteString("| flags of | bit | name | meaning |\n|---|---|---|---|\n")
	for _, s := range schema.FlagSets {
		for _, f := range s.Flags {
			fmt.Fprintf(&b, "| %s | %d | `%s` | %s |\n", words(strings.TrimSuffix(s.Name, "Flags")), 1<<f.Bit, f.Name, f.Doc)
		}
	}
	return b.String()
}

// listTables describe the arrays of the records in lists.
func listTables() string {
	var b strings.Builder
	b.WriteString("| record | array of |\n|---|---|\n")
	for _, r := range with(func(r *schema.Record) bool { return r.Wire.Coding == schema.List }) {
		first, later := listed(r)
		text := arrayText(first)
		if len(later) > 0 {
			text += "; *" + arrayText(later) + "*"
		}
		if last := newest(r); len(last) > 0 {
			text += "; *" + arrayText(last) + "*"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", words(r.Name), text)
	}
	return b.String()
}

func arrayText(fields []schema.Field) string {
	var list []string
	for _, f := range fields {
		list = append(list, fmt.Sprintf("%s %s (%s)", label(f), msgName(f.Type), f.Doc))
	}
	return strings.Join(list, ", ")
}

// msgName is the type of a field in an array.
func msgName(t string) string {
	switch {
	case strings.HasSuffix(t, "Flags"):
		return "uint16"
	case strings.HasSuffix(t, "Kind"), strings.HasSuffix(t, "Kinds"):
		return "uint8"
	case t == "units.Ticks":
		return "ticks"
	case t == "units.Ns", t == "units.MonoNs":
		return "ns"
	}
	return strings.Replace(t, "[]", "list of ", 1)
}
