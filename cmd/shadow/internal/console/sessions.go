package console

import (
	"context"
	"sync"

	"stackagent/internal/listing/table"
	"stackagent/shadow/session"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/store/objectstore"
)

// Sessions is how a verb reads sessions, and those that it has read.
type Sessions struct {
	Damaged bool // read what is left of damaged ones

	mu       sync.Mutex
	sessions []*session.Session
}

// Resolve gives the folder that a user means by dir: "last" is the newest session of the current directory. An address in
// an object store becomes the path by which readers find it there.
func (e Env) Resolve(dir string) (string, error) {
	if objectstore.Remote(dir) {
		return remotefs.Mount(context.Background(), dir)
	}
	path, err := catalog.Resolve(dir)
	if err == nil && path != dir {
		e.Note("%s is %s", dir, table.Clean(path))
	}
	return path, err
}

// Open opens a session and notes on stderr what of it cannot be read.
func (e Env) Open(dir string) (*session.Session, error) {
	dir, err := e.Resolve(dir)
	if err != nil {
		return nil, err
	}
	s, err := e.Sessions.open(dir)
	if err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		e.Note("%s", table.Clean(w))
	}
	m, _ := s.Found()
	if x := session.IncompleteOf(&m); x != nil {
		e.Note("%s", table.Clean(x.Sentence()))
	}
	return s, nil
}

// NoteFound notes the damage found while reading; the first warnings, as many
// as before, have been noted.
func (e Env) NoteFound(s *session.Session, before int) {
	_, warnings := s.Found()
	for _, w := range warnings[min(before, len(warnings)):] {
		e.Note("%s", table.Clean(w))
	}
}

// open opens a session. A nil reading allows no damage.
func (r *Sessions) open(dir string) (*session.Session, error) {
	if r == nil {
		return session.Open(dir)
	}
	if r.Damaged {
		return session.OpenDamaged(dir)
	}
	s, err := session.Open(dir)
	if err == nil {
		r.mu.Lock()
		r.sessions = append(r.sessions, s)
		r.mu.Unlock()
	}
	return s, err
}

// Forget lets go of the sessions: cobra keeps a command and what it refers to until the process ends.
func (r *Sessions) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = nil
}

// Err is the damage that a verb met and skipped.
func (r *Sessions) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}
