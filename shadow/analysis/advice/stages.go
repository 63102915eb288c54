package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// InlineStages is that a thread which serves others, such as the I/O thread of a client, computes in the stages of futures that it completes.
type InlineStages struct {
	Seen
	Share float64 `json:"share"` // of the session
}

func inlineStages(s *search) (list []Finding) {
	if s.Units == nil || s.Duration <= 0 {
		return nil
	}
	for _, x := range s.Units.Stages {
		if x.Samples >= leastSeen && float64(x.CPU) >= s.t.Stages*float64(s.time(s.Duration)) && len(list) < maxNamed {
			list = append(list, Finding{Class: x.Class, Evidence: &InlineStages{x, float64(x.CPU) / float64(s.Duration)}})
		}
	}
	return list
}

func (e *InlineStages) title(*Finding) string {
	return fmt.Sprintf("%s runs what follows the futures that it completes: %s", e.Thread, e.Site)
}

func (e *InlineStages) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *InlineStages) happened() string {
	return fmt.Sprintf("It computed there for about %s, %s of the time, by %s: what else comes for this thread waits meanwhile.",
		units.FormatNs(e.CPU), units.FormatPercent(e.Share), text.PluralExact(e.Samples, "sample", "samples"))
}

func (e *InlineStages) remedy() string {
	return "Run it on a pool, by the Async variant of the stage with an executor (thenApplyAsync), or a listener with an executor of its own; then this thread only completes futures."
}
