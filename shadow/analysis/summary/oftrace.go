package summary

import (
	"errors"
	"sync/atomic"

	"stackagent/granularity"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// ErrTraceUnits is a summary of one trace in units of work.
var ErrTraceUnits = errors.New("a trace has executions, not units of work")

// notOfTrace is why a figure of the whole run is not in a summary of one trace.
const notOfTrace = "not known of a single trace"

// Trace says what a summary of one trace is of.
type Trace struct {
	Any   bool  // the session knows the trace of any task
	All   int64 // executions that were in it, if only for a part, of all classes
	Parts int64 // executions of the classes that pass the filter that were in this one and in others: they are left out
}

// scanTrace reads the executions of the trace that is asked for; nil: none is.
func (a *analysis) scanTrace() (*session.TraceScan, error) {
	id, err := store.ParseTraceID(a.opts.Filter.Trace)
	if err != nil {
		return nil, err
	}
	return a.s.TraceScan(id)
}

// ofTrace limits a source to the executions of a trace, if one is asked for. What is of the whole run is not in it.
func (a *analysis) ofTrace(src *Source) error {
	if a.opts.Filter.Trace == "" {
		return nil
	}
	if a.opts.Units {
		return ErrTraceUnits
	}
	t, err := a.trace()
	if err != nil {
		return err
	}
	src.Executions, src.Part = t.Scan, true
	src.Pauses, src.Own, src.Activity, src.Observed = nil, nil, nil, nil
	src.Uncounted = map[string]string{store.NoCreations: notOfTrace, store.NoPauses: notOfTrace}
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) { return nil, session.ClassCounts{}, nil }
	src.Summaries = func(func(*session.Summary) error) error { return nil }
	src.Fates = func() (map[uint32]map[session.TaskState]int64, error) { return nil, nil }
	return nil
}

// leaveRun leaves out of a summary of one trace what is about the whole run.
func (a *analysis) leaveRun(sum *Summary) error {
	if a.opts.Filter.Trace == "" {
		return nil
	}
	t, err := a.trace()
	if err != nil {
		return err
	}
	sum.Trace = &Trace{Any: t.Any(), All: t.Executions() + t.Parts()}
	if sum.Trace.Parts, err = a.partsOf(t); err != nil {
		return err
	}
	sum.Balance, sum.Refusals, sum.Findings = nil, []store.Refusal{}, []advice.Finding{}
	sum.GC.NoStandstill = notOfTrace
	if !t.Any() && sum.NotAvailable[store.NoExecutions] == "" {
		sum.NotAvailable[store.NoExecutions] = a.s.WhyNoTraces()
	}
	for _, rows := range [][]granularity.Hotspot{sum.Rows, sum.ThreadRows} {
		for i := range rows {
			rows[i].NoCreations, rows[i].NoSubmissions = true, true
		}
	}
	return nil
}

// partsOf counts the executions that were in the trace for a part only, and whose classes pass the filter.
func (a *analysis) partsOf(t *session.TraceScan) (int64, error) {
	f := a.opts.Filter
	if !f.App && f.Class == "" || t.Parts() == 0 {
		return t.Parts(), nil
	}
	src := FromSession(a.s)
	src.Executions = t.ScanParts
	names, err := a.named()
	if err != nil {
		return 0, err
	}
	if names != nil {
		name(&src, names, false)
	}
	passes := map[uint32]bool{}
	for _, c := range src.Classes {
		passes[c.ID] = f.MatchNamed(c.Name, src.TaskClass[c.Name], c.Kinds)
	}
	var n atomic.Int64
	err = src.Executions(store.ExecutionClass, func(_ int, c *session.Chunk) error {
		for _, class := range c.Class {
			if passes[class] {
				n.Add(1)
			}
		}
		return nil
	})
	return n.Load(), err
}
