package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// SelfWait is what workers of a pool waited for tasks that they had handed over to
// the same pool themselves: such a task can need the very worker that waits for it.
type SelfWait struct {
	Waiting int64    // units that waited so
	Parts   int64    // units that they waited for
	Never   int64    // of these, not begun at the end of the session
	Time    units.Ns // how long the former were inside, not computing, while a part of theirs was queued
	Any     units.Ns // how long that was so of any of them
	CPU     units.Ns // of those that waited
	// Span is the time of the pool, up to the end of the session where something
	// still waited then.
	Span    units.Ns
	Class   string // of most of those that waited
	Workers int64  // of the pool, those inside units that had not ended included
}

// selfWaiting: workers wait for what is queued behind them in their own pool.
func (f *UnitFacts) selfWaiting(p *Pool, t Thresholds) (Finding, bool) {
	q := &p.Queued
	n := q.Workers
	if q.Waiting == 0 || q.Span < t.PoolTime || float64(q.Time-p.readyOf(q.CPU)) < t.SelfWait*float64(q.Span)*float64(n) {
		return Finding{}, false
	}
	x := Finding{Kind: Advice, Topic: "pool", Name: "self-wait", Class: q.Class}
	evidence := fmt.Sprintf("Workers of %s wait for tasks in its own queue: %s, of %s for the most, handed %s over to it and waited, for %s in all, while these were queued for one of its %s",
		p.name(), text.Plural(q.Waiting, "unit", "units"), readable(q.Class), text.Plural(q.Parts, "task", "tasks"), units.FormatNs(q.Time), text.Plural(n, "worker", "workers"))
	const remedy = "Run the inner tasks on another pool, join them in a fork/join pool, whose workers run them meanwhile, or go on in a completion stage in place of waiting"
	if q.Never > 0 {
		x.Text = fmt.Sprintf("%s; %s had not begun at the end, which is a deadlock if all workers wait so. %s.", evidence, text.Plural(q.Never, "task", "tasks"), remedy)
		return x, true
	}
	saved := q.Any
	if p.CPU.Measured() {
		saved = min(saved, q.Span-p.CPU/units.Ns(max(1, f.CPUs)))
	}
	x.Gain = bound(saved, f.Duration)
	x.Text = fmt.Sprintf("%s. %s: that can shorten the run by at most %s (%s).", evidence, remedy, units.FormatNs(max(0, saved)), f.ofRun(saved))
	return x, true
}

// readyOf is how long units waited for processors, if they did as much for each
// nanosecond that they computed as all of their pool.
func (p *Pool) readyOf(cpu units.Ns) units.Ns {
	if p.CPU <= 0 {
		return 0
	}
	return units.Ns(float64(orNone(p.Runnable)) * float64(cpu) / float64(p.CPU))
}
