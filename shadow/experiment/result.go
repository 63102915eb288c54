package experiment

import (
	"time"

	"stackagent/hpc"
	"stackagent/shadow/view"
)

// Failure says in one word how a run failed.
type Failure string

// How a run fails.
const (
	Fine        Failure = ""
	OutOfMemory Failure = "out of memory"
	TimeOut     Failure = "time-out"
	Signal      Failure = "signal"
	ExitCode    Failure = "exit code"
	NoJVM       Failure = "no JVM" // the JVM refused its options, or never started
	OtherHeap   Failure = "heap"   // the JVM did not have the heap of the experiment
	Check       Failure = "check"  // its output lacks the line that a good run has
)

// Outcome is how a run ended.
type Outcome struct {
	Code    int       `json:"exit_code"`
	Failure Failure   `json:"failure"`
	Why     string    `json:"why,omitempty"` // one line about the failure
	Usage   hpc.Usage `json:"usage"`
}

// Failed reports whether the run failed.
func (o *Outcome) Failed() bool { return o.Failure != Fine }

// Result is a run that ended, well or not.
type Result struct {
	Point      Point     `json:"point"`
	Invocation int       `json:"invocation"` // from 1; 0 and below: a warm-up, whose session is not kept
	Attempt    int       `json:"attempt"`    // from 1; more than 1: the ones before were disturbed
	Folder     string    `json:"folder"`     // within the experiment's
	Started    time.Time `json:"started"`
	Outcome
	Machine Machine `json:"machine"`
	// Disturbed says what else was going on, "" if nothing above the bound.
	Disturbed string `json:"disturbed,omitempty"`
}

// Columns are those of results.parquet, which has a row for each run.
func Columns(factors ...string) []view.Column[*Result] {
	type column = view.Column[*Result]
	var out []column
	for _, f := range factors {
		out = append(out, column{Name: f, Kind: view.Name, Doc: "value of the factor", Value: func(r *Result) view.Value { return view.NameOf(r.Point.Of(f)) }})
	}
	number := func(name string, unit view.Unit, doc string, of func(*Result) int64) column {
		return column{Name: name, Kind: view.Int, Unit: unit, Doc: doc, Value: func(r *Result) view.Value { return view.IntOf(of(r)) }}
	}
	share := func(name, doc string, of func(*Result) *float64) column {
		return column{Name: name, Kind: view.Float, Unit: view.Share, Optional: true, Doc: doc, Value: func(r *Result) view.Value {
			if v := of(r); v != nil {
				return view.FloatOf(*v)
			}
			return view.Null
		}}
	}
	return append(out,
		number("invocation", view.Plain, "which run of the point, from 1", func(r *Result) int64 { return int64(r.Invocation) }),
		number("attempt", view.Plain, "more than 1: the ones before were disturbed", func(r *Result) int64 { return int64(r.Attempt) }),
		column{Name: "folder", Kind: view.Name, Doc: "the run's folder", Value: func(r *Result) view.Value { return view.NameOf(r.Folder) }},
		number("started_unix_ns", view.Plain, "when it was started", func(r *Result) int64 { return r.Started.UnixNano() }),
		number("wall_ns", view.Ns, "from start to end", func(r *Result) int64 { return int64(r.Usage.Wall) }),
		number("user_ns", view.Ns, "CPU time in user mode", func(r *Result) int64 { return int64(r.Usage.User) }),
		number("system_ns", view.Ns, "CPU time in the kernel", func(r *Result) int64 { return int64(r.Usage.System) }),
		number("minor_faults", view.Count, "page faults without a disk", func(r *Result) int64 { return r.Usage.MinorFaults }),
		number("major_faults", view.Count, "page faults that read a disk", func(r *Result) int64 { return r.Usage.MajorFaults }),
		number("voluntary_switches", view.Count, "context switches of threads that wait", func(r *Result) int64 { return r.Usage.Voluntary }),
		number("involuntary_switches", view.Count, "context switches of threads that could go on", func(r *Result) int64 { return r.Usage.Involuntary }),
		column{Name: "max_resident_bytes", Kind: view.Int, Optional: true, Doc: "most memory in use", Value: func(r *Result) view.Value {
			if r.Usage.MaxResident == nil {
				return view.Null
			}
			return view.IntOf(*r.Usage.MaxResident)
		}},
		number("exit_code", view.Plain, "of the command; 128 + the signal's number", func(r *Result) int64 { return int64(r.Code) }),
		column{Name: "failure", Kind: view.Word, Doc: "how it failed; empty: it did not", Value: func(r *Result) view.Value { return view.WordOf(string(r.Failure)) }},
		column{Name: "why", Kind: view.Name, Doc: "one line about the failure", Value: func(r *Result) view.Value { return view.NameOf(r.Why) }},
		column{Name: "load", Kind: view.Float, Unit: view.Factor, Optional: true, Doc: "load average of the last minute before it", Value: func(r *Result) view.Value {
			if r.Machine.Load == nil {
				return view.Null
			}
			return view.FloatOf(*r.Machine.Load)
		}},
		share("others", "share of the machine's CPU time that other programs took", func(r *Result) *float64 { return r.Machine.Others }),
		share("stolen", "share of the machine's CPU time that interrupts and the hypervisor took", func(r *Result) *float64 { return r.Machine.Stolen }),
		column{Name: "mhz", Kind: view.Float, Unit: view.Factor, Optional: true, Doc: "mean clock rate of the CPUs, before and after", Value: func(r *Result) view.Value {
			if r.Machine.MHz == nil {
				return view.Null
			}
			return view.FloatOf(*r.Machine.MHz)
		}},
		column{Name: "throttled", Kind: view.Int, Unit: view.Count, Optional: true, Doc: "times that CPUs were slowed down for their heat", Value: func(r *Result) view.Value {
			if r.Machine.Throttled == nil {
				return view.Null
			}
			return view.IntOf(*r.Machine.Throttled)
		}},
		column{Name: "disturbed", Kind: view.Word, Doc: "what else was going on", Value: func(r *Result) view.Value { return view.WordOf(r.Disturbed) }},
	)
}
