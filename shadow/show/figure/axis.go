package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"stackagent/internal/units"
)

// logRange is the range of a logarithmic axis: decimal logarithms of
// nanoseconds, of bytes or of counts.
type logRange struct {
	lo, hi float64
	unit   string // "ns", "bytes", "": a count
}

// rangeOf covers min to max, at least a decade, with a margin on both sides. It ignores
// values that are not positive; without any it is 1 to 10.
func rangeOf(unit string, lo, hi units.Ns) logRange {
	if hi < 1 {
		return logRange{0, 1, unit}
	}
	r := logRange{log10(max(lo, 1)), log10(hi), unit}
	if air := 0.03 * (r.hi - r.lo); air > 0 {
		r.lo, r.hi = r.lo-air, r.hi+air
	}
	if short := 1 - (r.hi - r.lo); short > 0 {
		r.lo, r.hi = r.lo-short/2, r.hi+short/2
	}
	return r
}

func log10(n units.Ns) float64 { return math.Log10(float64(n)) }

// clamp is where n is drawn; values at or below zero go to the left edge.
func (r logRange) clamp(n units.Ns) float64 {
	if n < 1 {
		return r.lo
	}
	return min(max(log10(n), r.lo), r.hi)
}

// Ticks implements plot.Ticker: a label per decade (per second or third decade
// when there are many), small ticks between; over less than two decades also
// labels at 2 and 5.
func (r logRange) Ticks(lo, hi float64) []plot.Tick {
	step := 1 + int((hi-lo)/11)
	fine := hi-lo < 2.2
	var ticks []plot.Tick
	for d := int(math.Floor(lo)); d <= int(math.Ceil(hi)); d++ {
		for i := 1; i <= 9; i++ {
			x := float64(d) + math.Log10(float64(i))
			if x < lo-1e-9 || x > hi+1e-9 {
				continue
			}
			t := plot.Tick{Value: x}
			if i == 1 && d%step == 0 || fine && (i == 2 || i == 5) {
				t.Label = r.label(d, i)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// label is i * 10^d in the range's unit.
func (r logRange) label(d, i int) string {
	if r.unit == "ns" {
		return decadeLabel(d, i)
	}
	scale := min(max(d, 0)/3, 4)
	text := strconv.FormatFloat(float64(i)*math.Pow10(d-3*scale), 'g', 4, 64)
	if r.unit == "bytes" {
		return text + " " + []string{"B", "kB", "MB", "GB", "TB"}[scale]
	}
	return text + []string{"", " k", " M", " G", " T"}[scale]
}

// decadeLabel is i * 10^d nanoseconds, "100 µs".
func decadeLabel(d, i int) string {
	unit := []string{"ns", "µs", "ms", "s"}
	switch {
	case d < 0: // no value is below a nanosecond, but a range may begin there
		return strconv.FormatFloat(float64(i)*math.Pow10(d), 'g', 3, 64) + " ns"
	case d < 12:
		u := min(d/3, 3)
		return strconv.Itoa(i*int(math.Pow10(d-3*u))) + " " + unit[u]
	}
	return strconv.FormatFloat(float64(i)*math.Pow10(d-9), 'g', 3, 64) + " s"
}

// timeUnit is the unit in which a linear axis up to n is labelled, and its
// size in nanoseconds.
func timeUnit(n units.Ns) (string, float64) {
	switch {
	case n < 2_000:
		return "ns", 1
	case n < 2_000_000:
		return "µs", 1e3
	case n < 2_000_000_000:
		return "ms", 1e6
	}
	return "s", 1e9
}

// linearTicks has a label at about n round values (1, 2, 5 times a power of
// ten).
func linearTicks(n int) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		step := roundStep((hi - lo) / float64(n))
		prec := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		var ticks []plot.Tick
		for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
			v := i*step + 0 // + 0 turns a negative zero into zero
			ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v, prec)})
		}
		return ticks
	}
}

func roundStep(raw float64) float64 {
	if raw <= 0 || math.IsNaN(raw) || math.IsInf(raw, 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*base >= raw*(1-1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// tickLabel prints large figures as 20 k, 1.5 M.
func tickLabel(v float64, prec int) string {
	for _, s := range []struct {
		f    float64
		unit string
	}{{1e9, " G"}, {1e6, " M"}, {1e4, " k"}} {
		if math.Abs(v) >= s.f {
			f := s.f
			if f == 1e4 {
				f = 1e3
			}
			return strconv.FormatFloat(v/f, 'f', -1, 64) + s.unit
		}
	}
	return strconv.FormatFloat(v, 'f', prec, 64)
}

// widthOf is the width of a text as drawn.
func widthOf(s string, size vg.Length) vg.Length {
	st := textStyle(size, regular, left, top)
	return st.Width(s)
}
