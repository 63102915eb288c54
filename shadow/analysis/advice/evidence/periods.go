package evidence

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session/unit"
)

// periods are the runs of a task that was to run later than it was submitted.
type periods struct {
	class      uint32
	runs       int64
	started    units.MonoNs // of the latest run
	first, due units.MonoNs // when they were due
	threw      bool         // the latest run, and a future kept the exception
}

// period counts the runs of a task that runs again and again.
func (a *advisor) period(x *unit.Unit) {
	if !x.Delay.Measured() || !x.Queue.Measured() || x.Inside {
		return
	}
	p := a.periods[x.Root]
	due := x.Start - units.MonoNs(x.Queue)
	if p == nil {
		p = &periods{class: x.Class, first: due}
		a.periods[x.Root] = p
	}
	p.runs++
	if x.Start >= p.started {
		p.started, p.due, p.threw = x.Start, due, x.Threw && x.Swallowed
	}
}

// endedPeriodic lists the tasks with a period whose latest run ended with an exception: their executor runs them no more.
func (a *advisor) endedPeriodic() (list []advice.EndedPeriodic) {
	m := &a.s.Manifest
	for _, p := range a.periods {
		if !p.threw || p.runs < 2 || p.due <= p.first {
			continue
		}
		every := units.Ns(p.due-p.first) / units.Ns(p.runs-1)
		left := units.Ns(m.StartNs) + m.DurationNs - units.Ns(p.due)
		list = append(list, advice.EndedPeriodic{Class: a.className(p.class), Runs: p.runs, After: units.Ns(p.started - m.StartNs), Period: every, Missing: int64(left / max(1, every))})
	}
	slices.SortFunc(list, func(x, y advice.EndedPeriodic) int {
		return cmp.Or(cmp.Compare(y.Missing, x.Missing), cmp.Compare(x.Class, y.Class))
	})
	return list
}
