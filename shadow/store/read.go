package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/checksum"
	guarded "stackagent/internal/parquet"
	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// readRows is the length of the runs that a reader hands out.
const readRows = 16 << 10

// PartError is a part that cannot be read, or not to its end.
type PartError struct {
	File string
	Rows int64 // rows of it that are lost; -1: not known
	Err  error

	done int64 // rows that could be read
}

// Error says which file, what is lost and why.
func (e *PartError) Error() string {
	lost := "all its rows are lost"
	if e.Rows >= 0 {
		lost = fmt.Sprintf("%d rows are lost", e.Rows)
	}
	return fmt.Sprintf("%s is damaged, %s: %v", e.File, lost, e.Err)
}

// Unwrap gives the cause.
func (e *PartError) Unwrap() error { return e.Err }

// Refusal is the error of who reads no damaged session; that of an object store which cannot be read is its own.
func (e *PartError) Refusal() error {
	if e.Unreachable() {
		return e.Err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, e)
}

// Unreachable reports whether an object store does not give the part, so that nothing is known about it.
func (e *PartError) Unreachable() bool { return errors.Is(e.Err, sessionfs.ErrUnreachable) }

// Folder lists the parts of a session.
type Folder struct {
	Dir string
	// Extra are the columns of the extra metrics, see Manifest.ExtraColumns; to
	// be set before executions, constructions or summaries are read.
	Extra []string

	// Strict: a damaged part is an error. Else it is left out, and listed.
	Strict bool
	// Damage is what is wrong with the session by its manifest; see OpenSession.
	Damage []error

	version int      // of the manifest; 0: none was looked at
	owner   identity // of all parts
	files   map[string]checksum.File
	parts   [numTables][]Range
	before  [numTables][]Range // read as well, but not scanned; see Within

	whole     bool // every checksum is to be compared, wherever the files are
	verifying sync.Mutex
	verified  map[string]error // what is wrong with the content of parts, by file; guarded by mu

	covered []string // files whose rows a larger part holds as well
	lock    *os.File // keeps a Writer from taking away what is covered

	mu      sync.Mutex
	scanned map[string]partState // by file
}

// OpenFolder lists the parts in dir, in the order of their batches, whatever the
// manifest says. They stay as long as the Folder is in use or until it is closed.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{Dir: dir, lock: lockShared(dir)}
	found, err := listParts(dir)
	if err != nil {
		f.Close()
		return nil, err
	}
	f.take(found)
	return f, nil
}

func listParts(dir string) (found [numTables][]Range, err error) {
	entries, err := sessionfs.ReadDir(dir)
	if err != nil {
		return found, fmt.Errorf("listing the session's parts: %w", err)
	}
	for _, e := range entries {
		if t, r, ok := ParsePartName(e.Name()); ok && e.Type().IsRegular() {
			found[t] = append(found[t], r)
		}
	}
	return found, nil
}

// take believes the names of the parts.
func (f *Folder) take(found [numTables][]Range) {
	for t := range found {
		var covered []Range
		f.parts[t], covered = inOrder(found[t])
		for _, r := range covered {
			f.covered = append(f.covered, f.path(Table(t), r))
		}
	}
}

// Close lets go of the parts. Without it they are when f is collected.
func (f *Folder) Close() {
	if f.lock != nil {
		f.lock.Close()
	}
}

// inOrder sorts parts by sequence and parts them from those that a larger one
// contains: what is left of merged ones.
func inOrder(parts []Range) (kept, covered []Range) {
	sort.Slice(parts, func(i, j int) bool {
		if parts[i].From != parts[j].From {
			return parts[i].From < parts[j].From
		}
		return parts[i].To > parts[j].To
	})
	for _, r := range parts {
		if n := len(kept); n > 0 && r.To <= kept[n-1].To {
			covered = append(covered, r)
			continue
		}
		kept = append(kept, r)
	}
	return kept, covered
}

// Parts are the sequence ranges of the parts of t.
func (f *Folder) Parts(t Table) []Range { return f.parts[t] }

func (f *Folder) path(t Table, r Range) string {
	return filepath.Join(f.Dir, PartName(t, r.From, r.To))
}

// Rows counts the rows of t by the manifest, or by the footers of its parts where
// that has no checksums or damage is looked for; damaged ones are listed and count nothing.
func (f *Folder) Rows(t Table) (rows int64, bad []*PartError) {
	for _, r := range f.parts[t] {
		if sum, listed := f.files[PartName(t, r.From, r.To)]; listed && f.Strict {
			rows += sum.Rows
			continue
		}
		err := f.part(t, r, func(pf *parquet.File, done *int64) error {
			if pf.NumRows() < 0 {
				return fmt.Errorf("a footer of %d rows", pf.NumRows())
			}
			rows += pf.NumRows()
			*done = pf.NumRows()
			return nil
		})
		if err != nil {
			bad = append(bad, err)
		}
	}
	return rows, bad
}

// Clock collects the knots of the clock from the footers of all parts, sorted.
func (f *Folder) Clock() []wire.ClockPair {
	var pairs []wire.ClockPair
	for t := range f.parts {
		for _, r := range f.parts[t] {
			withPart(f.path(Table(t), r), func(pf *parquet.File, _ *int64) error {
				pairs = append(pairs, clockOf(pf)...)
				return nil
			}) // a damaged part has no clock to give; reading its rows reports it
		}
	}
	return sortedClock(pairs)
}

// sortedClock sorts knots, each once: those of a part are in the footers of all
// its tables.
func sortedClock(pairs []wire.ClockPair) []wire.ClockPair {
	slices.SortFunc(pairs, func(a, b wire.ClockPair) int {
		return cmp.Or(cmp.Compare(a.Ticks, b.Ticks), cmp.Compare(a.Mono, b.Mono))
	})
	return slices.Compact(pairs)
}

func clockOf(f *parquet.File) []wire.ClockPair {
	text, _ := f.Lookup(clockKey)
	var raw [][2]int64
	if json.Unmarshal([]byte(text), &raw) != nil {
		return nil
	}
	pairs := make([]wire.ClockPair, len(raw))
	for i, p := range raw {
		pairs[i] = wire.ClockPair{Ticks: units.Ticks(p[0]), Mono: units.MonoNs(p[1])}
	}
	return pairs
}

// withPart opens a part and runs use on it. A failure, a panic of the Parquet
// library over damaged bytes included, becomes a PartError. use counts into
// done the rows that it has handed on. An error made with stopError is the
// caller's and ends the reading; it comes back as it is.
func withPart(path string, use func(f *parquet.File, done *int64) error) (bad *PartError) {
	var done int64
	total := int64(-1)
	defer func() {
		if r := recover(); r != nil {
			bad = &PartError{File: path, Rows: missing(total, done), Err: fmt.Errorf("damaged content: %v", r), done: done}
		}
	}()
	file, pf, err := openPart(path)
	if err != nil {
		return &PartError{File: path, Rows: -1, Err: unlessUnreachable(err)}
	}
	defer file.Close()
	total = pf.NumRows()
	if err := unlessUnreachable(use(pf, &done)); err != nil {
		return &PartError{File: path, Rows: missing(total, done), Err: err, done: done}
	}
	return nil
}

// openPart opens a part whose footer can be believed. The library may panic
// over a damaged one.
func openPart(path string) (file sessionfs.File, pf *parquet.File, err error) {
	opened, err := sessionfs.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if pf == nil {
			opened.Close()
		}
	}()
	info, err := opened.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := checkFooter(opened, info.Size()); err != nil {
		return nil, nil, err
	}
	// The first four bytes, which only say again what it is, would cost a request more.
	pf, err = parquet.OpenFile(opened, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.SkipMagicBytes(sessionfs.Remote(path)))
	return opened, pf, err
}

func missing(total, done int64) int64 {
	if total < done {
		return -1
	}
	return total - done
}

// stopError wraps an error of the caller's own function, so that it is not
// taken for damage.
type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

// unlessUnreachable makes an error end the reading if it is no damage.
func unlessUnreachable(err error) error {
	if errors.Is(err, sessionfs.ErrUnreachable) {
		return stopError{err}
	}
	return err
}

// each runs use on every part of t; damaged parts are collected, the others
// are read.
func (f *Folder) each(t Table, use func(*parquet.File, *int64) error) (bad []*PartError, err error) {
	for _, r := range slices.Concat(f.before[t], f.parts[t]) {
		e := f.part(t, r, func(pf *parquet.File, done *int64) error {
			if err := checkPages(pf, pf.Size(), pf, nil); err != nil {
				return err
			}
			return use(pf, done)
		})
		if e == nil {
			continue
		}
		var stop stopError
		if errors.As(e.Err, &stop) {
			return bad, stop.error
		}
		if bad = append(bad, e); f.Strict {
			return bad, e.Refusal()
		}
	}
	return bad, nil
}

// readSmall reads a small table whole, row by row.
func readSmall[T any](f *Folder, t Table, row func(*T)) ([]*PartError, error) {
	return readRuns(f, t, func(rows []T) error {
		for i := range rows {
			row(&rows[i])
		}
		return nil
	})
}

// readRuns reads a small table whole. An error of use ends the reading and is
// returned. The rows are reused.
func readRuns[T any](f *Folder, t Table, use func([]T) error) ([]*PartError, error) {
	return f.each(t, func(pf *parquet.File, done *int64) error {
		return guarded.EachRun(pf, func(rows []T) error {
			if err := use(rows); err != nil {
				return stopError{err}
			}
			*done += int64(len(rows))
			return nil
		})
	})
}
