package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// serialised: all workers are inside units, and just one at a time gets on. Tasks
// that have nothing to do with one another do not fall in with each other like
// that: where one of them or more wants a processor nine tenths of the time by
// chance, two or more do for 0.46 of it (of two workers; of many for 0.67). Threads
// of which one has more to do than the others are uneven; workers that take from one
// queue are that where one gets the lock again and again.
func (f *UnitFacts) serialised(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	n := len(p.Workers)
	if n < 2 || f.CPUs < 2 || p.Units < t.PoolUnits || !p.CPU.Measured() || p.work() < t.PoolTime || occupied(p, span) < t.Busy || p.Threads && p.unevenly(t) ||
		!p.One.Measured() || float64(p.One+p.Several) < (1+t.Busy)/2*float64(span) || float64(p.Several) > t.OneAtATime*float64(span) {
		return Finding{}, false
	}
	saved := span - p.CPU/units.Ns(min(n, f.CPUs))
	return Finding{
		Kind: Advice, Topic: "pool", Name: "one-at-a-time", Class: p.LongestClass, Gain: bound(saved, f.Duration),
		Text: fmt.Sprintf("The %s of %s run one at a time: its %s are inside units %s of their time, but for %s of it just one computes or wants a processor, and two or more for %s. "+
			"They wait for one another, as for a lock: hold that for less of the work, or divide what it guards: that can shorten the run by at most %s (%s).",
			text.Plural(p.Units, "unit", "units"), p.name(), text.Plural(n, "worker", "workers"), units.FormatPercent(min(1, occupied(p, span))),
			units.FormatPercent(float64(p.One)/float64(span)), units.FormatPercent(float64(p.Several)/float64(span)),
			units.FormatNs(max(0, saved)), f.ofRun(saved)),
	}, true
}
