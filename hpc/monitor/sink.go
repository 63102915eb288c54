package monitor

import (
	"math"

	"stackagent/internal/units"
)

// sink turns totals into growth and writes what changed.
type sink struct {
	out       *writer
	selection Selection
	group     string // whose source is read
	at        units.MonoNs

	monitors []Declaration // those that are wanted
	ids      map[string]ID
	state    []state // by ID
	absent   map[string]string
	dropped  int64
}

// state is what the sink remembers of a monitor.
type state struct {
	name    string // "": nobody wants it
	group   string
	at      int // index of its declaration
	process last
	threads map[int32]last // of a monitor per thread
}

// last is the latest total or value.
type last struct {
	total int64
	value float64
	known bool
}

// refused stands for a monitor beyond the most that are kept.
const refused = ID(1<<32 - 1)

func newSink(w *writer, s Selection) sink {
	return sink{out: w, selection: s, ids: map[string]ID{}, absent: map[string]string{}, monitors: []Declaration{{
		Name: TickMonitor, Layer: OS, Unit: "ns", Kind: Gauge, Source: "shadow", Doc: "how long it took to read all monitors of a sample"}}}
}

func (s *sink) Declare(d Declaration) ID {
	if id, ok := s.ids[d.Name]; ok {
		return id
	}
	if len(s.state) >= maxMonitors || len(d.Name) > maxName || d.Name == "" {
		return refused
	}
	id := ID(len(s.state))
	s.ids[d.Name] = id
	st := state{group: s.group}
	if s.selection.Monitor(s.group, d.Name) {
		st.name, st.at, d.From = d.Name, len(s.monitors), s.at
		s.monitors = append(s.monitors, d)
	}
	s.state = append(s.state, st)
	return id
}

// ended notes that the source of a group has ended.
func (s *sink) ended(group string, at units.MonoNs) {
	for i := range s.state {
		if st := &s.state[i]; st.group == group && st.name != "" {
			s.monitors[st.at].Until = at
		}
	}
}

func (s *sink) Absent(name, why string) {
	if len(s.absent) < maxMonitors {
		s.absent[name] = why
	}
}

func (s *sink) of(id ID) *state {
	if id == refused {
		s.dropped++
		return nil
	}
	if st := &s.state[id]; st.name != "" {
		return st
	}
	return nil
}

// change returns what was known of a monitor, or of its thread, and stores now.
func (st *state) change(thread int32, now last) (before last) {
	if thread == 0 {
		before, st.process = st.process, now
		return before
	}
	if st.threads == nil {
		st.threads = map[int32]last{}
	}
	before = st.threads[thread]
	if before != now {
		st.threads[thread] = now
	}
	return before
}

func (s *sink) Total(id ID, thread int32, total int64) {
	st := s.of(id)
	if st == nil {
		return
	}
	before := st.change(thread, last{total: total, known: true})
	if by := total - before.total; before.known && by > 0 { // a total that fell began anew
		s.out.add(s.at, st.name, thread, float64(by))
	}
}

func (s *sink) Grew(id ID, thread int32, by int64) {
	if st := s.of(id); st != nil && by > 0 {
		s.out.add(s.at, st.name, thread, float64(by))
	}
}

func (s *sink) Value(id ID, thread int32, value float64) {
	st := s.of(id)
	if st == nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	now := last{value: value, known: true}
	if before := st.change(thread, now); before != now {
		s.out.add(s.at, st.name, thread, value)
	}
}
