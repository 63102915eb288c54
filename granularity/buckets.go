package granularity

import "math/bits"

// Values are counted in buckets of a relative width of 2^-10 and less: each
// nanosecond below 2048 has its own, then 1024 share each power of two. The
// buckets of negative values mirror them and have negative numbers. The buckets of
// package loglinear, in which the agent counts, are unions of fine buckets.
const (
	fineBits  = 10
	pageLen   = 1 << fineBits
	exactFrom = 2 * pageLen // values below this are exact
	halfPages = 54          // of the values from 0 on
	numPages  = 2 * halfPages
)

// bucketOf is the number of the bucket of v.
func bucketOf(v int64) int {
	if v < 0 {
		return -magnitude(uint64(-v))
	}
	return magnitude(uint64(v))
}

func magnitude(v uint64) int {
	shift := bits.Len64(v|pageLen) - (fineBits + 1)
	return shift<<fineBits + int(v>>shift)
}

// boundsOf are the least and the greatest value of a bucket.
func boundsOf(bucket int) (lo, hi int64) {
	if bucket < 0 {
		lo, hi = boundsOf(-bucket)
		return -hi, -lo
	}
	if bucket < exactFrom {
		return int64(bucket), int64(bucket)
	}
	shift := bucket>>fineBits - 1
	lo = int64(bucket-shift<<fineBits) << shift
	return lo, lo + (1<<shift - 1)
}

// tally counts values by bucket.
type tally struct {
	pages [numPages]*[pageLen]uint32
	over  map[int]int64 // the part of a count above 32 bits
	found map[int]*content
}

func (t *tally) add(v int64) {
	b := bucketOf(v)
	p := t.pages[b>>fineBits+halfPages]
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
	t.pages[b>>fineBits+halfPages] = p
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
				t.carry((i-halfPages)<<fineBits + j)
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
			b := (i-halfPages)<<fineBits + j
			total := int64(n)
			if t.over != nil {
				total += t.over[b]
			}
			if total == 0 {
				continue
			}
			lo, hi := boundsOf(b)
			if !f(cell{lo, hi, total}) {
				return
			}
		}
	}
}
