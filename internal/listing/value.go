package listing

import (
	"bytes"
	"encoding/json"
	"strconv"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Value is one cell of a listing. The zero Value is null: not measured, or not known.
type Value struct {
	kind Kind
	n    uint64 // of integers and booleans
	f    float64
	s    string
	any  any
}

// Kind is what a column holds.
type Kind uint8

// The kinds. Names come from the profiled program, so they are made harmless where they are printed;
// words are ours.
const (
	_ Kind = iota
	Int
	Uint
	Float
	Bool
	Name
	Word
	Object // JSON only
)

// Null is the cell of what was not measured or is not known.
var Null Value

// IntOf returns n as a value.
func IntOf[T ~int | ~int32 | ~int64](n T) Value { return Value{kind: Int, n: uint64(int64(n))} }

// UintOf returns n as a value.
func UintOf[T ~uint32 | ~uint64](n T) Value { return Value{kind: Uint, n: uint64(n)} }

// FloatOf returns f as a value.
func FloatOf(f float64) Value { return Value{kind: Float, f: f} }

// BoolOf returns b as a value.
func BoolOf(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.n = 1
	}
	return v
}

// NameOf returns a name of the profiled program as a value.
func NameOf(s string) Value { return Value{kind: Name, s: s} }

// WordOf returns a word of ours as a value.
func WordOf[T ~string](s T) Value { return Value{kind: Word, s: string(s)} }

// ObjectOf returns what encoding/json makes of x as a value.
func ObjectOf(x any) Value { return Value{kind: Object, any: x} }

// Opt returns what of makes of p's target, Null for nil.
func Opt[T any](p *T, of func(T) Value) Value {
	if p == nil {
		return Null
	}
	return of(*p)
}

// Measured is n, Null if it was not measured.
func Measured(n units.Ns) Value { return OnlyIf(n.Measured(), IntOf(n)) }

// UnlessZero is n, Null for 0.
func UnlessZero(n int64) Value { return OnlyIf(n != 0, IntOf(n)) }

// OnlyIf is v where it is known, else Null.
func OnlyIf(known bool, v Value) Value {
	if !known {
		return Null
	}
	return v
}

// Text is a name or a word as it is; "" of other values.
func (v Value) Text() string { return v.s }

// IsNull reports whether the value is missing.
func (v Value) IsNull() bool { return v.kind == 0 }

// cell is v in a CSV file. A text cannot be a formula.
func (v Value) cell() string {
	switch v.kind {
	case Int:
		return strconv.FormatInt(int64(v.n), 10)
	case Uint:
		return strconv.FormatUint(v.n, 10)
	case Float:
		return strconv.FormatFloat(v.f, 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(v.n != 0)
	}
	return text.Cell(v.s) // a word, too: a damaged session may hold anything
}

// appendJSON appends v as JSON.
func (v Value) appendJSON(b []byte) ([]byte, error) {
	switch v.kind {
	case 0:
		return append(b, "null"...), nil
	case Int:
		return strconv.AppendInt(b, int64(v.n), 10), nil
	case Uint:
		return strconv.AppendUint(b, v.n, 10), nil
	case Bool:
		return strconv.AppendBool(b, v.n != 0), nil
	case Float:
		return appendAny(b, v.f)
	case Object:
		return appendAny(b, v.any)
	}
	return appendString(b, v.s)
}

// appendString appends s as JSON; what needs no escape is copied.
func appendString(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendAny(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"'), nil
}

// appendAny appends x as encoding/json has it, without escaping what only HTML wants escaped.
func appendAny(b []byte, x any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return b, err
	}
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...), nil
}
