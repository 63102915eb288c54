package otlp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/shadow/show/live"
	"stackagent/shadow/store"
)

const scopeName = "stackagent"

// maxName is how many characters of a name are sent.
const maxName = 1024

// clean makes a name fit for protobuf, which allows valid UTF-8 only, and for who reads it.
func clean(s string) string { return text.Cut(text.Clean(s, '?'), maxName) }

func str(name, value string) *common.KeyValue {
	return &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: clean(value)}}}
}

// notesName is the attribute of a resource that says what the export of a session lacks.
const notesName = "stackagent.notes"

func list(name string, all []string) *common.KeyValue {
	a := &common.ArrayValue{}
	for _, s := range all {
		a.Values = append(a.Values, &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: clean(s)}})
	}
	return &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: a}}}
}

func integer(name string, value int64) *common.KeyValue {
	return &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}}
}

// Shadow describes the shadow itself.
func Shadow(host string, pid int) *resource.Resource {
	return described("shadow", "", "", store.JVM{Host: host, PID: pid})
}

// Program describes an observed JVM.
func Program(session string, j store.JVM, l label.Labels) *resource.Resource {
	r := described(cmp.Or(l.Service, j.MainClass, "unknown_service:java"), cmp.Or(l.Instance, session), session, j) // the last as the conventions have it
	for _, a := range []struct{ name, value string }{{"process.runtime.name", j.Name}, {"process.runtime.version", j.Version}, {"stackagent.jvm.gc", j.GC}} {
		if a.value != "" {
			r.Attributes = append(r.Attributes, str(a.name, a.value))
		}
	}
	for _, p := range l.Attributes() {
		if !slices.ContainsFunc(r.Attributes, func(a *common.KeyValue) bool { return a.Key == p.Name }) { // a key stands once
			r.Attributes = append(r.Attributes, str(p.Name, p.Value))
		}
	}
	return r
}

// described has only what is known.
func described(service, instance, session string, j store.JVM) *resource.Resource {
	r := &resource.Resource{Attributes: []*common.KeyValue{str("service.name", service)}}
	if instance != "" {
		r.Attributes = append(r.Attributes, str("service.instance.id", instance))
	}
	if session != "" {
		r.Attributes = append(r.Attributes, str("stackagent.session", session))
	}
	if j.PID > 0 {
		r.Attributes = append(r.Attributes, integer("process.pid", int64(j.PID)))
	}
	if j.Host != "" {
		r.Attributes = append(r.Attributes, str("host.name", j.Host))
	}
	return r
}

// scope says who counted.
func scope(version string) *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: scopeName, Version: version}
}

// Families are the figures of /metrics in the words of OTLP, with the same names and labels. Counters and distributions
// are totals since a moment.
func Families(r *resource.Resource, version string, families []*live.Family, since, at time.Time) *metrics.ResourceMetrics {
	list := &metrics.ScopeMetrics{Scope: scope(version)}
	start, now := unixNano(since), unixNano(at)
	bounds := live.Bounds()
	for _, f := range families {
		list.Metrics = append(list.Metrics, family(f, bounds, min(start, now), now))
	}
	return &metrics.ResourceMetrics{Resource: r, ScopeMetrics: []*metrics.ScopeMetrics{list}}
}

func unixNano(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }

func family(f *live.Family, bounds []float64, start, now uint64) *metrics.Metric {
	m := &metrics.Metric{Name: f.Name, Description: f.Help}
	if strings.Contains(f.Name, "_seconds") {
		m.Unit = "s"
	}
	switch f.Kind {
	case live.Counter:
		m.Data = &metrics.Metric_Sum{Sum: &metrics.Sum{AggregationTemporality: cumulative, IsMonotonic: true, DataPoints: numbers(f, start, now)}}
	case live.Gauge:
		m.Data = &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: numbers(f, 0, now)}}
	case live.Histogram:
		h := &metrics.Histogram{AggregationTemporality: cumulative}
		for i := range f.Points {
			p := &f.Points[i]
			h.DataPoints = append(h.DataPoints, &metrics.HistogramDataPoint{Attributes: attributes(p.Labels), StartTimeUnixNano: start, TimeUnixNano: now,
				Count: p.Count, Sum: &p.Sum, BucketCounts: p.Buckets, ExplicitBounds: bounds})
		}
		m.Data = &metrics.Metric_Histogram{Histogram: h}
	case live.Sum:
		s := &metrics.Summary{}
		for i := range f.Points {
			p := &f.Points[i]
			s.DataPoints = append(s.DataPoints, &metrics.SummaryDataPoint{Attributes: attributes(p.Labels), StartTimeUnixNano: start, TimeUnixNano: now, Count: p.Count, Sum: p.Sum})
		}
		m.Data = &metrics.Metric_Summary{Summary: s}
	}
	return m
}

const cumulative = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func numbers(f *live.Family, start, now uint64) []*metrics.NumberDataPoint {
	list := make([]*metrics.NumberDataPoint, len(f.Points))
	for i := range f.Points {
		p := &f.Points[i]
		list[i] = &metrics.NumberDataPoint{Attributes: attributes(p.Labels), StartTimeUnixNano: start, TimeUnixNano: now, Value: &metrics.NumberDataPoint_AsDouble{AsDouble: p.Value}}
	}
	return list
}

func attributes(labels []live.Attribute) []*common.KeyValue {
	list := make([]*common.KeyValue, len(labels))
	for i, l := range labels {
		list[i] = str(l.Name, l.Value)
	}
	return list
}
