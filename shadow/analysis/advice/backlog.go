package advice

import (
	"fmt"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Backlog is that tasks of a class, which nobody submits to an executor, are made faster than the one thread runs them that they are left to.
type Backlog struct {
	Class  string  `json:"class"`
	Thread string  `json:"thread"`
	Made   int64   `json:"made"`       // tasks, in the session
	Run    int64   `json:"run"`        // of these
	Most   int64   `json:"most"`       // made and not begun, at the moment at which they were most
	Busy   float64 `json:"busy_share"` // of the time from its first to its last one, in which the thread ran them
}

func backlogged(s *search) (list []Finding) {
	if s.Units == nil {
		return nil
	}
	for i := range s.Units.Backlogs {
		if b := s.Units.Backlogs[i]; b.Most >= max(1, s.t.BacklogTasks) && len(list) < maxNamed {
			list = append(list, Finding{Class: b.Class, Evidence: &b})
		}
	}
	return list
}

// isCleaner reports whether the thread is of a java.lang.ref.Cleaner.
func (e *Backlog) isCleaner() bool { return strings.HasPrefix(e.Thread, "Cleaner-") }

func (e *Backlog) title(*Finding) string {
	return fmt.Sprintf("Tasks of %s pile up: up to %s waited at once, while %s alone runs them", e.Class, units.FormatExact(e.Most), e.Thread)
}

func (e *Backlog) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *Backlog) happened() string {
	text := fmt.Sprintf("%s of %s made were run, all by this thread, which was busy with them for %s of its time from the first to the last.",
		units.FormatExact(e.Run), units.FormatExact(e.Made), units.FormatPercent(e.Busy))
	if e.isCleaner() {
		text += " Those of objects that are still in use are among the ones not run."
	}
	return text
}

func (e *Backlog) remedy() string {
	if e.isCleaner() {
		return "A Cleaner has one thread. Free each object where its use ends (close(), try-with-resources), so that the cleaner is left only what was forgotten; or use several cleaners."
	}
	return "Let more threads run them, or run them where they are made."
}

// Finalizers is that the one thread that runs finalize() has much to do.
type Finalizers struct {
	CPU   units.Ns `json:"cpu_ns"`
	Share float64  `json:"share"` // of the session
	// Of are the methods that it was seen to run, most CPU time first.
	Of      []Seen `json:"of,omitempty"`
	Pending int64  `json:"pending,omitempty"` // objects that waited for it, at most; absent: not known
}

func finalizers(s *search) *Finding {
	if s.Units == nil || s.Duration <= 0 || float64(s.Units.Finalizer) < s.t.Finalizers*float64(s.time(s.Duration)) {
		return nil
	}
	e := &Finalizers{CPU: s.Units.Finalizer, Share: float64(s.Units.Finalizer) / float64(s.Duration), Of: s.Units.Finalized}
	for _, x := range e.Of {
		e.Pending += x.Pending
	}
	return &Finding{Evidence: e}
}

func (e *Finalizers) title(*Finding) string {
	return fmt.Sprintf("Objects are ended by finalize(): the one Finalizer thread computed for %s, %s of the time", units.FormatNs(e.CPU), units.FormatPercent(e.Share))
}

func (e *Finalizers) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *Finalizers) happened() string {
	seen, all := []string{}, units.Ns(0)
	for _, x := range e.Of {
		all += x.CPU
	}
	for _, x := range e.Of[:min(len(e.Of), maxNamed)] {
		seen = append(seen, fmt.Sprintf("%s (%s)", x.Site, units.FormatPercent(float64(x.CPU)/float64(max(1, all)))))
	}
	said := ""
	if len(seen) > 0 {
		said = fmt.Sprintf("Where it was seen it ran %s. ", text.AllOf(seen))
	}
	if e.Pending > 0 {
		said += fmt.Sprintf("When it was sampled, up to %s objects waited for it. ", units.FormatExact(e.Pending))
	}
	return said + "It runs one finalize() after another, even if one of them waits; what is not ended yet keeps its memory and whatever else it has."
}

func (e *Finalizers) remedy() string {
	return "Close the objects where their use ends (AutoCloseable, try-with-resources); leave to a java.lang.ref.Cleaner only what was forgotten."
}
