package kernel

import (
	"errors"
	"testing"

	"stackagent/hpc/kernelprog"
	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
)

// openOrSkip opens a group. Without the right to load programs the test is skipped, if the refusal has a reason.
func openOrSkip(t testing.TB, g monitor.Group, pid int) monitor.Source {
	t.Helper()
	source, err := g.Open(monitor.Target{PID: pid, Interval: monitor.DefaultInterval})
	var u *kernelprog.UnavailableError
	if errors.As(err, &u) && u.Reason != "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if plain, ok := source.(*plainFaults); ok {
		plain.Close()
		t.Skip(plain.why)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source
}

// ownPages is how many more there may be: code and data of the program itself are paged in, too.
const ownPages = 40

// around is how many pages of a file the kernel may map by itself, beside the one that is touched.
const around = 16

// Each case touches a known number of pages of one region in a program without a JVM; the kernel's own count
// (getrusage, /proc/PID/stat) is the other oracle.
func TestFaults(t *testing.T) {
	const pages = 2000
	for _, c := range []struct{ what, region string }{{"anonymous", "other"}, {"file", "file"}, {"stack", "stack"}} {
		t.Run(c.what, func(t *testing.T) {
			w := startWork(t, c.what, "2000")
			source := openOrSkip(t, faultGroup(), w.pid())
			s := newSums(t)
			s.read(source) // the first look at the maps
			before := readStat(t, w.pid())
			base, base2 := s.of(minorName), s.of(majorName)
			w.start()
			minor, major, _ := w.counted()
			s.read(source)
			after := readStat(t, w.pid())
			if got, want := s.of(minorName)-base, after.minor-before.minor; got != want || got < minor || got < pages-around {
				t.Errorf("%d minor faults; /proc/PID/stat %d, getrusage %d, pages %d", got, want, minor, pages)
			}
			if got, want := s.of(majorName)-base2, after.major-before.major; got != want || got < major {
				t.Errorf("%d major faults; /proc/PID/stat %d, getrusage %d", got, want, major)
			}
			in := `{region="` + c.region + `"}`
			if got := s.of(minorName+in) + s.of(majorName+in); got < pages-around || got > pages+ownPages {
				t.Errorf("%d faults in region %s, %d pages were touched", got, c.region, pages)
			}
			checkRegions(s)
		})
	}
}

// checkRegions: the regions add up to all faults.
func checkRegions(s *sums) {
	s.t.Helper()
	for _, name := range []string{minorName, majorName} {
		var sum int64
		for _, r := range regionNames {
			sum += s.of(name + `{region="` + r + `"}`)
		}
		if all := s.of(name); sum != all {
			s.t.Errorf("%s is %d, its regions add up to %d", name, all, sum)
		}
	}
}

func readStat(t *testing.T, pid int) procStat {
	t.Helper()
	b, err := proc.Process(pid).Read("stat")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseStat(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Threads that begin and end between two readings are not lost, and neither is the last of the process.
func TestFaultsOfEndedThreads(t *testing.T) {
	w := startWork(t, "threads", "100", "300") // 100 pages each
	source := openOrSkip(t, faultGroup(), w.pid())
	s := newSums(t)
	s.read(source)
	w.start()
	minor, _, _ := w.counted()
	w.end()
	s.read(source) // the process is gone
	if got := s.of(minorName); got < minor || got < 300*100 {
		t.Errorf("%d faults; getrusage has %d", got, minor)
	}
	threads := 0
	for thread, n := range s.grown[s.id(minorName)] {
		if n >= 100 && thread != int32(w.pid()) {
			threads++
		}
	}
	if threads != 300 {
		t.Errorf("%d threads had 100 faults or more, want 300", threads)
	}
	counts := source.(*faults).counts
	if used := counts.state[stateNext/8]; used > 310 {
		t.Errorf("%d slots were used", used)
	}
	checkRegions(s)
}

// Slots of ended threads are used again.
func TestFaultSlotsAreReused(t *testing.T) {
	w := startWork(t, "threads", "10", "40")
	source := openOrSkip(t, faultGroup(), w.pid())
	counts := source.(*faults).counts
	s := newSums(t)
	s.read(source)
	w.start()
	w.counted()
	for range 3 {
		s.read(source)
	}
	before := counts.state[stateNext/8]
	if before < 40 {
		t.Fatalf("%d slots for 40 threads", before)
	}
	var free uint32
	if err := counts.collection.Maps[mapFree].LookupAndDelete(nil, &free); err != nil || free == 0 || uint64(free) >= before {
		t.Errorf("no slot is free after 40 threads ended: %d, %v", free, err)
	}
}
