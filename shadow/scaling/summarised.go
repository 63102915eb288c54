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
}

// readSummaries adds the summarised tasks. Those of virtual threads are left out, as
// recorded ones are: their threads are not in the scheduling record.
func (t *tasks) readSummaries() error {
	var blocks []block
	err := t.s.Summaries(func(x *session.Summary) error {
		p, ok := t.index[x.Thread]
		if !ok || x.Flags&wire.SummaryVirtual != 0 {
			return nil
		}
		if x.Submissions > 0 {
			note(t.submitters, p, x.Class)
		}
		if x.Executions == 0 {
			return nil
		}
		b := block{onThread: onThread{x.Class, p}, Span: activity.Span{From: x.FromNs, To: x.ToNs}, end: x.LastEndNs}
		for i := range x.Measures {
			if m := &x.Measures[i]; m.Metric == wire.MetricSelfWall {
				b.self = m.SumNs
			}
		}
		blocks = append(blocks, b)
		if t.loop[x.Class] {
			t.loops[p] = true
			t.pooled[p] = t.pooled[p] || t.pool[x.Class]
			t.loopEnd[p] = max(t.loopEnd[p], x.LastEndNs)
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
		if !t.loop[b.class] && (t.loopEnd[b.thread] == 0 || b.end <= t.loopEnd[b.thread]) {
			t.addEnd(b)
			t.addTimes(b, free)
		}
	}
	return nil
}

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
func (t *tasks) addTimes(b block, free map[int]units.MonoNs) {
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
	t.ran[b.onThread] += units.Ns(float64(b.self) * float64(in) / float64(ran.Len()))
	if in > 0 && t.drives(b.thread) {
		t.did[b.onThread] = append(t.did[b.onThread], ran)
	}
}
