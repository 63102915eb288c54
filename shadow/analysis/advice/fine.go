package advice

import (
	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// fineGrained finds classes whose tasks are too small, by units if they are known, else
// by executions.
func fineGrained(s *search) []Finding {
	var out []Finding
	if !s.unitsRead() {
		out = fineExecutions(s)
	}
	if s.Units == nil {
		return out
	}
	for i := range s.Units.Classes {
		c := &s.Units.Classes[i]
		if !c.ofProgram() || c.called() || c.Units < s.t.FineUnits || c.Pool < 0 || c.Self.Count() < s.t.FineUnits || !c.allFine(s.t) {
			continue
		}
		p := &s.Units.Pools[c.Pool]
		started := p.Threads && !p.Virtual || s.says(account.ThreadChurn, c.Name, p.Label)
		if p.To <= p.From || p.Foreign || started || p.runsAtOnce() || s.says(account.FineGrained, c.Name, p.Label) || s.says(account.SlowProducer, "", p.Label) {
			continue
		}
		if x := s.fineUnits(c, p); x != nil {
			out = append(out, *x)
		}
	}
	return out
}

// FineUnits are units of a class that are all tiny, with costly submissions.
type FineUnits struct {
	PoolName
	JDK        bool     `json:"jdk,omitempty"`
	Bulk       bool     `json:"bulk,omitempty"`
	Joins      bool     `json:"joins,omitempty"` // they submit and join their parts
	Site       string   `json:"site,omitempty"`
	Units      int64    `json:"units"`
	Summarised int64    `json:"summarised"`
	Median     units.Ns `json:"median_ns"`
	// Gap is the median time of a worker from one unit to the next; for parts inside a
	// unit that joins them, the first quartile. NotMeasured: unknown.
	Gap      units.Ns `json:"gap_ns"`
	Parts    bool     `json:"parts,omitempty"`
	Tiny     bool     `json:"tiny,omitempty"` // forking and joining them is most of their work, whatever it cost
	Overhead float64  `json:"overhead_share"` // of the workers' time while units wait or run, outside units and probes
	Probes   units.Ns `json:"probes_ns"`      // estimate: the pool's time that the profiler's own probes took
	Work     units.Ns `json:"pool_work_ns"`
	Active   units.Ns `json:"pool_active_ns"`
	Always   bool     `json:"-"`              // Active is all of the pool's time
	Waited   units.Ns `json:"cpu_wait_ns"`    // of a worker on average: for a processor
	Others   units.Ns `json:"other_units_ns"` // of a worker on average: inside units of other classes
	Lanes    int      `json:"lanes"`          // workers, at most one a processor
	// Producer is how long another thread of the program computes at least, if it
	// submitted all of them and a submission costs it 5 µs.
	Producer units.Ns `json:"producer_ns"`
}

// saves is the time in which units waited or ran, without the waiting for processors,
// less their work spread over the workers, the time inside units of other classes, or
// what another thread computes. The workers wait for the thread that submits the units.
func (e *FineUnits) saves() units.Ns {
	return e.Active - e.Waited - e.Probes - max(e.Work/units.Ns(e.Lanes), e.Others, e.Producer)
}

// fineUnits is the finding about a class of fine units, if its submissions are costly.
func (s *search) fineUnits(c *UnitClass, p *Pool) *Finding {
	active, always := p.active()
	probes := min(account.Probes(p.Units-p.Summarised, p.Summarised), active)
	inside := p.inside()
	if p.Summarised > 0 { // the wall time of recorded units has the probes of what is nested in them already
		inside = min(1, inside+float64(probes)/float64(max(1, active)))
	}
	e := &FineUnits{PoolName: p.PoolName, JDK: c.JDK, Bulk: c.Bulk, Joins: c.Joins, Site: c.Site, Units: c.Units, Summarised: c.Summarised,
		Median: c.Self.Quantile(500), Gap: usual(&p.Gaps, 500, s.t), Overhead: 1 - inside, Probes: probes, Work: p.Self, Active: active, Always: always,
		Lanes: max(1, min(p.Workers, s.Units.CPUs)), Producer: max(0, p.Beside-units.Ns(p.Units)*mostCost)}
	if n := units.Ns(p.Workers); n > 0 {
		e.Waited, e.Others = p.Waited/n, max(0, p.Wall-p.Waited-c.Wall)/n
	}
	if costly(e.Gap, e.Median, s.t) || inside < s.t.Busy {
		switch x := found(c.Name, e); {
		case float64(e.saves()) < s.t.FineGain*float64(s.time(s.Units.Duration)):
		case e.Joins:
			return x.insideWork()
		case s.account != nil: // it says what a worker does between two units
		default:
			return x.cannotTell(errBetween)
		}
	}
	// What the parts cost is inside units: it is no more than all that the pool does.
	most := max(p.Wall, p.Self) / units.Ns(e.Lanes)
	if inner := usual(&p.Inner, 250, s.t); costly(inner, e.Median, s.t) && float64(most) >= s.t.FineGain*float64(s.time(s.Units.Duration)) {
		e.Gap, e.Parts = inner, true
		return found(c.Name, e).insideWork()
	}
	// Of summarised tasks that fork and join their parts nothing shows when; but forking and joining cannot cost less.
	all := units.Ns(c.Units) * e.Median / units.Ns(e.Lanes)
	if e.Joins && 2*c.Summarised > c.Units && costly(leastFork, e.Median, s.t) && float64(all) >= s.t.FineGain*float64(s.time(s.Units.Duration)) {
		e.Gap, e.Tiny = units.NotMeasured, true
		return found(c.Name, e).insideWork()
	}
	return nil
}

// insideWork: submitting, joining and making the parts are in the units' own work, so that nothing says what they cost.
func (f *Finding) insideWork() *Finding {
	f.Worth = 0
	return f.cannotTell(errInside)
}

// ofProgram reports whether the program decides how fine the units are. It does not if
// the JDK submits them for itself.
func (c *UnitClass) ofProgram() bool { return !c.JDK || c.Bulk || c.Site != "" }

// called reports whether most units of a class were plain calls: nobody submitted them, and no worker took them from a queue. Tasks that
// split their work say that by their class.
func (c *UnitClass) called() bool { return !c.Joins && !c.Bulk && 2*c.Direct > c.Units }

// allFine reports whether units of a class hardly compute and hardly wait: larger units
// would only wait longer.
func (c *UnitClass) allFine(t Thresholds) bool {
	return c.Self.Quantile(500) < t.FineWork && c.Self.Quantile(990) < 10*t.FineWork && c.Self.Sum() < t.FineWork*units.Ns(max(1, c.Self.Count())) && c.OwnWall < t.FineWork
}

// runsAtOnce reports whether the executor runs tasks inside their submission, so that
// fewer submissions save nothing.
func (p *Pool) runsAtOnce() bool { return 2*p.AtOnce > p.Units-p.Summarised }

// active is the time during which submissions can cost something. It includes pauses in
// which nothing waits or runs, if they are the smaller part: a collection or a lost
// processor may have stopped the submitting threads.
func (p *Pool) active() (time units.Ns, always bool) {
	if span := units.Ns(p.To - p.From); 2*p.Active >= span {
		return span, true
	}
	return p.Active, false
}

// usual is a quantile of enough values, or NotMeasured.
func usual(v *granularity.Values, permille int, t Thresholds) units.Ns {
	if int64(v.Len()) < t.FineUnits/10 {
		return units.NotMeasured
	}
	return v.Quantile(permille)
}

// costly reports whether a submission costs a large part of the work.
func costly(cost, work units.Ns, t Thresholds) bool {
	return cost.Measured() && float64(cost) >= t.FineCost*float64(work)
}

// inside is the share of the workers' time inside units, while any unit waits or runs.
// Summarised units add only their self time.
func (p *Pool) inside() float64 {
	in := p.Wall
	if p.Summarised > 0 {
		in = p.Self
	}
	all := float64(p.Active) * float64(p.Workers)
	if all <= 0 {
		return 1
	}
	return min(1, float64(in)/all)
}
