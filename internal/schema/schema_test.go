package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Numbers, bits and columns are each used once.
func TestDeclarationsAgree(t *testing.T) {
	names, rings, orders := map[string]bool{}, map[int]string{}, map[int]string{}
	for _, r := range Records {
		if names[r.Name] {
			t.Errorf("%s is declared twice", r.Name)
		}
		names[r.Name] = true
		if k := r.Wire.Key; k != "" && (len(k) != 1 || strings.Count(Keys, k) != 1) {
			t.Errorf("%s: the key %q of the envelope is not in Keys, once", r.Name, k)
		}
		if other, taken := rings[r.Ring.Number]; taken && r.Ring.Type != "" {
			t.Errorf("%s and %s have the same number in the ring", r.Name, other)
		}
		if r.Ring.Type != "" {
			rings[r.Ring.Number] = r.Name
		}
		if other, taken := orders[r.Table.Order]; taken && r.Table.Name != "" {
			t.Errorf("the tables of %s and %s have the same place", r.Name, other)
		}
		if r.Table.Name != "" {
			orders[r.Table.Order] = r.Name
		}
		fields, numbers, columns := map[string]bool{}, map[int]bool{}, map[string]bool{}
		for _, f := range r.Fields {
			if f.Name != "" && fields[f.Name] || f.Wire.Number > 0 && numbers[f.Wire.Number] || f.Row.Column != "" && columns[f.Row.Column] {
				t.Errorf("%s: the field %s%s uses a name, number or column that another one has", r.Name, f.Name, f.Row.Name)
			}
			fields[f.Name], numbers[f.Wire.Number], columns[f.Row.Column] = true, true, true
		}
	}
	for _, s := range FlagSets {
		for i, f := range s.Flags {
			if f.Bit != i {
				t.Errorf("%s: %s has the bit %d, not %d", s.Name, f.Name, f.Bit, i)
			}
		}
	}
}

// A column is declared here and nowhere else: no file of the packages between the ring and the session that is written by hand
// names a Parquet column, or has a struct with the fields of a record.
func TestNoColumnIsDeclaredTwice(t *testing.T) {
	columns, fields := map[string]bool{}, map[string][]string{}
	for _, r := range Records {
		for _, f := range r.Fields {
			if strings.Contains(f.Row.Column, "_") { // others are plain words
				columns[f.Row.Column] = true
			}
			columns[f.Row.Version1] = f.Row.Version1 != ""
			if f.Name != "" {
				fields[r.Name] = append(fields[r.Name], f.Name)
			}
		}
	}
	for _, r := range Records {
		delete(columns, r.Table.Name) // context_sums is a table, too
	}
	for _, folder := range []string{"agent/drain", "internal/wire", "shadow/store", "shadow/collect/ingest", "shadow/session"} {
		for _, path := range handWritten(t, filepath.Join("../..", folder)) {
			for _, problem := range doubled(t, path, columns, fields) {
				t.Error(problem)
			}
		}
	}
}

func handWritten(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_gen.go") {
			list = append(list, filepath.Join(folder, name))
		}
	}
	return list
}

// joined are the types of the session that join records, or hold them in other units.
var joined = map[string]bool{
	"Thread": true, "Task": true, "Summary": true, "virtualThread": true, "Submission": true, "Context": true, "SiteSum": true,
}

// doubled lists what in a file declares a column again.
func doubled(t *testing.T, path string, columns map[string]bool, records map[string][]string) (problems []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(x.Value); x.Kind == token.STRING && err == nil {
				if columns[text] {
					problems = append(problems, set.Position(x.Pos()).String()+": the column "+text+" is declared in internal/schema; use what is generated")
				}
			}
		case *ast.Field:
			if x.Tag != nil && reflect.StructTag(strings.Trim(x.Tag.Value, "`")).Get("parquet") != "" {
				problems = append(problems, set.Position(x.Pos()).String()+": declare Parquet columns in internal/schema")
			}
		case *ast.TypeSpec:
			if body, ok := x.Type.(*ast.StructType); ok && !joined[x.Name.Name] {
				if name := like(body, records); name != "" {
					problems = append(problems, set.Position(x.Pos()).String()+": "+x.Name.Name+" has the fields of "+name+", which internal/schema declares")
				}
			}
		}
		return true
	})
	return problems
}

// like is the record whose fields a struct nearly all has; "" if none.
func like(body *ast.StructType, records map[string][]string) string {
	has := map[string]bool{}
	for _, f := range body.Fields.List {
		for _, name := range f.Names {
			has[strings.TrimSuffix(name.Name, "Ns")] = true
		}
	}
	for name, fields := range records {
		n := 0
		for _, f := range fields {
			if has[f] {
				n++
			}
		}
		if len(fields) > 3 && n >= len(fields)-1 {
			return name
		}
	}
	return ""
}
