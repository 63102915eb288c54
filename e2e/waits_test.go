package e2e_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

func waitsCommand(t *testing.T, jdk testjvm.JDK, main string, args ...string) testjvm.Command {
	return testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "waits")), Main: main, Args: args}
}

// waitCases are the program's kinds of waits: for what, and whose lock it is if it is a condition.
var waitCases = map[string]struct {
	class, lock string
	held        bool
	flags       wire.WaitFlags
}{
	"Lock":   {class: "java.util.concurrent.locks.ReentrantLock$NonfairSync", held: true},
	"Permit": {class: "java.util.concurrent.Semaphore$NonfairSync"},
	"Signal": {class: condition, lock: "java.util.concurrent.locks.ReentrantLock$NonfairSync"},
	"Latch":  {class: "java.util.concurrent.CountDownLatch$Sync"},
	"Future": {class: "java.util.concurrent.FutureTask"},
	"Get":    {class: "java.util.concurrent.CompletableFuture$Signaller"},
	"Join":   {class: "java.util.concurrent.CompletableFuture$Signaller"},
	"Take":   {class: condition, lock: "java.util.concurrent.locks.ReentrantLock$NonfairSync"},
	"Nanos":  {flags: wire.WaitTimed},
}

const condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"

// waitsOf are the waits of parked threads, by the threads' names, with their names looked up.
type parkWait struct {
	store.Wait
	blocker     store.Blocker
	site        *session.Site
	waker, held string
}

func parkWaits(t *testing.T, dir string) map[string][]parkWait {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	blockers, err := s.Blockers()
	if err != nil {
		t.Fatal(err)
	}
	name := func(id uint32) string {
		if x := s.ThreadByID(id); x != nil {
			return x.Name
		}
		return ""
	}
	all := map[string][]parkWait{}
	if err := s.Waits(func(w *store.Wait) {
		all[name(w.Thread)] = append(all[name(w.Thread)], parkWait{*w, blockers[w.Blocker], s.SiteByID(w.Site), name(w.Waker), name(w.Holder)})
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestParkedWaits: each wait of a parked thread is there once, as long as the program measures, with what it was for,
// where, and who ended it.
func TestParkedWaits(t *testing.T) {
	testjvm.Shared(t)
	const waits, ms = 5, 20
	eachKindOfThread(t, func(t *testing.T, jdk testjvm.JDK, kind string) {
		p := waitsCommand(t, jdk, "Main", fmt.Sprint(waits), fmt.Sprint(ms), kind).Session(t)
		if p.Exit != 0 {
			t.Fatalf("exit code %d\n%s", p.Exit, p.Stderr)
		}
		all := parkWaits(t, p.Dir)
		found := 0
		for line := range strings.Lines(p.Stdout) {
			var name string
			var n int
			var most, least int64
			if got, _ := fmt.Sscanf(line, "%s %d %d %d", &name, &n, &most, &least); got == 4 {
				found++
				checkWaits(t, name, kind == "virtual", all["waiter-"+name], n, most, least)
			}
		}
		if found != len(waitCases) {
			t.Errorf("%d kinds of waits, want %d:\n%s", found, len(waitCases), p.Stdout)
		}
	})
}

// eachKindOfThread runs f with platform threads and with virtual ones, in the full matrix on each JDK and else on one, in turn.
func eachKindOfThread(t *testing.T, f func(t *testing.T, jdk testjvm.JDK, kind string)) {
	t.Helper()
	run := func(kind string, jdks []testjvm.JDK) {
		for _, jdk := range jdks {
			t.Run(jdk.String()+" "+kind, func(t *testing.T) { f(t, jdk, kind) })
		}
	}
	run("platform", testjvm.JDKsInTurn(t))
	run("virtual", testjvm.JDKsInTurn(t, 21))
}

func checkWaits(t *testing.T, name string, virtual bool, got []parkWait, n int, most, least int64) {
	t.Helper()
	want := waitCases[name]
	if len(got) != n {
		t.Errorf("%s: %d waits, the program waited %d times", name, len(got), n)
		return
	}
	var sum int64
	for _, w := range got {
		sum += w.EndNs - w.StartNs
		if w.Kind != "park" || w.blocker.Class != want.class || w.blocker.Lock != want.lock || wire.WaitFlags(w.Flags) != want.flags {
			t.Errorf("%s: %+v", name, w)
		}
		if (w.Object != 0) != (want.class != "") || (w.Lock != 0) != (want.lock != "") {
			t.Errorf("%s: object %d, lock %d", name, w.Object, w.Lock)
		}
		if class := "Main$" + name; w.site == nil || w.site.Class != class || w.site.Method != "await" || w.Context == 0 {
			t.Errorf("%s: at %+v, context %d, want %s.await", name, w.site, w.Context, class)
		}
		if wants := map[bool]string{true: "main"}; w.waker != wants[name != "Nanos"] || w.held != wants[want.held] {
			t.Errorf("%s: ended by %q, the owner was %q", name, w.waker, w.held)
		}
		if (w.ReadyNs != nil) != virtual || virtual && (*w.ReadyNs < 0 || *w.ReadyNs > units.Ns(w.EndNs-w.StartNs)) {
			t.Errorf("%s: ready %v", name, w.ReadyNs)
		}
	}
	if sum > most || sum < least-least/1000 {
		t.Errorf("%s: waited for %d ns, by the program's clock for %d to %d", name, sum, least, most)
	}
}

// TestManyWaits: of waits that come too fast for a record each none is missing, and none is there twice.
func TestManyWaits(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		args := []string{"4", "30000", "0", "0"}
		if jdk.Version >= 21 {
			args = []string{"2", "20000", "2000", "100"}
		}
		t.Run(jdk.String(), func(t *testing.T) {
			p := waitsCommand(t, jdk, "Flood", args...).Session(t)
			own, err := strconv.ParseUint(strings.TrimSpace(p.Stdout), 10, 64)
			if err != nil {
				t.Fatalf("the program printed %q: %v\n%s", p.Stdout, err, p.Stderr)
			}
			waits, sums := waitsWithin(t, p.Dir, "Flood$Parker")
			if waits+sums != own {
				t.Errorf("%d waits and %d in sums are %d, the program parked %d times", waits, sums, waits+sums, own)
			}
			if waits == 0 || sums < own/2 {
				t.Errorf("%d waits, %d in sums", waits, sums)
			}
		})
	}
}

// waitsWithin counts the parks inside executions of a class. A thread may wait for something else there, as for a
// monitor of the JDK.
func waitsWithin(t *testing.T, dir, class string) (waits, sums uint64) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	inside := func(id uint32) bool {
		c := s.ClassByID(id)
		return c != nil && c.Name == class
	}
	if err := s.Waits(func(w *store.Wait) {
		if w.Kind == "park" && inside(w.Within) {
			waits++
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitSums(func(w *store.WaitSum) {
		if w.Kind == "park" && inside(w.Within) {
			sums += w.Waits
		}
	}); err != nil {
		t.Fatal(err)
	}
	return waits, sums
}

// TestNoWaits: with wait=off there are none, and the probes are not in the way of parking.
func TestNoWaits(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		c := waitsCommand(t, jdk, "Main", "1", "1", "platform")
		c.Agent = []string{"--wait", "off", "--samples=false", "--allocations=false"}
		p := c.Session(t)
		s, err := session.Open(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if s.Manifest.Waits != nil || s.Manifest.Rows["waits"]+s.Manifest.Rows["wait_sums"]+s.Manifest.Rows["contexts"] != 0 {
			t.Errorf("%s: waits are recorded: %+v, rows %v", jdk, s.Manifest.Waits, s.Manifest.Rows)
		}
	}
}

// TestOpenWaits: what has not ended when the JVM does is there, as such.
func TestOpenWaits(t *testing.T) {
	testjvm.Shared(t)
	eachKindOfThread(t, func(t *testing.T, jdk testjvm.JDK, kind string) {
		p := waitsCommand(t, jdk, "Open", kind).Session(t)
		own, err := strconv.ParseInt(strings.TrimSpace(p.Stdout), 10, 64)
		if err != nil {
			t.Fatalf("the program printed %q: %v\n%s", p.Stdout, err, p.Stderr)
		}
		all := parkWaits(t, p.Dir)
		for i := range 3 {
			got := all[fmt.Sprint("open-", i)]
			if len(got) != 1 || got[0].Flags != uint32(wire.WaitOpen) || got[0].Kind != "park" || got[0].Within == 0 || (got[0].EndNs-got[0].StartNs)/1e6 < own {
				t.Errorf("thread %d waited for %d ms: %+v", i, own, got)
			}
		}
	})
}

// TestLongWaitsAmongMany: short waits take no record from long ones, and neither do 999 threads that wait at the same time.
func TestLongWaitsAmongMany(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		virtual := 999
		if jdk.Version < 21 {
			virtual = 0
		}
		t.Run(jdk.String(), func(t *testing.T) {
			p := waitsCommand(t, jdk, "Mixed", "40", strconv.Itoa(virtual)).Session(t)
			own, err := strconv.Atoi(strings.TrimSpace(p.Stdout))
			if err != nil {
				t.Fatalf("the program printed %q: %v\n%s", p.Stdout, err, p.Stderr)
			}
			long := 0
			for _, waits := range parkWaits(t, p.Dir) {
				for _, w := range waits {
					if w.blocker.Class != "Mixed$Key" {
						continue
					}
					long++
					if w.site == nil || w.site.Method != "await" {
						t.Errorf("at %+v", w.site)
					}
				}
			}
			if long != own {
				t.Errorf("%d long waits have a record, the program has %d", long, own)
			}
		})
	}
}
