package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// service is a made-up server under load: what it answers, and hundreds of classes of the JDK.
type service struct {
	r                              *rand.Rand
	seconds                        float64
	rate, response, p99, queue, of float64 // factors: of requests a second, of their times, of the work of a request
	platform                       int
}

func newService(seed uint64) service {
	return service{r: rand.New(rand.NewPCG(5, seed)), seconds: 3, rate: 1, response: 1, p99: 1, queue: 1, of: 1, platform: 300}
}

func (s *service) spread(sigma float64) float64 { return math.Exp(sigma * s.r.NormFloat64()) }

func (s *service) run(i int) *Run {
	duration := s.seconds * 1e9 * s.spread(0.005)
	units := math.Round(1000 * s.rate * duration / 1e9 * s.spread(0.02))
	work := units * 80e3 * s.of * s.spread(0.03)
	response := 4e6 * s.response * s.spread(0.03)
	whole := map[string]float64{"duration_ns": duration, "cpu_ns": 1.5*work + 1e8*s.spread(0.02), "units": units, "units_per_second": units / (duration / 1e9),
		"response_ns_p50": response, "response_ns_p99": 3 * response * s.p99 * s.spread(0.05), "queue_ns_p50": 1e6 * s.response * s.spread(0.04),
		"queue_ns_p99": 5e6 * s.response * s.queue * s.spread(0.05), "executions": 3 * units, "threw": 0}
	whole["cpu_ns_per_unit"] = whole["cpu_ns"] / units
	out := &Run{Session: fmt.Sprint("run ", i), Rows: map[Key]map[string]float64{{Whole, ""}: whole}, jdk: map[string]bool{}}
	out.Rows[Key{Class, "com.acme.Request"}] = map[string]float64{"work_ns": work, "wall_ns": units * response / 2, "executions": units}
	for c := range s.platform {
		name := fmt.Sprintf("jdk.internal.Job%d", c)
		out.Rows[Key{Class, name}] = map[string]float64{"work_ns": 0.01 * units * 80e3 * s.spread(0.1), "executions": units, "wall_ns": 0.01 * units * 1e5 * s.spread(0.1)}
		out.jdk[name] = true
	}
	return out
}

func (s service) runs(n int) (out []*Run) {
	for i := range n {
		out = append(out, s.run(i))
	}
	return out
}

// verdict of a figure of the whole run.
func verdict(t *testing.T, d *Diff, name string) Verdict {
	t.Helper()
	f := d.figure(name)
	if f == nil {
		t.Fatalf("no figure %s", name)
	}
	return f.Verdict
}

// Runs of a fixed length that serve more are better: their CPU time is more because they did more.
func TestMoreServed(t *testing.T) {
	a := newService(1)
	b := a
	b.rate, b.response = 1.77, 1/1.77
	d := compared(t, a.runs(5), b.runs(5))
	var times float64
	if _, err := fmt.Sscanf(d.Sentence, "B is better in throughput (%g times), response time (p50 -4", &times); err != nil || math.Abs(times-1.77) > 0.05 || strings.Contains(d.Sentence, "worse") {
		t.Errorf("%s: %v", d.Sentence, err)
	}
	if v := verdict(t, d, "cpu_ns"); v != Follows || !d.PerUnit {
		t.Errorf("CPU time of all requests together: %s, per unit %v", v, d.PerUnit)
	}
	r := row(t, d, "com.acme.Request")
	if f := r.Figures[0]; f.Name != "work_ns_per_unit" || f.Verdict != NoDifference || f.B.Mean < 60e3 || f.B.Mean > 100e3 {
		t.Errorf("work of a request: %+v", f)
	}
	for _, f := range r.Figures {
		if (f.Name == "work_ns" || f.Name == "executions") && f.Verdict != Follows {
			t.Errorf("%s of the requests: %s", f.Name, f.Verdict)
		}
	}
	// The other way round it is worse; of single runs it is said, and that it may be chance.
	if d := compared(t, b.runs(5), a.runs(5)); !strings.HasPrefix(d.Sentence, "B is worse in throughput (0.5") {
		t.Errorf("%s", d.Sentence)
	}
	d = compared(t, a.runs(1), b.runs(1))
	if !strings.HasPrefix(d.Sentence, "B is better in throughput (1.") || !strings.HasSuffix(d.Sentence, "; of single runs that may be chance.") || verdict(t, d, "cpu_ns") != Follows {
		t.Errorf("%s", d.Sentence)
	}
}

// The same work in less time: sums compare as they are.
func TestShorter(t *testing.T) {
	a := newService(2)
	b := a
	b.seconds, b.rate = a.seconds/1.5, 1.5
	as, bs := a.runs(5), b.runs(5)
	for _, r := range append(as, bs...) {
		of := r.Rows[Key{Whole, ""}]
		of["units"], of["units_per_second"] = 3000, 3000/(of["duration_ns"]/1e9)
	}
	d := compared(t, as, bs)
	if !strings.HasPrefix(d.Sentence, "B is better in throughput (1.") || d.PerUnit || verdict(t, d, "units") != NoDifference || verdict(t, d, "duration_ns") != Different {
		t.Errorf("%s per unit %v", d.Sentence, d.PerUnit)
	}
	if f := row(t, d, "com.acme.Request").Figures[0]; f.Name != "work_ns" || f.Verdict != NoDifference {
		t.Errorf("%+v", f)
	}
}

// Only the tail of the queue time is worse: only that is said.
func TestQueueTail(t *testing.T) {
	a := newService(3)
	b := a
	b.queue = 2
	d := compared(t, a.runs(5), b.runs(5))
	if !strings.HasPrefix(d.Sentence, "B is worse in queue time (p99 +") || strings.Contains(d.Sentence, ",") || d.Different != 1 {
		t.Errorf("%s %d different", d.Sentence, d.Different)
	}
}

// Hundreds of classes of the JDK do not hide that the program's class does more work.
func TestPlatformApart(t *testing.T) {
	a := newService(4)
	a.platform = 150
	b := a
	b.of = 1.12
	d := compared(t, a.runs(5), b.runs(5))
	if f := row(t, d, "com.acme.Request").Figures[0]; f.Verdict != Different || *f.P*float64(d.Judged) < 0.05 {
		t.Errorf("12 %% more work, of %d figures: %s, p %v, corrected %v", d.Judged, f.Verdict, *f.P, *f.Holm)
	}
	if !strings.HasPrefix(d.Sentence, "No difference was found in throughput, response time, queue time and CPU time per unit") && !strings.HasPrefix(d.Sentence, "B is worse in CPU time per unit") {
		t.Errorf("%s", d.Sentence)
	}
}

// Of sets of runs of one service, at most 5 % have anything called different, in whatever family.
func TestFalseAlarmsOfServices(t *testing.T) {
	for _, n := range []int{2, 5} {
		s, alarms := newService(uint64(n)), 0
		s.platform = 30
		for range *pairs {
			d := compared(t, s.runs(n), s.runs(n))
			if said := !strings.HasPrefix(d.Sentence, "No difference was found in "); d.Different > 0 {
				alarms++
			} else if said {
				t.Errorf("nothing differs, yet: %s", d.Sentence)
			}
		}
		share := float64(alarms) / float64(*pairs)
		t.Logf("%d runs a side: %.1f %% of %d pairs", n, 100*share, *pairs)
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(*pairs)); share > limit {
			t.Errorf("%d runs a side: %.1f %% false alarms, want at most 5 %%", n, 100*share)
		}
	}
}

// Without units of work the wall and CPU time decide.
func TestWithoutUnits(t *testing.T) {
	a, b := several(t, nil, nil, nil), several(t, nil, nil, nil)
	for i, r := range b {
		a[i].Rows[Key{Whole, ""}]["duration_ns"] = 2e9 + float64(i)
		r.Rows[Key{Whole, ""}]["duration_ns"] = 1e9 + float64(i)
	}
	if d := compared(t, a, b); d.Sentence != "B is better in wall time (-50 %)." {
		t.Errorf("%q", d.Sentence)
	}
	for i := range b {
		a[i].Rows[Key{Whole, ""}]["cpu_ns"], a[i].Rows[Key{Whole, ""}]["executions"] = 1e9+float64(i), 100
		b[i].Rows[Key{Whole, ""}]["cpu_ns"], b[i].Rows[Key{Whole, ""}]["executions"] = 2e9+float64(i), 200
	}
	if d := compared(t, a, b); d.Sentence != "B is better in wall time (-50 %)." {
		t.Errorf("twice the executions: %q", d.Sentence)
	}
	if d := compared(t, a, a); d.Sentence != "No difference was found in wall time and CPU time of the JVM." {
		t.Errorf("%q", d.Sentence)
	}
}
