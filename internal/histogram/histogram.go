package histogram

import (
	"encoding/binary"
	"errors"
)

// Histogram has values of which single ones are known by their buckets: the agent's, mirrored below 0 (Signed).
type Histogram struct {
	Moments
	Counts[int16, int64]
}

// Merge adds what o has, which it leaves unchanged.
func (h *Histogram) Merge(o *Histogram) {
	h.Moments.Merge(&o.Moments)
	h.Counts.Merge(&o.Counts)
}

// Quantile is as that of Counts.
func (h *Histogram) Quantile(q float64) (value float64, ok bool) {
	return h.Counts.Quantile(q, h.Min, h.Max)
}

// Append encodes h in numbers of variable length (docs/internals/format-session.md).
func (h *Histogram) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(h.Count))
	if h.Count == 0 {
		return b
	}
	for _, x := range []int64{h.Sum, h.Min, h.Max} {
		b = binary.AppendVarint(b, x)
	}
	for _, x := range h.Squares {
		b = binary.AppendUvarint(b, x)
	}
	b = binary.AppendUvarint(b, uint64(len(h.Index)))
	last := int16(0)
	for i, n := range h.All() {
		b, last = binary.AppendUvarint(binary.AppendVarint(b, int64(i)-int64(last)), uint64(n)), i
	}
	return b
}

var errDamaged = errors.New("decoding a histogram: it is damaged")

// Parse decodes what Append encoded, of no more than most values, all of which are in buckets, and returns what follows.
func Parse(data []byte, most uint64) (h Histogram, rest []byte, err error) {
	unsigned := func(limit uint64) uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > limit {
			data, err = nil, errDamaged
			return 0
		}
		data = data[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(data)
		if n <= 0 {
			data, err = nil, errDamaged
			return 0
		}
		data = data[n:]
		return v
	}
	if h.Count = int64(unsigned(min(most, 1<<62))); h.Count == 0 {
		return h, data, err
	}
	h.Sum, h.Min, h.Max = signed(), signed(), signed()
	for i := range h.Squares {
		h.Squares[i] = unsigned(1<<64 - 1)
	}
	left, last, at := h.Count, int64(-Buckets), int64(0)
	for range unsigned(min(2*Buckets, uint64(len(data)))) {
		at += signed()
		n := int64(unsigned(uint64(left)))
		if at <= last || at >= Buckets || n == 0 {
			return h, nil, errDamaged
		}
		last, left = at, left-n
		h.Counts.Add(int16(at), n)
	}
	if left != 0 || h.Min > h.Max {
		err = errDamaged
	}
	return h, data, err
}
