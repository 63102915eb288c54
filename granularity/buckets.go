package granularity

import "stackagent/internal/histogram"

// Values are counted in buckets of a relative width of 2^-10 and less: each
// nanosecond below 2048 has its own, then 1024 share each power of two. The
// buckets in which the agent counts are unions of fine ones.
const (
	fine      histogram.Scale = 10
	pageLen                   = 1 << fine
	exactFrom                 = 2 * pageLen // values below this are exact
	halfPages                 = 54          // of the values from 0 on
	numPages                  = 2 * halfPages
)

// tally counts values by bucket.
type tally struct {
	pages [numPages]*[pageLen]uint32
	over  map[int]int64 // the part of a count above 32 bits
	found map[int]*content
}

func (t *tally) add(v int64) {
	b := fine.Signed(v)
	p := t.pages[b>>fine+halfPages]
	if p == nil {
		p = t.page(b)
	}
	n := &p[b&(pageLen-1)]
	if *n++; *n == 0 {
		t.carry(b)
	}
}

// page makes the page of bucket b.
func (t *tally) page(b int) *[pageLen]uint32 {
	p := new([pageLen]uint32)
	t.pages[b>>fine+halfPages] = p
	return p
}

func (t *tally) carry(b int) {
	if t.over == nil {
		t.over = map[int]int64{}
	}
	t.over[b] += 1 << 32
}

func (t *tally) merge(o *tally) {
	for i, from := range o.pages {
		if from == nil {
			continue
		}
		to := t.pages[i]
		if to == nil {
			c := *from
			t.pages[i] = &c
			continue
		}
		for j, n := range from {
			if to[j] += n; to[j] < n {
				t.carry((i-halfPages)<<fine + j)
			}
		}
	}
	for b, n := range o.over {
		if t.over == nil {
			t.over = map[int]int64{}
		}
		t.over[b] += n
	}
}

// cell is a bucket that holds n values, n > 0.
type cell struct{ lo, hi, n int64 }

// cells calls f with the buckets that hold values, ascending, until f has enough.
func (t *tally) cells(f func(cell) bool) {
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			b := (i-halfPages)<<fine + j
			total := int64(n)
			if t.over != nil {
				total += t.over[b]
			}
			if total == 0 {
				continue
			}
			lo, hi := fine.SignedBounds(b)
			if !f(cell{lo, hi, total}) {
				return
			}
		}
	}
}
