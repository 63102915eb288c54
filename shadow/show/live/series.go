package live

// series are those of the JVM's view.
func (j *jvm) series(last int64, executors []Executor) []Series {
	n := int(min(seriesSeconds, last+1))
	if n <= 0 {
		return []Series{}
	}
	count := func(of func(*bucket) uint32) Points {
		return j.points(last, n, func(b *bucket) float32 { return float32(of(b)) })
	}
	list := []Series{
		{"submitted", "submitted", "/s", count(func(b *bucket) uint32 { return b.submitted })},
		{"started", "started", "/s", count(func(b *bucket) uint32 { return b.started })},
		{"finished", "finished", "/s", count(func(b *bucket) uint32 { return b.finished })},
		{"rejected", "rejected", "/s", count(func(b *bucket) uint32 { return b.rejected })},
		{"threw", "ended by an exception", "/s", count(func(b *bucket) uint32 { return b.threw })},
		{"running", "running", "", j.with(last, n, ofRunning, j.openSpans())},
		{"queued", "queued", "", j.with(last, n, ofQueued, j.queuedSpans())},
		{"gc", "stopped for garbage collection", "share", j.points(last, n, func(b *bucket) float32 { return float32(min(1, float64(b.gc)/second)) })},
		{"lost", "lost events", "/s", j.points(last, n, func(b *bucket) float32 { return float32(b.lost) })},
	}
	if j.cpu.fresh {
		for k := range cpuKinds {
			list = append(list, Series{"cpu:" + cpuKinds[k].key, cpuKinds[k].label, "", j.points(last, n, func(b *bucket) float32 {
				if b.cpuKnown == 0 {
					return nan
				}
				return float32(b.cpu[k] / b.cpuKnown)
			})})
		}
	}
	return list
}

// with adds to what has ended the time of what is open: since when each of spans is.
func (j *jvm) with(last int64, n int, of func(*bucket) *float64, spans []int64) Points {
	first := last - int64(n) + 1
	// open[i] is what begins in second i; part of it falls into that second.
	open, part := make([]float64, n), make([]float64, n)
	for _, from := range spans {
		switch i := from/second - first; {
		case i < 0:
			open[0]++
			part[0] += second
		case i < int64(n):
			open[i]++
			part[i] += float64((from/second+1)*second - from)
		}
	}
	p, i, before := make(Points, n), 0, 0.0
	for sec := first; sec <= last; sec, i = sec+1, i+1 {
		p[i] = nan
		if b := j.at(sec); b != nil {
			p[i] = float32((*of(b) + part[i] + before*second) / second)
		}
		before += open[i]
	}
	return p
}

func (j *jvm) openSpans() []int64 {
	list := make([]int64, 0, len(j.opens.list))
	for _, o := range j.opens.list {
		list = append(list, o.start)
	}
	return append(list, j.slotSpans(true)...)
}

func (j *jvm) queuedSpans() []int64 { return j.slotSpans(false) }

func (j *jvm) slotSpans(alone bool) []int64 {
	list := make([]int64, 0, len(j.pending.slots))
	for i := j.pending.oldest; i >= 0; i = j.pending.slots[i].newer {
		if s := &j.pending.slots[i]; s.alone == alone {
			list = append(list, s.at)
		}
	}
	return list
}
