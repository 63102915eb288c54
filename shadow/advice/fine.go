package advice

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// programs tells whether how fine the units are is the program's to change: not
// where the platform hands over what it needs itself.
func (c *UnitClass) programs() bool { return !c.JDK || c.Bulk || c.Site != "" }

// spawned begins a sentence about the tasks of the class, and of the platform's about
// what of the program they stand for.
func (c *UnitClass) spawned() string {
	switch {
	case c.Bulk:
		return fmt.Sprintf("The parts of a bulk operation of the program (a parallel stream), which the JDK cuts into %s, are", readable(c.Name))
	case c.JDK:
		return fmt.Sprintf("The tasks that the program hands over as %s are", readable(c.Name))
	}
	return fmt.Sprintf("The tasks of %s are", readable(c.Name))
}

// remedy is what to do about units too fine.
func (c *UnitClass) remedy() string {
	if c.Bulk {
		return "Give one call more elements, or more to do for each, and leave short ones sequential"
	}
	return "Give each task more of the work (batches, a higher threshold for splitting)"
}

// fineClasses names the classes all of whose units are so small that handing
// them over costs a good part of their work.
func (f *UnitFacts) fineClasses(t Thresholds) []Finding {
	var out []Finding
	for i := range f.Classes {
		c := &f.Classes[i]
		if !c.programs() || c.Units < t.FineUnits || c.Pool < 0 || c.Self.Count() < t.FineUnits || !c.allFine(t) {
			continue
		}
		if p := &f.Pools[c.Pool]; p.To > p.From && !p.churns(t) && !p.runsAtOnce() {
			if x, ok := f.fine(c, p, t); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// allFine tells whether the units of a class hardly compute, and do not wait
// instead: larger ones would wait for longer.
func (c *UnitClass) allFine(t Thresholds) bool {
	return c.Self.Quantile(500) < t.FineWork && c.Self.Quantile(990) < 10*t.FineWork && c.OwnWall < t.FineWork
}

// fine is the finding about a class of fine units, if handing them over is dear.
func (f *UnitFacts) fine(c *UnitClass, p *Pool, t Thresholds) (Finding, bool) {
	x := Finding{Kind: Advice, Topic: "fine", Name: "fine-grained", Class: c.Name}
	median := c.Self.Quantile(500)
	says := func(evidence string) string {
		return fmt.Sprintf("%s all fine-grained%s: %s%s with a median of %s of work, %s. %s",
			c.spawned(), c.at(), text.Plural(c.Units, "unit", "units"), c.countedText(), units.FormatNs(median), evidence, c.remedy())
	}
	gap := usual(&p.Gaps, 500, t)
	active, when := p.active()
	saved := active - p.Self/units.Ns(max(1, min(len(p.Workers), f.CPUs)))
	if dear(gap, median, t) || p.idles(t) {
		if float64(saved) >= t.FineGain*float64(f.Duration) {
			x.Gain = bound(saved, f.Duration)
			x.Text = fmt.Sprintf("%s: %s had %s of work in %s, so that can shorten the run by at most %s (%s).",
				says(p.gapText(gap)), p.name(), units.FormatNs(p.Self), when, units.FormatNs(max(0, saved)), f.ofRun(saved))
			return x, true
		}
	}
	if inner := usual(&p.Inner, 250, t); dear(inner, median, t) {
		x.Text = says(fmt.Sprintf("while a task that waits for its parts takes %s or more from one to the next, three times of four", units.FormatNs(inner))) +
			"; what that costs is part of the tasks' own work, so no gain is told."
		return x, true
	}
	return x, false
}

// runsAtOnce tells whether an executor is a call by another name: it runs what it is
// given before it returns, so that nothing is saved by giving it less often.
func (p *Pool) runsAtOnce() bool { return 2*p.AtOnce > p.Units }

// active is the time in which handing over can have cost something, in words too.
// Pauses in which nothing waits or runs are no part of it, unless they are the lesser
// part: what stops those who hand over for a moment, a collection or a processor taken
// away, is no pause of the program's, and may be longer for each hand-over saved.
func (p *Pool) active() (units.Ns, string) {
	if span := units.Ns(p.To - p.From); 2*p.Active >= span {
		return span, units.FormatNs(span)
	}
	return p.Active, fmt.Sprintf("the %s in which any waited or ran", units.FormatNs(p.Active))
}

// usual is a quantile of what was measured often enough, or NotMeasured.
func usual(v *granularity.Values, permille int, t Thresholds) units.Ns {
	if int64(v.Len()) < t.FineUnits/10 {
		return units.NotMeasured
	}
	return v.Quantile(permille)
}

// dear tells whether a hand-over costs a good part of the work.
func dear(cost, work units.Ns, t Thresholds) bool {
	return cost.Measured() && float64(cost) >= t.FineCost*float64(work)
}

// inside is the part of its workers' time that units take while any waits or runs;
// of summarised ones only what they computed is known.
func (p *Pool) inside() float64 {
	in := p.Wall
	if p.Counted > 0 {
		in = p.Self
	}
	all := float64(p.Active) * float64(len(p.Workers))
	if all <= 0 {
		return 1
	}
	return min(1, float64(in)/all)
}

// idles tells whether the workers are mostly not inside units though some wait or run.
func (p *Pool) idles(t Thresholds) bool { return p.inside() < t.Busy }

// gapText says what handing over costs a worker, where it could be measured.
func (p *Pool) gapText(gap units.Ns) string {
	if gap.Measured() {
		return fmt.Sprintf("while a worker takes a median of %s from one to the next that waits", units.FormatNs(gap))
	}
	does := "are inside units"
	if p.Counted > 0 {
		does = "compute in units"
	}
	return fmt.Sprintf("and while any waits or runs, its workers %s %s of the time", does, units.FormatPercent(p.inside()))
}

// countedText says that what is told of a class rests on counts in part.
func (c *UnitClass) countedText() string {
	if c.Counted == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of them summarised)", share(c.Counted, c.Units))
}
