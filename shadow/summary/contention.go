package summary

import (
	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// contended is a pool whose wish for processors is looked at.
type contended struct {
	span  activity.Span
	ready int64 // workers that wait for a processor now
	// taken is the processor time that other programs had while workers waited
	// for it, and wait the part of the workers' waiting that they caused.
	taken, wait float64
}

// contention finds what other programs had of cpus processors while workers of
// pools waited for one: what the observed process did not use itself, its
// collectors and compilers included, at most as much as workers waited. Of their
// waiting they caused the share that they had of the processors. of is the pool of
// each thread of the record, -1: none. What the record does not know of the
// process counts as others'.
func contention(slices activity.Stream, of []int, pools []contended, cpus int) error {
	var ends activity.Ends
	state := make([]activity.State, len(of))
	running, now := 0, units.MonoNs(0)
	advance := func(to units.MonoNs) {
		free := max(0, cpus-running)
		for i := range pools {
			p := &pools[i]
			if p.ready == 0 || free == 0 {
				continue
			}
			ns := float64(activity.Span{From: now, To: to}.Cut(p.span).Len())
			p.taken += ns * float64(min(p.ready, int64(free)))
			p.wait += ns * float64(p.ready) * float64(free) / float64(cpus)
		}
		now = to
	}
	count := func(thread uint32, by int) {
		switch i := of[thread]; state[thread] {
		case activity.Running:
			running += by
		case activity.Runnable:
			if i >= 0 {
				pools[i].ready += int64(by)
			}
		}
	}
	until := func(to units.MonoNs) {
		for len(ends) > 0 && ends[0].At <= to {
			e := ends.Next()
			advance(e.At)
			count(e.Thread, -1)
		}
	}
	err := slices(func(s activity.Slice) error {
		if s.State != activity.Running && s.State != activity.Runnable || int(s.Thread) >= len(of) {
			return nil
		}
		until(s.From)
		advance(s.From)
		state[s.Thread] = s.State
		count(s.Thread, 1)
		ends.Add(activity.End{At: s.To, Thread: s.Thread})
		return nil
	})
	for len(ends) > 0 {
		until(ends[0].At)
	}
	return err
}

// others tells the pools with many workers what other programs took of the
// processors, where the scheduling record has it.
func (a *advisor) others(f *granularity.UnitFacts, workers [][]uint32, t granularity.Thresholds) {
	pool := map[uint32]int{} // by thread
	var pools []contended
	var which []int
	for i := range f.Pools {
		p := &f.Pools[i]
		if f.CPUs <= 0 || !p.Runnable.Measured() || float64(len(p.Workers)) < t.Crowd*float64(f.CPUs) {
			continue
		}
		for _, thread := range workers[i] {
			pool[thread] = len(pools)
		}
		pools, which = append(pools, contended{span: activity.Span{From: p.From, To: p.To}}), append(which, i)
	}
	if len(pools) == 0 || a.times == nil {
		return
	}
	of := make([]int, len(a.times.Threads))
	for i := range of {
		of[i] = -1
		if c := a.times.Threads[i].Carried; c != nil {
			if n, ok := pool[c.ID]; ok {
				of[i] = n
			}
		}
	}
	record, err := a.s.Activity()
	if err != nil {
		return // the pools are judged as without a record
	}
	if contention(record.Stream(record.From, record.To), of, pools, f.CPUs) != nil {
		return
	}
	for n, i := range which {
		f.Pools[i].Taken, f.Pools[i].TakenWait = units.Ns(pools[n].taken), units.Ns(pools[n].wait)
	}
}
