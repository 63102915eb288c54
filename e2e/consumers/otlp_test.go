//go:build consumers

package consumers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/shadow/exchange/export/exporttest"
)

// of is the point with an attribute.
func of(t *testing.T, metrics map[string][]point, name, key, value string) point {
	t.Helper()
	for _, p := range metrics[name] {
		if p.Attributes.get(key) == value {
			return p
		}
	}
	t.Errorf("%s: no point with %s %q", name, key, value)
	return point{}
}

// TestOTLPExport: the Collector receives sessions, and says the numbers that they have.
func TestOTLPExport(t *testing.T) {
	testjvm.Shared(t)
	each(t, func(t *testing.T, dir string, _ int) {
		var stats struct{ Tasks struct{ Executions int } }
		if err := json.Unmarshal([]byte(shadow(t, "stats", dir, "--format", "json")), &stats); err != nil {
			t.Fatal(err)
		}
		c := startCollector(t)
		began := time.Now()
		shadow(t, "export", dir, "--format", "otlp", "-o", c.url)
		took := time.Since(began)
		metrics, _, spans := c.stop(t)
		executions := 0
		for _, p := range metrics["stackagent_task_executions_total"] {
			executions += number(t, p.AsInt)
		}
		if executions != stats.Tasks.Executions {
			t.Errorf("%d executions, want %d", executions, stats.Tasks.Executions)
		}
		for name, all := range metrics {
			for _, p := range all {
				if p.Count == "" {
					continue
				}
				n := 0
				if p.ZeroCount != "" {
					n = number(t, p.ZeroCount)
				}
				for _, b := range p.Positive.BucketCounts {
					n += number(t, b)
				}
				if n != number(t, p.Count) {
					t.Errorf("%s of %s: %d in buckets, %s counted", name, p.Attributes.get("class"), n, p.Count)
				}
			}
		}
		seen := map[string]bool{}
		for _, s := range spans {
			if len(s.TraceID) != 32 || len(s.SpanID) != 16 || seen[s.SpanID] {
				t.Errorf("span %+v", s)
			}
			seen[s.SpanID] = true
		}
		if len(spans) == 0 {
			t.Error("no spans")
		}
		t.Logf("%d executions, %d classes, %d spans in %v", executions, len(metrics["stackagent_task_executions_total"]), len(spans), took.Round(time.Millisecond))
		if filepath.Base(dir) != "known" {
			return
		}
		if p := of(t, metrics, "stackagent_task_response_seconds", "class", exporttest.Outer); p.Count != "1" || p.Sum != 0.015 || p.Scale != 5 {
			t.Errorf("response time: %+v", p)
		}
		if p := of(t, metrics, "stackagent_task_run_seconds", "class", exporttest.Inner); p.Count != "9" || p.Sum != 0.00407 {
			t.Errorf("run time: %+v", p)
		}
		if p := of(t, metrics, "stackagent_gc_pause_seconds", "cause", "G1 Evacuation Pause"); p.Count != "1" || p.Sum != 0.001 {
			t.Errorf("pauses: %+v", p)
		}
		if s := spans[0]; s.Name != exporttest.Outer || s.Status.Code != 2 || s.Attributes.get("stackagent.queue_ns") != "5000000" || spans[1].ParentSpanID != s.SpanID {
			t.Errorf("spans: %+v", spans[:2])
		}
		if s := spans[0]; s.TraceID != exporttest.Traces[0] || s.ParentSpanID != exporttest.Spans[0] {
			t.Errorf("%s is in trace %s below span %s", s.Name, s.TraceID, s.ParentSpanID)
		}
	})
}

// promtool is the program of Debian's package prometheus: the installed one, or that of the package in the cache.
func promtool(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	dir := cache(t, "promtool")
	path := filepath.Join(dir, "usr", "bin", "promtool")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	t.Logf("downloading Debian's package prometheus into %s", dir)
	cmd := exec.Command("sh", "-c", "apt-get download prometheus && dpkg-deb -x prometheus_*.deb .")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no promtool: %v: %s", err, out)
	}
	return path
}

// TestOTLPServe: a JVM runs 100 tasks; the Collector says so by what shadow serve pushed, and promtool has nothing against /metrics.
func TestOTLPServe(t *testing.T) {
	testjvm.Shared(t)
	c := startCollector(t)
	store := filepath.Join(t.TempDir(), "store")
	serve := exec.Command(absolute(t, "bin/shadow"), "serve", "--store", store, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--otlp", c.url, "--otlp-interval", "1s", "--counters=false", "--switches", "off")
	var said testjvm.Buffer
	serve.Stderr = &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill() }) // it may have ended
	addresses := regexp.MustCompile(`bus (nats://\S+), page (http://\S+), store`)
	soon(t, "shadow serve listens", func() bool { return addresses.MatchString(said.String()) })
	m := addresses.FindStringSubmatch(said.String())

	jdk := testjvm.JDKs(t)[0]
	classes := testjvm.Compile(t, jdk, absolute(t, "e2e/consumers/testdata/known"))
	java := exec.Command(jdk.Tool("java"), "-agentpath:"+absolute(t, "bin/libstackagent.so")+"=bus="+m[1]+",tokenfile="+filepath.Join(store, "token"), "-cp", classes, "Known")
	var out testjvm.Buffer
	java.Stdout, java.Stderr = &out, &out
	stdin, err := java.StdinPipe()
	if err == nil {
		err = java.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = java.Process.Kill() }) // it may have ended
	var page string
	soon(t, "/metrics says that 100 tasks ended", func() bool {
		r, err := http.Get(m[2] + "metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, _ := io.ReadAll(r.Body)
		page = string(data)
		return regexp.MustCompile(`stackagent_class_completed_tasks_total\{[^}]*class="Known\$Job"[^}]*\} 100\n`).MatchString(page)
	})
	check := exec.Command(promtool(t), "check", "metrics")
	check.Stdin = strings.NewReader(page)
	complaints, err := check.CombinedOutput()
	t.Logf("promtool check metrics: %d lines, %d remarks (%v)", strings.Count(page, "\n"), bytes.Count(complaints, []byte("\n")), err)
	if err != nil && check.ProcessState.ExitCode() != 3 { // 3: remarks, but all can be read
		t.Errorf("promtool: %v: %s", err, complaints)
	}
	for line := range strings.Lines(string(complaints)) {
		name, _, _ := strings.Cut(line, " ")
		// A library writes those of the process; the two counts have the names of OpenTelemetry.
		if !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "go_") && name != "jvm_cpu_count" && name != "jvm_thread_count" {
			t.Errorf("promtool: %s", line)
		}
	}
	stdin.Close()
	if err := java.Wait(); err != nil {
		t.Errorf("the program: %v: %s", err, out.String())
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("shadow serve: %v: %s", err, said.String())
	}
	metrics, services, _ := c.stop(t)
	for name, want := range map[string]float64{"stackagent_class_submitted_tasks_total": 100, "stackagent_class_completed_tasks_total": 100, "stackagent_class_failed_tasks_total": 4} {
		if p := of(t, metrics, name, "class", "Known$Job"); p.AsDouble != want || number(t, p.StartTimeUnixNano) >= number(t, p.TimeUnixNano) {
			t.Errorf("%s: %+v, want %v", name, p, want)
		}
	}
	for _, p := range metrics["executor_seconds"] {
		n := 0
		for _, b := range p.BucketCounts {
			n += number(t, b)
		}
		if p.Count != "100" || n != 100 || len(p.BucketCounts) != 14 {
			t.Errorf("executor_seconds: %+v", p)
		}
	}
	if s := services["Known"]; s.get("process.pid") != strconv.Itoa(java.Process.Pid) || s.get("host.name") == "" {
		t.Errorf("resource of the JVM: %v", s)
	}
	if services["shadow"].get("process.pid") != strconv.Itoa(serve.Process.Pid) || len(metrics["stackagent_healthy"]) != 1 || len(metrics["executor_seconds"]) != 1 {
		t.Errorf("resource of the shadow: %v", services["shadow"])
	}
	t.Logf("%d metrics from %d resources", len(metrics), len(services))
}
