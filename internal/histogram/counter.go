package histogram

const (
	pageLen   = PerOctave
	halfPages = Buckets / pageLen
)

// Counter counts many values quickly: fewer than 2^32. The zero value is empty and ready.
type Counter struct {
	Moments
	pages [2 * halfPages]*[pageLen]uint32 // of buckets, from the smallest
}

// Add counts a value.
func (c *Counter) Add(v int64) {
	c.Moments.Add(v)
	i := uint(Agent.Signed(v) + halfPages*pageLen)
	p := c.pages[i/pageLen]
	if p == nil {
		p = new([pageLen]uint32)
		c.pages[i/pageLen] = p
	}
	p[i%pageLen]++
}

// Histogram has the values that were counted.
func (c *Counter) Histogram() Histogram {
	h := Histogram{Moments: c.Moments}
	for page, p := range c.pages {
		if p == nil {
			continue
		}
		for i, n := range p {
			if n > 0 {
				h.Counts.Add(int16((page-halfPages)*pageLen+i), int64(n))
			}
		}
	}
	return h
}
