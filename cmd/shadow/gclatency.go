package main

import (
	"errors"
	"fmt"
	"strconv"

	"stackagent/granularity/activity"
	"stackagent/granularity/latency"
	"stackagent/internal/units"
	"stackagent/shadow/session"

	tasks "stackagent/shadow/analysis/latency"
)

// gcQuantiles are the percentiles of latencies in shadow gc.
var gcQuantiles = []latency.Percentile{50_000, 90_000, 95_000, 99_000, 99_900, 99_990}

type gcLatency struct {
	Kind      string              `json:"kind"` // "simple", "metered"
	WindowNs  *units.Ns           `json:"window_ns"`
	Whole     bool                `json:"whole"` // smoothed over the whole run
	Count     int                 `json:"count"`
	Quantiles map[string]units.Ns `json:"quantiles"`
	MaxNs     units.Ns            `json:"max_ns"`
	// RelativeError bounds that of the quantiles; absent: they are exact.
	RelativeError float64 `json:"relative_error,omitempty"`
}

// latency reads the tasks of the class.
func (f *gcFlags) latency(s *session.Session, r *gcReport, w activity.Span) error {
	if f.class == "" {
		return nil
	}
	span := &w
	if f.window.whole() {
		span = nil
	}
	t, err := tasks.Read(s, f.class, span, false)
	if errors.Is(err, tasks.ErrPartly) {
		r.NotAvailable["latency"] = tasks.ErrPartly.Error()
		return nil
	}
	if err != nil {
		return err
	}
	if t.Count() == 0 {
		r.NotAvailable["latency"] = "no execution of a class that matches " + f.class + " was recorded"
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
func latencyOf(d *latency.Distribution, window units.Ns) gcLatency {
	out := gcLatency{Kind: "simple", Count: int(d.Count()), MaxNs: d.Max(), Quantiles: map[string]units.Ns{}, RelativeError: d.RelativeError()}
	switch {
	case window == latency.Whole:
		out.Kind, out.Whole = "metered", true
	case window > 0:
		out.Kind, out.WindowNs = "metered", &window
	}
	for _, p := range gcQuantiles {
		out.Quantiles["p"+percentileName(p)] = d.At(p)
	}
	return out
}

// percentileName is "50", "99.99".
func percentileName(p latency.Percentile) string {
	return strconv.FormatFloat(float64(p)/1000, 'f', -1, 64)
}

// marked marks a figure that rests on summaries.
func marked(n units.Ns, relativeError float64) string {
	text := units.FormatNs(n)
	if relativeError > 0 {
		return "~" + text
	}
	return text
}

// errorText is a relative error in words.
func errorText(relativeError float64) string { return fmt.Sprintf("±%.1f %%", 100*relativeError) }
