package page

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"stackagent/internal/histogram"
)

// number is what a column can hold.
type number interface {
	float64 | float32 | uint32 | uint16 | uint8
}

// Column is a column of numbers. As JSON it has a type, a length, and its values in base64, in the form
// that is the shortest:
//
//	raw    little-endian numbers of the type
//	int    whole numbers, as variable-length integers (encoding/binary, zigzag)
//	delta  the same, each less the one before it
//	runs   the same, each followed by how often it repeats
//
// The page reads it as a typed array.
type Column[T number] []T

// MarshalJSON implements json.Marshaler.
func (c Column[T]) MarshalJSON() ([]byte, error) {
	form, data := "raw", []byte(nil)
	if whole(c) {
		form, data = "int", varints(c)
		if b := deltas(c); len(b) < len(data) {
			form, data = "delta", b
		}
		if b := runs(c); len(b) < len(data) {
			form, data = "runs", b
		}
	}
	if raw := binary.Size([]T(c)); data == nil || raw < len(data) {
		var err error
		if data, err = binary.Append(make([]byte, 0, raw), binary.LittleEndian, []T(c)); err != nil {
			return nil, fmt.Errorf("encoding a column: %w", err)
		}
		form = "raw"
	}
	return json.Marshal(struct {
		Type   string `json:"type"`
		Form   string `json:"form"`
		Length int    `json:"n"`
		Data   []byte `json:"data"`
	}{typeName[T](), form, len(c), data})
}

// maxWhole bounds whole numbers: twice the difference of two of them is exact in the page.
const maxWhole = 1 << 51

// whole reports whether all values are whole numbers that can be exact in the page.
func whole[T number](c []T) bool {
	for _, v := range c {
		if f := float64(v); f != math.Trunc(f) || math.Abs(f) > maxWhole { // infinite values and NaN, too
			return false
		}
	}
	return true
}

func varints[T number](c []T) []byte {
	b := []byte{}
	for _, v := range c {
		b = binary.AppendVarint(b, int64(v))
	}
	return b
}

func deltas[T number](c []T) []byte {
	b, last := []byte{}, int64(0)
	for _, v := range c {
		b, last = binary.AppendVarint(b, int64(v)-last), int64(v)
	}
	return b
}

func runs[T number](c []T) []byte {
	b := []byte{}
	for i := 0; i < len(c); {
		n := 1
		for i+n < len(c) && c[i+n] == c[i] {
			n++
		}
		b = binary.AppendVarint(binary.AppendVarint(b, int64(c[i])), int64(n))
		i += n
	}
	return b
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

// scale is that of the page's buckets: 16 between two powers of two.
const scale histogram.Scale = 4

// BucketOf is the bucket of a value: exact below 32, then 16 to each power of two. Values
// that are negative count as 0.
func BucketOf(v int64) uint16 { return uint16(scale.Index(uint64(max(v, 0)))) }
