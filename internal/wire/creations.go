package wire

import (
	"encoding/binary"

	"stackagent/internal/units"
)

// appendCreations writes the payload of creations.
func (e *Encoder) appendCreations(out []byte, x []Creation) []byte {
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(x)))
	c := e.scratch(len(x))
	var last uint64
	for i := range x {
		c[i], last = zigzag(x[i].TaskID-last), x[i].TaskID
	}
	out = appendColumn(out, colTask, c)
	var outer outerCoder
	for i := range x {
		c[i] = outer.encode(x[i].OuterTaskID)
	}
	out = appendColumn(out, colOuter, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].Class)-last), uint64(x[i].Class)
	}
	out = appendColumn(out, colClass, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].Thread)-last), uint64(x[i].Thread)
	}
	out = appendColumn(out, colThread, c)
	for i := range x {
		c[i] = uint64(x[i].Flags)
	}
	out = appendColumn(out, colFlags, c)
	last = 0
	for i := range x {
		c[i], last = zigzag(uint64(x[i].At)-last), uint64(x[i].At)
	}
	out = appendColumn(out, colStart, c)
	return e.appendOptional(out, colSite, len(x), func(i int) uint64 { return uint64(x[i].Site) }, uint32Delta)
}

// decodeCreations is the inverse of appendCreations.
func decodeCreations(data []byte, limit int) ([]Creation, int, error) {
	p, err := openPayload(data, limit)
	if err != nil {
		return nil, 0, err
	}
	codes := reuse[uint64](&codeLists, p.count)
	defer letGo(&codeLists, codes)
	x := reuse[Creation](&creationLists, p.count) // every column is set, in every row
	for number := uint64(colTask); number <= colStart; number++ {
		if err := p.column(number, codes); err != nil {
			return nil, 0, err
		}
		if !setCreations(x, number, codes) {
			return nil, 0, p.fail(columnName(number), "value too large for its column")
		}
	}
	err = p.optional(colSite, codes, uint32Delta, func(i int, v uint64) { x[i].Site = uint32(v) })
	if err != nil {
		return nil, 0, err
	}
	err = p.finish()
	return x, p.unknown, err
}

func setCreations(x []Creation, number uint64, codes []uint64) bool {
	var last, seen uint64
	var outer outerCoder
	for i, c := range codes {
		e := &x[i]
		switch number {
		case colTask:
			last += unzigzag(c)
			e.TaskID = last
		case colOuter:
			e.OuterTaskID = outer.decode(c)
		case colClass:
			last += unzigzag(c)
			e.Class, seen = uint32(last), seen|last>>32
		case colThread:
			last += unzigzag(c)
			e.Thread, seen = uint32(last), seen|last>>32
		case colFlags:
			e.Flags, seen = CreationFlags(c), seen|c>>16
		case colStart:
			last += unzigzag(c)
			e.At = units.Ticks(last)
		}
	}
	return seen == 0
}
