package e2e_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// TestBlockedNatives: a wait to write to a full pipe, in RandomAccessFile, for a Unix domain socket or for a datagram of a connected channel is recorded
// once, as long as the program measures.
func TestBlockedNatives(t *testing.T) {
	testjvm.Shared(t)
	const cases, ms = 5, 200
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "blocked"))
			cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Natives", Args: []string{strconv.Itoa(ms)}}
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				p := cmd.Session(t)
				waits, _, _ := strings.Cut(p.Stdout, "forced ")
				if n, _ := printedWaits(t, waits); n != cases {
					t.Fatalf("%d waits, want %d: %s\n%s", n, cases, p.Stdout, p.Stderr)
				}
				checkNatives(t, a, p, ms)
			})
		})
	}
}

func checkNatives(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, ms int64) {
	t.Helper()
	s, err := session.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(p.Stdout) {
		name, forced := strings.Fields(line)[1], strings.HasPrefix(line, "forced ")
		if forced {
			checkForced(t, s, name, strings.Fields(line)[2])
			continue
		}
		n, own := printedWaits(t, line)
		waits := slices.DeleteFunc(blockedWaits(t, s, "io", "", name), func(w store.Wait) bool { return w.EndNs-w.StartNs < ms*1e6/2 }) // it prints, too
		if len(waits) != n {
			t.Errorf("%s: %d waits, the program has %d", name, len(waits), n)
			continue
		}
		if took := time.Duration(waits[0].EndNs - waits[0].StartNs); (own - took).Abs() > own/50 {
			a.Errorf("%s: waited %v, by the program's own clock %v", name, took, own)
		}
		want := wire.WaitFile
		if !strings.Contains(name, "write") && !strings.Contains(name, "random") {
			want = wire.WaitSocket
		}
		if got := wire.WaitFlags(waits[0].Flags) & (wire.WaitSocket | wire.WaitFile | wire.WaitForce); got != want {
			t.Errorf("%s: flags %d, want %d", name, got, want)
		}
		if got := siteMethod(s, waits[0].Site); !strings.HasPrefix(got, "Natives.lambda$") {
			t.Errorf("%s: at %q", name, got)
		}
	}
}

// checkForced compares what a thread waited for its file with the program's own clock. On a file system in memory there is nothing to wait for.
func checkForced(t *testing.T, s *session.Session, name, printed string) {
	t.Helper()
	ns, err := strconv.ParseInt(printed, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	waited := int64(0)
	for _, w := range blockedWaits(t, s, "io", "", name) {
		if wire.WaitFlags(w.Flags)&wire.WaitForce != 0 {
			waited += w.EndNs - w.StartNs
		}
	}
	const disk = 5_000_000
	if ns < disk {
		t.Logf("%s: forced in %d ns, as in memory: not compared", name, ns)
		return
	}
	if waited < ns/2 || waited > ns {
		t.Errorf("%s: waited %d ns for the disk, by the program's own clock at most %d", name, waited, ns)
	}
}
