// Package perfdata reads the counters that a HotSpot JVM keeps for others in a
// mapped file (hsperfdata): of its collectors, safepoints, compilers. Reading
// costs the JVM nothing.
//
// The layout is that of HotSpot's perfMemory.hpp and perfData.hpp, version 2.0.
package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits on what a file may hold. HotSpot's have 32 KiB and about 250 entries.
const (
	MaxBytes   = 4 << 20
	maxEntries = 1 << 14
	maxName    = 256
	maxText    = 4096
)

// Errors of parsing. ErrNotReady is a JVM that is still starting.
var (
	ErrDamaged  = errors.New("no performance data of a JVM")
	ErrNotReady = errors.New("the JVM is still writing its performance data")
)

const (
	magic       = 0xcafec0c0
	headerSize  = 32
	entrySize   = 20
	littleOrder = 1
	typeLong    = 'J'
	typeByte    = 'B'
)

// Offsets in the header.
const (
	atOrder      = 4
	atMajor      = 5
	atAccessible = 7
	atUsed       = 8
	atEntries    = 24
	atCount      = 28
)

// Layout is where the counters of a file lie. It holds as long as Used does not
// change: a JVM only adds counters.
type Layout struct {
	Used  int32 // bytes in use, by which a change of the layout shows
	order binary.ByteOrder
	longs map[string]int // by name: offset of the 8 bytes
	texts map[string]text
	list  []Counter
}

// Unit and Variability are what HotSpot says of a counter (PerfData::Units, PerfData::Variability).
type (
	Unit        byte
	Variability byte
)

// The values that matter here.
const (
	Bytes Unit = 2
	Ticks Unit = 3 // of the JVM's clock, sun.os.hrt.frequency a second

	Constant  Variability = 1
	Monotonic Variability = 2 // it only grows
)

// Counter is one of the counters that hold a number.
type Counter struct {
	Name        string
	Unit        Unit
	Variability Variability
	offset      int
}

// Counters are those that hold a number, in the file's order. Do not change them.
func (l *Layout) Counters() []Counter { return l.list }

// Value is the value of a counter of this layout in b, as Long takes it.
func (l *Layout) Value(b []byte, c Counter) int64 {
	if c.offset > len(b)-8 {
		return 0
	}
	return int64(l.order.Uint64(b[c.offset:]))
}

type text struct{ offset, length int }

// Parse finds the counters in the content of a file.
func Parse(b []byte) (*Layout, error) {
	if len(b) < headerSize {
		return nil, fmt.Errorf("%d bytes: %w", len(b), ErrDamaged)
	}
	switch binary.BigEndian.Uint32(b) {
	case magic:
	case 0: // the JVM has not written anything yet
		return nil, ErrNotReady
	default:
		return nil, fmt.Errorf("no magic number: %w", ErrDamaged)
	}
	if b[atAccessible] == 0 { // written last
		return nil, ErrNotReady
	}
	l := &Layout{order: binary.BigEndian, longs: map[string]int{}, texts: map[string]text{}}
	if b[atOrder] == littleOrder {
		l.order = binary.LittleEndian
	}
	if b[atMajor] != 2 {
		return nil, fmt.Errorf("version %d of the layout, 2 is known: %w", b[atMajor], ErrDamaged)
	}
	used, first, count := l.order.Uint32(b[atUsed:]), l.order.Uint32(b[atEntries:]), l.order.Uint32(b[atCount:])
	if used > uint32(min(len(b), math.MaxInt32)) || first > used || count > maxEntries {
		return nil, fmt.Errorf("%d entries from byte %d in %d of %d: %w", count, first, used, len(b), ErrDamaged)
	}
	l.Used = int32(used)
	rest := b[:used]
	at := int(first)
	for range count {
		n, err := l.entry(rest, at)
		if err != nil {
			return nil, fmt.Errorf("entry at byte %d: %w", at, err)
		}
		at += n
	}
	return l, nil
}

// entry takes one entry and gives its length.
func (l *Layout) entry(b []byte, at int) (int, error) {
	if at > len(b)-entrySize {
		return 0, fmt.Errorf("beyond the end: %w", ErrDamaged)
	}
	e := b[at:]
	length, name, vector := l.order.Uint32(e), l.order.Uint32(e[4:]), l.order.Uint32(e[8:])
	kind, data := e[12], l.order.Uint32(e[16:])
	if length < entrySize || uint64(length) > uint64(len(e)) || name >= length || data > length {
		return 0, fmt.Errorf("%d bytes, name at %d, data at %d: %w", length, name, data, ErrDamaged)
	}
	e = e[:length]
	word, _, ended := bytes.Cut(e[name:min(int(length), int(name)+maxName)], []byte{0})
	if !ended {
		return 0, fmt.Errorf("a name without an end: %w", ErrDamaged)
	}
	switch {
	case kind == typeLong && vector == 0 && length-data >= 8:
		l.longs[string(word)] = at + int(data)
		l.list = append(l.list, Counter{string(word), Unit(e[14]), Variability(e[15]), at + int(data)})
	case kind == typeByte && vector > 0 && vector <= maxText && vector <= length-data:
		l.texts[string(word)] = text{at + int(data), int(vector)}
	}
	return int(length), nil
}

// Long is the value of a counter in b, the content that was parsed or a newer
// one with the same Used.
func (l *Layout) Long(b []byte, name string) (int64, bool) {
	at, ok := l.longs[name]
	if !ok || at > len(b)-8 {
		return 0, false
	}
	return int64(l.order.Uint64(b[at:])), true
}

// Text is the value of a counter that is a text.
func (l *Layout) Text(b []byte, name string) (string, bool) {
	t, ok := l.texts[name]
	if !ok || t.offset+t.length > len(b) {
		return "", false
	}
	value, _, _ := bytes.Cut(b[t.offset:t.offset+t.length], []byte{0})
	return string(value), true
}

// UsedNow is how many bytes of b are in use: when it differs from Used, the
// layout has to be parsed again.
func (l *Layout) UsedNow(b []byte) int32 {
	if len(b) < headerSize {
		return 0
	}
	return int32(l.order.Uint32(b[atUsed:]))
}

// LayoutOf is a layout with these counters, for tests of what reads them.
func LayoutOf(counters ...Counter) *Layout { return &Layout{list: counters} }
