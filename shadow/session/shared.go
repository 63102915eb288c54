package session

import (
	"reflect"
	"sync"
)

// shared is what analyses make of the whole session, by type.
type shared struct {
	mu  sync.Mutex
	all map[reflect.Type]any // func() (T, error)
}

// Shared is what makeOf makes of a session: made when it is first asked for, and kept with the session for all that ask
// again, at the same time too. There is one for each type, which must not change any more.
func Shared[T any](s *Session, makeOf func(*Session) (T, error)) (T, error) {
	key := reflect.TypeFor[T]()
	s.shared.mu.Lock()
	once, ok := s.shared.all[key].(func() (T, error))
	if !ok {
		if s.shared.all == nil {
			s.shared.all = map[reflect.Type]any{}
		}
		once = sync.OnceValues(func() (T, error) { return makeOf(s) })
		s.shared.all[key] = once
	}
	s.shared.mu.Unlock()
	return once()
}
