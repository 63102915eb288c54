package evidence

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
)

// coverLimit is the number of pieces from which a cover joins some.
const coverLimit = 1 << 16

// cover is the time that spans cover together. Pauses shorter than slack count as
// covered. If there are too many pieces, slack grows: the time is then too long, never
// too short.
type cover struct {
	pieces []piece
	slack  units.MonoNs
}

type piece struct{ from, to units.MonoNs }

func (c *cover) add(from, to units.MonoNs) {
	if to <= from {
		return
	}
	if n := len(c.pieces); n > 0 {
		if last := &c.pieces[n-1]; from <= last.to+c.slack && to >= last.from-c.slack {
			last.from, last.to = min(last.from, from), max(last.to, to)
			return
		}
	}
	if c.pieces = append(c.pieces, piece{from, to}); len(c.pieces) < coverLimit {
		return
	}
	for c.join(); len(c.pieces) > coverLimit/2; c.join() {
		c.slack = max(1, 2*c.slack)
	}
}

// join merges pieces that touch.
func (c *cover) join() {
	slices.SortFunc(c.pieces, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	kept := c.pieces[:0]
	for _, p := range c.pieces {
		if n := len(kept); n > 0 && p.from <= kept[n-1].to+c.slack {
			kept[n-1].to = max(kept[n-1].to, p.to)
			continue
		}
		kept = append(kept, p)
	}
	c.pieces = kept
}

func (c *cover) merge(o *cover) {
	c.slack = max(c.slack, o.slack)
	for _, p := range o.pieces {
		c.add(p.from, p.to)
	}
}

// length is the time covered.
func (c *cover) length() (sum units.Ns) {
	c.join()
	for _, p := range c.pieces {
		sum += units.Ns(p.to - p.from)
	}
	return sum
}
