package web

import (
	"sync"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

const (
	sampleInterval = time.Second
	rateSamples    = 6 // a rate is over the last five intervals
)

// rates remembers how many events sessions received in the last seconds.
type rates struct {
	mu      sync.Mutex
	samples map[string][]sample // by folder; of running sessions only
}

type sample struct {
	at     time.Time
	events uint64
}

func newRates() *rates { return &rates{samples: map[string][]sample{}} }

func (r *rates) observe(now time.Time, sessions []ingest.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := make(map[string][]sample, len(r.samples))
	for _, p := range sessions {
		if p.Ended != store.EndedRunning {
			continue
		}
		last := append(r.samples[p.Folder], sample{now, p.Received.Sum()})
		seen[p.Folder] = last[max(0, len(last)-rateSamples):]
	}
	r.samples = seen
}

// of is the recent rate of a session in events per second; false before two samples.
func (r *rates) of(folder string) (perSecond float64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.samples[folder]
	if len(s) < 2 {
		return 0, false
	}
	first, last := s[0], s[len(s)-1]
	if !last.at.After(first.at) || last.events < first.events {
		return 0, false
	}
	return float64(last.events-first.events) / last.at.Sub(first.at).Seconds(), true
}
