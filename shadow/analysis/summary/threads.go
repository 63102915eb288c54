package summary

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Limits per thread: a program can have a million virtual
// threads, and a figure of a million bars is unreadable.
const (
	maxBusyThreads = 256 // with a busy bar
	maxLoopDepth   = 3   // a thread's loop, its pool's worker, ...
)

// threadGroup sums up the executions on one thread.
type threadGroup struct {
	executions int64
	summarised int64              // of executions
	running    int64              // had not ended
	work       []units.Ns         // by granularity.Metric, of self metrics only: the sum, or NotMeasured
	loop       bool               // a thread was executed, outermost
	group      *granularity.Group // nil unless Options.PerThread
	// busy has the executions that are not loops, by depth of nesting (nil: not
	// wanted), and loops the depth below which only loops were seen.
	busy   []*granularity.Series
	loops  int
	spread *granularity.Series // the self time of summarised executions
	// own has the executions of the program's thread classes, by name. Whether they
	// are loops is known once all are read.
	own map[string]*granularity.Series
}

// chooseBusy picks the threads with a busy bar: those with most CPU time, then the
// first. The choice does not depend on the order of reading.
func (b *builder) chooseBusy() {
	b.busy = map[uint32]bool{}
	if !b.opts.Shapes {
		return
	}
	cost := func(t *session.Thread) units.Ns { return max(t.CPU, -1) }
	var ids []*session.Thread
	for i := range b.src.Threads {
		if t := &b.src.Threads[i]; t.ID != 0 {
			ids = append(ids, t)
		}
	}
	slices.SortFunc(ids, func(x, y *session.Thread) int {
		return cmp.Or(cmp.Compare(cost(y), cost(x)), cmp.Compare(x.ID, y.ID))
	})
	for _, t := range ids[:min(len(ids), maxBusyThreads)] {
		b.busy[t.ID] = true
	}
}

func (g *gathered) threadOf(id uint32) *threadGroup {
	t := g.threads.Get(id)
	if t != nil {
		return t
	}
	t = &threadGroup{work: slices.Repeat([]units.Ns{units.NotMeasured}, len(g.b.metrics.list))}
	if g.b.opts.PerThread {
		t.group = &granularity.Group{}
	}
	if g.b.busy[id] {
		t.busy = make([]*granularity.Series, maxLoopDepth)
	}
	g.threads.Set(id, t)
	return t
}

func (t *threadGroup) add(b *builder, g *classGroup, e *granularity.Execution, depth uint16) {
	t.executions++
	if e.Running {
		t.running++
	}
	t.loop = t.loop || depth == 0 && g.kinds&units.KindThread != 0
	for _, m := range b.metrics.self {
		t.addWork(m, e.Work[m])
	}
	if t.group != nil {
		t.group.Add(e)
	}
	if t.busy == nil || int(depth) >= maxLoopDepth {
		return
	}
	if own := !g.knownLoop && g.kinds&units.KindThread != 0; own || g.knownLoop {
		t.loops = max(t.loops, int(depth)+1)
		if own && depth == 0 {
			t.addOwn(b, g, e.Start, e.End)
		}
		return
	}
	seriesOf(&t.busy[depth], b).Add(e.Start, e.End)
}

// addWork adds to the sum of m.
func (t *threadGroup) addWork(m granularity.Metric, n units.Ns) {
	switch {
	case !n.Measured():
	case t.work[m].Measured():
		t.work[m] += n
	default:
		t.work[m] = n
	}
}

// seriesOf makes a series where there is none.
func seriesOf(s **granularity.Series, b *builder) *granularity.Series {
	if *s == nil {
		*s = granularity.NewSeries(b.grid)
	}
	return *s
}

// addSummarised adds what was summarised on the thread. Its self time is inside tasks,
// at any depth.
func (t *threadGroup) addSummarised(b *builder, g *classGroup, s *granularity.Summarised) {
	t.executions += s.Executions
	t.summarised += s.Executions
	for _, m := range b.metrics.self {
		if w := &s.Work[m]; w.Count > 0 {
			t.addWork(m, w.Sum)
		}
	}
	if t.group != nil {
		t.group.AddSummarised(s)
	}
	if t.busy != nil && !g.knownLoop && g.kinds&units.KindThread == 0 {
		seriesOf(&t.spread, b).Spread(s.From, s.To, s.Executions, s.Work[granularity.SelfWall].Sum)
	}
}

// merge adds what another goroutine has read of the thread.
func (t *threadGroup) merge(o *threadGroup) {
	t.executions += o.executions
	t.summarised += o.summarised
	t.running += o.running
	t.loop = t.loop || o.loop
	for m, n := range o.work {
		t.addWork(granularity.Metric(m), n)
	}
	t.loops = max(t.loops, o.loops)
	if t.group != nil && o.group != nil {
		t.group.Merge(o.group)
	}
	for i, s := range o.busy {
		mergeSeries(&t.busy[i], s)
	}
	for name, s := range o.own {
		if t.own == nil {
			t.own = map[string]*granularity.Series{}
		}
		mine := t.own[name]
		mergeSeries(&mine, s)
		t.own[name] = mine
	}
}

func mergeSeries(to **granularity.Series, from *granularity.Series) {
	switch {
	case from == nil:
	case *to == nil:
		*to = from
	default:
		(*to).Merge(from)
	}
}

// addOwn keeps the time of a thread class of the program.
func (t *threadGroup) addOwn(b *builder, g *classGroup, start, end units.MonoNs) {
	if t.own == nil {
		t.own = map[string]*granularity.Series{}
	}
	if t.own[g.name] == nil {
		t.own[g.name] = granularity.NewSeries(b.grid)
	}
	t.own[g.name].Add(start, end)
}

// share is, per bucket, the share of time inside the outermost executions that are not
// the thread's loop. A thread class that is no loop covers what is nested in it.
// Executions directly inside the loop are at depth loops; less deep ones are the
// outermost of a thread without a loop.
func (t *threadGroup) share(b *builder) []float64 {
	var out []float64
	deepest := t.loops
	for name, s := range t.own {
		if !b.all.byName[name].loop {
			out, deepest = atMostOne(out, s), 0
		}
	}
	for depth := 0; depth <= deepest && depth < len(t.busy); depth++ {
		if t.busy[depth] == nil {
			continue
		}
		out = atMostOne(out, t.busy[depth])
	}
	if t.spread != nil {
		out = atMostOne(out, t.spread)
	}
	return out
}

// atMostOne adds the shares of s to sum, up to 1: a thread does one thing at a time.
func atMostOne(sum []float64, s *granularity.Series) []float64 {
	running := s.Running()
	if sum == nil {
		sum = make([]float64, len(running))
	}
	for i, r := range running {
		sum[i] = min(1, sum[i]+r)
	}
	return sum
}

// threadRows fills in the rows of all threads and, if wanted, the hotspots by
// thread, most work first.
func (b *builder) threadRows(s *Summary) {
	s.Threads, s.ThreadRows = nil, nil
	if b.all.fromSums {
		return // the sums are by class
	}
	seen := map[uint32]bool{}
	for _, th := range b.src.Threads {
		row := ThreadRow{Thread: th}
		if t := b.all.threads.Get(th.ID); t != nil && th.ID != 0 {
			seen[th.ID] = true
			t.fill(b, &row)
		}
		s.Threads = append(s.Threads, row)
	}
	// A thread whose description was lost has a row, too.
	for id, t := range b.all.threads.All() {
		if !seen[id] {
			row := ThreadRow{Thread: session.Thread{ID: id, Name: unknownThread(id), Kind: session.KindOther, CPU: units.NotMeasured, Virtual: id == virtualThreads}}
			t.fill(b, &row)
			s.Threads = append(s.Threads, row)
		}
	}
	slices.SortStableFunc(s.Threads, func(a, c ThreadRow) int {
		return cmp.Or(cmp.Compare(c.cost(), a.cost()), cmp.Compare(c.RunExecutions, a.RunExecutions), cmp.Compare(a.Label(), c.Label()))
	})
	work := s.Metrics.WorkMetric()
	total := s.Metrics[work].Sum
	for _, th := range s.Threads {
		t := b.all.threads.Get(th.ID)
		if th.ID == 0 && th.Name != unknownThread(0) || t == nil || t.executions == 0 {
			continue
		}
		s.ThreadRows = append(s.ThreadRows, t.hotspot(b, th, work, total, s.Tasks.Executions))
	}
	_ = granularity.SortHotspots(s.ThreadRows, granularity.ByWork) // a known order
}

func unknownThread(id uint32) string {
	if id == virtualThreads {
		return "(virtual threads, combined)"
	}
	return fmt.Sprintf("(thread %d, description lost)", id)
}

func (t *threadGroup) fill(b *builder, row *ThreadRow) {
	row.RunExecutions, row.RunSummarised, row.Work, row.Busy = t.executions, t.summarised, t.work, t.share(b)
	row.Running, row.Loop = t.running, t.loop
}

// cost orders threads: total CPU time, or what its tasks used.
func (r *ThreadRow) cost() units.Ns {
	if r.CPU.Measured() {
		return r.CPU
	}
	return max(r.SelfCPU(), 0) // below 0: not measured
}

func (t *threadGroup) hotspot(b *builder, th ThreadRow, work granularity.Metric, total units.Ns, executions int64) granularity.Hotspot {
	h := granularity.Hotspot{Executions: t.executions, Summarised: t.summarised, Threads: 1}
	if t.group != nil {
		h = hotspot(t.group)
		b.metrics.name(h.Metrics)
	}
	h.Thread, h.ThreadKind = th.Label(), th.Kind
	h.Work = max(t.work[work], 0) // below 0: not measured
	if total > 0 {
		h.WorkShare = float64(h.Work) / float64(total)
	}
	if executions > 0 {
		h.ExecutionShare = float64(h.Executions) / float64(executions)
	}
	return h
}

// threadRow is the id of the row of a thread's executions: its own, or virtualThreads
// if there are too many virtual threads to list.
func (b *builder) threadRow(id uint32) uint32 {
	if b.src.Unlisted != nil && b.src.Unlisted(id) {
		return virtualThreads
	}
	return id
}
