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

// rule says what a package may import beyond the standard library. A pattern
// ending in /... covers the package and what is below it.
type rule struct {
	pkg string
	may []string
}

// The first rule that covers a package holds.
var rules = []rule{
	{"internal/units", nil},
	{"internal/loglinear", nil},
	{"internal/jfrfile", nil},
	{"internal/text", []string{"internal/units"}},
	{"internal/label", []string{"internal/text"}},
	{"internal/beat", nil},
	{"internal/perfevent", nil},
	{"internal/proc", []string{"internal/units", "golang.org/x/sys/..."}},
	{"internal/sessionfs", []string{"golang.org/x/sys/..."}},
	{"internal/seal", []string{"internal/sessionfs", "golang.org/x/sys/..."}},
	{"internal/announce", []string{"internal/proc", "internal/units", "internal/wire"}},
	{"internal/monitorspec", nil},
	{"internal/wire", []string{"internal/label", "internal/units", "internal/loglinear", "github.com/vmihailenco/msgpack/v5/..."}},
	{"internal/spool", []string{"internal/wire", "golang.org/x/sys/..."}},
	{"internal/attach", []string{"internal/proc", "golang.org/x/sys/..."}},
	{"jvmti/ring", nil},
	{"jvmti/clock", nil},
	{"jvmti", []string{"jvmti/ring", "jvmti/clock", "internal/wire", "internal/units", "internal/loglinear"}},
	{"agent/classfile", nil},
	{"agent/jimage", nil},
	{"agent/plans", nil},
	{"agent/instrument", []string{"agent/classfile", "internal/taskdef", "internal/units"}},
	{"internal/busauth", []string{"github.com/nats-io/nats.go", "github.com/nats-io/nkeys"}},
	{"agent/options", []string{"internal/label", "internal/text", "internal/units", "internal/wire", "internal/busauth", "internal/monitorspec", "internal/perfevent", "internal/taskdef"}},
	{"agent/drain", []string{"internal/wire", "internal/units", "internal/loglinear"}},
	{"agent/publish", []string{"internal/wire", "internal/text", "internal/units", "internal/busauth", "internal/spool", "github.com/nats-io/nats.go/..."}},
	{"agent", []string{"internal/announce", "internal/label", "internal/monitorspec", "internal/proc", "internal/spool", "agent/...", "github.com/nats-io/nats.go", "jvmti", "internal/taskdef", "internal/text", "internal/wire", "internal/units", "internal/busauth", "internal/perfevent"}},
	{"hpc", []string{"internal/sessionfs", "internal/beat", "internal/proc", "internal/units", "github.com/elastic/go-perf", "golang.org/x/sys/..."}},
	{"internal/byid", nil},
	{"granularity/...", []string{"granularity/...", "internal/text", "internal/units", "internal/loglinear", "gonum.org/v1/gonum/..."}},
	{"internal/parquet", []string{"github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/..."}},
	{"hpc/perfdata", []string{"internal/proc", "golang.org/x/sys/..."}},
	{"hpc/monitor", []string{"internal/sessionfs", "internal/parquet", "internal/proc", "internal/seal", "internal/units", "golang.org/x/sys/..."}},
	{"hpc/monitor/kernel", []string{"hpc", "hpc/kernelprog", "hpc/monitor", "internal/proc", "internal/units", "github.com/cilium/ebpf/...", "golang.org/x/sys/..."}},
	{"hpc/monitor/jvm", []string{"hpc/monitor", "hpc/perfdata", "internal/units"}},
	{"hpc/kernelprog", []string{"internal/text", "github.com/cilium/ebpf/...", "golang.org/x/sys/..."}},
	{"hpc/sched", []string{"internal/sessionfs", "internal/beat", "internal/proc", "internal/text", "hpc", "hpc/kernelprog", "hpc/perfdata", "internal/parquet", "internal/seal", "internal/units", "github.com/cilium/ebpf/...", "github.com/elastic/go-perf", "golang.org/x/sys/..."}},
	{"shadow/store", []string{"internal/sessionfs", "internal/label", "internal/parquet", "internal/seal", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/...", "golang.org/x/sys/..."}},
	{"shadow/rollup", []string{"internal/label", "internal/seal", "golang.org/x/sys/...", "shadow/objects", "shadow/session", "shadow/store", "shadow/summary", "shadow/wait", "shadow/origin", "shadow/unit", "granularity", "internal/loglinear", "internal/parquet", "internal/text", "internal/units", "internal/wire", "github.com/nats-io/nats.go/...", "golang.org/x/sync/..."}},
	{"shadow/catalog", []string{"internal/label", "shadow/session", "shadow/store", "internal/text", "internal/units"}},
	{"shadow/session", []string{"internal/sessionfs", "shadow/store", "hpc", "hpc/sched", "granularity/...", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/..."}},
	{"shadow/objects", []string{"internal/text", "github.com/minio/minio-go/v7/...", "gopkg.in/ini.v1"}},
	{"shadow/objects/objectstest", []string{"shadow/objects"}},
	{"shadow/remote", []string{"shadow/catalog", "shadow/objects", "shadow/store", "internal/sessionfs"}},
	{"shadow/tgp", []string{"granularity/tgp", "shadow/store", "shadow/session", "internal/units", "internal/wire", "internal/text"}},
	{"shadow/fromjfr", []string{"internal/label", "shadow/store", "internal/jfrfile", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/marker", []string{"hpc", "internal/proc", "internal/units"}},
	{"shadow/deopt", []string{"hpc", "internal/units"}},
	{"shadow/jfr", []string{"hpc", "internal/units"}},
	{"shadow/iteration", []string{"shadow/deopt", "shadow/marker", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/scaling", []string{"shadow/iteration", "shadow/session", "shadow/store", "shadow/unit", "hpc", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/unit", []string{"shadow/session", "shadow/store", "granularity/...", "internal/byid", "internal/wire", "internal/units"}},
	{"shadow/vertical", []string{"shadow/deopt", "shadow/jfr", "shadow/marker", "shadow/unit", "shadow/session", "shadow/store", "hpc/monitor", "granularity/...", "internal/text", "internal/wire", "internal/units"}},
	{"shadow/virtual", []string{"shadow/unit", "shadow/session", "shadow/store", "internal/units"}},
	{"shadow/origin", []string{"shadow/unit", "shadow/session", "shadow/store", "internal/byid", "internal/wire", "internal/units"}},
	{"shadow/advice", []string{"granularity/...", "internal/taskdef", "internal/text", "internal/units"}},
	{"shadow/advice/evidence", []string{"shadow/advice", "shadow/origin", "shadow/unit", "shadow/virtual", "shadow/session", "shadow/store", "hpc/sched", "granularity/...", "internal/wire", "internal/units"}},
	{"shadow/graph", []string{"shadow/origin", "shadow/session", "shadow/store", "shadow/unit", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/latency", []string{"shadow/origin", "shadow/session", "shadow/store", "shadow/summary", "shadow/unit", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/nominal", []string{"shadow/iteration", "shadow/session", "shadow/summary", "hpc", "granularity/...", "internal/units"}},
	{"shadow/wait", []string{"internal/sessionfs", "shadow/origin", "shadow/unit", "shadow/session", "shadow/store", "hpc/sched", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/summary", []string{"internal/label", "shadow/advice/...", "shadow/origin", "shadow/unit", "shadow/virtual", "shadow/wait", "shadow/session", "shadow/store", "hpc", "granularity/...", "internal/byid", "internal/taskdef", "internal/text", "internal/wire", "internal/units"}},
	{"shadow/budget", []string{"granularity/estimate", "internal/text", "internal/units", "github.com/expr-lang/expr/...", "go.yaml.in/yaml/v3"}},
	{"shadow/diff", []string{"shadow/graph", "shadow/session", "shadow/store", "shadow/summary", "shadow/unit", "shadow/view", "shadow/wait", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/check", []string{"shadow/session", "shadow/store", "shadow/summary", "shadow/unit", "hpc", "internal/perfevent", "internal/units"}},
	{"shadow/experiment", []string{"hpc", "internal/proc", "internal/text", "internal/units", "shadow/view", "golang.org/x/sys/unix"}},
	{"shadow/suite", []string{"internal/taskdef", "internal/text", "go.yaml.in/yaml/v3"}},
	{"shadow/report", []string{"shadow/summary", "shadow/figure", "granularity/..."}},
	{"shadow/page", []string{"internal/label", "shadow/explain", "shadow/vertical", "internal/byid", "internal/loglinear", "internal/text", "internal/units", "shadow/scaling", "shadow/session", "shadow/store", "shadow/summary", "shadow/unit", "shadow/advice", "shadow/wait", "shadow/figure", "granularity/..."}},
	{"shadow/view/table", []string{"internal/text", "github.com/jedib0t/go-pretty/v6/...", "golang.org/x/term"}},
	{"shadow/view", []string{"internal/label", "shadow/view/table", "shadow/advice", "shadow/summary", "shadow/wait", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units", "github.com/parquet-go/parquet-go"}},
	{"shadow/threads", []string{"shadow/view", "shadow/summary", "shadow/session", "shadow/store", "shadow/virtual", "hpc", "hpc/sched", "granularity/...", "internal/units"}},
	{"shadow/flame", []string{"internal/label", "shadow/summary", "shadow/wait", "shadow/session", "shadow/store", "internal/text", "internal/units", "github.com/google/pprof/profile"}},
	{"shadow/export/perfetto", []string{"internal/label", "shadow/export", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units", "internal/wire", "google.golang.org/protobuf/encoding/protowire"}},
	{"shadow/export/duckdb", []string{"internal/label", "shadow/session", "shadow/store", "internal/text"}},
	{"shadow/export/jfr", []string{"internal/label", "shadow/export", "shadow/session", "shadow/store", "shadow/wait", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/export/otlp", []string{"internal/label", "shadow/export", "shadow/live", "shadow/session", "shadow/store", "internal/loglinear", "internal/text", "internal/units", "internal/wire", "github.com/klauspost/compress/gzip", "go.opentelemetry.io/proto/slim/otlp/...", "google.golang.org/protobuf/..."}},
	{"shadow/export", []string{"internal/label", "shadow/session", "shadow/store", "shadow/summary", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/bus", []string{"internal/announce", "internal/beat", "internal/busauth", "github.com/nats-io/nkeys", "github.com/nats-io/nats-server/v2/...", "github.com/nats-io/nats.go/...", "golang.org/x/sys/..."}},
	{"shadow/share", []string{"internal/beat", "github.com/nats-io/nats.go/...", "golang.org/x/sys/..."}},
	{"shadow/fleet", []string{"internal/label", "shadow/advice", "shadow/diff", "shadow/rollup", "granularity/estimate", "internal/loglinear", "internal/text", "internal/units"}},
	{"shadow/inquiry", []string{"internal/label", "internal/text", "internal/units", "shadow/diff", "shadow/fleet", "shadow/objects", "shadow/rollup", "shadow/view"}},
	{"shadow/engine", []string{"internal/text", "shadow/objects", "shadow/rollup"}},
	{"shadow/upload", []string{"internal/label", "internal/seal", "shadow/ingest", "shadow/objects", "shadow/rollup", "shadow/share", "shadow/store", "golang.org/x/sys/..."}},
	{"shadow/ingest", []string{"internal/label", "internal/beat", "shadow/bus", "shadow/share", "shadow/store", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/nats-io/nats.go/..."}},
	{"shadow/explain", []string{"shadow/vertical", "shadow/metric", "hpc/monitor", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/metric", []string{"internal/text", "internal/units", "github.com/expr-lang/expr/..."}},
	{"shadow/observe", []string{"internal/announce", "internal/text", "internal/units", "internal/wire", "shadow/bus", "shadow/ingest", "shadow/store", "github.com/nats-io/nats.go", "golang.org/x/sys/unix"}},
	{"shadow/figure", []string{"granularity/...", "internal/units", "internal/text", "gonum.org/v1/plot/...", "golang.org/x/image/...", "golang.org/x/text/..."}},
	{"shadow/live", []string{"internal/label", "granularity/...", "internal/beat", "internal/loglinear", "internal/text", "internal/units", "internal/wire", "shadow/advice", "shadow/ingest", "shadow/origin", "shadow/session", "shadow/store", "shadow/unit"}},
	{"shadow/audit", []string{"golang.org/x/sys/..."}},
	{"shadow/access", []string{"internal/label", "internal/text", "go.yaml.in/yaml/v3"}},
	{"shadow/web", []string{"shadow/access", "shadow/inquiry", "shadow/fleet", "shadow/objects", "shadow/rollup", "shadow/view", "shadow/audit", "github.com/coreos/go-oidc/v3/oidc", "golang.org/x/oauth2", "internal/label", "internal/beat", "shadow/catalog", "shadow/ingest", "shadow/live", "shadow/page", "shadow/store", "internal/units", "internal/text", "github.com/VictoriaMetrics/metrics", "golang.org/x/net/netutil", "golang.org/x/sys/...", "golang.org/x/time/rate"}},
	{"cmd/shadow/internal/console", []string{"shadow/objects", "shadow/remote", "shadow/catalog", "shadow/session", "shadow/view/table", "golang.org/x/term"}},
	{"cmd/shadow/internal/listing", []string{"cmd/shadow/internal/console", "shadow/view/...", "internal/text", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/receiver", []string{"cmd/shadow/internal/console", "shadow/export/otlp", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/record", []string{"cmd/shadow/internal/console", "cmd/shadow/internal/jvmprocess", "cmd/shadow/internal/leftover", "shadow/bus", "shadow/ingest", "shadow/observe", "shadow/session", "shadow/share", "shadow/store", "shadow/view/table", "hpc", "hpc/sched", "hpc/monitor/...", "internal/...", "github.com/nats-io/nats.go", "github.com/spf13/pflag", "golang.org/x/sys/..."}},
	{"cmd/shadow/internal/serve", []string{"shadow/access", "shadow/audit", "cmd/shadow/internal/console", "cmd/shadow/internal/fleet", "cmd/shadow/internal/jvmprocess", "cmd/shadow/internal/leftover", "cmd/shadow/internal/receiver", "cmd/shadow/internal/record", "shadow/bus", "shadow/catalog", "shadow/export/otlp", "shadow/ingest", "shadow/live", "shadow/observe", "shadow/objects", "shadow/remote", "shadow/rollup", "shadow/upload", "hpc/monitor", "shadow/store", "shadow/web", "shadow/view/table", "hpc/sched", "internal/...", "github.com/nats-io/nats.go/...", "github.com/spf13/cobra", "go.opentelemetry.io/proto/slim/otlp/metrics/v1", "golang.org/x/sys/..."}},
	{"cmd/shadow/internal/top", []string{"internal/label", "cmd/shadow/internal/console", "cmd/shadow/internal/listing", "shadow/live", "shadow/view/table", "internal/text", "internal/units", "github.com/jedib0t/go-pretty/v6/text", "golang.org/x/sys/unix", "golang.org/x/term"}},
	{"cmd/shadow/internal/fleet", []string{"shadow/audit", "cmd/shadow/internal/console", "cmd/shadow/internal/files", "shadow/engine", "cmd/shadow/internal/listing", "shadow/inquiry", "shadow/diff", "shadow/fleet", "shadow/objects", "shadow/rollup", "shadow/store", "shadow/upload", "shadow/view/...", "internal/text", "internal/units", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/files", []string{"cmd/shadow/internal/console", "shadow/figure", "shadow/store", "golang.org/x/sys/unix"}},
	{"cmd/shadow/internal/tgp", []string{"cmd/shadow/internal/console", "cmd/shadow/internal/files", "cmd/shadow/internal/listing", "shadow/session", "shadow/store", "shadow/summary", "shadow/tgp", "shadow/unit", "shadow/origin", "granularity", "shadow/view/...", "granularity/tgp", "hpc/sched", "internal/...", "golang.org/x/sys/...", "github.com/spf13/cobra"}},
	{"cmd/stackagent", []string{"agent", "jvmti"}},
}

// cgoAllowed lists where C may be.
var cgoAllowed = []string{"jvmti", "cmd/stackagent"}

// never lists what must not be reached, however indirectly.
var never = []struct{ from, what, why string }{
	{"agent/...", "shadow/...", "the agent is not to know the shadow"},
	{"cmd/stackagent", "shadow/...", "the agent is not to know the shadow"},
	{"shadow/...", "agent/...", "the shadow is not to know the agent"},
	{"cmd/shadow", "jvmti", "the command is built without C"},
	{"shadow/view/...", "shadow/ingest", "listings read sessions; they do not store them"},
	{"shadow/threads", "shadow/ingest", "listings read sessions; they do not store them"},
	{"shadow/flame", "shadow/view", "a profile is no listing"},
	{"cmd/stackagent", "github.com/nats-io/nats-server/...", "no server in somebody's JVM"},
	{"cmd/stackagent", "github.com/parquet-go/...", "no storage in somebody's JVM"},
	{"cmd/stackagent", "net/http/pprof", "no listener in somebody's JVM"},
}

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
		if i := slices.IndexFunc(rules, func(r rule) bool { return covers(r.pkg, p.ImportPath) }); i >= 0 {
			for _, imp := range p.Imports {
				allowed := slices.ContainsFunc(rules[i].may, func(pattern string) bool { return covers(pattern, imp) })
				if !allowed && !standard(imp) {
					say("%s imports %s; it may import %v", p.short(), imp, rules[i].may)
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
	for _, r := range rules {
		if !slices.ContainsFunc(packages, func(p pkg) bool { return covers(r.pkg, p.ImportPath) }) {
			t.Errorf("there is a rule about %s, but no such package", r.pkg)
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
		{"cgo", pkg{ImportPath: "stackagent/hpc", CgoFiles: []string{"x.go"}}, "uses cgo"},
		{"server", pkg{ImportPath: "stackagent/cmd/stackagent", Deps: []string{"github.com/nats-io/nats-server/v2/server"}}, "no server"},
		{"agent to shadow", pkg{ImportPath: "stackagent/agent/drain", Deps: []string{"stackagent/shadow/bus"}}, "not to know the shadow"},
		{"shadow to agent", pkg{ImportPath: "stackagent/shadow/bus", Deps: []string{"stackagent/agent"}}, "not to know the agent"},
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
