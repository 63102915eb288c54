package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/sessionfs"
)

// SumExecutions calls sums with the sums of each part of the executions that has them, and use with the
// wanted columns of the rows of the others, as ScanExecutions does. Parts of which only the sums are used are
// not held against their checksums; the sums have one of their own. Where damage is looked for, all rows are read.
func (f *Folder) SumExecutions(want Columns, workers int, sums func(worker int, s *Sums) error, use func(worker int, c *ExecutionColumns) error) ([]*PartError, error) {
	rest, err := f.eachSums(Executions, workers, sums)
	if err != nil {
		return nil, err
	}
	return scan(f, Executions, rest, want, workers, f.executionLayoutOf, use)
}

// SumCreations is SumExecutions for the creations.
func (f *Folder) SumCreations(want Columns, workers int, sums func(worker int, s *Sums) error, use func(worker int, c *CreationColumns) error) ([]*PartError, error) {
	rest, err := f.eachSums(Creations, workers, sums)
	if err != nil {
		return nil, err
	}
	return scan(f, Creations, rest, want, workers, creationLayoutOf, use)
}

// eachSums calls use with the sums of the parts of t, and gives the parts without.
func (f *Folder) eachSums(t Table, workers int, use func(int, *Sums) error) (rest []Range, err error) {
	parts := f.parts[t]
	found, errs := make([]bool, len(parts)), make([]error, max(workers, 1))
	var next atomic.Int64
	var group sync.WaitGroup
	for worker := range min(max(workers, 1), len(parts)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				s := f.sums(t, parts[i])
				if found[i] = s != nil; found[i] && errs[worker] == nil {
					errs[worker] = use(worker, s)
				}
			}
		})
	}
	group.Wait()
	for _, e := range errs {
		if e != nil {
			return nil, e
		}
	}
	for i, r := range parts {
		if !found[i] {
			rest = append(rest, r)
		}
	}
	f.verify(t, rest)
	return rest, nil
}

// sums are the sums of a part, nil if there are none that can be believed: then its rows are read.
func (f *Folder) sums(t Table, r Range) (s *Sums) {
	path := f.path(t, r)
	listed, ok := f.files[filepath.Base(path)]
	if info, err := sessionfs.Lstat(path); !ok || !f.Strict || err != nil || info.Size() != listed.Bytes {
		return nil
	}
	bad := withPart(path, func(pf *parquet.File, _ *int64) (err error) {
		if err := f.checkPart(pf, t, r); err != nil {
			return err
		}
		if listed.Rows != pf.NumRows() {
			return fmt.Errorf("a footer of %d rows", pf.NumRows())
		}
		s, err = sumsOf(pf, f.extraOf(pf))
		return err
	})
	if bad != nil {
		return nil
	}
	return s
}
