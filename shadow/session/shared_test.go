package session_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"stackagent/shadow/session"
)

// TestShared: many that ask at the same time get the one thing that was made of the session, another session another one.
func TestShared(t *testing.T) {
	type thing struct{ of *session.Session }
	var made atomic.Int64
	makeOf := func(s *session.Session) (*thing, error) { made.Add(1); return &thing{s}, nil }
	one, other := &session.Session{}, &session.Session{}
	var wg sync.WaitGroup
	got := make([]*thing, 50)
	for i := range got {
		wg.Go(func() { got[i], _ = session.Shared(one, makeOf) })
	}
	wg.Wait()
	for _, x := range got {
		if x != got[0] || x.of != one {
			t.Fatalf("%p of %p, want %p of %p", x, x.of, got[0], one)
		}
	}
	if x, _ := session.Shared(other, makeOf); x == got[0] || made.Load() != 2 {
		t.Errorf("made %d times for two sessions", made.Load())
	}
	if n, _ := session.Shared(one, func(*session.Session) (int, error) { return 7, nil }); n != 7 {
		t.Errorf("of another type: %d", n)
	}
}
