package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

const (
	minorName = "os.minor_faults"
	majorName = "os.major_faults"
	faultDoc  = " The kernel counts here as in /proc/PID/stat. A fault is counted when it has been handled."
)

func faultGroup() monitor.Group {
	return monitor.Group{
		Name: "faults", Layer: monitor.OS, Doc: "page faults of each thread, by what their address belongs to",
		Prefixes: []string{minorName, majorName}, Open: openFaults,
	}
}

// openFaults counts in the kernel or, without the right to, reads what /proc says of the whole process.
func openFaults(o monitor.Target) (monitor.Source, error) {
	counts, err := countFaults(o.PID)
	if err == nil {
		return &faults{pid: o.PID, counts: counts, thread: newThreadNumbers(o.PID), maps: make([]byte, 256<<10)}, nil
	}
	stat, err2 := openFile(proc.Process(o.PID).Path("stat"))
	if err2 != nil {
		return nil, errors.Join(err, err2)
	}
	return &plainFaults{stat: stat, why: err.Error()}, nil
}

// faults is the group read from the kernel's programs.
type faults struct {
	pid          int
	counts       *faultCounts
	thread       *threadNumbers
	declared     bool
	minor, major [regions + 1]monitor.ID // the last is of all regions

	maps    []byte
	jvm     *jvmMemory
	looked  units.MonoNs // at the maps
	tries   int          // without finding a JVM
	unknown int64        // faults since then in no known region
	shared  bool         // a mapping had no room
}

func (f *faults) declare(to monitor.Sink) {
	if f.declared {
		return
	}
	f.declared = true
	for _, x := range []struct {
		ids       *[regions + 1]monitor.ID
		name, doc string
	}{{&f.minor, minorName, "page faults without reading from a disk"}, {&f.major, majorName, "page faults that read from a disk"}} {
		d := monitor.Declaration{Layer: monitor.OS, PerThread: true, Source: "eBPF: page_fault_user, page_fault_kernel, task_struct.min_flt and maj_flt"}
		d.Name, d.Doc = x.name, x.doc+", in all regions."+faultDoc
		x.ids[regions] = to.Declare(d)
		for r := range regions {
			d.Name, d.Doc = fmt.Sprintf("%s{region=%q}", x.name, regionNames[r]), x.doc+", "+regionDocs[r]+"."+faultDoc
			x.ids[r] = to.Declare(d)
		}
	}
}

var regionDocs = [regions]string{
	otherRegion: "outside of the other regions: memory of malloc, most metaspace, the collector's tables, files mapped less than a second ago",
	heapRegion:  "in the Java heap's reserved range",
	codeRegion:  "in the code cache",
	classRegion: "in the archive of shared classes and the compressed class space",
	fileRegion:  "in mapped files: libraries, mapped buffers",
	stackRegion: "near the stack pointer of the thread",
}

// Read passes on the new faults. It also works after the process has ended.
func (f *faults) Read(at units.MonoNs, to monitor.Sink) error {
	f.declare(to)
	if err := f.counts.each(func(g *faultGrowth) { f.report(g, to) }); err != nil {
		return err
	}
	if f.due(at) {
		f.looked, f.unknown = at, 0
		f.look(to)
	}
	return nil
}

func (f *faults) report(g *faultGrowth, to monitor.Sink) {
	tid := f.thread.number(g.thread)
	if g.ended {
		f.thread.forget(g.thread)
	}
	for _, x := range []struct {
		ids *[regions + 1]monitor.ID
		by  *[regions]int64
	}{{&f.minor, &g.minor}, {&f.major, &g.major}} {
		var sum int64
		for r, by := range x.by {
			if by != 0 {
				sum += by
				to.Grew(x.ids[r], tid, by)
			}
		}
		if sum != 0 {
			to.Grew(x.ids[regions], tid, sum)
		}
		f.unknown += x.by[otherRegion]
	}
}

// Looking at the maps of a JVM costs a few hundred microseconds.
const (
	lookFirst   = units.MonoNs(20 * time.Millisecond)  // until its heap is known; later more seldom
	lookSoon    = units.MonoNs(100 * time.Millisecond) // if there is reason to
	lookOften   = units.MonoNs(time.Second)            // if there is some
	manyUnknown = 256
	maxMaps     = 16 << 20
)

func (f *faults) due(at units.MonoNs) bool {
	switch since := at - f.looked; {
	case f.jvm == nil:
		return since >= min(lookFirst<<min(f.tries/8, 10), lookOften)
	case f.unknown >= manyUnknown:
		return since >= lookSoon
	default:
		return f.unknown > 0 && since >= lookOften
	}
}

// look renews the table of regions. What cannot be read leaves faults in the region other.
func (f *faults) look(to monitor.Sink) {
	text, err := f.readMapsFile()
	if err != nil {
		return // the process has ended
	}
	base := uint64(0)
	if f.jvm != nil {
		base = f.jvm.classBase()
	}
	p := readMaps(text, base)
	if f.jvm == nil {
		f.tries++
	}
	if f.jvm == nil && p.jvm != "" {
		if j, err := findJVM(f.pid, p.jvm, p.base); err == nil && len(j.regions()) > 0 {
			f.jvm = j
		}
	}
	var own []addresses
	if f.jvm != nil {
		own = f.jvm.regions()
	}
	for _, a := range []addresses{p.heap, p.class} {
		if a.to > a.from {
			own = append(own, a)
		}
	}
	all, cut := table(own, p.mapped)
	if cut && !f.shared {
		f.shared = true
		to.Absent(minorName+`{region="file"} of some files`, fmt.Sprintf("the process maps more than %d parts of files: those in the smallest ones count as other", nEntries))
	}
	f.counts.setRegions(all)
}

// readMapsFile reads /proc/PID/maps into the buffer, which grows up to maxMaps.
func (f *faults) readMapsFile() ([]byte, error) {
	file, err := os.Open(proc.Process(f.pid).Path("maps"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	n := 0
	for {
		if n == len(f.maps) {
			if n >= maxMaps {
				return f.maps[:n], nil
			}
			f.maps = append(f.maps, make([]byte, n)...)
		}
		m, err := file.Read(f.maps[n:])
		n += m
		if errors.Is(err, io.EOF) || m == 0 {
			return f.maps[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Close stops counting.
func (f *faults) Close() error { return f.counts.close() }

// plainFaults is the group without programs in the kernel: the whole process, from /proc/PID/stat.
type plainFaults struct {
	stat         *file
	why          string
	minor, major monitor.ID
	declared     bool
	last         units.MonoNs
}

const plainInterval = units.Ns(10 * time.Millisecond)

// Read reads the two counts.
func (f *plainFaults) Read(at units.MonoNs, to monitor.Sink) error {
	if !f.declared {
		f.declared = true
		d := monitor.Declaration{Layer: monitor.OS, Source: "/proc/PID/stat minflt, majflt", Interval: plainInterval}
		d.Name, d.Doc = minorName, "page faults of the process without reading from a disk."
		f.minor = to.Declare(d)
		d.Name, d.Doc = majorName, "page faults of the process that read from a disk."
		f.major = to.Declare(d)
		to.Absent(minorName+"{*", f.why)
		to.Absent(majorName+"{*", f.why)
	}
	if at-f.last < units.MonoNs(plainInterval) {
		return nil
	}
	f.last = at
	text, err := f.stat.read()
	if err != nil {
		return err
	}
	s, err := parseStat(text)
	if err != nil {
		return err
	}
	to.Total(f.minor, 0, s.minor)
	to.Total(f.major, 0, s.major)
	return nil
}

// Close closes the file.
func (f *plainFaults) Close() error { return f.stat.close() }
