package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// wantLives follows from the text of examples/life and the JDK's sources: what
// becomes of the tasks that are never executed.
var wantLives = map[string]session.TaskState{
	"LoseInPool": session.Cancelled, "LoseInForkJoin": session.Cancelled, "AllCancelled": session.Cancelled,
	"PeriodicNever": session.Cancelled, "ForkedCancelled": session.Cancelled,
	"Aborted": session.Rejected, "Discarded": session.NeverRun, "Oldest": session.NeverRun, "Dropped": session.NeverRun,
	"DroppedCall": session.NeverRun, "Unforked": session.NeverRun,
	"RefusedFull": session.Rejected, "RefusedShut": session.Rejected, "RefusedForkJoin": session.Rejected, "RefusedCustom": session.Rejected,
	"RefusedThen": session.Rejected, "RefusedDependent": session.Rejected, "RefusedBoth": session.Rejected,
	"RefusedEither": session.Rejected, "RefusedFuture": session.Rejected,
	"Dependent": session.NeverSubmitted, "NotStarted": session.NeverSubmitted, "NotStartedBody": session.NeverSubmitted,
	"DirectNever": session.NeverSubmitted, "Again": session.NeverSubmitted,
}

// wantUnasked are the classes of which one exception each is kept by a future that
// nobody asks; of all the others' it is asked, or thrown in nobody's future.
var wantUnasked = []string{"ThrowChainNobody", "ThrowFjNobody", "ThrowForkSubmitNobody", "ThrowNobody", "ThrowNobodyAsync", "ThrowScheduled"}

func checkUnasked(t *testing.T, p testjvm.Profile, want []string) {
	t.Helper()
	var got []string
	for _, f := range p.Advice(t) {
		if f.Rule == "swallowed-exceptions" {
			got = append(got, strings.TrimPrefix(f.Class, "Main$"))
			if !strings.HasPrefix(f.Text, "1 unit of "+f.Class+" ended") || !strings.Contains(f.Text, "; nobody asked for it. ") {
				t.Errorf("finding %q", f.Text)
			}
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("nobody asked for exceptions of %v, want %v", got, want)
	}
}

// TestCopiesAsked: exceptions that fork/join tasks of other libraries keep.
func TestCopiesAsked(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "copies").Command(t, jdk)
			cmd.Agent = []string{"--detail", "all"}
			checkUnasked(t, cmd.Profile(t), []string{"AkkaUnasked", "GparsUnasked", "ScalaUnasked"})
		})
	}
}

// TestLife: what becomes of each task, submitted or not, and of each
// exception.
func TestLife(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "life").Command(t, jdk)
			cmd.Agent = []string{"--detail", "all"}
			p := cmd.Profile(t)
			want, unasked := maps.Clone(wantLives), wantUnasked
			if jdk.Version >= 21 {
				want["VirtualNotStarted"] = session.NeverSubmitted
				unasked = append(slices.Clone(unasked), "ThrowVirtualNobody")
			}
			checkUnasked(t, p, unasked)
			got := map[string]session.TaskState{}
			for _, row := range p.Tasks(t) {
				name, own := strings.CutPrefix(row["class"], "Main$")
				if state := session.TaskState(row["state"]); own && !strings.HasPrefix(name, "$Lambda") && state != session.Executed {
					got[name] = state
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("never executed are %v, want %v", got, want)
			}
			for _, row := range p.Units(t) {
				if row.Executions > 0 && strings.HasPrefix(row.Class, "java.util.concurrent.CompletableFuture$") {
					t.Errorf("%d units of %s, a timer of the JDK's own", row.Executions, row.Class)
				}
			}
		})
	}
}
