package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"stackagent/internal/wire"
)

// The big tables are written column by column, with the encodings, the
// compression and the structures of the Parquet libraries. Their own writer
// takes rows apart by reflection, value by value, which costs more than all
// the rest together.

const (
	pageRows      = 32 << 10 // 256 KiB of a column of 64 bits
	magic         = "PAR1"
	formatVersion = 2 // of the footer, as the library writes it
)

// bigWriter writes the parts of one big table. It is not safe for concurrent use.
type bigWriter[R any] struct {
	all      []bigColumn[R] // that a file may have, but for extra ones
	check    func(*R) error // refuses rows that the columns cannot hold; nil: they hold all
	elements []format.SchemaElement
	order    format.ColumnOrder

	columns []bigColumn[R] // of the file that is being written
	schema  []format.SchemaElement
	orders  []format.ColumnOrder
	zip     *zstd.Encoder

	values []int64
	narrow []int32
	there  []byte
	levels []byte
	plain  []byte
	packed []byte

	out    io.Writer
	offset int64
	groups []format.RowGroup
}

// newBigWriter takes the description of the schema from a file without rows
// that the library writes for S.
func newBigWriter[S, R any](columns []bigColumn[R], check func(*R) error) (*bigWriter[R], error) {
	var empty bytes.Buffer
	if err := parquet.NewGenericWriter[S](&empty).Close(); err != nil {
		return nil, fmt.Errorf("describing a table: %w", err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
	if err != nil {
		return nil, fmt.Errorf("describing a table: %w", err)
	}
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("describing a table: %w", err)
	}
	w := &bigWriter[R]{
		all: columns, check: check, elements: f.Metadata().Schema, order: f.Metadata().ColumnOrders[0], zip: zip,
		values: make([]int64, pageRows), narrow: make([]int32, pageRows), there: make([]byte, pageRows),
	}
	if len(w.elements) != len(columns)+1 {
		return nil, fmt.Errorf("describing a table: %d columns for a schema of %d", len(columns), len(w.elements)-1)
	}
	for i, c := range columns {
		if e := w.elements[i+1]; e.Name != c.name {
			return nil, fmt.Errorf("describing a table: column %d is %q, not %q", i, e.Name, c.name)
		}
	}
	return w, nil
}

// choose makes the schema of a file of those columns for which has is true, and
// of extra ones: optional columns of 64 bits, in tables that have such.
func (w *bigWriter[R]) choose(has func(*bigColumn[R]) bool, extra []string) error {
	w.columns, w.schema, w.orders = w.columns[:0], append(w.schema[:0], w.elements[0]), w.orders[:0]
	for i := range w.all {
		if has(&w.all[i]) {
			w.columns, w.schema, w.orders = append(w.columns, w.all[i]), append(w.schema, w.elements[i+1]), append(w.orders, w.order)
		}
	}
	like := slices.IndexFunc(w.all, func(c bigColumn[R]) bool { return c.wide && c.optional && !c.unsigned })
	for _, name := range extra {
		if like < 0 {
			return fmt.Errorf("column %s: a table without extra metrics has it", name)
		}
		e := w.elements[like+1]
		e.Name = name
		w.columns = append(w.columns, bigColumn[R]{name: name, wide: true, optional: true})
		w.schema, w.orders = append(w.schema, e), append(w.orders, w.order)
	}
	w.schema[0].NumChildren = thrift.New(int32(len(w.columns)))
	return nil
}

// loader puts the next n rows of a column into the writer's values and there,
// as bigColumn.get does, and returns the number of values.
type loader func(n int) (values int, err error)

// encode writes rows with their extra metrics as one file.
func (w *bigWriter[R]) encode(out io.Writer, rows []R, names []string, work wire.Work, meta []format.KeyValue) error {
	if w.check != nil {
		for i := range rows {
			if err := w.check(&rows[i]); err != nil {
				return err
			}
		}
	}
	extra, err := workColumns(names, work, len(rows))
	if err != nil {
		return err
	}
	return w.write(out, rows, extra, meta)
}

// write writes rows as one file.
func (w *bigWriter[R]) write(out io.Writer, rows []R, extra []workColumn, meta []format.KeyValue) error {
	names := make([]string, len(extra))
	for i := range extra {
		names[i] = extra[i].name
	}
	if err := w.choose(func(c *bigColumn[R]) bool { return c.used == nil || c.used(rows) }, names); err != nil {
		return err
	}
	return w.file(out, len(rows), meta, func(c *bigColumn[R], from int) (loader, error) {
		if c.get == nil {
			return extra[slices.Index(names, c.name)].loader(from, w.values, w.there), nil
		}
		rest := rows[from:]
		return func(n int) (int, error) {
			values := c.get(rest[:n], w.values, w.there)
			rest = rest[n:]
			return values, nil
		}, nil
	})
}

// file writes total rows as one file, row group by row group and in each column
// by column; open gives a column from the row on at which its row group begins.
func (w *bigWriter[R]) file(out io.Writer, total int, meta []format.KeyValue, open func(c *bigColumn[R], from int) (loader, error)) error {
	w.out, w.offset, w.groups = out, 0, w.groups[:0]
	defer func() { w.out = nil }()
	if err := w.put([]byte(magic)); err != nil {
		return err
	}
	for from := 0; from < total; from += rowGroupRows {
		err := w.group(min(rowGroupRows, total-from), func(c *bigColumn[R]) (loader, error) { return open(c, from) })
		if err != nil {
			return err
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &format.FileMetaData{
		Version: formatVersion, Schema: w.schema, NumRows: int64(total), RowGroups: w.groups,
		KeyValueMetadata: meta, CreatedBy: createdBy, ColumnOrders: w.orders,
	})
	if err != nil {
		return fmt.Errorf("encoding the footer: %w", err)
	}
	size := len(footer)
	footer = binary.LittleEndian.AppendUint32(footer, uint32(size))
	return w.put(append(footer, magic...))
}

func (w *bigWriter[R]) put(b []byte) error {
	n, err := w.out.Write(b)
	w.offset += int64(n)
	return err
}

func (w *bigWriter[R]) group(rows int, open func(*bigColumn[R]) (loader, error)) error {
	g := format.RowGroup{NumRows: int64(rows), FileOffset: w.offset, Ordinal: int16(len(w.groups))}
	for i := range w.columns {
		load, err := open(&w.columns[i])
		var m format.ColumnMetaData
		if err == nil {
			m, err = w.chunk(&w.columns[i], rows, load)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", w.columns[i].name, err)
		}
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: m})
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
	}
	w.groups = append(w.groups, g)
	return nil
}

// chunk writes one column of a row group.
func (w *bigWriter[R]) chunk(c *bigColumn[R], rows int, load loader) (format.ColumnMetaData, error) {
	m := format.ColumnMetaData{
		Type: format.Int32, Encoding: []format.Encoding{format.RLE, format.DeltaBinaryPacked}, PathInSchema: []string{c.name},
		Codec: format.Zstd, NumValues: int64(rows), DataPageOffset: w.offset,
	}
	if c.wide {
		m.Type = format.Int64
	}
	whole := newBounds(c.unsigned)
	for rows > 0 {
		n := min(rows, pageRows)
		values, err := load(n)
		if err != nil {
			return m, err
		}
		b, err := w.page(c, values, n, &m)
		if err != nil {
			return m, err
		}
		whole.merge(b)
		rows -= n
	}
	nulls := m.Statistics.NullCount
	m.Statistics = whole.statistics(c.wide)
	m.Statistics.NullCount = nulls
	m.TotalCompressedSize = w.offset - m.DataPageOffset
	return m, nil
}

// page writes one page, the n values of that many rows, and adds it to the sums in m.
func (w *bigWriter[R]) page(c *bigColumn[R], n, rows int, m *format.ColumnMetaData) (bounds, error) {
	b := newBounds(c.unsigned)
	b.add(w.values[:n])
	if err := w.pageBytes(c, n, rows); err != nil {
		return b, err
	}
	w.packed = w.zip.EncodeAll(w.plain, w.packed[:0])
	nulls := int64(rows - n)
	stats := b.statistics(c.wide)
	stats.NullCount = nulls
	h := format.PageHeader{
		Type:                 format.DataPageV2,
		UncompressedPageSize: int32(len(w.levels) + len(w.plain)), CompressedPageSize: int32(len(w.levels) + len(w.packed)),
		CRC: int32(crc32.Update(crc32.ChecksumIEEE(w.levels), crc32.IEEETable, w.packed)),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: int32(rows), NumNulls: int32(nulls), NumRows: int32(rows), Encoding: format.DeltaBinaryPacked,
			DefinitionLevelsByteLength: int32(len(w.levels)), IsCompressed: thrift.New(true), Statistics: stats,
		}),
	}
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		return b, fmt.Errorf("encoding the header of a page: %w", err)
	}
	m.Statistics.NullCount += nulls
	m.TotalUncompressedSize += int64(len(header)) + int64(h.UncompressedPageSize)
	for _, part := range [][]byte{header, w.levels, w.packed} {
		if err := w.put(part); err != nil {
			return b, err
		}
	}
	return b, nil
}

// pageBytes makes w.levels and w.plain of the n values and of which rows have one.
func (w *bigWriter[R]) pageBytes(c *bigColumn[R], n, rows int) (err error) {
	w.levels = w.levels[:0]
	if c.optional {
		w.levels, err = (&rle.Encoding{BitWidth: 1}).EncodeLevels(w.levels, w.there[:rows])
		if err != nil {
			return fmt.Errorf("encoding nulls: %w", err)
		}
	}
	var enc delta.BinaryPackedEncoding
	if c.wide {
		w.plain, err = enc.EncodeInt64(w.plain[:0], w.values[:n])
		return err
	}
	for i, v := range w.values[:n] {
		w.narrow[i] = int32(v)
	}
	w.plain, err = enc.EncodeInt32(w.plain[:0], w.narrow[:n])
	return err
}

// bounds are the least and the greatest value.
type bounds struct {
	unsigned bool
	any      bool
	min, max int64 // of unsigned values with the highest bit turned, which keeps their order
}

func newBounds(unsigned bool) bounds {
	return bounds{unsigned: unsigned, min: math.MaxInt64, max: math.MinInt64}
}

// flip turns the order of unsigned values into that of signed ones, and back.
func (b *bounds) flip() int64 {
	if b.unsigned {
		return math.MinInt64
	}
	return 0
}

func (b *bounds) add(values []int64) {
	flip, low, high := b.flip(), b.min, b.max
	for _, v := range values {
		v ^= flip
		low, high = min(low, v), max(high, v)
	}
	b.min, b.max, b.any = low, high, b.any || len(values) > 0
}

func (b *bounds) merge(o bounds) {
	b.min, b.max, b.any = min(b.min, o.min), max(b.max, o.max), b.any || o.any
}

func (b *bounds) statistics(wide bool) (s format.Statistics) {
	if !b.any {
		return s
	}
	low, high := uint64(b.min^b.flip()), uint64(b.max^b.flip())
	if wide {
		s.MinValue, s.MaxValue = binary.LittleEndian.AppendUint64(nil, low), binary.LittleEndian.AppendUint64(nil, high)
	} else {
		s.MinValue, s.MaxValue = binary.LittleEndian.AppendUint32(nil, uint32(low)), binary.LittleEndian.AppendUint32(nil, uint32(high))
	}
	return s
}
