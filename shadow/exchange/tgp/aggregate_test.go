package tgp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The traces below are drawn by hand, and so are the answers: a line per row,
// "id<outer work [flags] @from-to", flags t: a thread, s: submitted, f: created
// by another thread, x: never executed, 2: runs on thread 2.
func draw(t *testing.T, lines string) *Trace {
	t.Helper()
	tr := &Trace{Classes: []string{"C"}, Threads: []Thread{{1, "java.lang.Thread", "a"}, {2, "java.lang.Thread", "b"}}, Executors: []Executor{{9, "E"}}}
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		x := Task{Execution: 1, Executor: None}
		var flags string
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "%d<%d %d %s @%d-%d", &x.ID, &x.Outer, &x.Granularity, &flags, &x.Entry, &x.Exit); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, f := range flags {
			switch f {
			case 't':
				x.Flags |= IsThread
			case 's':
				x.Executor = 0
			case 'f':
				x.Creator = 1
			case '2':
				x.Runner, x.Creator = 1, 1-x.Creator
			case 'x':
				x = Task{ID: x.ID, Outer: None, Entry: None, Exit: None, Granularity: x.Granularity, Runner: None, Executor: None}
			}
		}
		tr.Tasks = append(tr.Tasks, x)
	}
	return tr
}

// TestAggregate: each pattern with the tasks that must be left, as "id=work".
func TestAggregate(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{"nothing nested", `1<0 10 - @0-9
			2<0 20 - @10-19`, "1=10 2=20"},
		{"one in one", `2<1 5 - @2-4
			1<0 10 - @0-9`, "1=15"},
		{"chain of five", `5<4 1 - @4-5
			4<3 2 - @3-6
			3<2 4 - @2-7
			2<1 8 - @1-8
			1<0 16 - @0-9`, "1=31"},
		{"several in one", `2<1 1 - @1-2
			3<1 2 - @3-4
			4<1 4 - @5-6
			1<0 8 - @0-9`, "1=15"},
		{"a tree", `4<2 1 - @2-3
			5<2 2 - @4-5
			2<1 4 - @1-6
			3<1 8 - @7-8
			1<0 16 - @0-9`, "1=31"},
		{"in a thread, its own", `2<1 5 - @1-2
			1<0 10 t @0-9`, "1=15"},
		{"in a thread, submitted", `2<1 5 s @1-2
			1<0 10 t @0-9`, "2=5 1=10"},
		{"in a thread, created elsewhere", `2<1 5 f @1-2
			1<0 10 t @0-9`, "2=5 1=10"},
		{"in a task, submitted and created elsewhere", `2<1 5 sf @1-2
			1<0 10 - @0-9`, "1=15"},
		{"a thread in a thread", `2<1 5 t @1-2
			1<0 10 t @0-9`, "1=15"},
		{"chain cut in its middle by a thread", `4<3 1 - @3-4
			3<2 2 s @2-5
			2<1 4 t @1-6
			1<0 8 - @0-9`, "3=3 1=12"},
		{"outer missing", `2<7 5 - @1-2
			3<2 1 - @1-1`, "2=6"},
		{"never executed", `1<0 10 - @0-9
			2<0 0 x @0-0`, "1=10"},
		{"an id for two tasks, each with its own", `2<1 1 - @1-2
			1<0 10 - @0-9
			3<1 2 - @21-22
			1<0 20 - @20-29`, "1=11 1=22"},
		{"a task executed inside its own execution", `1<1 1 - @2-3
			1<0 10 - @0-9`, "1=11"},
		{"an id on two threads at the same time", `2<1 1 2 @1-2
			1<0 10 - @0-9
			1<0 20 2 @0-9`, "1=10 1=21"},
		{"no outer encloses: the last of that id", `2<1 1 - @50-60
			1<0 10 - @0-9
			1<0 20 - @20-29`, "1=10 1=21"},
		{"not measured stays so", `2<1 -1 - @1-2
			1<0 10 - @0-9`, "1=-1"},
		{"outer first", `1<0 10 - @0-9
			2<1 5 - @1-2`, "1=15"},
	} {
		a, err := Aggregate(draw(t, c.trace))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		rows := int64(len(a.Tasks))
		for i, x := range a.Tasks {
			got = append(got, fmt.Sprintf("%d=%d", x.ID, x.Granularity))
			rows += a.Merged[i]
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
		if rows != a.Executions {
			t.Errorf("%s: %d rows merged and left, of %d", c.name, rows, a.Executions)
		}
	}
}

func TestAggregateCircle(t *testing.T) {
	_, err := Aggregate(draw(t, `1<2 1 - @0-9
		2<3 1 - @0-9
		3<1 1 - @0-9`))
	if !errors.Is(err, ErrCycle) {
		t.Errorf("a circle gave %v", err)
	}
}

// TestLongChain: a chain as long as a trace must not need a stack as deep.
func TestLongChain(t *testing.T) {
	const n = 300_000
	tr := &Trace{Classes: []string{"C"}, Threads: []Thread{{1, "", ""}}}
	for i := range int64(n) {
		tr.Tasks = append(tr.Tasks, Task{ID: i + 1, Outer: i, Execution: 1, Entry: i, Exit: 3*n - i, Granularity: 1, Executor: None})
	}
	slices.Reverse(tr.Tasks)
	a, err := Aggregate(tr)
	if err != nil || len(a.Tasks) != 1 || a.Tasks[0].Granularity != n || a.Merged[0] != n-1 {
		t.Errorf("%d tasks, %v", len(a.Tasks), err)
	}
}

func TestOutersMissing(t *testing.T) {
	outer, missing := Outers(draw(t, `2<7 5 - @1-2
		3<2 1 - @1-1`))
	if missing != 1 || outer[0] != None || outer[1] != 0 {
		t.Errorf("outers %v, %d missing", outer, missing)
	}
}
