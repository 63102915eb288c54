package instrument

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stackagent/agent/jimage"
	"stackagent/internal/testjvm"
)

// images holds the open class image of each JDK; they stay open for the tests
// that follow.
var images sync.Map

func image(t testing.TB, jdk testjvm.JDK) *jimage.Image {
	t.Helper()
	if im, ok := images.Load(jdk.Home); ok {
		return im.(*jimage.Image)
	}
	im, err := jimage.Open(filepath.Join(jdk.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	images.Store(jdk.Home, im)
	return im
}

// program is a compiled Java program.
type program struct {
	dir     string
	classes map[string][]byte // by internal name
}

func compile(t testing.TB, jdk testjvm.JDK, dir string, extra ...string) program {
	t.Helper()
	p := program{dir: testjvm.Compile(t, jdk, filepath.Join("testdata", "java", dir), extra...)}
	p.classes = readClasses(t, p.dir)
	return p
}

func readClasses(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	classes := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".class" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		classes[strings.TrimSuffix(filepath.ToSlash(rel), ".class")], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(classes) == 0 {
		t.Fatalf("no classes in %s", dir)
	}
	return classes
}

// hierarchy resolves the program's classes, then those of the JDK.
func (p program) hierarchy(t testing.TB, jdk testjvm.JDK, o Options) *ImageHierarchy {
	im := image(t, jdk)
	return NewImageHierarchy(func(name string) ([]byte, error) {
		if b, ok := p.classes[name]; ok {
			return b, nil
		}
		return im.Class(name)
	}, o)
}

// weaveAll weaves every class that choose accepts into dir; the others are
// copied. It returns the number woven, and fails the test for every refusal.
func (p program) weaveAll(t testing.TB, jdk testjvm.JDK, dir string, o Options, choose func(name string) bool) int {
	t.Helper()
	h := p.hierarchy(t, jdk, o)
	woven := 0
	for name, b := range p.classes {
		if choose(name) {
			out, err := weaveClass(Input{Class: b, Supers: h}, o)
			if err != nil {
				t.Errorf("weave %s: %v", name, err)
			}
			if out != nil {
				b = out
				woven++
			}
		}
		writeClass(t, dir, name, b)
	}
	return woven
}

// weaveClass plans and weaves; nil bytes mean that there is nothing to do.
func weaveClass(in Input, o Options) ([]byte, error) {
	out, _, err := weaveClassLeft(in, o)
	return out, err
}

// weaveClassLeft also gives what of the class is left as it is.
func weaveClassLeft(in Input, o Options) ([]byte, []*Refusal, error) {
	plan, err := NewPlan(in, o)
	if err != nil || plan == nil {
		return nil, nil, err
	}
	out, err := plan.Weave()
	return out, plan.Left, err
}

func writeClass(t testing.TB, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name)+".class")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// verifyEverything makes a JVM verify all classes, its own included.
var verifyEverything = []string{"-XX:+UnlockDiagnosticVMOptions",
	"-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"}

// reasonOf is the reason of a refusal, or the error's text.
func reasonOf(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return string(r.Reason)
	}
	return fmt.Sprintf("NOT A REFUSAL: %v", err)
}
