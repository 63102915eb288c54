package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"stackagent/internal/checksum"
	guarded "stackagent/internal/parquet"
	"stackagent/internal/wire"
)

// A session of hours would be thousands of small parts, so parts that follow
// one another are merged. A merged part is written aside, synced and renamed
// like any other; its range covers those of the parts that it was made of, and
// of parts of which one covers the other, readers take the one that the manifest names, with
// its checksum. So it does not matter where a crash falls. What is covered is deleted when the
// manifest names the merged part and nobody reads the session.

const (
	smallRows  = pageRows     // a part of as many rows is left as it is: its pages are full
	mergedRows = rowGroupRows // a merged part has at most
	mergeParts = 16           // as many small parts are merged while a session runs
	mergeAtEnd = 4            // and as many when it has ended
	maxMerged  = 256          // parts at once: they are open at the same time
	maxKnots   = 1 << 14      // of the clock, in the footer of a merged part
)

// partInfo is what a Writer knows of a part on the disk.
type partInfo struct {
	Range
	rows  int
	knots int  // of the clock, in its footer
	stay  bool // it cannot be merged
}

// inventory are the parts of a table, by their ranges.
type inventory []partInfo

func (v *inventory) add(p partInfo) {
	i := sort.Search(len(*v), func(i int) bool { return (*v)[i].From > p.From })
	*v = slices.Insert(*v, i, p)
}

// place is where a run of parts is. It may have moved: a part before it may have come late.
func (v inventory) place(run inventory) int {
	return sort.Search(len(v), func(i int) bool { return v[i].From >= run[0].From })
}

// run finds parts to be merged: small ones that follow one another, between
// which no batch is missing that might still come. least is how many are worth
// it where more may join them; may limits which batches become one part.
func (v inventory) run(stored Ranges, may func(Range) bool, least int) (from, to int) {
	for i := 0; i < len(v); i++ {
		rows, knots, full := 0, 0, false
		j := i
		for ; j < len(v) && v[j].mergeable() && stored.HasAll(v[i].From, v[j].To) && (may == nil || may(Range{v[i].From, v[j].To})); j++ {
			if rows+v[j].rows > mergedRows || knots+v[j].knots > maxKnots || j-i == maxMerged {
				full = true
				break
			}
			rows, knots = rows+v[j].rows, knots+v[j].knots
		}
		if n := j - i; n >= least || n >= 2 && full {
			return i, j
		}
		if !full && j > i {
			i = j - 1 // no run begins within one that was too short
		}
	}
	return 0, 0
}

func (p *partInfo) mergeable() bool { return !p.stay && p.rows < smallRows }

// Merge merges a run of small parts of each table and reports whether there was
// any. all: also shorter runs, of a session that has ended. An error leaves the
// parts as they were.
func (w *Writer) Merge(all bool) (bool, error) {
	m := w.PlanMerge(all)
	m.Write()
	return w.FinishMerge(m)
}

// Merging is a merge on its way. The Writer that planned it can commit parts meanwhile.
type Merging struct {
	runs []mergedRun
}

// mergedRun is a run of small parts of a table, and the part that takes their place.
type mergedRun struct {
	identity
	from  inventory       // the small ones
	files []checksum.File // theirs
	sums  bool            // the part gets sums
	extra []string        // columns of extra metrics

	part partInfo
	sum  checksum.File
	out  asides
	err  error // why they stay as they are
}

// MergeDue reports whether PlanMerge would find small parts, or FinishMerge could remove some that were merged before.
func (w *Writer) MergeDue() bool {
	if len(w.covered) > 0 {
		return true
	}
	may := w.mayMerge()
	for t := range numTables {
		if from, to := w.mergeable(t, may, false); from < to {
			return true
		}
	}
	return false
}

// mergeable is the run of parts of t to be merged next.
func (w *Writer) mergeable(t Table, may func(Range) bool, all bool) (from, to int) {
	if len(w.Manifest.Pieces) > 0 {
		return 0, 0 // so that the pieces of a session can be joined, a batch that another may hold stays in a part of its own
	}
	least := mergeParts
	if all {
		least = mergeAtEnd
	}
	return w.parts[t].run(w.Manifest.Sequences, may, least)
}

func (w *Writer) mayMerge() func(Range) bool {
	if w.MayMerge == nil {
		return nil
	}
	return w.MayMerge()
}

// PlanMerge chooses a run of small parts of each table. Merging.Write writes the merged parts, if need be in another
// goroutine; FinishMerge puts them in the place of the small ones.
func (w *Writer) PlanMerge(all bool) *Merging {
	m := &Merging{}
	mark := fmt.Sprintf("merge-%016x-", rand.Uint64()) // another shadow may have the session before the part is written
	may := w.mayMerge()
	for t := range numTables {
		from, to := w.mergeable(t, may, all)
		if from == to {
			continue
		}
		r := mergedRun{from: slices.Clone(w.parts[t][from:to]), extra: w.Manifest.ExtraColumns(), out: asides{dir: w.dir, mark: mark}}
		r.identity = w.identity(t, Range{r.from[0].From, r.from[len(r.from)-1].To})
		r.part.Range = r.Range
		for _, p := range r.from {
			r.files = append(r.files, w.files[PartName(t, p.From, p.To)])
			r.part.rows += p.rows
		}
		r.sums = w.wantsSums(t, r.part.rows)
		m.runs = append(m.runs, r)
	}
	return m
}

// Write writes the merged parts aside and syncs them.
func (m *Merging) Write() {
	for i := range m.runs {
		r := &m.runs[i]
		if r.err = r.write(); r.err == nil {
			r.err = r.out.sync()
		}
		if r.err != nil {
			r.out.drop()
		}
	}
}

// FinishMerge puts the merged parts in the place of those that they cover, and reports whether there were any. The
// parts of which the merging failed stay as they are.
func (w *Writer) FinishMerge(m *Merging) (bool, error) {
	defer m.Drop()
	w.clean()
	var errs []error
	var done []*mergedRun
	for i := range m.runs {
		r := &m.runs[i]
		if r.err == nil {
			done = append(done, r)
			continue
		}
		at := w.parts[r.table].place(r.from)
		for i := range r.from {
			w.parts[r.table][at+i].stay = true
		}
		errs = append(errs, fmt.Errorf("merging the parts %d-%d of %v, which stay as they are: %w", r.From, r.To, r.table, r.err))
	}
	if err := w.replaced(done); err != nil {
		return false, errors.Join(append(errs, err)...)
	}
	return len(done) > 0, errors.Join(errs...)
}

// Drop removes merged parts that have not taken the place of others.
func (m *Merging) Drop() {
	for i := range m.runs {
		m.runs[i].out.drop()
	}
}

// replaced puts merged parts in the place of those that they cover. Until the
// folder is synced their names may go, and until the manifest names them readers
// take the old ones; these stay until then.
func (w *Writer) replaced(done []*mergedRun) error {
	if len(done) == 0 {
		return nil
	}
	for _, m := range done {
		if err := m.out.rename(); err != nil {
			return err
		}
	}
	if err := syncDir(w.dir); err != nil {
		return err
	}
	before, files := w.files, maps.Clone(w.files)
	for _, m := range done {
		for _, p := range m.from {
			delete(files, PartName(m.table, p.From, p.To))
		}
		files[PartName(m.table, m.From, m.To)] = m.sum
	}
	w.files = files
	if err := w.CommitManifest(); err != nil { // it names the old parts still, and readers take those
		w.files = before
		return err
	}
	for _, m := range done {
		for _, p := range m.from {
			w.covered = append(w.covered, filepath.Join(w.dir, PartName(m.table, p.From, p.To)))
		}
		at := w.parts[m.table].place(m.from)
		w.parts[m.table] = slices.Replace(w.parts[m.table], at, at+len(m.from), m.part)
	}
	w.clean()
	return nil
}

// clean deletes what merged parts cover, unless somebody reads the session.
func (w *Writer) clean() {
	if len(w.covered) == 0 {
		return
	}
	whileUnread(w.dir, func() {
		for _, path := range w.covered {
			os.Remove(path) // one that stays is passed over by readers, and found by the next Writer
		}
		w.covered = nil
	})
}

// write writes the parts of the run as one.
func (r *mergedRun) write() error {
	s := &sources{}
	defer s.close()
	for i, p := range r.from {
		name := PartName(r.table, p.From, p.To)
		if err := checkContent(filepath.Join(r.out.dir, name), r.files[i], true); err != nil { // a merged part would hide it
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.open(filepath.Join(r.out.dir, name)); err != nil {
			return err
		}
	}
	if s.rows != int64(r.part.rows) {
		return fmt.Errorf("they hold %d rows, not %d", s.rows, r.part.rows)
	}
	clock := s.clock()
	r.part.knots = len(clock)
	meta, err := metadata(clock, r.identity)
	if err != nil {
		return err
	}
	if r.sums {
		sums, err := mergedSums(r.table, r.extra, s)
		if err != nil {
			return err
		}
		meta = append(meta, sums...)
	}
	r.sum, err = r.out.write(PartName(r.table, r.From, r.To), func(f io.Writer) error {
		return recovering(func() error {
			return withEncoder(func(e *encoder) error { return e.merge(f, r.table, s, meta) })
		})
	})
	r.sum.Rows = int64(r.part.rows)
	return err
}

// recovering makes an error of a panic of the Parquet library over damaged bytes.
func recovering(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged content: %v", r)
		}
	}()
	return f()
}

// sources are the parts that become one.
type sources struct {
	files []io.Closer
	parts []*parquet.File
	rows  int64
}

func (s *sources) open(path string) error {
	return recovering(func() error {
		file, pf, err := openPart(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		s.files, s.parts, s.rows = append(s.files, file), append(s.parts, pf), s.rows+pf.NumRows()
		if err := checkPages(pf, pf.Size(), pf, nil); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

func (s *sources) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// clock collects the knots of the parts, sorted.
func (s *sources) clock() []wire.ClockPair {
	var pairs []wire.ClockPair
	for _, p := range s.parts {
		pairs = append(pairs, clockOf(p)...)
	}
	return sortedClock(pairs)
}

// mergeBig goes column by column, so that one column of one row group is all
// that is in memory.
func mergeBig[R any](b *bigWriter[R], out io.Writer, s *sources, meta []format.KeyValue) error {
	extra, err := s.extra(b.names())
	if err != nil {
		return err
	}
	if err := b.choose(func(c *bigColumn[R]) bool { return c.used == nil || s.has(c.name) }, extra); err != nil {
		return err
	}
	var open *joinedColumn
	defer func() { open.close() }()
	return b.file(out, int(s.rows), meta, func(c *bigColumn[R], from int) (loader, error) {
		if from > 0 {
			return nil, fmt.Errorf("%d rows are more than a row group holds", s.rows)
		}
		open.close()
		open = &joinedColumn{parts: s.parts, spec: columnSpec{c.name, c.wide, c.optional, c.used != nil || c.get == nil}}
		return func(n int) (int, error) { return open.read(b.values, b.there[:n]) }, nil
	})
}

// joinedColumn reads one column of all parts, one after another.
type joinedColumn struct {
	parts []*parquet.File
	spec  columnSpec
	group int // of the first of parts, to be opened next
	cols  []column
	left  int64 // rows of the open one
}

func (j *joinedColumn) close() {
	if j == nil {
		return
	}
	for i := range j.cols {
		j.cols[i].close()
	}
	j.cols = nil
}

// read fills there, and v with as many values as there are not null.
func (j *joinedColumn) read(v []int64, there []byte) (values int, err error) {
	for len(there) > 0 {
		if j.left == 0 {
			if err := j.next(); err != nil {
				return 0, err
			}
			continue
		}
		n, rows, err := j.cols[0].raw(v[values:], there[:min(int64(len(there)), j.left)])
		if err != nil {
			return 0, err
		}
		values, there, j.left = values+n, there[rows:], j.left-int64(rows)
	}
	return values, nil
}

// next opens the next row group.
func (j *joinedColumn) next() error {
	j.close()
	for len(j.parts) > 0 && j.group == len(j.parts[0].RowGroups()) {
		j.parts, j.group = j.parts[1:], 0
	}
	if len(j.parts) == 0 {
		return io.ErrUnexpectedEOF
	}
	g := j.parts[0].RowGroups()[j.group]
	cols, err := openColumns(j.parts[0], g, []columnSpec{j.spec})
	if err != nil {
		return err
	}
	j.cols, j.left, j.group = cols, g.NumRows(), j.group+1
	if j.left < 0 {
		return fmt.Errorf("a row group of %d rows", j.left)
	}
	return nil
}

// mergeSmall rewrites the rows.
func mergeSmall[T any](out io.Writer, s *sources, meta []format.KeyValue) error {
	return guarded.WriteRuns(out, Version, meta, func(write func([]T) error) error {
		for _, p := range s.parts {
			if err := guarded.EachRun(p, write); err != nil {
				return err
			}
		}
		return nil
	})
}
