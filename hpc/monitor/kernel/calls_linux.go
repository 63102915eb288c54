package kernel

import (
	"fmt"
	"sync/atomic"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
)

// kindOfCall is a kind of system call that is counted. It is the only place where it is declared.
type kindOfCall struct {
	name    string // native.NAME.calls
	numbers []int32
	how     uint32
	doc     string
	amount  string // name of what is summed; "": nothing
	moved   string // what that is
}

// kindsOfCalls have the calls of every architecture; those that only some have are added by name.
var kindsOfCalls = []kindOfCall{
	{"read", []int32{unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_PREADV, unix.SYS_PREADV2, unix.SYS_RECVFROM, unix.SYS_RECVMSG},
		howByFile | howResult, "read, recv and their variants", "native.read_bytes", "bytes read"},
	{"write", []int32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDTO, unix.SYS_SENDMSG},
		howByFile | howResult, "write, send and their variants", "native.write_bytes", "bytes written"},
	{"sendfile", []int32{unix.SYS_SENDFILE, unix.SYS_SPLICE, unix.SYS_COPY_FILE_RANGE}, howResult,
		"sendfile, splice and copy_file_range", "native.sendfile_bytes", "bytes that the kernel copied between files"},
	{"mmap", []int32{unix.SYS_MMAP}, howLength, "mmap: also commits memory of the heap", "native.mmap_bytes", "bytes mapped"},
	{"munmap", []int32{unix.SYS_MUNMAP}, howLength, "munmap", "native.munmap_bytes", "bytes unmapped"},
	{"mremap", []int32{unix.SYS_MREMAP}, 0, "mremap", "", ""},
	{"brk", []int32{unix.SYS_BRK}, 0, "brk: memory of malloc in the first thread's arena", "", ""},
	{"madvise", []int32{unix.SYS_MADVISE}, howLength, "madvise: returns memory, asks for huge pages", "native.madvise_bytes", "bytes that madvise was about"},
	{"mprotect", []int32{unix.SYS_MPROTECT}, 0, "mprotect: also commits memory of threads and malloc", "", ""},
	{"fsync", []int32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_MSYNC}, howTime,
		"fsync, fdatasync, sync_file_range and msync", "native.fsync_ns", "time, added when a call ends, spent"},
	{"futex", []int32{unix.SYS_FUTEX}, howFutex, "futex", "", ""},
	{"poll", []int32{unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6}, 0, "epoll_wait, poll and select", "", ""},
	{"sleep", []int32{unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP}, 0, "nanosleep", "", ""},
	{"yield", []int32{unix.SYS_SCHED_YIELD}, 0, "sched_yield", "", ""},
	{"open", []int32{unix.SYS_OPENAT}, 0, "open", "", ""},
	{"close", []int32{unix.SYS_CLOSE}, 0, "close", "", ""},
	{"connect", []int32{unix.SYS_CONNECT}, 0, "connect", "", ""},
	{"accept", []int32{unix.SYS_ACCEPT, unix.SYS_ACCEPT4}, 0, "accept", "", ""},
	{"clone", []int32{unix.SYS_CLONE, unix.SYS_CLONE3}, 0, "clone: threads and processes begun", "", ""},
}

// Counters by number; the kinds have theirs behind these.
const (
	countAll = iota
	countFailed
	countKinds
)

var futexNames = [futexKinds]string{"waits", "wakes", "others"}

// callCounter is a counter of the programs and the monitor that it is.
type callCounter struct {
	word int
	monitor.Declaration
}

const callSource = "eBPF: sys_exit"

// planCalls gives each kind its counters and fills the table of calls.
func planCalls(kinds []kindOfCall) (counters []callCounter, table [maxCalls]uint64) {
	next := countKinds
	counter := func(name, doc string, unit string) int {
		d := monitor.Declaration{Name: name, Layer: monitor.Native, Unit: unit, Kind: monitor.Counter, Source: callSource, Doc: doc}
		counters = append(counters, callCounter{next, d})
		next++
		return next - 1
	}
	for _, c := range []struct {
		word      int
		name, doc string
	}{
		{countAll, "native.syscalls", "system calls of the process that returned; not what the C library does without the kernel, such as clock_gettime, nor the requests of io_uring"},
		{countFailed, "native.syscalls_failed", "those that returned an error, such as that nothing is there to read yet"},
	} {
		counters = append(counters, callCounter{c.word, monitor.Declaration{Name: c.name, Layer: monitor.Native, Source: callSource, Doc: c.doc}})
	}
	for _, k := range kinds {
		count, amount := next, 0
		calls := "native." + k.name + ".calls"
		switch {
		case k.how&howFutex != 0:
			for _, what := range futexNames {
				counter("native.futex."+what, "calls of futex: "+what, "")
			}
		case k.how&howByFile != 0:
			for _, of := range fileKindNames {
				counter(fmt.Sprintf("%s{of=%q}", calls, of), "calls of "+k.doc+", of: "+fileKindDocs[of], "")
			}
			amount = next
			for _, of := range fileKindNames {
				counter(fmt.Sprintf("%s{of=%q}", k.amount, of), k.moved+" by "+k.doc+", of: "+fileKindDocs[of], "bytes")
			}
		default:
			counter(calls, "calls of "+k.doc, "")
			if unit := "bytes"; k.amount != "" {
				if k.how&howTime != 0 {
					unit = "ns"
				}
				amount = counter(k.amount, k.moved+" by "+k.doc, unit)
			}
		}
		for _, n := range k.numbers {
			table[n] = uint64(8*count)<<(8*callCount) | uint64(8*amount)<<(8*callAmount) | uint64(k.how|howKnown)<<(8*callHow)
		}
	}
	return counters, table
}

var fileKindDocs = map[string]string{"file": "regular files", "socket": "sockets", "other": "pipes, devices, event counters, and descriptors that are none"}

func callGroup() monitor.Group {
	return monitor.Group{
		Name: "syscalls", Layer: monitor.Native, Doc: "system calls of the process: counts, bytes, time of fsync",
		Prefixes: []string{"native."}, Open: openCalls,
	}
}

// calls is the group: it sums the counters of all CPUs.
type calls struct {
	*programs
	counters []callCounter
	ids      []monitor.ID
	cpus     []uint64
	sum      [cpuWords]uint64
}

func openCalls(o monitor.Target) (_ monitor.Source, err error) {
	spec, err := kernelTypes()
	if err != nil {
		return nil, err
	}
	fields, err := findCallFields(spec)
	if err != nil {
		return nil, &kernelprog.UnavailableError{What: "eBPF", Reason: err.Error(), Err: err}
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, kernelprog.Explain(err)
	}
	kinds := allKinds()
	p, err := load(callCollection(fields, o.PID, cpus, timedCalls(kinds)))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	c := &calls{programs: p}
	entries, err := p.memory(mapCalls)
	if err != nil {
		return nil, err
	}
	if c.cpus, err = p.memory(mapCounters); err != nil {
		return nil, err
	}
	c.cpus = c.cpus[:cpus*cpuWords]
	var table [maxCalls]uint64
	c.counters, table = planCalls(kinds)
	for n, entry := range table {
		atomic.StoreUint64(&entries[n], entry)
	}
	return c, p.attach(programExit, programEnter)
}

// allKinds are the kinds with the calls of this architecture.
func allKinds() []kindOfCall {
	kinds := append([]kindOfCall(nil), kindsOfCalls...)
	for i := range kinds {
		kinds[i].numbers = append(append([]int32(nil), kinds[i].numbers...), moreCalls[kinds[i].name]...)
	}
	return kinds
}

func timedCalls(kinds []kindOfCall) (numbers []int32) {
	for _, k := range kinds {
		if k.how&howTime != 0 {
			numbers = append(numbers, k.numbers...)
		}
	}
	return numbers
}

// Read passes on the counters. It also works after the process has ended.
func (c *calls) Read(_ units.MonoNs, to monitor.Sink) error {
	if c.ids == nil {
		for _, x := range c.counters {
			c.ids = append(c.ids, to.Declare(x.Declaration))
			to.Total(c.ids[len(c.ids)-1], 0, 0) // the programs began with the source
		}
	}
	c.sum = [cpuWords]uint64{}
	for cpu := 0; cpu < len(c.cpus); cpu += cpuWords {
		counters := c.cpus[cpu : cpu+cpuWords]
		if atomic.LoadUint64(&counters[countAll]) == 0 {
			continue // most CPUs of a large machine
		}
		for i := range c.counters {
			w := c.counters[i].word
			c.sum[w] += atomic.LoadUint64(&counters[w])
		}
	}
	for i := range c.counters {
		to.Total(c.ids[i], 0, int64(c.sum[c.counters[i].word]))
	}
	return nil
}

// Close stops counting.
func (c *calls) Close() error { return c.close() }
