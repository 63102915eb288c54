package otlp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"stackagent/shadow/exchange/export/exporttest"
)

func TestNewClient(t *testing.T) {
	secret := map[string]string{"Authorization": "Bearer hush"}
	for _, c := range []struct {
		endpoint string
		headers  map[string]string
		insecure bool
		base     string // "": refused
	}{
		{"http://127.0.0.1:4318", secret, false, "http://127.0.0.1:4318"},
		{"http://[::1]:4318/", secret, false, "http://[::1]:4318"},
		{"http://localhost:4318/v1/metrics", secret, false, "http://localhost:4318"},
		{"http://localhost:4318/v1/traces/", nil, false, "http://localhost:4318"},
		{"https://otel.example/otlp", secret, false, "https://otel.example/otlp"},
		{"http://otel.example:4318", nil, false, "http://otel.example:4318"},
		{"http://otel.example:4318", secret, false, ""},
		{"http://localhost.evil.example:4318", secret, false, ""},
		{"http://otel.example:4318", secret, true, "http://otel.example:4318"},
		{"https://user:hush@otel.example", nil, false, ""},
		{"https://otel.example?token=hush", nil, false, ""},
		{"ftp://otel.example", nil, false, ""},
		{"otel.example:4318", nil, false, ""},
		{"http://", nil, false, ""},
		{"http://hush\x7f", nil, false, ""},
		{"https://otel.example", map[string]string{"A b": "c"}, false, ""},
		{"https://otel.example", map[string]string{"A": "b\r\nC: hush"}, false, ""},
		{"https://otel.example", map[string]string{"": "b"}, false, ""},
	} {
		client, err := NewClient(Options{Endpoint: c.endpoint, Headers: c.headers, Insecure: c.insecure})
		switch {
		case err != nil && (c.base != "" || strings.Contains(err.Error(), "hush")):
			t.Errorf("%q: %v", c.endpoint, err)
		case err == nil && client.Endpoint() != c.base:
			t.Errorf("%q: %q, want %q", c.endpoint, client.Endpoint(), c.base)
		}
	}
}

func TestHeaders(t *testing.T) {
	f := newFake(t)
	c := f.client(t, Options{Headers: map[string]string{"x-key": "k=1"}, Version: "v9"})
	if _, err := c.Metrics(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if h := f.headers[0]; h.Get("X-Key") != "k=1" || h.Get("User-Agent") != "stackagent/v9" {
		t.Errorf("headers: %v", h)
	}
}

func status(code int, kind, body string, more ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(more); i += 2 {
			w.Header().Set(more[i], more[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

const protobuf = "application/x-protobuf"

func TestAnswers(t *testing.T) {
	rpc := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	rpc = protowire.AppendString(protowire.AppendTag(rpc, 2, protowire.BytesType), "no such \x1b[31mtenant")
	partial, err := proto.Marshal(&collectormetrics.ExportMetricsServiceResponse{PartialSuccess: &collectormetrics.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "too\x1bold"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer   func(http.ResponseWriter)
		rejected Rejected
		says     string // "": success
		retry    bool
		after    time.Duration
	}{
		"taken":         {status(200, protobuf, ""), Rejected{}, "", false, 0},
		"no body":       {status(202, "text/html", "<p>fine"), Rejected{}, "", false, 0},
		"partly":        {status(200, protobuf, string(partial)), Rejected{3, "too?old"}, "", false, 0},
		"broken":        {status(200, protobuf, "\xff\xff"), Rejected{}, "cannot be decoded", false, 0},
		"endless":       {status(200, protobuf, strings.Repeat("x", maxResponse+1)), Rejected{}, "longer than", false, 0},
		"refused":       {status(400, protobuf, string(rpc)), Rejected{}, "400 Bad Request: no such ?[31mtenant", false, 0},
		"half a status": {status(400, protobuf, "\x12\x7fx"), Rejected{}, "400 Bad Request", false, 0},
		"no right":      {status(401, "text/plain; charset=utf-8", "key\nunknown"), Rejected{}, "401 Unauthorized: key; unknown", false, 0},
		"page":          {status(404, "text/html", "<html>"), Rejected{}, "404 Not Found", false, 0},
		"too much":      {status(429, protobuf, "", "Retry-After", "7"), Rejected{}, "429", true, 7 * time.Second},
		"for ever":      {status(503, protobuf, "", "Retry-After", "99999999"), Rejected{}, "503 Service Unavailable; it asks for a pause of 27777h46m39s", true, 99999999 * time.Second},
		"a date":        {status(503, protobuf, "", "Retry-After", "Thu, 26 Nov 2026 00:00:00 GMT"), Rejected{}, "503", true, 0},
		"internal":      {status(500, protobuf, ""), Rejected{}, "500", false, 0},
		"elsewhere":     {status(307, "text/html", "", "Location", "http://127.0.0.1:1/"), Rejected{}, "a redirect, which is not followed", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.answer)
			got, err := f.client(t, Options{}).Metrics(t.Context(), nil)
			if got != c.rejected && err == nil || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v %v", got, err)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			if retry, after := CanRetry(err); retry != c.retry || after != c.after {
				t.Errorf("retry %v after %v", retry, after)
			}
			if len(f.headers) != 1 {
				t.Errorf("%d requests", len(f.headers))
			}
		})
	}
}

// Nobody answers: the address is not in the message twice, and the next attempt may succeed.
func TestNobody(t *testing.T) {
	f := newFake(t)
	c := f.client(t, Options{})
	f.Close()
	_, err := c.Metrics(t.Context(), nil)
	if retry, _ := CanRetry(err); !retry || strings.Contains(err.Error(), "/v1/metrics") {
		t.Errorf("%v", err)
	}
}

// A session is sent again only where that may help, a bounded number of times, and not before the receiver wants it.
func TestReceiverRetries(t *testing.T) {
	busy := status(503, protobuf, "", "Retry-After", "3")
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		waits   []time.Duration
		ok      bool
	}{
		"at once": {nil, nil, true},
		"soon":    {[]func(http.ResponseWriter){busy, status(429, protobuf, "")}, []time.Duration{3 * time.Second, 2 * time.Second}, true},
		"never":   {[]func(http.ResponseWriter){busy, busy, busy, busy, busy, busy}, []time.Duration{3e9, 3e9, 4e9, 8e9}, false},
		"refused": {[]func(http.ResponseWriter){status(400, protobuf, "")}, nil, false},
		"later":   {[]func(http.ResponseWriter){status(503, protobuf, "", "Retry-After", "600")}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.answers...)
			var waits []time.Duration
			r := NewReceiver(t.Context(), f.client(t, Options{}), func(time.Duration, error) {})
			r.sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			err := r.Metrics(&metrics.ResourceMetrics{})
			if (err == nil) != c.ok || len(waits) != len(c.waits) {
				t.Fatalf("%v after %v", err, waits)
			}
			for i, w := range c.waits {
				if waits[i] != w {
					t.Errorf("waited %v, want %v", waits, c.waits)
				}
			}
			if says := "it asks for a pause of 10m0s, and an export waits for 1m0s at most"; err != nil && strings.Contains(err.Error(), says) != (name == "later") {
				t.Errorf("it says %v", err)
			}
			if c.ok != (len(f.metrics) == 1) {
				t.Errorf("%d came", len(f.metrics))
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := NewReceiver(ctx, newFake(t, busy).client(t, Options{}), func(time.Duration, error) { cancel() })
	if err := r.Metrics(&metrics.ResourceMetrics{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// What a receiver takes, and what it does not after it failed, is all that there is; nothing is sent after a failure.
func TestReceiverCounts(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	export := func(answers ...func(http.ResponseWriter)) (*Receiver, Amount, error) {
		f := newFake(t, answers...)
		r := NewReceiver(t.Context(), f.client(t, Options{}), nil)
		_, err := Export(r, source(t, dir), 10, "v1")
		var came Amount
		for _, m := range f.metrics {
			for _, x := range m.ScopeMetrics[0].Metrics {
				came.Points += len(x.GetSum().GetDataPoints()) + len(x.GetExponentialHistogram().GetDataPoints())
			}
		}
		for _, s := range f.spans {
			came.Spans += len(s.ScopeSpans[0].Spans)
		}
		if len(f.headers) > len(answers)+1 && err != nil {
			t.Errorf("%d requests after the failure", len(f.headers)-len(answers)-1)
		}
		return r, came, err
	}
	whole, all, err := export()
	if err != nil || whole.Sent != all || whole.Left != (Amount{}) || all.Points == 0 || all.Spans == 0 {
		t.Fatalf("%v: sent %v, came %v, left %v", err, whole.Sent, all, whole.Left)
	}
	part, came, err := export(nil, nil, status(400, protobuf, ""))
	if err == nil || part.Sent != came || came.Points == 0 || part.Left != (Amount{all.Points - came.Points, all.Spans}) {
		t.Errorf("%v: sent %v, came %v of %v, left %v", err, part.Sent, came, all, part.Left)
	}
}

func FuzzStatusMessage(f *testing.F) {
	f.Add([]byte("\x08\x03\x12\x02no"))
	f.Add([]byte("\x12\x7fx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m := statusMessage(data); len(m) > len(data) {
			t.Errorf("%q of %q", m, data)
		}
	})
}
