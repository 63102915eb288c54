package summarytest

import (
	"fmt"
	"math"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Population is a class of a generated session: its i-th smallest work is known
// without sorting, so that quantiles of any number of executions are.
type Population struct {
	Name  string
	Kinds units.Kinds
	Share float64 // of all executions
	// Work of an execution whose rank is a share u of its class's executions,
	// 0 <= u < 1; it does not fall. Wall time, nanoseconds.
	Work func(u float64) units.Ns
}

// Populations are the classes of a generated session: fine tasks below 2 µs,
// tasks of 1 µs to 10 ms, a wrapper whose values are few and often the same,
// and a handful of coarse ones.
var Populations = []Population{
	{"com.acme.fine.Step", units.KindForkJoin, 0.80, func(u float64) units.Ns { return units.Ns(80 + 2000*u*u) }},
	{"com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", units.KindRunnable | units.KindHidden, 0.149,
		func(u float64) units.Ns { return units.Ns(1000 * math.Pow(1e4, u)) }},
	{"java.util.concurrent.FutureTask", units.KindRunnable | units.KindJDK, 0.05,
		func(u float64) units.Ns { return 1_000_000 * units.Ns(1+4*u) }},
	{"com.acme.render.TileRenderer$RenderTask", units.KindCallable, 0.001,
		func(u float64) units.Ns { return units.Ns(1e6 * math.Pow(1e3, u)) }},
}

// CPUOf is the CPU time of a generated execution of the given wall time. It
// does not fall either.
func CPUOf(wall units.Ns) units.Ns { return wall - wall/8 }

const (
	genThreads = 8
	genRun     = 200 // executions of one thread that follow one another in a batch
	genPart    = 1 << 19
	genStep    = 800 // ns from one start on a thread to the next
)

// Count is the number of executions of population p among n.
func Count(p, n int) int {
	if p == 0 {
		rest := n
		for i := 1; i < len(Populations); i++ {
			rest -= Count(i, n)
		}
		return rest
	}
	return int(float64(n) * Populations[p].Share)
}

// WorkAt is the wall time of the execution of population p among n executions
// that has the given rank in its class, from 0.
func WorkAt(p, n, rank int) units.Ns {
	return Populations[p].Work(float64(rank) / float64(Count(p, n)))
}

// Generated is what a generated session holds beyond its n executions.
type Generated struct{ Created, NeverExecuted, First int64 }

// Generate writes a session of n executions with that many batches of half a
// million rows to the folder dir/name. firsts says whether executions record which is
// a task's first, as agents do today. About every tenth execution is the second of
// its task, and one task in fifty is never executed.
func Generate(dir, name string, n int, firsts bool) (*Generated, error) {
	w, err := store.OpenWriter(dir, name, name)
	if err != nil {
		return nil, fmt.Errorf("generating a session: %w", err)
	}
	g := &generator{n: n, firsts: firsts}
	g.prepare()
	g.describe(&w.Manifest)
	for g.at < n || g.part == 0 {
		p := g.next()
		w.Manifest.Produced.Executions += uint64(len(p.Executions))
		w.Manifest.Produced.Creations += uint64(len(p.Creations))
		w.Manifest.EndNs = genStart + units.MonoNs(n/genThreads+1)*genStep
		if g.at >= n {
			w.Manifest.Ended = store.EndedExit
		}
		if err := w.Commit(p); err != nil {
			return nil, fmt.Errorf("generating a session: %w", err)
		}
	}
	return &g.out, nil
}

const genStart = units.MonoNs(1_000_000_000)

type generator struct {
	n, at  int
	part   uint64
	firsts bool
	task   uint64
	counts []int
	steps  []int // ranks of a class follow one another by this, modulo its count
	ranks  []int
	left   []int
	newest int // the class of the newest task; -1: it must not be executed
	out    Generated
}

// prepare chooses for each class a step that has no factor in common with its
// count: so every rank occurs once, in no order.
func (g *generator) prepare() {
	for p := range Populations {
		c := Count(p, g.n)
		g.counts, g.left, g.ranks = append(g.counts, c), append(g.left, c), append(g.ranks, 0)
		step := max(1, int(float64(c)*0.6180339887))
		for c > 0 && gcd(step, c) != 1 {
			step++
		}
		g.steps = append(g.steps, step)
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (g *generator) describe(m *store.Manifest) {
	m.StartNs, m.WallUnixNs = genStart, 1_700_000_000_000_000_000
	m.Metrics = []string{"wall", "cpu"}
	m.JVM = store.JVM{PID: 4711, Host: "host", Version: "17.0.15+6", Name: "OpenJDK 64-Bit Server VM", MainClass: "com.acme.Main",
		GC: "G1", CPUs: 4, AgentVersion: "1.0", Clock: "tsc", CPUClock: "user page"}
	m.NotAvailable = map[string]string{"instructions": "no hardware counters on this machine"}
}

// next makes the next part.
func (g *generator) next() *store.Part {
	g.part++
	p := &store.Part{Range: store.Range{From: g.part, To: g.part}}
	if g.part == 1 {
		for i, c := range Populations {
			p.Classes = append(p.Classes, store.Class{ID: uint32(i + 1), Name: c.Name, Kinds: c.Kinds.String()})
		}
		for t := range genThreads {
			p.Threads = append(p.Threads, store.Thread{ID: uint32(t + 1), JavaID: int64(t + 20), OSID: int32(5000 + t),
				Name: fmt.Sprintf("pool-1-thread-%d", t+1), Group: "main", Class: "java.lang.Thread"})
		}
	}
	for end := min(g.n, g.at+genPart); g.at < end; g.at++ {
		g.add(p)
	}
	return p
}

// add puts in the next execution and, if it is its task's first, the creation.
func (g *generator) add(p *store.Part) {
	class := g.choose()
	rank := g.ranks[class]
	g.ranks[class] = (rank + g.steps[class]) % g.counts[class]
	wall := WorkAt(class, g.n, rank)
	thread := g.at / genRun % genThreads
	start := genStart + units.MonoNs(g.at/(genRun*genThreads)*genRun+g.at%genRun)*genStep
	start += units.MonoNs(uint64(g.at) * 0x9e3779b97f4a7c15 >> 55) // no clock is so regular
	again := g.at%10 == 9 && g.newest == class
	e := store.Execution{Class: uint32(class + 1), Thread: uint32(thread + 1), StartNs: start, EndNs: start + units.MonoNs(wall),
		WallNs: wall, CPUNs: CPUOf(wall), SelfWallNs: wall, SelfCPUNs: CPUOf(wall)}
	if !again {
		g.newest = class
		g.create(p, e.Class, e.Thread, start-100)
		g.out.First++
		if g.firsts {
			e.Flags = uint16(wire.First)
		}
	}
	e.TaskID = g.task
	p.Executions = append(p.Executions, e)
	if g.at%50 == 0 { // a task that never runs
		g.create(p, e.Class, e.Thread, start-50)
		g.newest = -1
		g.out.NeverExecuted++
	}
}

func (g *generator) create(p *store.Part, class, thread uint32, at units.MonoNs) {
	g.task++
	g.out.Created++
	p.Creations = append(p.Creations, store.Creation{TaskID: g.task, Class: class, Thread: thread, AtNs: at})
}

// choose spreads the populations evenly over the session.
func (g *generator) choose() int {
	best, lead := 0, math.Inf(-1)
	for p, c := range g.counts {
		if g.left[p] == 0 {
			continue
		}
		// The one that lags furthest behind its share.
		if lag := float64(c)*float64(g.at+1)/float64(g.n) - float64(c-g.left[p]); lag > lead {
			best, lead = p, lag
		}
	}
	g.left[best]--
	return best
}
