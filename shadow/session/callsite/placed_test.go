package callsite_test

import (
	"fmt"
	"testing"

	"stackagent/shadow/session/callsite"
	"stackagent/shadow/store"
)

// TestSitesOfSummarisedClasses: a recorded task without a site has that of its class, where all summarised tasks of the class
// have one, and keeps its executor. Many such classes with many executors are not their product many origins.
func TestSitesOfSummarisedClasses(t *testing.T) {
	const n = 300
	p := &store.Part{Range: store.Range{From: 1, To: 1}}
	for i := range uint32(n) {
		id := i + 1
		p.Classes = append(p.Classes, store.Class{ID: id, Name: fmt.Sprintf("app.Task%d", i), Kinds: "runnable"})
		p.Sites = append(p.Sites, store.Site{ID: id, Class: "app.Main", Method: "main", File: "Main.java", Line: int32(id), Calls: "execute"})
		p.Executors = append(p.Executors, store.Executor{ID: id, Class: "app.Serial", MadeIn: fmt.Sprintf("app.Main.call%d", i)})
		p.Submissions = append(p.Submissions, store.Submission{TaskID: uint64(id), Class: id, Thread: 1, Executor: id, AtNs: 10})
		p.Summaries = append(p.Summaries, store.Summary{ID: 1<<14 + uint64(i), Class: id, Thread: 1, FromNs: 1, ToNs: 20, Executions: 1, First: 1, Creations: 1, Submissions: 1})
		for _, kind := range []string{"creation", "submission"} {
			p.SiteSums = append(p.SiteSums, store.SiteSum{Class: id, Thread: 1, Kind: kind, Site: id, Count: 1})
		}
	}
	x := indexOfPart(t, p)
	if x.Len() > 4*n { // of its executor, its site, its submission and its summaries
		t.Errorf("%d origins of %d executors and as many classes", x.Len(), n)
	}
	seen := map[callsite.ID]bool{}
	for id := uint32(1); id <= n; id++ {
		of := x.OfTask(uint64(id), id, true)
		if o := x.At(of); o.Site != id || o.Executor != id || seen[of] {
			t.Fatalf("task %d: %+v, %v", id, o, seen[of])
		}
		seen[of] = true
		for _, by := range []string{callsite.BySite, callsite.ByExecutor} {
			if as := of.As(by); int(as) >= x.Len() || x.Label(x.At(as), by) != x.Label(x.At(of), by) {
				t.Errorf("task %d by %s: %d, of %d", id, by, as, x.Len())
			}
		}
		if o := x.At(x.OfTask(uint64(id), id, false)); o.Site != 0 {
			t.Errorf("task %d, whose creation was not seen: %+v", id, o)
		}
		if one := x.OfTask(n+1, id, true); one.As(callsite.BySite) != one || x.At(one).Site != id {
			t.Errorf("class %d without a record: %+v", id, x.At(one))
		}
	}
}
