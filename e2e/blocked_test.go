package e2e_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// blockedRun is a kind of wait of e2e/testdata/blocked, and what its records say.
type blockedRun struct {
	shape, kind, blocker string
	flags                wire.WaitFlags
	virtual              bool
	minJDK               int
}

var blockedRuns = []blockedRun{
	{"monitor", "monitor", "Main$Lock", 0, false, 17},
	{"notify", "notify", "Main$Lock", 0, false, 17},
	{"timed", "notify", "Main$Lock", wire.WaitTimed | wire.WaitTimedOut, false, 17},
	{"sleep", "sleep", "", wire.WaitTimed, false, 17},
	{"io", "io", "", wire.WaitSocket, false, 17},
	{"park", "park", "Main$Lock", 0, false, 17},
	{"parkNanos", "park", "Main$Lock", wire.WaitTimed, false, 17},
	{"monitor", "monitor", "Main$Lock", 0, true, 24},
	{"pinned", "monitor", "Main$Lock", wire.WaitPinned, true, 24},
	{"notify", "notify", "Main$Lock", 0, true, 24},
	{"timed", "notify", "Main$Lock", wire.WaitTimed | wire.WaitTimedOut, true, 24},
	{"sleep", "sleep", "", wire.WaitTimed, true, 21},
	{"io", "io", "", 0, true, 21},
	{"park", "park", "Main$Lock", 0, true, 21},
	{"parkNanos", "park", "Main$Lock", wire.WaitTimed, true, 21},
}

func (r blockedRun) String() string {
	if r.virtual {
		return r.shape + "/virtual"
	}
	return r.shape
}

func (r blockedRun) args(threads, rounds, ms int) []string {
	args := []string{r.shape, fmt.Sprint(threads), fmt.Sprint(rounds), fmt.Sprint(ms)}
	if r.virtual {
		args = append(args, "virtual")
	}
	return args
}

// rounds are how often it waits: a class is initialised once.
func (r blockedRun) rounds() int {
	if r.shape == "pinned" {
		return 1
	}
	return 3
}

// TestBlocked: each wait for a monitor, in Object.wait, in Thread.sleep and for a socket is recorded once, as long as the thread that
// waited measured it to be.
func TestBlocked(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "blocked"))
		for _, r := range blockedRuns {
			if jdk.Version < r.minJDK {
				continue
			}
			t.Run(jdk.String()+"/"+r.String(), func(t *testing.T) {
				cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: r.args(4, r.rounds(), 100)}
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := cmd.Session(t)
					checkBlocked(t, a, r, p)
				})
			})
		}
	}
}

// checkBlocked compares the long waits of the program's own threads with the program's measurements.
func checkBlocked(t *testing.T, a *testjvm.Attempt, r blockedRun, p testjvm.Profile) {
	t.Helper()
	own, ownSum := printedWaits(t, p.Stdout)
	s, err := session.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	n, sum := 0, time.Duration(0)
	for _, w := range blockedWaits(t, s, r.kind, r.blocker, "waiter-") {
		took := time.Duration(w.EndNs - w.StartNs)
		if took < 50*time.Millisecond {
			continue
		}
		n, sum = n+1, sum+took
		if got := wire.WaitFlags(w.Flags); got != r.flags {
			t.Errorf("flags %v of a wait, want %v", got, r.flags)
		}
		if (w.Object != 0) != (r.blocker != "") {
			t.Errorf("identity %d of what it waits for: %q", w.Object, r.blocker)
		}
		if got := siteMethod(s, w.Site); !strings.HasPrefix(got, "Main.") && !strings.HasPrefix(got, "Main$Pinned.") {
			t.Errorf("waits at %q", got)
		}
		if got := s.ClassByID(w.Within); got == nil {
			t.Error("waits in no execution")
		}
		if r.virtual && r.flags&wire.WaitPinned == 0 && (w.ReadyNs == nil || *w.ReadyNs < 0 || time.Duration(*w.ReadyNs) > took) {
			t.Errorf("of %v it waited %v for a carrier", took, w.ReadyNs)
		}
	}
	if n != own {
		t.Errorf("%d waits recorded, the program has %d", n, own)
	}
	if diff := (ownSum - sum).Abs(); diff > ownSum/50 {
		a.Errorf("waited %v, by the program's own clock %v", sum, ownSum)
	}
}

// printedWaits are how often, and how long in sum, the threads of the program waited by their own clock.
func printedWaits(t *testing.T, stdout string) (n int, sum time.Duration) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var thread string
		var ns int64
		if _, err := fmt.Sscanf(line, "wait %s %d", &thread, &ns); err != nil {
			t.Fatalf("the program printed %q: %v", line, err)
		}
		n, sum = n+1, sum+time.Duration(ns)
	}
	return n, sum
}

// blockedWaits are the recorded waits of a kind, for objects of a class, of threads whose names begin so.
func blockedWaits(t *testing.T, s *session.Session, kind, blocker, threads string) (all []store.Wait) {
	t.Helper()
	blockers, err := s.Blockers()
	if err != nil {
		t.Fatal(err)
	}
	err = s.Waits(func(w *store.Wait) {
		th := s.ThreadByID(w.Thread)
		if th != nil && strings.HasPrefix(th.Name, threads) && w.Kind == kind && blockers[w.Blocker].Class == blocker {
			all = append(all, *w)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// recorderEvents are Flight Recorder's events for the shapes of waits. It has none of virtual threads that leave their carrier for a
// monitor, in Object.wait or to park.
var recorderEvents = map[string]string{"monitor": "JavaMonitorEnter", "contend": "JavaMonitorEnter", "notify": "JavaMonitorWait", "timed": "JavaMonitorWait",
	"park": "ThreadPark", "parkNanos": "ThreadPark", "sleep": "ThreadSleep", "io": "SocketRead", "sleep/virtual": "ThreadSleep", "pinned/virtual": "VirtualThreadPinned"}

// TestBlockedAgainstRecorder: the JDK's Flight Recorder, in the same run, sees the same waits. Of a thread that waits often, most
// of the waits are in sums.
func TestBlockedAgainstRecorder(t *testing.T) {
	testjvm.Shared(t)
	for k, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "blocked"))
		for i, r := range append(blockedRuns[:len(blockedRuns):len(blockedRuns)], blockedRun{"contend", "monitor", "", 0, false, 17}) {
			event := recorderEvents[r.String()]
			if jdk.Version < r.minJDK || event == "" || !full() && r.minJDK < 21 && i%2 != k%2 {
				continue // each JDK has one half of those that both have
			}
			t.Run(jdk.String()+"/"+r.String(), func(t *testing.T) {
				least := 50 * time.Millisecond // the JVM's own, for a class to be initialised, are shorter
				if r.shape == "contend" {
					least = 0
				}
				// A thread that has to wait for a processor between our reading of the clock and the recorder's waited longer for one of them.
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					file := filepath.Join(t.TempDir(), "waits.jfr")
					vm := "-XX:StartFlightRecording:filename=" + file + ",jdk." + event + "#enabled=true,jdk." + event + "#threshold=0ns"
					p := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: r.args(4, 1, 100), VM: []string{vm}}.Profile(t)
					recorded, total := recordedWaits(t, jdk, file, event, least)
					ours, sum := allWaits(t, p.Dir, r.kind, least)
					if ours != recorded {
						t.Errorf("%d waits, Flight Recorder has %d", ours, recorded)
					}
					if diff := (sum - total).Abs(); diff > total/50 {
						a.Errorf("waited %v, by Flight Recorder %v", sum, total)
					}
				})
			})
		}
	}
}

// recordedWaits are the waits of the program's threads in a recording that took so long at least.
func recordedWaits(t *testing.T, jdk testjvm.JDK, file, event string, least time.Duration) (n uint64, total time.Duration) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), jdk.Tool("jfr"), "print", "--json", "--events", "jdk."+event, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var recording struct {
		Recording struct {
			Events []struct {
				Values struct {
					Duration    string
					EventThread struct{ JavaName string }
				}
			}
		}
	}
	if err := json.Unmarshal(out, &recording); err != nil {
		t.Fatal(err)
	}
	for _, e := range recording.Recording.Events {
		if !strings.HasPrefix(e.Values.EventThread.JavaName, "waiter-") {
			continue
		}
		took, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(e.Values.Duration, "PT")))
		if err != nil {
			t.Fatal(err)
		}
		if took >= least {
			n, total = n+1, total+took
		}
	}
	return n, total
}

// allWaits are the waits of a kind of the program's threads that took so long at least, recorded one by one, or all, summed up or not.
func allWaits(t *testing.T, dir, kind string, least time.Duration) (n uint64, total time.Duration) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	program := func(thread uint32) bool {
		th := s.ThreadByID(thread)
		return thread == 0 || th != nil && strings.HasPrefix(th.Name, "waiter-") // 0: virtual threads
	}
	err = s.Waits(func(w *store.Wait) {
		if took := time.Duration(w.EndNs - w.StartNs); program(w.Thread) && w.Kind == kind && took >= least {
			n, total = n+1, total+took
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.WaitSums(func(w *store.WaitSum) {
		if program(w.Thread) && w.Kind == kind && time.Duration(w.MaxNs) >= least {
			n, total = n+w.Waits, total+time.Duration(w.WaitedNs)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, total
}

// TestBlockedAsBefore: a program in which threads wait in all ways, are interrupted, fail, deadlock and are blocked at the exit
// behaves as without the agent.
func TestBlockedAsBefore(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "blocked"))
			cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Same"}
			want := cmd.Plain(t)
			for _, vm := range []string{"-Xmixed", "-Xint", "-Xcheck:jni"} {
				cmd.VM = []string{vm}
				if got := cmd.Profile(t); got.Stdout != want.Stdout || got.Exit != want.Exit {
					t.Errorf("%s: exit %d, %q; without the agent %d, %q", vm, got.Exit, got.Stdout, want.Exit, want.Stdout)
				}
			}
		})
	}
}

// siteMethod is the method of a site.
func siteMethod(s *session.Session, id uint32) string {
	site := s.SiteByID(id)
	if site == nil {
		return ""
	}
	return site.Class + "." + site.Method
}
