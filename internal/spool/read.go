package spool

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"stackagent/internal/wire"
)

// Reasons why a file is not read.
var (
	ErrInUse    = errors.New("the JVM that writes this spool file still runs")
	ErrNotSpool = errors.New("not a spool file")
)

// Bounds for reading a file that may not be ours.
const (
	maxBatches  = 1 << 20
	maxDamaged  = 1 << 12 // places that look like a frame but are not
	windowBytes = 256 << 10
)

// Left is a spool file whose writer has ended, locked while it is open.
type Left struct {
	Meta    Meta
	Batches []Ref // by sequence, each once
	Damaged int   // incomplete frames
	f       *os.File
}

// Open locks and reads a file. The error is ErrInUse if its JVM still runs, and
// ErrNotSpool if the file has no description.
func Open(path string) (*Left, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("spool file: %w", err)
	}
	l, err := open(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

func open(f *os.File) (*Left, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotSpool
	}
	if err := lock(f, 0); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrInUse, err)
	}
	l, err := scan(f, info.Size())
	if err != nil {
		return nil, err
	}
	l.f = f
	return l, nil
}

// scan finds the whole frames of a file of size bytes.
func scan(r io.ReaderAt, size int64) (*Left, error) {
	head, err := readFrame(r, 0)
	if err != nil || head.seq != 0 {
		return nil, fmt.Errorf("%w: it does not begin with a description", ErrNotSpool)
	}
	l := &Left{}
	if err := json.Unmarshal(head.data, &l.Meta); err != nil {
		return nil, fmt.Errorf("%w: its description: %w", ErrNotSpool, err)
	}
	if err := errors.Join(wire.ValidSession(l.Meta.Session), wire.ValidProcess(l.Meta.Process)); err != nil {
		return nil, fmt.Errorf("%w: its description: %w", ErrNotSpool, err)
	}
	hole := up(int64(headerSize + len(head.data))) // where Release starts to free space
	for at := int64(headerSize + len(head.data)); ; {
		at, err = find(r, at, size)
		if err != nil || at < 0 {
			break
		}
		fr, err := readFrame(r, at)
		if err != nil || fr.seq == 0 {
			if givenBack(r, at, hole, size) {
				at++
				continue
			}
			at++
			if l.Damaged++; l.Damaged > maxDamaged {
				return nil, fmt.Errorf("%w: more than %d damaged places", ErrNotSpool, maxDamaged)
			}
			continue
		}
		if len(l.Batches) == maxBatches {
			return nil, fmt.Errorf("%w: more than %d batches", ErrNotSpool, maxBatches)
		}
		l.Batches = append(l.Batches, Ref{at, len(fr.data), fr.seq})
		at += headerSize + int64(len(fr.data))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the spool file: %w", err)
	}
	slices.SortStableFunc(l.Batches, func(a, b Ref) int { return cmp.Compare(a.seq, b.seq) })
	l.Batches = slices.CompactFunc(l.Batches, func(a, b Ref) bool { return a.seq == b.seq })
	return l, nil
}

// find returns the offset of the next magic at or after at, or -1.
func find(r io.ReaderAt, at, size int64) (int64, error) {
	window := make([]byte, windowBytes)
	for at < size {
		n, err := r.ReadAt(window[:min(windowBytes, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return -1, err
		}
		if i := bytes.Index(window[:n], []byte(magic)); i >= 0 {
			return at + int64(i), nil
		}
		if n < windowBytes {
			return -1, nil
		}
		at += int64(n - len(magic) + 1) // one may start at the end of the window
	}
	return -1, nil
}

// givenBack reports whether the frame at an offset was delivered: its front lies before
// the hole that Release makes, and the rest is gone.
func givenBack(r io.ReaderAt, at, from, size int64) bool {
	var h [headerSize]byte
	if _, err := r.ReadAt(h[:], at); err != nil {
		return false
	}
	n := int64(binary.LittleEndian.Uint32(h[4:]))
	to := min(at+headerSize+n, size)
	if n > maxFrame || at+headerSize > from || to <= from {
		return false
	}
	hole := make([]byte, min(to-from, blockSize))
	if _, err := r.ReadAt(hole, from); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return len(bytes.Trim(hole, "\x00")) == 0
}

// frame is a complete frame.
type frame struct {
	seq  uint64
	data []byte
}

func readFrame(r io.ReaderAt, at int64) (frame, error) {
	damaged := func(why string) (frame, error) {
		return frame{}, fmt.Errorf("at byte %d: %w: %s", at, ErrDamaged, why)
	}
	var h [headerSize]byte
	if _, err := r.ReadAt(h[:], at); errors.Is(err, io.EOF) {
		return damaged("the file ends in it")
	} else if err != nil {
		return frame{}, fmt.Errorf("reading the spool file: %w", err)
	}
	n := binary.LittleEndian.Uint32(h[4:])
	if string(h[:4]) != magic || n > maxFrame {
		return damaged("no batch begins there")
	}
	data := make([]byte, n)
	if _, err := r.ReadAt(data, at+headerSize); errors.Is(err, io.EOF) && n > 0 {
		return damaged("the file ends in it")
	} else if err != nil && n > 0 {
		return frame{}, fmt.Errorf("reading the spool file: %w", err)
	}
	if checksum(h[8:16], data) != binary.LittleEndian.Uint32(h[16:]) {
		return damaged("its checksum is wrong")
	}
	return frame{binary.LittleEndian.Uint64(h[8:]), data}, nil
}

// Read returns the batch at r.
func (l *Left) Read(r Ref) ([]byte, error) {
	fr, err := readFrame(l.f, r.offset)
	if err != nil {
		return nil, err
	}
	return fr.data, nil
}

// Path of the file.
func (l *Left) Path() string { return l.f.Name() }

// Close releases the lock and leaves the file.
func (l *Left) Close() error { return l.f.Close() }

// KeptSuffix is added to the name of a file that could not be delivered completely.
const KeptSuffix = ".damaged"

// Keep sets the file aside and returns its new name: the complete frames were
// delivered, the rest cannot be. Nobody delivers it again; it is deleted after MaxAge.
func (l *Left) Keep() (path string, err error) {
	path = l.f.Name() + KeptSuffix
	if err := errors.Join(os.Rename(l.f.Name(), path), l.f.Close()); err != nil {
		return path, fmt.Errorf("keeping the damaged spool file: %w", err)
	}
	return path, nil
}

// Remove deletes the file after all of it was delivered.
func (l *Left) Remove() error {
	if err := errors.Join(os.Remove(l.f.Name()), l.f.Close()); err != nil {
		return fmt.Errorf("removing the spool file: %w", err)
	}
	return nil
}
