package gcreport

import (
	"errors"

	"stackagent/granularity/activity"
	"stackagent/granularity/latency"
	"stackagent/internal/units"
	tasks "stackagent/shadow/analysis/latency"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// quantiles are the percentiles of latencies in shadow gc.
var quantiles = []latency.Percentile{50_000, 90_000, 95_000, 99_000, 99_900, 99_990}

// Latency is a distribution of the latencies of tasks.
type Latency struct {
	Kind      string              `json:"kind"` // "simple", "metered"
	WindowNs  *units.Ns           `json:"window_ns"`
	Whole     bool                `json:"whole"` // smoothed over the whole run
	Count     int                 `json:"count"`
	Quantiles map[string]units.Ns `json:"quantiles"`
	MaxNs     units.Ns            `json:"max_ns"`
	// RelativeError bounds that of the quantiles; absent: they are exact.
	RelativeError float64 `json:"relative_error,omitempty"`
}

// AddLatency reads the tasks of the classes that match a glob; "": of none. whole means that w is the whole session.
func (r *Report) AddLatency(s *session.Session, class string, w activity.Span, whole bool) error {
	if class == "" {
		return nil
	}
	span := &w
	if whole {
		span = nil
	}
	t, err := tasks.Read(s, class, span, false)
	if errors.Is(err, tasks.ErrPartly) {
		r.NotAvailable["latency"] = tasks.ErrPartly.Error()
		return nil
	}
	if err != nil {
		return err
	}
	if t.Count() == 0 {
		r.NotAvailable["latency"] = "no execution of a class that matches " + class + " was recorded"
		return nil
	}
	r.Latency = append(r.Latency, latencyOf(latency.Describe(latency.Simple(t.Events), t.Summarised), 0))
	if why := t.NoMetered(); why != "" {
		r.NotAvailable["metered latency"] = why
		return nil
	}
	for _, window := range append(latency.Windows(t.Events), latency.Whole) {
		r.Latency = append(r.Latency, latencyOf(latency.Describe(latency.Metered(t.Events, window), nil), window))
	}
	return nil
}

// latencyOf is a row; window 0: simple latency.
func latencyOf(d *latency.Distribution, window units.Ns) Latency {
	out := Latency{Kind: "simple", Count: int(d.Count()), MaxNs: d.Max(), Quantiles: map[string]units.Ns{}, RelativeError: d.RelativeError()}
	switch {
	case window == latency.Whole:
		out.Kind, out.Whole = "metered", true
	case window > 0:
		out.Kind, out.WindowNs = "metered", &window
	}
	for _, p := range quantiles {
		out.Quantiles["p"+view.PercentileName(p)] = d.At(p)
	}
	return out
}
