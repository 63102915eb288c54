package budget

import (
	"cmp"
	"math"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// margin says how far a true figure may be from the one that a session has: at least the figure less below, at most the figure
// plus above. Inf is no bound.
type margin struct {
	below, above float64
	doubt        string // why; "": the figure is exact
}

// doubts is the key of a tree with margins.
const doubts = "doubts"

// Doubt records how far the true figure of a name, or of all that the name holds, may be from that in the tree; why says
// the reason. Inf both ways is a figure that is not known.
func (t Tree) Doubt(name, why string, below, above float64) {
	all, ok := t[doubts].(map[string]margin)
	if !ok {
		all = map[string]margin{}
		t[doubts] = all
	}
	all[name] = margin{below, above, text.OneLine(why)}
}

// margin is that of a figure, or of the object that it is in.
func (t Tree) margin(name string) margin {
	all, _ := t[doubts].(map[string]margin)
	for {
		if m, ok := all[name]; ok {
			return m
		}
		if parts := strings.Split(name, "."); len(parts) == 3 { // metrics.*.sum is of each metric
			if m, ok := all[parts[0]+".*."+parts[2]]; ok {
				return m
			}
		}
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			return margin{}
		}
		name = name[:i]
	}
}

// unknown is why the figure says nothing; "": it says something.
func (m margin) unknown() string {
	if math.IsInf(m.below, 1) && math.IsInf(m.above, 1) {
		return m.doubt
	}
	return ""
}

// unbounded is why the figure, a bound at most, cannot be set against another; "": it can.
func (m margin) unbounded() string {
	if math.IsInf(m.below, 1) || math.IsInf(m.above, 1) {
		return m.doubt
	}
	return ""
}

// bounds are what the figure is at least and at most; nil: there is no such bound, or the figure is exact.
func (m margin) bounds(v float64) (low, high *float64) {
	if m.doubt == "" {
		return nil, nil
	}
	if !math.IsInf(m.below, 1) {
		low = new(v - m.below)
	}
	if !math.IsInf(m.above, 1) {
		high = new(v + m.above)
	}
	return low, high
}

func (m margin) plus(o margin) margin {
	return margin{m.below + o.below, m.above + o.above, cmp.Or(m.doubt, o.doubt)}
}

func (m margin) over(n float64) margin { return margin{m.below / n, m.above / n, m.doubt} }

// swapped is the margin of the negative figure.
func (m margin) swapped() margin { return margin{m.above, m.below, m.doubt} }

// text is a figure with what bounds it.
func (m margin) text(unit string, v float64) string {
	low, high := units.FormatIn(unit, v-m.below), units.FormatIn(unit, v+m.above)
	switch {
	case m.doubt == "":
		return units.FormatIn(unit, v)
	case v-m.below <= 0 && !math.IsInf(m.above, 1): // no figure with a margin is negative
		return "at most " + high
	case math.IsInf(m.above, 1):
		return "at least " + low
	}
	return low + " to " + high
}

// exact is a value without a margin.
func (v value) exact() bool { return v.doubt == "" }

// ends are the least and the greatest that a value may be.
func (v value) ends() (low, high float64) { return v.v - v.below, v.v + v.above }

// calculated is a op b with the margin of both.
func calculated(op string, a, b value) value {
	out := number64(arithmetic[op](a.v, b.v))
	if a.exact() && b.exact() || out.why != "" {
		return out
	}
	out.doubt = cmp.Or(a.doubt, b.doubt)
	low, high := math.Inf(1), math.Inf(-1)
	a0, a1 := a.ends()
	b0, b1 := b.ends()
	for _, x := range []float64{a0, a1} {
		for _, y := range []float64{b0, b1} {
			v := arithmetic[op](x, y)
			if math.IsNaN(v) || op == "/" && b0 <= 0 && b1 >= 0 {
				out.below, out.above = math.Inf(1), math.Inf(1)
				return out
			}
			low, high = min(low, v), max(high, v)
		}
	}
	out.below, out.above = out.v-low, high-out.v
	return out
}

// compared is the truth of a op b; not available where the margins allow both.
func compared(op string, a, b value) value {
	holds := comparisons[op]
	result := truth(holds(a.v, b.v))
	if a.exact() && b.exact() {
		return result
	}
	a0, a1 := a.ends()
	b0, b1 := b.ends()
	certain := false
	switch op {
	case "==", "!=":
		certain = a1 < b0 || b1 < a0
	default:
		certain = holds(a0, b1) == holds(a1, b0)
	}
	if !certain {
		return value{why: cmp.Or(a.doubt, b.doubt)}
	}
	return result
}
