package sched

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
	"stackagent/internal/units"
)

const (
	ringBytes    = 8 << 20 // about 130,000 switches
	maxProcesses = 4096
)

// ebpfSource gets every switch from programs in the kernel.
type ebpfSource struct {
	programs  *ebpf.Collection
	links     []link.Link
	reader    *ringbuf.Reader
	record    ringbuf.Record
	listens   atomic.Bool
	ready     *os.File // while it listens: can be read when the programs wake the reader
	listening sync.WaitGroup
	processes *ebpf.Map
	calls     bool // the system call of a blocked thread is known
	clocks    accountClocks
}

func openEBPF() (_ *ebpfSource, err error) {
	if err := kernelprog.InitialPIDNamespace(); err != nil {
		return nil, err
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, kernelprog.Explain(err)
	}
	o, err := findOffsets(spec)
	if err != nil {
		return nil, &UnavailableError{What: "eBPF", Reason: err.Error(), Remedy: "use a newer kernel", Err: err}
	}
	programs, err := ebpf.NewCollection(collection(o, ringBytes, maxProcesses))
	if err != nil {
		return nil, kernelprog.Explain(err)
	}
	s := &ebpfSource{programs: programs, processes: programs.Maps[mapProcesses], calls: o.systemCall.Size == asm.DWord}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.reader, err = ringbuf.NewReader(programs.Maps[mapRecords]); err != nil {
		return nil, kernelprog.Explain(err)
	}
	for _, name := range programNames {
		l, err := link.AttachTracing(link.TracingOptions{Program: programs.Programs[name], AttachType: ebpf.AttachTraceRawTp})
		if err != nil {
			return nil, kernelprog.Explain(fmt.Errorf("attaching to %s: %w", name, err))
		}
		s.links = append(s.links, l)
	}
	return s, nil
}

// pollable turns a map into a file on which a goroutine can wait without a thread.
func pollable(m *ebpf.Map) (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(m.FD()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("waiting for records: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("waiting for records: %w", errors.Join(err, unix.Close(fd)))
	}
	return os.NewFile(uintptr(fd), mapRecords), nil
}

// listen calls wake once when many records wait. While it does not listen, records wake nobody.
func (s *ebpfSource) listen(wake func()) {
	if s.listens.Swap(true) {
		return
	}
	ready, err := pollable(s.programs.Maps[mapRecords])
	if err != nil { // no more descriptors: the observer looks by itself, later
		s.listens.Store(false)
		return
	}
	s.ready = ready
	s.listening.Go(func() {
		defer s.listens.Store(false)
		defer ready.Close()
		many := func(uintptr) bool { return s.reader.AvailableBytes() >= wakeBytes }
		if conn, err := ready.SyscallConn(); err == nil && conn.Read(many) == nil {
			wake()
		}
	})
}

func (s *ebpfSource) name() string { return "ebpf" }

func (s *ebpfSource) notAvailable() map[string]string {
	if !s.calls {
		const why = "where the registers keep the number of the system call is not known on this architecture"
		return map[string]string{NoCalls: why + "; it all is blocked", NoWakers: why}
	}
	return map[string]string{}
}

func (s *ebpfSource) set(pid int, flags uint32) error {
	var entry [entrySize]byte
	binary.NativeEndian.PutUint32(entry[entryFlags:], flags)
	if err := s.processes.Put(uint32(pid), entry[:]); err != nil {
		return fmt.Errorf("watching process %d: %w", pid, err)
	}
	return nil
}

// launch calls start and watches the process that it starts, and all that this one
// starts, from the first moment.
func (s *ebpfSource) launch(start func() error) error {
	if err := s.set(os.Getpid(), flagFollow); err != nil {
		return err
	}
	defer s.unwatch(os.Getpid())
	return start()
}

func (s *ebpfSource) watch(pid int) error { return s.set(pid, flagWatch|flagFollow) }

func (s *ebpfSource) unwatch(pid int) { _ = s.processes.Delete(uint32(pid)) } // it may be gone

// lost is how many records about a process had no room so far.
func (s *ebpfSource) lost(pid int) uint64 {
	var entry [entrySize]byte
	if err := s.processes.Lookup(uint32(pid), entry[:]); err != nil {
		return 0
	}
	return binary.NativeEndian.Uint64(entry[entryLost:])
}

// guess is not needed: the programs record the reason.
func (s *ebpfSource) guess(int, *live, units.MonoNs) (State, bool) { return 0, false }

func (s *ebpfSource) close() {
	for _, l := range s.links {
		l.Close()
	}
	if s.ready != nil {
		s.ready.Close()
		s.listening.Wait() // it reads what the reader has mapped
	}
	if s.reader != nil {
		s.reader.Close()
	}
	s.programs.Close()
}

// poll appends the events that have arrived: all before the time it returns.
func (s *ebpfSource) poll(into []event) ([]event, units.MonoNs, error) {
	complete := now() - settled
	if s.reader.AvailableBytes() == 0 {
		return into, complete, nil
	}
	s.reader.SetDeadline(time.Unix(1, 0)) // do not wait
	for {
		err := s.reader.ReadInto(&s.record)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return into, complete, nil
		}
		if err != nil {
			return into, complete, fmt.Errorf("reading the scheduler's records: %w", err)
		}
		into = s.clocks.appendRecord(into, s.record.RawSample)
	}
}

// appendRecord translates a record of the programs.
func (c *accountClocks) appendRecord(into []event, b []byte) []event {
	if len(b) < newSize {
		return into
	}
	n := binary.NativeEndian
	e := event{at: units.MonoNs(n.Uint64(b[recTime:])), pid: int32(n.Uint32(b[recTGID:])), tid: int32(n.Uint32(b[recTID:])), cpu: -1, cpuTime: units.NotMeasured}
	switch kind := n.Uint32(b[recType:]); {
	case kind == typeSwitch && len(b) >= switchSize:
		e.lag = c.lag(n.Uint32(b[swCPU:]), e.at, n.Uint64(b[swClock:]))
		return appendSwitch(into, b, e)
	case kind == typeWake && len(b) >= wakeSize:
		e.kind = eventWake
		e.waker = onCPU{pid: int32(n.Uint32(b[wakeTGID:])), tid: int32(n.Uint32(b[wakeTID:])), call: int32(n.Uint32(b[wakeCall:]))}
		e.waker.known = e.waker.tid >= 0
	case kind == typeNew:
		e.kind = eventNew
	case kind == typeExit && len(b) >= exitSize:
		e.kind, e.counted = eventExit, true
		e.voluntary, e.involuntary = n.Uint64(b[exitVoluntary:]), n.Uint64(b[exitInvoluntary:])
		comm, _, _ := bytes.Cut(b[exitComm:exitComm+commSize], []byte{0})
		e.name = string(comm)
	default:
		return into
	}
	return append(into, e)
}

func appendSwitch(into []event, b []byte, e event) []event {
	n := binary.NativeEndian
	if e.pid != 0 {
		out := e
		out.kind, out.counted, out.switches = eventOut, true, n.Uint32(b[swPrevCount:])
		out.cpuTime = units.Ns(n.Uint64(b[swPrevCPU:]))
		task := n.Uint32(b[swPrevState:])
		preempted := task>>preemptedBit != 0
		task &^= 1 << preemptedBit
		out.block = !preempted && task != 0
		out.dead = !preempted && task&taskDead != 0
		out.state = stateOf(task, preempted, int32(n.Uint32(b[swPrevCall:])))
		if out.state == Futex {
			out.futex, out.limited = futexOf(n.Uint64(b[swPrevFirst:])), n.Uint64(b[swPrevLimit:]) != 0
		}
		into = append(into, out)
	}
	if next := int32(n.Uint32(b[swNextTGID:])); next != 0 {
		e.after = e.pid == next
		e.pid, e.tid = next, int32(n.Uint32(b[swNextTID:]))
		e.kind, e.counted, e.switches = eventIn, true, n.Uint32(b[swNextCount:])
		into = append(into, e)
	}
	return into
}

// spent adds up the programs' time. It stands still while the kernel does not count it.
func (s *ebpfSource) spent() (time units.Ns, runs uint64, unknown string) {
	for _, name := range programNames {
		stats, err := s.programs.Programs[name].Stats()
		if err != nil {
			return 0, 0, fmt.Sprintf("reading the time of the program %s: %v", name, err)
		}
		time, runs = time+units.Ns(stats.Runtime), runs+stats.RunCount
	}
	return time, runs, ""
}
