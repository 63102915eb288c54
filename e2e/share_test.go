package e2e_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// TestEachTestSharesOrNot: the first line of every test says whether others may run beside it.
func TestEachTestSharesOrNot(t *testing.T) {
	testjvm.Shared(t)
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" && !saysShare(fn) {
				t.Errorf("%s: %s does not begin with testjvm.Shared or testjvm.Alone", file, fn.Name.Name)
			}
		}
	}
}

// saysShare reports whether a function begins with a call that says so.
func saysShare(fn *ast.FuncDecl) bool {
	if len(fn.Body.List) == 0 {
		return false
	}
	statement, ok := fn.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "Shared" || f.Sel.Name == "Alone"
	case *ast.Ident:
		return f.Name == "sharedUnlessClockSteps" || f.Name == "aloneInFull"
	}
	return false
}

// aloneInFull marks a test that shares only in its short form, whose limits allow for a busy machine.
func aloneInFull(t *testing.T, reason string) {
	t.Helper()
	if torture() {
		testjvm.Alone(t, reason)
		return
	}
	testjvm.Shared(t)
}
