package scaling

import (
	"fmt"
	"math"

	"stackagent/granularity/activity"
	"stackagent/granularity/lbo"
	"stackagent/hpc"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Costs is what a run cost and which part of it is due to the collector, as lower-bound overheads need it
// ("Rethinking Java Performance Analysis", section 4.5): time on the wall, and CPU time of all threads of the JVM.
type Costs struct {
	Run lbo.Run
	// NotAvailable says what is NaN in Run, and why.
	NotAvailable map[string]string
}

// CostsOf computes what a region of a session cost. The collector's part is
//
//	wall, plain:    the length of the pauses
//	CPU, plain:     the running time of all threads in them
//	wall, tighter:  also the waits of the program's threads for the collector outside pauses, each weighing 1 over the
//	                number of the program's threads, as it delays one of them
//	CPU, tighter:   also the running time of the collector's threads outside pauses
//
// The total of a whole session is that of the process, from its start to its end.
func CostsOf(s *session.Session, r Region) (*Costs, error) {
	c := &Costs{NotAvailable: map[string]string{}}
	for clock := range c.Run {
		c.Run[clock] = lbo.Cost{Total: math.NaN(), Collector: [lbo.NBounds]float64{math.NaN(), math.NaN()}}
	}
	a, err := s.Activity()
	if err != nil {
		if !r.Whole() {
			return nil, err // the region's CPU time is not known without it
		}
		c.NotAvailable["the collector's part of the CPU time"] = err.Error()
	}
	spans := []activity.Span{{From: s.Manifest.StartNs, To: s.Manifest.EndNs}}
	if a != nil {
		if spans, err = r.spans(s, activity.Span{From: a.From, To: a.To}); err != nil {
			return nil, err
		}
	}
	wall := &c.Run[lbo.Wall]
	wall.Total, wall.Collector[lbo.Plain] = 0, 0
	for _, span := range spans {
		wall.Total += float64(span.Len())
		wall.Collector[lbo.Plain] += float64(s.Stopped().In(span.From, span.To))
	}
	if a != nil {
		if err := c.fromActivity(a, s, spans); err != nil {
			return nil, err
		}
	}
	if r.Whole() {
		return c, c.wholeProcess(s)
	}
	return c, nil
}

// wholeProcess takes the totals from the kernel's account of the process.
func (c *Costs) wholeProcess(s *session.Session) error {
	u, err := hpc.ReadUsage(s.Dir)
	switch {
	case err != nil:
		return err
	case u == nil:
		c.NotAvailable["start and end of the process"] = "the session has no account of the whole process; the total is that of the time between the agent's first word and its last"
		return nil
	}
	c.Run[lbo.Wall].Total, c.Run[lbo.CPU].Total = float64(u.Wall), float64(u.CPU())
	return nil
}

func (c *Costs) fromActivity(a *session.Activity, s *session.Session, spans []activity.Span) error {
	var total, stopped, concurrent, stalls units.Ns
	pauses := s.Stopped()
	program := map[uint32]bool{}
	for _, span := range spans {
		err := a.Stream(span.From, span.To)(func(sl activity.Slice) error {
			if sl.State != activity.Running {
				return nil
			}
			ran := activity.Span{From: sl.From, To: sl.To}
			in := pauses.In(sl.From, sl.To)
			total += ran.Len()
			stopped += in
			switch a.Threads[sl.Thread].Kind {
			case activity.KindGC:
				concurrent += ran.Len() - in
			case activity.KindApplication, activity.KindMain:
				program[sl.Thread] = true
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("session %s: %w", s.Manifest.Session, err)
		}
		all, why, err := a.Stalls(span.From, span.To)
		if err != nil {
			return err
		}
		if why != "" {
			c.NotAvailable["stalls, in the tighter bound on the wall"] = why
			stalls = units.NotMeasured
			continue
		}
		for _, st := range all {
			stalled := st.Cut(span)
			stalls += stalled.Len() - pauses.In(stalled.From, stalled.To)
		}
	}
	cpu := &c.Run[lbo.CPU]
	cpu.Total = float64(total)
	cpu.Collector = [lbo.NBounds]float64{lbo.Plain: float64(stopped), lbo.Tighter: float64(stopped + concurrent)}
	if wall := &c.Run[lbo.Wall]; stalls.Measured() {
		wall.Collector[lbo.Tighter] = wall.Collector[lbo.Plain] + float64(stalls)/float64(max(1, len(program)))
	}
	return nil
}
