package advice

import "stackagent/internal/units"

// SlowProducer is a pool whose workers idle because one thread computes before each of
// the units that it submits.
type SlowProducer struct {
	PoolName
	Thread  string   `json:"thread"`
	Units   int64    `json:"units"`
	Workers int64    `json:"workers"`
	Inside  float64  `json:"inside_share"` // of the workers' time, inside units
	Span    units.Ns `json:"pool_time_ns"`
	Ready   units.Ns `json:"cpu_wait_ns"` // of the thread, for a processor
	Ran     units.Ns `json:"ran_ns"`      // by the thread
	Own     units.Ns `json:"own_ns"`      // of Ran, as far as submissions cannot have cost it
	Work    units.Ns `json:"work_ns"`     // CPU time of the units
	CPUs    int      `json:"cpus"`
}

// saves is the pool's time, without the thread's waiting for a processor, less its work and
// that of the units on all processors.
func (e *SlowProducer) saves() units.Ns {
	return e.Span - e.Ready - (e.Ran+e.Work)/units.Ns(e.CPUs)
}

// slowProducer: one thread submits the units and computes nearly all the time, mostly for
// itself, while the workers mostly have nothing to do.
func slowProducer(s *search, p *Pool, span units.Ns) *Finding {
	if p.Threads || p.Units < s.t.FineUnits || !p.CPU.Measured() || p.Beside == nil || p.Beside.Submitter == nil || p.runsAtOnce() {
		return nil
	}
	by, inside := p.Beside.Submitter, occupied(p, span)
	own := float64(max(1, span-by.Ready))
	e := &SlowProducer{p.PoolName, by.Thread, p.Units, int64(len(p.Workers)), inside, span, by.Ready, by.Ran, by.Ran - units.Ns(p.Units)*mostCost, p.CPU, s.Units.CPUs}
	if float64(by.Ran) < s.t.Busy*own || float64(e.Own) < own/2 || inside >= 1-s.t.Busy+s.t.WaitShare {
		return nil
	}
	return found(p.LongestClass, e, ProducerShared)
}
