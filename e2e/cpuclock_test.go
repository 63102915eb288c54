package e2e_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"stackagent/hpc"
	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// CPU and wall time of every single task against CLOCK_THREAD_CPUTIME_ID and
// CLOCK_MONOTONIC, read by the task itself as its first and last act, with 1, 2
// and 8 busy threads. What the probes see must contain what the task saw; the
// rest is the second reading of the task's own clock, a system call, and the way
// to it.
func TestTimesPerTask(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, threads := range []int{1, 2, 8} {
			t.Run(fmt.Sprintf("%s/%d", jdk, threads), func(t *testing.T) {
				compareTimes(t, testjvm.Example(t, "cpuclock").Command(t, jdk), threads)
			})
		}
	}
}

// The same bounds hold where the kernel refuses perf_event_open, as every default seccomp profile does: by the area for
// restartable sequences, and without that by system calls.
func TestTimesWithoutPerf(t *testing.T) {
	testjvm.Shared(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for clock, tunables := range map[string]string{"rseq": "", "clock_gettime": "glibc.pthread.rseq=0"} {
			t.Run(jdk.String()+"/"+clock, func(t *testing.T) {
				cmd := testjvm.Example(t, "cpuclock").Command(t, jdk)
				cmd.Wrap = []string{self}
				cmd.Env = append(cmd.Env, testjvm.RefusedVariable+"=1", "GLIBC_TUNABLES="+tunables)
				used := compareTimes(t, cmd, 2)
				if used != clock && !(clock == "rseq" && used == "clock_gettime" && !rseqTellsSwitches(t)) {
					t.Errorf("CPU time was read by %s, want %s", used, clock)
				}
			})
		}
	}
}

// rseqTellsSwitches is shadow doctor's answer for this machine.
func rseqTellsSwitches(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command(testjvm.Shadow(t), "doctor").Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^` + hpc.RseqFacility + ` +yes `).Match(out)
}

// compareTimes gives the clock by which CPU time was read.
func compareTimes(t *testing.T, cmd testjvm.Command, threads int) (clock string) {
	t.Helper()
	const tasks = 280 // 20 of each size
	file := filepath.Join(t.TempDir(), "own")
	cmd.Args = []string{strconv.Itoa(threads), strconv.Itoa(tasks), file}
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		r := ownTimes(t, file, cmd, threads)
		cpu, wall := timeErrors(t, r, threads)
		reportErrors(t, a, "CPU", cpu, threads*tasks)
		reportErrors(t, a, "wall", wall, threads*tasks)
		s, err := session.Open(r.profile.Dir)
		if err != nil {
			t.Fatal(err)
		}
		clock = s.Manifest.JVM.CPUClock
	})
	return clock
}

// times are of one task, in ns.
type times struct{ cpu, wall int64 }

// run holds a profile and, by thread and task, what the tasks measured.
type run struct {
	profile testjvm.Profile
	own     [][]times
}

func ownTimes(t *testing.T, file string, cmd testjvm.Command, threads int) run {
	t.Helper()
	r := run{profile: cmd.Profile(t), own: make([][]times, threads)}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var thread, task int
		var ns times
		if _, err := fmt.Sscan(lines.Text(), &thread, &task, &ns.cpu, &ns.wall); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		r.own[thread] = append(r.own[thread], ns)
	}
	return r
}

// timeErrors are measured minus own for each task, sorted, in ns.
func timeErrors(t *testing.T, r run, threads int) (cpu, wall []int64) {
	t.Helper()
	type execution struct {
		start int64
		times
	}
	measured := map[string][]execution{}
	for _, row := range r.profile.Tasks(t) {
		if row["class"] != "Main$Job" {
			continue
		}
		name, _, _ := cutLast(row["thread"], "#")
		measured[name] = append(measured[name], execution{number(t, row, "start_ns"), times{number(t, row, "cpu_ns"), number(t, row, "wall_ns")}})
	}
	for i := range threads {
		list := measured["busy-"+strconv.Itoa(i)]
		slices.SortFunc(list, func(a, b execution) int { return cmp.Compare(a.start, b.start) })
		if len(list) != len(r.own[i]) {
			t.Fatalf("thread %d: %d executions in the trace, %d tasks", i, len(list), len(r.own[i]))
		}
		for k, e := range list {
			cpu, wall = append(cpu, e.cpu-r.own[i][k].cpu), append(wall, e.wall-r.own[i][k].wall)
		}
	}
	slices.Sort(cpu)
	slices.Sort(wall)
	return cpu, wall
}

func cutLast(s, sep string) (before, after string, found bool) {
	for i := len(s) - len(sep); i >= 0; i-- {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// reportErrors prints the distribution and bounds it: the tail holds the
// interrupts and first calls that fall between the probe and the task's own
// reading, so it is bounded loosely, the middle closely.
func reportErrors(t *testing.T, a *testjvm.Attempt, what string, errors []int64, want int) {
	t.Helper()
	if len(errors) != want {
		t.Fatalf("%d tasks compared, want %d", len(errors), want)
	}
	at := func(permille int) int64 { return errors[(len(errors)-1)*permille/1000] }
	t.Logf("measured - own %s time, ns: min %d, p1 %d, p5 %d, p50 %d, p95 %d, p99 %d, max %d",
		what, at(0), at(10), at(50), at(500), at(950), at(990), at(1000))
	if at(10) < -2000 || at(500) < 0 || at(500) > 5000 || at(950) > 50_000 {
		a.Errorf("%s: p1 %d, p50 %d, p95 %d; want at least -2000, 0 to 5000, at most 50000", what, at(10), at(500), at(950))
	}
}

// Tasks that compute until they have used 50 µs by their own clock: the profile has no less for any of them, but for those
// that it marks as estimated, alone and with more threads than CPUs.
func TestCPUOfShortTasks(t *testing.T) {
	testjvm.Shared(t)
	const tasks, spin, allowed = 2000, 50_000, 2500
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, threads := range []int{1, 8} {
			t.Run(fmt.Sprintf("%s/%d", jdk, threads), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "own")
				cmd := testjvm.Example(t, "cpuclock").Command(t, jdk)
				cmd.Args = []string{strconv.Itoa(threads), strconv.Itoa(tasks), file, strconv.Itoa(spin)}
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					r := ownTimes(t, file, cmd, threads)
					short, estimated, all := 0, 0, 0
					for _, row := range r.profile.Tasks(t) {
						if row["class"] != "Main$Job" {
							continue
						}
						all++
						switch cpu := number(t, row, "cpu_ns"); {
						case row["cpu_estimated"] == "true":
							estimated++
						case row["cpu_estimated"] != "false":
							t.Fatalf("cpu_estimated is %q", row["cpu_estimated"])
						case cpu < spin-allowed:
							short++
						}
					}
					t.Logf("%d tasks, %d estimated", all, estimated)
					if all != threads*tasks {
						t.Fatalf("%d tasks, want %d", all, threads*tasks)
					}
					if short > 0 || estimated > all/4 {
						a.Errorf("%d of %d tasks have less CPU time than they used, %d are estimated", short, all, estimated)
					}
				})
			})
		}
	}
}
