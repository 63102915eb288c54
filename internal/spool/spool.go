// Package spool keeps batches in a file while the bus does not take them: a
// bounded queue, one file per JVM. The agent writes it; after the end of the JVM,
// another process reads and delivers what is left.
//
// A file is a sequence of frames, each with its length and a checksum. The first one
// holds the description (Meta), every other a batch. Punching holes frees delivered
// frames from the front. So a reader takes all complete frames, wherever they are: a
// torn tail, a hole or a damaged place costs only the frames in it.
//
// The writer holds a lock on the file while it lives. A file that can be locked has
// no writer.
package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/wire"
)

// Errors of a File; both leave the queue unchanged.
var (
	ErrFull    = errors.New("the spool file is full")
	ErrDamaged = errors.New("a batch in the spool file is damaged")
)

// Suffix of the names of spool files.
const Suffix = ".spool"

// A frame is a header and the bytes of a batch:
//
//	offset 0   magic      4 bytes, "\xf5SPL"
//	       4   length     4 bytes, little endian, of the batch
//	       8   sequence   8 bytes, little endian; 0: the description, as JSON
//	      16   checksum   4 bytes, little endian, CRC-32C of the sequence and the batch
const (
	magic      = "\xf5SPL"
	headerSize = 20
	maxFrame   = wire.MaxBatch
	blockSize  = 4096 // holes start and end at multiples of this
	lockWait   = time.Second
	lockPause  = 10 * time.Millisecond
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Meta says whose batches a file holds. It contains no secrets.
type Meta struct {
	Session string `json:"session"`
	Process string `json:"process"`
	Bus     string `json:"bus"` // their destination, without credentials
	PID     int    `json:"pid"`
}

// Ref locates a batch in a File; the zero value locates none.
type Ref struct {
	offset int64
	size   int // of the batch, bytes
	seq    uint64
}

// End is the offset behind the batch, for Release.
func (r Ref) End() int64 { return r.offset + headerSize + int64(r.size) }

// Size of the batch, bytes.
func (r Ref) Size() int { return r.size }

// Seq is the number of the batch.
func (r Ref) Seq() uint64 { return r.seq }

// IsZero reports whether r locates no batch.
func (r Ref) IsZero() bool { return r.offset == 0 }

// File is a spool file that is being written. It is not safe for concurrent use.
type File struct {
	f     *os.File
	start int64 // where the frames of batches start
	freed int64 // up to here blocks have been freed
	end   int64
	max   int64
	buf   []byte
}

// Create makes a new file in dir for at most max bytes of batches.
func Create(dir string, m Meta, max int64) (*File, error) {
	if err := errors.Join(wire.ValidSession(m.Session), wire.ValidProcess(m.Process)); err != nil {
		return nil, fmt.Errorf("spool file: %w", err)
	}
	path := filepath.Join(dir, m.Session+"-"+m.Process+Suffix)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool file: %w", err)
	}
	s := &File{f: f, max: max}
	if err := s.begin(m); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

func (s *File) begin(m Meta) error {
	if err := lock(s.f, lockWait); err != nil {
		return fmt.Errorf("spool file %s: %w", s.f.Name(), err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("spool file %s: %w", s.f.Name(), err)
	}
	if err := s.write(0, text); err != nil {
		return err
	}
	s.start, s.freed = s.end, s.end
	return nil
}

// lock locks a file and waits for processes that only look at it.
func lock(f *os.File, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(lockPause) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// write appends a frame; after an error the queue is as before.
func (s *File) write(seq uint64, data []byte) error {
	s.buf = appendFrame(s.buf[:0], seq, data)
	if _, err := s.f.WriteAt(s.buf, s.end); err != nil {
		_ = s.f.Truncate(s.end) // a torn frame has a wrong checksum anyway
		return fmt.Errorf("writing the spool file: %w", err)
	}
	s.end += int64(len(s.buf))
	return nil
}

func appendFrame(b []byte, seq uint64, data []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = binary.LittleEndian.AppendUint32(b, checksum(b[8:16], data))
	return append(b, data...)
}

func checksum(seq, data []byte) uint32 {
	return crc32.Update(crc32.Checksum(seq, castagnoli), castagnoli, data)
}

// Append adds a batch to the queue. The error is ErrFull if the bound is reached;
// any other is the disk's.
func (s *File) Append(seq uint64, data []byte) (Ref, error) {
	if len(data) > maxFrame || seq == 0 {
		return Ref{}, fmt.Errorf("spool file: batch %d of %d bytes cannot be kept", seq, len(data))
	}
	if s.end+headerSize+int64(len(data))-s.freed > s.max {
		return Ref{}, ErrFull
	}
	ref := Ref{s.end, len(data), seq}
	if err := s.write(seq, data); err != nil {
		return Ref{}, err
	}
	return ref, nil
}

// Grow raises the bound, for what is left when a JVM ends.
func (s *File) Grow(by int64) { s.max += by }

// Read returns the batch at r.
func (s *File) Read(r Ref) ([]byte, error) {
	fr, err := readFrame(s.f, r.offset)
	if err != nil {
		return nil, err
	}
	if fr.seq != r.seq || len(fr.data) != r.size {
		return nil, fmt.Errorf("batch %d at byte %d: %w", r.seq, r.offset, ErrDamaged)
	}
	return fr.data, nil
}

// Release frees the space of all batches before end (Ref.End of the last).
func (s *File) Release(end int64) error {
	if end >= s.end { // all of them: start over
		if err := s.f.Truncate(s.start); err != nil {
			return fmt.Errorf("emptying the spool file: %w", err)
		}
		s.end, s.freed = s.start, s.start
		return nil
	}
	from, to := up(s.freed), end-end%blockSize
	if to <= from {
		return nil
	}
	if err := punch(s.f, from, to-from); err != nil {
		return nil // this file system cannot; the space is freed when all is delivered
	}
	s.freed = to
	return nil
}

func up(n int64) int64 { return (n + blockSize - 1) / blockSize * blockSize }

// Path of the file.
func (s *File) Path() string { return s.f.Name() }

// Bytes is what the queue holds at most now, as its bound counts it.
func (s *File) Bytes() int64 { return s.end - s.freed }

// Close releases the lock and leaves the file to be delivered.
func (s *File) Close() error {
	if err := s.f.Close(); err != nil {
		return fmt.Errorf("closing the spool file: %w", err)
	}
	return nil
}

// Remove deletes the file.
func (s *File) Remove() error {
	if err := errors.Join(os.Remove(s.f.Name()), s.f.Close()); err != nil {
		return fmt.Errorf("removing the spool file: %w", err)
	}
	return nil
}
