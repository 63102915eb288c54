package rollup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"stackagent/internal/heap"
	"stackagent/shadow/store/objectstore"
)

// stream is a file on its way through a merge.
type stream struct {
	number int
	row    Row
	next   func() (Row, error, bool)
	partition
}

// Before is by row.
func (s *stream) Before(o *stream) bool { return Compare(&s.row, &o.row) < 0 }

// inputError is a file that cannot be merged.
type inputError struct {
	number int
	error
}

func (e inputError) Unwrap() error { return e.error }

// input is a file to be merged.
type input struct {
	partition
	key   string
	bytes int64
}

// merge passes the rows of files to use in order, those that are of the same thing as one. Memory holds a row group of
// each.
func merge(ctx context.Context, s *meter, inputs []input, use func(*Row) error) error {
	small := make([][]byte, len(inputs)) // are fetched at once
	errs := make([]error, len(inputs))
	inParallel(len(inputs), func(i int) {
		if inputs[i].bytes <= wholeBytes/int64(max(len(inputs)/mostRuns, 1)) {
			small[i], errs[i] = s.whole(ctx, inputs[i].key, inputs[i].bytes)
		}
	})
	var open heap.Heap[*stream]
	for i, in := range inputs {
		if errs[i] != nil {
			return inputError{i, fmt.Errorf("%s: %w", in.key, errs[i])}
		}
		next, stop := iter.Pull2(rowsOf(ctx, s, in, small[i]))
		defer stop()
		x := &stream{number: i, next: next, partition: in.partition}
		if more, err := x.advance(); err != nil {
			return err
		} else if more {
			open = append(open, x)
		}
	}
	open.Init()
	var sum *Row
	for len(open) > 0 {
		x := open[0]
		if sum != nil && Compare(sum, &x.row) == 0 {
			sum.Add(&x.row.Cell)
		} else {
			if sum != nil {
				if err := use(sum); err != nil {
					return err
				}
			}
			row := x.row
			sum = &row
		}
		more, err := x.advance()
		if err != nil {
			return err
		}
		if more {
			open.Fix()
		} else {
			open.Pop()
		}
	}
	if sum == nil {
		return nil
	}
	return use(sum)
}

// advance reads the next row. Rows that are not in order would be counted in part.
func (x *stream) advance() (more bool, err error) {
	row, err, more := x.next()
	if more && err == nil && x.row.Metric != "" && Compare(&x.row, &row) > 0 {
		err = errors.New("its rows are not in order")
	}
	if more && err == nil {
		err = x.checkRow(&row)
	}
	if err != nil {
		return false, inputError{x.number, err}
	}
	x.row = row
	return more, nil
}

// A compacted file ends after so many rows.
const fileRows = 2 << 20

// output writes the compacted files of a partition, each to the disk first.
type output struct {
	ctx       context.Context
	to        objectstore.Store
	partition partition
	prefix    string // of the names
	written   []dataFile
	open      map[Level]*outputFile
	rows      int64 // of a file; 0: fileRows
}

type outputFile struct {
	file *os.File
	w    *Writer
}

func newOutput(ctx context.Context, to objectstore.Store, p partition, number int, id string) *output {
	return &output{ctx: ctx, to: to, partition: p, prefix: fmt.Sprintf("%08d-%s-", number, id), open: map[Level]*outputFile{}, rows: fileRows}
}

// add writes a row to the files of a level.
func (o *output) add(l Level, r *Row) error {
	f := o.open[l]
	if f == nil {
		file, err := os.CreateTemp("", "stackagent-rollup-*")
		if err != nil {
			return fmt.Errorf("making room for a compacted file: %w", err)
		}
		os.Remove(file.Name()) // it goes with the process
		f = &outputFile{file, NewWriter(file)}
		o.open[l] = f
	}
	if err := f.w.Write([]Row{*r}); err != nil {
		return err
	}
	if f.w.Rows >= o.rows {
		return o.end(l)
	}
	return nil
}

// end puts the file of a level.
func (o *output) end(l Level) error {
	f := o.open[l]
	if f == nil {
		return nil
	}
	delete(o.open, l)
	defer f.file.Close()
	if err := f.w.Close(); err != nil {
		return err
	}
	size, err := f.file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	d := dataFile{Name: fmt.Sprintf("%s%04d%s", o.prefix, len(o.written), parquetSuffix), Level: l, Rows: f.w.Rows, Bytes: size, First: f.w.First, Last: f.w.Last}
	o.written = append(o.written, d)
	if err := o.to.Put(o.ctx, d.key(o.partition), f.file, size); err != nil {
		return fmt.Errorf("putting %s: %w", d.key(o.partition), err)
	}
	return nil
}

// close puts what is open.
func (o *output) close() error {
	for _, l := range Levels {
		if err := o.end(l); err != nil {
			return err
		}
	}
	return nil
}

// drop removes what was put and is not to be.
func (o *output) drop() error {
	for _, f := range o.open {
		f.file.Close()
	}
	o.open = map[Level]*outputFile{}
	var errs []error
	for i := range o.written {
		errs = append(errs, o.to.Delete(o.ctx, o.written[i].key(o.partition)))
	}
	o.written = nil
	return errors.Join(errs...)
}

// levels makes rows of all levels of rows of five minutes, which come in order.
type levels struct {
	out      *output
	day      *Row
	instance map[string]*Row // of the metric
	metric   string
}

func (l *levels) add(r *Row) error {
	if err := l.out.add(Detail, r); err != nil {
		return err
	}
	if r.Metric != l.metric {
		if err := l.flushInstances(); err != nil {
			return err
		}
		l.metric = r.Metric
	}
	byInstance := *r
	byInstance.reduce(Instance)
	k := fmt.Sprintf("%q", []string{r.Service, r.Version, r.Env, r.Instance, r.Labels})
	if sum := l.instance[k]; sum != nil {
		sum.Add(&byInstance.Cell)
	} else {
		l.instance[k] = &byInstance
	}
	byDay := *r
	byDay.reduce(Day)
	if l.day != nil && Compare(l.day, &byDay) == 0 {
		l.day.Add(&byDay.Cell)
		return nil
	}
	return l.flushDay(&byDay)
}

func (l *levels) flushDay(next *Row) (err error) {
	if l.day != nil {
		err = l.out.add(Day, l.day)
	}
	l.day = next
	return err
}

func (l *levels) flushInstances() error {
	rows := make([]*Row, 0, len(l.instance))
	for _, r := range l.instance {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, Compare)
	for _, r := range rows {
		if err := l.out.add(Instance, r); err != nil {
			return err
		}
	}
	l.instance = map[string]*Row{}
	return nil
}

func (l *levels) close() error {
	return errors.Join(l.flushDay(nil), l.flushInstances())
}
