package jfrfile

import (
	"bufio"
	"fmt"
	"io"
)

// Value is a value that was not decoded yet. The zero Value is missing: its number is 0, its text empty.
type Value struct {
	c     *Chunk
	t     *Type
	b     []byte // begins with the value
	array bool
	elem  *Field // of an array: what its elements are
}

// Missing reports whether there is no such field, or it is null.
func (v Value) Missing() bool { return v.t == nil }

// Type of the value, nil: missing.
func (v Value) Type() *Type { return v.t }

func (v Value) cursor() cursor { return cursor{b: v.b, compressed: v.c.Compressed} }

// Int is a number, 0 where it is none.
func (v Value) Int() int64 {
	if v.t == nil || v.array {
		return 0
	}
	c := v.cursor()
	switch v.t.kind {
	case boolean, int8Kind:
		return int64(int8(c.byte()))
	case charKind:
		return c.char()
	case shortKind:
		return c.short()
	case intKind:
		return c.int()
	case longKind:
		return c.long()
	case floatKind:
		return int64(c.float())
	case doubleKind:
		return int64(c.double())
	}
	if len(v.t.Fields) == 1 { // a value that is wrapped, as a modifier may be
		return v.At(0).Int()
	}
	return 0
}

// Text is a string, or that of a type with a single field, as jdk.types.Symbol; empty where it is none.
func (v Value) Text() string {
	for range maxDepth {
		if v.t == nil || v.array {
			return ""
		}
		if v.t.kind != stringKind {
			if len(v.t.Fields) != 1 {
				return ""
			}
			v = v.At(0)
			continue
		}
		c := v.cursor()
		s, key, constant := c.text()
		if !constant {
			return s
		}
		v = v.c.Constant(v.t.ID, key)
	}
	return ""
}

// Get is a field, with a constant in place of its key; missing where there is none of that name.
func (v Value) Get(name string) Value {
	if v.t == nil || v.array {
		return Value{}
	}
	return v.At(v.t.IndexOf(name))
}

// At is the field at a place.
func (v Value) At(i int) Value {
	raw, f := v.raw(i)
	switch {
	case f == nil:
		return Value{}
	case f.Array:
		return Value{c: v.c, t: f.Type, b: raw.b[raw.at:], array: true, elem: f}
	case f.Constant:
		return v.c.Constant(f.Type.ID, raw.long())
	}
	return Value{c: v.c, t: f.Type, b: raw.b[raw.at:]}
}

// Key is the key of a field in its pool, 0: null, or none.
func (v Value) Key(name string) int64 {
	if v.t == nil || v.array {
		return 0
	}
	raw, f := v.raw(v.t.IndexOf(name))
	if f == nil || !f.Constant || f.Array {
		return 0
	}
	return raw.long()
}

func (v Value) raw(i int) (cursor, *Field) {
	if v.t == nil || v.array || i < 0 || i >= len(v.t.Fields) {
		return cursor{}, nil
	}
	c := v.cursor()
	for k := range i {
		c.skipField(&v.t.Fields[k], 0)
	}
	if c.bad {
		return cursor{}, nil
	}
	return c, &v.t.Fields[i]
}

// Each calls f for the elements of an array until it returns false.
func (v Value) Each(f func(Value) bool) {
	if v.t == nil || !v.array {
		return
	}
	c := v.cursor()
	n := c.int()
	for range n {
		if c.bad || c.left() == 0 {
			return
		}
		x := Value{c: v.c, t: v.t, b: c.b[c.at:]}
		if v.elem.Constant {
			k := c
			x = v.c.Constant(v.t.ID, k.long())
		}
		c.skipOne(v.elem, 0)
		if c.bad || !f(x) {
			return
		}
	}
}

// skipField skips the value of a field.
func (c *cursor) skipField(f *Field, depth int) {
	if !f.Array {
		c.skipOne(f, depth)
		return
	}
	n := c.int()
	if n < 0 || n > int64(c.left()) {
		c.bad = true
	}
	for range n {
		if c.bad {
			return
		}
		c.skipOne(f, depth)
	}
}

func (c *cursor) skipOne(f *Field, depth int) {
	if f.Constant {
		c.long()
		return
	}
	c.skipValue(f.Type, depth)
}

func (c *cursor) skipValue(t *Type, depth int) {
	if c.steps++; c.steps > 4*len(c.b)+1000 { // a value has a byte at least, but for an empty one
		c.bad = true
		return
	}
	switch t.kind {
	case boolean, int8Kind:
		c.skip(1)
	case charKind, shortKind:
		c.number(2)
	case intKind:
		c.number(4)
	case longKind:
		c.number(8)
	case floatKind:
		c.skip(4)
	case doubleKind:
		c.skip(8)
	case stringKind:
		c.skipText()
	default:
		if depth > maxDepth {
			c.bad = true
			return
		}
		for i := range t.Fields {
			if c.bad {
				return
			}
			c.skipField(&t.Fields[i], depth+1)
		}
	}
}

// Events calls f for each event of the chunk in the order of the file. The event is valid during the call.
func (c *Chunk) Events(f func(Value) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(c.file.in, c.start+headerSize, c.Size-headerSize), 1<<20)
	var buffer []byte
	for at := int64(headerSize); at < c.Size; {
		head, err := in.Peek(int(min(9, c.Size-at)))
		if err != nil {
			return fmt.Errorf("reading a recording: %w", err)
		}
		h := cursor{b: head, compressed: c.Compressed}
		size := h.size()
		if h.bad || size < int64(h.at)+1 || size > c.Size-at {
			return c.fail(at, "an event of %d bytes", size)
		}
		id := peekID(h, in, c.Compressed)
		t := c.types[id]
		if t == nil || id <= 1 { // descriptions and constants have been read
			if _, err := in.Discard(int(size)); err != nil {
				return fmt.Errorf("reading a recording: %w", err)
			}
			at += size
			continue
		}
		if size > MaxEvent {
			return c.fail(at, "an event of %d bytes; at most %d are read", size, MaxEvent)
		}
		if int64(cap(buffer)) < size {
			buffer = make([]byte, size*2)
		}
		buffer = buffer[:size]
		if _, err := io.ReadFull(in, buffer); err != nil {
			return fmt.Errorf("reading a recording: %w", err)
		}
		e := cursor{b: buffer, at: h.at, compressed: c.Compressed}
		e.long()
		if e.bad {
			return c.fail(at, "an event without a type")
		}
		if err := f(Value{c: c, t: t, b: buffer[e.at:]}); err != nil {
			return err
		}
		at += size
	}
	return nil
}

// peekID is the type of the event that is next in the input.
func peekID(h cursor, in *bufio.Reader, compressed bool) int64 {
	b, _ := in.Peek(h.at + 9) // fewer at the end
	c := cursor{b: b, at: min(h.at, len(b)), compressed: compressed}
	return c.long()
}
