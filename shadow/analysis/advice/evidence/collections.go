package evidence

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
)

// stops are when safepoints stopped the program, and those of them that were collections. Where only the pauses of the
// collector are known, both are these; known is false then. What the profiler stopped is no collection, also right beside one.
func (a *advisor) stops() (all, collections []activity.Span, known bool) {
	m := &a.s.Manifest
	w := activity.Span{From: m.StartNs, To: m.StartNs + units.MonoNs(m.DurationNs)}
	pauses := activity.Union(a.s.Spans(), w)
	record, err := a.s.Activity()
	if err != nil {
		return pauses, pauses, false
	}
	if all, err = record.Stops(); err != nil {
		return pauses, pauses, false
	}
	all = activity.Union(all, w)
	return all, gc.Around(gc.Without(all, activity.Union(a.s.OwnStops(), w)), pauses), true
}

// collections sums up what collections stopped, and why they ran as far as the JVM's own counters show it.
func (a *advisor) collections() (*advice.Collections, []activity.Span) {
	_, spans, known := a.stops()
	c := &advice.Collections{Around: known}
	for _, s := range spans {
		c.Stopped += s.Len()
	}
	if known {
		c.Reached = max(0, c.Stopped-a.s.Stopped().In(a.s.Manifest.StartNs, math.MaxInt64))
	}
	if countPauses(c, a.s.Pauses) {
		a.countAskers(c)
		return c, spans
	}
	record, err := a.s.Activity()
	if err != nil {
		return c, spans
	}
	if samples, err := record.Collections(); err == nil {
		countCauses(c, samples)
	}
	return c, spans
}

// countAskers adds who asked for collections, and why most of the others ran.
func (a *advisor) countAskers(c *advice.Collections) {
	askers, causes := map[string]int64{}, map[string]int64{}
	for i := range a.s.Pauses {
		p := &a.s.Pauses[i]
		switch {
		case p.ForBuffers:
			c.Buffers++
		case p.Cause != "" && p.Cause != advice.SystemGC && !askedFor[p.Cause]:
			causes[p.Cause]++
		}
		if site := a.s.SiteByID(p.Asker); p.Asker != 0 && site != nil {
			askers[site.Label()]++
		}
	}
	for site, n := range askers {
		c.Askers = append(c.Askers, advice.Asker{Site: site, Count: n})
	}
	slices.SortFunc(c.Askers, func(x, y advice.Asker) int { return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Site, y.Site)) })
	if c.Cause = most(causes); c.Cause != "" {
		c.OfCause = causes[c.Cause]
	}
}

// collected adds what collections cost.
func (a *advisor) collected(f *advice.UnitFacts, t advice.Thresholds) {
	c, spans := a.collections()
	f.Collections, f.Waits = c, a.waits(t, spans)
}

// askedFor are causes of collections that no heap avoids: HotSpot's names.
var askedFor = map[string]bool{
	advice.SystemGC: true, "Diagnostic Command": true, "JvmtiEnv ForceGarbageCollection": true,
	"Heap Inspection Initiated GC": true, "Heap Dump Initiated GC": true,
}

// countPauses adds the pauses of each cause; their times share what the collections stopped. It reports whether the agent
// knew the cause of any. The JVM names none for G1's Remark and Cleanup.
func countPauses(c *advice.Collections, pauses []session.Pause) bool {
	sum, all, known := advice.Collections{Paused: true}, units.Ns(0), false
	for _, p := range pauses {
		took := units.Ns(p.EndNs - p.StartNs)
		all += took
		known = known || p.Cause != ""
		count(&sum, p.Cause, took)
	}
	if !known {
		return false
	}
	for _, time := range []*units.Ns{&sum.ExplicitTime, &sum.AskedTime, &sum.OtherTime} {
		if all > 0 {
			*time = units.Ns(float64(*time) / float64(all) * float64(c.Stopped))
		}
	}
	sum.Stopped, sum.Around, sum.Reached = c.Stopped, c.Around, c.Reached
	*c = sum
	return true
}

// count adds a collection, or a pause, of that cause.
func count(c *advice.Collections, cause string, took units.Ns) {
	switch {
	case cause == "":
		c.Unseen++
	case cause == advice.SystemGC:
		c.Explicit, c.ExplicitTime = c.Explicit+1, c.ExplicitTime+took
	case askedFor[cause]:
		c.Asked, c.AskedTime = c.Asked+1, c.AskedTime+took
	default:
		c.Other, c.OtherTime = c.Other+1, c.OtherTime+took
	}
}

// countCauses adds the collections of each cause, where the agent did not know that of any. The counters have the cause of
// the last collection only; of those before it since the last look, nothing but the number is known.
func countCauses(c *advice.Collections, samples []sched.GCSample) {
	session.EachCollection(samples, func(s *sched.GCSample, n int64, took units.Ns) {
		count(c, s.Cause, max(0, took))
		c.Unseen += n - 1
	})
}
