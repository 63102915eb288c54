package page

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files and the declarations of the page")

const typesHead = `// Generated from shadow/show/page/data.go by "go test ./shadow/show/page -run TestTypes -update". Do not edit.

/**
 * A column of numbers as it is in the JSON. data is in base64:
 * raw: n little-endian numbers of the type;
 * int: n zigzag varints (LEB128: 7 bits to a byte, the lowest first, the high bit says that more follow);
 *   v of the number z is z % 2 ? -(z + 1) / 2 : z / 2; z is up to 2 ** 53, so no bit operators;
 * delta: the same, each less the value before it (the first less 0);
 * runs: the same, each followed by how often it repeats, a zigzag varint, too.
 */
export interface Encoded {
  type: "f64" | "f32" | "u32" | "u16" | "u8";
  form: "raw" | "int" | "delta" | "runs";
  n: number;
  data: string;
}

// The interfaces below have columns decoded, as typed arrays. Lists are never null.

`

var typedArrays = map[string]string{
	"float64": "Float64Array", "float32": "Float32Array", "uint32": "Uint32Array", "uint16": "Uint16Array", "uint8": "Uint8Array",
}

const liveHead = `// Generated from shadow/show/live/snapshot.go by "go test ./shadow/show/page -run TestTypes -update". Do not edit.

/** Points are the values of a series; null where there is none. */
export type Points = (number | null)[];

// Of findings, the page reads the sentences.
export type FindingKind = string;
export type Gain = unknown;
export type Predicted = unknown;
export type Evidence = unknown;
`

// TestTypes compares the declarations for the page with the types of this package, and
// with those of live data.
func TestTypes(t *testing.T) {
	head := fmt.Sprintf("%s/** The index of what has no name. */\nexport type NoName = %d;\n", typesHead, NoName)
	golden(t, "front/src/data.d.ts", declarations(t, "data.go", head))
	findings := declarations(t, "../../analysis/advice/finding.go", "", "Finding")
	golden(t, "front/src/live.d.ts", append(declarations(t, "../live/snapshot.go", liveHead), findings...))
}

// declarations are the structs of a file in TypeScript, or only those of some names.
func declarations(t *testing.T, source, head string, only ...string) []byte {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString(head)
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.TypeSpec)
			fields, ok := spec.Type.(*ast.StructType)
			if !ok || len(only) > 0 && !slices.Contains(only, spec.Name.Name) {
				continue // the head has it
			}
			list, extends := fields.Fields.List, ""
			if list[0].Names == nil { // its fields are this one's, too
				extends, list = " extends "+typescript(t, list[0].Type), list[1:]
			}
			fmt.Fprintf(&b, "\n%sexport interface %s%s {\n", comment("", g.Doc), spec.Name, extends)
			for _, f := range list {
				if !f.Names[0].IsExported() {
					continue
				}
				name, ok := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Lookup("json")
				if !ok {
					t.Fatalf("%s.%s has no name in JSON", spec.Name, f.Names[0])
				}
				name = strings.Replace(name, ",omitempty", "?", 1)
				if name == "-" {
					continue
				}
				fmt.Fprintf(&b, "%s%s  %s: %s;\n", comment("  ", f.Doc), comment("  ", f.Comment), name, typescript(t, f.Type))
			}
			b.WriteString("}\n")
		}
	}
	return b.Bytes()
}

// golden compares a file with what it should hold, or writes it.
func golden(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not up to date: run go test ./shadow/show/page -run %s -update", path, t.Name())
	}
}

func comment(indent string, c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(c.Text()), "\n")
	if len(lines) == 1 {
		return indent + "/** " + lines[0] + " */\n"
	}
	text := indent + "/**\n" + indent + " * " + strings.Join(lines, "\n"+indent+" * ") + "\n" + indent + " */\n"
	return strings.ReplaceAll(text, " * \n", " *\n")
}

// typescript is a type of Go in TypeScript.
func typescript(t *testing.T, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "string"
		case "bool":
			return "boolean"
		case "int", "float64":
			return "number"
		}
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typescript(t, e.X) + " | null"
	case *ast.ArrayType:
		of := typescript(t, e.Elt)
		if strings.Contains(of, " ") {
			of = "(" + of + ")"
		}
		return of + "[]"
	case *ast.MapType:
		return "Record<" + typescript(t, e.Key) + ", " + typescript(t, e.Value) + ">"
	case *ast.IndexExpr: // Column[T]
		if array := typedArrays[e.Index.(*ast.Ident).Name]; array != "" {
			return array
		}
	}
	t.Fatalf("%T has no form in TypeScript", e)
	return ""
}
