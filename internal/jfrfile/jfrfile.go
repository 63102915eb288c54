// Package jfrfile reads recordings of the JVM's flight recorder (JFR), of any version and with any types of events: what a
// recording holds is described in itself, chunk by chunk. Values are decoded only when they are asked for.
//
// Input is not trusted: lengths are checked before memory is allocated, and nothing is followed in circles.
package jfrfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic begins each chunk.
var Magic = []byte("FLR\x00")

// Limits of what is read.
const (
	MaxMetadata    = 64 << 20  // bytes of the description of types in a chunk
	MaxCheckpoints = 1 << 30   // bytes of constants in a chunk
	MaxEvent       = 64 << 20  // bytes of an event
	MaxConstants   = 20 << 20  // in a chunk
	maxTypes       = 1 << 16   // in a chunk
	maxFields      = 1 << 10   // of a type
	maxElements    = 4_000_000 // of a chunk's description
	maxDepth       = 64        // of values in values
)

// ErrFormat is a file that is no recording, or a damaged one.
var ErrFormat = errors.New("not a JFR recording, or a damaged one")

// FormatError says where a file is damaged.
type FormatError struct {
	Chunk  int   // from 1
	Offset int64 // in the file, of what is damaged or of what holds it
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("chunk %d, at byte %d: %s: %v", e.Chunk, e.Offset, e.Reason, ErrFormat)
}

func (e *FormatError) Unwrap() error { return ErrFormat }

// Header of a chunk.
type Header struct {
	Major, Minor   int
	Size           int64
	StartUnixNs    int64 // wall clock at the start
	DurationNs     int64
	StartTicks     int64
	TicksPerSecond int64
	Compressed     bool // integers have a variable length

	constants, metadata int64 // offsets in the chunk
}

const headerSize = 68

// File is a recording.
type File struct {
	in   io.ReaderAt
	size int64
	at   int64 // where the next chunk begins
	n    int   // chunks read
}

// Open begins to read a recording of size bytes.
func Open(in io.ReaderAt, size int64) *File { return &File{in: in, size: size} }

// Next reads the descriptions and constants of the next chunk; io.EOF after the last one. A chunk is valid for good, but
// holds its constants in memory.
func (f *File) Next() (*Chunk, error) {
	if f.at >= f.size {
		if f.n == 0 {
			return nil, &FormatError{1, 0, "the file is empty"}
		}
		return nil, io.EOF
	}
	f.n++
	c := &Chunk{file: f, number: f.n, start: f.at}
	if err := c.readHeader(); err != nil {
		return nil, err
	}
	if err := c.readMetadata(); err != nil {
		return nil, err
	}
	if err := c.readConstants(); err != nil {
		return nil, err
	}
	f.at += c.Size
	return c, nil
}

// Chunk is a part of a recording that can be read by itself.
type Chunk struct {
	Header
	Types []*Type // by their ids, ascending

	file    *File
	number  int
	start   int64
	types   map[int64]*Type
	pools   map[int64]map[int64]Value // type, key: the constant
	strings int64                     // id of java.lang.String, 0: none
}

func (c *Chunk) fail(at int64, format string, args ...any) error {
	return &FormatError{c.number, c.start + at, fmt.Sprintf(format, args...)}
}

func (c *Chunk) readHeader() error {
	var b [headerSize]byte
	if c.file.size-c.start < headerSize {
		return c.fail(0, "%d bytes are left, too few for a chunk", c.file.size-c.start)
	}
	if _, err := c.file.in.ReadAt(b[:], c.start); err != nil {
		return fmt.Errorf("reading a recording: %w", err)
	}
	if !bytes.Equal(b[:4], Magic) {
		return c.fail(0, "a chunk does not begin with FLR")
	}
	at := func(offset int) int64 { return int64(binary.BigEndian.Uint64(b[offset:])) }
	c.Header = Header{
		Major: int(binary.BigEndian.Uint16(b[4:])), Minor: int(binary.BigEndian.Uint16(b[6:])), Size: at(8), constants: at(16), metadata: at(24),
		StartUnixNs: at(32), DurationNs: at(40), StartTicks: at(48), TicksPerSecond: at(56), Compressed: b[67]&1 != 0,
	}
	switch {
	case c.Major < 1 || c.Major > 2:
		return c.fail(4, "version %d.%d is not known; versions 1 and 2 are", c.Major, c.Minor)
	case c.Size == 0 || c.metadata == 0:
		return c.fail(8, "the chunk was not finished: the JVM was killed, or is still writing it; jfr assemble or a dump (jcmd PID JFR.dump) gives a whole file")
	case c.Size < headerSize || c.Size > c.file.size-c.start:
		return c.fail(8, "a chunk of %d bytes, of which the file has %d: it is cut off, or not complete yet", c.Size, c.file.size-c.start)
	case c.metadata < headerSize || c.metadata >= c.Size:
		return c.fail(24, "the description is at %d, outside of the chunk", c.metadata)
	case c.constants != 0 && (c.constants < headerSize || c.constants >= c.Size):
		return c.fail(16, "the constants are at %d, outside of the chunk", c.constants)
	case c.TicksPerSecond <= 0 || c.StartUnixNs < 0:
		return c.fail(32, "a clock of %d ticks a second", c.TicksPerSecond)
	}
	return nil
}

// record reads the whole record at an offset of the chunk, with its size.
func (c *Chunk) record(at, most int64, what string) (*cursor, error) {
	head := make([]byte, min(9, c.Size-at))
	if _, err := c.file.in.ReadAt(head, c.start+at); err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	h := &cursor{b: head, compressed: c.Compressed}
	size := h.size()
	if h.bad || size < int64(h.at) || size > c.Size-at {
		return nil, c.fail(at, "%s of %d bytes", what, size)
	}
	if size > most {
		return nil, c.fail(at, "%s of %d bytes; at most %d are read", what, size, most)
	}
	b := make([]byte, size)
	if _, err := c.file.in.ReadAt(b, c.start+at); err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	return &cursor{b: b, at: h.at, compressed: c.Compressed}, nil
}

// Ns is a time in ticks as nanoseconds since 1970, by the clock of the chunk.
func (h *Header) Ns(ticks int64) int64 { return h.StartUnixNs + h.DurNs(ticks-h.StartTicks) }

// DurNs is a duration in ticks as nanoseconds.
func (h *Header) DurNs(ticks int64) int64 {
	if h.TicksPerSecond == 1_000_000_000 {
		return ticks
	}
	s, rest := ticks/h.TicksPerSecond, ticks%h.TicksPerSecond
	if s > 1<<33 || s < -1<<33 { // 270 years
		return 0
	}
	return s*1_000_000_000 + int64(float64(rest)*(1e9/float64(h.TicksPerSecond)))
}

// End is where the chunk ends in the file.
func (c *Chunk) End() int64 { return c.start + c.Size }
