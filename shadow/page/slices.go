package page

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

type span = activity.Span

// Limits of single tasks.
const (
	allSlices   = 100_000 // up to so many, all are kept
	someSlices  = 40_000  // else so many, at random
	mostLongest = 20      // and so many of each class, the longest
	mostLongs   = 20_000  // in all
)

// slice is a single task.
type slice struct {
	key        rowKey
	start, end units.MonoNs
	queue, cpu units.Ns
	random     uint64
	long       bool
}

// compare orders slices by start; no two that differ are equal.
func (s *slice) compare(o *slice) int {
	return cmp.Or(cmp.Compare(s.start, o.start), cmp.Compare(o.end, s.end), s.key.compare(o.key), cmp.Compare(s.queue, o.queue), cmp.Compare(s.cpu, o.cpu))
}

// sampler keeps the longest tasks of each class, and of all tasks those with the least random numbers. The number of a task depends
// on the task and the seed alone, so that the sample does not depend on the order of reading.
type sampler struct {
	total   int64
	some    worst
	longest map[uint32]*worst // by class
}

func newSampler() *sampler {
	return &sampler{some: worst{less: func(a, b *slice) bool { return cmp.Or(cmp.Compare(a.random, b.random), a.compare(b)) < 0 }}, longest: map[uint32]*worst{}}
}

// worst is a heap with the slice to drop at its top.
type worst struct {
	list []slice
	less func(a, b *slice) bool // is a rather kept
}

func (w *worst) Len() int           { return len(w.list) }
func (w *worst) Less(i, j int) bool { return w.less(&w.list[j], &w.list[i]) }
func (w *worst) Swap(i, j int)      { w.list[i], w.list[j] = w.list[j], w.list[i] }
func (w *worst) Push(x any)         { w.list = append(w.list, x.(slice)) }
func (w *worst) Pop() any {
	last := w.list[len(w.list)-1]
	w.list = w.list[:len(w.list)-1]
	return last
}

// keep adds a slice if it is better than the worst of most.
func (w *worst) keep(s *slice, most int) {
	switch {
	case len(w.list) < most:
		heap.Push(w, *s)
	case w.less(s, &w.list[0]):
		w.list[0] = *s
		heap.Fix(w, 0)
	}
}

// seedOf is the seed of a session: the same page is made of it each time.
func seedOf(session string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(session))
	return h.Sum64()
}

// mix makes a random number of a number (SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (p *sampler) add(s slice, seed uint64) {
	p.total++
	s.random = mix(mix(mix(seed^uint64(s.start))^uint64(s.end)) ^ uint64(s.key.thread)<<32 ^ uint64(s.key.class))
	p.some.keep(&s, allSlices+1)
	p.long(&s)
}

func (p *sampler) long(s *slice) {
	l := p.longest[s.key.class]
	if l == nil {
		if len(p.longest) >= mostLongs/mostLongest {
			return
		}
		l = &worst{less: func(a, b *slice) bool {
			return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), a.compare(b)) < 0
		}}
		p.longest[s.key.class] = l
	}
	l.keep(s, mostLongest)
}

func (p *sampler) merge(o *sampler) {
	p.total += o.total
	for i := range o.some.list {
		p.some.keep(&o.some.list[i], allSlices+1)
	}
	for _, l := range o.longest {
		for i := range l.list {
			p.long(&l.list[i])
		}
	}
}

// result are the slices to show, by start, and whether they are not all.
func (p *sampler) result() (list []slice, sampled bool) {
	list = p.some.list
	if sampled = len(list) > allSlices; !sampled {
		slices.SortFunc(list, func(a, b slice) int { return a.compare(&b) })
		return list, p.total > int64(len(list))
	}
	slices.SortFunc(list, func(a, b slice) int { return cmp.Compare(a.random, b.random) })
	list = list[:someSlices]
	for _, l := range p.longest {
		for _, s := range l.list {
			s.long = true
			list = append(list, s)
		}
	}
	// A slice that is long and drawn is kept as long.
	slices.SortFunc(list, func(a, b slice) int { return cmp.Or(a.compare(&b), boolCompare(b.long, a.long)) })
	return slices.CompactFunc(list, func(a, b slice) bool { return a.long && !b.long && a.compare(&b) == 0 }), true
}

// writeSlices writes single tasks.
func (d *divider) writeSlices(list []slice, sampled bool, total int64, executors, sites *labels) {
	to := &d.data.Slices
	to.Total, to.All = float64(total), !sampled
	depths := depthsOf(list)
	for i := range list {
		s := &list[i]
		to.Start, to.Ns = append(to.Start, d.axis.at(s.start)), append(to.Ns, float32(s.end-s.start))
		to.Queue, to.CPU = append(to.Queue, float32(max(-1, s.queue))), append(to.CPU, float32(max(-1, s.cpu)))
		to.Thread, to.Class = append(to.Thread, narrow(s.key.thread)), append(to.Class, narrow(s.key.class))
		to.Executor, to.Site = append(to.Executor, executors.index(s.key.executor)), append(to.Site, sites.index(s.key.site))
		to.Depth = append(to.Depth, depths[i])
		drawn := uint8(0)
		if sampled && !s.long {
			drawn = 1
		}
		to.Sampled = append(to.Sampled, drawn)
	}
}

// depthsOf says of slices in order in how many others of its thread each is nested.
func depthsOf(list []slice) []uint8 {
	out, open := make([]uint8, len(list)), map[uint32][]units.MonoNs{}
	for i := range list {
		s := &list[i]
		around := open[s.key.thread]
		for len(around) > 0 && around[len(around)-1] <= s.start && s.end > s.start {
			around = around[:len(around)-1]
		}
		out[i] = uint8(min(len(around), 255))
		open[s.key.thread] = append(around, s.end)
	}
	return out
}
