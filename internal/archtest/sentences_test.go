package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Package granularity and those below it compute figures. Sentences about the figures are in
// shadow/analysis/advice, captions in shadow/show/figure. Only errors have words here.

// twoWords is a string for people: two words with a space between.
var twoWords = regexp.MustCompile(`\pL+[\pP]?\s+\pL+`)

// sentences lists the strings in a file that are for people, except the arguments of errors.New and
// fmt.Errorf.
func sentences(files *token.FileSet, file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // a tag is not for people
			n.Tag = nil
		case *ast.CallExpr:
			if makesError(n.Fun) {
				return false
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(n.Value); err != nil || twoWords.MatchString(s) {
				found = append(found, fmt.Sprintf("%s: %s", files.Position(n.Pos()), n.Value))
			}
		}
		return true
	})
	return found
}

// makesError reports whether a function is errors.New or fmt.Errorf.
func makesError(f ast.Expr) bool {
	call, ok := f.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := call.X.(*ast.Ident)
	return ok && slices.Contains([]string{"errors.New", "fmt.Errorf"}, from.Name+"."+call.Sel.Name)
}

func TestNoSentencesInGranularity(t *testing.T) {
	read := 0
	err := filepath.WalkDir("../../granularity", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		read++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, s := range sentences(files, file) {
			t.Errorf("%s: granularity computes figures; put the words into shadow/analysis/advice or shadow/show/figure", s)
		}
		return nil
	})
	if err != nil || read == 0 {
		t.Fatalf("%d files read: %v", read, err)
	}
}

func TestSentencesAreFound(t *testing.T) {
	for line, want := range map[string]bool{
		`var advice = "divide the largest tasks"`:                           true,
		`var advice = []string{"self " + "time", "too fine"}`:               true,
		"var advice = `merge\nthem`":                                        true,
		`func f(n int) string { return fmt.Sprintf("%d tasks, split", n) }`: true,
		`var label = map[string]string{"p50": "the median"}`:                true,
		`const name = "self_cpu_ns"`:                                        false,
		`type t struct { N int "json:\"n\" doc:\"of these\"" }`:             false,
		`var err = errors.New("slices are not in order")`:                   false,
		`var err = fmt.Errorf("slice %d of thread %d: %w", 1, 2, nil)`:      false,
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "x.go", "package x\n"+line, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := sentences(files, file); (len(got) > 0) != want {
			t.Errorf("%s: found %q, want some: %v", line, got, want)
		}
	}
}
