// Package catalog lists the sessions of a store by their manifests: those that a shadow records now, those of before,
// and those that somebody copied into it. It also names, labels and deletes them.
package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Entry is a session of a store.
type Entry struct {
	Folder  string // its name below the store
	Session string // its name, as its JVM gave it
	Label          // what the user calls it

	Program, Host, JVM, GC string
	PID                    int
	Labels                 label.Labels

	Started     time.Time // by the manifest; else when that was written
	Stored      time.Time // when the manifest was last written
	Duration    units.Ns
	Executions  uint64 // stored
	Creations   uint64 // stored
	LostEvents  uint64
	LostBatches uint64
	Bytes       int64  // of its files, by the manifest
	Ended       string // one of store's Ended constants
	// Its source does not say which tasks were executed or created, or what was lost: the numbers are 0.
	NoExecutions, NoCreations, NoLost bool
	// Silence is how long nothing may come of a session before it counts as cut off; 0: LostContact.
	Silence time.Duration
	// Incomplete is why executions, or its end, are missing; "": nothing is known to be.
	Incomplete string
	// Damaged is why the manifest cannot be read; only Folder, Started, Stored and Label are known then.
	Damaged string
}

// LostContact is how long after its last part a session that has not ended may still go on. A shadow that is alive
// closes one from which nothing comes for so long.
const LostContact = 2 * time.Minute

// Open reports whether the session may still be recorded.
func (e *Entry) Open(now time.Time) bool {
	return e.Damaged == "" && e.Ended == store.EndedRunning && now.Sub(e.Stored) < cmp.Or(e.Silence, LostContact)
}

// Catalog lists the sessions of a store. What has not changed is not read again.
type Catalog struct {
	root string

	mu    sync.Mutex
	known map[string]known // by folder
	list  []Entry          // the newest first
	next  time.Time        // no look at the store before
	err   error            // of the last look
}

type known struct {
	stamp stamp
	entry Entry
}

// stamp changes when a session's files do.
type stamp struct {
	manifest, label       time.Time
	manifestLen, labelLen int64
}

// A look at the store takes at most a fiftieth of the time, and comes at most every second.
const (
	leastPause = time.Second
	pauseRatio = 50
)

// New is the catalogue of the store at root. Nothing is read yet.
func New(root string) *Catalog { return &Catalog{root: root, known: map[string]known{}} }

// List gives the sessions, the newest first. The result is not to be changed. It may be a second old, in a store of
// many thousands more; Look makes the next one fresh.
func (c *Catalog) List() ([]Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin := time.Now()
	if begin.Before(c.next) {
		return c.list, c.err
	}
	c.err = c.look()
	took := time.Since(begin)
	c.next = begin.Add(took + max(leastPause, pauseRatio*took))
	return c.list, c.err
}

// Look makes the next List look at the store.
func (c *Catalog) Look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = time.Time{}
}

func (c *Catalog) look() error {
	entries, err := os.ReadDir(c.root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: name a session's folder, or one that holds sessions", c.root, fs.ErrNotExist)
		}
		return fmt.Errorf("looking for sessions: %w", err)
	}
	seen, list := make(map[string]known, len(entries)), make([]Entry, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		k, ok := c.one(e.Name())
		if !ok {
			continue
		}
		seen[e.Name()] = k
		if k.entry.Folder != "" {
			list = append(list, k.entry)
		}
	}
	slices.SortFunc(list, newestFirst)
	c.known, c.list = seen, list
	return nil
}

// newestFirst orders sessions by their start, then by folder.
func newestFirst(a, b Entry) int {
	return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.Folder, b.Folder))
}

// one looks at a folder. It is known without an entry if it is no session.
func (c *Catalog) one(folder string) (known, bool) {
	dir := filepath.Join(c.root, folder)
	info, err := os.Lstat(filepath.Join(dir, store.ManifestName))
	if err != nil {
		return known{}, false
	}
	at := stamp{manifest: info.ModTime(), manifestLen: info.Size()}
	if info, err := os.Lstat(filepath.Join(dir, LabelName)); err == nil {
		at.label, at.labelLen = info.ModTime(), info.Size()
	}
	if old, ok := c.known[folder]; ok && old.stamp == at {
		return old, true
	}
	k := known{stamp: at}
	m, err := store.ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrNoSession):
		return known{}, false // it was deleted meanwhile
	case err == nil:
		k.entry = entryOf(folder, m)
	case within(dir, store.CheckSession) != nil: // of another program
		return k, true
	default:
		k.entry = Entry{Folder: folder, Damaged: err.Error()}
	}
	k.entry.Stored = info.ModTime()
	if k.entry.Started.IsZero() {
		k.entry.Started = info.ModTime()
	}
	k.entry.Label = ReadLabel(dir)
	return k, true
}

// Parse makes an entry of the content of a manifest that was stored at that time, and of a label file if there is one. Of
// another program's manifest.json ok is false.
func Parse(folder string, manifest, labelFile []byte, stored time.Time) (e Entry, ok bool) {
	m, err := store.ParseManifest(manifest)
	switch {
	case err == nil:
		e = entryOf(folder, m)
	case errors.Is(err, store.ErrNoSession):
		return e, false
	default:
		e = Entry{Folder: folder, Damaged: err.Error()}
	}
	if e.Stored = stored; e.Started.IsZero() {
		e.Started = stored
	}
	e.Label = parseLabel(labelFile)
	return e, true
}

func entryOf(folder string, m *store.Manifest) Entry {
	e := Entry{
		Folder: folder, Session: m.Session, Program: m.JVM.MainClass, Host: m.JVM.Host, JVM: m.JVM.Version, GC: m.JVM.GC, PID: m.JVM.PID, Labels: m.Labels,
		Duration: m.DurationNs, Executions: m.Stored.Executions, Creations: m.Stored.Creations,
		LostEvents: m.Lost.Events, LostBatches: m.Lost.Batches, Ended: m.Ended,
		NoExecutions: m.NotAvailable[store.NoExecutions] != "", NoCreations: m.NotAvailable[store.NoCreations] != "", NoLost: m.NotAvailable[store.NoLostCount] != "",
	}
	if x := session.IncompleteOf(m); x != nil {
		e.Incomplete = x.Text()
	}
	if m.WallUnixNs > 0 {
		e.Started = time.Unix(0, m.WallUnixNs)
	}
	for _, f := range m.Files {
		e.Bytes += f.Bytes
	}
	return e
}
