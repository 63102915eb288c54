package otlp

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// fake is a receiver that decodes what comes and answers as it is told, once each, then with success.
type fake struct {
	*httptest.Server

	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	metrics []*metrics.ResourceMetrics
	spans   []*trace.ResourceSpans
	headers []http.Header
	sizes   []int
}

func newFake(t *testing.T, answers ...func(http.ResponseWriter)) *fake {
	t.Helper()
	f := &fake{answers: answers}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.headers = append(f.headers, r.Header)
		if len(f.answers) > 0 {
			answer := f.answers[0]
			if f.answers = f.answers[1:]; answer != nil {
				answer(w)
				return
			}
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%v: %v", r.Header, err)
			return
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		f.sizes = append(f.sizes, len(data))
		switch r.Method + r.URL.Path {
		case "POST/v1/metrics":
			var x collectormetrics.ExportMetricsServiceRequest
			if err := proto.Unmarshal(data, &x); err != nil {
				t.Error(err)
			}
			f.metrics = append(f.metrics, x.ResourceMetrics...)
		case "POST/v1/traces":
			var x collectortrace.ExportTraceServiceRequest
			if err := proto.Unmarshal(data, &x); err != nil {
				t.Error(err)
			}
			f.spans = append(f.spans, x.ResourceSpans...)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Endpoint == "" {
		o.Endpoint = f.URL
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// named are the metrics of a name, wherever they are.
func (f *fake) named(name string) (list []*metrics.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.metrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				if m.Name == name {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

func values(list []*common.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[a.Key] = v.IntValue
		}
	}
	return m
}
