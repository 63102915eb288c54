package summary_test

import (
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// sessionBuilder makes a session of executions.
type sessionBuilder struct {
	t    *testing.T
	part store.Part
	now  int64
	unit int64 // of times, nanoseconds
	lost uint64

	ended string   // how the session did
	tasks []string // values of --task
}

// newSessionBuilder knows the classes by their index in names, the first is
// none. Names of the platform's get its kind, those of threads and of fork/join
// tasks theirs.
func newSessionBuilder(t *testing.T, names []string) *sessionBuilder {
	b := &sessionBuilder{t: t, now: 10, unit: ms, ended: store.EndedExit}
	b.part.Range = store.Range{From: 1, To: 1}
	for i, name := range names[1:] {
		kinds := units.KindRunnable
		if strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "jdk.") {
			kinds |= units.KindJDK
		}
		if strings.HasSuffix(name, "Thread") {
			kinds |= units.KindThread
		}
		if strings.Contains(name, "ForkJoinTask$") || strings.HasSuffix(name, "ForkJoinTask") || strings.HasSuffix(name, "$ConsumerTask") || strings.Contains(name, "CompletableFuture$") || strings.HasPrefix(name, "java.util.stream.") {
			kinds |= units.KindForkJoin
		}
		b.part.Classes = append(b.part.Classes, store.Class{ID: uint32(i + 1), Name: name, Kinds: kinds.String()})
	}
	for id := uint32(1); id <= 8; id++ {
		b.part.Threads = append(b.part.Threads, store.Thread{ID: id, JavaID: int64(id) + 10, Name: "t", Group: "main"})
	}
	return b
}

// exec adds an execution, which starts one after the previous one; queue below 0: not submitted.
func (b *sessionBuilder) exec(task, outer uint64, class, thread uint32, wall, self, queue int64, site ...uint32) {
	b.now++
	e := store.Execution{TaskID: task, OuterTaskID: outer, Class: class, Thread: thread, StartNs: units.MonoNs(b.now * b.unit), EndNs: units.MonoNs((b.now + wall) * b.unit),
		WallNs: units.Ns(wall * b.unit), CPUNs: units.Ns(wall * b.unit), SelfWallNs: units.Ns(self * b.unit), SelfCPUNs: units.Ns(self * b.unit)}
	if outer != 0 {
		e.Depth = 1
	}
	if queue >= 0 {
		e.SubmittedNs = units.MonoNs((b.now - queue) * b.unit)
		sub := store.Submission{TaskID: task, Class: class, Thread: 1, Executor: 1, AtNs: e.SubmittedNs}
		if len(site) > 0 {
			sub.Site = site[0]
		}
		b.part.Submissions = append(b.part.Submissions, sub)
	}
	b.part.Executions = append(b.part.Executions, e)
}

// open stores the session and opens it, with or without its submissions.
func (b *sessionBuilder) open(submissions bool) *session.Session {
	b.t.Helper()
	w, err := store.OpenWriter(b.t.TempDir(), "s", "s")
	if err != nil {
		b.t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: 1, EndNs: 1000 * ms, DurationNs: 1000 * ms, Ended: b.ended, Metrics: []string{"wall", "cpu"}, Tasks: b.tasks, JVM: store.JVM{CPUs: 2}}
	w.Manifest.Produced = store.Counts{Executions: uint64(len(b.part.Executions)), Creations: uint64(len(b.part.Creations))}
	b.part.Sites = []store.Site{{ID: 1, Class: "com.acme.Main", Method: "run", Line: 7}, {ID: 2, Class: "com.acme.Main", Method: "again", Line: 9}, {ID: 3, Class: "com.acme.Main", Method: "run", Line: 7},
		{ID: 4, Class: "sun.net.httpserver.ServerImpl$Dispatcher", Method: "handle", Line: 609}}
	b.part.Executors = []store.Executor{{ID: 1, Class: "com.acme.Pool"}, {ID: 2, Class: "com.acme.Forward"},
		{ID: 3, Class: "java.util.concurrent.CompletableFuture$DelayedExecutor"}}
	if submissions {
		w.Manifest.Submissions = &store.RecordAccount{Produced: uint64(len(b.part.Submissions)) + b.lost, Lost: b.lost}
	} else {
		b.part.Submissions = nil
		for i := range b.part.Executions {
			b.part.Executions[i].SubmittedNs = 0
		}
	}
	if err := w.Commit(&b.part); err != nil {
		b.t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}
