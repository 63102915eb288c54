package web

import (
	"bytes"
	"net/http"

	"github.com/VictoriaMetrics/metrics"
)

// metrics reports totals over all sessions since the shadow started. There are no
// labels: others choose the names of sessions, without a bound on their number.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	t := s.o.Totals()
	healthy := uint64(1)
	if s.o.Healthy != nil && s.o.Healthy() != nil {
		healthy = 0
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	metrics.WriteGaugeUint64(w, "stackagent_healthy", healthy)
	metrics.WriteGaugeUint64(w, "stackagent_sessions_running", t.Running)
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"stackagent_sessions_total", t.Sessions},
		{"stackagent_executions_received_total", t.Received.Executions},
		{"stackagent_creations_received_total", t.Received.Creations},
		{"stackagent_batches_received_total", t.Batches},
		{"stackagent_batches_repeated_total", t.Repeated},
		{"stackagent_messages_refused_total", t.Refused},
		{"stackagent_foreign_rows_total", t.ForeignRows},
	} {
		metrics.WriteCounterUint64(w, c.name, c.value)
	}
	// Gauges: events that count as lost may still arrive, and a session that
	// continues after a restart of the shadow adds what was stored before.
	metrics.WriteGaugeUint64(w, "stackagent_events_stored", t.Stored.Sum())
	metrics.WriteGaugeUint64(w, "stackagent_events_lost", t.LostEvents)
	metrics.WriteGaugeUint64(w, "stackagent_batches_lost", t.LostBatches)
	metrics.WriteProcessMetrics(w)
	if s.o.Live != nil {
		var b bytes.Buffer
		s.o.Live.WriteMetrics(&b)
		_, _ = w.Write(b.Bytes()) // the client has gone; nothing to do
	}
}
