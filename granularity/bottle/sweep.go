package bottle

import (
	"errors"
	"fmt"
	"math"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Errors of a sweep.
var (
	ErrNoThread = errors.New("a slice of a thread that is not in the list")
	ErrOverlap  = errors.New("a thread runs twice at once")
	ErrWindows  = errors.New("windows overlap or are not in order")
)

// Compute sweeps once over a stream and returns the bottle graph of each window.
// Windows are in order and do not overlap. Threads without running time in a
// window have no box. Memory depends on the numbers of threads and boxes, not on
// the number of slices.
func Compute(threads []activity.Thread, stream activity.Stream, windows ...activity.Span) ([]*Graph, error) {
	for i, w := range windows {
		if w.To < w.From || i > 0 && w.From < windows[i-1].To {
			return nil, fmt.Errorf("bottle graph of %d windows, number %d: %w", len(windows), i+1, ErrWindows)
		}
	}
	s := &sweep{threads: threads, accounts: make([]account, len(threads)), windows: windows, at: math.MinInt64}
	if len(windows) == 0 {
		return nil, nil
	}
	s.open()
	if err := stream(s.add); err != nil {
		return nil, fmt.Errorf("bottle graph: %w", err)
	}
	s.advance(math.MaxInt64)
	return s.graphs, nil
}

// account sums up a thread in the current window.
type account struct {
	height  fixed
	since   fixed // sweep.ideal when its slice began
	from    units.MonoNs
	ran     units.Ns
	running bool
}

// sweep goes through time from change to change.
type sweep struct {
	threads  []activity.Thread
	accounts []account
	windows  []activity.Span // the first is the current one
	graphs   []*Graph
	ends     activity.Ends // of the threads that are running
	latest   units.MonoNs  // begin of the latest slice
	begun    bool
	at       units.MonoNs
	busy     units.Ns
	unknown  units.Ns
	waiting  []activity.Slice // unknown stays that reach beyond the window
	// ideal is the share of a thread that runs all the time. The share of a stay is
	// the difference between ideal at its end and at its begin.
	ideal fixed
}

func (s *sweep) open() {
	s.at = s.windows[0].From
	s.busy, s.unknown = 0, 0
	for i := range s.accounts {
		a := &s.accounts[i]
		a.height, a.ran, a.since, a.from = fixed{}, 0, s.ideal, s.at
	}
	kept := s.waiting
	s.waiting = nil
	for _, u := range kept {
		s.addUnknown(u)
	}
}

func (s *sweep) add(sl activity.Slice) error {
	if s.begun && sl.From < s.latest {
		return fmt.Errorf("%w: %d after %d", activity.ErrOrder, sl.From, s.latest)
	}
	s.latest, s.begun = sl.From, true
	if int(sl.Thread) >= len(s.accounts) {
		return fmt.Errorf("%w: %d of %d", ErrNoThread, sl.Thread, len(s.accounts))
	}
	if sl.To <= sl.From || sl.State != activity.Running && sl.State != activity.Unknown {
		return nil
	}
	s.advance(sl.From)
	if len(s.windows) == 0 || sl.To <= s.at {
		return nil
	}
	if sl.State == activity.Unknown {
		s.addUnknown(sl)
		return nil
	}
	a := &s.accounts[sl.Thread]
	if a.running {
		return fmt.Errorf("%w: %s at %d", ErrOverlap, s.threads[sl.Thread].Name, sl.From)
	}
	a.running, a.since, a.from = true, s.ideal, max(sl.From, s.at)
	s.ends.Push(activity.End{At: sl.To, Thread: sl.Thread})
	return nil
}

func (s *sweep) addUnknown(sl activity.Slice) {
	w := s.windows[0]
	s.unknown += activity.Span{From: sl.From, To: sl.To}.Cut(w).Len()
	if sl.To > w.To {
		s.waiting = append(s.waiting, sl)
	}
}

// advance goes to t over all ends of stays and of windows before it.
func (s *sweep) advance(t units.MonoNs) {
	for len(s.windows) > 0 {
		next := min(t, s.windows[0].To)
		if len(s.ends) > 0 && s.ends[0].At <= next {
			e := s.ends.Pop()
			s.pass(e.At, len(s.ends)+1)
			s.stop(e.Thread)
			continue
		}
		s.pass(next, len(s.ends))
		if next < s.windows[0].To || next > t {
			return
		}
		s.close()
		if t == next {
			return
		}
	}
}

// pass moves to t, with n threads running until then.
func (s *sweep) pass(t units.MonoNs, n int) {
	if t <= s.at {
		return
	}
	if n > 0 {
		d := units.Ns(t - s.at)
		s.ideal = s.ideal.plus(share(d, n))
		s.busy += d
	}
	s.at = t
}

func (s *sweep) stop(thread uint32) {
	a := &s.accounts[thread]
	a.running = false
	s.collect(a)
}

// collect adds the part of a running stay that has passed.
func (s *sweep) collect(a *account) {
	a.height = a.height.plus(s.ideal.minus(a.since))
	a.ran += units.Ns(max(s.at-a.from, 0))
	a.since, a.from = s.ideal, s.at
}

// close ends the current window and opens the next.
func (s *sweep) close() {
	w := s.windows[0]
	g := &Graph{From: w.From, To: w.To, BusyNs: s.busy, UnknownNs: s.unknown}
	for i := range s.accounts {
		a := &s.accounts[i]
		if a.running {
			s.collect(a)
		}
		if a.ran == 0 {
			continue
		}
		b := Box{Name: s.threads[i].Name, Kind: s.threads[i].Kind, Pool: s.threads[i].Pool, Threads: 1, HeightNs: a.height.float(), RunningNs: a.ran}
		b.Width = float64(b.RunningNs) / b.HeightNs
		g.Boxes = append(g.Boxes, b)
	}
	g.order()
	s.graphs = append(s.graphs, g)
	s.windows = s.windows[1:]
	if len(s.windows) > 0 {
		s.skip()
	}
}

// skip ignores what runs between two windows.
func (s *sweep) skip() {
	from := s.windows[0].From
	for len(s.ends) > 0 && s.ends[0].At <= from {
		e := s.ends.Pop()
		s.accounts[e.Thread].running = false
	}
	s.open()
}
