package summary

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Limits of what is kept per thread: a program can have a million virtual
// threads, and nobody looks at a million bars.
const (
	maxBusyThreads = 256 // with a busy bar
	maxBodyDepth   = 3   // a thread's body, its pool's worker, ...
)

// threadGroup is what is known of the executions on one thread.
type threadGroup struct {
	executions        int64
	selfWall, selfCPU units.Ns
	cpuMeasured       bool
	group             *granularity.Group // nil unless Options.PerThread
	// busy has the executions that are not bodies, by depth of nesting, and
	// bodies the depth below which only bodies were seen.
	busy   []*granularity.Series
	bodies int
	// own has the executions of the program's thread classes, which are bodies
	// or not as all their executions tell.
	own map[*classGroup]*granularity.Series
}

func (b *builder) thread(id uint32) *threadGroup {
	t, ok := b.threads[id]
	if ok {
		return t
	}
	t = &threadGroup{}
	if b.opts.PerThread {
		t.group = &granularity.Group{}
	}
	if b.opts.Shapes && len(b.threads) < maxBusyThreads {
		t.busy = make([]*granularity.Series, maxBodyDepth)
	}
	b.threads[id] = t
	return t
}

func (t *threadGroup) add(b *builder, g *classGroup, e *granularity.Execution, depth uint16, end units.MonoNs) {
	t.executions++
	if w := e.Work[granularity.SelfWall]; w.Measured() {
		t.selfWall += w
	}
	if c := e.Work[granularity.SelfCPU]; c.Measured() {
		t.selfCPU += c
		t.cpuMeasured = true
	}
	if t.group != nil {
		t.group.Add(e, b.until)
	}
	if t.busy == nil || int(depth) >= maxBodyDepth {
		return
	}
	known := knownBody(g.name, g.kinds)
	if own := !known && g.kinds&units.KindThread != 0; own || known {
		t.bodies = max(t.bodies, int(depth)+1)
		if own && depth == 0 {
			t.addOwn(b, g, e.Start, end)
		}
		return
	}
	if t.busy[depth] == nil {
		t.busy[depth] = granularity.NewSeries(b.grid)
	}
	t.busy[depth].Add(e.Start, end)
}

// addOwn keeps the time of a thread that runs itself.
func (t *threadGroup) addOwn(b *builder, g *classGroup, start, end units.MonoNs) {
	if t.own == nil {
		t.own = map[*classGroup]*granularity.Series{}
	}
	if t.own[g] == nil {
		t.own[g] = granularity.NewSeries(b.grid)
	}
	t.own[g].Add(start, end)
}

// share is, per bucket, the share of time inside the outermost executions that
// are not the thread's body. A thread class that is no body covers what is
// nested in it. Executions directly inside the body are at depth
// bodies; shallower ones are the outermost of a thread without a body.
func (t *threadGroup) share() []float64 {
	var out []float64
	deepest := t.bodies
	for g, s := range t.own {
		if !g.body {
			out, deepest = atMostOne(out, s), 0
		}
	}
	for depth := 0; depth <= deepest && depth < len(t.busy); depth++ {
		if t.busy[depth] == nil {
			continue
		}
		out = atMostOne(out, t.busy[depth])
	}
	return out
}

// atMostOne adds the shares of s to those of sum; a thread does one thing at a
// time.
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
	seen := map[uint32]bool{}
	for _, th := range b.src.Threads {
		row := ThreadRow{Thread: th, SelfCPU: units.NotMeasured}
		if t := b.threads[th.ID]; t != nil && th.ID != 0 {
			seen[th.ID] = true
			t.fill(&row)
		}
		s.Threads = append(s.Threads, row)
	}
	// Threads whose description was lost still ran what they ran.
	for id, t := range b.threads {
		if !seen[id] {
			row := ThreadRow{Thread: session.Thread{ID: id, Name: unknownThread(id), Kind: "other", CPU: units.NotMeasured}}
			t.fill(&row)
			s.Threads = append(s.Threads, row)
		}
	}
	slices.SortStableFunc(s.Threads, func(a, c ThreadRow) int {
		return cmp.Or(cmp.Compare(c.cost(), a.cost()), cmp.Compare(c.RunExecutions, a.RunExecutions), cmp.Compare(a.Label(), c.Label()))
	})
	work := s.Metrics.WorkMetric()
	total := s.Metrics[work].Sum
	for _, th := range s.Threads {
		t := b.threads[th.ID]
		if th.ID == 0 && th.Name != unknownThread(0) || t == nil || t.executions == 0 {
			continue
		}
		s.ThreadRows = append(s.ThreadRows, t.hotspot(th, work, total, s.Tasks.Executions))
	}
	_ = granularity.SortHotspots(s.ThreadRows, granularity.ByWork) // a known order
}

func unknownThread(id uint32) string { return fmt.Sprintf("(thread %d, description lost)", id) }

func (t *threadGroup) fill(row *ThreadRow) {
	row.RunExecutions, row.SelfWall, row.Busy = t.executions, t.selfWall, t.share()
	if t.cpuMeasured {
		row.SelfCPU = t.selfCPU
	}
}

// cost orders threads: total CPU time, or what its tasks used.
func (r *ThreadRow) cost() units.Ns {
	switch {
	case r.CPU.Measured():
		return r.CPU
	case r.SelfCPU.Measured():
		return r.SelfCPU
	}
	return 0
}

func (t *threadGroup) hotspot(th ThreadRow, work granularity.Metric, total units.Ns, executions int64) granularity.Hotspot {
	h := granularity.Hotspot{Executions: t.executions, Threads: 1}
	if t.group != nil {
		h = hotspot(t.group)
	}
	h.Thread, h.ThreadKind = th.Label(), th.Kind
	h.Work = t.selfWall
	if work == granularity.SelfCPU {
		h.Work = t.selfCPU
	}
	if total > 0 {
		h.WorkShare = float64(h.Work) / float64(total)
	}
	if executions > 0 {
		h.ExecutionShare = float64(h.Executions) / float64(executions)
	}
	return h
}
