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
	{"internal/timers", nil},
	{"internal/perfevent", nil},
	{"internal/proc", []string{"internal/units", "golang.org/x/sys/..."}},
	{"internal/sessionfs", []string{"golang.org/x/sys/..."}},
	{"internal/checksum", []string{"internal/sessionfs", "golang.org/x/sys/..."}},
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
	{"hpc", []string{"internal/sessionfs", "internal/timers", "internal/proc", "internal/units", "github.com/elastic/go-perf", "golang.org/x/sys/..."}},
	{"internal/idmap", nil},
	{"granularity/...", []string{"granularity/...", "internal/text", "internal/units", "internal/loglinear", "gonum.org/v1/gonum/..."}},
	{"internal/parquet", []string{"github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/..."}},
	{"hpc/perfdata", []string{"internal/proc", "golang.org/x/sys/..."}},
	{"hpc/monitor", []string{"internal/sessionfs", "internal/parquet", "internal/proc", "internal/checksum", "internal/units", "golang.org/x/sys/..."}},
	{"hpc/monitor/kernel", []string{"hpc", "hpc/kernelprog", "hpc/monitor", "internal/proc", "internal/units", "github.com/cilium/ebpf/...", "golang.org/x/sys/..."}},
	{"hpc/monitor/jvm", []string{"hpc/monitor", "hpc/perfdata", "internal/units"}},
	{"hpc/kernelprog", []string{"internal/text", "github.com/cilium/ebpf/...", "golang.org/x/sys/..."}},
	{"hpc/sched", []string{"internal/sessionfs", "internal/timers", "internal/proc", "internal/text", "hpc", "hpc/kernelprog", "hpc/perfdata", "internal/parquet", "internal/checksum", "internal/units", "github.com/cilium/ebpf/...", "github.com/elastic/go-perf", "golang.org/x/sys/..."}},
	{"shadow/store", []string{"internal/sessionfs", "internal/label", "internal/parquet", "internal/checksum", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/...", "golang.org/x/sys/..."}},
	{"shadow/fleet/rollup", []string{"internal/label", "internal/checksum", "golang.org/x/sys/...", "shadow/store/objectstore", "shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/analysis/wait", "shadow/session/callsite", "shadow/session/unit", "granularity", "internal/loglinear", "internal/parquet", "internal/text", "internal/units", "internal/wire", "github.com/nats-io/nats.go/...", "golang.org/x/sync/..."}},
	{"shadow/session/catalog", []string{"internal/label", "shadow/session", "shadow/store", "internal/text", "internal/units"}},
	{"shadow/session", []string{"internal/sessionfs", "shadow/store", "hpc", "hpc/sched", "granularity/...", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/parquet-go/parquet-go/...", "github.com/klauspost/compress/..."}},
	{"shadow/store/objectstore", []string{"internal/text", "github.com/minio/minio-go/v7/...", "gopkg.in/ini.v1"}},
	{"shadow/store/objectstore/objectstoretest", []string{"shadow/store/objectstore"}},
	{"shadow/session/remotefs", []string{"shadow/session/catalog", "shadow/store/objectstore", "shadow/store", "internal/sessionfs"}},
	{"shadow/exchange/tgp", []string{"granularity/tgp", "shadow/store", "shadow/session", "internal/units", "internal/wire", "internal/text"}},
	{"shadow/exchange/jfrimport", []string{"internal/label", "shadow/store", "internal/jfrfile", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/session/logs/marker", []string{"hpc", "internal/proc", "internal/units"}},
	{"shadow/session/logs/deopt", []string{"hpc", "internal/units"}},
	{"shadow/session/logs/jfr", []string{"hpc", "internal/units"}},
	{"shadow/session/iteration", []string{"shadow/session/logs/deopt", "shadow/session/logs/marker", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/analysis/scaling", []string{"shadow/session/iteration", "shadow/session", "shadow/store", "shadow/session/unit", "hpc", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/session/unit", []string{"shadow/session", "shadow/store", "granularity/...", "internal/idmap", "internal/wire", "internal/units"}},
	{"shadow/analysis/timeseries", []string{"shadow/session/logs/deopt", "shadow/session/logs/jfr", "shadow/session/logs/marker", "shadow/session/unit", "shadow/session", "shadow/store", "hpc/monitor", "granularity/...", "internal/text", "internal/wire", "internal/units"}},
	{"shadow/session/virtual", []string{"shadow/session/unit", "shadow/session", "shadow/store", "internal/units"}},
	{"shadow/session/callsite", []string{"shadow/session/unit", "shadow/session", "shadow/store", "internal/idmap", "internal/wire", "internal/units"}},
	{"shadow/analysis/advice", []string{"granularity/...", "internal/taskdef", "internal/text", "internal/units"}},
	{"shadow/analysis/advice/evidence", []string{"shadow/analysis/advice", "shadow/session/callsite", "shadow/session/unit", "shadow/session/virtual", "shadow/session", "shadow/store", "hpc/sched", "granularity/...", "internal/wire", "internal/units"}},
	{"shadow/analysis/graph", []string{"shadow/session/callsite", "shadow/session", "shadow/store", "shadow/session/unit", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/analysis/latency", []string{"shadow/session/callsite", "shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/session/unit", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/experiment/characterize", []string{"shadow/session/iteration", "shadow/session", "shadow/analysis/summary", "hpc", "granularity/...", "internal/units"}},
	{"shadow/analysis/wait", []string{"internal/sessionfs", "shadow/session/callsite", "shadow/session/unit", "shadow/session", "shadow/store", "hpc/sched", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/analysis/summary", []string{"internal/label", "shadow/analysis/advice/...", "shadow/session/callsite", "shadow/session/unit", "shadow/session/virtual", "shadow/analysis/wait", "shadow/session", "shadow/store", "hpc", "granularity/...", "internal/idmap", "internal/taskdef", "internal/text", "internal/wire", "internal/units"}},
	{"shadow/analysis/budget", []string{"granularity/estimate", "internal/text", "internal/units", "github.com/expr-lang/expr/...", "go.yaml.in/yaml/v3"}},
	{"shadow/analysis/diff", []string{"shadow/analysis/graph", "shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/session/unit", "shadow/show/view", "shadow/analysis/wait", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/analysis/crosscheck", []string{"shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/session/unit", "hpc", "internal/perfevent", "internal/units"}},
	{"shadow/experiment", []string{"hpc", "internal/proc", "internal/text", "internal/units", "shadow/show/view", "golang.org/x/sys/unix"}},
	{"shadow/experiment/suite", []string{"internal/taskdef", "internal/text", "go.yaml.in/yaml/v3"}},
	{"shadow/show/report", []string{"shadow/analysis/summary", "shadow/show/figure", "granularity/..."}},
	{"shadow/show/page", []string{"internal/label", "shadow/analysis/explain", "shadow/analysis/timeseries", "internal/idmap", "internal/loglinear", "internal/text", "internal/units", "shadow/analysis/scaling", "shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/session/unit", "shadow/analysis/advice", "shadow/analysis/wait", "shadow/show/figure", "granularity/..."}},
	{"internal/listing/table", []string{"internal/text", "github.com/jedib0t/go-pretty/v6/...", "golang.org/x/term"}},
	{"shadow/show/view", []string{"internal/label", "internal/listing/table", "shadow/analysis/advice", "shadow/analysis/summary", "shadow/analysis/wait", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units", "github.com/parquet-go/parquet-go"}},
	{"shadow/analysis/threads", []string{"shadow/show/view", "shadow/analysis/summary", "shadow/session", "shadow/store", "shadow/session/virtual", "hpc", "hpc/sched", "granularity/...", "internal/units"}},
	{"shadow/exchange/flame", []string{"internal/label", "shadow/analysis/summary", "shadow/analysis/wait", "shadow/session", "shadow/store", "internal/text", "internal/units", "github.com/google/pprof/profile"}},
	{"shadow/exchange/export/perfetto", []string{"internal/label", "shadow/exchange/export", "shadow/session", "shadow/store", "granularity/...", "internal/text", "internal/units", "internal/wire", "google.golang.org/protobuf/encoding/protowire"}},
	{"shadow/exchange/export/duckdb", []string{"internal/label", "shadow/session", "shadow/store", "internal/text"}},
	{"shadow/exchange/export/jfr", []string{"internal/label", "shadow/exchange/export", "shadow/session", "shadow/store", "shadow/analysis/wait", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/exchange/export/otlp", []string{"internal/label", "shadow/exchange/export", "shadow/show/live", "shadow/session", "shadow/store", "internal/loglinear", "internal/text", "internal/units", "internal/wire", "github.com/klauspost/compress/gzip", "go.opentelemetry.io/proto/slim/otlp/...", "google.golang.org/protobuf/..."}},
	{"shadow/exchange/export", []string{"internal/label", "shadow/session", "shadow/store", "shadow/analysis/summary", "granularity/...", "internal/text", "internal/units", "internal/wire"}},
	{"shadow/collect/bus", []string{"internal/announce", "internal/timers", "internal/busauth", "github.com/nats-io/nkeys", "github.com/nats-io/nats-server/v2/...", "github.com/nats-io/nats.go/...", "golang.org/x/sys/..."}},
	{"shadow/collect/ownership", []string{"internal/timers", "github.com/nats-io/nats.go/...", "golang.org/x/sys/..."}},
	{"shadow/fleet", []string{"internal/label", "shadow/analysis/advice", "shadow/analysis/diff", "shadow/fleet/rollup", "granularity/estimate", "internal/loglinear", "internal/text", "internal/units"}},
	{"shadow/fleet/query", []string{"internal/label", "internal/text", "internal/units", "shadow/analysis/diff", "shadow/fleet", "shadow/store/objectstore", "shadow/fleet/rollup", "shadow/show/view"}},
	{"shadow/fleet/engine", []string{"internal/text", "shadow/store/objectstore", "shadow/fleet/rollup"}},
	{"shadow/fleet/upload", []string{"internal/label", "internal/checksum", "shadow/collect/ingest", "shadow/store/objectstore", "shadow/fleet/rollup", "shadow/collect/ownership", "shadow/store", "golang.org/x/sys/..."}},
	{"shadow/collect/ingest", []string{"internal/label", "internal/timers", "shadow/collect/bus", "shadow/collect/ownership", "shadow/store", "internal/wire", "internal/text", "internal/units", "internal/loglinear", "github.com/nats-io/nats.go/..."}},
	{"shadow/analysis/explain", []string{"shadow/analysis/timeseries", "shadow/analysis/formula", "hpc/monitor", "granularity/...", "internal/text", "internal/units"}},
	{"shadow/analysis/formula", []string{"internal/text", "internal/units", "github.com/expr-lang/expr/..."}},
	{"shadow/collect/observe", []string{"internal/announce", "internal/text", "internal/units", "internal/wire", "shadow/collect/bus", "shadow/collect/ingest", "shadow/store", "github.com/nats-io/nats.go", "golang.org/x/sys/unix"}},
	{"shadow/show/figure", []string{"granularity/...", "internal/units", "internal/text", "gonum.org/v1/plot/...", "golang.org/x/image/...", "golang.org/x/text/..."}},
	{"shadow/show/live", []string{"internal/label", "granularity/...", "internal/timers", "internal/loglinear", "internal/text", "internal/units", "internal/wire", "shadow/analysis/advice", "shadow/collect/ingest", "shadow/session/callsite", "shadow/session", "shadow/store", "shadow/session/unit"}},
	{"shadow/show/web/audit", []string{"golang.org/x/sys/..."}},
	{"shadow/show/web/access", []string{"internal/label", "internal/text", "go.yaml.in/yaml/v3"}},
	{"shadow/show/web", []string{"shadow/show/web/access", "shadow/fleet/query", "shadow/fleet", "shadow/store/objectstore", "shadow/fleet/rollup", "shadow/show/view", "shadow/show/web/audit", "github.com/coreos/go-oidc/v3/oidc", "golang.org/x/oauth2", "internal/label", "internal/timers", "shadow/session/catalog", "shadow/collect/ingest", "shadow/show/live", "shadow/show/page", "shadow/store", "internal/units", "internal/text", "github.com/VictoriaMetrics/metrics", "golang.org/x/net/netutil", "golang.org/x/sys/...", "golang.org/x/time/rate"}},
	{"cmd/shadow/internal/console", []string{"shadow/store/objectstore", "shadow/session/remotefs", "shadow/session/catalog", "shadow/session", "internal/listing/table", "golang.org/x/term"}},
	{"cmd/shadow/internal/listflags", []string{"cmd/shadow/internal/console", "shadow/show/view/...", "internal/text", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/receiver", []string{"cmd/shadow/internal/console", "shadow/exchange/export/otlp", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/record", []string{"cmd/shadow/internal/console", "cmd/shadow/internal/jvmprocess", "cmd/shadow/internal/leftover", "shadow/collect/bus", "shadow/collect/ingest", "shadow/collect/observe", "shadow/session", "shadow/collect/ownership", "shadow/store", "internal/listing/table", "hpc", "hpc/sched", "hpc/monitor/...", "internal/...", "github.com/nats-io/nats.go", "github.com/spf13/pflag", "golang.org/x/sys/..."}},
	{"cmd/shadow/internal/serve", []string{"shadow/show/web/access", "shadow/show/web/audit", "cmd/shadow/internal/console", "cmd/shadow/internal/fleet", "cmd/shadow/internal/jvmprocess", "cmd/shadow/internal/leftover", "cmd/shadow/internal/receiver", "cmd/shadow/internal/record", "shadow/collect/bus", "shadow/session/catalog", "shadow/exchange/export/otlp", "shadow/collect/ingest", "shadow/show/live", "shadow/collect/observe", "shadow/store/objectstore", "shadow/session/remotefs", "shadow/fleet/rollup", "shadow/fleet/upload", "hpc/monitor", "shadow/store", "shadow/show/web", "internal/listing/table", "hpc/sched", "internal/...", "github.com/nats-io/nats.go/...", "github.com/spf13/cobra", "go.opentelemetry.io/proto/slim/otlp/metrics/v1", "golang.org/x/sys/..."}},
	{"cmd/shadow/internal/top", []string{"internal/label", "cmd/shadow/internal/console", "cmd/shadow/internal/listflags", "shadow/show/live", "internal/listing/table", "internal/text", "internal/units", "github.com/jedib0t/go-pretty/v6/text", "golang.org/x/sys/unix", "golang.org/x/term"}},
	{"cmd/shadow/internal/fleet", []string{"shadow/show/web/audit", "cmd/shadow/internal/console", "cmd/shadow/internal/files", "shadow/fleet/engine", "cmd/shadow/internal/listflags", "shadow/fleet/query", "shadow/analysis/diff", "shadow/fleet", "shadow/store/objectstore", "shadow/fleet/rollup", "shadow/store", "shadow/fleet/upload", "shadow/show/view/...", "internal/text", "internal/units", "github.com/spf13/cobra"}},
	{"cmd/shadow/internal/files", []string{"cmd/shadow/internal/console", "shadow/show/figure", "shadow/store", "golang.org/x/sys/unix"}},
	{"cmd/shadow/internal/tgp", []string{"cmd/shadow/internal/console", "cmd/shadow/internal/files", "cmd/shadow/internal/listflags", "shadow/session", "shadow/store", "shadow/analysis/summary", "shadow/exchange/tgp", "shadow/session/unit", "shadow/session/callsite", "granularity", "shadow/show/view/...", "granularity/tgp", "hpc/sched", "internal/...", "golang.org/x/sys/...", "github.com/spf13/cobra"}},
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
	{"shadow/show/view/...", "shadow/collect/ingest", "listings read sessions; they do not store them"},
	{"shadow/analysis/threads", "shadow/collect/ingest", "listings read sessions; they do not store them"},
	{"shadow/exchange/flame", "shadow/show/view", "a profile is no listing"},
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
		{"agent to shadow", pkg{ImportPath: "stackagent/agent/drain", Deps: []string{"stackagent/shadow/collect/bus"}}, "not to know the shadow"},
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
