package rollup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/internal/parquet"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// someRows are n rows of two metrics, in order.
func someRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		r := &rows[i]
		*r = Row{WindowUnixNs: midnight.Add(time.Duration(i%288) * Window).UnixNano(), Service: "orders", Version: "1." + fmt.Sprint(i%3), Env: "prod",
			Instance: fmt.Sprint("host-", i%7), Session: "s", Labels: `{"zone":"a"}`, Executor: "ThreadPoolExecutor", Class: fmt.Sprint("com.acme.Job", i%11),
			Site: "com.acme.Main.main:7", Platform: i%2 == 1, Metric: "executions", Cell: Cell{Count: int64(i) + 1}}
		if i%2 == 0 {
			r.Metric, r.Sum, r.Min, r.Max = "wall_ns", int64(i)*1000-5, -5, math.MaxInt64
			r.Index, r.Buckets = []int32{0, 7, 3711}, []int64{1, int64(i), math.MaxInt64}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return Compare(&a, &b) })
	return rows
}

func encoded(t testing.TB, rows []Row) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decoded(data []byte, sel Selection) (rows []Row, err error) {
	err = Read(bytes.NewReader(data), int64(len(data)), sel, func(r []Row) error {
		rows = append(rows, r...)
		return nil
	})
	return rows, err
}

// withoutNil makes empty histograms equal.
func withoutNil(rows []Row) []Row {
	for i := range rows {
		if len(rows[i].Index) == 0 {
			rows[i].Index, rows[i].Buckets = nil, nil
		}
	}
	return rows
}

func TestWriteRead(t *testing.T) {
	for _, n := range []int{0, 1, 1000, groupRows + 77} {
		want := someRows(n)
		got, err := decoded(encoded(t, slices.Clone(want)), Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || n > 0 && !reflect.DeepEqual(withoutNil(got), want) {
			t.Errorf("%d rows do not come back", n)
		}
	}
}

// countingReader counts the bytes and reads that a file costs.
type countingReader struct {
	io.ReaderAt
	reads int
	bytes int64
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	c.reads++
	c.bytes += int64(len(p))
	return c.ReaderAt.ReadAt(p, at)
}

func TestSelection(t *testing.T) {
	all := someRows(2*groupRows + 5)
	data := encoded(t, slices.Clone(all))
	from, to := midnight.Add(time.Hour).UnixNano(), midnight.Add(2*time.Hour).UnixNano()
	for name, sel := range map[string]Selection{
		"metric":  {Metrics: []string{"wall_ns"}},
		"time":    {FromUnixNs: from, ToUnixNs: to},
		"both":    {Metrics: []string{"executions"}, FromUnixNs: from},
		"nothing": {Metrics: []string{"none"}},
	} {
		got, err := decoded(data, sel)
		if err != nil {
			t.Fatal(err)
		}
		var want []Row
		for _, r := range all {
			if (sel.Metrics == nil || slices.Contains(sel.Metrics, r.Metric)) && r.WindowUnixNs >= sel.FromUnixNs && (sel.ToUnixNs == 0 || r.WindowUnixNs < sel.ToUnixNs) {
				want = append(want, r)
			}
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(withoutNil(got), want) {
			t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
		}
	}
}

// TestColumnsCost: a question about sums reads neither the histograms nor the row groups of other metrics.
func TestColumnsCost(t *testing.T) {
	rows := someRows(4 * groupRows)
	for i := range rows {
		if r := &rows[i]; r.Metric == "wall_ns" {
			r.Index, r.Buckets = nil, nil
			for k := range int32(50) {
				r.Index, r.Buckets = append(r.Index, 40*k+int32(i%40)), append(r.Buckets, int64(i*int(k)%997))
			}
		}
	}
	data := encoded(t, rows)
	cost := func(sel Selection) *countingReader {
		c := &countingReader{ReaderAt: bytes.NewReader(data)}
		var n int64
		if err := Read(c, int64(len(data)), sel, func(r []Row) error { n += int64(len(r)); return nil }); err != nil {
			t.Fatal(err)
		}
		return c
	}
	sums := cost(Selection{Columns: ColumnClass | ColumnCount | ColumnSum, Metrics: []string{"wall_ns"}})
	all := cost(Selection{})
	const tail = 64 << 10 // that every question reads
	if (sums.bytes-tail)*10 > all.bytes-tail || sums.reads > 4*2+2 {
		t.Errorf("sums cost %d reads of %d bytes, all cost %d bytes", sums.reads, sums.bytes, all.bytes)
	}
}

func TestWriterRefusesDisorder(t *testing.T) {
	rows := someRows(10)
	slices.Reverse(rows)
	if err := NewWriter(io.Discard).Write(rows); err == nil {
		t.Error("rows in disorder were written")
	}
}

func TestReadRefuses(t *testing.T) {
	newer, none, odd := new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer)
	for _, x := range []struct {
		b    *bytes.Buffer
		meta []parquet.KeyValue
		row  fileRow
	}{
		{newer, []parquet.KeyValue{{Key: versionKey, Value: "2"}}, fileRow{}},
		{none, nil, fileRow{}},
		{odd, []parquet.KeyValue{{Key: versionKey, Value: "1"}}, fileRow{Index: []int32{3, 3}, Buckets: []int64{1, 1}}},
	} {
		if err := parquet.Write(x.b, []fileRow{x.row}, 1, x.meta); err != nil {
			t.Fatal(err)
		}
	}
	for name, x := range map[string]struct {
		data []byte
		want error
	}{
		"newer":     {newer.Bytes(), ErrVersion},
		"none":      {none.Bytes(), parquet.ErrDamaged},
		"histogram": {odd.Bytes(), parquet.ErrDamaged},
		"cut":       {encoded(t, someRows(9))[:300], parquet.ErrDamaged},
		"empty":     {nil, parquet.ErrDamaged},
	} {
		if _, err := decoded(x.data, Selection{}); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAdd(t *testing.T) {
	a := Cell{Count: 3, Sum: 30, Min: 5, Max: 15, Counts: histogram.Counts[int32, int64]{Index: []int32{5, 10}, Buckets: []int64{1, 2}}}
	a.Add(&Cell{Count: 2, Sum: 11, Min: 1, Max: 10, Counts: histogram.Counts[int32, int64]{Index: []int32{1, 10}, Buckets: []int64{1, 1}}})
	a.Add(&Cell{})
	want := Cell{Count: 5, Sum: 41, Min: 1, Max: 15, Counts: histogram.Counts[int32, int64]{Index: []int32{1, 5, 10}, Buckets: []int64{1, 1, 3}}}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v, want %+v", a, want)
	}
	if q := a.Quantile(0.5); q != 10 {
		t.Errorf("the median is %v", q)
	}
	a.Add(&Cell{Count: 1, Sum: math.MaxInt64})
	if a.Sum != math.MaxInt64 {
		t.Errorf("a sum went round to %d", a.Sum)
	}
	if q := (&Cell{Count: 3}).Quantile(0.5); !math.IsNaN(q) {
		t.Errorf("without a histogram the median is %v", q)
	}
}

// Whatever the bytes, reading ends with rows or an error.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, someRows(3)))
	f.Add(encoded(f, someRows(600)))
	f.Add([]byte("PAR1"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		decoded(data, Selection{})
		decoded(data, Selection{Columns: ColumnClass | ColumnSum, Metrics: []string{"wall_ns"}, FromUnixNs: 1, ToUnixNs: math.MaxInt64})
	})
}
