package diff

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// summaryOf is a run with 10 executions of 1 ms of each class, and what its manifest says of it.
func summaryOf(m store.Manifest, classes ...string) *summary.Summary {
	s := &summary.Summary{Session: "s", DurationNs: 1e9, Incomplete: session.IncompleteOf(&m), NotAvailable: map[string]string{}}
	for _, c := range classes {
		d := granularity.Distribution{Count: 10, Sum: 10_000_000, Mean: 1e6}
		q := granularity.Distribution{Count: 10, Sum: 10_000, Mean: 1000, Name: granularity.QueueName}
		s.Tasks.Executions += 10
		s.Metrics = granularity.Metrics{granularity.Wall: d, granularity.SelfWall: d, granularity.SelfCPU: d, 99: q}
		s.Rows = append(s.Rows, granularity.Hotspot{Class: c, Executions: 10, Metrics: s.Metrics})
	}
	s.GC.Pauses, s.GC.PauseNs = 3, units.Ns(3e6)
	return s
}

// A side with a session of which a part is missing: sums are bounds, means are not there, and nothing is judged, new or gone.
// A complete session on both sides, and one that lost single events, are compared.
func TestPartial(t *testing.T) {
	whole := store.Manifest{Ended: store.EndedExit}
	for name, c := range map[string]struct {
		m       store.Manifest
		partial bool
		work    bool // sums of self times are bounds
	}{
		"complete":          {whole, false, true},
		"ring full":         {store.Manifest{Ended: store.EndedExit, Lost: store.Lost{Events: 1}}, false, true},
		"batches lost":      {store.Manifest{Ended: store.EndedExit, Lost: store.Lost{Batches: 1}}, true, true},
		"files missing":     {store.Manifest{Ended: store.EndedExit, NotAvailable: map[string]string{session.Totals: "a file"}}, true, true},
		"part of a session": {store.Manifest{Ended: store.EndedExit, PartOf: []string{"only 2 executions"}}, true, false},
	} {
		var a, b []*Run
		for range 3 {
			a, b = append(a, RunOf(summaryOf(whole, "a.A", "a.Gone"))), append(b, RunOf(summaryOf(c.m, "a.A", "a.New")))
		}
		d := compared(t, a, b)
		if !c.partial {
			if d.New != 1 || d.Gone != 1 || d.Judged == 0 || row(t, d, "a.Gone").Figures[0].Verdict != Gone {
				t.Errorf("%s: %+v", name, d)
			}
			continue
		}
		if d.New+d.Gone+d.Different != 0 || d.Judged != 1 { // of the whole run, the duration
			t.Errorf("%s: new %d, gone %d, different %d, judged %d", name, d.New, d.Gone, d.Different, d.Judged)
		}
		for _, r := range d.Rows {
			for _, f := range r.Figures {
				switch {
				case r.By == Whole && f.Name != "duration_ns" && !math.IsNaN(f.B.Mean):
					t.Errorf("%s: %s of the whole run is %v", name, f.Name, f.B.Mean)
				case r.By == Class && (f.Verdict != NotKnown || f.P != nil || !math.IsNaN(f.Change.Mean)):
					t.Errorf("%s: %s: %+v", name, r.Name, f)
				case f.Name == "queue_ns" && !math.IsNaN(f.B.Mean):
					t.Errorf("%s: a mean over a part: %+v", name, f)
				}
			}
		}
		table := new(bytes.Buffer)
		if err := d.Markdown(table, d.Rows); err != nil {
			t.Fatal(err)
		}
		work := "n/a"
		if c.work {
			work = "≥10.0 ms"
		}
		for _, want := range []string{
			"| a.A | work | 10.0 ms | " + work + " |  |  |  | not known |", "| a.Gone | work | 10.0 ms | n/a |  |  |  | not known |",
		} {
			if !strings.Contains(table.String(), want) {
				t.Errorf("%s: %s lacks %s", name, table, want)
			}
		}
	}
}
