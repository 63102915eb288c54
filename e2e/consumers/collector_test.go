//go:build consumers

package consumers

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// builtCollector builds the Collector of the folder collector, a module of its own, into the cache.
func builtCollector(t *testing.T) string {
	t.Helper()
	dir := cache(t, "collector")
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		data, err := os.ReadFile(filepath.Join("collector", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(data)
	}
	binary := filepath.Join(dir, fmt.Sprintf("collector-%.6x", sum.Sum(nil)))
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	t.Logf("building an OpenTelemetry Collector in %s, which takes minutes and downloads its modules", dir)
	cmd := exec.Command("go", "build", "-mod=mod", "-o", binary+".part", ".") // a copy: it may complete go.sum
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Rename(binary+".part", binary); err != nil {
		t.Fatal(err)
	}
	return binary
}

// collector is a Collector that runs and writes what it receives into a file.
type collector struct {
	url, file string
	cmd       *exec.Cmd
	log       bytes.Buffer
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	c := &collector{url: "http://" + address, file: filepath.Join(dir, "received.jsonl")}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {file: {path: %q}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [file]}
    traces: {receivers: [otlp], exporters: [file]}
`, address, c.file), 0o644); err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(builtCollector(t), "--config", config)
	c.cmd.Stderr = &c.log
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill() }) // it may have ended
	soon(t, "the collector listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return c
}

func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// OTLP as JSON, as far as the tests look at it. 64-bit numbers are strings there.
type (
	attributes []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	point struct {
		Attributes                      attributes
		AsDouble                        float64
		AsInt                           string
		Count                           string
		Sum                             float64
		Scale                           int
		ZeroCount                       string
		Positive                        struct{ BucketCounts []string }
		BucketCounts                    []string
		StartTimeUnixNano, TimeUnixNano string
	}
	points struct{ DataPoints []point }
	span   struct {
		TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string
		Attributes                                                              attributes
		Status                                                                  struct{ Code int }
	}
	received struct {
		ResourceMetrics []struct {
			Resource     struct{ Attributes attributes }
			ScopeMetrics []struct {
				Metrics []struct {
					Name                                                 string
					Sum, Gauge, Histogram, ExponentialHistogram, Summary points
				}
			}
		}
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []span }
		}
	}
)

func (a attributes) get(key string) string {
	for _, x := range a {
		if x.Key == key {
			return x.Value.StringValue + x.Value.IntValue
		}
	}
	return ""
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Errorf("%q is no number", s)
	}
	return n
}

// stop ends the Collector and reads what it received: the last points of each metric by its name, and the spans.
func (c *collector) stop(t *testing.T) (metrics map[string][]point, services map[string]attributes, spans []span) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.log.String())
	}
	data, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	metrics, services = map[string][]point{}, map[string]attributes{}
	last := map[string]map[string]point{}
	for line := range bytes.Lines(data) {
		var r received
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		for _, m := range r.ResourceMetrics {
			services[m.Resource.Attributes.get("service.name")] = m.Resource.Attributes
			for _, s := range m.ScopeMetrics {
				for _, x := range s.Metrics {
					for _, p := range append(append(append(append(x.Sum.DataPoints, x.Gauge.DataPoints...), x.Histogram.DataPoints...), x.ExponentialHistogram.DataPoints...), x.Summary.DataPoints...) {
						if last[x.Name] == nil {
							last[x.Name] = map[string]point{}
						}
						last[x.Name][fmt.Sprint(m.Resource.Attributes, p.Attributes)] = p
					}
				}
			}
		}
		for _, m := range r.ResourceSpans {
			for _, s := range m.ScopeSpans {
				spans = append(spans, s.Spans...)
			}
		}
	}
	for name, all := range last {
		for _, p := range all {
			metrics[name] = append(metrics[name], p)
		}
	}
	return metrics, services, spans
}
