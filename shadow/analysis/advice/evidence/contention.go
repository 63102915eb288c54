package evidence

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
)

// longWait is the shortest wait for a processor that counts. Waking up on an idle processor takes less.
const longWait = units.MonoNs(1_000_000)

// mostBeside is of how many pools it is found what other threads computed meanwhile: each slice of the record is looked at for each of them.
const mostBeside = 64

// taken is the processor time that other programs used while threads of the process waited for a processor. A processor that no thread of the
// process uses, by the record, is used by others if one waits for it. A thread whose state is unknown may have had one: what is left is
// certainly others'. use is shown each slice.
func taken(record activity.Stream, threads int, span activity.Span, cpus int, use func(*activity.Slice)) (units.Ns, error) {
	busy, ready, now, sum := 0, 0, units.MonoNs(0), units.Ns(0)
	advance := func(to units.MonoNs) {
		length := activity.Span{From: now, To: to}.Cut(span).Len()
		sum += length * units.Ns(max(0, min(ready, cpus-busy)))
		now = to
	}
	count := func(s *activity.Slice, by int) {
		if s.State == activity.Runnable {
			ready += by
		} else {
			busy += by
		}
	}
	err := activity.Sweep(record, threads, func(s *activity.Slice) bool {
		use(s)
		return s.State == activity.Running || s.State == activity.Unknown || s.State == activity.Runnable && s.To-s.From >= longWait
	}, advance, count)
	return sum, err
}

// machine sets what other programs took of the processors, and what other threads computed beside the pools with the most units.
func (a *advisor) machine(f *advice.UnitFacts, pools []*poolSum, t advice.Thresholds) {
	f.Taken = units.NotMeasured
	if a.times == nil || f.CPUs <= 0 {
		return
	}
	record, err := a.s.Activity()
	if err != nil {
		return // as without a record
	}
	pools = slices.DeleteFunc(slices.Clone(pools), func(p *poolSum) bool { return p.Units < t.FineUnits })
	slices.SortStableFunc(pools, func(x, y *poolSum) int { return cmp.Compare(y.Units, x.Units) })
	pools = pools[:min(len(pools), mostBeside)]
	if len(pools) == 0 && float64(a.ready()) < t.Taken*float64(f.CPUs)*float64(f.Duration) {
		return // too little waiting for any finding
	}
	beside := make([]map[uint32]units.Ns, len(pools)) // by thread of the record: what it computed
	for i := range beside {
		beside[i] = map[uint32]units.Ns{}
	}
	span := activity.Span{From: record.From, To: record.To}
	n, err := taken(record.Stream(record.From, record.To), len(a.times.Threads), span, f.CPUs, func(s *activity.Slice) {
		by := a.times.Threads[s.Thread].Carried
		if s.State != activity.Running || by == nil {
			return
		}
		for i, p := range pools {
			if _, works := p.workers[by.ID]; !works {
				beside[i][s.Thread] += activity.Span{From: s.From, To: s.To}.Cut(activity.Span{From: p.From, To: p.To}).Len()
			}
		}
	})
	if err != nil {
		return
	}
	f.Taken, f.Recorded = n, span.Len()
	for i, p := range pools {
		for _, ran := range beside[i] {
			p.Beside = max(p.Beside, ran)
		}
	}
}

// Machine gathers what other programs took of the processors, without reading units.
func Machine(s *session.Session, t advice.Thresholds) *advice.UnitFacts {
	a := &advisor{s: s}
	a.waited()
	f := &advice.UnitFacts{Duration: s.Manifest.DurationNs, CPUs: s.Manifest.JVM.CPUs}
	a.machine(f, nil, t)
	a.collected(f, t)
	return f
}

// ready is how long all threads together waited for a processor.
func (a *advisor) ready() (sum units.Ns) {
	for i := range a.times.Threads {
		sum += a.times.Threads[i].States[sched.Runnable]
	}
	return sum
}
