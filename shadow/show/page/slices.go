package page

import (
	"cmp"
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
	some    best
	longest map[uint32]*best // by class
}

func newSampler() *sampler {
	return &sampler{some: best{most: allSlices + 1, compare: byNumber}, longest: map[uint32]*best{}}
}

func byNumber(a, b slice) int { return cmp.Or(cmp.Compare(a.random, b.random), a.compare(&b)) }
func byLength(a, b slice) int {
	return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), a.compare(&b))
}

// best keeps the first slices of an order. It sorts now and then, which costs less than to keep an order all the time.
type best struct {
	most    int
	compare func(a, b slice) int
	list    []slice
	full    bool // list[most-1] was the last one to keep when it was last sorted
	last    slice
}

func (b *best) add(s *slice) {
	if b.full && b.compare(*s, b.last) >= 0 {
		return
	}
	if b.list = append(b.list, *s); len(b.list) >= 2*b.most {
		b.cut()
	}
}

// cut sorts and drops what is too much.
func (b *best) cut() []slice {
	slices.SortFunc(b.list, b.compare)
	if len(b.list) >= b.most {
		b.list = b.list[:b.most]
		b.full, b.last = true, b.list[b.most-1]
	}
	return b.list
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
	if !p.some.full || s.random <= p.some.last.random { // nearly all tasks of a large session are beyond
		p.some.add(&s)
	}
	p.long(&s)
}

func (p *sampler) long(s *slice) {
	if s.key.class >= mostLongs/mostLongest { // classes are in the order of their work
		return
	}
	l := p.longest[s.key.class]
	if l == nil {
		l = &best{most: mostLongest, compare: byLength}
		p.longest[s.key.class] = l
	}
	if !l.full || s.end-s.start >= l.last.end-l.last.start {
		l.add(s)
	}
}

func (p *sampler) merge(o *sampler) {
	p.total += o.total
	for i := range o.some.list {
		p.some.add(&o.some.list[i])
	}
	for _, l := range o.longest {
		for i := range l.list {
			p.long(&l.list[i])
		}
	}
}

// result are the slices to show, by start, and whether they are not all.
func (p *sampler) result() (list []slice, sampled bool) {
	list = p.some.cut()
	if sampled = len(list) > allSlices; !sampled {
		slices.SortFunc(list, func(a, b slice) int { return a.compare(&b) })
		return list, p.total > int64(len(list))
	}
	list = list[:someSlices]
	for _, l := range p.longest {
		for _, s := range l.cut() {
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
