package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/checksum"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Writer writes one session. It is not safe for concurrent use.
type Writer struct {
	// Manifest is written by every Commit; its owner sets what it learns.
	// Sequences, Stored and Files are the writer's.
	Manifest Manifest

	dir string
	// adopted are the batches, table by table, that parts on the disk hold
	// although no manifest says so: the shadow ended between the two. Their
	// rows are not written again when their batches come again.
	adopted [numTables]Ranges
	stored  [numTables]uint64
	// summarised is what the stored summaries stand for.
	summarised            Counts
	summarisedSubmissions uint64
	parts                 [numTables]inventory
	files                 map[string]checksum.File // checksums, for the manifest; never changed, but replaced
	covered               []string                 // files that merged parts cover, to be deleted

	// MayMerge says whether batches may become one part; nil: all may. What was not rolled up yet must stay apart from what
	// was. It is called when a merge is planned.
	MayMerge func() func(Range) bool

	// SumsFrom is how many rows a table has before its parts get sums; 0: as many as matter.
	SumsFrom uint64
}

// OpenWriter creates the folder root/folder for the session name, or goes on
// with the one that is there.
func OpenWriter(root, folder, name string) (*Writer, error) {
	if err := errors.Join(checkFolder(folder), ValidateName(name)); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, folder)
	if err := checkNoLink(dir); err != nil {
		return nil, err
	}
	return openDir(dir, name)
}

// openDir is OpenWriter for a folder of any name.
func openDir(dir, name string) (*Writer, error) {
	w := &Writer{dir: dir}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, explain("creating the session's folder", w.dir, err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil { // what is acknowledged must not go with the folder's name
		return nil, err
	}
	m, err := ReadManifest(w.dir)
	switch {
	case err == nil && m.Session != name:
		return nil, fmt.Errorf("%s holds the session %q, not %q", w.dir, m.Session, name)
	case err == nil:
		w.Manifest = *m
	case isNew(w.dir):
		w.Manifest = Manifest{Session: name}
	default:
		return nil, fmt.Errorf("going on with a session: %w", err)
	}
	if err := w.adopt(); err != nil {
		return nil, err
	}
	return w, nil
}

// CheckFree reports whether a session can be made in a folder that does not exist, or is empty: nothing is mixed with what
// is there.
func CheckFree(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking into a folder: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%s exists and is not empty; name a new folder", dir)
	}
	return nil
}

// isNew distinguishes a folder without a manifest from one whose manifest is damaged.
func isNew(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ManifestName))
	return errors.Is(err, os.ErrNotExist)
}

// adopt takes stock of the parts on the disk and removes unfinished files.
func (w *Writer) adopt() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return fmt.Errorf("going on with a session: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tmpPrefix) {
			os.Remove(filepath.Join(w.dir, e.Name())) // if it stays, it is overwritten
		}
	}
	f, err := w.open()
	if err != nil {
		return err
	}
	defer f.Close()
	for _, err := range f.Damage {
		w.Note(err.Error())
	}
	if err := w.sealParts(f); err != nil {
		return err
	}
	for t := range numTables {
		for _, r := range f.Parts(t) {
			if !w.Manifest.Sequences.HasAll(r.From, r.To) {
				w.adopted[t].Add(r.From, r.To)
			}
		}
		for _, b := range w.takeStock(f, t) {
			w.Note(b.Error())
		}
	}
	w.covered = f.covered
	bad, err := f.ReadSummaries(func(s *Summary) {
		w.summarised.Add(s.Events())
		w.summarisedSubmissions += s.SubmissionEvents()
	})
	if err != nil {
		return err
	}
	for _, b := range bad {
		w.Note(b.Error())
	}
	w.count()
	return nil
}

// open lists the parts of the session as it is on the disk.
func (w *Writer) open() (*Folder, error) {
	f := &Folder{Dir: w.dir, lock: lockShared(w.dir)}
	found, err := listParts(w.dir)
	if err != nil {
		f.Close()
		return nil, err
	}
	f.trust(&w.Manifest, found)
	return f, nil
}

// sealParts computes the checksums of parts that the manifest does not name:
// the shadow ended before it was written, or was of an earlier version.
func (w *Writer) sealParts(f *Folder) error {
	w.files = maps.Clone(w.Manifest.Files)
	if w.files == nil {
		w.files = map[string]checksum.File{}
	}
	for t := range numTables {
		for _, r := range f.Parts(t) {
			name := PartName(t, r.From, r.To)
			if _, listed := w.files[name]; listed {
				continue
			}
			sum, err := sumOf(f.path(t, r))
			if err != nil {
				return fmt.Errorf("going on with a session: %w", err)
			}
			w.files[name] = sum
		}
	}
	return nil
}

// identity is whose the part of t is that holds r.
func (w *Writer) identity(t Table, r Range) identity {
	return identity{session: w.Manifest.Session, process: w.Manifest.Process, table: t, Range: r}
}

// takeStock counts the rows of the parts of t; damaged ones are listed and
// count nothing.
func (w *Writer) takeStock(f *Folder, t Table) (bad []*PartError) {
	w.stored[t], w.parts[t] = 0, nil
	for _, r := range f.Parts(t) {
		p := partInfo{Range: r}
		err := withPart(f.path(t, r), func(pf *parquet.File, _ *int64) error {
			if pf.NumRows() < 0 {
				return fmt.Errorf("a footer of %d rows", pf.NumRows())
			}
			_, old := pf.Schema().Lookup(endColumn1)
			name := PartName(t, r.From, r.To)
			if sum := w.files[name]; sum.Rows == 0 {
				sum.Rows = pf.NumRows()
				w.files[name] = sum
			}
			p.rows, p.knots, p.stay = int(pf.NumRows()), len(clockOf(pf)), old && t == Executions || nameless(pf)
			w.stored[t] += uint64(p.rows)
			return nil
		})
		if err != nil {
			bad, p.stay = append(bad, err), true
		}
		w.parts[t].add(p)
	}
	return bad
}

// Dir is the session's folder.
func (w *Writer) Dir() string { return w.dir }

// Has reports whether the batch seq is wholly stored.
func (w *Writer) Has(seq uint64) bool { return w.Manifest.Sequences.Has(seq) }

// SamePart reports whether the batches a and b may share a part: a part must not
// mix batches whose rows are partly on the disk already with others.
func (w *Writer) SamePart(a, b uint64) bool {
	for t := range w.adopted {
		if w.adopted[t].Has(a) != w.adopted[t].Has(b) {
			return false
		}
	}
	return true
}

// maxNotes bounds the notes of a session against a hostile sender.
const maxNotes = 100

// Note puts a remark into the manifest, once.
func (w *Writer) Note(text string) {
	if len(w.Manifest.Notes) >= maxNotes {
		return
	}
	for _, n := range w.Manifest.Notes {
		if n == text {
			return
		}
	}
	w.Manifest.Notes = append(w.Manifest.Notes, text)
}

// Commit writes p and the manifest and waits for the disk once for all of them; the manifest takes its name last. When
// Commit returns nil, they are on the disk. After an error it can be called again with the same part.
func (w *Writer) Commit(p *Part) error {
	if p.From < 1 || p.To < p.From || p.To > MaxSeq {
		return fmt.Errorf("part %d-%d: not a range of batches", p.From, p.To)
	}
	var added [numTables]uint64
	filesBefore, files := w.files, maps.Clone(w.files)
	parts := asides{dir: w.dir}
	defer parts.drop()
	for t := range numTables {
		if p.rows(t) == 0 || w.adopted[t].Has(p.From) {
			continue
		}
		sum, err := w.writePart(&parts, t, p)
		if err != nil {
			return err
		}
		files[PartName(t, p.From, p.To)] = sum
		added[t] = uint64(p.rows(t))
	}
	before, stored, summarised, submissions := w.Manifest, w.stored, w.summarised, w.summarisedSubmissions
	w.Manifest.Sequences = append(Ranges(nil), w.Manifest.Sequences...) // the old list stays for a failure
	w.Manifest.Sequences.Add(p.From, p.To)
	for t := range added {
		w.stored[t] += added[t]
	}
	if added[Summaries] > 0 {
		for i := range p.Summaries {
			w.summarised.Add(p.Summaries[i].Events())
			w.summarisedSubmissions += p.Summaries[i].SubmissionEvents()
		}
	}
	w.Manifest.Balance, w.files = nil, files // no balance of before
	if err := w.commit(&parts); err != nil {
		w.Manifest.Sequences, w.stored, w.summarised = before.Sequences, stored, summarised
		w.summarisedSubmissions, w.files = submissions, filesBefore
		w.count()
		return err
	}
	for t := range added {
		if added[t] > 0 {
			w.parts[t].add(partInfo{Range: p.Range, rows: int(added[t]), knots: len(p.Clock), stay: p.nameless(Table(t))})
		}
	}
	return nil
}

// commit gives parts that are written aside their names, and the manifest that names them its own.
func (w *Writer) commit(parts *asides) error {
	manifest := asides{dir: w.dir}
	defer manifest.drop()
	w.settle()
	if err := w.Manifest.writeTo(&manifest); err != nil {
		return err
	}
	if err := errors.Join(parts.sync(), manifest.sync()); err != nil {
		return err
	}
	if err := parts.last(); err != nil { // the parts before the manifest that names them
		return err
	}
	return manifest.last()
}

// writePart writes table t of p aside.
func (w *Writer) writePart(parts *asides, t Table, p *Part) (checksum.File, error) {
	meta, err := metadata(p.Clock, w.identity(t, p.Range))
	if err != nil {
		return checksum.File{}, err
	}
	sums, err := w.partSums(t, p)
	if err != nil {
		return checksum.File{}, err
	}
	sum, err := parts.write(PartName(t, p.From, p.To), func(out io.Writer) error {
		return withEncoder(func(e *encoder) error { return e.encode(out, t, p, append(meta, sums...)) })
	})
	sum.Rows = int64(p.rows(t))
	return sum, err
}

// Close draws up the account of a session that has ended and writes the
// manifest. The Writer can go on: batches may still come late.
func (w *Writer) Close() error {
	w.count()
	w.Manifest.settle()
	if len(w.Manifest.Pieces) > 0 {
		w.Manifest.Balance = &Balance{State: BalanceUnknown, Why: "this folder holds only a part of the session"}
		return w.CommitManifest()
	}
	if why := w.Manifest.NotAvailable[NoLostCount]; why != "" {
		w.Manifest.Balance = &Balance{State: BalanceUnknown, Why: why, AtLeastLost: w.Manifest.Lost.Reported}
		return w.CommitManifest()
	}
	w.Manifest.SchedulingRecord = recordID(w.dir)
	f, err := w.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if w.Manifest.Balance, err = account(f, &w.Manifest); err != nil {
		return fmt.Errorf("drawing up the account of the session: %w", err)
	}
	return w.CommitManifest()
}

// CommitManifest writes the manifest alone.
func (w *Writer) CommitManifest() error {
	w.settle()
	return w.Manifest.write(w.dir)
}

// settle makes the counts and sums of the manifest those of now.
func (w *Writer) settle() {
	w.count()
	w.Manifest.settle()
}

func (w *Writer) count() {
	w.Manifest.Files = w.files
	w.Manifest.Summarised = w.summarised
	w.Manifest.Stored = Counts{Executions: w.stored[Executions], Creations: w.stored[Creations]}
	w.Manifest.Stored.Add(w.summarised)
	w.Manifest.Submissions = w.account(w.Manifest.Submissions, Submissions, w.summarisedSubmissions)
	w.Manifest.Traces = w.account(w.Manifest.Traces, TaskTraces, 0)
	summarised := uint64(0) // the rows of summaries do not say how many of their creations were constructions
	if h := w.Manifest.Constructions; h != nil {
		summarised = h.Summarised
	}
	w.Manifest.Constructions = w.account(w.Manifest.Constructions, Constructions, summarised)
	w.Manifest.Rows = map[string]uint64{}
	for t := Classes; t < numTables; t++ {
		w.Manifest.Rows[t.String()] = w.stored[t]
	}
}

// settle makes the sums of a manifest agree: what was produced is stored, was
// reported as lost by the agent, or went missing with batches.
func (m *Manifest) settle() {
	m.DurationNs = units.Ns(max(0, m.EndNs-m.StartNs))
	l := &m.Lost
	l.Reported = 0
	for _, n := range l.ByReason {
		l.Reported += n
	}
	l.Events, l.Batches, l.InGaps, l.Unaccounted = l.Reported, 0, 0, 0
	gaps := len(m.Pieces) == 0 && m.Sequences.Max() > m.Sequences.Count()
	for _, h := range []*RecordAccount{m.Submissions, m.Constructions, m.Traces} {
		h.settle(gaps, len(m.Pieces) == 0 && m.Ended == EndedExit)
	}
	if len(m.Pieces) > 0 { // what is missing here may be in one of them
		return
	}
	l.Batches = m.Sequences.Max() - m.Sequences.Count()
	events := l.Reported - l.ByReason[wire.LostPauses] - l.ByReason[LostByJFR] // they are not among what was produced
	diff := int64(m.Produced.Sum()) - int64(m.Stored.Sum()) - int64(events)
	if l.Batches > 0 && diff > 0 {
		l.InGaps = uint64(diff)
	} else if m.Ended == EndedExit {
		l.Unaccounted = diff
	}
	l.Events = l.Reported + l.InGaps
}
