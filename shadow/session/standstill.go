package session

import (
	"errors"
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// lateKey is in Manifest.NotAvailable if the agent attached to a JVM that ran already.
const lateKey = "earlier submissions"

// noCounters is why there are neither causes nor safepoints.
const noCounters = "the JVM's own counters (hsperfdata) show no collection and no safepoint, or were not read: the JVM was not on this host, or runs with -XX:-UsePerfData"

// ErrNoCounters is a JVM whose own counters say nothing about safepoints.
var ErrNoCounters = errors.New("not in the JVM's own counters")

// StandstillOf sums up the safepoints of a window. The samples are running totals, taken every 20 ms and once after
// the JVM's end: the sum is the difference between the last sample in the window and the last before it.
func StandstillOf(samples []sched.GCSample, w activity.Span) (*gc.Standstill, error) {
	var first, last sched.GCSample
	counted := false
	for _, s := range samples {
		counted = counted || s.Safepoints > 0
		if s.At < w.From {
			first = s
		}
		if s.At < w.To {
			last = s
		}
	}
	if !counted || !last.Sync.Measured() || !last.Safepoint.Measured() {
		return nil, fmt.Errorf("%w: they recorded no safepoint, or do not count them", ErrNoCounters)
	}
	reach, at := last.Sync-first.Sync, last.Safepoint-first.Safepoint
	return &gc.Standstill{Safepoints: last.Safepoints - first.Safepoints, TotalNs: reach + at, ReachNs: reach, AtNs: at}, nil
}

// NoCounters is why Collections has none.
func (a *Activity) NoCounters() error {
	if why := a.NotAvailable[sched.NoCauses]; why != "" {
		return errors.New(why)
	}
	return errors.New(noCounters)
}

// Standstill of a window. The error says why it is not available.
func (a *Activity) Standstill(w activity.Span) (*gc.Standstill, error) {
	samples, err := a.Collections()
	switch {
	case err != nil:
		return nil, err
	case len(samples) == 0:
		return nil, a.NoCounters()
	}
	return StandstillOf(samples, w)
}

// Stops are when safepoints stopped the program, collections among them, as gc.PlaceStops finds it. The error says why
// only the pauses of the collector are known.
func (a *Activity) Stops() ([]activity.Span, error) {
	m := &a.session.Manifest
	w := activity.Span{From: m.StartNs, To: m.EndNs}
	if _, err := a.Standstill(w); err != nil {
		return nil, err
	}
	samples, err := a.Collections()
	if err != nil {
		return nil, err
	}
	looks := make([]gc.Stopped, len(samples))
	for i, s := range samples {
		looks[i] = gc.Stopped{At: s.At, Total: s.Sync + s.Safepoint}
	}
	var hints []activity.Span
	err = a.Stream(w.From, w.To)(func(s activity.Slice) error {
		if s.State == activity.Safepoint {
			hints = append(hints, activity.Span{From: s.From, To: s.To})
		}
		return nil
	})
	return gc.PlaceStops(looks, append(a.session.Spans(), a.session.OwnStops()...), hints, w), err
}

// Collections are what the JVM's own counters say about its collectors and safepoints, in the order of time; none
// where nobody read them. Totals begin with the session. With an error it returns what could be read.
func (a *Activity) Collections() ([]sched.GCSample, error) {
	samples, err := a.reader.GC()
	m := &a.session.Manifest
	if m.Ended == store.EndedExit && m.NotAvailable[lateKey] == "" { // a JVM counts nothing after its end, but goes on after a detach
		for i := range samples {
			samples[i].At = min(samples[i].At, m.EndNs-1)
		}
	}
	if m.NotAvailable[lateKey] != "" {
		samples = sinceFirst(samples)
	}
	return samples, err
}

// EachCollection calls use with the samples that show collections since the one before of their collector: how many, and how long the
// last of them took, or NotMeasured. Its cause is the sample's.
func EachCollection(samples []sched.GCSample, use func(s *sched.GCSample, n int64, took units.Ns)) {
	before := map[string]int64{}
	for i := range samples {
		s := &samples[i]
		n := s.Invocations - before[s.Collector]
		if s.Collector == "" {
			continue
		}
		if before[s.Collector] = s.Invocations; n < 1 {
			continue
		}
		took := units.NotMeasured
		if s.Entry.Measured() && s.Exit.Measured() {
			took = max(0, s.Exit-s.Entry)
		}
		use(s, n, took)
	}
}

// sinceFirst takes what the JVM counted before its counters were first read out of the samples.
func sinceFirst(samples []sched.GCSample) []sched.GCSample {
	if len(samples) == 0 {
		return nil
	}
	before, invocations := samples[0], map[string]int64{}
	n := 0
	for ; n < len(samples) && samples[n].At == before.At; n++ {
		invocations[samples[n].Collector] = samples[n].Invocations
	}
	out := slices.Clone(samples[n:])
	for i := range out {
		s := &out[i]
		if s.Safepoints -= before.Safepoints; s.Safepoint.Measured() && before.Safepoint.Measured() {
			s.Safepoint -= before.Safepoint
		}
		if s.Sync.Measured() && before.Sync.Measured() {
			s.Sync -= before.Sync
		}
		if s.Collector == "" {
			continue
		}
		if _, ok := invocations[s.Collector]; !ok { // its first one was under way at the first look, or came later
			invocations[s.Collector] = s.Invocations - 1
		}
		s.Invocations -= invocations[s.Collector]
	}
	return out
}
