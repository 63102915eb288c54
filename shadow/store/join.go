package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"stackagent/internal/checksum"
	"stackagent/internal/sessionfs"
)

// ErrNotPieces is returned for folders that are not pieces of one session.
var ErrNotPieces = errors.New("not pieces of one session")

// piece is a folder to be joined.
type piece struct {
	dir    string
	m      *Manifest
	folder *Folder
}

// joinedPart is a part chosen for the whole.
type joinedPart struct {
	Range
	dir string
	sum checksum.File // by the manifest; zero: not known
}

// Join copies the parts of the pieces in dirs, which several shadows stored
// one after another, into the folder out, new or empty, so that it is the whole
// session. A part whose batches a larger one holds too is left out: they were
// stored twice. Batches that are in no piece are lost, and counted so.
func Join(out string, dirs []string) (*Manifest, error) {
	pieces, err := openPieces(dirs)
	defer func() {
		for _, p := range pieces {
			p.folder.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := emptyFolder(out); err != nil {
		return nil, err
	}
	files, err := copyParts(out, pieces)
	if err != nil {
		return nil, err
	}
	w, err := newJoined(out, pieces, files)
	if err != nil {
		return nil, err
	}
	if w.Manifest.Ended == EndedRunning {
		err = w.CommitManifest()
	} else {
		err = w.Close()
	}
	return &w.Manifest, err
}

// openPieces opens the folders, also beside an error; the caller closes them.
func openPieces(dirs []string) ([]piece, error) {
	var pieces []piece
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			return pieces, explain("joining the pieces of a session", dir, err)
		}
		f, m, err := OpenSession(dir, false)
		if err != nil {
			return pieces, fmt.Errorf("joining the pieces of a session: %w", err)
		}
		pieces = append(pieces, piece{dir, m, f})
	}
	if len(pieces) == 0 {
		return nil, fmt.Errorf("joining: %w: no folder is given", ErrNotPieces)
	}
	first := pieces[0]
	for _, p := range pieces[1:] {
		a, b := first.m, p.m
		if a.Session != b.Session || a.Process != b.Process || a.JVM.PID != 0 && b.JVM.PID != 0 && !a.JVM.same(b.JVM) {
			return pieces, fmt.Errorf("joining: %w: %s is of session %s (process %s), %s of %s (process %s)",
				ErrNotPieces, first.dir, a.Session, a.Process, p.dir, b.Session, b.Process)
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.m.Sequences.Max(), b.m.Sequences.Max()) })
	return pieces, nil
}

func emptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return explain("making the folder of the whole", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("joining: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("joining: %s is not empty; choose another folder", dir)
	}
	return nil
}

// copyParts copies, table by table, what is not there twice, and gives the
// checksums. A part that does not match its own is an error.
func copyParts(out string, pieces []piece) (map[string]checksum.File, error) {
	files := map[string]checksum.File{}
	for t := range numTables {
		parts, err := choose(t, pieces)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			name := PartName(t, p.From, p.To)
			sum, err := replace(out, name, func(w io.Writer) error { return copyFrom(filepath.Join(p.dir, name), w) })
			if err != nil {
				return nil, fmt.Errorf("joining: %w", err)
			}
			if p.sum.SHA256 != "" {
				if err := p.sum.Check(sum); err != nil {
					return nil, fmt.Errorf("joining: %s: %w: %w", filepath.Join(p.dir, name), ErrDamaged, err)
				}
			}
			sum.Rows = p.sum.Rows
			files[name] = sum
		}
	}
	return files, syncDir(out)
}

// choose lists the parts of t, each batch in one of them.
func choose(t Table, pieces []piece) ([]joinedPart, error) {
	var all []joinedPart
	for _, p := range pieces {
		for _, r := range p.folder.Parts(t) {
			all = append(all, joinedPart{r, p.dir, p.m.Files[PartName(t, r.From, r.To)]})
		}
	}
	slices.SortStableFunc(all, func(a, b joinedPart) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	var kept []joinedPart
	for _, p := range all {
		if n := len(kept); n > 0 && p.From <= kept[n-1].To {
			if last := kept[n-1]; p.To > last.To {
				return nil, fmt.Errorf("joining: %w: the parts %s in %s and in %s overlap, and it is not known which rows are there twice",
					ErrNotPieces, PartName(t, last.From, last.To)+" and "+PartName(t, p.From, p.To), last.dir, p.dir)
			}
			continue // there twice
		}
		kept = append(kept, p)
	}
	return kept, nil
}

func copyFrom(path string, w io.Writer) error {
	f, err := sessionfs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// newJoined makes the manifest of the whole: running sums from the piece with
// the newest batch, what was said at the beginning from the first that knows.
func newJoined(out string, pieces []piece, files map[string]checksum.File) (*Writer, error) {
	m := *pieces[len(pieces)-1].m
	m.Sequences, m.Notes, m.Pieces, m.Balance, m.BadMessages = nil, nil, nil, nil, 0
	m.Files, m.SchedulingRecord = files, "" // what is beside the parts stays with the pieces
	m.Lost.ByThread = nil
	stores := Manifest{}
	for _, p := range pieces {
		for _, r := range p.m.Sequences {
			m.Sequences.Add(r[0], r[1])
		}
		for _, l := range p.m.Lost.ByThread {
			m.Lost.AddThread(uint32(l[0]), l[1])
		}
		m.BadMessages += p.m.BadMessages
		m.EndNs = max(m.EndNs, p.m.EndNs)
		for _, other := range p.m.Pieces {
			stores.AddPiece(other)
		}
		if m.JVM.PID == 0 && p.m.JVM.PID != 0 || m.StartNs == 0 || p.m.StartNs != 0 && p.m.StartNs < m.StartNs {
			describeLike(&m, p.m)
		}
		if len(m.Extra) == 0 {
			m.Extra = p.m.Extra
		}
	}
	if m.Ended == EndedElsewhere {
		m.Ended = EndedLostContact
	}
	if err := m.write(out); err != nil {
		return nil, err
	}
	w, err := openDir(filepath.Clean(out), m.Session)
	if err != nil {
		return nil, err
	}
	for _, p := range pieces {
		for _, n := range p.m.Notes {
			w.Note(n)
		}
	}
	if len(pieces) <= len(stores.Pieces) && m.Sequences.Count() < m.Sequences.Max() {
		w.Note("the shadows of the pieces name more stores than folders were joined (" + placesOf(stores.Pieces) +
			"); batches that are missing may be there")
	}
	return w, nil
}

// describeLike takes over what the first batch of a JVM says.
func describeLike(m, from *Manifest) {
	if from.JVM.PID != 0 {
		m.JVM, m.WallUnixNs, m.Metrics, m.NotAvailable, m.Detail = from.JVM, from.WallUnixNs, from.Metrics, from.NotAvailable, from.Detail
	}
	if from.StartNs != 0 && (m.StartNs == 0 || from.StartNs < m.StartNs) {
		m.StartNs = from.StartNs
	}
}
