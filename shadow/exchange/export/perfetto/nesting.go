package perfetto

import "stackagent/internal/units"

// span is a slice on a track.
type span struct{ from, to units.MonoNs }

// nesting holds the latest slices of a track that are in no other one, to find out where the next one fits.
type nesting struct{ top []span }

// maxTop bounds what is remembered of a track.
const maxTop = 1024

// place says where a slice belongs whose end is not before those of the slices before it, but for a few. Slices of a track
// must lie in each other or apart: one that overlaps another, as only clocks that differ can make it, gets another track.
//
// Events of one time keep the order in which they are written, so a slice that begins with the first one inside it would
// seem to lie in that. It begins a nanosecond earlier, where there is room for that.
func (n *nesting) place(s span) (from units.MonoNs, apart bool) {
	keep := len(n.top)
	for keep > 0 && n.top[keep-1].from >= s.from && n.top[keep-1].to <= s.to {
		keep--
	}
	inside := keep < len(n.top)
	if keep > 0 {
		before := n.top[keep-1]
		switch {
		case before.to <= s.from:
		case before.from < s.from && s.to <= before.to && !inside:
			return s.from, false // it was written late, and lies in one that is known
		default:
			return s.from, true
		}
	}
	from = s.from
	if inside && n.top[keep].from == s.from {
		if keep > 0 && n.top[keep-1].to >= s.from {
			return s.from, true
		}
		from--
	}
	n.top = append(n.top[:keep], span{from, s.to})
	if len(n.top) > maxTop {
		n.top = append(n.top[:0], n.top[maxTop/2:]...)
	}
	return from, false
}
