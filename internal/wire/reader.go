package wire

import (
	"strconv"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// fields opens an entry written as an array of at least n fields. The function
// it returns, called after them, skips and counts the fields of newer writers.
func (r *reader) fields(field string, n int) (end func()) {
	_, end = r.fieldsFrom(field, n, n)
	return end
}

// fieldsFrom opens an entry that the oldest writers made of least fields and
// newer ones of one of the numbers in later, ascending; n is how many are there
// and known.
func (r *reader) fieldsFrom(field string, least int, later ...int) (n int, end func()) {
	got := r.length(field, r.mp.DecodeArrayLen)
	if r.err == nil && got < least {
		r.fail(field, "has "+strconv.Itoa(got)+" fields, not "+strconv.Itoa(least), nil)
	}
	n = least
	for _, all := range later {
		if got >= all {
			n = all
		}
	}
	return n, func() {
		for i := n; i < got && r.err == nil; i++ {
			r.skip(field, r.lim.Unknown)
			r.batch.Unknown++
		}
	}
}

// length reads a length and holds it against the limit.
func (r *reader) length(field string, read func() (int, error)) int {
	if r.err != nil {
		return 0
	}
	n, err := read()
	if err != nil {
		r.fail(field, "no length", err)
		return 0
	}
	if n > r.lim.Items || n < 0 {
		r.fail(field, strconv.Itoa(n)+" entries, the limit is "+strconv.Itoa(r.lim.Items), nil)
		return 0
	}
	return n
}

func listOf[T any](r *reader, field string, read func(*reader, string) T) []T {
	n := r.length(field, r.mp.DecodeArrayLen)
	if n == 0 {
		return nil
	}
	const least = 2 // bytes that an entry takes in the message
	list := make([]T, 0, min(n, r.src.Len()/least))
	for i := 0; i < n && r.err == nil; i++ {
		list = append(list, read(r, field))
		if r.err != nil {
			r.err.Field += " (entry " + strconv.Itoa(i) + ")"
		}
	}
	return list
}

// code peeks at the next value's first byte; ok is false at the end.
func (r *reader) code(field string) (byte, bool) {
	if r.err != nil {
		return 0, false
	}
	c, err := r.mp.PeekCode()
	if err != nil {
		r.fail(field, "cut short", err)
		return 0, false
	}
	return c, true
}

func signed(c byte) bool {
	return c >= msgpcode.Int8 && c <= msgpcode.Int64 || c >= msgpcode.NegFixedNumLow
}

func unsigned(c byte) bool {
	return c <= msgpcode.PosFixedNumHigh || c >= msgpcode.Uint8 && c <= msgpcode.Uint64
}

// uint reads an integer that is not negative.
func (r *reader) uint(field string) uint64 {
	c, ok := r.code(field)
	if !ok {
		return 0
	}
	if unsigned(c) {
		v, err := r.mp.DecodeUint64()
		if err != nil {
			r.fail(field, "cut short", err)
		}
		return v
	}
	v := r.int(field)
	if v < 0 {
		r.fail(field, "negative", nil)
		return 0
	}
	return uint64(v)
}

func (r *reader) uintMax(field string, limit uint64) uint64 {
	v := r.uint(field)
	if v > limit {
		r.fail(field, strconv.FormatUint(v, 10)+" is more than "+strconv.FormatUint(limit, 10), nil)
		return 0
	}
	return v
}

// int reads an integer of at most 63 bits and a sign.
func (r *reader) int(field string) int64 {
	c, ok := r.code(field)
	if !ok {
		return 0
	}
	if !signed(c) && !unsigned(c) {
		r.fail(field, "not an integer", nil)
		return 0
	}
	v, err := r.mp.DecodeInt64()
	if err != nil {
		r.fail(field, "cut short", err)
		return 0
	}
	if unsigned(c) && v < 0 {
		r.fail(field, "more than 63 bits", nil)
		return 0
	}
	return v
}

func (r *reader) intWithin(field string, bits int) int64 {
	v := r.int(field)
	if v != v<<(64-bits)>>(64-bits) {
		r.fail(field, "more than "+strconv.Itoa(bits)+" bits", nil)
		return 0
	}
	return v
}

func (r *reader) bool(field string) bool {
	c, ok := r.code(field)
	if !ok {
		return false
	}
	if c != msgpcode.True && c != msgpcode.False {
		r.fail(field, "not a boolean", nil)
		return false
	}
	_, err := r.mp.DecodeBool()
	if err != nil {
		r.fail(field, "cut short", err)
	}
	return c == msgpcode.True
}

// raw reads the bytes of a string or bin of at most limit bytes.
func (r *reader) raw(field string, limit int) []byte {
	if r.err != nil {
		return nil
	}
	n, err := r.mp.DecodeBytesLen()
	switch {
	case err != nil:
		r.fail(field, "no string", err)
	case n < 0:
		r.fail(field, "nil", nil)
	case n > r.src.Len():
		r.fail(field, "longer than the message", nil)
	case n > limit:
		r.fail(field, strconv.Itoa(n)+" bytes, the limit is "+strconv.Itoa(limit), nil)
	}
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	if err := r.mp.ReadFull(b); err != nil {
		r.fail(field, "cut short", err)
		return nil
	}
	return b
}

func (r *reader) str(field string) string { return clean(string(r.raw(field, r.lim.String))) }

// bin reads a payload; base is the byte of the message at which it begins.
func (r *reader) bin(field string) (data []byte, base int) {
	data = r.raw(field, r.lim.Bytes)
	return data, r.offset() - len(data)
}

// skip leaves out one value, nested at most depth deep.
func (r *reader) skip(field string, depth int) {
	c, ok := r.code(field)
	if !ok {
		return
	}
	per, read := 1, r.mp.DecodeArrayLen
	switch {
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		per, read = 2, r.mp.DecodeMapLen
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
	default:
		r.skipFlat(field, c)
		return
	}
	if depth == 0 {
		r.fail(field, "nested too deeply", nil)
		return
	}
	n := r.length(field, read)
	for i := 0; i < n*per && r.err == nil; i++ {
		r.skip(field, depth-1)
	}
}

// skipFlat leaves out a value without entries.
func (r *reader) skipFlat(field string, c byte) {
	if msgpcode.IsString(c) || msgpcode.IsBin(c) {
		r.raw(field, r.lim.Bytes)
		return
	}
	if err := r.mp.Skip(); err != nil {
		r.fail(field, "cannot be skipped", err)
	}
}
