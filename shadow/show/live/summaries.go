package live

import (
	"cmp"

	"stackagent/granularity/unit"
	"stackagent/internal/histogram"
	"stackagent/internal/wire"
)

// byCountFor is how long after a summary of a class its waiting tasks are known by counting only: some of its
// submissions are summed up, and some of its executions.
const byCountFor = 15 * second

// summary takes what stands for executions that have no record.
func (j *jvm) summary(s *wire.Summary) {
	j.counted += s.Executions
	c := j.class(s.Class)
	if c.role == unit.Loop || c.role == unit.Internal || c.role == unit.Wrapper || s.Flags&wire.SummaryPart != 0 {
		return // no tasks, or parts of others
	}
	from, to := j.ns(s.From), j.ns(s.To)
	if to <= from {
		from = max(0, to-1)
	}
	f := j.flowOf(s.Class, 0)
	// What a worker ran was given to its executor. Which one the others were given to is not in a summary: it is taken to be
	// the class's last.
	pool := cmp.Or(f.home, j.executorFlow(0))
	if t := j.threads[s.Thread]; t != nil && t.executor != 0 && s.Executions > 0 {
		pool = j.executorFlow(t.executor)
		f.home = pool
	}
	j.byCount(f)
	submitted := s.Submissions - min(s.Inner, s.Submissions)
	f.counted += int64(submitted) - int64(s.Cancelled)
	f.cancelled += s.Cancelled
	j.spreadCounts(f, pool, s, submitted+s.Rejected, from, to)
	j.measures(f, pool, s, to)
}

// byCount makes the waiting tasks of a class known by counting only.
func (j *jvm) byCount(f *flow) {
	if j.now >= f.byCount && f.waiting+f.alone > 0 {
		j.pending.drop(func(s *slot) bool {
			if s.flow != f {
				return false
			}
			j.waits(s, -1)
			return true
		})
	}
	f.byCount = j.now + byCountFor
}

// spreadCounts puts the counts of a summary into the seconds that it covers.
func (j *jvm) spreadCounts(f, pool *flow, s *wire.Summary, submitted uint64, from, to int64) {
	first, last := from/second, (to-1)/second
	n := uint64(last - first + 1)
	executions, threw, rejected := s.Executions, s.Threw, s.Rejected
	for sec := first; sec <= last; sec, n = sec+1, n-1 {
		// An equal part of what is left: the sum stays exact.
		sub, ran, bad, no := submitted/n, executions/n, threw/n, rejected/n
		submitted, executions, threw, rejected = submitted-sub, executions-ran, threw-bad, rejected-no
		for _, x := range []*flow{f, pool} {
			x.submit(sec, sub)
			x.start(sec, ran)
			x.finish(sec, ran)
			x.reject(sec, no)
			x.threw += bad
			x.summarised += ran
			if w := x.at(sec); w != nil {
				w.finished += uint32(ran)
				w.summarised += uint32(ran)
				w.threw += uint32(bad)
			}
		}
		if b := j.at(sec); b != nil {
			b.submitted += uint32(sub)
			b.started += uint32(ran)
			b.finished += uint32(ran)
			b.threw += uint32(bad)
			b.rejected += uint32(no)
		}
	}
}

// measures takes the times of a summary. Those of a random sample stand for all.
func (j *jvm) measures(f, pool *flow, s *wire.Summary, to int64) {
	scale := 1.0
	if s.Timed > 0 && s.Timed < s.Executions {
		f.estimated, pool.estimated = true, true
		scale = float64(s.Executions) / float64(s.Timed)
	}
	queued := false
	for i := range s.Measures {
		m := &s.Measures[i]
		switch m.Metric {
		case wire.MetricWall:
			sum := int64(float64(j.clock.span(m.Sum)) * scale)
			j.distribute(f, pool, m, to, sum, scale, false)
			if b := j.at((to - 1) / second); b != nil {
				b.running += float64(sum)
			}
		case wire.MetricQueue:
			queued = true
			sum := int64(float64(j.clock.span(m.Sum)) * scale)
			j.distribute(f, pool, m, to, sum, scale, true)
			f.counted -= int64(float64(m.Count) * scale)
		}
	}
	if !queued {
		f.counted -= int64(min(s.Executions, f.submitted))
	}
	f.counted = max(f.counted, 0)
}

func (j *jvm) distribute(f, pool *flow, m *wire.Measure, to, sum int64, scale float64, queue bool) {
	sec := (to - 1) / second
	var recent *durations
	if r := &j.recent[sec&(recentSeconds-1)]; queue && r.sec == sec {
		recent = &r.queue
	}
	for _, x := range []*flow{f, pool} {
		all, h := &x.runAll, (*durations)(nil)
		if queue {
			all = &x.queueAll
		}
		if w := x.at(sec); w != nil {
			h = &w.service
			if queue {
				h = &w.queue
			}
			h.sum += sum
			h.max = max(h.max, j.clock.span(m.Max))
		}
		all.sum += sum
		for _, b := range m.Buckets {
			n, middle := uint64(float64(b.Count)*scale+0.5), int64(histogram.Middle(int(b.Index)))
			if h != nil {
				h.addTo(bucketOf(middle), n)
			}
			all.add(middle, n)
		}
	}
	if recent != nil {
		for _, b := range m.Buckets {
			recent.addTo(bucketOf(int64(histogram.Middle(int(b.Index)))), uint64(float64(b.Count)*scale+0.5))
		}
		recent.max = max(recent.max, j.clock.span(m.Max))
	}
}
