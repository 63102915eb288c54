package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Types of the Thrift compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
	thriftUUID   = 16

	maxThriftDepth = 32
)

var errThrift = errors.New("no Thrift structure")

// skimThrift skips one structure at the start of data and returns its length. Its
// lists and strings must fit into data.
func skimThrift(data []byte) (int, error) {
	s := skimmer{data: data}
	if err := s.structure(0); err != nil {
		return 0, fmt.Errorf("at byte %d: %w", s.at, err)
	}
	return s.at, nil
}

type skimmer struct {
	data []byte
	at   int
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.data)-s.at) {
		return io.ErrUnexpectedEOF
	}
	s.at += int(n)
	return nil
}

func (s *skimmer) byte() (byte, error) {
	if s.at == len(s.data) {
		return 0, io.ErrUnexpectedEOF
	}
	s.at++
	return s.data[s.at-1], nil
}

func (s *skimmer) varint() (uint64, error) {
	v, n := binary.Uvarint(s.data[s.at:])
	if n <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	s.at += n
	return v, nil
}

func (s *skimmer) structure(depth int) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("nested too deeply: %w", errThrift)
	}
	for {
		h, err := s.byte()
		if err != nil || h == 0 {
			return err
		}
		if h>>4 == 0 { // the field's number follows
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		if t := h & 15; t == thriftTrue || t == thriftFalse {
			continue // the value is the type
		}
		if err := s.value(h&15, depth); err != nil {
			return err
		}
	}
}

func (s *skimmer) value(t byte, depth int) error {
	switch t {
	case thriftTrue, thriftFalse, thriftByte:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.varint()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftUUID:
		return s.skip(16)
	case thriftBinary:
		n, err := s.varint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		return s.list(depth)
	case thriftStruct:
		return s.structure(depth + 1)
	}
	return fmt.Errorf("type %d: %w", t, errThrift) // Parquet has no maps
}

// list skips a list. An element takes at least a byte.
func (s *skimmer) list(depth int) error {
	h, err := s.byte()
	if err != nil {
		return err
	}
	n := uint64(h >> 4)
	if n == 15 {
		if n, err = s.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(s.data)-s.at) || depth > maxThriftDepth {
		return fmt.Errorf("a list of %d: %w", n, ErrTooLarge)
	}
	for ; n > 0; n-- {
		if err := s.value(h&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}
