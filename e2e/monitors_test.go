package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/hpc/monitor"
	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/timeseries"
	"stackagent/shadow/session"
)

// step is a run of testdata/layers: what it did, when, and what the JVM said of its counters before and after.
type step struct {
	begin, end    int64 // CLOCK_MONOTONIC
	before, after jvmCounters
	rows          map[string][]monitor.Row
	ticks         []int64
	head          *monitor.Head
	dir           string
}

// jvmCounters are the JVM's own counters, read by jcmd between two moments.
type jvmCounters struct {
	from, to int64
	values   map[string]int64
}

func monotonicNow(t *testing.T) int64 {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return now.Nano()
}

var perfCounter = regexp.MustCompile(`(?m)^([\w.]+)=(-?\d+)$`)

func jcmdCounters(t *testing.T, jdk testjvm.JDK, pid string) jvmCounters {
	t.Helper()
	c := jvmCounters{from: monotonicNow(t), values: map[string]int64{}}
	out, err := exec.Command(jdk.Tool("jcmd"), pid, "PerfCounter.print").Output()
	if err != nil {
		t.Fatalf("jcmd: %v: %s", err, out)
	}
	c.to = monotonicNow(t)
	for _, m := range perfCounter.FindAllStringSubmatch(string(out), -1) {
		c.values[m[1]], err = strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(c.values) < 100 {
		t.Fatalf("jcmd prints %d counters", len(c.values))
	}
	return c
}

// steps runs the program and asks jcmd before and after its step.
func steps(t *testing.T, jdk testjvm.JDK, monitors string, more ...string) *step {
	t.Helper()
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "layers"))
	dir := filepath.Join(t.TempDir(), "s")
	line := append([]string{"run", "-q", "-o", dir, "--monitors", monitors}, more...)
	// The heap keeps its size: G1 gives memory back, by mapping it anew, some time after the collection of the step.
	cmd := exec.Command(testjvm.Shadow(t), append(line, "--", jdk.Tool("java"), "-Xms256m", "-Xmx256m", "-cp", classes, "Main")...)
	cmd.Env = append(os.Environ(), "MALLOC_ARENA_MAX=1") // else glibc maps 64 or 128 MiB when one more thread of the JVM allocates
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }() // where a check fails
	lines := bufio.NewScanner(out)
	next := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the program ended: %s", errs.String())
		}
		return lines.Text()
	}
	s := &step{rows: map[string][]monitor.Row{}, dir: dir}
	pid := next()
	s.before = jcmdCounters(t, jdk, pid)
	fmt.Fprint(in, "\n")
	if _, err := fmt.Sscan(next(), &s.begin, &s.end); err != nil {
		t.Fatal(err)
	}
	s.after = jcmdCounters(t, jdk, pid)
	fmt.Fprint(in, "\n\n")
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("shadow run: %v: %s", err, errs.String())
	}
	r, err := monitor.Open(dir)
	if err != nil || r == nil {
		t.Fatalf("samples: %v, %v", r, err)
	}
	s.head = r.Head()
	err = r.Each(func(row *monitor.Row) error {
		if row.Monitor == monitor.TickMonitor {
			s.ticks = append(s.ticks, row.AtNs)
		} else {
			s.rows[row.Monitor] = append(s.rows[row.Monitor], *row)
		}
		return nil
	})
	if err != nil || len(r.Damage()) > 0 {
		t.Fatal(err, r.Damage())
	}
	return s
}

// grown is what a counter grew in the samples whose whole interval lies in from..to, and in those that overlap it.
func (s *step) grown(name string, from, to int64) (inside, around float64) {
	before := map[int64]int64{}
	for i := 1; i < len(s.ticks); i++ {
		before[s.ticks[i]] = s.ticks[i-1]
	}
	for _, row := range s.rows[name] {
		if row.AtNs > from && before[row.AtNs] < to {
			around += row.Value
		}
		if before[row.AtNs] >= from && row.AtNs <= to {
			inside += row.Value
		}
	}
	return inside, around
}

// TestJVMCounters: what the samples say of the JVM's counters is what jcmd says: the growth between two of its listings is
// at least that of the samples between them, and at most that of the samples around them.
func TestJVMCounters(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			s := steps(t, jdk, "jvm")
			compared, grown := 0, 0
			for _, d := range s.head.Monitors {
				counter, ok := strings.CutPrefix(d.Source, "hsperfdata ")
				before, had := s.before.values[counter]
				after, has := s.after.values[counter]
				if !ok || d.Kind != monitor.Counter || !had || !has {
					continue
				}
				compared++
				want := float64(after - before)
				if want > 0 {
					grown++
				}
				inside, _ := s.grown(d.Name, s.before.to, s.after.from)
				_, around := s.grown(d.Name, s.before.from, s.after.to)
				if want < inside || want > around {
					t.Errorf("%s: jcmd says that it grew by %.0f, the samples say %.0f to %.0f", counter, want, inside, around)
				}
			}
			if compared < 40 || grown < 10 {
				t.Errorf("only %d counters were compared, %d of them grew; not available: %v", compared, grown, s.head.NotAvailable)
			}
			if missed := s.head.Missed; missed > s.head.Samples {
				t.Errorf("%d samples were missed, %d taken", missed, s.head.Samples)
			}
		})
	}
}

// stepped are monitors of all layers that the program's step moves, with the least growth in it.
var stepped = map[string]float64{
	"app.tasks.finished": 200,
	"vm.gc.pauses":       4,
	"vm.safepoint.count": 4,
	"vm.threads.started": 5,
	"vm.classes.loaded":  1,
	"native.mmap_bytes":  64 << 20,
	"native.fsync.calls": 1,
	"os.minor_faults":    64 << 20 / 4096 / 2, // pages, less what huge pages take together
	"native.write.calls": 300,
}

// TestOneClock: what a step of a few milliseconds does in all layers lands in the samples of that step, and nowhere else.
func TestOneClock(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			s := steps(t, jdk, "all", "--samples=false") // a thread of the agent that looks at others maps memory of its own
			open, err := session.Open(s.dir)
			if err != nil {
				t.Fatal(err)
			}
			table, err := timeseries.Load(open, timeseries.Options{})
			if err != nil {
				t.Fatal(err)
			}
			quiet := units.MonoNs(200_000_000) // on each side of the step the program sleeps longer
			for name, least := range stepped {
				in, beside := 0.0, 0.0
				for i := range table.Series {
					base, _, labelled := strings.Cut(table.Series[i].Name, "{")
					if base != name || labelled && name != "native.write.calls" {
						continue
					}
					for k, v := range table.Series[i].Values {
						from, to := table.Edges[k], table.Edges[k+1]
						switch {
						case to > units.MonoNs(s.begin) && from < units.MonoNs(s.end):
							in += v
						case to > units.MonoNs(s.begin)-quiet && from < units.MonoNs(s.end)+quiet:
							beside += v
						}
					}
				}
				t.Logf("%s: %.0f in the samples of the step, %.0f around", name, in, beside)
				if in < least || beside > 0.05*in+3 {
					t.Errorf("%s grew by %.0f in the samples of the step and by %.0f in those around it, want %.0f and next to nothing", name, in, beside, least)
				}
			}
		})
	}
}

// TestFlightRecorder: the collections that the JVM's flight recorder has are those that the agent saw, at the same time.
func TestFlightRecorder(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			s := steps(t, jdk, "jvm", "--jfr", "jdk.GarbageCollection,jdk.ThreadStart")
			open, err := session.Open(s.dir)
			if err != nil {
				t.Fatal(err)
			}
			table, err := timeseries.Load(open, timeseries.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sums := map[string]float64{}
			for i := range table.Series {
				x := &table.Series[i]
				for k, v := range x.Values {
					const slack = units.MonoNs(5_000_000) // of the wall clock
					if table.Edges[k+1] > units.MonoNs(s.begin)-slack && table.Edges[k] < units.MonoNs(s.end)+slack {
						sums[x.Name] += v
					}
				}
			}
			if got, want := sums[`vm.jfr.events{type="jdk.GarbageCollection"}`], sums["vm.gc.pauses"]; got != want || got < 4 {
				t.Errorf("%.0f collections in the recording, %.0f pauses in the session", got, want)
			}
			if got := sums[`vm.jfr.events{type="jdk.ThreadStart"}`]; got < 5 {
				t.Errorf("%.0f thread starts in the recording, want at least 5", got)
			}
		})
	}
}
