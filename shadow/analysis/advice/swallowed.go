package advice

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Swallowed are exceptions that only a future saw.
type Swallowed struct {
	Site    string `json:"site,omitempty"`
	Unasked int64  `json:"unasked"` // nobody asked the future
	Unknown int64  `json:"unknown"` // unknown whether anybody asked
	Unended bool   `json:"unended,omitempty"`
}

func swallowed(s *search) []Finding {
	if s.Units == nil {
		return nil
	}
	var out []Finding
	for i := range s.Units.Classes {
		c := &s.Units.Classes[i]
		if slices.ContainsFunc(s.Units.Ended, func(e EndedPeriodic) bool { return e.Class == c.Name }) {
			continue
		}
		if c.Swallowed+c.Kept >= max(1, s.t.SwallowedUnits) {
			out = append(out, Finding{Class: c.Name, Evidence: &Swallowed{c.Site, c.Swallowed, c.Kept, s.Units.Unended}})
		}
	}
	return out
}

// EndedPeriodic is a task with a period that its executor runs no more, because a run ended with an exception.
type EndedPeriodic struct {
	Class   string   `json:"class"`
	Runs    int64    `json:"runs"`
	After   units.Ns `json:"after_ns"`        // since the start of the session, when the last run began
	Threw   string   `json:"threw,omitempty"` // the class of the exception; absent: not known
	Period  units.Ns `json:"period_ns"`       // between the times at which runs were due, on average
	Missing int64    `json:"missing"`         // runs that would have been due until the end of the session
	Timer   bool     `json:"timer,omitempty"` // a java.util.Timer ran it, whose thread ended
	With    []string `json:"with,omitempty"`  // the other tasks with a period of the same Timer, which end with it
}

// leastMissing is how many runs of a periodic task must be missing: as a program ends, shutdownNow interrupts the last one.
const leastMissing = 2

func endedPeriodic(s *search) (list []Finding) {
	if s.Units == nil {
		return nil
	}
	for i := range s.Units.Ended {
		if e := s.Units.Ended[i]; e.Missing >= leastMissing && len(list) < maxNamed {
			list = append(list, Finding{Class: e.Class, Evidence: &e})
		}
	}
	return list
}

func (e *EndedPeriodic) title(*Finding) string {
	threw := ""
	if e.Threw != "" {
		threw = " (" + e.Threw + ")"
	}
	return fmt.Sprintf("The periodic task %s ended after %s: the last one threw an exception%s", e.Class, text.PluralExact(e.Runs, "run", "runs"), threw)
}

func (e *EndedPeriodic) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *EndedPeriodic) happened() string {
	why := "Its executor never runs it again, and only the task's future knows why"
	if e.Timer {
		why = "That ended the thread of its Timer"
		if n := len(e.With); n > 0 {
			why += fmt.Sprintf(", and with it the other tasks of this Timer: %s", strings.Join(e.With[:min(n, maxNamed)], ", "))
			if n > maxNamed {
				why += ", ..."
			}
		}
	}
	return fmt.Sprintf("It began %s after the start of the session. %s. At its period of %s, about %s missing to the end.",
		units.FormatNs(e.After), why, units.FormatNs(e.Period), text.PluralExact(e.Missing, "run is", "runs are"))
}

func (e *EndedPeriodic) remedy() string {
	if e.Timer {
		return "Catch exceptions inside the task; a ScheduledThreadPoolExecutor keeps its other tasks if one throws."
	}
	return "Catch exceptions inside the task, or ask its ScheduledFuture (get), which throws it."
}
