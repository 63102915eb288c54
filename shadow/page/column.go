package page

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
)

// number is what a column can hold.
type number interface {
	float64 | float32 | uint32 | uint16 | uint8
}

// Column is a column of numbers. As JSON it is its type and its bytes, little-endian in
// base64, which the page reads as a typed array.
type Column[T number] []T

// MarshalJSON implements json.Marshaler.
func (c Column[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, []T(c)); err != nil {
		return nil, fmt.Errorf("encoding a column: %w", err)
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}{typeName[T](), base64.StdEncoding.EncodeToString(b.Bytes())})
}

func typeName[T number]() string {
	var zero T
	switch any(zero).(type) {
	case float64:
		return "f64"
	case float32:
		return "f32"
	case uint32:
		return "u32"
	case uint16:
		return "u16"
	}
	return "u8"
}

// perOctave is the number of buckets between two powers of two.
const perOctave = 16

// BucketOf is the bucket of a value: exact below 32, then 16 to each power of two. Values
// that are negative count as 0.
func BucketOf(v int64) uint16 {
	if v < 2*perOctave {
		return uint16(max(v, 0))
	}
	octave := bits.Len64(uint64(v)) - 1 // >= 5
	return uint16(2*perOctave + (octave-5)*perOctave + int(v>>(octave-4))&(perOctave-1))
}

// middleOf is the value that stands for a bucket, at most 1/32 from each of its values.
func middleOf(bucket uint16) float64 {
	if bucket < 2*perOctave {
		return float64(bucket)
	}
	i := int(bucket) - 2*perOctave
	width := math.Ldexp(1, i/perOctave+1)
	return (float64(perOctave+i%perOctave))*width + (width-1)/2
}
