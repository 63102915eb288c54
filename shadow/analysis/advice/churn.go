package advice

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
)

// atOnce is the greatest number of workers alive at the same time. A pool of short-lived
// threads has many workers, but few at once.
func (p *Pool) atOnce() int {
	type change struct {
		at units.MonoNs
		by int
	}
	var changes []change
	for i := range p.Workers {
		w := &p.Workers[i]
		changes = append(changes, change{w.From, 1}, change{max(w.To, w.From+1), -1})
	}
	// At equal times, ends count before starts.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// churns reports whether threads live for one or two units each, and starting one costs
// a large part of its work. The shortest start of so many includes no wait for a
// processor.
func (p *Pool) churns(t Thresholds) bool {
	n := int64(len(p.Workers))
	return !p.Virtual && n >= max(1, t.Churn) && p.Units <= 2*n && int64(p.atOnce()) <= n/4 &&
		p.Queue.Len() > 0 && p.Wait.Len() > 0 && float64(p.Queue.Min()) >= t.FineCost*float64(p.Wait.Quantile(500))
}

// Churn is a new thread for each small task.
type Churn struct {
	PoolName
	Started int64    `json:"threads_started"`
	AtOnce  int      `json:"threads_at_once"`
	Unit    units.Ns `json:"median_unit_ns"`
	Start   units.Ns `json:"least_queue_ns"`
	Active  units.Ns `json:"pool_active_ns"`
	Demand  units.Ns `json:"demand_ns"` // CPU time of the units, and their waiting for a processor
	Lanes   int      `json:"lanes"`     // threads at once, at most one a processor
}

// saves is the time in which a thread was starting, running or ending, less what the
// units take on as many workers.
func (e *Churn) saves() units.Ns { return e.Active - e.Demand/units.Ns(e.Lanes) }

func churn(s *search, p *Pool, _ units.Ns) *Finding {
	if !p.churns(s.t) {
		return nil
	}
	active, _ := p.active()
	e := &Churn{PoolName: p.PoolName, Started: int64(len(p.Workers)), AtOnce: p.atOnce(), Unit: p.Wait.Quantile(500), Start: p.Queue.Min(),
		Active: active, Demand: p.demand(), Lanes: max(1, min(p.atOnce(), s.Units.CPUs))}
	if float64(e.saves()) < s.t.FineGain*float64(s.time(s.Units.Duration)) {
		return nil
	}
	return found(p.LongestClass, e)
}
