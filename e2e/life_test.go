package e2e_test

import (
	"maps"
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
	"Dependent": session.NeverSubmitted, "NotStarted": session.NeverSubmitted, "NotStartedBody": session.NeverSubmitted,
	"DirectNever": session.NeverSubmitted, "Again": session.NeverSubmitted,
}

// TestLife: what becomes of each task that is handed over, or not.
func TestLife(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "life").Command(t, jdk)
			cmd.Agent = []string{"--detail", "all"}
			p := cmd.Profile(t)
			want := maps.Clone(wantLives)
			if jdk.Version >= 21 {
				want["VirtualNotStarted"] = session.NeverSubmitted
			}
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
