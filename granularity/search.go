package granularity

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
)

// A bucket is too wide to give a value of a few thousand nanoseconds exactly.
// Values notes which buckets the questions were about. Another reading of the
// values, in any order, fills these buckets: with the values themselves if they are
// few, else with counts in narrower buckets, and so on until all is known.

const (
	keepMax   = 4096 // values of a bucket that are kept one by one
	splitBits = 12   // a bucket with more is divided into 4096
	maxWants  = 255  // buckets of one Values that one reading fills
)

// want is a range of values to look into.
type want struct {
	lo, hi int64
	n      int64 // how many values lie in it
	put    func(*content)
}

// content is the content of a range of values, as far as known.
type content struct {
	cell
	values []int64          // ascending; or
	counts []int64          // in ranges 1<<shift wide
	inside map[int]*content // what is known of a range
	shift  uint
	failed bool // another reading found other values
}

// contentOf is what is known of a bucket. If that is nothing, it notes the bucket and
// returns nil.
func (v *Values) contentOf(c cell) *content {
	bucket := fine.Signed(c.lo)
	if found := v.tally.found[bucket]; found != nil {
		return found
	}
	v.wish(want{c.lo, c.hi, c.n, func(x *content) {
		if v.tally.found == nil {
			v.tally.found = map[int]*content{}
		}
		v.tally.found[bucket] = x
	}})
	return nil
}

// wish notes a range, once.
func (v *Values) wish(w want) {
	same := func(o want) bool { return o.lo == w.lo && o.hi == w.hi }
	if len(v.wants) < maxWants && !slices.ContainsFunc(v.wants, same) {
		v.wants = append(v.wants, w)
	}
}

// at is the i-th smallest value of the range, if it is known.
func (c *content) at(i int64, v *Values) (int64, bool) {
	switch {
	case c == nil || c.failed:
		return 0, false
	case c.values != nil:
		return c.values[i], true
	}
	for k, n := range c.counts {
		if i >= n {
			i -= n
			continue
		}
		if c.shift == 0 {
			return c.lo + int64(k), true
		}
		return c.child(k, v).at(i, v)
	}
	return 0, false
}

// below is the number of values of the range smaller than x, if it is known.
func (c *content) below(x int64, v *Values) (int64, bool) {
	switch {
	case c == nil || c.failed:
		return 0, false
	case c.values != nil:
		i, _ := slices.BinarySearch(c.values, x)
		return int64(i), true
	}
	var total int64
	last := int((x - c.lo) >> c.shift)
	for _, n := range c.counts[:last] {
		total += n
	}
	if c.lo+int64(last)<<c.shift == x || c.counts[last] == 0 {
		return total, true
	}
	n, ok := c.child(last, v).below(x, v)
	return total + n, ok
}

// child is what is known of the k-th narrower range. If that is nothing, it notes the
// range and returns nil.
func (c *content) child(k int, v *Values) *content {
	if found := c.inside[k]; found != nil {
		return found
	}
	lo := c.lo + int64(k)<<c.shift
	v.wish(want{lo, lo + (1<<c.shift - 1), c.counts[k], func(x *content) {
		if c.inside == nil {
			c.inside = map[int]*content{}
		}
		c.inside[k] = x
	}})
	return nil
}

// Unknown reports whether an answer since the last Search needs another reading to be
// exact.
func (v *Values) Unknown() bool { return len(v.wants) > 0 }

// SearchBytes estimates the memory of a Search of v.
func (v *Values) SearchBytes() int {
	total := 0
	for _, w := range v.wants {
		total += 8*int(min(w.n, keepMax)) + pageLen
	}
	return total
}

// Search collects in another reading what Values does not know. Each goroutine has
// its own.
type Search struct {
	wants   []want
	found   []content
	targets [numPages]*[pageLen]uint8 // by bucket: the number of its first want, from 1
}

// Search returns a Search for all that is unknown; nil if nothing is.
func (v *Values) Search() *Search {
	if len(v.wants) == 0 {
		return nil
	}
	slices.SortFunc(v.wants, func(a, b want) int { return cmp.Compare(a.lo, b.lo) })
	s := &Search{wants: v.wants, found: make([]content, len(v.wants))}
	for i, w := range v.wants {
		c := &s.found[i]
		c.lo, c.hi = w.lo, w.hi
		if w.n > keepMax {
			for (w.hi-w.lo)>>c.shift >= 1<<splitBits {
				c.shift++
			}
			c.counts = make([]int64, (w.hi-w.lo)>>c.shift+1)
		}
		b := fine.Signed(w.lo)
		p := &s.targets[b>>fine+halfPages]
		if *p == nil {
			*p = new([pageLen]uint8)
		}
		if at := &(*p)[b&(pageLen-1)]; *at == 0 {
			*at = uint8(i + 1)
		}
	}
	return s
}

// Look takes a value.
func (s *Search) Look(n units.Ns) {
	b := fine.Signed(int64(n))
	p := s.targets[b>>fine+halfPages]
	if p == nil {
		return
	}
	if first := p[b&(pageLen-1)]; first != 0 {
		s.take(int64(n), int(first)-1)
	}
}

// take adds x to the want that it is in, from the i-th on.
func (s *Search) take(x int64, i int) {
	for ; i < len(s.found) && s.found[i].lo <= x; i++ {
		c := &s.found[i]
		if x > c.hi {
			continue
		}
		c.n++
		switch {
		case c.counts != nil:
			c.counts[(x-c.lo)>>c.shift]++
		case len(c.values) <= keepMax: // more than before: Learn makes it fail
			c.values = append(c.values, x)
		}
		return
	}
}

// Learn adds what the searches of all goroutines have found.
func (v *Values) Learn(searches ...*Search) {
	if len(searches) == 0 {
		return
	}
	for i, w := range searches[0].wants {
		whole := &searches[0].found[i]
		for _, s := range searches[1:] {
			part := &s.found[i]
			whole.n += part.n
			whole.values = append(whole.values, part.values...)
			for k, n := range part.counts {
				whole.counts[k] += n
			}
		}
		slices.Sort(whole.values)
		whole.failed = whole.n != w.n
		w.put(whole)
	}
	v.wants = nil
}
