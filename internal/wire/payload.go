package wire

import (
	"encoding/binary"
	"strconv"
)

func columnName(number uint64) string {
	if number >= colWork && number < colWorkEnd {
		return "column work " + strconv.FormatUint(number-colWork, 10)
	}
	return "column " + columnNames[number]
}

// payload reads a columnar payload with bounds checks. Its offsets are those
// in the payload; the envelope's reader adds where the payload begins.
type payload struct {
	data    []byte
	at      int
	count   int
	number  uint64 // of the last column read
	unknown int
	err     error
}

// openPayload reads the format and the number of rows.
func openPayload(data []byte, limit int) (*payload, error) {
	p := &payload{data: data}
	if len(data) == 0 {
		return nil, p.fail("format", "empty payload")
	}
	if data[0] != payloadFormat {
		return nil, p.fail("format", "not a format this program knows")
	}
	p.at = 1
	n := p.uvarint("count")
	if p.err != nil {
		return nil, p.err
	}
	if n > uint64(limit) {
		return nil, p.fail("count", "more events than the limit allows")
	}
	p.count = int(n)
	return p, nil
}

func (p *payload) fail(field, problem string) *DecodeError {
	return &DecodeError{Offset: p.at, Field: field, Problem: problem}
}

// uvarint reads a number; after a failure it returns 0 and p.err stays.
func (p *payload) uvarint(field string) uint64 {
	if p.err != nil {
		return 0
	}
	v, n := binary.Uvarint(p.data[p.at:])
	if n <= 0 {
		p.err = p.fail(field, "number cut short or too long")
		return 0
	}
	p.at += n
	return v
}

// column reads the column of that number into codes, skipping unknown ones
// before it.
func (p *payload) column(number uint64, codes []uint64) error {
	field := columnName(number)
	for {
		if p.at == len(p.data) {
			return p.fail(field, "missing")
		}
		got, way, end := p.header(field)
		if p.err != nil {
			return p.err
		}
		if got > number {
			return p.fail(field, "missing")
		}
		if got == number {
			return p.codes(field, way, end, codes)
		}
		p.at = end
		p.unknown++
	}
}

// has reports whether the column of that number comes next, past unknown ones.
func (p *payload) has(number uint64) bool {
	for p.err == nil && p.at < len(p.data) {
		at, last := p.at, p.number
		got, _, end := p.header(columnName(number))
		if p.err != nil {
			return false
		}
		if got >= number {
			p.at, p.number = at, last
			return got == number
		}
		p.at = end
		p.unknown++
	}
	return false
}

// header reads number, way and length of a column; end is where it ends.
func (p *payload) header(field string) (number uint64, way byte, end int) {
	number = p.uvarint(field)
	if p.err == nil && number <= p.number {
		p.err = p.fail(field, "columns are not in ascending order")
	}
	p.number = number
	if p.err == nil && p.at == len(p.data) {
		p.err = p.fail(field, "cut short")
	}
	if p.err != nil {
		return 0, 0, 0
	}
	way = p.data[p.at]
	p.at++
	size := p.uvarint(field)
	if p.err == nil && size > uint64(len(p.data)-p.at) {
		p.err = p.fail(field, "longer than its payload")
	}
	if p.err != nil {
		return 0, 0, 0
	}
	return number, way, p.at + int(size)
}

// codes reads one column's codes, which must fill it to its end exactly.
func (p *payload) codes(field string, way byte, end int, codes []uint64) error {
	in := p.data[:end]
	switch way {
	case plainCodes:
		for i := range codes {
			v, n := uvarint(in[p.at:])
			if n <= 0 {
				return p.fail(field, "number cut short or too long")
			}
			p.at += n
			codes[i] = v
		}
	case runCodes:
		for i := 0; i < len(codes); {
			length, n := binary.Uvarint(in[p.at:])
			v, m := binary.Uvarint(in[min(p.at+max(n, 0), end):])
			if n <= 0 || m <= 0 {
				return p.fail(field, "number cut short or too long")
			}
			if length == 0 || length > uint64(len(codes)-i) {
				return p.fail(field, "a run longer than the column")
			}
			p.at += n + m
			for run := codes[i : i+int(length)]; len(run) > 0; run = run[1:] {
				run[0] = v
			}
			i += int(length)
		}
	default:
		return p.fail(field, "not an encoding this program knows")
	}
	if p.at != end {
		return p.fail(field, "bytes left over")
	}
	return nil
}

// uvarint is binary.Uvarint with the short cases in line.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 {
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	return binary.Uvarint(b)
}

// finish skips the columns after the last known one.
func (p *payload) finish() error {
	for p.at < len(p.data) {
		_, _, end := p.header("columns")
		if p.err != nil {
			return p.err
		}
		p.at = end
		p.unknown++
	}
	return nil
}
