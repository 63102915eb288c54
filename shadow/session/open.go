package session

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// Session is an opened session folder. It only reads; a session that is still
// being written is read as far as it was stored when Open ran.
type Session struct {
	Dir string
	// Manifest is the session's own, with rows that can no longer be read added
	// to its Lost.Events.
	Manifest store.Manifest
	// Warnings say, in a sentence each, what of the folder could not be read.
	// Reading executions or creations may add to them.
	Warnings []string

	Classes []Class  // by id
	Threads []Thread // Java threads by id (but see Unlisted), then the JVM's service threads
	Pauses  []Pause  // of the collector, by start
	Own     []Pause  // in which the profiler stopped the program, by start: it changed classes

	folder    *store.Folder
	executors named[Executor]
	sites     named[Site]
	classes   index
	threads   index
	virtual   virtuals // those that Threads does not list
	shared    shared
	mu        sync.Mutex // guards what follows, Warnings and Manifest.Lost
	unknown   map[uint32]*Class
	err       error           // damage that was met
	counted   map[string]bool // damaged parts whose rows are counted as lost
}

// damaged is the reason under which rows that cannot be read are counted lost.
const damaged = "damaged or missing part of the session"

// maxListed is how many sessions an error lists.
const maxListed = 20

// Open reads the manifest and the small tables of the session in dir; the big
// ones are streamed by Executions, Creations and Tasks. A folder that holds
// exactly one session is opened as that session. A file that is damaged, missing
// or exchanged is an error (store.ErrDamaged): here, or when it is read.
func Open(dir string) (*Session, error) { return open(dir, false, nil) }

// OpenDamaged opens what is left of a session. What cannot be read is left out,
// warned of, and counted as lost; no total is called exact.
func OpenDamaged(dir string) (*Session, error) { return open(dir, true, nil) }

// Batches are a part of a session: what the batches From..To brought. Where tasks come from is looked for in LookBack
// batches before, too.
type Batches struct {
	store.Range
	LookBack uint64
	Loose    bool // files that hold batches of both sides of a bound count whole, instead of being an error
}

// OpenRange opens a part of a session, also of one that is still being written, at a cost that depends on the part: its
// events are only those of the batches. Counts of tasks that were never executed have no meaning: they may be later.
// damaged: as OpenDamaged.
func OpenRange(dir string, b Batches, damaged bool) (*Session, error) { return open(dir, damaged, &b) }

func open(dir string, damaged bool, only *Batches) (*Session, error) {
	dir, err := locate(dir)
	if err != nil {
		return nil, err
	}
	folder, m, err := store.OpenSession(dir, damaged)
	if err != nil {
		return nil, hint(cannotOpen(dir, err))
	}
	s := &Session{Dir: dir, Manifest: *m, folder: folder, unknown: map[uint32]*Class{}, counted: map[string]bool{}}
	s.folder.Extra = m.ExtraColumns()
	if only != nil {
		if err := s.restrict(only); err != nil {
			return nil, hint(fmt.Errorf("opening a part of the session %s: %w", dir, err))
		}
	}
	for _, err := range folder.Damage {
		s.warn(err.Error())
		s.incomplete()
	}
	if !m.Sealed() {
		s.warn(noChecksums)
	}
	for _, n := range m.Notes {
		s.warn(n)
	}
	if note := m.PieceNote(); note != "" {
		s.warn(note)
	}
	if err := s.countRows(); err != nil {
		return nil, hint(fmt.Errorf("opening the session %s: %w", dir, err))
	}
	s.warnMissing("submissions", m.Submissions, "the queue times, executors and call sites of some tasks are not known")
	s.warnMissing("traces of tasks", m.Traces, "the trace of some tasks is not known")
	s.warnMissing("constructions", m.Constructions, "what it cost to make some tasks is not known")
	if h := m.Constructions; h != nil && h.Summarised > 0 {
		s.warn(fmt.Sprintf("what it cost to make %d of %d tasks was not recorded, since their classes were summarised; --detail all records it",
			h.Summarised, h.Produced))
	}
	s.warnContexts()
	if damaged {
		s.lookAtRecord()
	}
	for _, load := range []func() error{s.loadClasses, s.loadThreads, s.loadPauses, s.loadExecutors, s.loadSites, s.countSummarised} {
		if err := load(); err != nil {
			return nil, hint(fmt.Errorf("opening the session %s: %w", dir, err))
		}
	}
	return s, nil
}

// Close lets go of the session's files: from then on they may be merged and deleted. Nothing more can be read of it. Without
// it they are let go when the Session is collected.
func (s *Session) Close() { s.folder.Close() }

// locate finds the session folder that dir means.
func locate(dir string) (string, error) {
	info, err := sessionfs.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("opening a session: there is no %s (%w); name the folder that shadow run or serve has written", dir, fs.ErrNotExist)
	}
	if err != nil {
		return "", cannotOpen(dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("opening a session: %s: %w: it is a file; give the folder", dir, store.ErrNoSession)
	}
	if isSession(dir) {
		return dir, nil
	}
	entries, err := sessionfs.ReadDir(dir)
	if err != nil {
		return "", cannotOpen(dir, err)
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && isSession(filepath.Join(dir, e.Name())) {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	switch n := len(found); {
	case n == 1:
		return found[0], nil
	case n == 0:
		return "", fmt.Errorf("opening a session: %s: %w: there is no %s in it; name the folder that shadow run or serve has written", dir, store.ErrNoSession, store.ManifestName)
	case n > maxListed:
		found = append(found[:maxListed], "...")
	}
	return "", fmt.Errorf("opening a session: %s: %w: it holds several, give one of them: %s",
		dir, store.ErrNoSession, strings.Join(found, ", "))
}

// cannotOpen says why the session in dir cannot be opened. Sessions are private, so a refusal is common, and its
// remedy is to be the user who recorded.
func cannotOpen(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("opening a session: %s: %w; a session is private to the user who recorded it; read it as that user or as root", dir, fs.ErrPermission)
	}
	return fmt.Errorf("opening a session: %w", err)
}

func isSession(dir string) bool {
	_, err := sessionfs.Lstat(filepath.Join(dir, store.ManifestName))
	return err == nil
}

// countRows compares the rows that the manifest promises with those that the
// parts hold, and counts what is missing as lost; unless damage was asked for, it is an error.
func (s *Session) countRows() error {
	var missing uint64
	var gone []string
	for _, x := range []struct {
		table      store.Table
		count      *uint64
		summarised uint64 // in summaries
	}{
		{store.Executions, &s.Manifest.Stored.Executions, s.Manifest.Summarised.Executions},
		{store.Creations, &s.Manifest.Stored.Creations, s.Manifest.Summarised.Creations},
	} {
		n, bad := s.folder.Rows(x.table)
		if len(bad) > 0 && (s.folder.Strict || bad[0].Unreachable()) {
			return bad[0].Refusal()
		}
		s.warnAll(bad)
		rows, want := uint64(n), *x.count-min(*x.count, x.summarised)
		switch {
		case rows < want:
			missing += want - rows
			gone = append(gone, missingRows(want-rows, x.table))
		case rows > want:
			s.warn(fmt.Sprintf("%s newer than the manifest: the shadow was cut off or is still writing", countedRows(rows-want, x.table)))
		}
		*x.count = rows + x.summarised
	}
	s.lose(missing)
	for t := range store.Tables() {
		if t == store.Executions || t == store.Creations {
			continue
		}
		n, bad := s.folder.Rows(t) // damage is reported when the rows are read
		if len(bad) > 0 && (s.folder.Strict || bad[0].Unreachable()) {
			return bad[0].Refusal()
		}
		if len(bad) > 0 {
			s.incomplete()
		}
		if want := s.Manifest.Rows[t.String()]; uint64(n) < want {
			gone = append(gone, missingRows(want-uint64(n), t))
		}
	}
	if len(gone) > 0 && s.folder.Strict {
		return fmt.Errorf("%w: %s", store.ErrDamaged, gone[0])
	}
	for _, text := range gone {
		s.warn(text)
		s.incomplete()
	}
	return nil
}

func missingRows(n uint64, t store.Table) string {
	return countedRows(n, t) + " missing: parts of the session are damaged or gone"
}

func (s *Session) lose(rows uint64) {
	if rows == 0 {
		return
	}
	l := &s.Manifest.Lost
	l.Events += rows
	if l.ByReason == nil {
		l.ByReason = map[string]uint64{}
	}
	l.ByReason[damaged] += rows
}

// Found gives the manifest, with what could not be read counted as lost, and
// the warnings, as known now: both may have grown by reading.
func (s *Session) Found() (store.Manifest, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.Manifest
	m.Lost.ByReason, m.NotAvailable = maps.Clone(m.Lost.ByReason), maps.Clone(m.NotAvailable)
	return m, slices.Clone(s.Warnings)
}

// warn adds a warning, once.
func (s *Session) warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

func (s *Session) warnAll(bad []*store.PartError) {
	for _, b := range bad {
		s.warn(b.Error())
		s.incomplete()
	}
}

// warnRows warns of parts found damaged while reading and counts their rows,
// each part once however often it is read.
func (s *Session) warnRows(bad []*store.PartError) {
	for _, b := range bad {
		s.warn(b.Error())
		s.incomplete()
		s.mu.Lock()
		if b.Rows > 0 && !s.counted[b.File] {
			s.counted[b.File] = true
			s.lose(uint64(b.Rows))
		}
		s.mu.Unlock()
	}
}

// Executions calls f with all executions in the order of the batches, which on
// each thread is the order in which they ended. Chunks are reused between calls.
func (s *Session) Executions(f func(*Chunk) error) error {
	bad, err := s.folder.ReadExecutions(f)
	s.warnRows(bad)
	return hint(err)
}

// Creations calls f with all creations in the order of the batches. Chunks are
// reused between calls.
func (s *Session) Creations(f func(*CreationChunk) error) error {
	bad, err := s.folder.ReadCreations(f)
	s.warnRows(bad)
	return hint(err)
}

// Duration of the session.
func (s *Session) Duration() units.Ns { return s.Manifest.DurationNs }

// countedRows counts rows of a table: "1 row of executions is".
func countedRows(n uint64, t store.Table) string {
	if n == 1 {
		return fmt.Sprintf("1 row of %v is", t)
	}
	return fmt.Sprintf("%s rows of %v are", units.FormatExact(int64(n)), t)
}

// PartNames are the names of the files of a table in the session's folder that count, in their order.
func (s *Session) PartNames(t store.Table) []string { return s.folder.PartNames(t) }
