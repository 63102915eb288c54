package summary_test

import (
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// counted is what summaries count of a class at a site.
type counted struct {
	kind  wire.SiteKind
	site  uint32
	count uint64
}

// TestWhereSummarisedExecutionsBelong: at one site if all tasks of the class can
// come from nowhere else, otherwise at none.
func TestWhereSummarisedExecutionsBelong(t *testing.T) {
	const several, unknown, notSeparated = "(summarised: several sites)", "com.acme.Job (call site unknown)", "(summarised: not separated)"
	const run = "com.acme.Main.run:7"
	const creation, submission, part, inner = wire.SiteCreation, wire.SiteSubmission, wire.SitePart, wire.SiteInner
	for name, c := range map[string]struct {
		sums                 []counted
		queued, unseen, lost uint64
		recorded             []store.Submission // task, site
		made                 []store.Creation
		want                 string
	}{
		"all submitted at one":      {sums: []counted{{creation, 2, 4}, {submission, 1, 4}}, queued: 4, want: run},
		"some run without":          {sums: []counted{{creation, 2, 4}, {submission, 1, 3}}, queued: 3, want: several},
		"one line of two sites":     {sums: []counted{{creation, 3, 4}, {submission, 1, 3}}, queued: 3, want: run},
		"submitted at two":          {sums: []counted{{submission, 1, 2}, {submission, 2, 2}}, queued: 4, want: several},
		"and by a library":          {sums: []counted{{submission, 1, 2}, {inner, 2, 2}}, queued: 4, want: several},
		"only made":                 {sums: []counted{{creation, 1, 4}}, want: run},
		"parts":                     {sums: []counted{{creation, 1, 1}, {part, 0, 3}, {submission, 0, 3}}, queued: 3, want: run},
		"parts of what is unknown":  {sums: []counted{{creation, 0, 1}, {creation, 1, 1}, {part, 0, 2}}, want: several},
		"nothing known":             {sums: []counted{{creation, 0, 4}}, want: unknown},
		"no room for a site":        {sums: []counted{{creation, 1, 3}}, want: several},
		"made before the agent":     {sums: []counted{{creation, 1, 4}}, unseen: 1, want: several},
		"something was lost":        {sums: []counted{{submission, 1, 4}, {creation, 1, 4}}, queued: 4, lost: 1, want: several},
		"an older agent":            {want: notSeparated},
		"recorded elsewhere":        {sums: []counted{{submission, 1, 4}, {creation, 1, 4}}, queued: 4, recorded: []store.Submission{{TaskID: 9, Class: 1, Thread: 1, Site: 2}}, want: several},
		"recorded there too":        {sums: []counted{{submission, 1, 4}, {creation, 1, 4}}, queued: 4, recorded: []store.Submission{{TaskID: 9, Class: 1, Thread: 1, Site: 3}}, want: run},
		"a recorded part":           {sums: []counted{{creation, 1, 4}}, made: []store.Creation{{TaskID: 9, Class: 1, Thread: 1, Flags: uint16(wire.Part)}}, want: run},
		"made nobody knows where":   {sums: []counted{{creation, 1, 4}}, made: []store.Creation{{TaskID: 9, Class: 1, Thread: 1}}, want: several},
		"refused at another, later": {sums: []counted{{submission, 1, 4}, {creation, 1, 4}}, queued: 4, recorded: []store.Submission{{TaskID: 9, Class: 1, Thread: 1, Site: 2, Flags: uint16(wire.Rejected)}}, want: run},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSessionBuilder(t, []string{"", "com.acme.Job"})
			b.part.Submissions, b.part.Creations = c.recorded, c.made
			s := store.Summary{ID: 1, Class: 1, Thread: 1, FromNs: 1, ToNs: 2, Executions: 4, Creations: 4, CreationUnseen: c.unseen, Submissions: c.queued}
			for _, x := range c.sums {
				b.part.SiteSums = append(b.part.SiteSums, store.SiteSum{Class: 1, Thread: 1, Kind: store.SiteKindName(x.kind), Site: x.site, Count: x.count})
			}
			b.part.Summaries = []store.Summary{s}
			b.measure(1, wire.MetricWall, 4)
			if c.queued > 0 {
				b.measure(1, wire.MetricQueue, c.queued)
			}
			b.lost = c.lost
			session := b.open(true)
			sum, err := summary.BuildByOrigin(session, summary.Options{}, summary.BySite)
			if err != nil {
				t.Fatal(err)
			}
			var at []string
			for _, r := range sum.Rows {
				if r.Executions > 0 {
					at = append(at, r.Site)
				}
			}
			if len(at) != 1 || at[0] != c.want {
				t.Errorf("the executions stand at %q, want %q", at, c.want)
			}
			stacks, err := summary.StacksOf(session, summary.Options{})
			if err != nil || len(stacks) != 1 {
				t.Fatalf("%d stacks, %v", len(stacks), err)
			}
			got := stacks[0].Where
			if stacks[0].Site != nil {
				got = stacks[0].Site.Label()
			}
			if want := strings.TrimPrefix(c.want, "com.acme.Job "); got != want || stacks[0].Executor != "" { // a stack has the class in a frame of its own
				t.Errorf("in the stacks at %q of executor %q, want %q of none", got, stacks[0].Executor, c.want)
			}
		})
	}
}

// measure gives summary id a metric with n values of 1 ns.
func (b *sessionBuilder) measure(id uint64, m wire.Metric, n uint64) {
	lowest, highest := histogram.Bounds(1)
	name := store.MetricName(m, nil)
	b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: name, Count: n, SumNs: int64(n), MinNs: 1, MaxNs: 1})
	b.part.Buckets = append(b.part.Buckets, store.Bucket{Summary: id, Metric: name, LowestNs: int64(lowest), HighestNs: int64(highest), Count: n})
}

// TestCountsBySite: what was recorded and what was only counted add up; what
// was refused is taken off.
func TestCountsBySite(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job"})
	b.part.Creations = []store.Creation{{TaskID: 5, Class: 1, Thread: 1, Site: 2}, {TaskID: 6, Class: 1, Thread: 1, Flags: uint16(wire.Part)}, {TaskID: 5, Class: 1, Thread: 1, Flags: uint16(wire.Failed)}}
	b.part.Submissions = []store.Submission{{TaskID: 5, Class: 1, Thread: 1, Site: 1}, {TaskID: 5, Class: 1, Thread: 1, Site: 1, Flags: uint16(wire.Rejected)},
		{TaskID: 5, Class: 1, Thread: 1, Site: 1, Flags: uint16(wire.Inner)}, {TaskID: 5, Class: 1, Thread: 1, Flags: uint16(wire.Cancelled)}}
	for kind, n := range []uint64{10, 20, 3, 4, 5, 6} { // by wire.SiteKind
		b.part.SiteSums = append(b.part.SiteSums, store.SiteSum{Class: 1, Thread: 1, Kind: store.SiteKindName(wire.SiteKind(kind)), Site: 1, Count: n},
			store.SiteSum{Class: 1, Thread: 2, Kind: store.SiteKindName(wire.SiteKind(kind)), Site: 1, Count: 1})
	}
	sum, err := summary.BuildByOrigin(b.open(true), summary.Options{}, summary.BySite)
	if err != nil {
		t.Fatal(err)
	}
	type counts struct{ created, submitted int64 }
	want := map[string]counts{"com.acme.Main.run:7": {11, 21 + 1 - 6 - 1}, "com.acme.Main.again:9": {1, 0}, "(part of a task of its class)": {5, 0}}
	for _, r := range sum.Rows {
		if got := (counts{r.Created, r.Submitted}); got != want[r.Site] {
			t.Errorf("%s: %+v, want %+v", r.Site, got, want[r.Site])
		}
		delete(want, r.Site)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// TestFineAdviceNamesThePlace: that about classes, too.
func TestFineAdviceNamesThePlace(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job"})
	b.part.Summaries = []store.Summary{{ID: 1, Class: 1, Thread: 1, FromNs: 1, ToNs: 2, Executions: 2000, Creations: 2000, Submissions: 2000}}
	for _, m := range []wire.Metric{wire.MetricWall, wire.MetricSelfWall, wire.MetricCPU, wire.MetricSelfCPU, wire.MetricQueue} {
		b.measure(1, m, 2000)
	}
	b.part.SiteSums = []store.SiteSum{{Class: 1, Thread: 1, Kind: "creation", Site: 2, Count: 2000}, {Class: 1, Thread: 1, Kind: "submission", Site: 1, Count: 2000}}
	few := advice.DefaultThresholds
	few.FineGain = 0 // 2000 submissions are little in a session of seconds
	sum, err := summary.Build(b.open(false), summary.Options{Thresholds: &few})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sum.Findings {
		if f.Kind == advice.Advice && f.Rule == "fine-grained" {
			if want := "com.acme.Job is fine-grained (all of it from com.acme.Main.run:7): 2,000 executions"; len(f.Text) < len(want) || f.Text[:len(want)] != want {
				t.Errorf("%s\nwant %s...", f.Text, want)
			}
			return
		}
	}
	t.Errorf("no such advice: %+v", sum.Findings)
}
