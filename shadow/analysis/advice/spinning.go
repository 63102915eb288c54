package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Seen is what busy threads were seen to do, by samples.
type Seen struct {
	Thread  string   `json:"thread"`  // its name; of several, what their names have in common
	Threads int64    `json:"threads"` // how many
	Site    string   `json:"site"`    // where most of it was
	Class   string   `json:"class,omitempty"`
	CPU     units.Ns `json:"cpu_ns"` // that the samples stand for
	Wall    units.Ns `json:"wall_ns"`
	Samples int64    `json:"samples"`
	Pending int64    `json:"pending,omitempty"` // of the Finalizer: adds up to the most objects that waited for it
}

// leastSeen is from how many samples something is said.
const leastSeen = 4

// Spinning is that threads compute only to check again and again whether something is there.
type Spinning struct {
	Seen
	Share float64 `json:"share"` // of the session, of one CPU
}

func spinning(s *search) (list []Finding) {
	if s.Units == nil || s.Duration <= 0 {
		return nil
	}
	for _, x := range s.Units.Polling {
		if x.Samples >= leastSeen && float64(x.CPU) >= s.t.Spinning*float64(s.time(s.Duration)) && len(list) < maxNamed {
			list = append(list, Finding{Class: x.Class, Evidence: &Spinning{x, float64(x.CPU) / float64(s.Duration)}})
		}
	}
	return list
}

func (e *Spinning) title(*Finding) string {
	if e.Threads > 1 {
		return fmt.Sprintf("%s (%s) poll without a pause at %s", text.PluralExact(e.Threads, "thread", "threads"), e.Thread, e.Site)
	}
	return fmt.Sprintf("%s polls without a pause at %s", e.Thread, e.Site)
}

func (e *Spinning) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *Spinning) happened() string {
	return fmt.Sprintf("That took %s of CPU time or more, %s of a CPU during the session, by %s: a loop there asks whether something is there, and asks again at once.",
		units.FormatNs(e.CPU), units.FormatPercent(e.Share), text.PluralExact(e.Samples, "sample", "samples"))
}

func (e *Spinning) remedy() string {
	return "Wait until it is there: take() of a BlockingQueue, Future.get(), a Condition, LockSupport.park. Spin only where some microseconds matter more than a CPU, and for no longer than these."
}
