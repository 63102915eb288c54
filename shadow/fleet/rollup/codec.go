package rollup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"stackagent/internal/histogram"
	"stackagent/internal/parquet"
)

// formatVersion is of the files; versionKey names it in their footers.
const (
	formatVersion = 1
	versionKey    = "stackagent.rollup.version"
)

// ErrVersion is reported for files of a newer version.
var ErrVersion = errors.New("the roll-up was written by a newer version of stackagent")

// fileRow is a row as files hold it. The column of the service is not called service, because engines make a column of
// that name from the path.
type fileRow struct {
	Window   int64   `parquet:"window_start,delta,timestamp(microsecond)"`
	Service  string  `parquet:"service_name,dict"`
	Version  string  `parquet:"version,dict"`
	Env      string  `parquet:"env,dict"`
	Instance string  `parquet:"instance,dict"`
	Session  string  `parquet:"session,dict"`
	Labels   string  `parquet:"labels,dict"`
	Executor string  `parquet:"executor,dict"`
	Class    string  `parquet:"class,dict"`
	Site     string  `parquet:"site,dict"`
	Platform bool    `parquet:"platform"`
	Metric   string  `parquet:"metric,dict"`
	Count    int64   `parquet:"count,delta"`
	Sum      int64   `parquet:"sum,delta"`
	Min      int64   `parquet:"min,delta"`
	Max      int64   `parquet:"max,delta"`
	Index    []int32 `parquet:"bucket_index,list" parquet-element:",delta"`
	Buckets  []int64 `parquet:"bucket_count,list" parquet-element:",delta"`
}

// Columns are columns of rows.
type Columns uint32

// The columns.
const (
	ColumnWindow Columns = 1 << iota
	ColumnService
	ColumnVersion
	ColumnEnv
	ColumnInstance
	ColumnSession
	ColumnLabels
	ColumnExecutor
	ColumnClass
	ColumnSite
	ColumnPlatform
	ColumnMetric
	ColumnCount
	ColumnSum
	ColumnMin
	ColumnMax
	ColumnHistogram

	AllColumns   = ColumnHistogram<<1 - 1
	NoHistograms = AllColumns &^ ColumnHistogram
)

const nsPerMicro = 1000

// stringColumns and intColumns say where a column of a file stands in a row.
var (
	stringColumns = []struct {
		column Columns
		name   string
		of     func(*Row) *string
	}{
		{ColumnService, "service_name", func(r *Row) *string { return &r.Service }},
		{ColumnVersion, "version", func(r *Row) *string { return &r.Version }},
		{ColumnEnv, "env", func(r *Row) *string { return &r.Env }},
		{ColumnInstance, "instance", func(r *Row) *string { return &r.Instance }},
		{ColumnSession, "session", func(r *Row) *string { return &r.Session }},
		{ColumnLabels, "labels", func(r *Row) *string { return &r.Labels }},
		{ColumnExecutor, "executor", func(r *Row) *string { return &r.Executor }},
		{ColumnClass, "class", func(r *Row) *string { return &r.Class }},
		{ColumnSite, "site", func(r *Row) *string { return &r.Site }},
		{ColumnMetric, metricColumn, func(r *Row) *string { return &r.Metric }},
	}
	intColumns = []struct {
		column Columns
		name   string
		of     func(*Row) *int64
	}{
		{ColumnWindow, windowColumn, func(r *Row) *int64 { return &r.WindowUnixNs }},
		{ColumnCount, "count", func(r *Row) *int64 { return &r.Count }},
		{ColumnSum, "sum", func(r *Row) *int64 { return &r.Sum }},
		{ColumnMin, "min", func(r *Row) *int64 { return &r.Min }},
		{ColumnMax, "max", func(r *Row) *int64 { return &r.Max }},
	}
	indexPath  = []string{"bucket_index", "list", "element"}
	bucketPath = []string{"bucket_count", "list", "element"}
)

const (
	metricColumn   = "metric"
	windowColumn   = "window_start"
	platformColumn = "platform"
)

// A row group ends after so many rows or buckets, so that a reader holds little.
const (
	groupRows    = 8 << 10
	groupBuckets = 1 << 18
	batchRows    = 512
)

// Writer writes a file of rows that come in the order of Compare.
type Writer struct {
	w             *parquet.Writer[fileRow]
	batch         []fileRow
	last          Row
	rows, buckets int // of the row group
	// Rows are those written so far; First and Last are their smallest and largest window.
	Rows        int64
	First, Last int64
}

// NewWriter begins a file.
func NewWriter(w io.Writer) *Writer {
	meta := []parquet.KeyValue{{Key: versionKey, Value: strconv.Itoa(formatVersion)}}
	return &Writer{w: parquet.NewWriter[fileRow](w, formatVersion, meta)}
}

// Write adds rows.
func (w *Writer) Write(rows []Row) error {
	for i := range rows {
		r := &rows[i]
		if w.Rows > 0 && Compare(&w.last, r) > 0 {
			return errors.New("writing a roll-up: its rows are not in order")
		}
		if len(r.Index) != len(r.Buckets) {
			return fmt.Errorf("writing a roll-up: a histogram of %d indices and %d counts", len(r.Index), len(r.Buckets))
		}
		if w.Rows == 0 {
			w.First, w.Last = r.WindowUnixNs, r.WindowUnixNs
		}
		w.First, w.Last = min(w.First, r.WindowUnixNs), max(w.Last, r.WindowUnixNs)
		w.Rows++
		w.last = *r
		w.batch = append(w.batch, fileRow{r.WindowUnixNs / nsPerMicro, r.Service, r.Version, r.Env, r.Instance, r.Session, r.Labels, r.Executor, r.Class,
			r.Site, r.Platform, r.Metric, r.Count, r.Sum, r.Min, r.Max, r.Index, r.Buckets})
		w.rows, w.buckets = w.rows+1, w.buckets+len(r.Index)
		if full := w.rows >= groupRows || w.buckets >= groupBuckets; full || len(w.batch) == batchRows {
			if err := w.flush(full); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) flush(endGroup bool) error {
	err := w.w.Write(w.batch)
	w.batch = w.batch[:0]
	if err == nil && endGroup {
		w.rows, w.buckets = 0, 0
		err = w.w.EndGroup()
	}
	if err != nil {
		return fmt.Errorf("writing a roll-up: %w", err)
	}
	return nil
}

// Close writes the end of the file.
func (w *Writer) Close() error {
	if err := w.flush(false); err != nil {
		return err
	}
	if err := w.w.Close(); err != nil {
		return fmt.Errorf("writing a roll-up: %w", err)
	}
	return nil
}

// Write sorts rows and writes them as a file.
func Write(w io.Writer, rows []Row) error {
	slices.SortFunc(rows, func(a, b Row) int { return Compare(&a, &b) })
	out := NewWriter(w)
	if err := out.Write(rows); err != nil {
		return err
	}
	return out.Close()
}

// Selection says what to read of files. The zero value selects all.
type Selection struct {
	Columns    Columns  // 0: all
	Metrics    []string // nil: all
	FromUnixNs int64    // windows that begin at it or later
	ToUnixNs   int64    // and before it; 0: all
}

// Read passes the selected rows of a file to use, in the order of Compare. The slice is reused after the call; strings and
// histograms may be kept. Columns that are not selected are zero. Files may be forged: what they claim is checked.
func Read(r io.ReaderAt, size int64, sel Selection, use func([]Row) error) error {
	return parquet.Groups(r, size, func(f *parquet.File, groups []*parquet.Group) error {
		text, _ := f.Lookup(versionKey)
		version, err := strconv.Atoi(text)
		switch {
		case err != nil || version < 1:
			return fmt.Errorf("%w: no roll-up: its footer has no %s", parquet.ErrDamaged, versionKey)
		case version > formatVersion:
			return fmt.Errorf("%w: version %d", ErrVersion, version)
		}
		for _, g := range groups {
			if sel.mayHave(g) {
				if err := sel.readGroup(g, use); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// mayHave reports whether rows of a row group may be selected, by its bounds.
func (s *Selection) mayHave(g *parquet.Group) bool {
	if low, high, ok := g.Int64Bounds(windowColumn); ok && !s.inTime(low, high) {
		return false
	}
	if low, high, ok := g.StringBounds(metricColumn); ok && s.Metrics != nil {
		return slices.ContainsFunc(s.Metrics, func(m string) bool { return low <= m && m <= high })
	}
	return true
}

// inTime reports whether one of the windows between two, in microseconds, may be selected.
func (s *Selection) inTime(low, high int64) bool {
	return high >= s.FromUnixNs/nsPerMicro && (s.ToUnixNs == 0 || low < (s.ToUnixNs+nsPerMicro-1)/nsPerMicro)
}

func (s *Selection) readGroup(g *parquet.Group, use func([]Row) error) error {
	want := s.Columns
	if want == 0 {
		want = AllColumns
	}
	if s.Metrics != nil {
		want |= ColumnMetric
	}
	if s.FromUnixNs != 0 || s.ToUnixNs != 0 {
		want |= ColumnWindow
	}
	c, err := readColumns(g, want)
	if err != nil {
		return err
	}
	rows := make([]Row, 0, batchRows)
	for i := range g.Rows() {
		r, err := c.row(i)
		if err != nil {
			return err
		}
		if s.Metrics != nil && !slices.Contains(s.Metrics, r.Metric) || !s.inTime(r.WindowUnixNs/nsPerMicro, r.WindowUnixNs/nsPerMicro) {
			continue
		}
		if rows = append(rows, r); len(rows) == batchRows {
			if err := use(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return use(rows)
}

// groupColumns are columns of a row group; those that are not wanted are nil.
type groupColumns struct {
	strings  [][]string // by stringColumns
	ints     [][]int64  // by intColumns
	platform []bool
	index    []int32
	buckets  []int64
	ends     []int
}

func readColumns(g *parquet.Group, want Columns) (*groupColumns, error) {
	var paths [][]string
	for _, c := range stringColumns {
		if want&c.column != 0 {
			paths = append(paths, []string{c.name})
		}
	}
	for _, c := range intColumns {
		if want&c.column != 0 {
			paths = append(paths, []string{c.name})
		}
	}
	if want&ColumnPlatform != 0 {
		paths = append(paths, []string{platformColumn})
	}
	if want&ColumnHistogram != 0 {
		paths = append(paths, indexPath, bucketPath)
	}
	if err := g.Load(paths...); err != nil {
		return nil, err
	}
	all := &groupColumns{strings: make([][]string, len(stringColumns)), ints: make([][]int64, len(intColumns))}
	var err error
	for i, c := range stringColumns {
		if want&c.column != 0 && err == nil {
			all.strings[i], err = g.Strings(c.name)
		}
	}
	for i, c := range intColumns {
		if want&c.column != 0 && err == nil {
			all.ints[i], err = g.Int64(c.name)
		}
	}
	if want&ColumnPlatform != 0 && err == nil {
		all.platform, err = g.Bool(platformColumn)
	}
	if want&ColumnHistogram != 0 && err == nil {
		err = all.readHistograms(g)
	}
	return all, err
}

func (c *groupColumns) readHistograms(g *parquet.Group) (err error) {
	if c.index, c.ends, err = parquet.Lists[int32](g, indexPath...); err != nil {
		return err
	}
	var ends []int
	if c.buckets, ends, err = parquet.Lists[int64](g, bucketPath...); err != nil {
		return err
	}
	if !slices.Equal(c.ends, ends) {
		return fmt.Errorf("histograms of unequal lengths: %w", parquet.ErrDamaged)
	}
	return nil
}

// row assembles row i.
func (c *groupColumns) row(i int) (r Row, err error) {
	for k, of := range stringColumns {
		if c.strings[k] != nil {
			*of.of(&r) = c.strings[k][i]
		}
	}
	for k, of := range intColumns {
		if c.ints[k] != nil {
			*of.of(&r) = c.ints[k][i]
		}
	}
	if c.platform != nil {
		r.Platform = c.platform[i]
	}
	const most = 1<<63 - 1
	if r.WindowUnixNs < 0 || r.WindowUnixNs > most/nsPerMicro || r.Count < 0 {
		return r, fmt.Errorf("a row of window %d with %d values: %w", r.WindowUnixNs, r.Count, parquet.ErrDamaged)
	}
	r.WindowUnixNs *= nsPerMicro
	if c.ends != nil {
		from, to := 0, c.ends[i]
		if i > 0 {
			from = c.ends[i-1]
		}
		r.Index, r.Buckets = c.index[from:to:to], c.buckets[from:to:to]
		for k, b := range r.Index {
			if b < 0 || b >= histogram.Buckets || k > 0 && b <= r.Index[k-1] || r.Buckets[k] < 0 {
				return r, fmt.Errorf("a histogram that is none: %w", parquet.ErrDamaged)
			}
		}
	}
	return r, nil
}
