package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"stackagent/shadow/exchange/export/exporttest"
)

// The format otlp of shadow export: to a file, to a receiver with headers of the environment, and to one that refuses.
func TestExportOTLP(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tasks.jsonl")
	if code, out, errs := shadow(t, nil, "export", dir, "--format", "otlp", "-o", file); code != 0 || out != "" || !strings.Contains(errs, "1 execution had not ended") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Count(string(data), "\n") != 8 { // 7 metrics, and spans
		t.Errorf("%v: %s", err, data)
	}
	var requests atomic.Int32
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("X-Key") != "a b" || r.Header.Get("X-Other") != "2" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer f.Close()
	if code, _, errs := shadow(t, []string{"OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b, x-other=1"}, "export", dir, "--format", "otlp", "-o", f.URL, "--otlp-header", "x-other=2"); code != 0 || requests.Load() != 8 {
		t.Errorf("exit %d after %d requests: %s", code, requests.Load(), errs)
	}
	requests.Store(0)
	if code, _, errs := shadow(t, nil, "export", dir, "--format", "otlp", "-o", f.URL); code != 1 || requests.Load() != 1 || !strings.Contains(errs, "401 Unauthorized") ||
		!regexp.MustCompile(`not delivered: ([1-9]\d*) of ([1-9]\d*) data points and ([1-9]\d*) of ([1-9]\d*) spans`).MatchString(errs) {
		t.Errorf("without a key: exit %d after %d requests: %s", code, requests.Load(), errs)
	}
}

// Data that a receiver answered with success, but did not take, are lost: the export fails.
func TestExportOTLPPartly(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	partly, warns := []byte("\x0a\x09\x08\x05\x12\x05older"), []byte("\x0a\x07\x12\x05fine.") // partial_success: 5 rejected, "older"; "fine."
	for name, c := range map[string]struct {
		answer []byte
		code   int
		says   string
	}{"rejected": {partly, 1, "data points or spans were not taken: older"}, "a warning": {warns, 0, "the receiver took all, and says: fine."}} {
		f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.Write(c.answer)
		}))
		defer f.Close()
		code, _, errs := shadow(t, nil, "export", dir, "--format", "otlp", "-o", f.URL)
		if code != c.code || !strings.Contains(errs, c.says) || strings.Count(errs, "not taken") > 1 {
			t.Errorf("%s: exit %d: %s", name, code, errs)
		}
	}
}
