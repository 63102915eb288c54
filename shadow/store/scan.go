package store

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
)

// Columns is a set of columns of a big table: bit i is the i-th one.
type Columns uint64

// ExecutionExtra is the column of extra metric k (of Manifest.Extra), and
// ExecutionSelfExtra that of the execution's own part.
func ExecutionExtra(k int) Columns     { return 1 << (extraPlace + 2*k) }
func ExecutionSelfExtra(k int) Columns { return 1 << (extraPlace + 2*k + 1) }

// AllColumns are those of either table.
const AllColumns Columns = 1<<64 - 1

// ScanExecutions reads the wanted columns of the executions on that many
// goroutines, in no order; the others are empty. use is called from several
// goroutines at once, each with its own worker number from 0. Every scan of a
// Folder, whatever its columns, gives the same rows of a damaged part or fewer.
func (f *Folder) ScanExecutions(want Columns, workers int, use func(worker int, c *ExecutionColumns) error) ([]*PartError, error) {
	return scan(f, Executions, f.parts[Executions], want, workers, f.executionLayoutOf, use)
}

// ScanCreations reads the wanted columns of the creations.
func (f *Folder) ScanCreations(want Columns, workers int, use func(worker int, c *CreationColumns) error) ([]*PartError, error) {
	return scan(f, Creations, f.parts[Creations], want, workers, creationLayoutOf, use)
}

// partState is what earlier scans found out about a part.
type partState struct {
	checked Columns    // whose pages have been held against the limits
	rows    int64      // that could be read, if bad
	bad     *PartError // nil: whole so far
}

// scanner is one scan of a table.
type scanner[C any] struct {
	folder *Folder
	table  Table
	parts  []Range
	want   Columns
	layout func(*parquet.File) *layout[C]
	use    func(int, *C) error
	next   atomic.Int64 // the part to read next
	mu     sync.Mutex
	bad    []*PartError
	err    error // of use
}

func scan[C any](f *Folder, t Table, parts []Range, want Columns, workers int, of func(*parquet.File) *layout[C], use func(int, *C) error) ([]*PartError, error) {
	s := &scanner[C]{folder: f, table: t, parts: parts, want: want, layout: of, use: use}
	var group sync.WaitGroup
	for worker := range min(max(workers, 1), len(parts)) {
		group.Go(func() { s.work(worker) })
	}
	group.Wait()
	return s.bad, s.err
}

func (s *scanner[C]) work(worker int) {
	var c C
	for {
		i := int(s.next.Add(1)) - 1
		if i >= len(s.parts) {
			return
		}
		if !s.part(worker, &c, s.parts[i]) {
			return
		}
	}
}

// part reads one part and reports whether to go on.
func (s *scanner[C]) part(worker int, c *C, r Range) bool {
	path := s.folder.path(s.table, r)
	state := s.folder.state(path)
	bad := s.folder.part(s.table, r, func(pf *parquet.File, done *int64) error {
		l := s.layout(pf)
		if missing := s.want &^ state.checked; missing != 0 {
			if err := checkPages(pf, pf.Size(), pf, places(pf, l.wanted(l.stored(missing)))); err != nil {
				return err
			}
		}
		return eachRun(pf, l.wanted(l.stored(s.want)), done, func(cols []column, n int) error {
			if state.bad != nil && *done+int64(n) > state.rows {
				return state.bad.Err
			}
			if err := l.read(c, s.want, cols, n); err != nil {
				return err
			}
			return callersError(s.use(worker, c))
		})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	var stop stopError
	if bad != nil && errors.As(bad.Err, &stop) {
		s.err = errors.Join(s.err, stop.error)
		s.next.Store(int64(len(s.parts)))
		return false
	}
	if bad != nil {
		s.bad = append(s.bad, bad)
		if s.folder.Strict {
			s.err = errors.Join(s.err, bad.Refusal())
			s.next.Store(int64(len(s.parts)))
		}
	}
	s.folder.learn(path, s.want, bad)
	return s.err == nil
}

// places are those of the columns in the file.
func places(pf *parquet.File, columns []columnSpec) []int {
	out := []int{}
	for _, c := range columns {
		if leaf, ok := pf.Schema().Lookup(c.name); ok {
			out = append(out, leaf.ColumnIndex)
		}
	}
	return out
}

// state is what is known of a part.
func (f *Folder) state(path string) partState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scanned[path]
}

// learn keeps what a scan found out about a part. The rows of a damaged one are
// those before the damage that the first scan met.
func (f *Folder) learn(path string, read Columns, bad *PartError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scanned == nil {
		f.scanned = map[string]partState{}
	}
	state := f.scanned[path]
	state.checked |= read
	if bad != nil {
		if state.bad == nil || bad.done < state.rows {
			state.rows = bad.done
		}
		if state.bad == nil {
			state.bad = bad
		}
	}
	f.scanned[path] = state
}
