package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"
	lib "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// The encoded values of a page contain run lengths and counts: a few bytes can claim
// any number of values, and the library allocates as many as they claim.

// MaxPageValues bounds the values of a page; ours have 32,768, those of the
// library at most eight to a byte of its buffer of a quarter of a MiB.
const MaxPageValues = 1 << 22

var errEncoding = errors.New("an encoding that parts do not have")

// column describes what its pages have to match.
type column struct {
	codec                  format.CompressionCodec
	repetition, definition int // bits of a level
}

func columnOf(f *lib.File, i int, codec format.CompressionCodec) (column, error) {
	paths := f.Schema().Columns()
	if i >= len(paths) {
		return column{}, fmt.Errorf("not one of the %d columns of the schema", len(paths))
	}
	leaf, ok := f.Schema().Lookup(paths[i]...)
	if !ok {
		return column{}, errors.New("not in the schema")
	}
	return column{codec: codec, repetition: bits.Len(uint(leaf.MaxRepetitionLevel)), definition: bits.Len(uint(leaf.MaxDefinitionLevel))}, nil
}

// unpacker decompresses pages of at most MaxPageBytes.
var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxPageBytes), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(0))
})

// checkDataPage compares the counts in a page with those in its header. packed follows
// the levels. It returns the grown buffer for the next page.
func checkDataPage(h *format.DataPageHeaderV2, levels, packed []byte, compressed bool, c column, buf []byte) ([]byte, error) {
	n := int64(h.NumValues)
	if n < 0 || n > MaxPageValues || h.NumNulls < 0 || h.NumNulls > h.NumValues {
		return buf, fmt.Errorf("a page of %d values, %d of them null: %w", n, h.NumNulls, ErrTooLarge)
	}
	split := int(h.RepetitionLevelsByteLength)
	for _, l := range []struct {
		data []byte
		bits int
	}{{levels[:split], c.repetition}, {levels[split:], c.definition}} {
		if err := checkRuns(l.data, l.bits, n); err != nil {
			return buf, fmt.Errorf("levels of a page: %w", err)
		}
	}
	values := packed
	if compressed && len(packed) > 0 {
		d, err := unpacker()
		if err != nil {
			return buf, fmt.Errorf("unpacking a page: %w", err)
		}
		if buf, err = d.DecodeAll(packed, buf[:0]); err != nil {
			return buf, fmt.Errorf("unpacking a page: %w", err)
		}
		values = buf
	}
	return buf, checkValues(h.Encoding, values, n)
}

// checkValues makes sure that encoded values are at most n.
func checkValues(e format.Encoding, data []byte, n int64) error {
	switch e {
	case format.Plain:
		return nil // as long as it is
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDelta(data, n)
	case format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		return checkRuns(data[1:], int(data[0]), n)
	case format.RLE: // booleans, behind their length
		const length = 4
		return checkRuns(data[min(length, len(data)):], 1, n)
	}
	return fmt.Errorf("%w: %v", errEncoding, e)
}

// checkDelta reads the header of delta encoded numbers: size of a block, parts
// of a block, number of values.
func checkDelta(data []byte, n int64) error {
	for range 2 {
		_, size := binary.Uvarint(data)
		if size <= 0 {
			return nil // the library finds that out before it allocates
		}
		data = data[size:]
	}
	if total, size := binary.Uvarint(data); size > 0 && total > uint64(n) {
		return fmt.Errorf("%d values in a page of %d: %w", total, n, ErrTooLarge)
	}
	return nil
}

// checkRuns goes over runs of equal values, and groups of eight of that many
// bits each; the last group may be filled up.
func checkRuns(data []byte, width int, n int64) error {
	const group = 8
	for total := uint64(0); len(data) > 0; {
		head, size := binary.Uvarint(data)
		if size <= 0 {
			return nil // the library finds that out, too
		}
		data = data[size:]
		count, bytes := head>>1, uint64(width+group-1)/group
		if head&1 != 0 {
			if count > uint64(len(data)) {
				return fmt.Errorf("%d groups in %d bytes: %w", count, len(data), ErrTooLarge)
			}
			count, bytes = count*group, count*uint64(width)
		}
		// Where values take no bits, groups cost nothing either.
		if total += count; count > MaxPageValues+group || total > uint64(n)+group-1 {
			return fmt.Errorf("%d values in a page of %d: %w", total, n, ErrTooLarge)
		}
		data = data[min(bytes, uint64(len(data))):]
	}
	return nil
}
