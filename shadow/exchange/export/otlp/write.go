package otlp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"stackagent/shadow/exchange/export"
)

// Sink takes what is exported, a request at a time.
type Sink interface {
	Metrics(*metrics.ResourceMetrics) error
	Spans(*trace.ResourceSpans) error
}

// Requests stay below these, and so below what receivers take.
const (
	pointsPerRequest = 500
	spansPerRequest  = 2000
)

func attribute(list ...*common.KeyValue) []*common.KeyValue { return list }

// Export gives a session to a sink: metrics by class, and the slowest executions of each class as spans. After an error of
// the sink it goes on, so that the sink knows how much it did not take.
func Export(to Sink, src *export.Source, slowest int, version string) (notes []string, err error) {
	x := &exporter{src: src, s: src.Session, version: version, keep: slowest}
	if err := x.gather(); err != nil {
		return nil, err
	}
	notes = x.notes()
	r := Program(x.s.Manifest.Session, x.s.Manifest.JVM, x.s.Manifest.Labels)
	if len(notes) > 0 {
		r.Attributes = append(r.Attributes, list(notesName, notes))
	}
	for _, m := range x.metrics() {
		eachPart(m, func(m *metrics.Metric) {
			err = cmp.Or(err, to.Metrics(&metrics.ResourceMetrics{Resource: r, ScopeMetrics: []*metrics.ScopeMetrics{{Scope: scope(version), Metrics: []*metrics.Metric{m}}}}))
		})
	}
	if slowest > 0 {
		err = cmp.Or(err, x.spans(to, r))
	}
	return notes, err
}

func (x *exporter) spans(to Sink, r *resource.Resource) error {
	t, err := x.spanner()
	if err != nil {
		return err
	}
	var list []*trace.Span
	send := func() {
		if len(list) > 0 {
			err = cmp.Or(err, to.Spans(&trace.ResourceSpans{Resource: r, ScopeSpans: []*trace.ScopeSpans{{Scope: scope(x.version), Spans: list}}}))
		}
		list = nil
	}
	for _, c := range x.classes {
		for _, e := range c.slowest.sorted() {
			list = append(list, t.of(c, e.Execution)...)
			if len(list) >= spansPerRequest {
				send()
			}
		}
	}
	send()
	return err
}

// eachPart gives a metric in parts, as a receiver takes requests of a certain size only. One without points is left out.
func eachPart(m *metrics.Metric, f func(*metrics.Metric)) {
	part := func(set func(*metrics.Metric)) {
		x := &metrics.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
		set(x)
		f(x)
	}
	switch d := m.Data.(type) {
	case *metrics.Metric_Sum:
		for p := range slices.Chunk(d.Sum.DataPoints, pointsPerRequest) {
			part(func(x *metrics.Metric) {
				x.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{AggregationTemporality: cumulative, IsMonotonic: d.Sum.IsMonotonic, DataPoints: p}}
			})
		}
	case *metrics.Metric_ExponentialHistogram:
		for p := range slices.Chunk(d.ExponentialHistogram.DataPoints, pointsPerRequest) {
			part(func(x *metrics.Metric) {
				x.Data = &metrics.Metric_ExponentialHistogram{ExponentialHistogram: &metrics.ExponentialHistogram{AggregationTemporality: cumulative, DataPoints: p}}
			})
		}
	}
}

// Amount is how much was to be sent.
type Amount struct{ Points, Spans int }

// Receiver sends to a client, and tries again what may succeed. After a failure it only counts.
type Receiver struct {
	Client   *Client
	Rejected Rejected
	Sent     Amount                     // what arrived
	Left     Amount                     // what did not: all from the first failure on
	Waiting  func(time.Duration, error) // before an attempt is repeated

	failed error
	ctx    context.Context
	sleep  func(context.Context, time.Duration) error
}

// NewReceiver sends until ctx ends.
func NewReceiver(ctx context.Context, c *Client, waiting func(time.Duration, error)) *Receiver {
	return &Receiver{Client: c, Waiting: waiting, ctx: ctx, sleep: func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}}
}

// Metrics implements Sink.
func (r *Receiver) Metrics(m *metrics.ResourceMetrics) error {
	return r.deliver(Amount{Points: points(m)}, func() (Rejected, error) { return r.Client.Metrics(r.ctx, []*metrics.ResourceMetrics{m}) })
}

// Spans implements Sink.
func (r *Receiver) Spans(s *trace.ResourceSpans) error {
	n := 0
	for _, scope := range s.ScopeSpans {
		n += len(scope.Spans)
	}
	return r.deliver(Amount{Spans: n}, func() (Rejected, error) { return r.Client.Spans(r.ctx, []*trace.ResourceSpans{s}) })
}

func (r *Receiver) deliver(a Amount, send func() (Rejected, error)) error {
	if r.failed == nil {
		r.failed = r.try(send)
	}
	to := &r.Sent
	if r.failed != nil {
		to = &r.Left
	}
	to.Points += a.Points
	to.Spans += a.Spans
	return r.failed
}

const (
	attempts = 5
	patience = time.Minute // the longest that one attempt waits
)

func (r *Receiver) try(send func() (Rejected, error)) error {
	for n, wait := 1, firstBackOff; ; n, wait = n+1, 2*wait {
		rejected, err := send()
		if err == nil {
			r.Rejected.N += rejected.N
			if rejected.Said != "" {
				r.Rejected.Said = rejected.Said
			}
			return nil
		}
		retry, after := CanRetry(err)
		if retry && after > patience {
			return fmt.Errorf("%s (attempt %d): %w, and an export waits for %v at most: export again after it", r.Client.Endpoint(), n, err, patience)
		}
		if !retry || n == attempts {
			return fmt.Errorf("%s (attempt %d): %w", r.Client.Endpoint(), n, err)
		}
		r.Waiting(max(wait, after), err)
		if err := r.sleep(r.ctx, max(wait, after)); err != nil {
			return fmt.Errorf("%s: %w", r.Client.Endpoint(), err)
		}
	}
}

// File writes OTLP as JSON, a request a line, as the Collector's file exporter does.
type File struct{ W io.Writer }

// Metrics implements Sink.
func (f File) Metrics(m *metrics.ResourceMetrics) error {
	return f.line(&metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{m}})
}

// Spans implements Sink.
func (f File) Spans(s *trace.ResourceSpans) error {
	s = proto.Clone(s).(*trace.ResourceSpans)
	for _, scope := range s.ScopeSpans {
		for _, span := range scope.Spans {
			span.TraceId, span.SpanId, span.ParentSpanId = asHex(span.TraceId), asHex(span.SpanId), asHex(span.ParentSpanId)
		}
	}
	return f.line(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{s}})
}

// asHex gives bytes that protojson, which writes bytes in base64, writes as the id in hexadecimal, which OTLP wants. The
// lengths of ids are multiples of four digits, and all digits are of base64.
func asHex(id []byte) []byte {
	if len(id) == 0 {
		return nil
	}
	b, _ := base64.StdEncoding.DecodeString(hex.EncodeToString(id)) // cannot fail
	return b
}

func (f File) line(m proto.Message) error {
	loose, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, loose); err != nil { // protojson adds blanks at random
		return fmt.Errorf("encoding: %w", err)
	}
	b.WriteByte('\n')
	if _, err := f.W.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
