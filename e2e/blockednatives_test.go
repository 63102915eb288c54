package e2e_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
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
				if n, _ := printedWaits(t, p.Stdout); n != cases {
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
		n, own := printedWaits(t, line)
		name := strings.Fields(line)[1]
		waits := slices.DeleteFunc(blockedWaits(t, s, "io", "", name), func(w store.Wait) bool { return w.EndNs-w.StartNs < ms*1e6/2 }) // it prints, too
		if len(waits) != n {
			t.Errorf("%s: %d waits, the program has %d", name, len(waits), n)
			continue
		}
		if took := time.Duration(waits[0].EndNs - waits[0].StartNs); (own - took).Abs() > own/50 {
			a.Errorf("%s: waited %v, by the program's own clock %v", name, took, own)
		}
		if got := siteMethod(s, waits[0].Site); !strings.HasPrefix(got, "Natives.lambda$") {
			t.Errorf("%s: at %q", name, got)
		}
	}
}
