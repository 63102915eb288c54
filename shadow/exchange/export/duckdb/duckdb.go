// Package duckdb writes views of a session for DuckDB: its tables as they are stored, and views with names in place of ids.
package duckdb

import (
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

//go:embed views.sql
var views string

// Write writes the statements that create the views. dir is the folder of the session as DuckDB is to find it.
func Write(w io.Writer, s *session.Session, dir string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "-- Session %s, for DuckDB: views over its files, which stay where they are.\n\n", text.Clean(s.Manifest.Session, '?'))
	for t := range store.Tables() {
		table(&b, s, dir, t)
	}
	m := &s.Manifest
	fmt.Fprintf(&b, "-- Whose session it is.\nCREATE OR REPLACE VIEW session AS\nSELECT %s AS session, %s AS program, %s AS host", valueOf(m.Session), valueOf(m.JVM.MainClass), valueOf(m.JVM.Host))
	for _, f := range label.Fields {
		fmt.Fprintf(&b, ", %s AS %s", valueOf(*f.Of(&m.Labels)), name(f.Name))
	}
	fmt.Fprintf(&b, ", %s AS labels;\n\n", valueOf(m.Labels.FreeJSON()))
	b.WriteString(views)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the views: %w", err)
	}
	return nil
}

// table creates the view of a stored table. Columns that no part has are null, and so the views know them all; order is
// that of the rows.
func table(b *strings.Builder, s *session.Session, dir string, t store.Table) {
	var columns []string
	for _, c := range store.ColumnsOf(t) {
		columns = append(columns, fmt.Sprintf("NULL::%s AS %s", typeOf(c), name(c.Name)))
	}
	fmt.Fprintf(b, "CREATE OR REPLACE VIEW %s AS\nSELECT %s, NULL::UBIGINT AS row_order WHERE false", name(t.String()), strings.Join(columns, ", "))
	var files []string
	for _, f := range s.PartNames(t) {
		files = append(files, "  "+quote(pattern(filepath.Join(dir, f))))
	}
	if len(files) > 0 {
		fmt.Fprintf(b, "\nUNION ALL BY NAME\nSELECT * EXCLUDE (filename, file_row_number),\n"+
			"  regexp_extract(filename, '-(\\d+)-\\d+\\.parquet$', 1)::UBIGINT * 4294967296 + file_row_number::UBIGINT AS row_order\n"+
			"FROM read_parquet([\n%s], union_by_name = true, filename = true, file_row_number = true)", strings.Join(files, ",\n"))
	}
	b.WriteString(";\n\n")
}

// typeOf is DuckDB's name of a type.
func typeOf(c store.Column) string {
	of := map[reflect.Kind]string{
		reflect.Bool: "BOOLEAN", reflect.Int32: "INTEGER", reflect.Int64: "BIGINT", reflect.Float64: "DOUBLE", reflect.String: "VARCHAR",
		reflect.Uint16: "USMALLINT", reflect.Uint32: "UINTEGER", reflect.Uint64: "UBIGINT",
	}[c.Kind]
	if c.List {
		of += "[]"
	}
	return of
}

// valueOf is a text as a value; nothing is null.
func valueOf(s string) string {
	if s == "" {
		return "NULL::VARCHAR"
	}
	return quote(text.Clean(s, '?'))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// pattern is the pattern of file names that only path matches: DuckDB takes every path for one.
func pattern(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}
