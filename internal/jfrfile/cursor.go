package jfrfile

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// cursor reads the basic types. After an error it is bad and gives zeros.
type cursor struct {
	b          []byte
	at         int
	compressed bool
	bad        bool
	steps      int // values skipped, to stop at types that hold themselves, or nothing
}

func (c *cursor) left() int { return len(c.b) - c.at }

func (c *cursor) need(n int64) bool {
	if c.bad || n < 0 || n > int64(c.left()) {
		c.bad = true
		return false
	}
	return true
}

func (c *cursor) byte() byte {
	if !c.need(1) {
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *cursor) skip(n int64) {
	if c.need(n) {
		c.at += int(n)
	}
}

// varint reads seven bits a byte, the lowest first; the ninth byte has eight.
func (c *cursor) varint() int64 {
	var x uint64
	for i := 0; i < 9; i++ {
		if c.at >= len(c.b) {
			c.bad = true
			return 0
		}
		b := c.b[c.at]
		c.at++
		if i == 8 {
			return int64(x | uint64(b)<<56)
		}
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			break
		}
	}
	return int64(x)
}

func (c *cursor) fixed(n int) int64 {
	if !c.need(int64(n)) {
		return 0
	}
	b := c.b[c.at:]
	c.at += n
	switch n {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return int64(binary.BigEndian.Uint64(b))
}

func (c *cursor) number(n int) int64 {
	if c.compressed {
		return c.varint()
	}
	return c.fixed(n)
}

func (c *cursor) long() int64 { return c.number(8) }

// int reads 32 bits; a negative one takes five bytes.
func (c *cursor) int() int64 { return int64(int32(c.number(4))) }

func (c *cursor) short() int64 { return int64(int16(c.number(2))) }

func (c *cursor) char() int64 { return int64(uint16(c.number(2))) }

// size reads the size of a record.
func (c *cursor) size() int64 { return c.int() }

func (c *cursor) float() float64 { return float64(math.Float32frombits(uint32(c.fixed(4)))) }

func (c *cursor) double() float64 { return math.Float64frombits(uint64(c.fixed(8))) }

// How a string is written.
const (
	stringNull = iota
	stringEmpty
	stringConstant
	stringUTF8
	stringChars
	stringLatin1
)

// text reads a string; constant: its key in the pool of strings, in place of a string.
func (c *cursor) text() (s string, constant int64, isConstant bool) {
	switch how := c.byte(); how {
	case stringNull, stringEmpty:
	case stringConstant:
		return "", c.long(), true
	case stringUTF8, stringLatin1:
		n := c.int()
		if !c.need(n) {
			return "", 0, false
		}
		b := c.b[c.at : c.at+int(n)]
		c.at += int(n)
		if how == stringUTF8 {
			return string(b), 0, false
		}
		runes := make([]rune, len(b))
		for i, x := range b {
			runes[i] = rune(x)
		}
		return string(runes), 0, false
	case stringChars:
		n := c.int()
		if !c.need(n) { // a char takes a byte at least
			return "", 0, false
		}
		var out []byte
		for range n {
			out = utf8.AppendRune(out, rune(c.char()))
		}
		return string(out), 0, false
	default:
		c.bad = true
	}
	return "", 0, false
}

// skipText skips a string.
func (c *cursor) skipText() {
	switch c.byte() {
	case stringNull, stringEmpty:
	case stringConstant:
		c.long()
	case stringUTF8, stringLatin1:
		c.skip(c.int())
	case stringChars:
		n := c.int()
		if !c.need(n) {
			return
		}
		for range n {
			c.char()
		}
	default:
		c.bad = true
	}
}
