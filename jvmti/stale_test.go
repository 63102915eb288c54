package jvmti_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is what go list says of a package.
type listed struct {
	Dir, BuildID   string
	Imports        []string
	CFiles, HFiles []string
	EmbedFiles     []string
}

// go build compiles package jvmti anew when one of its own files changes or a
// package that it imports. Each header that its C files include must be in one of
// those packages, or libstackagent.so stays old after a change.
func TestGoBuildSeesEveryHeader(t *testing.T) {
	packages := goList(t, ".", "-deps", "./")
	i := slices.IndexFunc(packages, func(p listed) bool { return len(p.CFiles) > 0 && filepath.Base(p.Dir) == "jvmti" })
	if i < 0 {
		t.Fatal("go list does not know package jvmti")
	}
	own := packages[i]
	seen := pathsIn(own.Dir, own.HFiles)
	for _, p := range packages {
		if slices.ContainsFunc(own.Imports, func(path string) bool { return strings.HasSuffix(p.Dir, strings.TrimPrefix(path, "stackagent")) }) {
			seen = append(seen, pathsIn(p.Dir, p.EmbedFiles)...)
		}
	}
	included := includedHeaders(t, own)
	for _, part := range []string{"/jvmti/agent.h", "/jvmti/clock/clock.h", "/jvmti/ring/record.h"} {
		if !slices.ContainsFunc(included, func(h string) bool { return strings.HasSuffix(h, part) }) {
			t.Errorf("the compiler does not name %s among %q", part, included)
		}
	}
	for _, header := range included {
		if !slices.Contains(seen, header) {
			t.Errorf("go build does not see a change of %s", header)
		}
	}
}

// A change of a header changes the build id of the package that holds it, which goes
// into that of package jvmti.
func TestAChangedHeaderChangesItsPackage(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), []byte("module stackagent\n\ngo 1.21\n"))
	for _, name := range []string{"clock/clock.go", "clock/clock.h", "ring/ring.go", "ring/ring.h", "ring/record.h"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, name), text)
	}
	ids := func() []string {
		var list []string
		for _, p := range goList(t, root, "-export", "./clock", "./ring") {
			list = append(list, p.BuildID)
		}
		return list
	}
	before := ids()
	if again := ids(); !slices.Equal(before, again) {
		t.Fatalf("build ids %q became %q though nothing changed", before, again)
	}
	for _, name := range []string{"clock/clock.h", "ring/record.h"} {
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, append(text, "\n/* changed */\n"...))
	}
	for i, id := range ids() {
		if contentOf(id) == contentOf(before[i]) {
			t.Errorf("package %d is the same after a header of it changed", i)
		}
	}
}

// contentOf is the part of a build id that importers of the package see.
func contentOf(id string) string { return id[strings.LastIndex(id, "/")+1:] }

func goList(t *testing.T, dir string, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=Dir,BuildID,Imports,CFiles,HFiles,EmbedFiles"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// includedHeaders asks the compiler which headers of ours the C files include.
func includedHeaders(t *testing.T, p listed) []string {
	t.Helper()
	args := append([]string{"-std=gnu11", "-D_GNU_SOURCE", "-MM"}, strings.Fields(os.Getenv("CGO_CFLAGS"))...)
	cmd := exec.Command("cc", append(args, pathsIn(p.Dir, p.CFiles)...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("cc -MM: %v\n%s", err, out)
	}
	var list []string
	for _, word := range strings.Fields(string(out)) {
		if path := filepath.Clean(word); strings.HasPrefix(path, p.Dir) && strings.HasSuffix(path, ".h") {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func pathsIn(dir string, names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
