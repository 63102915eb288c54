package characterize

import (
	"errors"
	"fmt"
	"math"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/hpc"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
)

// Value is a statistic of a program, or of one run of it.
type Value struct {
	Number float64
	Why    string // not "": there is no number, and this is why
}

// Number is a value that is known.
func Number(v float64) Value { return Value{Number: v} }

// NotAvailable says why there is no value.
func NotAvailable(why string) Value { return Value{Number: math.NaN(), Why: why} }

// percent is a share of whole; none if whole is nothing.
func percent(part, whole float64, why string) Value {
	if !(whole > 0) {
		return NotAvailable(why)
	}
	return Number(100 * part / whole)
}

// Run has the statistics of one session, by code.
type Run map[string]Value

// Gather takes the statistics of a session. It opens and reads what they need once.
func Gather(s *session.Session) (Run, error) {
	f, err := factsOf(s)
	if err != nil {
		return nil, fmt.Errorf("statistics of session %s: %w", s.Manifest.Session, err)
	}
	run := Run{}
	for _, x := range statistics {
		if x.of != nil {
			run[x.Code] = x.of(f)
		}
	}
	return run, nil
}

// facts are what statistics are taken from. What a session lacks is nil, and a reason
// says why.
type facts struct {
	sum     *summary.Summary
	units   *summary.Summary
	noUnits string

	usage    *hpc.Usage
	counters *hpc.File

	kinds   map[string]bottle.Box // of the bottle graph
	noKinds string

	iterations   []float64 // their wall times, nanoseconds
	noIterations string
}

func factsOf(s *session.Session) (f *facts, err error) {
	f = &facts{}
	if f.sum, err = summary.Build(s, summary.Options{Brief: true}); err != nil {
		return nil, err
	}
	for _, read := range []func(*session.Session) error{f.readUnits, f.readProcess, f.readActivity, f.readIterations} {
		if err := read(s); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// unitsLimit bounds the executions of a session whose units are read: more take minutes.
const unitsLimit = 50_000_000

func (f *facts) readUnits(s *session.Session) (err error) {
	if f.sum.Tasks.Executions-f.sum.Tasks.Summarised > unitsLimit {
		f.noUnits = fmt.Sprintf("the session has more than %d recorded executions", unitsLimit)
		return nil
	}
	if f.units, err = summary.Build(s, summary.Options{Brief: true, Units: true}); err != nil {
		return err
	}
	if f.units.Tasks.Executions == 0 {
		f.units, f.noUnits = nil, "the program executed no units of work"
	}
	return nil
}

func (f *facts) readProcess(s *session.Session) (err error) {
	if f.usage, err = hpc.ReadUsage(s.Dir); err != nil {
		return err
	}
	f.counters, err = hpc.ReadFile(s.Dir)
	return err
}

func (f *facts) readActivity(s *session.Session) error {
	a, err := s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		f.noKinds = "the session has no scheduling record (shadow run --switches)"
		return nil
	}
	if err != nil {
		return err
	}
	graphs, err := bottle.Compute(a.Threads, a.Stream(a.From, a.To), activity.Span{From: a.From, To: a.To})
	if err != nil {
		return err
	}
	f.kinds = map[string]bottle.Box{}
	for _, b := range graphs[0].Group(bottle.ByKind).Boxes {
		f.kinds[b.Kind] = b
	}
	return nil
}

func (f *facts) readIterations(s *session.Session) error {
	set, err := iteration.Find(s, "")
	if err != nil {
		f.noIterations = err.Error()
		if errors.Is(err, iteration.ErrNone) {
			f.noIterations = "nothing marks its iterations (shadow run --marker REGEX)"
		}
		return nil
	}
	f.iterations = set.Times()
	return nil
}

// quantile chooses one of a distribution.
type quantile func(granularity.Distribution) float64

func p5(d granularity.Distribution) float64  { return float64(d.P5) }
func p50(d granularity.Distribution) float64 { return float64(d.P50) }
func p95(d granularity.Distribution) float64 { return float64(d.P95) }
