package summary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// threadRows lists a session by executor in which each thread ran a task of 1 ms, started or by a plain call.
func threadRows(t *testing.T, threads []store.Thread, started bool) []string {
	t.Helper()
	b := newSessionBuilder(t, []string{"", "com.acme.Job"})
	b.part.Threads = nil
	for i, x := range threads {
		x.ID, x.JavaID = uint32(i+1), int64(i+11)
		b.part.Threads = append(b.part.Threads, x)
		task := uint64(i + 1)
		b.exec(task, 0, 1, x.ID, 1, 1, -1)
		if started {
			b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: task, Class: 1, Thread: 1, Flags: uint16(wire.Started), AtNs: 1})
		}
	}
	if !started { // a session without submissions has no executors
		b.part.Submissions = []store.Submission{{TaskID: 1 << 40, Class: 1, Thread: 1, Executor: 1, AtNs: 1}}
	}
	s := b.open(true)
	sum, err := summary.BuildByOrigin(s, summary.Options{}, summary.ByExecutor)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sum.Rows {
		if r.Executions == 0 {
			t.Errorf("an empty row %q", r.Executor)
		}
	}
	return rowsOf(sum.Rows)
}

// TestThreadsWithoutExecutor: work without an executor is listed by the names of the threads, without their numbers,
// or by the program's class of thread if it gives them no name.
func TestThreadsWithoutExecutor(t *testing.T) {
	named := func(names ...string) (out []store.Thread) {
		for _, name := range names {
			out = append(out, store.Thread{Name: name, Group: "main", Class: "java.lang.Thread"})
		}
		return out
	}
	for name, c := range map[string]struct {
		threads []store.Thread
		started bool
		want    []string
	}{
		"pools":          {named("data-plane-handler-0", "data-plane-handler-1", "poller"), true, []string{"data-plane-handler (own thread) 2 2 0", "poller (own thread) 1 1 0"}},
		"a plain call":   {named("data-plane-handler-0", "main"), false, []string{"data-plane-handler (no executor) 1 1 0", "main (no executor) 1 1 0"}},
		"the JDK's name": {named("Thread-0", "Thread-17", ""), true, []string{"(own thread) 3 3 0"}},
		"a class of the program": {[]store.Thread{{Name: "Thread-0", Group: "main", Class: "com.acme.Poller"}, {Name: "Thread-1", Group: "main", Class: "com.acme.Poller"}}, true,
			[]string{"com.acme.Poller (own thread) 2 2 0"}},
		"a number":  {named("1", "22"), true, []string{"(own thread) 2 2 0"}},
		"controls":  {named("a\x1b[31m\nb-1"), true, []string{"a\x1b[31m\nb (own thread) 1 1 0"}},
		"markup":    {named("<script>alert(1)</script>"), true, []string{"<script>alert(1)</script> (own thread) 1 1 0"}},
		"very long": {named(strings.Repeat("é", 1000) + "-1"), true, []string{strings.Repeat("é", 60) + " (own thread) 1 1 0"}},
	} {
		if got := threadRows(t, c.threads, c.started); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestThreadNamesBounded: a program that names each thread after its request does not get a row for each.
func TestThreadNamesBounded(t *testing.T) {
	var threads []store.Thread
	for i := range 2000 {
		threads = append(threads, store.Thread{Name: fmt.Sprintf("request %dx", i), Group: "main", Class: "java.lang.Thread"})
	}
	rows := threadRows(t, threads, true)
	if len(rows) != 256 || !slices.Contains(rows, "(own thread) 1745 1745 0") {
		t.Errorf("%d rows, first %q; want 256, the last 1,745 threads in one", len(rows), rows[0])
	}
}
