package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// Sampler samples the monitors of one JVM until Stop.
type Sampler struct {
	stop chan struct{}
	done chan struct{}
	keep chan string
	once sync.Once
	err  error // of writing, the first

	out     *writer
	sources []opened
	sink    sink
	opened  chan opened
	opening []Group      // groups whose sources are not there yet
	checked units.MonoNs // when the process was last seen alive
	began   units.MonoNs
}

// opened is a source that can be read, or why there is none.
type opened struct {
	group  Group
	source Source
	err    error
}

// ErrNotYet is what Open of a group returns for a source that may come: it is tried again for openPatience.
var ErrNotYet = errors.New("not there yet")

const (
	openPatience = 10 * time.Second
	openPause    = 20 * time.Millisecond
	checkEvery   = units.MonoNs(time.Second)
	flushEvery   = units.MonoNs(10 * time.Second)
)

// Options say what is sampled.
type Options struct {
	Target
	Groups    []Group
	Selection Selection
}

// Start begins to sample. Until Keep says where the samples go, they stay in memory. It ends with Stop, or when the
// process has ended.
func Start(o Options) (*Sampler, error) {
	if o.Interval < LeastInterval || o.Interval > MostInterval {
		return nil, fmt.Errorf("an interval of %v between samples: use %v to %v", o.Interval, LeastInterval, MostInterval)
	}
	w := newWriter(Head{PID: o.PID, IntervalNs: units.Ns(o.Interval)})
	s := &Sampler{stop: make(chan struct{}), done: make(chan struct{}), keep: make(chan string, 1), out: w, sink: newSink(w, o.Selection)}
	s.opened = make(chan opened, len(o.Groups))
	for _, g := range o.Groups {
		if o.Selection.Group(g) {
			s.opening = append(s.opening, g)
			go func() { s.opened <- s.open(g, o.Target) }()
		}
	}
	go s.run(o.Target)
	return s, nil
}

// open opens the source of a group. That may take a while, in which others are read: a JVM makes its counters in its first
// moments, and the kernel checks programs.
func (s *Sampler) open(g Group, o Target) opened {
	for until := time.Now().Add(openPatience); ; {
		source, err := g.Open(o)
		if !errors.Is(err, ErrNotYet) || time.Now().After(until) {
			return opened{g, source, err}
		}
		select {
		case <-s.stop:
			return opened{g, nil, err}
		case <-time.After(openPause):
		}
	}
}

// Keep says in which folder the samples go, usually Folder in a session's. Only the first call counts.
func (s *Sampler) Keep(dir string) {
	select {
	case s.keep <- dir:
	default:
	}
}

// Ended reports whether the samples have ended by themselves: the process has, or no source is left.
func (s *Sampler) Ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Stop takes a last sample and ends the samples. The error is one of writing them.
func (s *Sampler) Stop() error {
	s.once.Do(func() {
		close(s.stop)
		<-s.done
		s.settle() // the session of a process that ended at once may come only now
		s.err = cmp.Or(s.err, s.out.close())
	})
	return s.err
}

// run takes the samples. It keeps a thread of its own, whose CPU time is what sampling costs.
func (s *Sampler) run(o Target) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.done)
	defer s.end()
	every := units.MonoNs(o.Interval)
	due := monotonic()
	s.began = due
	flushed := due
	began := threadCPU()
	timer := time.NewTimer(0)
	for {
		select {
		case <-s.stop:
			s.sample(o, monotonic())
			s.out.head.CPUNs = threadCPU() - began
			return
		case <-timer.C:
		}
		now := monotonic()
		if !s.sample(o, now) {
			s.out.head.CPUNs = threadCPU() - began
			return
		}
		s.settle()
		if len(s.out.rows) >= partRows || now-flushed >= flushEvery {
			s.out.head.CPUNs = threadCPU() - began
			s.store()
			flushed = now
		}
		for due += every; due <= now; due += every {
			s.out.head.Missed++
		}
		if due-now < every/2 { // rates over next to no time would jump
			due += every
		}
		timer.Reset(time.Duration(due - monotonic()))
	}
}

// settle begins to write when the folder is known.
func (s *Sampler) settle() {
	if s.out.dir != "" {
		return
	}
	select {
	case dir := <-s.keep:
		s.err = cmp.Or(s.err, s.out.open(dir))
	default:
	}
}

func (s *Sampler) store() {
	s.out.head.Monitors, s.out.head.NotAvailable = s.sink.monitors, s.sink.absent
	s.out.flush()
}

// sample reads all sources. It reports whether any is left, or may come.
func (s *Sampler) sample(o Target, at units.MonoNs) bool {
	s.takeOpened()
	s.sink.at = at
	kept := s.sources[:0]
	for _, x := range s.sources {
		s.sink.group = x.group.Name
		if err := x.source.Read(at, &s.sink); err != nil {
			s.sink.Absent(x.group.Name, fmt.Sprintf("after %v of samples: %v", time.Duration(at-s.began).Round(time.Millisecond), err))
			s.sink.ended(x.group.Name, at)
			x.source.Close() // nothing is written; a failure loses nothing
			continue
		}
		kept = append(kept, x)
	}
	s.sources = kept
	s.out.head.Samples++
	s.out.add(at, TickMonitor, 0, float64(monotonic()-at))
	if at-s.checked > checkEvery {
		s.checked = at
		if !proc.Alive(o.PID) {
			return false
		}
	}
	return len(s.sources)+len(s.opening) > 0
}

// takeOpened takes the sources that have been opened since.
func (s *Sampler) takeOpened() {
	for len(s.opening) > 0 {
		select {
		case x := <-s.opened:
			s.opening = slices.DeleteFunc(s.opening, func(g Group) bool { return g.Name == x.group.Name })
			if x.err != nil {
				s.sink.Absent(x.group.Name, x.err.Error())
			} else {
				s.sources = append(s.sources, x)
			}
		default:
			return
		}
	}
}

func (s *Sampler) end() {
	for _, x := range s.sources {
		x.source.Close()
	}
	for _, g := range s.opening {
		s.sink.Absent(g.Name, "the observation ended before it could be read")
	}
	if left := len(s.opening); left > 0 {
		go func() { // what is being opened has to be closed
			for range left {
				if x := <-s.opened; x.source != nil {
					x.source.Close()
				}
			}
		}()
	}
	s.out.head.Monitors, s.out.head.NotAvailable = s.sink.monitors, s.sink.absent
	s.out.head.Dropped += s.sink.dropped
}

func monotonic() units.MonoNs {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail with these arguments
	return units.MonoNs(t.Nano())
}

// threadCPU is the CPU time of the calling thread.
func threadCPU() units.Ns {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return units.Ns(t.Nano())
}
