package hpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stackagent/internal/sessionfs"
	"stackagent/internal/units"
)

// FileName is the file of a session folder that holds the counters from outside.
const FileName = "counters.json"

// FileVersion is the version of the file that this package writes and reads.
const FileVersion = 1

const maxFileSize = 64 << 20 // far more than a hundred thousand threads need

// File is the content of counters.json: the totals of every thread of the JVM,
// its service threads included, as the kernel counted them from outside.
type File struct {
	Version      int              `json:"version"`
	PID          int              `json:"pid"`
	Unopened     int              `json:"unopened_threads"`       // threads that could not be counted
	UnopenedWhy  string           `json:"unopened_why,omitempty"` // why the last of them could not be
	NotAvailable map[Event]string `json:"not_available"`          // event -> why
	Threads      []ThreadTotals   `json:"threads"`
}

// Snapshot is what the counters hold now, ready to be written.
func (c *Counters) Snapshot() File {
	f := File{Version: FileVersion, PID: c.pid, NotAvailable: map[Event]string{}, Threads: c.Totals()}
	f.Unopened, f.UnopenedWhy = c.Unopened()
	for _, na := range c.Missing() {
		f.NotAvailable[na.Event] = na.Reason
	}
	return f
}

// SomeThreads is what is not available where Partial says why.
const SomeThreads = "counters of some threads"

// Partial says in how many threads events were counted and why not in all, or "".
func (f *File) Partial() string {
	if f.Unopened <= 0 {
		return ""
	}
	why := f.UnopenedWhy
	if why == "" {
		why = "not recorded" // an earlier version wrote the file
	}
	return fmt.Sprintf("counters for %d of %d threads: %s", len(f.Threads), len(f.Threads)+f.Unopened, why)
}

// Write writes f to a temporary file in dir and renames it, so that a reader never
// sees half a file.
func (f File) Write(dir string) error { return WriteJSON(filepath.Join(dir, FileName), f) }

// WriteJSON writes v to a temporary file and renames it.
func WriteJSON(path string, v any) error {
	name := filepath.Base(path)
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// ReadBeside reads a small file of a session folder; nil without an error when there is none. what is in it, as
// "markers", is for errors.
func ReadBeside[T any](dir, name, what string, parse func([]byte) (*T, error)) (*T, error) {
	path := filepath.Join(dir, name)
	b, err := ReadSmall(path)
	if err != nil || b == nil {
		return nil, err
	}
	v, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %s: %w", what, path, err)
	}
	return v, nil
}

// ReadFile reads the counters of a session folder; nil without an error when
// there are none.
func ReadFile(dir string) (*File, error) {
	path := filepath.Join(dir, FileName)
	b, err := ReadSmall(path)
	if err != nil || b == nil {
		return nil, err
	}
	return parseFile(path, b)
}

// ReadSmall reads a file beside a session, of bounded size; nil without an error when there is none.
func ReadSmall(path string) ([]byte, error) {
	info, err := sessionfs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	if !info.Mode().IsRegular() { // a pipe would never answer
		return nil, fmt.Errorf("reading %s: it is no regular file", path)
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("reading %s: it has %d bytes, at most %d are read", path, info.Size(), maxFileSize)
	}
	b, err := sessionfs.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Base(path), err)
	}
	return b, nil
}

func parseFile(path string, b []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("reading counters: %s: %w", path, err)
	}
	if f.Version != FileVersion {
		return nil, fmt.Errorf("reading counters: %s has version %d, this program knows %d: use the version of shadow that wrote it", path, f.Version, FileVersion)
	}
	for i := range f.Threads {
		for e, n := range f.Threads[i].Counts {
			if n == nil {
				return nil, fmt.Errorf("reading counters: %s: thread %d has no value for %s", path, f.Threads[i].TID, e)
			}
		}
	}
	return &f, nil
}

// threadJSON is ThreadTotals with null for a CPU time that is not known.
type threadJSON struct {
	TID    int              `json:"tid"`
	Name   string           `json:"name"`
	Before *units.Ns        `json:"cpu_before_ns"`
	Ended  bool             `json:"ended"`
	Counts map[Event]*Total `json:"counts"`
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (ThreadTotals) JSONSchemaAlias() any { return threadJSON{} }

// MarshalJSON writes null for what was not measured.
func (t ThreadTotals) MarshalJSON() ([]byte, error) {
	j := threadJSON{TID: t.TID, Name: t.Name, Ended: t.Ended, Counts: t.Counts}
	if t.Before.Measured() {
		j.Before = &t.Before
	}
	return json.Marshal(j)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (t *ThreadTotals) UnmarshalJSON(b []byte) error {
	var j threadJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*t = ThreadTotals{TID: j.TID, Name: j.Name, Before: units.NotMeasured, Ended: j.Ended, Counts: j.Counts}
	if j.Before != nil {
		t.Before = *j.Before
	}
	return nil
}
