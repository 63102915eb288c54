package sched

import (
	"errors"
	"fmt"

	"stackagent/hpc/perfdata"
	"stackagent/internal/units"
)

// GCSample is what the JVM's own counters (hsperfdata) said at a moment about
// its collectors and safepoints, taken when something had changed since the last
// sample. Counts and times are totals since the JVM's start.
type GCSample struct {
	At          units.MonoNs
	Collector   string   // whose invocations changed; "": only safepoints did
	Cause       string   // of its latest invocation, "G1 Evacuation Pause"
	Invocations int64    // of this collector
	Entry, Exit units.Ns // of its latest invocation, by the JVM's clock, which begins with the JVM; NotMeasured: unknown
	Safepoints  int64
	Safepoint   units.Ns // time at safepoints
	Sync        units.Ns // time to reach them: from the request until all threads had stopped
}

const (
	noGC          = "No GC" // HotSpot's name
	maxCollectors = 8
	openEvery     = 5   // polls between attempts to open the counters
	openMost      = 250 // attempts: a JVM creates them in its first moments
)

// counters are those of a running JVM; perfdata.Process has them.
type counters interface {
	Read() error
	Long(name string) (int64, bool)
	Text(name string) (string, bool)
	Close() error
}

// gcWatch reads the counters of one JVM.
type gcWatch struct {
	data  counters
	polls int
	why   error // why it cannot be read
	done  bool
	last  GCSample
	// collected is when the latest collection was found.
	collected units.MonoNs
	counted   [maxCollectors]int64
	begun     [maxCollectors]bool // a collection is not over: the counters have its start, and the end of the one before
	samples   []GCSample          // of a part: at most one per poll and collector in a minute
}

// look takes a sample. at is a moment before it.
func (g *gcWatch) look(pid int, at func() units.MonoNs) {
	if g.done {
		return
	}
	if g.data == nil && !g.open(pid) {
		return
	}
	if err := g.data.Read(); err != nil {
		if !errors.Is(err, perfdata.ErrNotReady) {
			g.why = err
			g.close()
		}
		return
	}
	s := g.last
	s.At, s.Collector, s.Cause = at(), "", ""
	s.Safepoints = g.long("sun.rt.safepoints")
	s.Safepoint, s.Sync = g.time("sun.rt.safepointTime"), g.time("sun.rt.safepointSyncTime")
	changed := s.Safepoints != g.last.Safepoints
	for i := range g.counted {
		n, ok := g.data.Long(fmt.Sprintf("sun.gc.collector.%d.invocations", i))
		if !ok || n == g.counted[i] && !g.begun[i] {
			continue
		}
		g.counted[i], g.collected = n, s.At
		one := g.collector(s, i, n)
		if g.begun[i] = one.Exit < one.Entry; g.begun[i] {
			continue
		}
		changed = false
		g.samples = append(g.samples, one)
	}
	if changed {
		g.samples = append(g.samples, s)
	}
	g.last = s
}

func (g *gcWatch) open(pid int) bool {
	if g.polls++; g.polls%openEvery != 1 {
		return false
	}
	data, err := perfdata.Open(pid)
	if g.why = err; err != nil {
		g.done = g.polls > openEvery*openMost
		return false
	}
	g.data = data
	return true
}

func (g *gcWatch) collector(s GCSample, i int, n int64) GCSample {
	name := fmt.Sprintf("sun.gc.collector.%d.", i)
	s.Collector, _ = g.data.Text(name + "name")
	s.Invocations, s.Entry, s.Exit = n, g.time(name+"lastEntryTime"), g.time(name+"lastExitTime")
	if s.Cause, _ = g.data.Text("sun.gc.cause"); s.Cause == noGC {
		s.Cause, _ = g.data.Text("sun.gc.lastCause")
	}
	return s
}

func (g *gcWatch) long(name string) int64 {
	n, _ := g.data.Long(name) // a collector or JVM without it has 0
	return n
}

// time is a counter in ticks of the JVM's clock, as nanoseconds.
func (g *gcWatch) time(name string) units.Ns {
	const nanoseconds = 1_000_000_000
	n, ok := g.data.Long(name)
	if !ok {
		return units.NotMeasured
	}
	if f := g.long("sun.os.hrt.frequency"); f > 0 && f != nanoseconds {
		n = int64(float64(n) * nanoseconds / float64(f))
	}
	return units.Ns(n)
}

// cutOff keeps the collections that the JVM's end cut off.
func (g *gcWatch) cutOff() {
	for i, begun := range g.begun {
		if begun && g.data != nil {
			s := g.collector(g.last, i, g.counted[i])
			s.Exit = units.NotMeasured
			g.samples = append(g.samples, s)
		}
	}
	g.begun = [maxCollectors]bool{}
}

// take returns the samples since its last call.
func (g *gcWatch) take() []GCSample {
	all := g.samples
	g.samples = nil
	return all
}

func (g *gcWatch) close() {
	if g.data != nil {
		g.data.Close() // nothing is written; a failure loses nothing
		g.data = nil
	}
	g.done = true
}
