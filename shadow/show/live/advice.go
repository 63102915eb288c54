package live

import (
	"stackagent/granularity"
	"stackagent/internal/loglinear"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// shared are the rules of shadow/analysis/advice that make sense of a window. The others need the session as a whole, a
// scheduling record, or single units.
var shared = map[string]bool{
	"pool-too-small": true, "pool-too-large": true, "fine-grained": true, "garbage-collection": true, "explicit-collections": true, "lost": true,
}

// adviceRules applies them to the last minute.
//
// The rules judge sessions. Here each pool's workers are those that live, and what a pool's tasks have used of
// processors is known of those that ended.
func (j *jvm) adviceRules(pools []poolState) []advice.Finding {
	span := j.windowSpan()
	f := &advice.Facts{Of: text.UnitsOfWork, Duration: span, CPUs: j.progress.JVM.CPUs}
	u := &advice.UnitFacts{Duration: span, CPUs: j.progress.JVM.CPUs, Taken: units.NotMeasured, Collections: j.collections()}
	f.Units, f.GC.Total = u, u.Collections.Stopped
	used := j.applicationCPU()
	for i := range pools {
		if p, ok := j.pool(&pools[i], span, used); ok {
			u.Pools = append(u.Pools, p)
		}
	}
	f.Rows = j.hotspots(f)
	return adviceOf(f)
}

// adviceOf is what the shared rules find.
func adviceOf(f *advice.Facts) []advice.Finding {
	var list []advice.Finding
	for _, x := range advice.Find(f) {
		if !shared[x.Rule] || x.Kind == advice.Fact {
			continue
		}
		x.Evidence = nil
		list = append(list, x)
	}
	return list
}

// pool is an executor in the last minute; ok is false if too little is known of it.
func (j *jvm) pool(s *poolState, span, used units.Ns) (p advice.Pool, ok bool) {
	w := &s.all
	if s.workers == 0 || w.finished == 0 || w.summarised > 0 {
		return p, false
	}
	wall := units.Ns(w.service.sum)
	for _, o := range j.opens.list {
		if o.pool == s.flow {
			wall += units.Ns(min(j.opens.at-o.start, int64(span)))
		}
	}
	wall = min(wall, span*units.Ns(s.workers))
	p = advice.Pool{PoolName: advice.PoolName{Label: s.label}, From: units.MonoNs(j.now) - units.MonoNs(span), To: units.MonoNs(j.now),
		Workers: make([]advice.Worker, s.workers), Units: int64(w.finished), Wall: wall, Self: wall, CPU: units.NotMeasured,
		Active:    wall / units.Ns(s.workers), // at least: when all workers were busy
		Elsewhere: units.NotMeasured, One: units.NotMeasured, Several: units.NotMeasured,
		Stalled: units.NotMeasured, Runnable: units.NotMeasured, Taken: units.NotMeasured, TakenWait: units.NotMeasured,
		Longest: units.Ns(w.service.max), Heaviest: units.Ns(w.service.max)}
	w.queue.into(&p.Queue)
	w.service.into(&p.Wait)
	if w.cpuOf == w.finished {
		// What runs still has used a share like that of what has ended.
		p.CPU = units.Ns(float64(w.cpu) * float64(wall) / float64(max(1, w.service.sum)))
		if used.Measured() {
			p.Elsewhere = max(0, used-p.CPU)
		}
	}
	return p, true
}

// into adds the values to those of another kind of distribution.
func (h *histogram) into(v *granularity.Values) {
	if h.count == 0 {
		return
	}
	var list []loglinear.Bucket
	for i, n := range h.counts {
		if n > 0 {
			list = append(list, loglinear.Bucket{Index: uint16((int(h.first)+i)*coarse + coarse/2), Count: uint64(n)})
		}
	}
	least, _ := loglinear.Bounds(int(list[0].Index))
	v.AddSummarised(int64(h.count), units.Ns(h.sum), units.Ns(least), units.Ns(h.max), list)
}

// applicationCPU is what threads of the program used in the last minute, or NotMeasured.
func (j *jvm) applicationCPU() units.Ns {
	sum, known := 0.0, 0.0
	for s := max(0, j.head-sparkSeconds); s <= j.head; s++ {
		if b := j.at(s); b != nil {
			sum, known = sum+b.cpu[cpuApplication], known+b.cpuKnown
		}
	}
	if known == 0 {
		return units.NotMeasured
	}
	return units.Ns(sum)
}

// collections are those of the window.
func (j *jvm) collections() *advice.Collections {
	c := &advice.Collections{Paused: true}
	from := (j.now - int64(j.windowSpan())) / second
	for s := max(0, from); s <= j.head; s++ {
		if b := j.at(s); b != nil {
			c.Stopped += units.Ns(b.gc)
			c.Explicit += int64(b.explicit)
			c.Other += int64(b.pauses - b.explicit)
			c.ExplicitTime += units.Ns(b.gcExplicit)
			c.OtherTime += units.Ns(b.gc - b.gcExplicit)
		}
	}
	return c
}

// hotspots are the classes as the rules about executions take them.
func (j *jvm) hotspots(f *advice.Facts) []granularity.Hotspot {
	var rows []granularity.Hotspot
	total := int64(0)
	for _, c := range j.classFlows {
		w := c.sum(j.last() + 1)
		if w.service.count == 0 {
			continue
		}
		total += int64(w.finished)
		m := granularity.Metrics{granularity.Wall: w.service.stats(""), granularity.SelfWall: w.service.stats("")}
		if w.queue.count > 0 {
			m[queueMetric] = w.queue.stats(granularity.QueueName)
		}
		rows = append(rows, granularity.Hotspot{Class: c.name, Metrics: m, JDK: j.class(c.key.class).jdk && c.key.site == 0})
	}
	for i := range rows {
		rows[i].ExecutionShare = float64(rows[i].Metrics[granularity.Wall].Count) / float64(max(1, total))
	}
	f.Executions = total
	return rows
}

// queueMetric is the number of queue times among the metrics of a row; only its name matters.
const queueMetric = granularity.Metric(1 << 10)

func (h *histogram) stats(name string) granularity.Distribution {
	return granularity.Distribution{Name: name, Count: int64(h.count), Sum: units.Ns(h.sum), Mean: float64(h.sum) / float64(max(1, h.count)),
		P50: units.Ns(h.quantile(0.5)), P95: units.Ns(h.quantile(0.95)), P99: units.Ns(h.quantile(0.99)), Max: units.Ns(h.max)}
}
