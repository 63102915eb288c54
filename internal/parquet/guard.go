package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	lib "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// MaxPageBytes bounds a page before compression; ours have a quarter of a MiB.
const MaxPageBytes = 8 << 20

const (
	maxFooterBytes = 4 << 20   // ours are a few KiB
	maxHeaderBytes = 512 << 10 // of a page's header, its statistics included: the smallest and largest name, twice each, of up to 64 KiB
	maxWindow      = 64 << 20  // how far back zstd may refer; our encoder's is 8 MiB at most
	tailBytes      = 8         // length of the footer and the magic number
)

// ErrTooLarge is reported for a file that claims more than a part can hold.
var ErrTooLarge = errors.New("claims more than a part of a session can hold")

// Footer checks the footer of a file before the library decodes it.
func Footer(r io.ReaderAt, size int64) error {
	var tail [tailBytes]byte
	if size < tailBytes {
		return fmt.Errorf("a file of %d bytes: %w", size, io.ErrUnexpectedEOF)
	}
	if _, err := r.ReadAt(tail[:], size-tailBytes); err != nil {
		return fmt.Errorf("reading the length of the footer: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > maxFooterBytes || n > size-tailBytes {
		return fmt.Errorf("a footer of %d bytes in a file of %d: %w", n, size, ErrTooLarge)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-tailBytes-n); err != nil {
		return fmt.Errorf("reading the footer: %w", err)
	}
	if _, err := skimThrift(footer); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	return nil
}

// Pages checks the pages of the columns with the given indices (nil: of all)
// before the library decodes any of them.
func Pages(r io.ReaderAt, size int64, f *lib.File, only []int) error {
	var mem scratch
	for g := range f.Metadata().RowGroups {
		if err := groupPages(r, size, f, g, only, &mem); err != nil {
			return err
		}
	}
	return nil
}

// scratch is memory that checks reuse: a chunk, and a page of it unpacked.
type scratch struct{ chunk, page []byte }

// groupPages is Pages for one row group.
func groupPages(r io.ReaderAt, size int64, f *lib.File, group int, only []int, mem *scratch) error {
	columns := f.Metadata().RowGroups[group].Columns
	for i := range columns {
		if only != nil && !slices.Contains(only, i) {
			continue
		}
		m := &columns[i].MetaData
		from, err := chunkStart(m, size)
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		if int64(cap(mem.chunk)) < m.TotalCompressedSize {
			mem.chunk = make([]byte, m.TotalCompressedSize)
		}
		chunk := mem.chunk[:m.TotalCompressedSize]
		if _, err := r.ReadAt(chunk, from); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		c, err := columnOf(f, i, m.Codec)
		if err == nil {
			mem.page, err = checkChunk(chunk, c, mem.page)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

// chunkStart is where a chunk of a file begins, all of which lies in the file.
func chunkStart(m *format.ColumnMetaData, size int64) (int64, error) {
	from := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	if from < 0 || m.TotalCompressedSize < 0 || m.TotalCompressedSize > size-from {
		return 0, fmt.Errorf("%d bytes at %d of a file of %d: %w", m.TotalCompressedSize, from, size, ErrTooLarge)
	}
	return from, nil
}

// checkChunk checks the pages of one column. It returns buf, grown, for the next.
func checkChunk(chunk []byte, c column, buf []byte) ([]byte, error) {
	for len(chunk) > 0 {
		n, err := skimThrift(chunk[:min(len(chunk), maxHeaderBytes)])
		if err != nil {
			return buf, fmt.Errorf("header of a page: %w", err)
		}
		var h format.PageHeader
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), chunk[:n], &h); err != nil {
			return buf, fmt.Errorf("header of a page: %w", err)
		}
		chunk = chunk[n:]
		if h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(chunk) || h.UncompressedPageSize < 0 || h.UncompressedPageSize > MaxPageBytes {
			return buf, fmt.Errorf("a page of %d bytes (%d compressed) with %d left: %w", h.UncompressedPageSize, h.CompressedPageSize, len(chunk), ErrTooLarge)
		}
		page := chunk[:h.CompressedPageSize]
		chunk = chunk[h.CompressedPageSize:]
		if buf, err = checkPage(&h, page, c, buf); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// checkPage compares what the bytes of a page claim with its header.
func checkPage(h *format.PageHeader, page []byte, c column, buf []byte) ([]byte, error) {
	v2 := &h.DataPageHeaderV2
	compressed := c.codec != format.Uncompressed
	var levels []byte
	switch {
	case v2.Valid && h.Type == format.DataPageV2:
		r, d := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if r < 0 || d < 0 || r+d > int64(len(page)) {
			return buf, fmt.Errorf("%d and %d bytes of levels in a page of %d: %w", r, d, len(page), ErrTooLarge)
		}
		levels, page = page[:r+d], page[r+d:]
		compressed = compressed && !(v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V)
	case h.Type == format.DictionaryPage: // plain values are as long as they are
		d := &h.DictionaryPageHeader
		if !d.Valid || d.V.Encoding != format.Plain {
			return buf, fmt.Errorf("a dictionary: %w: %v", errEncoding, d.V.Encoding)
		}
		if d.V.NumValues < 0 || d.V.NumValues > MaxPageValues {
			return buf, fmt.Errorf("a dictionary of %d values: %w", d.V.NumValues, ErrTooLarge)
		}
	default:
		return buf, fmt.Errorf("%w: a page of type %v", errEncoding, h.Type)
	}
	if compressed && len(page) > 0 {
		if c.codec != format.Zstd {
			return buf, fmt.Errorf("compressed with %v; parts are compressed with zstd", c.codec)
		}
		if err := checkFrame(page); err != nil {
			return buf, err
		}
	}
	if h.Type == format.DictionaryPage {
		return buf, nil
	}
	return checkDataPage(&v2.V, levels, page, compressed, c, buf)
}

// checkFrame makes sure that zstd data is one frame that does not grow beyond
// MaxPageBytes: by the size in its header or, in a small one, by its blocks.
func checkFrame(data []byte) error {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return fmt.Errorf("compressed page: %w", err)
	}
	if h.Skippable || h.FrameContentSize > MaxPageBytes || h.WindowSize > maxWindow {
		return fmt.Errorf("a compressed page of %d bytes, window %d: %w", h.FrameContentSize, h.WindowSize, ErrTooLarge)
	}
	rest, grown := data[h.HeaderSize:], 0
	for last := false; !last; {
		const header, rle, blockBytes = 3, 1, 128 << 10
		if len(rest) < header {
			return fmt.Errorf("compressed page: %w", io.ErrUnexpectedEOF)
		}
		b := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16
		last = b&1 != 0
		if grown += blockBytes; !h.HasFCS && grown > MaxPageBytes {
			return fmt.Errorf("a compressed page of many blocks: %w", ErrTooLarge)
		}
		n := int(b >> 3)
		if b>>1&3 == rle {
			n = 1
		}
		if n > len(rest)-header {
			return fmt.Errorf("compressed page: %w", io.ErrUnexpectedEOF)
		}
		rest = rest[header+n:]
	}
	if h.HasCheckSum {
		const sum = 4
		rest = rest[min(sum, len(rest)):]
	}
	if len(rest) > 0 {
		return fmt.Errorf("compressed page: %d bytes after its frame: %w", len(rest), ErrTooLarge)
	}
	return nil
}
