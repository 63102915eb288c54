package web

import (
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"stackagent/shadow/store"
)

// metrics tells totals over all sessions since the shadow started. There are no
// labels: names of sessions are made by others, and there is no bound on how many.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var running, executions, creations, stored, lost, gaps, batches, repeated uint64
	sessions := s.o.Sessions()
	for i := range sessions {
		p := &sessions[i]
		if p.Ended == store.EndedRunning {
			running++
		}
		executions += p.Received.Executions
		creations += p.Received.Creations
		stored += p.Stored.Sum()
		lost += p.Lost.Events
		gaps += p.Lost.Batches
		batches += p.Batches
		repeated += p.Repeated
	}
	healthy := uint64(1)
	if s.o.Healthy != nil && s.o.Healthy() != nil {
		healthy = 0
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	metrics.WriteGaugeUint64(w, "stackagent_healthy", healthy)
	metrics.WriteGaugeUint64(w, "stackagent_sessions_running", running)
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"stackagent_sessions_total", uint64(len(sessions))},
		{"stackagent_executions_received_total", executions},
		{"stackagent_creations_received_total", creations},
		{"stackagent_batches_received_total", batches},
		{"stackagent_batches_repeated_total", repeated},
	} {
		metrics.WriteCounterUint64(w, c.name, c.value)
	}
	// Gauges: what counts as lost may be found after all, and a session that
	// goes on after a restart of the shadow brings what was stored before.
	metrics.WriteGaugeUint64(w, "stackagent_events_stored", stored)
	metrics.WriteGaugeUint64(w, "stackagent_events_lost", lost)
	metrics.WriteGaugeUint64(w, "stackagent_batches_lost", gaps)
	metrics.WriteProcessMetrics(w)
}
