package web

import (
	"bytes"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/show/live"
)

// OwnMetrics are those of the shadow: totals over all sessions since it started. There are no
// labels: others choose the names of sessions, without a bound on their number.
func OwnMetrics(t ingest.Totals, healthy bool) []*live.Family {
	var list []*live.Family
	add := func(name string, kind live.Kind, help string, v uint64) {
		list = append(list, &live.Family{Name: name, Kind: kind, Help: help, Points: []live.Point{{Value: float64(v)}}})
	}
	ok := uint64(0)
	if healthy {
		ok = 1
	}
	add("stackagent_healthy", live.Gauge, "0 while nothing is stored.", ok)
	add("stackagent_sessions_running", live.Gauge, "Sessions that have not ended.", t.Running)
	add("stackagent_sessions_resting", live.Gauge, "Sessions that wait for their turn to be read from the bus.", t.Resting)
	add("stackagent_sessions_total", live.Counter, "Sessions since the shadow started.", t.Sessions)
	add("stackagent_executions_received_total", live.Counter, "Executions received.", t.Received.Executions)
	add("stackagent_creations_received_total", live.Counter, "Creations of tasks received.", t.Received.Creations)
	add("stackagent_batches_received_total", live.Counter, "Batches received.", t.Batches)
	add("stackagent_batches_repeated_total", live.Counter, "Batches that came again and were left out.", t.Repeated)
	add("stackagent_messages_refused_total", live.Counter, "Messages that were no batches, or not of their sender.", t.Refused)
	add("stackagent_foreign_rows_total", live.Counter, "Rows of the shadows' table on the bus that no shadow had written.", t.ForeignRows)
	// Gauges: events that count as lost may still arrive, and a session that
	// continues after a restart of the shadow adds what was stored before.
	add("stackagent_events_stored", live.Gauge, "Events stored.", t.Stored.Sum())
	add("stackagent_events_lost", live.Gauge, "Events lost.", t.LostEvents)
	add("stackagent_batches_lost", live.Gauge, "Batches lost.", t.LostBatches)
	return list
}

// QuotaMetrics are those of services with quotas; the operator names them.
func QuotaMetrics(list []ingest.QuotaState) []*live.Family {
	if len(list) == 0 {
		return nil
	}
	open := &live.Family{Name: "stackagent_quota_sessions_open", Kind: live.Gauge, Help: "Sessions open, of services with a quota."}
	waiting := &live.Family{Name: "stackagent_quota_sessions_waiting", Kind: live.Gauge, Help: "Sessions that wait on the bus because of the quota."}
	throttled := &live.Family{Name: "stackagent_quota_throttled_total", Kind: live.Counter, Help: "Times that a session stopped reading because of the quota of bytes."}
	for _, q := range list {
		labels := []live.Attribute{{Name: "service", Value: q.Service}}
		open.Points = append(open.Points, live.Point{Labels: labels, Value: float64(q.Open)})
		waiting.Points = append(waiting.Points, live.Point{Labels: labels, Value: float64(q.Waiting)})
		throttled.Points = append(throttled.Points, live.Point{Labels: labels, Value: float64(q.Throttled)})
	}
	return []*live.Family{open, waiting, throttled}
}

// metrics has the shadow's own, which are sums over all services, for who may see all of them.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	rights := rightsOf(r)
	var b bytes.Buffer
	if rights.All() {
		own := OwnMetrics(s.o.Totals(), s.o.Healthy == nil || s.o.Healthy() == nil)
		if s.o.Quotas != nil {
			own = append(own, QuotaMetrics(s.o.Quotas())...)
		}
		if s.o.Pushed != nil {
			own = append(own, s.o.Pushed()...)
		}
		for _, f := range own {
			f.Write(&b)
		}
		metrics.WriteProcessMetrics(&b)
	}
	if s.o.Live != nil {
		s.o.Live.WriteMetrics(&b, sees(rights))
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the client has gone; nothing to do
}
