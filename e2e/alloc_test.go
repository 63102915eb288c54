package e2e_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Bytes allocated by every single task against com.sun.management's
// getThreadAllocatedBytes, asked by the task itself as its first and last act,
// with collections closing the threads' buffers meanwhile. Between the probe's
// reading and the task's own the JVM may allocate when it links the first call
// of its kind, and nothing else: two in a run at most.
func TestAllocatedPerTask(t *testing.T) {
	testjvm.Shared(t)
	const threads, tasks = 2, 2000
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "own")
			cmd := testjvm.Example(t, "alloc").Command(t, jdk)
			cmd.Args = []string{strconv.Itoa(threads), strconv.Itoa(tasks), file}
			cmd.VM = append(cmd.VM, "-Xmx64m")
			cmd.Agent = []string{"--metric", "wall+cpu+alloc", "--detail", "all"}
			p := cmd.Profile(t)
			if s := p.Stats(t); s.GC.Pauses < 5 {
				t.Errorf("%d collections; the test wants at least 5", s.GC.Pauses)
			}
			rows := p.Tasks(t)
			own := ownAllocations(t, file)
			if len(own) != threads*tasks {
				t.Fatalf("the program printed %d tasks, want %d", len(own), threads*tasks)
			}
			compareAllocations(t, rows, own)
			compareSampled(t, p.Dir, own)
			if jdk.Version >= 21 {
				checkHoppers(t, rows)
			}
		})
	}
}

// compareSampled compares what sampled objects stand for with the program's own account, within four standard errors of the estimate.
func compareSampled(t *testing.T, dir string, own map[[2]int]allocation) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Allocations()
	if err != nil {
		t.Fatal(err)
	}
	var samples, sampled, all int64
	for _, x := range list {
		if c := s.ClassByID(x.Class); c != nil && (c.Name == "Main$Job" || c.Name == "Main$Inner") {
			samples, sampled = samples+x.Samples, sampled+x.Bytes
			if x.Site == nil || !strings.HasPrefix(x.Site.Class, "Main") || x.Site.Line == 0 {
				t.Errorf("%d samples in %s are at %+v, not at a line of the program", x.Samples, c.Name, x.Site)
			}
		}
	}
	for _, x := range own {
		all += x.total
	}
	if samples < 20 {
		t.Fatalf("%d samples of %s, want one in 2 MB", samples, units.FormatBytes(all))
	}
	if off := float64(sampled)/float64(all) - 1; math.Abs(off) > 4/math.Sqrt(float64(samples)) {
		t.Errorf("%d samples stand for %s; the tasks allocated %s: %+.1f %%", samples, units.FormatBytes(sampled), units.FormatBytes(all), 100*off)
	}
	t.Logf("%d samples stand for %s of %s", samples, units.FormatBytes(sampled), units.FormatBytes(all))
}

// allocation is of one task: all, and what was not in the task inside it.
type allocation struct{ total, self int64 }

// ownAllocations are the program's own figures by thread and task.
func ownAllocations(t *testing.T, file string) map[[2]int]allocation {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	own := map[[2]int]allocation{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var thread, task int
		var total, nested int64
		if _, err := fmt.Sscan(lines.Text(), &thread, &task, &total, &nested); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		own[[2]int{thread, task}] = allocation{total, total - nested}
	}
	return own
}

func compareAllocations(t *testing.T, rows []map[string]string, own map[[2]int]allocation) {
	t.Helper()
	type execution struct {
		start int64
		allocation
	}
	measured := map[string][]execution{}
	for _, row := range rows {
		if row["class"] == "Main$Job" {
			name, _, _ := cutLast(row["thread"], "#")
			measured[name] = append(measured[name], execution{number(t, row, "start_ns"),
				allocation{number(t, row, "alloc_bytes"), number(t, row, "self_alloc_bytes")}})
		}
	}
	for _, list := range measured {
		slices.SortFunc(list, func(a, b execution) int { return cmp.Compare(a.start, b.start) })
	}
	different := 0
	for at, want := range own {
		list := measured["alloc-"+strconv.Itoa(at[0])]
		if at[1] >= len(list) {
			t.Fatalf("thread %d has %d executions in the trace, want task %d", at[0], len(list), at[1])
		}
		got := list[at[1]].allocation
		if got == want {
			continue
		}
		different++
		if over := got.total - want.total; over < 0 || over > 4096 {
			t.Errorf("thread %d, task %d: %d bytes, the JVM gave the task %d", at[0], at[1], got.total, want.total)
		}
	}
	t.Logf("%d of %d tasks differ", different, len(own))
	if different > 2 {
		t.Errorf("%d of %d tasks differ from what the JVM gave them, want at most 2", different, len(own))
	}
}

// checkHoppers: a virtual thread has allocated what it allocated on all its
// carriers; on top of it the JVM keeps its stack on the heap while it is off.
func checkHoppers(t *testing.T, rows []map[string]string) {
	t.Helper()
	const own, most = 20*(10_000+16) + 1<<20 + 16, 20_000
	n := 0
	for _, row := range rows {
		if row["class"] != "Main$Hopper" {
			continue
		}
		n++
		if got := number(t, row, "alloc_bytes"); got < own || got > own+most {
			t.Errorf("a task on a virtual thread allocated %d bytes, want %d to %d", got, own, own+most)
		}
	}
	if n != 50 {
		t.Errorf("%d tasks on virtual threads, want 50", n)
	}
}
