// Package jfr writes a session as a recording of the JVM's flight recorder, which JDK Mission Control and the command
// jfr read.
//
// A recording is a row of chunks. Each has a header, events, the texts, classes, threads and stacks that these name
// (a checkpoint), and the description of its types (the metadata), so it can be read by itself. The layout is that of
// JDK 11 and later, format 2.1: src/hotspot/share/jfr and jdk.jfr.internal.consumer in OpenJDK's sources.
package jfr

import (
	"encoding/binary"
	"math"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// number appends a number in 7 bits a byte; the ninth byte has 8.
func number(b []byte, v int64) []byte {
	u := uint64(v)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

func boolean(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// Encodings of a string.
const (
	stringEmpty  = 1
	stringPooled = 2
	stringUTF8   = 3
)

// maxText bounds names that come from the program.
const maxText = 1024

func clean(s string) string {
	return text.Cut(text.Clean(s[:min(len(s), 4*maxText)], '?'), maxText)
}

// inline appends a string that stands where it is.
func inline(b []byte, s string) []byte {
	if s == "" {
		return append(b, stringEmpty)
	}
	b = number(append(b, stringUTF8), int64(len(s)))
	return append(b, s...)
}

// notMeasured is what readers show as N/A.
const notMeasured = math.MinInt64

func span(b []byte, v units.Ns) []byte {
	if !v.Measured() {
		return number(b, notMeasured)
	}
	return number(b, int64(v))
}

// sized puts the length before what build appends, which counts itself.
func sized(to []byte, body []byte) []byte {
	n := int64(len(body))
	size := n + 1
	for int64(len(number(nil, size))) != size-n {
		size++
	}
	return append(number(to, size), body...)
}

// pool is the constants of one type in a chunk. Number 0 is none.
type pool struct {
	numbers map[string]int64
	values  []byte
}

// of is the number of the constant with that key; value appends it when it is new.
func (p *pool) of(key string, value func([]byte) []byte) int64 {
	n, ok := p.numbers[key]
	if !ok {
		if p.numbers == nil {
			p.numbers = map[string]int64{}
		}
		n = int64(len(p.numbers) + 1)
		p.numbers[key] = n
		v := value(nil) // it may need constants of this pool
		p.values = append(number(p.values, n), v...)
	}
	return n
}

// header is the head of a chunk.
type header struct {
	size, checkpoint, metadata int64
	wallNs, duration           int64
	ticks                      int64
}

const (
	headerSize     = 68
	ticksPerSecond = 1_000_000_000
	compressed     = 1 // numbers have a variable length
)

func (h *header) bytes() []byte {
	b := append(make([]byte, 0, headerSize), "FLR\x00"...)
	b = binary.BigEndian.AppendUint16(b, 2)
	b = binary.BigEndian.AppendUint16(b, 1)
	for _, v := range []int64{h.size, h.checkpoint, h.metadata, h.wallNs, h.duration, h.ticks, ticksPerSecond} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	return binary.BigEndian.AppendUint32(b, compressed)
}

// internal is a class's name as recordings hold it.
func internal(name string) string { return strings.ReplaceAll(clean(name), ".", "/") }
