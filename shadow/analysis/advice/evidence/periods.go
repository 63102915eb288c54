package evidence

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// periods are the runs of a task that was to run later than it was submitted.
type periods struct {
	class      uint32
	runs       int64
	started    units.MonoNs // of the latest run
	first, due units.MonoNs // when they were due
	threw      bool         // the latest run, and a future kept the exception, or it ended the thread of a Timer
	timer      uint32       // the thread of its Timer; 0: it has none
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
		if t := a.s.ThreadByID(x.Thread); t != nil && t.Class == session.TimerThread {
			p.timer = x.Thread
		}
		a.periods[x.Root] = p
	}
	p.runs++
	if x.Start >= p.started {
		p.started, p.due, p.threw = x.Start, due, x.Threw && (x.Swallowed || p.timer != 0)
	}
}

// every is the mean time between the times at which its runs were due; 0: it ran once.
func (p *periods) every() units.Ns {
	if p.runs < 2 || p.due <= p.first {
		return 0
	}
	return units.Ns(p.due-p.first) / units.Ns(p.runs-1)
}

// missing is how many runs would have been due from the latest one to a moment.
func (p *periods) missing(end units.Ns) int64 {
	return int64((end - units.Ns(p.due)) / max(1, p.every()))
}

// endedPeriodic lists the tasks with a period whose latest run ended with an exception: their executor runs them no more.
func (a *advisor) endedPeriodic() (list []advice.EndedPeriodic, err error) {
	thrown, err := a.s.Thrown()
	if err != nil {
		return nil, err
	}
	m := &a.s.Manifest
	end := units.Ns(m.StartNs) + m.DurationNs
	for _, p := range a.periods {
		if !p.threw || p.every() == 0 {
			continue
		}
		list = append(list, advice.EndedPeriodic{Class: a.className(p.class), Runs: p.runs, After: units.Ns(p.started - m.StartNs), Period: p.every(), Missing: p.missing(end),
			Threw: most(thrown[p.class]), Timer: p.timer != 0, With: a.sameTimer(p, end)})
	}
	slices.SortFunc(list, func(x, y advice.EndedPeriodic) int {
		return cmp.Or(cmp.Compare(y.Missing, x.Missing), cmp.Compare(x.Class, y.Class))
	})
	return list, nil
}

// sameTimer are the other tasks with a period that the same Timer ran, and whose runs are missing as its thread ended.
func (a *advisor) sameTimer(of *periods, end units.Ns) (classes []string) {
	for _, p := range a.periods {
		if p != of && of.timer != 0 && p.timer == of.timer && p.every() > 0 && p.missing(end) >= 1 {
			classes = append(classes, a.className(p.class))
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}
