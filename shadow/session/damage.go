package session

import (
	"errors"
	"fmt"

	"stackagent/hpc/sched"
	"stackagent/shadow/store"
)

// noChecksums is the warning of a session whose files cannot be distinguished from
// damaged ones that still make sense.
const noChecksums = "the session has no checksums: an older version wrote it, so damage that leaves the files readable is not found"

// Totals is the key in Manifest.NotAvailable of a damaged session.
const Totals = "totals"

const incompleteWhy = "files of the session are damaged, missing or exchanged; the figures stand for what is left"

// hint says how to read a damaged session.
func hint(err error) error {
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	var already *hinted
	if errors.As(err, &already) {
		return err
	}
	return &hinted{err}
}

// ReadLeft is how an error about damage ends.
const ReadLeft = "; --damaged reads what is left"

type hinted struct{ err error }

func (h *hinted) Error() string { return h.err.Error() + ReadLeft }
func (h *hinted) Unwrap() error { return h.err }

// incomplete marks that no total of the session is exact.
func (s *Session) incomplete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.Manifest
	if _, marked := m.NotAvailable[Totals]; marked {
		return
	}
	marked := map[string]string{Totals: incompleteWhy} // others may read the old one
	for what, why := range m.NotAvailable {
		marked[what] = why
	}
	m.NotAvailable = marked
	m.Balance = &store.Balance{State: store.BalanceUnknown, Why: incompleteWhy}
}

// Err is the damage that was met, of a session that Open opened: also where it
// was a warning only.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Verify reads all files of the session in dir, and fails if one is damaged, missing or exchanged.
func Verify(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	if _, err := s.Scheduling(); err != nil {
		return err
	}
	return s.folder.Verify()
}

// Scheduling opens the scheduling record; nil without an error where there is none.
func (s *Session) Scheduling() (*sched.Reader, error) { return Shared(s, (*Session).openScheduling) }

func (s *Session) openScheduling() (*sched.Reader, error) {
	r, err := sched.Open(s.Dir)
	switch {
	case errors.Is(err, sched.ErrDamaged):
		return nil, s.fail(err)
	case err != nil || r == nil:
		return nil, err
	}
	return r, s.checkRecord(r)
}

// lookAtRecord finds damage of the scheduling record before any total is given.
func (s *Session) lookAtRecord() {
	r, err := s.Scheduling()
	if err != nil {
		s.warn(err.Error())
	}
	if r == nil {
		return
	}
	for _, err := range r.Damage() {
		s.warn(fmt.Sprintf("scheduling record: %v", err))
	}
}

// checkRecord is the error of a record in which damage was found.
func (s *Session) checkRecord(r *sched.Reader) error {
	if all := r.Damage(); len(all) > 0 {
		if !s.folder.Strict {
			s.incomplete()
			return nil
		}
		return s.fail(errors.Join(all...))
	}
	return nil
}

// fail remembers damage of a session in which none is allowed.
func (s *Session) fail(err error) error {
	if !s.folder.Strict {
		s.incomplete()
		return err
	}
	err = hint(fmt.Errorf("%w: %w", store.ErrDamaged, err))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	return err
}
