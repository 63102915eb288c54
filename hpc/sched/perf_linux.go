package sched

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

const (
	perfPages      = 1024 // of a CPU's ring: 4 MiB, about 130,000 switches
	perfPagesLeast = 8
	// guessAfter is how long a stay must last before /proc is asked why, and
	// guessMost how many are asked about at a time.
	guessAfter = units.MonoNs(10 * time.Millisecond)
	guessMost  = 200
	attachMost = 8 // looks for threads that started while others were being opened
)

// perfSource gets switches from PERF_RECORD_SWITCH of dummy events in the
// threads themselves. Each event is bound to a CPU, too: only those may be
// inherited by new threads and write into a ring.
type perfSource struct {
	rings   []*perf.Event // a ring for each CPU
	cpus    []int
	events  map[int][]*perf.Event // by process; 0: of what was launched
	missed  map[int]int           // threads of a process that could not be opened
	raw     perf.RawRecord
	lastOf  []units.MonoNs // latest record of each ring
	allLost uint64
	lostAt  map[int]uint64 // allLost when a process began to be watched
	asked   int            // guesses in this poll
}

func openPerf() (_ *perfSource, err error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, &UnavailableError{What: "switch records of perf", Reason: err.Error(), Err: err}
	}
	s := &perfSource{cpus: cpus, events: map[int][]*perf.Event{}, missed: map[int]int{}, lostAt: map[int]uint64{}, lastOf: make([]units.MonoNs, len(cpus))}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	for _, cpu := range cpus {
		ring, err := perf.Open(switchAttr(false), os.Getpid(), cpu, nil)
		if err != nil {
			return nil, explainPerf(err)
		}
		s.rings = append(s.rings, ring)
		if err := mapRing(ring); err != nil {
			return nil, explainPerf(err)
		}
	}
	return s, nil
}

// mapRing maps the largest ring that this user may have.
func mapRing(ring *perf.Event) error {
	for pages := perfPages; ; pages /= 2 {
		err := ring.MapRingNumPages(pages)
		if err == nil || pages == perfPagesLeast {
			return err
		}
	}
}

func explainPerf(err error) error {
	u := &UnavailableError{What: "switch records of perf", Err: err}
	if u.Reason, u.Remedy = hpc.ExplainPerf(err); u.Reason == "" {
		u.Reason = text.FirstLine(err.Error())
	}
	return u
}

// switchAttr is an event that counts nothing, but records switches, new
// threads, their ends and names. The rings' own events record nothing.
func switchAttr(record bool) *perf.Attr {
	attr := &perf.Attr{
		Label:        "switches",
		SampleFormat: perf.SampleFormat{Tid: true, Time: true, CPU: true, StreamID: true},
		Options: perf.Options{SampleIDAll: true, UseClockID: true, ExcludeKernel: true, ExcludeHypervisor: true,
			Disabled: !record, Inherit: record, ContextSwitch: record, Task: record, Comm: record},
		ClockID: unix.CLOCK_MONOTONIC,
	}
	_ = perf.Dummy.Configure(attr) // sets the type; never fails
	return attr
}

// onlineCPUs are the CPUs on which a thread may run.
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("which CPUs there are: %w", err)
	}
	return parseCPUs(strings.TrimSpace(string(text)))
}

// parseCPUs reads a list like 0-3,8.
func parseCPUs(text string) ([]int, error) {
	const most = 1 << 13
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 16)
		b, err2 := strconv.ParseUint(last, 10, 16)
		if err := errors.Join(err1, err2); err != nil || b < a || b > most {
			return nil, fmt.Errorf("a list of CPUs like %q: %w", text, errors.Join(err, ErrDamaged))
		}
		for ; a <= b; a++ {
			cpus = append(cpus, int(a))
		}
	}
	return cpus, nil
}

func (s *perfSource) name() string { return "perf" }

func (s *perfSource) notAvailable() map[string]string {
	const remedy = " (run shadow as root: eBPF records it)"
	all := map[string]string{
		NoRunnable: "perf does not record wake-ups; the wait for a CPU after one is in the state before it" + remedy,
		NoReasons: fmt.Sprintf("why a thread is off the CPU is looked up in /proc once it lasts %v; shorter stays are blocked%s",
			time.Duration(guessAfter), remedy),
		switchItself: "perf records a switch to a thread when it is done; the time from its begin, which the kernel charges to the thread, is running time only as far as it can be estimated" + remedy,
		NoWakers:     "perf does not record wake-ups" + remedy,
		"cpu":        "the kernel's CPU time of ended threads is not in perf's records" + remedy,
	}
	for pid, n := range s.missed {
		all[fmt.Sprintf("threads of process %d", pid)] = fmt.Sprintf("%d could not be observed: too many open files (ulimit -n 1048576)", n)
	}
	return all
}

// launch opens the events on this very thread, asleep until an exec: the
// process that it starts inherits them.
func (s *perfSource) launch(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := switchAttr(true)
	attr.Options.Disabled, attr.Options.EnableOnExec = true, true
	events, err := s.open(attr, unix.Gettid())
	if err != nil {
		return explainPerf(err)
	}
	s.events[0] = append(s.events[0], events...)
	return start()
}

// open opens the events of one thread, all or none.
func (s *perfSource) open(attr *perf.Attr, tid int) (_ []*perf.Event, err error) {
	var events []*perf.Event
	defer func() {
		if err != nil {
			closeAll(events)
		}
	}()
	for i, cpu := range s.cpus {
		ev, err := perf.Open(attr, tid, cpu, nil)
		if errors.Is(err, unix.ENODEV) {
			continue // the CPU was taken away
		}
		if err != nil {
			return nil, err
		}
		events = append(events, ev)
		if fd, err := ev.FD(); err != nil {
			return nil, err
		} else if err := hpc.CheckReserve(fd); err != nil {
			return nil, err
		}
		if err := ev.SetOutput(s.rings[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

func closeAll(events []*perf.Event) {
	for _, ev := range events {
		ev.Close() // nothing is written; a failure loses nothing
	}
}

// watch opens the events in every thread of a running process. It looks again for
// threads that were started by a thread without events.
func (s *perfSource) watch(pid int) error {
	s.lostAt[pid] = s.allLost
	opened := map[int]bool{}
	for range attachMost {
		ids, err := proc.Process(pid).Threads()
		if err != nil {
			return fmt.Errorf("observing process %d: %w", pid, err)
		}
		before := len(opened)
		for _, tid := range ids {
			if opened[tid] {
				continue
			}
			opened[tid] = true
			if err := s.watchThread(pid, tid, before > 0); err != nil {
				s.unwatch(pid)
				return err
			}
		}
		if len(opened) == before {
			break
		}
	}
	return nil
}

func (s *perfSource) watchThread(pid, tid int, again bool) error {
	events, err := s.open(switchAttr(true), tid)
	switch {
	case err == nil:
		s.events[pid] = append(s.events[pid], events...)
	case errors.Is(err, unix.ESRCH): // it has ended
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		s.missed[pid]++
	case !again && len(s.events[pid]) == 0:
		return explainPerf(err)
	default:
		s.missed[pid]++
	}
	return nil
}

func (s *perfSource) unwatch(pid int) {
	closeAll(s.events[pid])
	delete(s.events, pid)
}

// lost is what was lost of all processes: the kernel does not say whose.
func (s *perfSource) lost(pid int) uint64 { return s.allLost - s.lostAt[pid] }

func (s *perfSource) close() {
	for pid := range s.events {
		s.unwatch(pid)
	}
	closeAll(s.rings)
}

func (s *perfSource) poll(into []event) ([]event, units.MonoNs, error) {
	complete := now() - perfSettled
	s.asked = 0
	for i, ring := range s.rings {
		for ring.HasRecord() {
			if err := ring.ReadRawRecord(context.Background(), &s.raw); err != nil {
				return into, complete, fmt.Errorf("reading the switch records of CPU %d: %w", s.cpus[i], err)
			}
			into = s.decode(into, i)
		}
	}
	return into, complete, nil
}

// decode translates the record in s.raw, of ring i.
func (s *perfSource) decode(into []event, i int) []event {
	e := event{cpu: int32(s.cpus[i]), cpuTime: units.NotMeasured}
	ring := s.rings[i]
	set := func(id perf.SampleID) {
		e.at, e.pid, e.tid = units.MonoNs(id.Time), int32(id.Pid), int32(id.Tid)
	}
	switch s.raw.Header.Type {
	case perf.RecordTypeSwitch:
		var r perf.SwitchRecord
		if r.DecodeFrom(&s.raw, ring) != nil {
			return into
		}
		set(r.SampleID)
		if r.Out() {
			e.kind, e.block, e.state = eventOut, !r.Preempted(), Blocked
			if r.Preempted() {
				e.state = Runnable
			}
		}
	case perf.RecordTypeFork:
		var r perf.ForkRecord
		if r.DecodeFrom(&s.raw, ring) != nil {
			return into
		}
		e.kind, e.at, e.pid, e.tid = eventNew, units.MonoNs(r.Time), int32(r.Pid), int32(r.Tid)
	case perf.RecordTypeExit:
		var r perf.ExitRecord
		if r.DecodeFrom(&s.raw, ring) != nil {
			return into
		}
		e.kind, e.at, e.pid, e.tid = eventEnd, units.MonoNs(r.Time), int32(r.Pid), int32(r.Tid)
	case perf.RecordTypeComm:
		if !decodeComm(&s.raw, &e) {
			return into
		}
	case perf.RecordTypeLost:
		var r perf.LostRecord
		if r.DecodeFrom(&s.raw, ring) != nil {
			return into
		}
		set(r.SampleID)
		e.kind, e.from = eventLost, s.lastOf[i]
		s.allLost += r.Lost
	default:
		return into
	}
	s.lastOf[i] = max(s.lastOf[i], e.at)
	return append(into, e)
}

// decodeComm reads a record of a new name. The library does not expect that the name
// is padded to a multiple of 8 bytes.
func decodeComm(raw *perf.RawRecord, e *event) bool {
	const (
		ids        = 8 // process and thread
		sampleID   = 32
		timeBefore = 24 // from the end
	)
	n, b := binary.NativeEndian, raw.Data
	if len(b) < ids+sampleID {
		return false
	}
	name, _, _ := bytes.Cut(b[ids:len(b)-sampleID], []byte{0})
	e.kind, e.pid, e.tid, e.name = eventName, int32(n.Uint32(b)), int32(n.Uint32(b[4:])), string(name)
	e.at = units.MonoNs(n.Uint64(b[len(b)-timeBefore:]))
	return true
}

// guess looks up in /proc why a thread has been off the CPU for a while.
func (s *perfSource) guess(pid int, t *live, at units.MonoNs) (State, bool) {
	if t.state != Blocked || !t.certain || t.guess.at != 0 || at-t.since < guessAfter || s.asked == guessMost {
		return 0, false
	}
	s.asked++
	dir := proc.Process(pid).Thread(int(t.TID))
	stat, err := dir.Stat()
	if err != nil {
		return 0, false
	}
	state := stateByProc(dir, stat)
	return state, state != Running
}

func (s *perfSource) spent() (units.Ns, uint64, string) {
	return 0, 0, "the kernel does not count what perf's records cost"
}
