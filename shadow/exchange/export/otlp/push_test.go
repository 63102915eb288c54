package otlp

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"stackagent/internal/label"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/show/live"
	"stackagent/shadow/store"
)

// clock lets the test say when the time to wait is over.
type clock struct {
	waits chan time.Duration
	tick  chan time.Time
}

func (c *clock) after(d time.Duration) <-chan time.Time {
	c.waits <- d
	return c.tick
}

// The pusher sends the newest totals, says once that it fails and once that it works again, and retries less and less often.
// Labels are attributes of the resource, each once, and do not replace what is known of the process.
func TestLabels(t *testing.T) {
	l := label.Labels{Service: "shop", Version: "1.4", Env: "test", Instance: "i", Free: map[string]string{"team": "a", "process.pid": "99", "k8s.pod.name": "p"}}
	got := map[string]string{}
	for _, a := range Program("s", store.JVM{PID: 7, MainClass: "com.acme.Main"}, l).Attributes {
		if _, twice := got[a.Key]; twice {
			t.Errorf("%s is there twice", a.Key)
		}
		got[a.Key] = a.Value.GetStringValue()
	}
	want := map[string]string{"service.name": "shop", "service.version": "1.4", "deployment.environment.name": "test", "service.instance.id": "i", "stackagent.session": "s",
		"process.pid": "", "team": "a", "k8s.pod.name": "p"} // the pid is a number
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestPusher(t *testing.T) {
	busy := status(503, protobuf, "")
	answers := []func(http.ResponseWriter){nil}
	for range 9 {
		answers = append(answers, busy)
	}
	answers = append(answers, status(400, protobuf, ""), status(503, protobuf, "", "Retry-After", "120"))
	f := newFake(t, answers...)
	c := clock{make(chan time.Duration), make(chan time.Time)}
	var n atomic.Uint64
	said := make(chan error, 10)
	p := &Pusher{Client: f.client(t, Options{}), Every: 10 * time.Second, after: c.after, Changed: func(err error) { said <- err }, Partial: func(Rejected) { t.Error("not partial") },
		Collect: func() []*metrics.ResourceMetrics {
			family := &live.Family{Name: "n_total", Kind: live.Counter, Points: []live.Point{{Value: float64(n.Add(1))}}}
			return []*metrics.ResourceMetrics{Families(Shadow("h", 1), "v", []*live.Family{family}, time.Unix(1, 0), time.Unix(2, 0))}
		}}
	p.Start()
	least := []time.Duration{0, 10e9, 5e8, 1e9, 2e9, 4e9, 8e9, 16e9, 30e9, 30e9, 30e9, 10e9, 120e9, 10e9}
	for i, want := range least {
		got := <-c.waits
		most := 2*want + 1
		if want == 0 || want == 10e9 || want == 120e9 {
			most = want
		}
		if got < want || got > most || got > 2*time.Minute {
			t.Errorf("wait %d: %v, want %v to %v", i, got, want, most)
		}
		if i < len(least)-1 {
			c.tick <- time.Time{}
		}
	}
	p.Close()
	close(said)
	var changes []string
	for err := range said {
		if err == nil {
			changes = append(changes, "works")
		} else {
			changes = append(changes, "fails: "+err.Error())
		}
	}
	if len(changes) != 2 || !strings.HasPrefix(changes[0], "fails: the receiver answers 503") || changes[1] != "works" {
		t.Errorf("it said %q", changes)
	}
	got := f.named("n_total")
	var values []float64
	for _, m := range got {
		values = append(values, m.GetSum().DataPoints[0].GetAsDouble())
	}
	if len(values) != 3 || values[0] != 1 || values[1] != 13 || values[2] != 14 {
		t.Errorf("it sent %v: want the first, the newest after the failures, and the last at the end", values)
	}
	own := map[string]float64{}
	for _, f := range p.Families() {
		own[f.Name] = f.Points[0].Value
	}
	if own["stackagent_otlp_pushes_total"] != 14 || own["stackagent_otlp_push_failures_total"] != 11 || own["stackagent_otlp_rejected_points_total"] != 0 {
		t.Errorf("counted: %v", own)
	}
}

// A receiver that does not answer ends neither the shadow nor what it does.
func TestPusherEnds(t *testing.T) {
	hang := make(chan struct{})
	arrived := make(chan struct{}, 10)
	f := newFake(t, func(http.ResponseWriter) { arrived <- struct{}{}; <-hang })
	defer close(hang)
	p := &Pusher{Client: f.client(t, Options{}), Every: time.Second, Collect: func() []*metrics.ResourceMetrics { return []*metrics.ResourceMetrics{{}} },
		Changed: func(error) { t.Error("the push was interrupted by the end, no failure") }, last: time.Millisecond}
	var ended []Undelivered
	p.Ended = func(u Undelivered) { ended = append(ended, u) }
	p.Start()
	<-arrived
	p.Close()
	if len(ended) != 1 || ended[0].Err == nil || !ended[0].Since.IsZero() || !ended[0].Unsure {
		t.Errorf("it said %+v", ended)
	}
}

// A receiver that is away at the end is tried more than once for a bounded time; what it does not have is counted.
func TestPusherLast(t *testing.T) {
	busy := status(503, protobuf, "")
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter) // the first is of the push at the begin
		ended   int
		tries   uint64
	}{
		{"back after two attempts", []func(http.ResponseWriter){nil, busy, busy}, 0, 4},
		{"refuses", []func(http.ResponseWriter){nil, status(400, protobuf, "")}, 1, 2},
		{"wants to be left alone", []func(http.ResponseWriter){nil, status(503, protobuf, "", "Retry-After", "3600")}, 1, 2},
	} {
		f := newFake(t, c.answers...)
		k := clock{make(chan time.Duration), make(chan time.Time)}
		var ended []Undelivered
		p := &Pusher{Client: f.client(t, Options{}), Every: time.Hour, after: k.after, last: time.Minute, Changed: func(err error) { t.Errorf("%s: it said %v", c.name, err) },
			Ended: func(u Undelivered) { ended = append(ended, u) },
			Collect: func() []*metrics.ResourceMetrics {
				family := &live.Family{Name: "n_total", Kind: live.Counter, Points: []live.Point{{Value: 1}, {Value: 2}, {Value: 3}}}
				return []*metrics.ResourceMetrics{Families(Shadow("h", 1), "v", []*live.Family{family}, time.Unix(1, 0), time.Unix(2, 0))}
			}}
		p.Start()
		<-k.waits
		k.tick <- time.Time{}
		<-k.waits
		p.Close()
		if len(ended) != c.ended || p.pushes.Load() != c.tries {
			t.Errorf("%s: %d attempts, it said %+v", c.name, p.pushes.Load(), ended)
		}
		for _, u := range ended {
			if u.Points != 3 || u.Since.IsZero() || u.Err == nil || u.Unsure {
				t.Errorf("%s: %+v", c.name, u)
			}
		}
	}
}

func TestParts(t *testing.T) {
	var all []*metrics.ResourceMetrics
	for range 10 {
		all = append(all, &metrics.ResourceMetrics{SchemaUrl: strings.Repeat("x", 1000)})
	}
	var sizes []int
	for p := range parts(all, 3100) {
		sizes = append(sizes, len(p))
	}
	if len(sizes) != 4 || sizes[0] != 3 || sizes[3] != 1 {
		t.Errorf("%v", sizes)
	}
	for range parts(nil, 1) {
		t.Error("nothing is a request")
	}
	sizes = nil
	for p := range parts(all[:2], 10) { // larger than the limit: by itself
		sizes = append(sizes, len(p))
	}
	if len(sizes) != 2 {
		t.Errorf("%v", sizes)
	}
}

func TestFamilies(t *testing.T) {
	families := []*live.Family{
		{Name: "a_total", Kind: live.Counter, Help: "A.", Points: []live.Point{{Labels: []live.Attribute{{Name: "jvm", Value: "s"}}, Value: 7}}},
		{Name: "b", Kind: live.Gauge, Points: []live.Point{{Value: 0.5}}},
		{Name: "c_seconds", Kind: live.Histogram, Points: []live.Point{{Sum: 1.5, Count: 3, Buckets: []uint64{1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}},
		{Name: "d_seconds", Kind: live.Sum, Points: []live.Point{{Sum: 2.5, Count: 4}}},
	}
	f := newFake(t)
	r := Program("s", store.JVM{PID: 7, Host: "h", MainClass: "com.acme.Main", Version: "25", GC: "G1"}, label.Labels{})
	if _, err := f.client(t, Options{}).Metrics(t.Context(), []*metrics.ResourceMetrics{Families(r, "v1", families, time.Unix(100, 0), time.Unix(200, 5))}); err != nil {
		t.Fatal(err)
	}
	res := values(f.metrics[0].Resource.Attributes)
	for name, want := range map[string]any{"service.name": "com.acme.Main", "service.instance.id": "s", "process.pid": int64(7), "host.name": "h", "process.runtime.version": "25"} {
		if res[name] != want {
			t.Errorf("%s is %v", name, res[name])
		}
	}
	if _, ok := res["process.runtime.name"]; ok {
		t.Error("a name that is not known")
	}
	a, b, c, d := f.named("a_total")[0], f.named("b")[0], f.named("c_seconds")[0], f.named("d_seconds")[0]
	if s := a.GetSum(); !s.IsMonotonic || s.AggregationTemporality != cumulative || s.DataPoints[0].GetAsDouble() != 7 || s.DataPoints[0].StartTimeUnixNano != 100e9 || s.DataPoints[0].TimeUnixNano != 200e9+5 ||
		values(s.DataPoints[0].Attributes)["jvm"] != "s" || a.Unit != "" || a.Description != "A." {
		t.Errorf("%v", a)
	}
	if g := b.GetGauge(); g.DataPoints[0].GetAsDouble() != 0.5 {
		t.Errorf("%v", b)
	}
	h := c.GetHistogram().GetDataPoints()[0]
	if c.Unit != "s" || h.Count != 3 || h.GetSum() != 1.5 || len(h.BucketCounts) != len(h.ExplicitBounds)+1 || h.ExplicitBounds[0] != 1e-4 || h.BucketCounts[2] != 2 || h.StartTimeUnixNano != 100e9 {
		t.Errorf("%v", c)
	}
	if s := d.GetSummary().DataPoints[0]; s.Count != 4 || s.Sum != 2.5 {
		t.Errorf("%v", d)
	}
	if later := Families(r, "", families, time.Unix(300, 0), time.Unix(200, 0)).ScopeMetrics[0].Metrics[0].GetSum().DataPoints[0]; later.StartTimeUnixNano > later.TimeUnixNano {
		t.Error("it starts after it ends, by a clock that was set back")
	}
}

// Names from outside arrive as valid UTF-8, without what acts on a terminal, and of a bounded length.
func TestHostileNames(t *testing.T) {
	names := append([]string{"\xff\xfe broken", strings.Repeat("long", 10_000), "a\x00b"}, summarytest.Hostile...)
	f := newFake(t)
	c := f.client(t, Options{})
	for _, name := range names {
		family := &live.Family{Name: "x", Kind: live.Gauge, Points: []live.Point{{Labels: []live.Attribute{{Name: "class", Value: name}}}}}
		r := Program(name, store.JVM{MainClass: name, Host: name, GC: name, Name: name, Version: name}, label.Labels{})
		if _, err := c.Metrics(t.Context(), []*metrics.ResourceMetrics{Families(r, "v", []*live.Family{family}, time.Unix(1, 0), time.Unix(2, 0))}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for i, m := range f.named("x") {
		if got := values(m.GetGauge().DataPoints[0].Attributes)["class"].(string); strings.ContainsAny(got, "\x1b\x00\n\u202e") || len([]rune(got)) > maxName+3 {
			t.Errorf("%q arrives as %q", names[i], got)
		}
	}
	if len(f.named("x")) != len(names) {
		t.Errorf("%d of %d came", len(f.named("x")), len(names))
	}
}

// A receiver is left alone as long as it asks for, but not for ever.
func TestPause(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{2 * time.Minute: 2 * time.Minute, 28 * time.Hour: time.Hour} {
		if got := new(Pusher).next(&state{}, &RefusedError{Status: 429, Retry: true, After: after}); got != want {
			t.Errorf("asked for %v: %v", after, got)
		}
	}
}

// Only who refused a request, or could not be reached, has certainly nothing of it.
func TestMayHave(t *testing.T) {
	f := newFake(t, func(http.ResponseWriter) { time.Sleep(time.Second) }, status(503, protobuf, ""), status(200, protobuf, "\xff"))
	c := f.client(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, slow := c.Metrics(ctx, nil)
	_, refused := c.Metrics(t.Context(), nil)
	_, broken := c.Metrics(t.Context(), nil)
	f.Close()
	_, nobody := c.Metrics(t.Context(), nil)
	ended, end := context.WithCancel(t.Context())
	end()
	_, unsent := c.Metrics(ended, nil)
	if !MayHave(slow) || MayHave(refused) || !MayHave(broken) || MayHave(nobody) || MayHave(nil) || unsent == nil || MayHave(unsent) {
		t.Errorf("%v, %v, %v, %v, %v", slow, refused, broken, nobody, unsent)
	}
}
