package account

import (
	"fmt"

	"stackagent/shadow/analysis/wait"
)

// maker is where executors are made, and of which class.
type maker struct {
	class, file string
	line        int32
}

// readFamilies finds the executors that one line of the program makes.
func (s *Session) readFamilies() {
	first := map[maker]uint32{}
	s.families, s.members = map[uint32]uint32{}, map[uint32][]uint32{}
	for n := range s.graph.Executors {
		e := s.graph.Given[uint32(n)]
		if e == nil || e.Line == 0 {
			continue
		}
		m := maker{e.Class, e.File, e.Line}
		if _, known := first[m]; !known {
			first[m] = uint32(n)
		}
		s.families[uint32(n)] = first[m]
		s.members[first[m]] = append(s.members[first[m]], uint32(n))
	}
}

// family is the first of the executors that the same line makes, which stands for all of them; itself, if it is the only one.
func (s *Session) family(executor uint32) uint32 {
	if s.families == nil {
		s.readFamilies()
	}
	if first, known := s.families[executor]; known {
		return first
	}
	return executor
}

// ofFamily are the executors that one stands for.
func (s *Session) ofFamily(executor uint32) []uint32 {
	if list := s.members[s.family(executor)]; len(list) > 0 {
		return list
	}
	return []uint32{executor}
}

// workersOf is how many workers a family has.
func (s *Session) workersOf(executor uint32) (n int) {
	for _, e := range s.ofFamily(executor) {
		n += s.count(e)
	}
	return n
}

// pool names an executor, or all that the same line makes.
func (s *Session) pool(executor uint32) string {
	n := len(s.ofFamily(executor))
	if n == 1 {
		return s.executor(executor)
	}
	e := s.graph.Given[executor]
	return fmt.Sprintf("one of %d executors made at %s:%d (%s)", n, e.File, e.Line, wait.Readable(e.Class))
}
