package kernel

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// eventGroup is some events that are counted together, and how often they are read.
type eventGroup struct {
	name     string // of the label of hw.multiplexed
	interval units.Ns
	events   []hpc.Event
}

// eventGroups are small enough for the counters of most processors. Ratios are of events of the same group.
var eventGroups = []eventGroup{
	{"core", 0, []hpc.Event{hpc.Instructions, hpc.Cycles, hpc.RefCycles}},
	{"level 1", slowInterval, []hpc.Event{hpc.L1Loads, hpc.L1Misses, hpc.DTLBMisses}},
	{"last level", slowInterval, []hpc.Event{hpc.LLCLoads, hpc.LLCMisses}},
}

// hardwareNames are the monitors of the events.
var hardwareNames = map[hpc.Event][2]string{
	hpc.Instructions: {"hw.instructions", "instructions retired"},
	hpc.Cycles:       {"hw.cycles", "cycles of the core; their length changes with its frequency"},
	hpc.RefCycles:    {"hw.ref_cycles", "cycles of constant length in which the core worked"},
	hpc.L1Loads:      {"hw.l1_loads", "loads from the level 1 data cache"},
	hpc.L1Misses:     {"hw.l1_misses", "loads that missed the level 1 data cache"},
	hpc.DTLBMisses:   {"hw.dtlb_misses", "loads whose address was not in the data TLB"},
	hpc.LLCLoads:     {"hw.cache_references", "loads from the last level cache"},
	hpc.LLCMisses:    {"hw.cache_misses", "loads that missed the last level cache"},
}

const (
	multiplexed   = "hw.multiplexed"
	maxHWThreads  = 4096
	maxInGroup    = 4
	hardwareUsage = " in user mode. Where the kernel lets groups take turns, an estimate: see hw.multiplexed"
)

func hardwareGroup() monitor.Group {
	return monitor.Group{
		Name: "hardware", Layer: monitor.Hardware, Doc: "instructions, cycles, cache and TLB misses of each thread",
		Prefixes: []string{"hw."},
		Open: func(o monitor.Target) (monitor.Source, error) {
			return openHardware(o.PID, hpc.PerfGroups(), hpc.ProcThreads(), newThreadNumbers(o.PID))
		},
	}
}

// hardware counts groups of events in each thread.
type hardware struct {
	pid     int
	source  hpc.GroupSource
	lister  hpc.Lister
	numbers *threadNumbers
	groups  []countedGroup
	absent  map[string]string
	threads map[hpc.ThreadID]*hwThread
	seen    uint64 // number of the last listing
	listed  units.MonoNs
	gone    error // the process has ended
	now     [maxInGroup]uint64
	failed  map[hpc.ThreadID]bool
}

// countedGroup is a group that this machine counts.
type countedGroup struct {
	eventGroup
	next             units.MonoNs
	ids              [maxInGroup]monitor.ID
	turns            monitor.ID
	declared         bool
	enabled, running units.Ns // since its last reading, all threads
}

type hwThread struct {
	number int32
	seen   uint64
	groups []hwCounter // as hardware.groups
}

type hwCounter struct {
	hpc.GroupCounter
	values           [maxInGroup]uint64
	rest             [maxInGroup]float64 // of estimates, below one
	enabled, running units.Ns
}

// openHardware tries each group on the first thread.
func openHardware(pid int, source hpc.GroupSource, lister hpc.Lister, numbers *threadNumbers) (monitor.Source, error) {
	h := &hardware{pid: pid, source: source, lister: lister, numbers: numbers, absent: map[string]string{},
		threads: map[hpc.ThreadID]*hwThread{}, failed: map[hpc.ThreadID]bool{}}
	var why error
	for _, g := range eventGroups {
		counter, err := source.OpenGroup(pid, g.events)
		if err != nil {
			why = errors.Join(why, err)
			for _, e := range g.events {
				h.absent[hardwareNames[e][0]] = err.Error()
			}
			continue
		}
		counter.Close() // nothing is written; a failure loses nothing
		h.groups = append(h.groups, countedGroup{eventGroup: g})
	}
	if len(h.groups) == 0 {
		var first *hpc.NotAvailableError
		if errors.As(why, &first) {
			return nil, first
		}
		return nil, why
	}
	return h, nil
}

// Read finds new threads and reads the groups whose turn it is. The counters of a thread that has ended are read a last time.
func (h *hardware) Read(at units.MonoNs, to monitor.Sink) error {
	for name, why := range h.absent {
		to.Absent(name, why)
	}
	clear(h.absent)
	if at-h.listed >= listEvery {
		h.listed = at
		if err := h.list(to); err != nil {
			return err
		}
	}
	for i := range h.groups {
		h.declare(i, to)
	}
	for id, th := range h.threads {
		ended := th.seen != h.seen
		for i := range h.groups {
			if ended || at >= h.groups[i].next {
				h.read(i, th, to)
			}
		}
		if ended {
			th.close()
			delete(h.threads, id)
			h.numbers.forget(int32(id.TID))
		}
	}
	for i := range h.groups {
		h.share(i, at, to)
	}
	return h.gone
}

// listEvery is the time between listings of the threads, which cost as much as reading them. What a thread did before the first
// listing that has it is not counted.
const listEvery = units.MonoNs(50 * time.Millisecond)

// list finds new threads. Those that are not listed any more have not been seen.
func (h *hardware) list(to monitor.Sink) error {
	threads, err := h.lister.List(h.pid, false)
	if h.gone = nil; errors.Is(err, proc.ErrEnded) {
		h.gone = err
	} else if err != nil {
		return err
	}
	h.seen++
	for _, t := range threads {
		th := h.threads[t.ID]
		if th == nil {
			if th = h.begin(t.ID, to); th == nil {
				continue
			}
		}
		th.seen = h.seen
	}
	return nil
}

// begin opens the groups of a new thread; nil if it has ended or descriptors have run out.
func (h *hardware) begin(id hpc.ThreadID, to monitor.Sink) *hwThread {
	if h.failed[id] || len(h.failed) > maxHWThreads {
		return nil
	}
	th := &hwThread{number: h.numbers.number(int32(id.TID))}
	if len(h.threads) >= maxHWThreads {
		h.failed[id] = true
		to.Absent("hw.* of some threads", fmt.Sprintf("the process has more than %d threads", maxHWThreads))
		return nil
	}
	for _, g := range h.groups {
		counter, err := h.source.OpenGroup(id.TID, g.events)
		if err != nil {
			th.close()
			if !errors.Is(err, unix.ESRCH) {
				h.failed[id] = true
				to.Absent("hw.* of some threads", err.Error())
			}
			return nil
		}
		th.groups = append(th.groups, hwCounter{GroupCounter: counter})
	}
	h.threads[id] = th
	return th
}

func (h *hardware) declare(i int, to monitor.Sink) {
	g := &h.groups[i]
	if g.declared {
		return
	}
	g.declared = true
	for n, e := range g.events {
		g.ids[n] = to.Declare(monitor.Declaration{Name: hardwareNames[e][0], Layer: monitor.Hardware, PerThread: true,
			Source: "perf_event_open " + e.String(), Doc: hardwareNames[e][1] + hardwareUsage, Interval: g.interval})
	}
	g.turns = to.Declare(monitor.Declaration{Name: fmt.Sprintf("%s{group=%q}", multiplexed, g.name), Layer: monitor.Hardware, Unit: "ratio", Kind: monitor.Gauge,
		Source: "perf_event_open time_running, time_enabled", Doc: "share of the threads' time in which the processor had no counters for the group", Interval: g.interval})
}

// read adds what a group of a thread has counted since its last reading. If the group had counters only for a part of the time,
// the growth is scaled to the whole; without any there is none.
func (h *hardware) read(i int, th *hwThread, to monitor.Sink) {
	g, c := &h.groups[i], &th.groups[i]
	now := &h.now
	enabled, running, err := c.Read(now[:len(g.events)])
	if err != nil {
		return // it keeps its last values; the next reading has the growth
	}
	byEnabled, byRunning := enabled-c.enabled, running-c.running
	c.enabled, c.running = enabled, running
	if byEnabled <= 0 || byRunning < 0 {
		return
	}
	g.enabled += byEnabled
	g.running += byRunning
	for n := range g.events {
		by := now[n] - c.values[n]
		c.values[n] = now[n]
		if int64(by) <= 0 || byRunning == 0 {
			continue
		}
		grown := int64(by)
		if byRunning < byEnabled {
			estimate := float64(by)*float64(byEnabled)/float64(byRunning) + c.rest[n]
			grown = int64(estimate)
			c.rest[n] = estimate - float64(grown)
		}
		to.Grew(g.ids[n], th.number, grown)
	}
}

// share reports how much of the time the group had no counters.
func (h *hardware) share(i int, at units.MonoNs, to monitor.Sink) {
	g := &h.groups[i]
	if at < g.next {
		return
	}
	if g.interval > 0 {
		g.next = at + units.MonoNs(g.interval)
	}
	if g.enabled > 0 {
		to.Value(g.turns, 0, 1-float64(g.running)/float64(g.enabled))
	}
	g.enabled, g.running = 0, 0
}

func (t *hwThread) close() {
	for _, c := range t.groups {
		c.Close() // nothing is written; a failure loses nothing
	}
	t.groups = nil
}

// Close stops counting.
func (h *hardware) Close() error {
	for _, th := range h.threads {
		th.close()
	}
	clear(h.threads)
	return nil
}
