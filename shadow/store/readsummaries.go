package store

import (
	"errors"
	"fmt"
	"iter"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// WholeSummary is a summary with its measures.
type WholeSummary struct {
	Summary
	Measures []WholeMeasure
}

// WholeMeasure is a measure with its buckets. Count, SumNs and the
// extremes are exact, unless Summary.Timed is set; single values are known to histogram.RelativeError.
type WholeMeasure struct {
	Metric       wire.Metric
	Count        uint64
	SumNs        units.Ns
	MinNs, MaxNs units.Ns           // over all that the thread's cell has counted until ToNs
	Buckets      []histogram.Bucket // ascending, none empty; nil where they can no longer be read
}

// Virtual reports whether the executions were in virtual threads.
func (s *Summary) Virtual() bool { return wire.SummaryFlags(s.Flags)&wire.SummaryVirtual != 0 }

// LastEnd is the end of the last execution up to ToNs; 0: none, or not known.
func (s *Summary) LastEnd() units.MonoNs {
	if s.LastEndNs == nil {
		return 0
	}
	return units.MonoNs(*s.LastEndNs)
}

// Until is when the last of the summary's executions ended, if that is known, else ToNs.
func (s *Summary) Until() units.MonoNs {
	if end := s.LastEnd(); end > s.FromNs {
		return min(s.ToNs, end)
	}
	return s.ToNs
}

// TimedOf is how many values of m were measured; 0: all were.
func (s *Summary) TimedOf(m *WholeMeasure) uint64 {
	if s.Timed == 0 || s.Executions == 0 {
		return 0
	}
	return max(uint64(float64(m.Count)*float64(s.Timed)/float64(s.Executions)), 1)
}

// errEnough ends a reading whose rest is not wanted.
var errEnough = errors.New("enough read")

// pull turns the reading of a table into rows to be asked for one by one. stop
// ends the reading and gives what was damaged.
func pull[T any](f *Folder, t Table) (next func() (*T, bool), stop func() ([]*PartError, error)) {
	var bad []*PartError
	var err error
	ask, end := iter.Pull(func(yield func([]T) bool) {
		bad, err = readRuns(f, t, func(rows []T) error {
			if len(rows) > 0 && !yield(rows) {
				return errEnough
			}
			return nil
		})
	})
	var rows []T
	next = func() (*T, bool) {
		for len(rows) == 0 {
			var ok bool
			if rows, ok = ask(); !ok {
				return nil, false
			}
		}
		row := &rows[0]
		rows = rows[1:]
		return row, true
	}
	return next, func() ([]*PartError, error) {
		end()
		if errors.Is(err, errEnough) {
			err = nil
		}
		return bad, err
	}
}

// peeker looks at the next row of a table without taking it.
type peeker[T any] struct {
	next func() (*T, bool)
	row  *T
	ok   bool
}

func newPeeker[T any](next func() (*T, bool)) *peeker[T] {
	p := &peeker[T]{next: next}
	p.take()
	return p
}

func (p *peeker[T]) take() { p.row, p.ok = p.next() }

// ReadWholeSummaries streams the summaries with their measures in the order of the
// batches. An error of use ends the reading and is returned; damaged parts are
// skipped and listed. What use is given is its own.
func (f *Folder) ReadWholeSummaries(use func(*WholeSummary) error) ([]*PartError, error) {
	nextMeasure, stopMeasures := pull[Measure](f, Measures)
	nextBucket, stopBuckets := pull[Bucket](f, Buckets)
	j := summaryJoin{numbers: metricNumbers(f.Extra), measures: newPeeker(nextMeasure), buckets: newPeeker(nextBucket)}
	bad, err := readRuns(f, Summaries, func(rows []Summary) error {
		for i := range rows {
			if err := j.emit(&rows[i], use); err != nil {
				return err
			}
		}
		return nil
	})
	for _, stop := range []func() ([]*PartError, error){stopMeasures, stopBuckets} {
		more, e := stop()
		bad = append(bad, more...)
		if err == nil {
			err = e
		}
	}
	return bad, err
}

// summaryJoin joins the three tables, each ascending by the id of the summary.
// Rows of a summary that is not there (a damaged part) are passed over.
type summaryJoin struct {
	numbers  map[string]wire.Metric
	measures *peeker[Measure]
	buckets  *peeker[Bucket]
}

func (j *summaryJoin) emit(s *Summary, use func(*WholeSummary) error) error {
	w := &WholeSummary{Summary: *s}
	for j.measures.ok && j.measures.row.Summary < s.ID {
		j.measures.take()
	}
	for ; j.measures.ok && j.measures.row.Summary == s.ID; j.measures.take() {
		row := j.measures.row
		m := WholeMeasure{
			Metric: j.numbers[row.Metric], Count: row.Count,
			SumNs: units.Ns(row.SumNs), MinNs: units.Ns(row.MinNs), MaxNs: units.Ns(row.MaxNs),
		}
		if n := len(w.Measures); m.Metric == 0 || n > 0 && m.Metric <= w.Measures[n-1].Metric {
			continue // a later version's, or a damaged file's
		}
		w.Measures = append(w.Measures, m)
	}
	if err := j.fill(w); err != nil {
		return err
	}
	return use(w)
}

// fill takes the buckets of w. Buckets of a measure come together, and
// ascending; a measure whose buckets are not all there has none, so that no
// figure rests on a part of them.
func (j *summaryJoin) fill(w *WholeSummary) error {
	for j.buckets.ok && j.buckets.row.Summary < w.ID {
		j.buckets.take()
	}
	for ; j.buckets.ok && j.buckets.row.Summary == w.ID; j.buckets.take() {
		row := j.buckets.row
		for k := range w.Measures {
			if m := &w.Measures[k]; m.Metric == j.numbers[row.Metric] && len(m.Buckets) < histogram.Buckets {
				m.Buckets = append(m.Buckets, histogram.Bucket{Index: uint16(histogram.Index(uint64(max(0, row.LowestNs)))), Count: row.Count})
			}
		}
	}
	for k := range w.Measures {
		if err := w.Measures[k].check(); err != nil {
			w.Measures[k].Buckets = nil
		}
	}
	return nil
}

func (m *WholeMeasure) check() error {
	last, sum := -1, uint64(0)
	for _, b := range m.Buckets {
		if int(b.Index) <= last || b.Count == 0 {
			return fmt.Errorf("bucket %d of %d executions after bucket %d", b.Index, b.Count, last)
		}
		last, sum = int(b.Index), sum+b.Count
	}
	if sum != m.Count {
		return fmt.Errorf("%d executions, %d in the buckets", m.Count, sum)
	}
	return nil
}
