package diff

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
)

// program is a made-up program: classes whose work has a power law, with counts that repeat exactly, nearly, or not.
type program struct {
	r       *rand.Rand
	classes int
	twice   string // the class that does twice its work; "": none
}

// spread is log-normal with median 1.
func (p *program) spread(sigma float64) float64 { return math.Exp(sigma * p.r.NormFloat64()) }

// around is a count about n: of a Poisson process, near enough.
func (p *program) around(n float64) float64 {
	return max(0, math.Round(n+math.Sqrt(n)*p.r.NormFloat64()))
}

// run is one run: what slows the whole machine down slows every row, and each class has a spread of its own.
func (p *program) run(i int) *Run {
	machine := p.spread(0.03)
	out := &Run{Session: fmt.Sprint("run ", i), Rows: map[Key]map[string]float64{}}
	total := 0.0
	for c := range p.classes {
		name := fmt.Sprintf("com.acme.Task%d", c)
		work := 1e9 / math.Pow(float64(c+1), 1.2)
		n := 1000.0
		if c%3 == 1 {
			n = p.around(200)
		}
		if c%3 == 2 {
			n = 3 + math.Floor(2*p.r.Float64()) // 3 or 4 at random
		}
		work *= machine * p.spread(0.02+0.02*float64(c%8)) // classes vary by 2 to 16 %
		if name == p.twice {
			work *= 2
		}
		queue := 2e6 * machine * p.spread(0.1+0.1*float64(c%5)) // queue times by 10 to 50 %
		out.Rows[Key{Class, name}] = map[string]float64{"work_ns": work, "wall_ns": work * (1 + 0.3*p.spread(0.5)), "executions": n, "queue_ns": queue, "response_ns": queue + work/n}
		total += work
	}
	pauses := p.around(12)
	out.Rows[Key{Whole, ""}] = map[string]float64{"duration_ns": total * p.spread(0.02), "cpu_ns": total * p.spread(0.05), "executions": 10_000,
		"gc_pauses": pauses, "gc_pause_ns": pauses * 3e6 * p.spread(0.3), "threads": 8}
	for i, kind := range []string{"application", "main", "gc", "compiler", "vm"} {
		out.Rows[Key{Threads, kind}] = map[string]float64{"cpu_ns": 1e8 * float64(i+1) * p.spread(0.08*float64(i+1)), "threads": float64(1 + i%2*int(1+2*p.r.Float64()))}
	}
	for i := range 6 {
		w := p.around(20)
		out.Rows[Key{Wait, fmt.Sprint("monitor: com.acme.Lock", i)}] = map[string]float64{"waits": w, "waited_ns": w * 1e6 * p.spread(0.6)}
	}
	return out
}

func (p *program) runs(n int) (out []*Run) {
	for i := range n {
		out = append(out, p.run(i))
	}
	return out
}

var pairs = flag.Int("pairs", 60, "pairs of sets of runs to simulate")

// Of sets of runs of one program, the share of which anything is called different is at most 5 %, for every number of runs.
func TestFalseAlarms(t *testing.T) {
	for _, runs := range []int{2, 3, 5, 10} {
		p := &program{r: rand.New(rand.NewPCG(2026, uint64(runs))), classes: 40}
		alarms, judged := 0, 0
		for range *pairs {
			d := compared(t, p.runs(runs), p.runs(runs))
			if judged = d.Judged; d.Different > 0 {
				alarms++
			}
		}
		share := float64(alarms) / float64(*pairs)
		t.Logf("%d runs a side: of %d pairs, %.1f %% have a figure of %d called different", runs, *pairs, 100*share, judged)
		if limit := 0.05 + 3*math.Sqrt(0.05*0.95/float64(*pairs)); share > limit || judged < 150 {
			t.Errorf("%d runs a side: %.1f %% false alarms of %d figures, want at most 5 %%", runs, 100*share, judged)
		}
	}
}

func compared(t *testing.T, a, b []*Run) *Diff {
	t.Helper()
	d, err := Compare(a, b, All)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// different are the rows that are called different.
func different(d *Diff) (out []string) {
	for _, r := range d.Rows {
		if r.Different() {
			out = append(out, string(r.By)+" "+r.Name)
		}
	}
	return out
}

// The class that does twice its work is found, and no other class, wait or kind of thread.
func TestPlanted(t *testing.T) {
	p := &program{r: rand.New(rand.NewPCG(7, 7)), classes: 40}
	for _, c := range []int{3, 9, 20} {
		twice := *p
		twice.twice = fmt.Sprintf("com.acme.Task%d", c)
		d := compared(t, p.runs(5), twice.runs(5))
		if got := different(d); len(got) != 1 || got[0] != "class "+twice.twice {
			t.Errorf("twice the work of %s: different are %q", twice.twice, got)
		}
	}
}

// classes of a session that summarytest makes: name, executions, median work.
var classes = []struct {
	name string
	n    int
	work float64
}{
	{"com.acme.Order", 60, 4e6}, {"com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", 120, 8e5}, {"com.acme.Main$$Lambda -> com.acme.Main.lambda$main$1", 40, 2e6},
	{"com.acme.Tax", 30, 3e6}, {"com.acme.Ship", 30, 6e6}, {"com.acme.Mail", 15, 1e6}, {"com.acme.Main$1", 10, 5e6}, {"java.util.concurrent.FutureTask", 90, 2e5},
}

// made is a run as summarytest makes sessions: single executions, each with a time of its own.
func made(t *testing.T, r *rand.Rand, twice string) *Run {
	t.Helper()
	w := summarytest.NewWriter()
	p := &program{r: r}
	machine := p.spread(0.03)
	threads := []uint32{w.Thread("main", "main", units.Ns(4e8*p.spread(0.1))), w.Thread("worker-1", "application", units.Ns(6e8*p.spread(0.1))), w.Thread("worker-2", "application", units.Ns(6e8*p.spread(0.1)))}
	at := units.MonoNs(0)
	for _, c := range classes {
		id := w.Class(c.name, units.KindRunnable, uint64(c.n), 0)
		class := machine * p.spread(0.05)
		if c.name == twice {
			class *= 2
		}
		for i := range c.n {
			wall := units.Ns(c.work * class * p.spread(0.3))
			cpu := wall - wall/10
			w.Add(summarytest.Execution{Class: id, Thread: threads[i%3], Start: at, Wall: wall, CPU: cpu, SelfWall: wall, SelfCPU: cpu})
			at += 1000
		}
	}
	for i := range int(p.around(12)) {
		w.Pause(units.MonoNs(i*1e8), units.Ns(3e6*p.spread(0.4)))
	}
	w.Src.Manifest.DurationNs = units.Ns(2e9 * machine * p.spread(0.02))
	s, err := summary.BuildFrom(w.Src, summary.Options{Brief: true})
	if err != nil {
		t.Fatal(err)
	}
	return RunOf(s)
}

func madeRuns(t *testing.T, r *rand.Rand, twice string) (out []*Run) {
	for range 5 {
		out = append(out, made(t, r, twice))
	}
	return out
}

// Of 20 pairs of sets of sessions of one program, none is called different, and in none a class is new or gone.
func TestTwentyPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for i := range 20 {
		d := compared(t, madeRuns(t, r, ""), madeRuns(t, r, ""))
		if d.Different+d.New+d.Gone > 0 || d.Judged < 30 {
			t.Errorf("pair %d: of %d figures %d differ, %d rows are new, %d gone: %q", i, d.Judged, d.Different, d.New, d.Gone, different(d))
		}
	}
	for _, c := range classes[:5] {
		d := compared(t, madeRuns(t, r, ""), madeRuns(t, r, c.name))
		if got := different(d); len(got) != 1 || got[0] != "class "+c.name {
			t.Errorf("twice the work of %s: different are %q", c.name, got)
		}
	}
}
