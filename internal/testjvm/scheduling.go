package testjvm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// The numbers of the states in which a thread is on a CPU, or not observed.
const (
	stateUnknown = 0
	stateRunning = 1
)

// SwitchNs is what a switch takes at most, on average, that the kernel charges a
// thread with and perf's counters of the thread do not show: 4 to 10 µs were seen.
const SwitchNs = 15e3

// stay is a row of sched/slices-N.parquet (docs/scheduling.md).
type stay struct {
	Thread uint32 `parquet:"thread"`
	State  uint32 `parquet:"state"`
	FromNs int64  `parquet:"from_ns"`
	Ns     int64  `parquet:"ns"`
}

// life is a row of sched/threads-N.parquet; the last one of a thread counts.
type life struct {
	Thread      uint32 `parquet:"thread"`
	Name        string `parquet:"name"`
	FirstNs     int64  `parquet:"first_ns"`
	LastNs      int64  `parquet:"last_ns"`
	Voluntary   uint64 `parquet:"voluntary"`
	Involuntary uint64 `parquet:"involuntary"`
	CPUNs       *int64 `parquet:"cpu_ns"`
}

// account is what record.json says of the record and the kernel's account of the
// process, between the same two moments.
type account struct {
	CPUNs     int64 `json:"cpu_ns"`
	RunningNs int64 `json:"running_ns"`
	BehindNs  int64 `json:"behind_ns"`
}

// usage is usage.json, the kernel's account of the process.
type usage struct {
	UserNs   int64 `json:"user_ns"`
	SystemNs int64 `json:"system_ns"`
}

// schedule is a session's scheduling record, read here from its files: by nothing
// that the figures under test are made with.
type schedule struct {
	dir     string
	perf    bool // its source
	stays   []stay
	lives   map[uint32]life
	account *account // nil: there were no two moments
}

// checkScheduling holds the scheduling record of every session of a run to what
// must be true of any program: each thread is in one state at each moment, the
// bottle's heights add up to the time in which any thread ran, its areas to
// the times of the threads, these to the kernel's account of its CPU time, and a
// speedup stack to its number of threads. The verbs run for one test in four outside the full run.
func (p Profile) checkScheduling(t testing.TB) {
	t.Helper()
	for _, s := range p.schedules(t) {
		s.checkLives(t)
		s.checkAccount(t, p.Stolen)
		if inTurn(t, 4) == 0 {
			s.checkBottle(t, p)
			s.checkStack(t, p)
		}
	}
}

// CheckKernel holds the whole record's time on CPUs against what the process was
// charged in all. By perf the stretch after the last look at its clock is not
// estimated as exactly.
func (p Profile) CheckKernel(t testing.TB, c Checker) {
	t.Helper()
	for _, s := range p.schedules(t) {
		s.checkKernel(t, c)
	}
}

// schedules are the records of the run's sessions.
func (p Profile) schedules(t testing.TB) (all []*schedule) {
	t.Helper()
	for _, pattern := range []string{"sched", "*/sched"} {
		folders, err := filepath.Glob(filepath.Join(p.Dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			if s := readSchedule(t, folder); s != nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// readSchedule reads a record; nil where there is none, which must have a reason.
func readSchedule(t testing.TB, folder string) *schedule {
	t.Helper()
	var head struct {
		Source       string            `json:"source"`
		Complete     bool              `json:"complete"`
		NotAvailable map[string]string `json:"not_available"`
		Account      *account          `json:"account"`
	}
	if !readJSON(t, filepath.Join(folder, "record.json"), &head) {
		t.Errorf("%s has no record.json", folder)
		return nil
	}
	if head.Source == "none" {
		if head.NotAvailable["scheduling record"] == "" {
			t.Errorf("%s: no scheduling record, and no reason", folder)
		}
		return nil
	}
	if !head.Complete {
		t.Errorf("%s: the record did not end cleanly", folder)
	}
	s := &schedule{dir: filepath.Dir(folder), perf: head.Source == "perf", account: head.Account, lives: map[uint32]life{}}
	for _, l := range readParts[life](t, folder, "threads-*.parquet") {
		s.lives[l.Thread] = l
	}
	s.stays = readParts[stay](t, folder, "slices-*.parquet")
	return s
}

// readJSON reads a file; false where there is none.
func readJSON(t testing.TB, path string, into any) bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return true
}

func readParts[T any](t testing.TB, folder, pattern string) (all []T) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		rows, err := parquet.ReadFile[T](name)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, rows...)
	}
	return all
}

// checkLives: a thread's stays follow on each other from its first to its last
// moment.
func (s *schedule) checkLives(t testing.TB) {
	t.Helper()
	byThread := map[uint32][]stay{}
	for _, x := range s.stays {
		byThread[x.Thread] = append(byThread[x.Thread], x)
	}
	for thread, l := range s.lives {
		at := l.FirstNs
		for _, x := range byThread[thread] {
			if x.FromNs != at || x.Ns <= 0 {
				t.Errorf("%s: thread %d (%s) is in a state from %d for %d ns, the stay before ended at %d", s.dir, thread, l.Name, x.FromNs, x.Ns, at)
				break
			}
			at += x.Ns
		}
		if at != l.LastNs {
			t.Errorf("%s: the stays of thread %d (%s) end at %d, the thread at %d", s.dir, thread, l.Name, at, l.LastNs)
		}
	}
}

// sum is the time of all threads in a state.
func (s *schedule) sum(state uint32) (ns int64) {
	for _, x := range s.stays {
		if x.State == state {
			ns += x.Ns
		}
	}
	return ns
}

// busy is the time in which at least one thread was running.
func (s *schedule) busy() (ns int64) {
	running := slices.DeleteFunc(slices.Clone(s.stays), func(x stay) bool { return x.State != stateRunning })
	slices.SortFunc(running, func(a, b stay) int { return int(a.FromNs - b.FromNs) })
	end := int64(math.MinInt64)
	for _, x := range running {
		if to := x.FromNs + x.Ns; to > end {
			ns += to - max(x.FromNs, end)
			end = to
		}
	}
	return ns
}

// checkBottle holds `shadow bottle` against the stays.
func (s *schedule) checkBottle(t testing.TB, p Profile) {
	t.Helper()
	var g struct {
		Threads []struct {
			HeightNs  float64 `json:"height_ns"`
			RunningNs int64   `json:"running_ns"`
		} `json:"threads"`
		BusyNs int64 `json:"busy_ns"`
	}
	p.decode(t, &g, "bottle", s.dir, "--format", "json")
	height, area := 0.0, int64(0)
	for _, b := range g.Threads {
		height, area = height+b.HeightNs, area+b.RunningNs
	}
	if busy := s.busy(); g.BusyNs != busy || math.Abs(height-float64(busy)) > 1 {
		t.Errorf("%s: some thread was running for %d ns; the bottle says %d, its heights add up to %.1f", s.dir, busy, g.BusyNs, height)
	}
	if running := s.sum(stateRunning); area != running {
		t.Errorf("%s: the threads were running for %d ns, the bottle's areas add up to %d", s.dir, running, area)
	}
}

// checkAccount compares the areas with the kernel's clock of the process, and by eBPF
// each thread's area with the kernel's account of the thread: within 1 %, on any
// machine, as the kernel's account of the same threads has no noise. Allowed beside
// that are: what the machine took while the clock was read; the ticks at which the
// clock is updated; the time that reading it takes; what a thread does after the
// kernel has added its time to the process; and the first switch on a CPU.
func (s *schedule) checkAccount(t testing.TB, stolen time.Duration) {
	t.Helper()
	const reading, afterEnd, aSwitch = 300e3, 20e3, 200e3
	if a := s.account; a != nil {
		slack := float64(a.CPUNs)/100 + float64(a.BehindNs) + float64(stolen) + reading + afterEnd*float64(len(s.lives))
		if off := float64(a.RunningNs - a.CPUNs); math.Abs(off) > slack {
			t.Errorf("%s: areas add up to %.2f ms, the kernel's account between the same moments is %.2f ms", s.dir, float64(a.RunningNs)/1e6, float64(a.CPUNs)/1e6)
		}
	}
	running, unknown := map[uint32]int64{}, map[uint32]bool{}
	for _, x := range s.stays {
		switch x.State {
		case stateRunning:
			running[x.Thread] += x.Ns
		case stateUnknown:
			unknown[x.Thread] = true
		}
	}
	for thread, l := range s.lives {
		if l.CPUNs == nil || unknown[thread] {
			continue
		}
		off, slack := float64(running[thread]-*l.CPUNs), float64(*l.CPUNs)/100+aSwitch
		if off > 0 { // what interrupts and the hypervisor take while a thread is on its CPU is not in the kernel's account of it
			slack += float64(stolen)
		}
		if math.Abs(off) > slack {
			t.Errorf("%s: %s was running for %.3f ms, the kernel's account of it is %.3f ms (%d + %d switches)",
				s.dir, l.Name, float64(running[thread])/1e6, float64(*l.CPUNs)/1e6, l.Voluntary, l.Involuntary)
		}
	}
}

// checkKernel holds the areas against what wait4 reports of the process: all of it,
// from the fork that made it, where perf does not look yet, to the end, when the
// kernel gives back the process's memory: since Linux 6.16 perf is gone by then, and
// for a JVM that takes 20 ms. What was not observed cannot be compared.
func (s *schedule) checkKernel(t testing.TB, c Checker) {
	t.Helper()
	const begins, ends = 5e6, 40e6
	var u usage
	if !readJSON(t, filepath.Join(s.dir, "usage.json"), &u) || s.sum(stateUnknown) > 0 {
		return
	}
	kernel, area := float64(u.UserNs+u.SystemNs), float64(s.sum(stateRunning))
	slack, unseen := 0.01*kernel+begins, 0.0
	if s.perf {
		unseen = ends
	}
	if area < kernel-slack-unseen || area > kernel+slack {
		c.Errorf("%s: areas add up to %.2f ms, the kernel's account of the process is %.2f ms", s.dir, area/1e6, kernel/1e6)
	}
}

// checkStack holds the bar of the session against itself to its sum.
func (s *schedule) checkStack(t testing.TB, p Profile) {
	t.Helper()
	const n = 3
	var all struct {
		Bars []struct {
			Speedup    float64            `json:"speedup"`
			Components map[string]float64 `json:"components"`
			Rest       map[string]float64 `json:"rest"`
		} `json:"bars"`
	}
	p.decode(t, &all, "stack", s.dir, s.dir, "--threads", fmt.Sprint(n), "--format", "json")
	if len(all.Bars) != 1 {
		t.Fatalf("%s: %d bars of one run", s.dir, len(all.Bars))
	}
	b := all.Bars[0]
	sum, parts := b.Speedup, 0.0
	for _, v := range b.Components {
		sum += v
	}
	for _, v := range b.Rest {
		parts += v
	}
	if math.Abs(sum-n) > 1e-9 || math.Abs(parts-b.Components["rest"]) > 1e-9 {
		t.Errorf("%s: the bar of %d threads adds up to %v, the rest of %v to %v", s.dir, n, sum, b.Components["rest"], parts)
	}
}
