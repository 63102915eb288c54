package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	lib "github.com/parquet-go/parquet-go"
)

// Bounds of what one row group may make a reader hold.
const (
	maxGroupRows  = 1 << 17
	maxListValues = 1 << 22
	maxGroupBytes = 256 << 20 // of the chunks that are loaded, as they are stored
	joinGap       = 64 << 10  // chunks that lie closer together are loaded by one read
)

// Groups opens a file whose columns are read row group by row group, and runs use on it. Reads of r are few and large, so
// that r may be far away: the footer, then the wanted chunks of each row group.
func Groups(r io.ReaderAt, size int64, use func(*File, []*Group) error) (err error) {
	w := &window{r: r}
	if err := w.loadTail(size); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return openGuarded(w, size, func(f *File) error {
		var groups []*Group
		for i, g := range f.RowGroups() {
			if n := g.NumRows(); n < 0 || n > maxGroupRows {
				return fmt.Errorf("%w: a row group of %d rows: %w", ErrDamaged, n, ErrTooLarge)
			}
			groups = append(groups, &Group{file: f, number: i, group: g, window: w})
		}
		return use(f, groups)
	}, lib.SkipMagicBytes(true))
}

// Group is a row group of a file.
type Group struct {
	file   *File
	number int
	group  lib.RowGroup
	window *window
}

// Rows is the number of its rows.
func (g *Group) Rows() int { return int(g.group.NumRows()) }

func (g *Group) leaf(path []string) (lib.LeafColumn, error) {
	leaf, ok := g.file.Schema().Lookup(path...)
	if !ok {
		return leaf, fmt.Errorf("no column %v: %w", path, ErrDamaged)
	}
	return leaf, nil
}

// Int64Bounds are the smallest and largest value of a column by the footer; not ok if it does not say so.
func (g *Group) Int64Bounds(path ...string) (lowest, highest int64, ok bool) {
	if leaf, err := g.leaf(path); err == nil && leaf.Node.Type().Kind() == lib.Int64 {
		if a, b, ok := g.bounds(leaf); ok {
			return a.Int64(), b.Int64(), true
		}
	}
	return 0, 0, false
}

// StringBounds is Int64Bounds for a column of strings.
func (g *Group) StringBounds(path ...string) (lowest, highest string, ok bool) {
	if leaf, err := g.leaf(path); err == nil && leaf.Node.Type().Kind() == lib.ByteArray {
		if a, b, ok := g.bounds(leaf); ok {
			return string(a.ByteArray()), string(b.ByteArray()), true
		}
	}
	return "", "", false
}

func (g *Group) bounds(leaf lib.LeafColumn) (a, b lib.Value, ok bool) {
	if c, is := g.group.ColumnChunks()[leaf.ColumnIndex].(*lib.FileColumnChunk); is {
		return c.Bounds()
	}
	return a, b, false
}

// Load reads and checks the chunks of columns, which stay loaded until the next call. Columns that are not loaded are
// not to be read.
func (g *Group) Load(paths ...[]string) error {
	only := make([]int, len(paths))
	meta := &g.file.Metadata().RowGroups[g.number]
	var want []span
	for i, p := range paths {
		leaf, err := g.leaf(p)
		if err != nil {
			return err
		}
		only[i] = leaf.ColumnIndex
		m := &meta.Columns[leaf.ColumnIndex].MetaData
		from, err := chunkStart(m, g.file.Size())
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		want = append(want, span{from, m.TotalCompressedSize})
	}
	if err := g.window.load(want); err != nil {
		return err
	}
	if err := groupPages(g.window, g.file.Size(), g.file, g.number, only, new(scratch)); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// Int64 reads a column of integers.
func (g *Group) Int64(path ...string) ([]int64, error) {
	all := make([]int64, 0, g.Rows())
	err := g.pages(path, lib.Int64, 0, func(p lib.Page) error {
		data := p.Data()
		all = append(all, data.Int64()...)
		return nil
	})
	return all, g.complete(err, len(all), path)
}

// Bool reads a column of truth values.
func (g *Group) Bool(path ...string) ([]bool, error) {
	all := make([]bool, 0, g.Rows())
	err := g.pages(path, lib.Boolean, 0, func(p lib.Page) error {
		data := p.Data()
		bits, n := data.Boolean(), int(p.NumValues())
		if n > 8*len(bits) {
			return ErrDamaged
		}
		for i := range n {
			all = append(all, bits[i/8]>>(i%8)&1 != 0)
		}
		return nil
	})
	return all, g.complete(err, len(all), path)
}

// Strings reads a column of strings. Equal strings of a page share memory.
func (g *Group) Strings(path ...string) ([]string, error) {
	all := make([]string, 0, g.Rows())
	var words []string // of the dictionary, which a chunk has one of
	err := g.pages(path, lib.ByteArray, 0, func(p lib.Page) error {
		data := p.Data()
		if d := p.Dictionary(); d != nil {
			if words == nil {
				words = make([]string, d.Len())
				for i := range words {
					words[i] = string(d.Index(int32(i)).ByteArray())
				}
			}
			for _, i := range data.Int32() {
				if i < 0 || int(i) >= len(words) {
					return ErrDamaged
				}
				all = append(all, words[i])
			}
			return nil
		}
		bytes, offsets := data.ByteArray()
		for i := 1; i < len(offsets); i++ {
			if offsets[i-1] > offsets[i] || int(offsets[i]) > len(bytes) {
				return ErrDamaged
			}
			all = append(all, string(bytes[offsets[i-1]:offsets[i]]))
		}
		return nil
	})
	return all, g.complete(err, len(all), path)
}

// Lists reads a column of lists of integers: the values of row i are values[ends[i-1]:ends[i]].
func Lists[T int32 | int64](g *Group, path ...string) (values []T, ends []int, err error) {
	kind := lib.Int64
	if _, is := any(values).([]int32); is {
		kind = lib.Int32
	}
	ends = make([]int, 0, g.Rows())
	err = g.pages(path, kind, 1, func(p lib.Page) error {
		data, repeats, defined := p.Data(), p.RepetitionLevels(), p.DefinitionLevels()
		if len(repeats) != len(defined) {
			return ErrDamaged
		}
		n := len(values)
		if kind == lib.Int32 {
			values = any(append(any(values).([]int32), data.Int32()...)).([]T)
		} else {
			values = any(append(any(values).([]int64), data.Int64()...)).([]T)
		}
		for i, r := range repeats {
			if r == 0 {
				ends = append(ends, n)
			}
			if defined[i] > 0 {
				n++
			}
			if len(ends) == 0 {
				return ErrDamaged
			}
			ends[len(ends)-1] = n
		}
		if n != len(values) || n > maxListValues {
			return fmt.Errorf("lists of %d values: %w", len(values), ErrTooLarge)
		}
		return nil
	})
	return values, ends, g.complete(err, len(ends), path)
}

// complete makes sure that a column has a value for each row.
func (g *Group) complete(err error, n int, path []string) error {
	if err == nil && n != g.Rows() {
		err = fmt.Errorf("%d values for %d rows: %w", n, g.Rows(), ErrDamaged)
	}
	if err != nil {
		return fmt.Errorf("column %v: %w", path, err)
	}
	return nil
}

func (g *Group) pages(path []string, kind lib.Kind, levels int, use func(lib.Page) error) error {
	leaf, err := g.leaf(path)
	if err != nil {
		return err
	}
	if leaf.Node.Type().Kind() != kind || leaf.MaxRepetitionLevel != levels || leaf.MaxDefinitionLevel != levels {
		return fmt.Errorf("another type than expected: %w", ErrDamaged)
	}
	pages := g.group.ColumnChunks()[leaf.ColumnIndex].Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		err = use(page)
		lib.Release(page)
		if err != nil {
			return err
		}
	}
}

// span is a range of a file.
type span struct{ from, n int64 }

// window reads a file through ranges of it that are held in memory.
type window struct {
	r    io.ReaderAt
	tail piece // the end of the file
	held []piece
}

type piece struct {
	at   int64
	data []byte
}

func (p piece) holds(at int64, n int) bool {
	return at >= p.at && at+int64(n) <= p.at+int64(len(p.data))
}

// loadTail loads the end of a file, mostly with all of its footer.
func (w *window) loadTail(size int64) error {
	n := min(size, joinGap)
	tail := make([]byte, n)
	w.tail = piece{size - n, tail}
	if _, err := w.r.ReadAt(tail, size-n); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the footer: %w", err)
	}
	if n < tailBytes || string(tail[n-4:]) != "PAR1" {
		return errors.New("no mark of a Parquet file at its end")
	}
	footer := int64(binary.LittleEndian.Uint32(tail[n-tailBytes:])) + tailBytes
	if footer <= n || footer > min(size, maxFooterBytes+tailBytes) {
		return nil // Footer refuses what is too long
	}
	more := make([]byte, footer-n)
	if _, err := w.r.ReadAt(more, size-footer); err != nil {
		return fmt.Errorf("reading the footer: %w", err)
	}
	w.tail = piece{size - footer, append(more, tail...)}
	return nil
}

// load replaces what is held by the given spans.
func (w *window) load(want []span) error {
	slices.SortFunc(want, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	w.held = nil
	var joined []span
	var total int64
	for _, s := range want {
		if n := len(joined); n > 0 && s.from-(joined[n-1].from+joined[n-1].n) < joinGap {
			last := &joined[n-1]
			last.n = max(last.n, s.from+s.n-last.from)
		} else {
			joined = append(joined, s)
		}
	}
	for _, s := range joined {
		if total += s.n; total > maxGroupBytes {
			return fmt.Errorf("%w: a row group of more than %d bytes: %w", ErrDamaged, maxGroupBytes, ErrTooLarge)
		}
	}
	for _, s := range joined {
		p := piece{at: s.from, data: make([]byte, s.n)}
		if w.tail.holds(s.from, len(p.data)) {
			copy(p.data, w.tail.data[s.from-w.tail.at:])
		} else if _, err := w.r.ReadAt(p.data, s.from); err != nil {
			return fmt.Errorf("reading %d bytes at %d: %w", s.n, s.from, err)
		}
		w.held = append(w.held, p)
	}
	return nil
}

// ReadAt serves what is held, and reads the rest from the file.
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	for _, h := range w.held {
		if h.holds(at, len(p)) {
			return copy(p, h.data[at-h.at:]), nil
		}
	}
	if w.tail.holds(at, len(p)) {
		return copy(p, w.tail.data[at-w.tail.at:]), nil
	}
	return w.r.ReadAt(p, at)
}

// Writer writes a table whose row groups the caller ends.
type Writer[T any] struct{ w *lib.GenericWriter[T] }

// NewWriter begins a file with the given version of its format and key-value pairs in its footer.
func NewWriter[T any](w io.Writer, version int, meta []KeyValue) *Writer[T] {
	return &Writer[T]{newWriter[T](w, version, meta)}
}

// Write adds rows.
func (w *Writer[T]) Write(rows []T) error {
	_, err := w.w.Write(rows)
	return err
}

// EndGroup ends a row group. Readers skip groups by the smallest and largest values of their columns.
func (w *Writer[T]) EndGroup() error { return w.w.Flush() }

// Close writes the footer.
func (w *Writer[T]) Close() error { return w.w.Close() }
