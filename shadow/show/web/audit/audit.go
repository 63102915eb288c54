// Package audit keeps a log of what was deleted and labelled: a line of JSON each, which is only ever appended.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Name of the log in a store.
const Name = "audit.jsonl"

// Actions.
const (
	Delete = "delete"
	Label  = "label"
)

// Done is the result of what was done; else it is why it was not.
const Done = "done"

// Entry is a line of the log.
type Entry struct {
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`            // a user's name, or what acted: "page password", "user 1000", "retention"
	From    string    `json:"from,omitempty"` // address of the connection; "": none
	Action  string    `json:"action"`
	What    string    `json:"what"` // the session's folder, or a key of the store
	Service string    `json:"service,omitempty"`
	Result  string    `json:"result"`
}

// Log is a file of entries. nil keeps none.
type Log struct {
	mu   sync.Mutex
	file *os.File
}

// Open opens the log at path, and makes it.
func Open(path string) (*Log, error) { return open(path, os.O_CREATE) }

// OpenExisting opens the log at path; nil: there is none.
func OpenExisting(path string) (*Log, error) {
	l, err := open(path, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

func open(path string, create int) (*Log, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|create, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(fmt.Errorf("the audit log %s is no file", path), err)
	}
	return &Log{file: f}, nil
}

// Do acts and logs the result. If the log cannot be written, it does not act: the entry that says so is the first.
func (l *Log) Do(e Entry, now func() time.Time, act func() error) error {
	if l == nil {
		return act()
	}
	e.Time, e.Result = now().UTC(), "begun"
	if err := l.Add(e); err != nil {
		return err
	}
	err := act()
	e.Time, e.Result = now().UTC(), Done
	if err != nil {
		e.Result = err.Error()
	}
	return errors.Join(err, l.Add(e))
}

// Add writes one line in one write: several processes may append to the file.
func (l *Log) Add(e Entry) error {
	if l == nil {
		return nil
	}
	e.Time = e.Time.UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err = l.file.Write(append(line, '\n')); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
