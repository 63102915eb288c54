package store

import (
	"errors"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go/format"
)

// sumsIn gives the sums of the only part of t and how many parts had none.
func sumsIn(t testing.TB, dir string, table Table) (all []*Sums, without int) {
	t.Helper()
	f, m, err := OpenSession(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Extra = m.ExtraColumns()
	rest, err := f.eachSums(table, 1, func(_ int, s *Sums) error {
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, len(rest)
}

// TestSumsOfMergedParts: a merged part has the sums that a part written at once has.
func TestSumsOfMergedParts(t *testing.T) {
	whole, merged := openWriter(t, t.TempDir()), openWriter(t, t.TempDir())
	whole.SumsFrom, merged.SumsFrom = 1, 1
	all := sample(1, 20, 0)
	for seq := uint64(1); seq <= 20; seq++ {
		p := sample(seq, seq, 2000)
		commit(t, merged, p)
		all.Executions, all.Creations = append(all.Executions, p.Executions...), append(all.Creations, p.Creations...)
	}
	commit(t, whole, all)
	if _, without := sumsIn(t, merged.Dir(), Executions); without != 20 {
		t.Errorf("of 20 small parts %d are without sums", without)
	}
	mergeAll(t, merged)
	for _, table := range []Table{Executions, Creations} {
		a, none := sumsIn(t, whole.Dir(), table)
		b, left := sumsIn(t, merged.Dir(), table)
		if len(a) != 1 || len(b) != 1 || none+left != 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("%v: %d and %d parts with sums, %d and %d without:\n%+v\n%+v", table, len(a), len(b), none, left, a, b)
		}
	}
}

// TestSumsOfSmallSessions: a session that is read in a moment has none.
func TestSumsOfSmallSessions(t *testing.T) {
	w := openWriter(t, t.TempDir())
	commit(t, w, sample(1, 1, 2*sumsRows))
	if s, without := sumsIn(t, w.Dir(), Executions); len(s) != 0 || without != 1 {
		t.Errorf("%d parts with sums", len(s))
	}
}

// TestSumsThatAreNotOurs: sums that cannot be believed are none.
func TestSumsThatAreNotOurs(t *testing.T) {
	good := sampleSums(t)
	for name, text := range map[string]string{"nothing": "", "another version": "2" + good[1:], "cut": good[:len(good)-4], "no base64": good[:20] + "*" + good[21:], "another byte": good[:60] + flipped(good[60]) + good[61:]} {
		if _, err := parseSums(text, nil); !errors.Is(err, errSums) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func flipped(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

func sampleSums(t testing.TB) string {
	t.Helper()
	_, metrics, of := executionSums(0)
	s, p := newSummer(metrics), sample(1, 1, 5000)
	var c ExecutionColumns
	fillColumns(&c, p, 0, len(p.Executions))
	s.executions(&c, of(&c))
	var meta []format.KeyValue
	meta, err := s.done().metadata(nil)
	if err != nil || len(meta) != 1 {
		t.Fatalf("%d entries: %v", len(meta), err)
	}
	return meta[0].Value
}

// FuzzSums: sums of anybody are refused, or make sense.
func FuzzSums(f *testing.F) {
	s, err := parseSums(sampleSums(f), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.append(nil, nil))
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Add([]byte("\x05\x0200\x020")) // a name that is longer than what follows
	f.Fuzz(func(t *testing.T, data []byte) {
		r := sumsReader{data: data, numbers: metricNumbers(nil)}
		s := r.sums()
		if r.failed {
			return
		}
		rows := uint64(0)
		for _, c := range s.Classes {
			for _, x := range c.Flags {
				rows += x.Count
			}
			for _, w := range c.Work {
				if uint64(w.Count) > s.Rows || w.Min > w.Max || MetricName(w.Metric, nil) == "" {
					t.Errorf("%+v", w)
				}
			}
		}
		if rows != s.Rows {
			t.Errorf("%d rows in the classes of %d", rows, s.Rows)
		}
	})
}

func BenchmarkSums(b *testing.B) {
	_, metrics, of := executionSums(0)
	p := sample(1, 1, readRows)
	var c ExecutionColumns
	s := newSummer(metrics)
	b.ReportAllocs()
	for b.Loop() {
		fillColumns(&c, p, 0, readRows)
		s.executions(&c, of(&c))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/readRows, "ns/row")
}
