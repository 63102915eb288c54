//go:build consumers

package consumers

import (
	"encoding/csv"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

const (
	otelSDK       = "1.53.0"
	otelJavaAgent = "2.19.0"
)

// What the Java agent prints of an exported span: 'request' : trace span KIND ...
var loggedSpan = regexp.MustCompile(`'(request|serving)' : ([0-9a-f]{32}) `)

// TestTraces records a program with OpenTelemetry: each task of a request has its trace, and no other task has one.
func TestTraces(t *testing.T) {
	dir := cache(t, "opentelemetry-"+otelSDK)
	var jars []string
	for _, name := range []string{"api", "context", "common", "sdk", "sdk-common", "sdk-trace", "sdk-metrics", "sdk-logs", "sdk-testing"} {
		jars = append(jars, fetched(t, dir, "io.opentelemetry", "opentelemetry-"+name, otelSDK))
	}
	javaAgent := fetched(t, dir, "io.opentelemetry.javaagent", "opentelemetry-javaagent", otelJavaAgent)
	for _, jdk := range testjvm.JDKs(t) {
		classes := t.TempDir()
		path := strings.Join(append(jars, classes), ":")
		output(t, filepath.Join(jdk.Home, "bin", "javac"), "-cp", path, "-d", classes, filepath.Join("testdata", "Traced.java"))
		t.Run(jdk.String()+"/sdk", func(t *testing.T) {
			checkTraces(t, nil, jdk.Tool("java"), "-cp", path, "Traced", "sdk")
		})
		t.Run(jdk.String()+"/agent", func(t *testing.T) {
			// These do not keep their context over a thread's start.
			lost := []string{"Traced$InThread", "Traced$InVirtual"}
			checkTraces(t, lost, jdk.Tool("java"), "-javaagent:"+javaAgent, "-Dotel.traces.exporter=logging", "-Dotel.metrics.exporter=none",
				"-Dotel.logs.exporter=none", "-cp", path, "Traced", "agent")
		})
	}
}

// checkTraces compares the tasks of a run with what it prints. notCarried: classes in whose executions the Java agent itself
// knows no trace; nil: the program has only the SDK, which carries contexts nowhere.
func checkTraces(t *testing.T, notCarried []string, java ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	args := append([]string{"run", "-o", dir, "--detail", "all", "--quiet", "--"}, java...)
	cmd := exec.Command(filepath.Join("..", "..", "bin", "shadow"), args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	want, exported, unseen := map[string]int{}, map[string]int{}, map[string]int{}
	for _, m := range loggedSpan.FindAllStringSubmatch(stderr.String()+stdout.String(), -1) {
		exported[m[2]]++
	}
	for line := range strings.Lines(stdout.String()) {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "span":
			exported[f[2]]++
		case len(f) == 4 && f[0] == "task":
			want[f[1]+" "+f[2]]++
			if f[3] == "-" && f[2] != "-" {
				unseen[f[1]]++
			} else if f[3] != f[2] {
				t.Errorf("the program itself is wrong: %s", line)
			}
		}
	}
	if len(exported) != 40 {
		t.Errorf("spans of %d traces exported, want 40", len(exported))
	}
	if notCarried != nil {
		for _, class := range slices.Sorted(maps.Keys(unseen)) {
			if !slices.Contains(notCarried, class) {
				t.Errorf("the Java agent knows no trace in %d executions of %s", unseen[class], class)
			}
		}
	}
	table, err := csv.NewReader(strings.NewReader(shadow(t, "tasks", dir, "--format", "csv"))).ReadAll()
	if err != nil || len(table) == 0 {
		t.Fatal(err)
	}
	at := func(name string) int { return slices.Index(table[0], name) }
	got := map[string]int{}
	traced := 0
	for _, r := range table[1:] {
		class, trace := r[at("class")], r[at("trace_id")]
		if !strings.HasPrefix(class, "Traced$") || r[at("execution")] == "" {
			continue
		}
		if trace == "" {
			trace = "-"
		} else if traced++; exported[trace] == 0 {
			t.Errorf("%s has trace %s, which was not exported", class, trace)
		}
		got[class+" "+trace]++
	}
	if !maps.Equal(got, want) {
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if got[key] != want[key] {
				t.Errorf("%d executions of %s, want %d", got[key], key, want[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			if want[key] == 0 {
				t.Errorf("%d executions of %s, which the program had not", got[key], key)
			}
		}
	}
	checkFigures(t, dir, got)
	t.Logf("%d executions under a trace, in %d traces; OpenTelemetry itself knew none in %v", traced, len(exported), unseen)
}

// checkFigures compares the figures of a few traces with the rows of the tasks, by class and trace.
func checkFigures(t *testing.T, dir string, rows map[string]int) {
	t.Helper()
	want := map[string]map[string]int{}
	for key, n := range rows {
		class, trace, _ := strings.Cut(key, " ")
		if want[trace] == nil {
			want[trace] = map[string]int{}
		}
		want[trace][class] = n
	}
	delete(want, "-")
	for _, trace := range slices.Sorted(maps.Keys(want))[:3] {
		table, err := csv.NewReader(strings.NewReader(shadow(t, "hotspots", dir, "--trace", trace, "--class", "Traced$*", "--format", "csv"))).ReadAll()
		if err != nil || len(table) == 0 {
			t.Fatal(err)
		}
		got, at := map[string]int{}, slices.Index(table[0], "executions")
		for _, r := range table[1:] {
			got[r[0]] = number(t, r[at])
		}
		if !maps.Equal(got, want[trace]) {
			t.Errorf("trace %s: hotspots counts %v, the rows %v", trace, got, want[trace])
		}
	}
}
