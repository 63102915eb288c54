package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stackagent/internal/timers"
	"stackagent/shadow/analysis/advice"
)

// Live findings: what rules find in the last minute, again every evaluateEvery. A finding appears when
// it has held appearAfter times, is marked as going when it no longer holds, and goes after goneAfter: one that
// flickers neither comes and goes with each look nor is hidden by a look at the wrong moment.
const (
	evaluateEvery = 2 * time.Second
	appearAfter   = 3
	goingAfter    = 2
	goneAfter     = 5
	maxFindings   = 32
)

type findingKey struct{ rule, class, executor string }

type findingState struct {
	advice.Finding
	since        int64
	hits, misses int
	appeared     bool
}

type findings struct {
	states map[findingKey]*findingState
	at     time.Time // of the last look
}

func newFindings() findings { return findings{states: map[findingKey]*findingState{}} }

// update takes what holds at a moment of the session.
func (f *findings) update(now int64, list []advice.Finding) {
	holds := map[findingKey]bool{}
	for _, x := range list {
		key := findingKey{x.Rule, x.Class, x.Executor}
		if holds[key] {
			continue
		}
		s := f.states[key]
		if s == nil {
			if len(f.states) >= maxFindings {
				continue
			}
			s = &findingState{since: now}
			f.states[key] = s
		}
		holds[key] = true
		s.Finding, s.misses = x, 0
		s.hits++
		s.appeared = s.appeared || s.hits >= appearAfter
	}
	for key, s := range f.states {
		if holds[key] {
			continue
		}
		s.misses++
		switch {
		case s.appeared && s.misses < goneAfter:
		case !s.appeared && s.hits > 1: // it may come again at the next look
			s.hits--
		default:
			delete(f.states, key)
		}
	}
}

// shown are the findings that have appeared: advice first, then by age.
func (f *findings) shown() []Held {
	list := []Held{}
	for _, s := range f.states {
		if s.appeared {
			list = append(list, Held{Finding: s.Finding, SinceNs: float64(s.since), Going: s.misses >= goingAfter})
		}
	}
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.SinceNs, b.SinceNs), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.Executor, b.Executor))
	})
	return list
}

// Evaluate looks for findings of all JVMs; it is to be called about once a second.
func (l *Live) Evaluate() {
	now := l.o.Now()
	for _, j := range l.all() {
		j.mu.Lock()
		if now.Sub(j.findings.at) >= evaluateEvery && j.ended.Load() == 0 && j.seq != 0 {
			j.findings.at = now
			j.findings.update(j.now+int64(now.Sub(j.came)), j.look())
		}
		j.mu.Unlock()
	}
}

// Run looks for findings until ctx ends.
func (l *Live) Run(ctx context.Context) {
	tick := timers.NewTicker(evaluateEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.Evaluate()
		}
	}
}
