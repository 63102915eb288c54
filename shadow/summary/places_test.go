package summary_test

import (
	"slices"
	"testing"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
)

// TestWays: a task stands with the hand-over that the program made, whatever the
// executor does with it inside of that and whichever is told first; what differs
// between several of the program's hand-overs is not told, what they share is.
func TestWays(t *testing.T) {
	type handOver struct {
		executor, site uint32
		inner          bool
	}
	for _, c := range []struct {
		name           string
		overs          []handOver
		site, executor string
	}{
		{"forwarded", []handOver{{1, 1, false}, {2, 2, true}}, "com.acme.Main.run:7", "com.acme.Pool#1"},
		{"forwarded, told first", []handOver{{2, 2, true}, {1, 1, false}}, "com.acme.Main.run:7", "com.acme.Pool#1"},
		{"forwarded twice", []handOver{{1, 1, false}, {2, 2, true}, {1, 2, true}}, "com.acme.Main.run:7", "com.acme.Pool#1"},
		{"only by a library", []handOver{{2, 1, true}}, "com.acme.Main.run:7", "com.acme.Forward#2"},
		{"by a library in two ways", []handOver{{2, 1, true}, {1, 2, true}}, "(several)", "(several)"},
		{"twice, the same", []handOver{{1, 1, false}, {1, 1, false}}, "com.acme.Main.run:7", "com.acme.Pool#1"},
		{"at two places", []handOver{{1, 1, false}, {1, 2, false}}, "(several)", "com.acme.Pool#1"},
		{"at two places and back", []handOver{{1, 1, false}, {1, 2, false}, {1, 1, false}}, "(several)", "com.acme.Pool#1"},
		{"to two executors", []handOver{{1, 1, false}, {2, 1, false}}, "com.acme.Main.run:7", "(several)"},
		{"to two, and forwarded", []handOver{{1, 1, false}, {1, 2, true}, {2, 1, false}}, "com.acme.Main.run:7", "(several)"},
	} {
		b := newSessionBuilder(t, []string{"", "com.acme.Job"})
		b.exec(1, 0, 1, 1, 5, 5, 3)
		b.part.Submissions = nil
		for _, o := range c.overs {
			x := store.Submission{TaskID: 1, Class: 1, Thread: 1, Executor: o.executor, Site: o.site, AtNs: b.part.Executions[0].SubmittedNs}
			if o.inner {
				x.Flags = uint16(wire.Inner)
			}
			b.part.Submissions = append(b.part.Submissions, x)
		}
		s := b.open(true)
		for by, want := range map[string]string{summary.BySite: c.site, summary.ByExecutor: c.executor} {
			sum, err := summary.BuildPlaces(s, summary.Options{Units: true}, by)
			if err != nil {
				t.Fatal(err)
			}
			if got := rowsOf(sum.Rows); !slices.Equal(got, []string{want + " 1 5 3"}) {
				t.Errorf("%s: by %s it is %q, want it at %s", c.name, by, got, want)
			}
		}
	}
}

// TestPlaceOfUnit: a unit stands where it was handed over, though its task was made
// elsewhere; one of which the hand-over was summarised is not called one that nobody
// handed over, and stands where its task was made.
func TestPlaceOfUnit(t *testing.T) {
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
		summary.BySite:     {"(summarised: not told apart) 1 7 3", "com.acme.Main.again:9 1 6 3", "com.acme.Main.run:7 1 6 3"},
		summary.ByExecutor: {"(summarised: not told apart) 2 13 6", "com.acme.Pool#1 1 6 3"},
	} {
		sum, err := summary.BuildPlaces(s, summary.Options{Units: true}, by)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
	sum, err := summary.BuildPlaces(s, summary.Options{}, summary.ByExecutor)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"(not handed to an executor) 2 10 0", "(summarised: not told apart) 2 8 6", "com.acme.Pool#1 1 1 3"}; !slices.Equal(got, want) {
		t.Errorf("executions: %q, want %q", got, want)
	}
}
