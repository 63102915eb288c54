package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"stackagent/cmd/shadow/internal/serve"
)

// shadow serve --otlp pushes what /metrics has: it says once that the receiver is away and once that it is back, and at
// its end pushes the last figures.
func TestServeOTLP(t *testing.T) {
	var mu sync.Mutex
	requests, service, executions, running := 0, "", 0.0, -1.0
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		data, err := io.ReadAll(z)
		var x collector.ExportMetricsServiceRequest
		if err != nil || proto.Unmarshal(data, &x) != nil {
			t.Errorf("%v: %q", err, data)
		}
		for _, res := range x.ResourceMetrics {
			for _, m := range res.ScopeMetrics[0].Metrics {
				switch m.Name {
				case "stackagent_jvm_executions_total":
					executions, service = m.GetSum().DataPoints[0].GetAsDouble(), res.Resource.Attributes[0].Value.GetStringValue()
				case "stackagent_sessions_running":
					running = m.GetGauge().DataPoints[0].GetAsDouble()
				}
			}
		}
	}))
	defer f.Close()
	dir := filepath.Join(t.TempDir(), "store")
	busURL, pageURL, stop := startServe(t, dir, "--otlp", f.URL, "--otlp-interval", "1h")
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	if err := send(busURL, string(token), "h", false); err != nil {
		t.Fatal(err)
	}
	shown := func(page string) bool {
		return strings.Contains(page, "stackagent_otlp_push_failures_total 1\n") && strings.Contains(page, "stackagent_otlp_pushes_total 2\n") &&
			regexp.MustCompile(`stackagent_jvm_executions_total\{jvm="[^"]+"\} 3\n`).MatchString(page)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		r, err := http.Get(pageURL + "metrics")
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err == nil && shown(string(page)) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v: %s", err, page)
		}
	}
	code, said := stop()
	if code != 0 || strings.Count(said, "metrics do not reach "+f.URL) != 1 || strings.Count(said, "metrics reach "+f.URL+" again") != 1 {
		t.Errorf("exit %d: %s", code, said)
	}
	mu.Lock()
	defer mu.Unlock()
	if requests != 3 || executions != 3 || service != "com.acme.Fake" || running < 0 {
		t.Errorf("%d requests, %v executions of %q, %v sessions running", requests, executions, service, running)
	}
}

// TestServeOTLPDown: a receiver that is away when the shadow ends does not hold it, and the end says what it does not have.
func TestServeOTLPDown(t *testing.T) {
	var pushes atomic.Int32
	f := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { pushes.Add(1) }))
	defer f.Close()
	_, _, stop := startServe(t, filepath.Join(t.TempDir(), "store"), "--otlp", f.URL, "--otlp-interval", "1h")
	for end := time.Now().Add(2 * time.Minute); pushes.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was pushed")
		}
	}
	f.Close()
	code, said := stop()
	if code != 0 || !regexp.MustCompile(`the last metrics did not reach \S+: .*connection refused; not delivered: [1-9]\d* data points; it has those of \d\d:\d\d:\d\d`).MatchString(said) ||
		strings.Contains(said, "the next push") {
		t.Errorf("exit %d: %s", code, said)
	}
	_, _, stop = startServe(t, filepath.Join(t.TempDir(), "store"), "--otlp", f.URL, "--otlp-interval", "1h")
	if code, said := stop(); code != 0 || !strings.Contains(said, "; it has none") {
		t.Errorf("exit %d: %s", code, said)
	}
}
