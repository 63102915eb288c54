package e2e_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"stackagent/internal/testjvm"
)

// TestBytecodesAreOfTheProgram: the instructions of a task are a property of the
// program. Runs of the same program, in one thread, and in 2, 4 and 8,
// give each task the same number: inclusive, and without the task inside it.
// The very first task is excluded: in it the JDK initialises classes and links the
// call site of a string concatenation, which depends on random identity hashes.
func TestBytecodesAreOfTheProgram(t *testing.T) {
	testjvm.Shared(t)
	const tasks = 200 // and the one that comes before the pool
	for _, jdk := range testjvm.JDKsInTurn(t) {
		runs := 2 // each is a start of everything
		if full() {
			runs = 10
		}
		threads := append(slices.Repeat([]int{1}, runs), 2, 4, 8)
		t.Run(jdk.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, jdk, filepath.Join("testdata", "bytecodes", "tasks"))
			var want []string
			for _, n := range threads {
				cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{strconv.Itoa(n), strconv.Itoa(tasks)},
					Agent: []string{"--metric", "wall+bytecodes", "--detail", "all", "--switches", "off"}}
				p := cmd.Session(t)
				got := jobInstructions(t, p.Tasks(t))
				if len(got) != 1+tasks {
					t.Fatalf("%d executions, want %d\n%s", len(got), 1+tasks, p.Stderr)
				}
				got = got[1:]
				if want == nil {
					want = got
					checkSizes(t, got)
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%d threads, task %d: %s instructions; in the first run %s", n, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// jobInstructions lists the instructions of the program's jobs, with and without
// what is inside them, in the order in which the jobs were made.
func jobInstructions(t *testing.T, rows []map[string]string) []string {
	t.Helper()
	jobs := slices.DeleteFunc(rows, func(row map[string]string) bool { return row["class"] != "Main$Job" })
	slices.SortFunc(jobs, func(a, b map[string]string) int {
		return cmp.Compare(number(t, a, "created_ns"), number(t, b, "created_ns"))
	})
	var out []string
	for _, row := range jobs {
		all, self := number(t, row, "bytecodes"), number(t, row, "self_bytecodes")
		if all <= self || self <= 0 {
			t.Errorf("%d instructions, %d of its own", all, self)
		}
		out = append(out, fmt.Sprintf("%d (%d)", all, self))
	}
	return out
}

// checkSizes: tasks of one size have one number, and the ten sizes ten.
func checkSizes(t *testing.T, jobs []string) {
	t.Helper()
	sizes := map[string]bool{}
	for i, n := range jobs {
		if n != jobs[i%10] {
			t.Errorf("task %d: %s instructions, another of its size %s", i, n, jobs[i%10])
		}
		sizes[n] = true
	}
	if len(sizes) != 10 {
		t.Errorf("%d different numbers, want 10", len(sizes))
	}
}
