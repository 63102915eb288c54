package summary_test

import (
	"slices"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestSiteOfUnit: the site of a unit is where it was submitted, not where its task was
// made. A unit whose submission was summarised does not count as never submitted; its
// site is where its task was made.
func TestSiteOfUnit(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job", "java.util.concurrent.FutureTask"})
	b.exec(1, 2, 1, 1, 5, 5, -1)
	b.exec(2, 0, 2, 1, 6, 1, 3, 1)
	b.exec(3, 4, 1, 1, 5, 5, -1)
	b.exec(4, 0, 2, 1, 6, 1, 3, 1)
	b.exec(5, 0, 1, 1, 7, 7, 3)
	b.part.Submissions = b.part.Submissions[:1]
	b.part.Creations = []store.Creation{{TaskID: 1, Class: 1, Thread: 1, Site: 2}, {TaskID: 3, Class: 1, Thread: 1, Site: 2}}
	s := b.open(true)
	s.Manifest.Submissions.Summarised = 2
	for by, want := range map[string][]string{
		summary.BySite:     {"(summarised: not separated) 1 7 3", "com.acme.Main.again:9 1 6 3", "com.acme.Main.run:7 1 6 3"},
		summary.ByExecutor: {"t (Pool) 1 6 3", "t (summarised) 2 13 6"},
	} {
		sum, err := summary.BuildByOrigin(s, summary.Options{Units: true}, by)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
	sum, err := summary.BuildByOrigin(s, summary.Options{}, summary.ByExecutor)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"t (Pool) 1 1 3", "t (no executor) 2 10 0", "t (summarised) 2 8 6"}; !slices.Equal(got, want) {
		t.Errorf("executions: %q, want %q", got, want)
	}
}

// TestServerOfJDK: where a server of the JDK submits its own task, which calls one that the user defined, the unit has
// the site of the program's task, and the executor of the server's.
func TestServerOfJDK(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Words", "sun.net.httpserver.ServerImpl$Exchange", "com.acme.Request"})
	b.part.Classes[0].Kinds = units.KindCustom.String()
	b.part.Classes[1].Kinds = (units.KindRunnable | units.KindJDK).String()
	b.exec(1, 2, 1, 2, 5, 5, -1)
	b.exec(2, 0, 2, 2, 6, 1, 3, 4)
	b.exec(1, 3, 1, 2, 7, 7, -1) // by a task of a framework that is itself a unit
	b.exec(3, 0, 3, 2, 9, 2, 1, 2)
	b.part.Creations = []store.Creation{{TaskID: 1, Class: 1, Thread: 1, Site: 1}, {TaskID: 2, Class: 2, Thread: 1, Site: 4}}
	s := b.open(true)
	for by, want := range map[string][]string{
		summary.BySite:     {"com.acme.Main.again:9 1 2 1", "com.acme.Main.run:7 2 13 3"},
		summary.ByExecutor: {"t (Pool) 3 15 4"},
	} {
		sum, err := summary.BuildByOrigin(s, summary.Options{Units: true}, by)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
}
