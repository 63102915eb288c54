package vertical

import (
	"encoding/binary"
	"math"
	"testing"
)

// values reads two bytes for each: mostly small numbers, and all that is special.
func values(data []byte) (out []float64) {
	for ; len(data) >= 2; data = data[2:] {
		n := binary.LittleEndian.Uint16(data)
		switch n % 16 {
		case 0:
			out = append(out, []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1), 1e150}[n/16%8])
		case 1, 2, 3, 4, 5, 6, 7:
			out = append(out, float64(n/16%3))
		default:
			out = append(out, float64(int16(n))/64)
		}
	}
	return out
}

// Whatever the values, nothing panics, and what is returned is in its bounds.
func FuzzAll(f *testing.F) {
	f.Add([]byte{}, []byte{1}, int16(0), int16(0))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaa"), []byte("ccccccccccccccccccccccccccddddddddddddcccccccccccccccccccc\x00\x00\x10\x00\x20\x00"), int16(14), int16(19))
	f.Fuzz(func(t *testing.T, a, b []byte, from, to int16) {
		if len(a)+len(b) > 4000 {
			return
		}
		x, y := Series{Name: "x", Values: values(a)}, Series{Name: "y", Values: values(b)}
		c := Correlate(x.Values, y.Values, Options{MaxLag: int(to) % 50, Events: y.Values, MinEvents: 1})
		if math.Abs(c.R) > 1 || math.Abs(c.Spearman) > 1 || c.P < 0 || c.P > 1 || c.Effective > float64(c.Samples) {
			t.Errorf("%+v", c)
		}
		last := 0
		for _, p := range ChangePoints(x.Values, PhaseOptions{MinLength: int(from) % 50}) {
			if p <= last || p >= len(x.Values) {
				t.Errorf("change point %d after %d of %d", p, last, len(x.Values))
			}
			last = p
		}
		e := Explain(x, []Series{y, x, {}}, Range{int(from), int(to)}, ExplainOptions{MaxLag: int(from) % 30})
		if e.Range.From < 0 || e.Range.To > len(x.Values) || e.Range.Len() != e.Range.To-e.Range.From {
			t.Errorf("%+v", e)
		}
	})
}
