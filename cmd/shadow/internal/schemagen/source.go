package schemagen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// Source finds comments in the source of the module at Root.
type Source struct {
	Root, Module string
	packages     map[string]*pkgSource
}

// pkgSource has what the schemas take from a package.
type pkgSource struct {
	types     map[string]*ast.TypeSpec
	docs      map[string]string
	constants map[string][]any // by the name of their type
}

// of reads the source of the package of t; nil: it is not of the module.
func (s *Source) of(t reflect.Type) *pkgSource {
	path, ok := strings.CutPrefix(t.PkgPath(), s.Module+"/")
	if !ok || t.Name() == "" {
		return nil
	}
	if p := s.packages[path]; p != nil {
		return p
	}
	p := &pkgSource{map[string]*ast.TypeSpec{}, map[string]string{}, map[string][]any{}}
	if s.packages == nil {
		s.packages = map[string]*pkgSource{}
	}
	s.packages[path] = p
	entries, _ := os.ReadDir(filepath.Join(s.Root, filepath.FromSlash(path)))
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(s.Root, filepath.FromSlash(path), name), nil, parser.ParseComments)
			if err == nil {
				ast.Inspect(f, p.visit)
			}
		}
	}
	return p
}

func (p *pkgSource) visit(n ast.Node) bool {
	d, ok := n.(*ast.GenDecl)
	if !ok {
		return true
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			p.types[spec.Name.Name] = spec
			p.docs[spec.Name.Name] = comment(spec.Doc, spec.Comment, d.Doc)
		case *ast.ValueSpec:
			of, ok := spec.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						p.constants[of.Name] = append(p.constants[of.Name], text)
					}
				}
			}
		}
	}
	return true
}

// comment is the first comment that there is, in one line.
func comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// typeDoc is the comment of a type; "" if it has none.
func (s *Source) typeDoc(t reflect.Type) string {
	p := s.of(t)
	if p == nil {
		return ""
	}
	return p.docs[base(t)]
}

// base is the name of a type without its type arguments.
func base(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// constants are the values of a type of words that the source names.
func (s *Source) constants(t reflect.Type) []any {
	if p := s.of(t); p != nil {
		return p.constants[base(t)]
	}
	return nil
}

// fieldDoc is the comment of a field.
func (s *Source) fieldDoc(t reflect.Type, field string) string {
	p := s.of(t)
	if p == nil {
		return ""
	}
	for name := base(t); ; {
		spec := p.types[name]
		if spec == nil {
			return ""
		}
		switch of := spec.Type.(type) {
		case *ast.Ident: // type plain Hotspot
			name = of.Name
			continue
		case *ast.StructType:
			for _, f := range of.Fields.List {
				for _, n := range f.Names {
					if n.Name == field {
						return comment(f.Doc, f.Comment)
					}
				}
			}
		}
		return ""
	}
}
