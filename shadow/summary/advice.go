package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// adviceLimit is how many executions with a record of their own are looked at for
// advice where nobody asked for units: more take longer than the rest of a summary.
const adviceLimit = 2_000_000

// unitsLimit is how many are looked at where somebody asked for a report: some
// minutes.
const unitsLimit = 50_000_000

// recorded is how many executions have a record of their own: what is summarised
// takes no time to read.
func recorded(m *store.Manifest) uint64 { return m.Stored.Executions - m.Summarised.Executions }

// unadvised says that a session of n recorded executions was not looked at for advice.
func unadvised(n uint64, asked bool) granularity.Finding {
	text := fmt.Sprintf("%s recorded executions are more than units of work and advice are worked out for (%s)",
		units.FormatCount(int64(n)), units.FormatCount(unitsLimit))
	if !asked && n <= unitsLimit {
		text = fmt.Sprintf("%s recorded executions are many: units of work and advice are left out here; --units and shadow report have them", units.FormatCount(int64(n)))
	}
	return granularity.Finding{Kind: granularity.Caution, Topic: "units", Text: text}
}

// allSummarised says why there is no advice that needs hand-overs.
func allSummarised(n uint64) granularity.Finding {
	return granularity.Finding{Kind: granularity.Caution, Topic: "units", Text: fmt.Sprintf(
		"All %s hand-overs were summarised: who handed what to whom is not told, so there is no advice about pools, waiting, imbalance and nesting; "+
			"how fine and coarse tasks are is told by their distributions. Profile with --detail auto for the rest.", units.FormatCount(int64(n)))}
}

// partlySummarised says what of the advice rests on a part of the hand-overs.
func partlySummarised(h *store.Handed) granularity.Finding {
	return granularity.Finding{Kind: granularity.Caution, Topic: "units", Text: fmt.Sprintf(
		"%s of the %s hand-overs were summarised: advice about units and pools (fine and coarse tasks, imbalance, size, waiting, nesting, exceptions kept by futures) rests on the %s that were recorded one by one alone; "+
			"that about tasks never executed and garbage collection, and counts, work and places, on all. Profile with --detail all for the rest.",
		units.FormatPercent(float64(h.Summarised)/float64(max(1, h.Produced))), units.FormatCount(int64(h.Produced)), units.FormatCount(int64(h.Stored)))}
}

// advisor gathers what advice about units of work rests on, in one reading.
type advisor struct {
	s       *session.Session
	u       *Units
	w       *ways
	self    *selfWaits // nil: too many tasks hand over tasks
	pools   map[string]*poolSum
	classes map[uint32]*classSums
	ended   map[uint32]units.MonoNs // by thread: end of the outermost unit before
	inside  map[uint32]units.MonoNs // by thread: end of the unit before that was inside another one
	counted map[uint32][]piece      // by thread: when executions were summarised
	slack   units.MonoNs            // pauses of a pool up to this are spent handing over
	deepest deep
	asks    *session.Asks
	times   *session.Times // nil: no scheduling record
	virtual virtualSum
}

type poolSum struct {
	granularity.Pool
	workers map[uint32]*granularity.Worker // by thread
	noCPU   bool
	kind    poolKind
	active  cover
}

type classSums struct {
	units, threw    int64
	swallowed, kept int64    // exceptions that nobody asked for; of which it is not known whether somebody did
	counted         int64    // of units, those that were summarised
	self            units.Ns // what these computed
	spans           []countedSpan
	cpu, wall       granularity.Values
	sites           map[uint32]int64 // units by number of their way
	pools           map[string]int64
}

// Advise reads the units of a session and says what to try.
func Advise(u *Units, t granularity.Thresholds) ([]granularity.Finding, error) {
	if !handOvers(u.s) {
		return nil, nil // who handed what to whom is not known
	}
	w, err := newWays(u.s)
	if err != nil {
		return nil, fmt.Errorf("reading the hand-overs of session %s: %w", u.s.Manifest.Session, err)
	}
	a := &advisor{s: u.s, u: u, w: w, slack: units.MonoNs(t.FineWork), virtual: virtualSum{active: cover{slack: units.MonoNs(t.FineWork)}}, pools: map[string]*poolSum{}, classes: map[uint32]*classSums{},
		ended: map[uint32]units.MonoNs{}, inside: map[uint32]units.MonoNs{}, counted: map[uint32][]piece{}}
	if a.self, err = newSelfWaits(u.s, w); err == nil {
		a.asks, err = u.s.Asks()
	}
	if err == nil {
		err = a.summarisedSpans()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the hand-overs and summaries of session %s: %w", u.s.Manifest.Session, err)
	}
	if err := u.Each(func(x *unit.Unit) error { a.unit(x); return nil }); err != nil {
		return nil, fmt.Errorf("reading the units of session %s: %w", u.s.Manifest.Session, err)
	}
	if err := a.summarised(); err != nil {
		return nil, fmt.Errorf("reading the summaries of session %s: %w", u.s.Manifest.Session, err)
	}
	if err := a.depths(); err != nil {
		return nil, fmt.Errorf("reading the executions of session %s: %w", u.s.Manifest.Session, err)
	}
	return granularity.Advise(a.facts(t), t), nil
}

// deep is how deep an execution lies, the outermost one at 1.
type deep struct {
	depth int64
	class uint32
}

// depths finds the deepest execution.
func (a *advisor) depths() error {
	each := make([]deep, session.Workers())
	err := a.s.ScanExecutions(store.ExecutionClass|store.ExecutionDepth, func(worker int, c *session.Chunk) error {
		at := &each[worker]
		for i, d := range c.Depth {
			if n := int64(d) + 1; n > at.depth || n == at.depth && c.Class[i] < at.class {
				*at = deep{n, c.Class[i]}
			}
		}
		return nil
	})
	a.deepest = slices.MaxFunc(each, func(x, y deep) int { return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(y.class, x.class)) })
	return err
}

// unit takes the next one of its thread.
func (a *advisor) unit(x *unit.Unit) {
	n := a.w.ofUnit(x, ByExecutor)
	name := a.className(x.Class)
	pool, kind := a.poolOf(x, a.w.list[n])
	a.class(x, n, pool)
	p := a.pools[pool]
	if p == nil {
		p = &poolSum{workers: map[uint32]*granularity.Worker{}, active: cover{slack: a.slack}}
		p.Label, p.Threads, p.kind = pool, kind == byClass, kind
		a.pools[pool] = p
	}
	a.self.unit(x, pool, name)
	if a.self.ranAtOnce(x) {
		p.AtOnce++
	}
	if x.Running {
		return
	}
	p.add(x)
	if x.Virtual {
		a.virtual.unit(x)
	}
	if p.Longest = max(p.Longest, x.Work[granularity.SelfWall]); p.Longest == x.Work[granularity.SelfWall] {
		p.LongestClass = name
	}
	if cpu := x.Work[granularity.SelfCPU]; cpu.Measured() && cpu >= p.Heaviest {
		p.Heaviest, p.HeaviestClass = cpu, name
	}
	a.gap(x, p)
}

// poolOf names the pool that a unit ran on as far as the unit tells: merge
// finds those that are the same.
func (a *advisor) poolOf(x *unit.Unit, way way) (string, poolKind) {
	if way.executor != 0 {
		return a.w.label(way, ByExecutor), byExecutor
	}
	if t := a.s.ThreadByID(x.Thread); way.executors && t != nil && !t.Virtual && t.Name != "" && t.Kind != session.KindMain {
		return t.Pool() + " (a pool of threads)", byThreads
	}
	return a.className(x.Class), byClass
}

// add counts a unit; of time only that of outermost ones, as others lie inside
// them.
func (p *poolSum) add(x *unit.Unit) {
	from := x.Start
	if x.Queue.Measured() {
		p.Queue.Add(x.Queue)
		from -= units.MonoNs(x.Queue)
	}
	if p.Units == 0 || from < p.From {
		p.From = from
	}
	p.To = max(p.To, x.End)
	p.active.add(from, x.End)
	p.Units++
	p.Virtual = p.Virtual || x.Virtual
	if n := x.Work[granularity.SelfCPU]; n.Measured() {
		p.Self += n
	} else {
		addMeasured(&p.Self, x.Work[granularity.SelfWall])
	}
	if x.Inside {
		return
	}
	w := p.workers[x.Thread]
	if w == nil {
		w = &granularity.Worker{From: x.Start}
		p.workers[x.Thread] = w
	}
	w.From, w.To = min(w.From, x.Start), max(w.To, x.End)
	w.Units++
	wall, cpu := x.Work[granularity.Wall], x.Work[granularity.CPU]
	if wall.Measured() {
		w.Wall += wall
		p.Wall += wall
		p.Wait.Add(wall)
	}
	if cpu.Measured() {
		w.CPU += cpu
		p.CPU += cpu
	} else {
		p.noCPU = true
	}
}

// gap measures what it took the worker to come from one unit to the next, where
// the next was waiting already and nothing in between was summarised. Of units
// inside others it goes by those inside the same one.
func (a *advisor) gap(x *unit.Unit, p *poolSum) {
	ended, to := a.ended, &p.Gaps
	if x.Inside {
		ended, to = a.inside, &p.Inner
	}
	before, ok := ended[x.Thread]
	ended[x.Thread] = x.End
	if x.Inside && a.ended[x.Thread] > before {
		return
	}
	if ok && x.Queue.Measured() && x.Start-units.MonoNs(x.Queue) <= before && x.Start >= before && !a.summarisedIn(x.Thread, before, x.Start) {
		to.Add(units.Ns(x.Start - before))
	}
}

func (a *advisor) class(x *unit.Unit, way uint32, pool string) {
	c := a.classes[x.Class]
	if c == nil {
		c = &classSums{sites: map[uint32]int64{}, pools: map[string]int64{}}
		a.classes[x.Class] = c
	}
	c.units++
	c.sites[way]++
	c.pools[pool]++
	if x.Threw {
		c.threw++
	}
	joinable := a.asks.Told && x.ForkJoin && x.Threw && !x.Swallowed
	switch {
	case !x.Swallowed && !joinable || a.asks.Asked.Has(x.Named):
	case joinable && !a.asks.Forgotten.Has(x.Named):
		c.swallowed++
	case a.asks.Told && !a.asks.Forgotten.Has(x.Named) && strings.HasPrefix(a.className(x.Keeper), "java.util.concurrent."):
		c.swallowed++
	default:
		c.kept++ // other libraries' futures do not tell who asks
	}
	if n := x.Work[granularity.SelfCPU]; n.Measured() {
		c.cpu.Add(n)
	}
	if n := x.Work[granularity.SelfWall]; n.Measured() {
		c.wall.Add(n)
	}
}

func (a *advisor) className(id uint32) string { return className(a.s, id) }

func className(s *session.Session, id uint32) string {
	if c := s.ClassByID(id); c != nil {
		return c.Name
	}
	return UnknownClass(id)
}

// facts puts together what was gathered, in an order that does not change.
func (a *advisor) facts(t granularity.Thresholds) *granularity.UnitFacts {
	waited, into := a.waited(), a.merge()
	a.addSummarised(into)
	selfs := a.self.byPool(into)
	m := &a.s.Manifest
	f := &granularity.UnitFacts{Duration: m.DurationNs, CPUs: m.JVM.CPUs, MaxDepth: a.deepest.depth, Lost: m.Lost.Events > 0, Unended: m.Ended != store.EndedExit}
	if a.deepest.depth > 0 {
		f.Deepest = a.className(a.deepest.class)
	}
	places := map[string]int{}
	var workers [][]uint32
	for _, label := range slices.Sorted(maps.Keys(a.pools)) {
		p := a.pools[label]
		threads := slices.Sorted(maps.Keys(p.workers))
		workers = append(workers, threads)
		for _, thread := range threads {
			w := *p.workers[thread]
			if w.Runnable = units.NotMeasured; waited[thread] != nil {
				w.Runnable = min(*waited[thread], max(0, w.Wall-w.CPU))
			}
			if p.Runnable.Measured() {
				p.Runnable = plus(p.Runnable, w.Runnable)
			}
			p.Workers = append(p.Workers, w)
		}
		if p.noCPU {
			p.CPU = units.NotMeasured
		}
		p.Taken, p.TakenWait, p.Elsewhere, p.One, p.Several = units.NotMeasured, units.NotMeasured, units.NotMeasured, units.NotMeasured, units.NotMeasured
		if q := selfs[label]; q != nil {
			p.Queued = q.of(p, m.EndNs)
		}
		if int64(len(p.workers)) >= t.Churn && p.Queue.Len() > 0 {
			// To end a thread and to wait for its end takes about as long as to start it.
			p.active.slack = max(p.active.slack, units.MonoNs(p.Queue.Quantile(500)))
		}
		p.Active = p.active.length()
		places[label] = len(f.Pools)
		f.Pools = append(f.Pools, p.Pool)
	}
	a.others(f, workers, t)
	f.Virtual = a.virtualFacts()
	for _, id := range slices.Sorted(maps.Keys(a.classes)) {
		c := a.classes[id]
		x := granularity.UnitClass{Name: a.className(id), Units: c.units, Threw: c.threw, Swallowed: c.swallowed, Kept: c.kept, Counted: c.counted, Pool: -1}
		if c.wall.Count() > 0 {
			x.OwnWall = c.wall.Quantile(500)
		}
		x.Self, x.SelfIsCPU = c.wall, false
		if c.cpu.Count() > 0 {
			x.Self, x.SelfIsCPU = c.cpu, true
		}
		if class := a.s.ClassByID(id); class != nil {
			x.JDK = IsJDK(class.Name, class.Kinds)
			x.Bulk = x.JDK && isBulk(class)
		}
		x.Site = a.siteOf(id, c)
		if pool := most(c.pools); pool != "" {
			x.Pool = places[into[pool]]
		}
		f.Classes = append(f.Classes, x)
	}
	return f
}

// siteOf names the place where most units of a class were handed over, or where
// all were, if part of them was only counted; "": none is known.
func (a *advisor) siteOf(class uint32, c *classSums) string {
	if len(c.sites) > 1 {
		delete(c.sites, 0) // the rest speaks for those whose hand-over was summarised
	}
	way := a.w.list[most(c.sites)]
	if t := a.w.from.totals[class]; t != nil && t.executions > 0 {
		way = a.w.list[a.w.summarisedWay(class)]
	}
	if way.site == 0 {
		return ""
	}
	return a.w.label(way, BySite)
}

// isBulk tells the fork/join tasks of the platform into which it cuts a parallel
// stream, a parallel sort, or a bulk operation on a map or on large numbers: not
// those that each stand for one function or for a time (the stages of a
// CompletableFuture, invokeAny, what is to run later). Of a class that is not
// known nothing is said.
func isBulk(c *session.Class) bool {
	return c.Kinds&units.KindForkJoin != 0 && slices.ContainsFunc(bulkClasses, func(p string) bool { return strings.HasPrefix(c.Name, p) })
}

// bulkClasses are how the names of the JDK's fork/join tasks begin into which it
// cuts work, in java.base of 17 to 25.
var bulkClasses = []string{
	"java.util.stream.", "java.util.concurrent.ConcurrentHashMap$", "java.util.ArrayPrefixHelpers$",
	"java.util.ArraysParallelSortHelpers$", "java.util.DualPivotQuicksort$", "java.math.BigInteger$",
}

// waited is how long threads were ready and waited for a processor, by the
// scheduling record; where there is none that can be read, by the kernel's account of
// those of which the agent saw that.
func (a *advisor) waited() map[uint32]*units.Ns {
	out := map[uint32]*units.Ns{}
	times, err := a.s.ThreadTimes()
	if err != nil || times == nil {
		for i := range a.s.Threads {
			if t := &a.s.Threads[i]; t.Waited != nil {
				out[t.ID] = t.Waited
			}
		}
		return out
	}
	a.times = times
	for i := range times.Threads {
		if t := &times.Threads[i]; t.Carried != nil {
			out[t.Carried.ID] = new(t.States[sched.Runnable])
		}
	}
	return out
}

func plus(a, b units.Ns) units.Ns {
	if !a.Measured() || !b.Measured() {
		return units.NotMeasured
	}
	return a + b
}

// most is the key with the greatest count, of several the smallest.
func most[K cmp.Ordered](counts map[K]int64) K {
	var best K
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if counts[k] > counts[best] {
			best = k
		}
	}
	return best
}
