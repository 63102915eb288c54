package session

import (
	"fmt"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// Session is an opened session folder. It only reads; a session that is still
// being written is read as far as it was stored when Open ran.
type Session struct {
	Dir      string
	Manifest store.Manifest
	// Warnings say, in a sentence each, what of the folder could not be read.
	Warnings []string

	Classes []Class
	Threads []Thread // Java threads first, then the JVM's service threads
	Pauses  []Pause  // by start
}

// Open reads the manifest and the small tables of the session in dir; the big
// ones are streamed by Executions, Creations and Tasks. A folder that holds
// exactly one session is opened as that session.
func Open(dir string) (*Session, error) {
	return nil, fmt.Errorf("opening %s: %w", dir, store.ErrNoSession)
}

// Executions calls f with all executions, in the order in which they ended on
// their threads (the order of the batches). Chunks are reused between calls.
func (s *Session) Executions(f func(*Chunk) error) error { return nil }

// Creations calls f with all creations in the order of the batches.
func (s *Session) Creations(f func(*CreationChunk) error) error { return nil }

// Tasks calls f for every row of the raw trace.
func (s *Session) Tasks(f func(*Task) error) error { return nil }

// ClassCounts are the exact counts of one class.
type ClassCounts struct {
	Class         *Class
	Created       uint64 // constructions that succeeded
	Failed        uint64 // constructions that ended by an exception
	Executions    uint64 // executions recorded, running ones included
	Running       uint64 // executions that had not ended when the program did
	Threw         uint64 // executions that ended by an exception
	Distinct      uint64 // tasks executed at least once
	NeverExecuted uint64 // created and not executed
}

// Counts are the exact counts per class, in the order of Classes, and in all.
func (s *Session) Counts() ([]ClassCounts, ClassCounts, error) { return nil, ClassCounts{}, nil }

// ClassByID is the class with that id; nil when the session does not know it.
func (s *Session) ClassByID(id uint32) *Class { return nil }

// ThreadByID is the Java thread with that id; nil when it is not known.
func (s *Session) ThreadByID(id uint32) *Thread { return nil }

// Duration of the session.
func (s *Session) Duration() units.Ns { return s.Manifest.DurationNs }

func label(name string, javaID int64, osID int32) string {
	switch {
	case javaID != 0:
		return fmt.Sprintf("%s#%d", name, javaID)
	case osID != 0:
		return fmt.Sprintf("%s@%d", name, osID)
	}
	return name
}
