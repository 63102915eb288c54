package hpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
	"stackagent/internal/timers"
	"stackagent/internal/units"
)

// Options of Attach; the zero value counts the machine's real counters.
type Options struct {
	Source Source // nil: the kernel
	Lister Lister // nil: /proc
}

// Counters counts events in all threads of a process, from outside.
//
// New threads are found by Scan, which also reads the counters. What a thread
// did before its counters were opened is not in them; ThreadTotals.Before says
// how much CPU time that was. A thread that lives and dies between two scans is
// not seen at all. While Run scans, totals of threads that live may be old.
type Counters struct {
	pid    int
	inside bool // it has a pid namespace of its own: threads are recorded with their ids there
	source Source
	lister Lister

	mu      sync.Mutex
	events  []Event
	missing []*NotAvailableError
	threads map[ThreadID]*thread
	order   []*thread         // by first sight
	left    map[ThreadID]bool // alive, without counters
	readAt  time.Time         // when the hardware counters were read
	grewAt  time.Time         // when the last new thread was found
	lost    int               // ended without counters
	why     string            // of the last one
	closed  bool
}

type thread struct {
	id       ThreadID
	totals   ThreadTotals
	counters map[Event]Counter
	last     map[Event]Reading
}

// Total is the count of one event in one thread.
//
// Counted is what the counter really counted. Where the kernel multiplexed the
// event, Estimate scales every delta by its enabled over its running time, and
// Multiplexed is set: it is then an estimate and must be shown as one.
// Unobserved is enabled time of intervals in which the event had no counter at
// all; the estimate does not cover it.
type Total struct {
	Counted     uint64   `json:"counted"`
	Estimate    float64  `json:"estimate"`
	Enabled     units.Ns `json:"enabled_ns"`
	Running     units.Ns `json:"running_ns"`
	Unobserved  units.Ns `json:"unobserved_ns"`
	Multiplexed bool     `json:"multiplexed"`
}

// ThreadTotals are the counts of one thread since its counters were opened.
type ThreadTotals struct {
	TID    int              // as its process sees it; -1: not known (of a container's)
	Name   string           // /proc/PID/task/TID/comm, at most 15 bytes
	Before units.Ns         // CPU time consumed before that; NotMeasured if not known
	Ended  bool             // the thread had ended at the last scan
	Counts map[Event]*Total // no entry for an event that is not counted
}

// Attach opens the events in every thread of process pid. Events that the
// machine does not have are left out and listed by Missing; it is an error if
// none remains.
func Attach(pid int, events []Event, o Options) (*Counters, error) {
	c := &Counters{pid: pid, source: o.Source, lister: o.Lister, threads: map[ThreadID]*thread{}, left: map[ThreadID]bool{}}
	if c.source == nil {
		c.source = perfSource{}
	}
	if c.lister == nil {
		c.lister = &procLister{}
		_, c.inside, _ = proc.Process(pid).Inner() // choose reports a process that has ended
	}
	if err := c.choose(events); err != nil {
		return nil, err
	}
	if err := c.Scan(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// choose tries each event on the process's first thread.
func (c *Counters) choose(events []Event) error {
	for _, e := range events {
		counter, err := c.source.Open(c.pid, e)
		var na *NotAvailableError
		switch {
		case err == nil:
			counter.Close()
			c.events = append(c.events, e)
		case errors.As(err, &na):
			c.missing = append(c.missing, na)
		case errors.Is(err, unix.ESRCH):
			return fmt.Errorf("counting in process %d: it has ended: %w", c.pid, err)
		default:
			return fmt.Errorf("counting in process %d: %w", c.pid, err)
		}
	}
	if len(c.events) == 0 {
		if len(c.missing) > 0 {
			return fmt.Errorf("counting in process %d: %w", c.pid, c.missing[0])
		}
		return fmt.Errorf("counting in process %d: no events asked for", c.pid)
	}
	return nil
}

// Missing are the events that cannot be counted here, each with its reason.
func (c *Counters) Missing() []*NotAvailableError { return c.missing }

// Unopened is the number of threads whose counters could not be opened, mostly
// because file descriptors ran out, and why. Their work is not in the totals.
func (c *Counters) Unopened() (n int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n = len(c.left) + c.lost; n > 0 {
		why = c.why
	}
	return n, why
}

// Scan looks for new and ended threads and reads all counters.
func (c *Counters) Scan() error {
	_, err := c.scan(true, func(Event) bool { return true })
	return err
}

// readEvery is the time between readings of counters that the kernel may multiplex: an estimate extrapolates at most as
// long. Other counters are read when their thread has ended.
const readEvery = time.Second

// due chooses the counters that a scan of Run reads.
func (c *Counters) due() func(Event) bool {
	now := time.Now()
	due := now.Sub(c.readAt) >= readEvery
	if due {
		c.readAt = now
	}
	return func(e Event) bool { return due && e.Hardware() }
}

// scan is Scan, but of living threads it reads only the counters that due names. It reports whether the process has
// ended.
func (c *Counters) scan(fresh bool, due func(Event) bool) (ended bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false, errors.New("counters are closed")
	}
	threads, err := c.lister.List(c.pid, fresh)
	ended = errors.Is(err, proc.ErrEnded)
	if err != nil && !ended {
		return false, err
	}
	alive := make(map[ThreadID]bool, len(threads))
	full := false // no further attempts in this scan, which has to be short
	for _, t := range threads {
		alive[t.ID] = true
		if th := c.threads[t.ID]; th != nil {
			th.totals.Name = t.Name // threads rename themselves
		} else if full {
			c.left[t.ID] = true
		} else {
			full = c.open(t)
		}
	}
	for id := range c.left {
		if !alive[id] {
			delete(c.left, id)
			c.lost++
		}
	}
	for _, th := range c.order {
		if th.counters == nil {
			continue
		}
		if alive[th.id] {
			th.read(due)
		} else {
			th.end()
		}
	}
	return ended, nil
}

// open starts the counters of a new thread, unless it has ended. It reads the CPU time so far right before the first
// counter opens, so that little is lost in between. full: there are no more descriptors.
func (c *Counters) open(t Thread) (full bool) {
	th := &thread{
		id:       t.ID,
		totals:   ThreadTotals{TID: c.number(t.ID.TID), Name: t.Name, Before: c.lister.CPU(c.pid, t.ID.TID), Counts: map[Event]*Total{}},
		counters: map[Event]Counter{},
		last:     map[Event]Reading{},
	}
	for _, e := range c.events {
		counter, err := c.source.Open(t.ID.TID, e)
		if err != nil {
			th.closeAll()
			if errors.Is(err, unix.ESRCH) {
				return false
			}
			c.left[t.ID], c.why = true, whyUnopened(err)
			return c.why == descriptorLimit
		}
		th.counters[e] = counter
		th.totals.Counts[e] = &Total{}
	}
	delete(c.left, t.ID)
	c.threads[t.ID] = th
	c.order = append(c.order, th)
	c.grewAt = time.Now()
	return false
}

// number is the id of a thread inside its process's namespace.
func (c *Counters) number(tid int) int {
	if !c.inside {
		return tid
	}
	n, _, err := proc.Process(c.pid).Thread(tid).Inner()
	if err != nil {
		return -1
	}
	return n
}

// read adds what happened since the last reading of the counters that due names. A counter that cannot be
// read keeps its last value; its enabled time shows that.
func (t *thread) read(due func(Event) bool) {
	for e, counter := range t.counters {
		if !due(e) {
			continue
		}
		now, err := counter.Read()
		if err != nil {
			continue
		}
		t.totals.Counts[e].add(t.last[e], now)
		t.last[e] = now
	}
}

// add takes the delta of two readings into the total.
func (t *Total) add(before, now Reading) {
	if now.Value < before.Value || now.Enabled < before.Enabled || now.Running < before.Running {
		return // counters never run backwards: ignore this one
	}
	value, enabled, running := now.Value-before.Value, now.Enabled-before.Enabled, now.Running-before.Running
	t.Counted += value
	t.Enabled += enabled
	t.Running += running
	switch {
	case running == 0 && enabled > 0:
		t.Unobserved += enabled
		t.Multiplexed = true
	case running < enabled:
		t.Estimate += float64(value) * float64(enabled) / float64(running)
		t.Multiplexed = true
	default:
		t.Estimate += float64(value)
	}
}

func (t *thread) end() {
	t.read(func(Event) bool { return true })
	t.totals.Ended = true
	t.closeAll()
}

func (t *thread) closeAll() {
	for _, counter := range t.counters {
		counter.Close() // nothing is written; a failure loses nothing
	}
	t.counters = nil
}

const (
	calmAfter  = 2 * time.Second // without a new thread
	calmFactor = 3
)

// pace is the time until the next scan of Run. Each wakes a process that may have nothing else to do.
func (c *Counters) pace(every time.Duration) time.Duration {
	if time.Since(c.grewAt) > calmAfter {
		return calmFactor * every
	}
	return every
}

// Run scans until the process or ctx ends, and once more then; more seldom while the process begins no threads. It does
// not scan for an ended process: the kernel may reuse its id.
func (c *Counters) Run(ctx context.Context, every time.Duration) error {
	tick := time.NewTimer(every)
	defer tick.Stop()
	for {
		if ended, err := c.scan(false, c.due()); ended || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return c.Scan()
		case <-tick.C:
			tick.Reset(timers.After(c.pace(every)))
		}
	}
}

// Totals are the counts so far, in the order in which the threads were seen.
func (c *Counters) Totals() []ThreadTotals {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]ThreadTotals, 0, len(c.order))
	for _, th := range c.order {
		t := th.totals
		t.Counts = make(map[Event]*Total, len(th.totals.Counts))
		for e, n := range th.totals.Counts {
			copied := *n
			t.Counts[e] = &copied
		}
		all = append(all, t)
	}
	return all
}

// Close stops counting; Totals stays readable.
func (c *Counters) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, th := range c.order {
		th.closeAll()
	}
}
