package classfile

import (
	"encoding/binary"
	"fmt"
)

// reader is a bounds-checked cursor. The first failure sticks; afterwards every
// read yields zero values, so that callers check once per structure.
type reader struct {
	b    []byte
	off  int
	base int // offset of b in the class file, for messages
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = &FormatError{Offset: r.base + r.off, What: what}
	}
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.fail(fmt.Sprintf(format, args...))
	}
}

// left is the number of unread bytes.
func (r *reader) left() int { return len(r.b) - r.off }

// bytes returns the next n bytes without copying.
func (r *reader) bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > r.left() {
		r.failf("%d bytes wanted, %d left", n, r.left())
		return nil
	}
	s := r.b[r.off : r.off+n : r.off+n]
	r.off += n
	return s
}

func (r *reader) u1() byte {
	if s := r.bytes(1); s != nil {
		return s[0]
	}
	return 0
}

func (r *reader) u2() uint16 {
	if s := r.bytes(2); s != nil {
		return binary.BigEndian.Uint16(s)
	}
	return 0
}

func (r *reader) u4() uint32 {
	if s := r.bytes(4); s != nil {
		return binary.BigEndian.Uint32(s)
	}
	return 0
}

// writer appends big-endian values.
type writer struct{ b []byte }

func (w *writer) u1(v byte)      { w.b = append(w.b, v) }
func (w *writer) u2(v uint16)    { w.b = binary.BigEndian.AppendUint16(w.b, v) }
func (w *writer) u4(v uint32)    { w.b = binary.BigEndian.AppendUint32(w.b, v) }
func (w *writer) raw(b []byte)   { w.b = append(w.b, b...) }
func (w *writer) set2(at, v int) { binary.BigEndian.PutUint16(w.b[at:], uint16(v)) }
func (w *writer) set4(at, v int) { binary.BigEndian.PutUint32(w.b[at:], uint32(v)) }
