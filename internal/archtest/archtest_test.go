// Package archtest holds the tree to its plan: who may import whom, where C may be, what must stay
// out of the program that is observed.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "stackagent"

// pkg is the part of `go list -json` that the rules look at.
type pkg struct {
	ImportPath string
	Name       string
	Imports    []string // without tests
	// Imports of tests inside and outside the package.
	TestImports, XTestImports []string
	Deps                      []string // all, transitively
	CgoFiles                  []string
	Standard                  bool
}

// short is the path inside the module: "agent/drain"; "" for the root.
func (p pkg) short() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

// floors lists the rooms from the bottom up: what is in one may import what is in the same room or in one below. A pattern
// ending in /... covers the package and what is below it; the first that covers a package is its room. Which modules of
// others a package may use stands in docs/internals/dependencies.md.
var floors = []string{
	"internal/units", "internal/histogram", "internal/heap",
	"internal/...",
	"jvmti/ring", "jvmti/clock", "jvmti/...",
	"agent/classfile", "agent/jimage", "agent/plans", "agent/instrument", "agent/options", "agent/drain", "agent/publish", "agent/...",
	"cmd/stackagent",
	"granularity/...",
	"hpc/...",
	"shadow/store/...",      // how it lies on disk
	"shadow/session/...",    // read once
	"shadow/collect/...",    // how it gets in
	"shadow/analysis/...",   // what it means
	"shadow/experiment/...", // run it again
	"shadow/fleet/...",      // many sessions
	"shadow/show/...",       // to the eye
	"shadow/exchange/...",   // formats of others
	"cmd/shadow/internal/...",
	"cmd/...",
}

// narrow lists packages that may use less than all that is below them: what runs in somebody's JVM, and what computes and
// knows neither files nor sessions.
var narrow = []rule{
	{"internal/units", nil},
	{"internal/histogram", nil},
	{"internal/idmap", nil},
	{"internal/settings", nil},
	{"internal/text", []string{"internal/units"}},
	{"jvmti", []string{"jvmti/...", "internal/settings", "internal/wire", "internal/units", "internal/histogram"}},
	{"agent/classfile", nil},
	{"agent/jimage", nil},
	{"agent/instrument", []string{"agent/classfile", "internal/settings", "internal/taskdef", "internal/units"}},
	{"agent/drain", []string{"internal/wire", "internal/units", "internal/histogram"}},
	{"granularity/...", []string{"granularity/...", "internal/text", "internal/units", "internal/histogram", "internal/heap", "gonum.org/v1/gonum/..."}},
	{"shadow/analysis/advice", []string{"granularity/...", "internal/...", "shadow/analysis/account"}},
}

// rule says what a package may import beyond the standard library.
type rule struct {
	pkg string
	may []string
}

// scaffold are packages for tests alone; what is below them does not matter.
var scaffold = []string{"internal/archtest", "internal/testbrowser", "internal/testjvm", "internal/testnats", "internal/testobjects", "internal/schema/..."}

// floor is the room of a package, counted from the bottom; -1 if it is in none.
func floor(path string) int {
	return slices.IndexFunc(floors, func(room string) bool { return covers(room, path) })
}

// cgoAllowed lists where C may be.
var cgoAllowed = []string{"jvmti", "cmd/stackagent"}

// never lists what must not be reached, however indirectly.
var never = []struct{ from, what, why string }{
	{"agent/...", "shadow/...", "the agent is not to know the shadow"},
	{"cmd/stackagent", "shadow/...", "the agent is not to know the shadow"},
	{"shadow/...", "agent/...", "the shadow is not to know the agent"},
	{"cmd/shadow", "jvmti", "the command is built without C"},
	{"shadow/show/view/...", "shadow/collect/ingest", "listings read sessions; they do not store them"},
	{"shadow/analysis/threads", "shadow/collect/ingest", "listings read sessions; they do not store them"},
	{"shadow/exchange/flame", "shadow/show/view", "a profile is not a listing"},
	{"cmd/stackagent", "github.com/nats-io/nats-server/...", "no server in somebody's JVM"},
	{"cmd/stackagent", "github.com/parquet-go/...", "no storage in somebody's JVM"},
	{"cmd/stackagent", "net/http/pprof", "no listener in somebody's JVM"},
}

// templates call methods by names that the linker does not know: if the command used them, all exported methods of all types would be
// linked, 8 MB more.
var templates = []string{"text/template", "html/template"}

// ofCommand are the rooms that the command is made of.
var ofCommand = []string{"internal/...", "granularity/...", "hpc/...", "shadow/...", "cmd/shadow", "cmd/shadow/..."}

// covers reports whether pattern ("a/b" or "a/b/...") covers the import path.
func covers(pattern, path string) bool {
	path = strings.TrimPrefix(path, module+"/")
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == pattern
}

// check lists what breaks the rules.
func check(packages []pkg) []string {
	var broken []string
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	for _, p := range packages {
		if len(p.CgoFiles) > 0 && !slices.Contains(cgoAllowed, p.short()) {
			say("%s uses cgo (%v); only %v may", p.short(), p.CgoFiles, cgoAllowed)
		}
		for _, n := range never {
			if !covers(n.from, p.ImportPath) {
				continue
			}
			for _, dep := range p.Deps {
				if covers(n.what, dep) {
					say("%s reaches %s: %s", p.short(), dep, n.why)
				}
			}
		}
		if slices.ContainsFunc(ofCommand, func(room string) bool { return covers(room, p.ImportPath) }) {
			for _, imp := range p.Imports {
				if slices.Contains(templates, imp) {
					say("%s imports %s: the linker would keep every method of the command", p.short(), imp)
				}
			}
		}
		if i := slices.IndexFunc(narrow, func(r rule) bool { return covers(r.pkg, p.ImportPath) }); i >= 0 {
			for _, imp := range p.Imports {
				allowed := slices.ContainsFunc(narrow[i].may, func(pattern string) bool { return covers(pattern, imp) })
				if !allowed && !standard(imp) {
					say("%s imports %s; it may import %v", p.short(), imp, narrow[i].may)
				}
			}
		} else if mine := floor(p.ImportPath); mine >= 0 && !slices.ContainsFunc(scaffold, func(s string) bool { return covers(s, p.ImportPath) }) {
			for _, imp := range p.Imports {
				if floor(imp) > mine {
					say("%s imports %s, which is in a room above", p.short(), strings.TrimPrefix(imp, module+"/"))
				}
			}
		}
	}
	return broken
}

// standard reports whether path is in the standard library: no dot in its first
// element, and not ours.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != module && !strings.Contains(first, ".")
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Deps,CgoFiles,Standard", module+"/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // else C files would be invisible
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages = append(packages, p)
	}
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, broken := range check(packages) {
		t.Error(broken)
	}
	// A rule about a package that is gone checks nothing.
	named := slices.Concat(floors, scaffold)
	for _, r := range narrow {
		named = append(named, r.pkg)
	}
	for _, name := range named {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return covers(name, p.ImportPath) }) {
			t.Errorf("there is a rule about %s, but no such package", name)
		}
	}
}

func TestCheckFindsWhatIsBroken(t *testing.T) {
	for _, c := range []struct {
		name string
		p    pkg
		want string
	}{
		{"std only", pkg{ImportPath: "stackagent/internal/units", Imports: []string{"fmt", "example.com/x"}}, "imports example.com/x"},
		{"layer", pkg{ImportPath: "stackagent/granularity/bottle", Imports: []string{"stackagent/shadow/store"}}, "imports stackagent/shadow/store"},
		{"upward", pkg{ImportPath: "stackagent/shadow/session/unit", Imports: []string{"stackagent/shadow/show/view"}}, "in a room above"},
		{"cgo", pkg{ImportPath: "stackagent/hpc", CgoFiles: []string{"x.go"}}, "uses cgo"},
		{"server", pkg{ImportPath: "stackagent/cmd/stackagent", Deps: []string{"github.com/nats-io/nats-server/v2/server"}}, "no server"},
		{"agent to shadow", pkg{ImportPath: "stackagent/agent/drain", Deps: []string{"stackagent/shadow/collect/bus"}}, "not to know the shadow"},
		{"templates", pkg{ImportPath: "stackagent/shadow/show/web", Imports: []string{"html/template"}}, "keep every method"},
		{"shadow to agent", pkg{ImportPath: "stackagent/shadow/collect/bus", Deps: []string{"stackagent/agent"}}, "not to know the agent"},
	} {
		got := check([]pkg{c.p})
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want one line with %q", c.name, got, c.want)
		}
	}
	fine := pkg{ImportPath: "stackagent/internal/wire", Imports: []string{"fmt", "stackagent/internal/units", "github.com/vmihailenco/msgpack/v5"}}
	if got := check([]pkg{fine}); got != nil {
		t.Errorf("allowed imports refused: %q", got)
	}
}
