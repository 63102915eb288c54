package experiment

import (
	"time"

	"stackagent/hpc"
	"stackagent/internal/listing"
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
func Columns(factors ...string) []listing.Column[*Result] {
	type column = listing.Column[*Result]
	var out []column
	for _, f := range factors {
		out = append(out, column{Name: f, Kind: listing.Name, Doc: "value of the factor", Value: func(r *Result) listing.Value { return listing.NameOf(r.Point.Of(f)) }})
	}
	number := func(name string, unit listing.Unit, doc string, of func(*Result) int64) column {
		return column{Name: name, Kind: listing.Int, Unit: unit, Doc: doc, Value: func(r *Result) listing.Value { return listing.IntOf(of(r)) }}
	}
	share := func(name, doc string, of func(*Result) *float64) column {
		return column{Name: name, Kind: listing.Float, Unit: listing.Share, Optional: true, Doc: doc, Value: func(r *Result) listing.Value {
			if v := of(r); v != nil {
				return listing.FloatOf(*v)
			}
			return listing.Null
		}}
	}
	return append(out,
		number("invocation", listing.Plain, "which run of the point, from 1", func(r *Result) int64 { return int64(r.Invocation) }),
		number("attempt", listing.Plain, "more than 1: the ones before were disturbed", func(r *Result) int64 { return int64(r.Attempt) }),
		column{Name: "folder", Kind: listing.Name, Doc: "the run's folder", Value: func(r *Result) listing.Value { return listing.NameOf(r.Folder) }},
		number("started_unix_ns", listing.Plain, "when it was started", func(r *Result) int64 { return r.Started.UnixNano() }),
		number("wall_ns", listing.Ns, "from start to end", func(r *Result) int64 { return int64(r.Usage.Wall) }),
		number("user_ns", listing.Ns, "CPU time in user mode", func(r *Result) int64 { return int64(r.Usage.User) }),
		number("system_ns", listing.Ns, "CPU time in the kernel", func(r *Result) int64 { return int64(r.Usage.System) }),
		number("minor_faults", listing.Count, "page faults without a disk", func(r *Result) int64 { return r.Usage.MinorFaults }),
		number("major_faults", listing.Count, "page faults that read a disk", func(r *Result) int64 { return r.Usage.MajorFaults }),
		number("voluntary_switches", listing.Count, "context switches of threads that wait", func(r *Result) int64 { return r.Usage.Voluntary }),
		number("involuntary_switches", listing.Count, "context switches of threads that could go on", func(r *Result) int64 { return r.Usage.Involuntary }),
		column{Name: "max_resident_bytes", Kind: listing.Int, Optional: true, Doc: "most memory in use", Value: func(r *Result) listing.Value {
			if r.Usage.MaxResident == nil {
				return listing.Null
			}
			return listing.IntOf(*r.Usage.MaxResident)
		}},
		number("exit_code", listing.Plain, "of the command; 128 + the signal's number", func(r *Result) int64 { return int64(r.Code) }),
		column{Name: "failure", Kind: listing.Word, Doc: "how it failed; empty: it did not", Value: func(r *Result) listing.Value { return listing.WordOf(string(r.Failure)) }},
		column{Name: "why", Kind: listing.Name, Doc: "one line about the failure", Value: func(r *Result) listing.Value { return listing.NameOf(r.Why) }},
		column{Name: "load", Kind: listing.Float, Unit: listing.Factor, Optional: true, Doc: "load average of the last minute before it", Value: func(r *Result) listing.Value {
			if r.Machine.Load == nil {
				return listing.Null
			}
			return listing.FloatOf(*r.Machine.Load)
		}},
		share("others", "share of the machine's CPU time that other programs took", func(r *Result) *float64 { return r.Machine.Others }),
		share("stolen", "share of the machine's CPU time that interrupts and the hypervisor took", func(r *Result) *float64 { return r.Machine.Stolen }),
		column{Name: "mhz", Kind: listing.Float, Unit: listing.Factor, Optional: true, Doc: "mean clock rate of the CPUs, before and after", Value: func(r *Result) listing.Value {
			if r.Machine.MHz == nil {
				return listing.Null
			}
			return listing.FloatOf(*r.Machine.MHz)
		}},
		column{Name: "throttled", Kind: listing.Int, Unit: listing.Count, Optional: true, Doc: "times that CPUs were slowed down for their heat", Value: func(r *Result) listing.Value {
			if r.Machine.Throttled == nil {
				return listing.Null
			}
			return listing.IntOf(*r.Machine.Throttled)
		}},
		column{Name: "disturbed", Kind: listing.Word, Doc: "what else was going on", Value: func(r *Result) listing.Value { return listing.WordOf(r.Disturbed) }},
	)
}
