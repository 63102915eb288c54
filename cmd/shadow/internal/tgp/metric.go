package tgp

import (
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// selfMetric is a metric in which tasks have self work.
type selfMetric struct {
	name   string
	metric granularity.Metric
	of     func(*session.Task) units.Ns
}

// selfMetrics are those that a session has, tgp's own first.
func selfMetrics(s *session.Session) []selfMetric {
	var out []selfMetric
	for _, name := range tgp.Metrics {
		k := slices.IndexFunc(s.ExtraMetrics(), func(x store.ExtraMetric) bool { return x.Name == name })
		if k >= 0 {
			m := s.Metrics()[session.FirstExtra+k]
			out = append(out, selfMetric{name, granularity.MetricOf(session.FirstExtra+k, true), func(t *session.Task) units.Ns { _, self := m.Of(t); return self }})
		}
	}
	if slices.Contains(s.Manifest.Metrics, "cpu") {
		out = append(out, selfMetric{"cpu", granularity.SelfCPU, func(t *session.Task) units.Ns { return t.SelfCPUNs }})
	}
	return append(out, selfMetric{"wall", granularity.SelfWall, func(t *session.Task) units.Ns { return t.SelfWallNs }})
}

// chooseMetric finds the metric of that name, or the first.
func chooseMetric(s *session.Session, name string) (selfMetric, error) {
	all := selfMetrics(s)
	if name == "" {
		return all[0], nil
	}
	var names []string
	for _, m := range all {
		if m.name == name {
			return m, nil
		}
		names = append(names, m.name)
	}
	return selfMetric{}, console.Usagef("--metric %s: this session has %s", name, strings.Join(names, ", "))
}
