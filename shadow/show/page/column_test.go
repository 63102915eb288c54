package page

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// decode reads a column as the page does.
func decode[T number](t *testing.T, text []byte) []T {
	t.Helper()
	var c struct {
		Type, Form string
		N          int
		Data       []byte
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	out := make([]T, c.N)
	r := bytes.NewReader(c.Data)
	next := func() int64 {
		v, err := binary.ReadVarint(r)
		if err != nil {
			t.Fatalf("%s: %v", c.Form, err)
		}
		return v
	}
	if c.Form == "raw" {
		if err := binary.Read(r, binary.LittleEndian, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	last, left := int64(0), int64(0)
	for i := range out {
		switch c.Form {
		case "int":
			last = next()
		case "delta":
			last += next()
		case "runs":
			if left == 0 {
				last, left = next(), next()
			}
			left--
		}
		out[i] = T(last)
	}
	if r.Len() > 0 || left > 0 {
		t.Errorf("%s: %d bytes and %d values are left", c.Form, r.Len(), left)
	}
	return out
}

func testColumn[T number](t *testing.T, form string, c []T) {
	t.Helper()
	text, err := json.Marshal(Column[T](c))
	if err != nil {
		t.Fatal(err)
	}
	got := decode[T](t, text)
	if !slices.EqualFunc(c, got, func(a, b T) bool { return a == b || a != a && b != b }) {
		t.Errorf("%v was read as %v", c, got)
	}
	if form != "" && !bytes.Contains(text, fmt.Appendf(nil, `"form":%q`, form)) {
		t.Errorf("%v has another form than %s: %s", c, form, text)
	}
}

func TestColumn(t *testing.T) {
	testColumn(t, "", []float64{})
	testColumn(t, "raw", []float64{0.5, 1, math.NaN(), math.Inf(1)})
	testColumn(t, "raw", []float64{1 << 60})
	testColumn(t, "int", []float64{-1, 1 << 51, -1 << 51})
	testColumn(t, "delta", []float64{1e9, 1e9 + 1, 1e9 + 3})
	testColumn(t, "runs", []uint8{255, 255, 255, 255, 255, 0, 0, 0, 0})
	testColumn(t, "raw", []uint8{255, 254, 253, 7, 9, 250, 128})
	testColumn(t, "int", []float32{-1, 17, -1, 3})
	testColumn(t, "", []uint16{NoName, 0, NoName})
	testColumn(t, "", []uint32{math.MaxUint32, 0, math.MaxUint32})
}

func FuzzColumn(f *testing.F) {
	f.Add(uint64(1), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		c, d, e := make([]float64, n), make([]uint32, n), make([]float32, n)
		for i := range c {
			c[i] = math.Float64frombits(r.Uint64() >> r.IntN(12))
			if seed%2 == 0 {
				c[i] = float64(r.Int64N(math.MaxInt64) >> r.IntN(62))
			}
			d[i], e[i] = r.Uint32()>>r.IntN(32), float32(c[i])
		}
		testColumn(t, "", c)
		testColumn(t, "", d)
		testColumn(t, "", e)
	})
}

func TestBuckets(t *testing.T) {
	last := uint16(0)
	for _, v := range []int64{-1, 0, 1, 31, 32, 33, 34, 1000, 1023, 1024, 1e6, 1e9, 3e12, math.MaxInt64} {
		b := BucketOf(v)
		if b < last {
			t.Errorf("the bucket of %d is %d, below that of less", v, b)
		}
		if last = b; v > 0 && math.Abs(middleOf(b)-float64(v)) > float64(v)/31 {
			t.Errorf("%d is in bucket %d with %g in its middle", v, b, middleOf(b))
		}
	}
}

// middleOf is the value that stands for a bucket, at most 1/32 from each of its values.
func middleOf(bucket uint16) float64 {
	low, high := scale.Bounds(int(bucket))
	return (float64(low) + float64(high)) / 2
}
