package advice

import (
	"fmt"

	"stackagent/internal/units"
)

// Observed says who recorded counters and scheduling from outside, and when. Its names come from other machines and are clean.
type Observed struct {
	By   string `json:"by"`
	Host string `json:"host"`
	// After is from when on: since the JVM loaded the agent or, if that is not known, since the session's begin.
	After   units.Ns  `json:"after_ns"`
	Loaded  bool      `json:"after_load"`
	Until   *units.Ns `json:"until_ns,omitempty"` // since the session's begin, if the observer ended before the JVM
	Refused string    `json:"refused,omitempty"`  // why the JVM was not observed; "": it was
}

// observed is a fact, or a caution if something is missing.
func observed(s *search) *Finding {
	if s.Observed == nil {
		return nil
	}
	kind := Fact
	if s.Observed.Until != nil || s.Observed.Refused != "" {
		kind = Caution
	}
	return &Finding{Kind: kind, Evidence: s.Observed}
}

func (e *Observed) sentence(*Finding) string {
	if e.Refused != "" {
		return "Not observed from outside: " + e.Refused + "."
	}
	since := "the session began"
	if e.Loaded {
		since = "the JVM loaded the agent"
	}
	from := fmt.Sprintf("Observed from outside by %s on %s, from %s after %s", e.By, e.Host, units.FormatNs(max(e.After, 0)), since)
	if e.Until == nil {
		return from + "."
	}
	return fmt.Sprintf("%s. The observer stopped %s after the session began: counters and scheduling after that are missing.", from, units.FormatNs(max(*e.Until, 0)))
}
