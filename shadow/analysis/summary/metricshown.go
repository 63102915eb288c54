package summary

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"stackagent/granularity"
)

// ShowBy sorts the rows of s by a metric, named as in HotspotOptions.Metric, and draws
// its figures of it instead of CPU time. If only is true, s keeps no other metric.
// The error is ErrNoMetric if the session does not have it.
func (s *Summary) ShowBy(name string, only bool) error {
	by, ok := s.Metrics.Choose(name)
	if !ok {
		return noMetric(s, name)
	}
	s.By = by
	for _, rows := range [][]granularity.Hotspot{s.Rows, s.ThreadRows} {
		for i := range rows {
			rows[i].By = by
		}
		if err := granularity.SortHotspots(rows, granularity.ByWork); err != nil {
			return err
		}
	}
	// Units may lack what executions have: then the figures are of executions.
	if u := s.InUnits; u != nil && u.ShowBy(name, only) != nil {
		s.InUnits = nil
	}
	if only {
		name := baseName(by, s.Metrics[by])
		maps.DeleteFunc(s.Metrics, func(m granularity.Metric, d granularity.Distribution) bool { return baseName(m, d) != name })
	}
	return nil
}

// baseName is the name of a metric and of its self form.
func baseName(m granularity.Metric, d granularity.Distribution) string {
	return strings.TrimPrefix(cmp.Or(d.Name, m.String()), "self_")
}

// Shown is the metric by which s is shown.
func (s *Summary) Shown() granularity.Metric {
	if s.By != granularity.Wall {
		return s.By
	}
	return s.Metrics.WorkMetric()
}

// noMetric lists the metrics of the session and how to get the missing one.
func noMetric(s *Summary, name string) error {
	why := fmt.Sprintf("to have it in the next one: shadow run --metric wall+cpu+%s", name)
	switch reason, known := s.NotAvailable[name]; {
	case known:
		why = reason
	case name == "init" || name == "init_ns" || name == "construction":
		why = "what it cost to make a task is in shadow tasks (init_ns), of sessions recorded with --construction"
	case name == "queue" || name == granularity.QueueName:
		why = "no submission was recorded"
	}
	return fmt.Errorf("%w %q: this session has %s; %s", ErrNoMetric, name, strings.Join(s.Metrics.Names(), ", "), why)
}
