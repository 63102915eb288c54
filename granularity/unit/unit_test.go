package unit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// A trace is drawn as a list of executions in the order in which they ended,
// "task<outer class:self flags"; wall time is the self time and that of what
// lies directly inside. Classes: upper case letters are tasks, w wraps, b is a
// loop, p a task of the platform, i one that it submits to itself, j a fork/join task, l one of a library that schedules tasks. Flags: h submitted,
// n only inside the submission of something else, u named by the user, t threw, r still running.
func run(t *testing.T, trace string) (got []string, b *Builder) {
	t.Helper()
	loops := map[uint64]bool{}
	var list []Execution
	inside := map[uint64]units.Ns{}
	for _, word := range strings.Split(trace, ",") {
		var e Execution
		var class string
		var self units.Ns
		flags := ""
		if n, err := fmt.Sscanf(strings.TrimSpace(word), "%d<%d %1s:%d %s", &e.Task, &e.Outer, &class, &self, &flags); n < 4 {
			t.Fatalf("%q: %v", word, err)
		}
		e.Class, e.Thread, e.Queue = uint32(class[0]), 1, units.NotMeasured
		switch class {
		case "w":
			e.Role = Wrapper
		case "b":
			e.Role = Loop
			loops[e.Task] = true
		case "p":
			e.Role = Platform
		case "i":
			e.Role = Internal
		case "j":
			e.ForkJoin = true
		case "l":
			e.Role = Library
		}
		e.Inner, e.Named = strings.Contains(flags, "n"), strings.Contains(flags, "u")
		e.Submitted, e.Threw, e.Running = strings.Contains(flags, "h"), strings.Contains(flags, "t"), strings.Contains(flags, "r")
		e.Started = strings.Contains(flags, "s")
		wall := self + inside[e.Task]
		delete(inside, e.Task)
		inside[e.Outer] += wall
		e.Work = Work{granularity.Wall: wall, granularity.CPU: wall, granularity.SelfWall: self, granularity.SelfCPU: self}
		if e.Running {
			for m := range e.Work {
				e.Work[m] = units.NotMeasured
			}
		}
		list = append(list, e)
	}
	b = NewBuilder(func(id uint64) bool { return loops[id] }, 4, func(u *Unit) {
		s := fmt.Sprintf("%c=%d", rune(u.Class), u.Work[granularity.SelfWall])
		if u.Running {
			s = fmt.Sprintf("%c running", rune(u.Class))
		}
		if u.Executions > 1 {
			s += fmt.Sprintf("/%d", u.Executions)
		}
		for _, f := range []struct {
			set  bool
			mark string
		}{{u.Inside, "^"}, {u.Threw, "!"}, {u.Swallowed, "?"}} {
			if f.set {
				s += f.mark
			}
		}
		got = append(got, s)
	})
	for i := range list {
		b.Add(&list[i])
	}
	b.Close()
	for class, own := range b.Own {
		got = append(got, fmt.Sprintf("own %c=%d/%d", rune(class), own.Work[granularity.SelfWall], own.Executions))
	}
	if len(b.open) != 0 {
		t.Errorf("%d executions are still open", len(b.open))
	}
	slices.Sort(got)
	return got, b
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{"one", "1<0 A:5 h", "A=5"},
		{"submit of a callable: future and task are one", "2<1 A:5 h, 1<9 w:1 h, 9<8 b:100, 8<0 b:50", "A=6/2"},
		{"a pool's loop swallows nothing", "2<1 A:5 h, 1<9 w:1 h, 4<3 B:7 h, 3<9 w:1 h, 5<9 C:2 h, 9<8 b:100, 8<0 b:50", "A=6/2 B=8/2 C=2"},
		{"future around an adapter around a runnable", "3<2 A:5 h, 2<1 w:1, 1<9 w:2 h, 9<0 b:1", "A=8/3"},
		{"a wrapper alone bears its own name", "1<9 w:2 h, 9<0 b:1", "w=2"},
		{"nested and not submitted", "2<1 B:5, 3<1 C:1, 1<9 A:2 h, 9<0 b:1", "A=8/3"},
		{"a chain not submitted", "4<3 D:1, 3<2 C:2, 2<1 B:4, 1<0 A:8 h", "A=15/4"},
		{"fork/join: a worker that waits helps", "2<1 j:5 h, 3<1 j:7 h, 1<9 j:2 h, 9<0 b:1", "j=2 j=5^ j=7^"},
		{"fork/join: one helped with", "2<1 j:5 h, 1<9 j:2 h, 9<0 b:1", "j=2 j=5^"},
		{"fork/join: invoked, not forked", "2<1 j:5, 3<1 j:7 h, 1<9 j:2 h, 9<0 b:1", "j=7/2 j=7^"},
		{"caller runs: the task and its future are a unit inside", "3<2 B:5 h, 2<1 w:1 h, 1<9 A:2 h, 9<0 b:1", "A=2 B=6/2^"},
		{"a wrapper with two tasks is none", "2<1 A:5 h, 3<1 B:6 h, 1<9 w:1 h, 9<0 b:1", "A=5^ B=6^ w=1"},
		{"the platform's own", "1<0 p:5, 2<9 p:7, 3<9 A:2, 9<0 b:1", "A=2 own p=12/2"},
		{"submitted, the platform's is a unit", "1<9 p:5 h, 9<0 b:1", "p=5"},
		{"nested in the program's, it belongs to it", "2<1 p:5, 1<9 A:2 h, 9<0 b:1", "A=7/2"},
		{"the program's in the platform's bears its name", "2<1 A:5, 1<0 p:2", "A=7/2"},
		{"and if it was submitted", "3<2 A:5, 2<1 p:2, 1<9 w:1 h, 9<0 b:1", "A=8/3"},
		{"submitted and run by the platform's own", "2<1 A:5 h, 1<0 p:2", "A=5 own p=2/1"},
		{"what the platform submits to itself is no unit: the end of a virtual thread's sleep", "2<1 i:5 h, 1<9 w:1 h, 3<9 i:4 h, 4<9 A:2 h, 9<0 b:1", "A=2 own i=10/3"},
		{"nor is it inside another", "2<1 i:5 h, 3<1 i:6 h, 1<9 A:2 h, 9<0 b:1", "A=2 own i=11/2"},
		{"what it runs for the program is", "3<2 A:5, 2<1 i:1 h, 1<9 w:1 h, 9<0 b:1", "A=7/3"},
		{"the platform's own before its outer one was lost", "2<1 p:5, 3<1 C:7 h", "C=7 own p=5/1"},
		{"a wrapper around a loop is none: the mounts of a virtual thread", "2<1 b:5, 1<9 w:2 h, 9<0 b:1", ""},
		{"but around that and a task it is", "2<1 b:5, 3<1 A:5 h, 1<9 A:2 h, 9<0 b:1", "A=2 A=5^"},
		{"an executor of the program puts its own task around each", "2<1 A:5 h, 1<9 D:2 hn, 9<0 b:1", "A=7/2"},
		{"and a library's around that", "3<2 A:5 h, 2<1 D:2 hn, 1<9 E:1 hn, 9<0 b:1", "A=8/3"},
		{"what runs beside is not the name", "3<1 B:1, 2<1 A:5 h, 1<9 D:2 hn, 9<0 b:1", "A=8/3"},
		{"around two it is none", "2<1 A:5 h, 3<1 B:6 h, 1<9 D:2 hn, 9<0 b:1", "A=5^ B=6^ D=2"},
		{"around nothing it is a unit", "1<9 D:2 hn, 9<0 b:1", "D=2"},
		{"a task that the program submits runs another: two units", "2<1 A:5 h, 1<9 D:2 h, 9<0 b:1", "A=5^ D=2"},
		{"of two wrappers around a function the inner one is named", "2<1 w:5 h, 1<9 D:2 hn, 9<0 b:1", "w=7/2"},
		{"a library's task stands for the program's in it", "3<2 A:5, 2<1 l:2, 1<9 w:1 h, 9<0 b:1", "A=8/3"},
		{"and is a unit without one", "1<9 l:5 h, 9<0 b:1", "l=5"},
		{"what the platform does for itself inside a wrapper is not what that was made for", "2<1 p:5, 1<9 w:1 h, 9<0 b:1", "w=6/2"},
		{"nor what it does beside", "2<1 p:5, 3<1 w:2, 1<9 w:1 h, 9<0 b:1", "w=8/3"},
		{"a submitted task is: the platform's", "3<2 p:5 h, 2<1 w:1, 1<9 w:1 h, 9<0 b:1", "p=7/3"},
		{"with its name before one of the platform", "2<1 p:5, 1<9 l:1 h, 9<0 b:1", "l=6/2"},
		{"the program's around a library's keeps its name", "2<1 l:5, 1<9 A:1 h, 9<0 b:1", "A=6/2"},
		{"swallowed by the future", "2<1 A:5 ht, 1<9 w:1 h, 9<0 b:1", "A=6/2!?"},
		{"threw through its wrapper", "2<1 A:5 ht, 1<9 w:1 ht, 9<0 b:1", "A=6/2!"},
		{"started thread that runs others is a loop", "2<1 B:50 h, 3<1 C:60 h, 1<9 A:1, 9<0 b:1", "B=50^ C=60^"},
		{"with one it is not", "2<1 B:50 h, 1<9 A:1, 9<0 b:1", "A=1 B=50^"},
		{"with much of its own it is not", "2<1 B:50 h, 3<1 C:60 h, 1<9 A:200, 9<0 b:1", "A=200 B=50^ C=60^"},
		{"submitted to a pool it is not", "2<1 B:50 h, 3<1 C:60 h, 1<9 A:1 h, 9<0 b:1", "A=1 B=50^ C=60^"},
		{"a method that the user named, in the loop of a thread's target", "2<1 H:50 u, 3<1 H:60 u, 1<9 A:1, 9<0 b:1", "H=50^ H=60^"},
		{"in a thread's own loop", "2<9 H:5 u, 3<9 H:6 u, 9<0 b:1", "H=5 H=6"},
		{"in a task that the program submits", "2<1 H:5 u, 3<1 G:6 u, 1<9 A:2 h, 9<0 b:1", "A=2 G=6^ H=5^"},
		{"once in one of the platform", "2<1 H:5 u, 1<9 p:2 h, 9<0 b:1", "H=7/2"},
		{"once in one of a library", "2<1 H:5 u, 1<9 l:2 h, 9<0 b:1", "H=7/2"},
		{"twice in one of the platform", "2<1 H:5 u, 3<1 H:6 u, 1<9 p:2 h, 9<0 b:1", "H=5^ H=6^ p=2"},
		{"in another: a chain of handlers is a unit", "3<2 G:5 u, 2<1 H:2 u, 1<9 p:1 h, 9<0 b:1", "H=8/3"},
		{"around two others it keeps its own work", "3<2 G:50 u, 4<2 G:60 u, 2<9 H:2 u, 9<0 b:1", "G=50^ G=60^ H=2"},
		{"in a future, by itself", "2<1 H:5 u, 1<9 w:1 h, 9<0 b:1", "H=6/2"},
		{"the outer one was lost", "2<1 B:5, 3<1 C:7 h, 4<1 D:1 h", "B=5 C=7^ D=1^"},
		{"the outer one was lost: one", "3<1 C:7 h", "C=7"},
		{"still running", "2<1 B:5 h, 1<0 A:0 r", "A running B=5^"},
		{"twice the same task", "2<1 A:5 h, 1<9 w:1 h, 2<1 A:7 h, 1<9 w:1 h, 9<0 b:1", "A=6/2 A=8/2"},
	} {
		got, _ := run(t, c.trace)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestStartedThreads: the start of a thread submits what the thread runs
// first; it waited from the start on.
func TestStartedThreads(t *testing.T) {
	const none = units.NotMeasured
	thread := Execution{Task: 1, Class: 'b', Role: Loop, Start: 100, Submitted: true, Started: true, Queue: 30}
	unseen := Execution{Task: 1, Class: 'b', Role: Loop, Start: 100, Queue: none}
	pool := Execution{Task: 1, Class: 'b', Role: Loop, Start: 100, Submitted: true, Queue: 30}
	target := Execution{Task: 2, Outer: 1, Class: 'A', Start: 105, Queue: none}
	second := Execution{Task: 3, Outer: 1, Class: 'B', Start: 150, Queue: none}
	submitted := Execution{Task: 4, Outer: 1, Class: 'C', Start: 160, Submitted: true, Queue: 7}
	nested := Execution{Task: 5, Outer: 2, Class: 'D', Start: 110, Queue: none}
	worker := Execution{Task: 6, Outer: 1, Class: 'b', Role: Loop, Start: 102, Queue: none}
	for _, c := range []struct {
		name  string
		trace []Execution
		want  map[rune]units.Ns
	}{
		{"its target", []Execution{target, thread}, map[rune]units.Ns{'A': 35}},
		{"with one nested", []Execution{nested, target, thread}, map[rune]units.Ns{'A': 35}},
		{"the first of two", []Execution{target, second, thread}, map[rune]units.Ns{'A': 35, 'B': none}},
		{"one submitted by itself", []Execution{submitted, thread}, map[rune]units.Ns{'C': 7}},
		{"and one that was not after it", []Execution{submitted, target, thread}, map[rune]units.Ns{'C': 7, 'A': none}},
		{"a pool's worker before it", []Execution{worker, second, thread}, map[rune]units.Ns{'B': none}},
		{"the start was not seen", []Execution{target, unseen}, map[rune]units.Ns{'A': none}},
		{"a worker, submitted to a pool", []Execution{target, pool}, map[rune]units.Ns{'A': none}},
		{"a thread that has not ended", []Execution{target}, map[rune]units.Ns{'A': none}},
	} {
		got := map[rune]units.Ns{}
		b := NewBuilder(func(task uint64) bool { return task == 1 || task == 6 }, 4, func(u *Unit) { got[rune(u.Class)] = u.Queue })
		for i := range c.trace {
			b.Add(&c.trace[i])
		}
		b.Close()
		if !maps.Equal(got, c.want) || len(b.open) != 0 {
			t.Errorf("%s: queue times %v, %d open, want %v", c.name, got, len(b.open), c.want)
		}
	}
}

// TestSums: for any nesting, the work of units and of loops adds up to all work.
func TestSums(t *testing.T) {
	trace := "5<4 B:3, 4<3 w:1 h, 6<3 C:4 h, 3<2 A:8 h, 7<2 j:2 h, 2<1 w:1, 8<1 D:9, 1<0 b:10, 10<0 E:1 h"
	var sum units.Ns
	_, b := run(t, trace)
	b.emit = func(u *Unit) { sum += u.Work[granularity.SelfCPU] }
	for _, e := range []Execution{
		{Task: 5, Outer: 4, Class: 'B'}, {Task: 4, Outer: 3, Role: Wrapper, Submitted: true}, {Task: 6, Outer: 3, Submitted: true},
		{Task: 3, Outer: 2, Submitted: true}, {Task: 2, Submitted: true},
	} {
		e.Work[granularity.SelfCPU] = units.Ns(1 << e.Task)
		b.Add(&e)
	}
	if want := units.Ns(1<<5 + 1<<4 + 1<<6 + 1<<3 + 1<<2); sum != want {
		t.Errorf("units took %d, want %d", sum, want)
	}
}

// TestListeners: a wrapper holds one task. What its future's listeners run at once, when that has ended, are units of
// their own beside it; tasks that were there before are what something else than a wrapper takes from a queue.
func TestListeners(t *testing.T) {
	work := func(wall, self units.Ns) Work {
		return Work{granularity.Wall: wall, granularity.CPU: wall, granularity.SelfWall: self, granularity.SelfCPU: self}
	}
	const content, wrapper, listener = 1, 2, 3
	for name, c := range map[string]struct {
		queue units.Ns // of the listener, which starts 10 ns after the content has ended
		role  Role
		want  string
	}{
		"run at once":             {5, Wrapper, "3:7/1^; 1:43/2"},
		"queued before":           {50, Wrapper, "1:40/1^; 3:7/1^; 2:3/1"},
		"not known":               {units.NotMeasured, Wrapper, "1:40/1^; 3:7/1^; 2:3/1"},
		"in a task, not a future": {5, Task, "3:7/1^; 1:40/1^; 2:3/1"},
	} {
		var got []string
		b := NewBuilder(func(uint64) bool { return false }, 4, func(u *Unit) {
			mark := ""
			if u.Inside {
				mark = "^"
			}
			got = append(got, fmt.Sprintf("%d:%d/%d%s", u.Class, u.Work[granularity.SelfWall], u.Executions, mark))
		})
		b.Add(&Execution{Task: 4, Outer: 5, Class: content, Submitted: true, Start: 100, End: 140, Queue: 90, Work: work(40, 40)})
		b.Add(&Execution{Task: 6, Outer: 5, Class: listener, Submitted: true, Start: 150, End: 157, Queue: c.queue, Work: work(7, 7)})
		b.Add(&Execution{Task: 5, Class: wrapper, Role: c.role, Submitted: true, Start: 98, End: 160, Queue: 88, Work: work(50, 3)})
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

// TestBounded: a task that submits a million others and runs them itself
// keeps none of them.
func TestBounded(t *testing.T) {
	n := 0
	b := NewBuilder(func(uint64) bool { return false }, 4, func(*Unit) { n++ })
	for i := range 1_000_000 {
		b.Add(&Execution{Task: uint64(i + 10), Outer: 1, Thread: 1, Submitted: true})
		if len(b.open) > 1 {
			t.Fatalf("%d open", len(b.open))
		}
	}
	if n < 999_999 {
		t.Errorf("%d units before the end", n)
	}
}

// TestOrder: units whose outer execution is missing come in the same order in every reading.
func TestOrder(t *testing.T) {
	var got, want []uint32
	for range 3 {
		var order []uint32
		b := NewBuilder(func(uint64) bool { return false }, 4, func(u *Unit) { order = append(order, u.Class) })
		for i := range uint32(200) {
			b.Add(&Execution{Task: uint64(1000 + i), Outer: uint64(500 - i), Class: i, Thread: i % 7, Submitted: true})
		}
		b.Close()
		if got = order; want == nil {
			want = order
		}
		if len(got) != 200 || !slices.Equal(got, want) {
			t.Fatalf("%d units in the order %v, want %v", len(got), got, want)
		}
	}
}

// TestTwoThreads: one task executed on two threads at once.
func TestTwoThreads(t *testing.T) {
	var got []string
	b := NewBuilder(func(uint64) bool { return false }, 4, func(u *Unit) {
		got = append(got, fmt.Sprintf("%d on %d: %d", u.Class, u.Thread, u.Executions))
	})
	for _, e := range []Execution{{Task: 2, Outer: 1, Class: 2, Thread: 1}, {Task: 3, Outer: 1, Class: 3, Thread: 2}, {Task: 4, Outer: 1, Class: 3, Thread: 2},
		{Task: 1, Class: 1, Thread: 1}, {Task: 1, Class: 1, Thread: 2}} {
		b.Add(&e)
	}
	if s := strings.Join(got, "; "); s != "1 on 1: 2; 1 on 2: 3" {
		t.Error(s)
	}
}

// TestSessionMetrics: the metrics of the session add up like the times.
func TestSessionMetrics(t *testing.T) {
	var got Work
	b := NewBuilder(func(uint64) bool { return false }, 8, func(u *Unit) { got = u.Work })
	na := units.NotMeasured
	b.Add(&Execution{Task: 2, Outer: 1, Work: Work{4: 10, 10, 5, na}})
	b.Add(&Execution{Task: 1, Work: Work{4: 30, 20, 9, 4}})
	if got[4] != 30 || got[5] != 30 || got[6] != 9 || got[7] != na {
		t.Errorf("%v", got)
	}
}

// TestSummarisedParts: an execution inside which others were summarised did itself all that the recorded ones inside
// did not. One inside a summarised execution is a part of that one's unit, if nothing was lost.
func TestSummarisedParts(t *testing.T) {
	var got []Unit
	b := NewBuilder(func(task uint64) bool { return task == 9 }, 4, func(u *Unit) { got = append(got, *u) })
	b.SummarisedParts, b.IsPart = true, func(*Unit) bool { return true }
	work := func(wall, self units.Ns) Work {
		return Work{granularity.Wall: wall, granularity.CPU: wall, granularity.SelfWall: self, granularity.SelfCPU: self}
	}
	b.Add(&Execution{Task: 4, Outer: 2, Class: 4, Work: work(10, 10)})
	b.Add(&Execution{Task: 3, Outer: 2, Class: 3, Submitted: true, Work: work(20, 20)})
	b.Add(&Execution{Task: 2, Outer: 9, Class: 2, Submitted: true, Whole: true, Work: work(100, 30)}) // 40 are summarised
	b.Add(&Execution{Task: 6, Outer: 5, Class: 6, Work: work(7, 7)})                                  // 5 is summarised
	b.Close()
	if len(got) != 2 || got[0].Class != 3 || got[1].Class != 2 {
		t.Fatalf("%+v", got)
	}
	if w := got[1].Work; w != work(100, 80) || got[1].Executions != 2 {
		t.Errorf("%v, %d executions", w, got[1].Executions)
	}
}

// TestSubmittedInWrappers: an executor of the program puts what is submitted into two wrappers of its own. They are one unit, in the queue until the
// outer one starts.
func TestSubmittedInWrappers(t *testing.T) {
	var got []Unit
	b := NewBuilder(func(task uint64) bool { return task == 1 }, 8, func(u *Unit) { got = append(got, *u) })
	none := units.Ns(units.NotMeasured)
	b.Add(&Execution{Task: 4, Outer: 3, Class: 4, Start: 130, End: 140, Submitted: true, Queue: 100, Delay: none})
	b.Add(&Execution{Task: 3, Outer: 2, Class: 3, Role: Wrapper, Start: 125, End: 145, Queue: none, Delay: none})
	b.Add(&Execution{Task: 2, Outer: 1, Class: 2, Role: Wrapper, Start: 120, End: 150, Queue: none, Delay: none})
	if len(got) != 1 {
		t.Fatalf("%d units, want 1: %+v", len(got), got)
	}
	if u := got[0]; u.Class != 4 || u.Queue != 90 || !u.Submitted || u.Root != 2 || u.SubmittedAs != 4 || u.Start != 120 || u.End != 150 || u.Executions != 3 {
		t.Errorf("%+v; want class 4, 90 in the queue, from 120 to 150", u)
	}
}

// TestNoAllocation: once it has seen the depth of a program, a Builder allocates nothing.
func TestNoAllocation(t *testing.T) {
	b := NewBuilder(func(task uint64) bool { return task == 1 }, 8, func(*Unit) {})
	if n := testing.AllocsPerRun(1000, func() {
		b.Add(&Execution{Task: 3, Outer: 2, Submitted: true})
		b.Add(&Execution{Task: 2, Outer: 1, Role: Wrapper, Submitted: true})
	}); n > 0 {
		t.Errorf("%v allocations for a unit of two executions", n)
	}
}

// BenchmarkBuilder makes units of a pool's executions: each a task in a future
// with two nested tasks, of a session with two metrics of its own.
func BenchmarkBuilder(b *testing.B) {
	n := 0
	build := NewBuilder(func(task uint64) bool { return task == 1 }, 8, func(*Unit) { n++ })
	b.ReportAllocs()
	var e Execution
	for i := range b.N {
		id := uint64(4*i + 10)
		thread := uint32(i % 8)
		for _, e = range [...]Execution{
			{Task: id, Outer: id + 2, Class: 3, Thread: thread}, {Task: id + 1, Outer: id + 2, Class: 4, Thread: thread},
			{Task: id + 2, Outer: id + 3, Class: 2, Thread: thread}, {Task: id + 3, Outer: 1, Class: 1, Role: Wrapper, Thread: thread, Submitted: true},
		} {
			build.Add(&e)
		}
	}
	if n < b.N {
		b.Errorf("%d units of %d", n, b.N)
	}
}

func TestIsWrapper(t *testing.T) {
	for class, want := range map[string]bool{
		"java.util.concurrent.FutureTask": true, "java.util.concurrent.ForkJoinTask$AdaptedRunnableAction": true,
		"java.util.concurrent.ForkJoinTask$RunnableExecuteAction": true, "java.util.concurrent.CompletableFuture$AsyncRun": true,
		"java.util.concurrent.CompletableFuture$AsyncSupply":        false, // its supplier is no task
		"java.util.concurrent.DelayScheduler$ScheduledForkJoinTask": true, "java.util.concurrent.ForkJoinTask$InvokeAnyTask": true,
		"com.google.common.util.concurrent.TrustedListenableFutureTask$TrustedFutureInterruptibleTask": true,
		"org.apache.cassandra.concurrent.FutureTask$1":                                                 true, "org.apache.cassandra.concurrent.ExecutionFailure$2": true,
		"java.util.concurrent.ForkJoinTask$InvokeAnyRoot": false,
		"java.util.concurrent.RecursiveTask":              false, "com.acme.FutureTask": false, "java.util.stream.ForEachOps$ForEachTask": false,
	} {
		if IsWrapper(class) != want {
			t.Errorf("IsWrapper(%s) = %v", class, !want)
		}
	}
}
