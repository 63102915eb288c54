package kernel

import (
	"strings"
	"testing"

	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
)

// sums is a sink that adds up.
type sums struct {
	t        testing.TB
	ids      map[string]monitor.ID
	declared []monitor.Declaration
	absent   map[string]string
	grown    []map[int32]int64 // by ID and thread
	last     []map[int32]int64
	values   []float64
}

func newSums(t testing.TB) *sums {
	return &sums{t: t, ids: map[string]monitor.ID{}, absent: map[string]string{}}
}

func (s *sums) Declare(d monitor.Declaration) monitor.ID {
	if id, ok := s.ids[d.Name]; ok {
		return id
	}
	if d.Doc == "" || d.Source == "" || d.Layer.Depth() == len(monitor.Layers()) {
		s.t.Errorf("incomplete declaration %+v", d)
	}
	if strings.Contains(d.Name, "_ns") != (d.Unit == "ns") || strings.Contains(d.Name, "_bytes") != (d.Unit == "bytes") {
		s.t.Errorf("%s has the unit %q", d.Name, d.Unit)
	}
	id := monitor.ID(len(s.declared))
	s.ids[d.Name] = id
	s.declared = append(s.declared, d)
	s.grown, s.last, s.values = append(s.grown, map[int32]int64{}), append(s.last, map[int32]int64{}), append(s.values, -1)
	return id
}

func (s *sums) Absent(name, why string) { s.absent[name] = why }

func (s *sums) Total(id monitor.ID, thread int32, total int64) {
	if before, ok := s.last[id][thread]; ok {
		s.Grew(id, thread, total-before)
	}
	s.last[id][thread] = total
}

func (s *sums) Grew(id monitor.ID, thread int32, by int64) {
	if by < 0 {
		s.t.Errorf("%s shrank by %d", s.declared[id].Name, -by)
	}
	s.grown[id][thread] += by
}

func (s *sums) Value(id monitor.ID, _ int32, value float64) { s.values[id] = value }

// of is how much a monitor has grown in all threads.
func (s *sums) of(name string) (n int64) {
	s.t.Helper()
	for thread := range s.grown[s.id(name)] {
		n += s.in(name, thread)
	}
	return n
}

func (s *sums) in(name string, thread int32) int64 {
	s.t.Helper()
	return s.grown[s.id(name)][thread]
}

func (s *sums) value(name string) float64 {
	s.t.Helper()
	return s.values[s.id(name)]
}

func (s *sums) id(name string) monitor.ID {
	s.t.Helper()
	id, ok := s.ids[name]
	if !ok {
		s.t.Fatalf("no monitor %s", name)
	}
	return id
}

func (s *sums) read(source monitor.Source) {
	s.t.Helper()
	if err := source.Read(proc.Now(), s); err != nil {
		s.t.Fatal(err)
	}
}

// discard is a sink that keeps nothing, to measure what reading costs.
type discard struct{ ids monitor.ID }

func (d *discard) Declare(monitor.Declaration) monitor.ID { d.ids++; return d.ids }
func (*discard) Absent(string, string)                    {}
func (*discard) Total(monitor.ID, int32, int64)           {}
func (*discard) Grew(monitor.ID, int32, int64)            {}
func (*discard) Value(monitor.ID, int32, float64)         {}
