// Command house measures the source tree: lines, files and exported names of each package, the lengths of functions
// and files, and the words of the documentation. Run it on two commits to see what a change to the structure did.
//
//	go run ./scripts/house [-packages] [DIR]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// pkg is what one folder holds.
type pkg struct{ files, lines, exported int }

// house is what the whole tree holds. Lengths are in lines.
type house struct {
	packages           map[string]*pkg
	goLines, testLines int
	generated          int // lines of Go and C that a generator wrote
	cLines, javaLines  int
	goFiles, goFuncs   []int
	cFiles             []int
	docWords           int
}

func main() {
	log.SetFlags(0)
	each := flag.Bool("packages", false, "list every package")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	h := &house{packages: map[string]*pkg{}}
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "build" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return h.file(path, rel)
	}); err != nil {
		log.Fatalf("house: measuring %s: %v", root, err)
	}
	h.print(*each)
}

// file adds one file.
func (h *house) file(path, rel string) error {
	ext := filepath.Ext(path)
	if !slices.Contains([]string{".go", ".c", ".h", ".java", ".md"}, ext) {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bytes.Count(text, []byte("\n"))
	made := bytes.Contains(text[:min(len(text), 400)], []byte("Code generated"))
	switch {
	case ext == ".md":
		h.docWords += len(bytes.Fields(text))
	case ext == ".java":
		if strings.HasPrefix(rel, "jvmti") {
			h.javaLines += lines
		}
	case made:
		h.generated += lines
	case ext != ".go":
		h.cLines += lines
		h.cFiles = append(h.cFiles, lines)
	case strings.HasSuffix(path, "_test.go"):
		h.testLines += lines
	default:
		h.goLines += lines
		h.goFiles = append(h.goFiles, lines)
		return h.parse(path, filepath.Dir(rel), text, lines)
	}
	return nil
}

// parse counts the exported names and the lengths of functions of a Go file.
func (h *house) parse(path, dir string, text []byte, lines int) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p := h.packages[dir]
	if p == nil {
		p = &pkg{}
		h.packages[dir] = p
	}
	p.files++
	p.lines += lines
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			h.goFuncs = append(h.goFuncs, set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
			if d.Name.IsExported() {
				p.exported++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						p.exported++
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							p.exported++
						}
					}
				}
			}
		}
	}
	return nil
}

// spread is the median, the 90th percentile and the largest of x.
func spread(x []int) string {
	if len(x) == 0 {
		return "none"
	}
	slices.Sort(x)
	return fmt.Sprintf("%d / %d / %d (of %d)", x[len(x)/2], x[len(x)*9/10], x[len(x)-1], len(x))
}

func (h *house) print(each bool) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "Go, without tests\t%d lines\n", h.goLines)
	fmt.Fprintf(w, "Go, tests\t%d lines\n", h.testLines)
	fmt.Fprintf(w, "C\t%d lines\n", h.cLines)
	fmt.Fprintf(w, "Java of the agent\t%d lines\n", h.javaLines)
	fmt.Fprintf(w, "generated\t%d lines\n", h.generated)
	fmt.Fprintf(w, "packages\t%d\n", len(h.packages))
	fmt.Fprintf(w, "Go functions, p50/p90/max\t%s\n", spread(h.goFuncs))
	fmt.Fprintf(w, "Go files, p50/p90/max\t%s\n", spread(h.goFiles))
	fmt.Fprintf(w, "C files, p50/p90/max\t%s\n", spread(h.cFiles))
	fmt.Fprintf(w, "documentation\t%d words\n", h.docWords)
	if !each {
		return
	}
	dirs := make([]string, 0, len(h.packages))
	for dir := range h.packages {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	fmt.Fprintln(w, "\npackage\tfiles\tlines\texported names")
	for _, dir := range dirs {
		p := h.packages[dir]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", dir, p.files, p.lines, p.exported)
	}
}
