package scaling

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// block is what a summary says about the tasks of one class on one thread: how long
// they ran, and when the last one ended.
type block struct {
	onThread
	activity.Span // of the summary
	end           units.MonoNs
	self          units.Ns
	only          units.Ns // the time of the execution, if it is a single one
}

// readSummaries adds the summarised tasks. Those of virtual threads are left out, as
// recorded ones are: their threads are not in the scheduling record.
func (t *tasks) readSummaries() error {
	var blocks []block
	loop := map[int]units.Ns{} // the time of the thread's only loop
	err := t.s.Summaries(func(x *session.Summary) error {
		p, ok := t.index[x.Thread]
		if !ok || x.Virtual() {
			return nil
		}
		if x.Executions == 0 {
			return nil
		}
		b := block{onThread: onThread{x.Class, p}, Span: activity.Span{From: x.FromNs, To: x.ToNs}, end: x.LastEnd()}
		for i := range x.Measures {
			switch m := &x.Measures[i]; {
			case m.Metric == wire.MetricSelfWall:
				b.self = m.SumNs
			case m.Metric == wire.MetricWall && x.Executions == 1:
				b.only = m.SumNs
			}
		}
		blocks = append(blocks, b)
		if t.loop[x.Class] && x.Executions == 1 {
			loop[p] = max(loop[p], b.only)
		}
		if t.loop[x.Class] {
			t.loops[p] = true
			t.pooled[p] = t.pooled[p] || t.pool[x.Class]
			t.loopEnd[p] = max(t.loopEnd[p], x.LastEnd())
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("session %s: reading the summaries of its tasks: %w", t.s.Manifest.Session, err)
	}
	// The last ones first.
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.end, a.end) })
	free := map[int]units.MonoNs{}
	for _, b := range blocks {
		// After a loop only the JVM's own cleaners run.
		if t.mounts[b.class] {
			t.addEnd(b)
		}
		if !t.loop[b.class] && (t.loopEnd[b.thread] == 0 || b.end <= t.loopEnd[b.thread]) {
			t.addEnd(b)
			t.addTimes(b, free, float64(b.only) >= bodyShare*float64(loop[b.thread]) && loop[b.thread] > 0)
		}
	}
	return nil
}

// bodyShare is the share of a loop from which a summarised execution is taken to be the body of the thread.
const bodyShare = 0.99

// addEnd notes when the block's last task ended.
func (t *tasks) addEnd(b block) {
	for i, span := range t.spans {
		last := &t.last[1][i][b.thread]
		switch {
		case b.From >= span.To || b.To <= span.From:
		case b.end == 0:
			t.endsUnknown = true
		case b.end > span.To: // whether one ended before is not known
			t.endsLate = true
			*last = span.To
		case b.end > span.From:
			*last = max(*last, b.end)
		}
	}
}

// addTimes adds the block's self time. The thread is taken to have run the tasks back
// to back, up to the end of the last one or to the block that was placed before.
func (t *tasks) addTimes(b block, free map[int]units.MonoNs, isBody bool) {
	to := cmp.Or(b.end, b.To)
	if next, ok := free[b.thread]; ok {
		to = min(to, next)
	}
	ran := activity.Span{From: max(b.From, to-units.MonoNs(b.self)), To: to}
	if ran.Len() == 0 {
		return
	}
	free[b.thread] = ran.From
	in := units.Ns(0)
	for _, span := range t.spans {
		in += ran.Cut(span).Len()
	}
	self := units.Ns(float64(b.self) * float64(in) / float64(ran.Len()))
	t.ran[b.onThread] += self
	if isBody {
		have := t.body[b.onThread]
		t.body[b.onThread] = body{have.ran + self, append(have.times, ran)}
		return
	}
	if in > 0 && t.drives(b.thread) {
		t.did[b.onThread] = append(t.did[b.onThread], ran)
	}
}
