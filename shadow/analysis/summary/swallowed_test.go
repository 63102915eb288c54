package summary_test

import (
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestSwallowed: a future keeps the exception of its task. The finding says that nobody
// asked for the result only if every call that could have asked is known.
func TestSwallowed(t *testing.T) {
	const (
		future   = "java.util.concurrent.FutureTask"
		nobody   = "; nobody asked for it. "
		notKnown = "; whether anybody asked the future for it is not known. "
		recorded = wire.Asked | wire.Forgotten
	)
	for name, c := range map[string]struct {
		future string
		flags  []wire.SubmissionFlags // of the task
		change func(*sessionBuilder)
		want   string // part of the finding; "": none
	}{
		"nobody asks":                 {future, []wire.SubmissionFlags{recorded}, nil, nobody},
		"somebody asks":               {future, []wire.SubmissionFlags{recorded, wire.Asked}, nil, ""},
		"it is cancelled":             {future, []wire.SubmissionFlags{recorded, wire.Cancelled}, nil, ""},
		"it had to make room":         {future, []wire.SubmissionFlags{recorded, wire.Forgotten}, nil, notKnown},
		"not recorded":                {future, nil, nil, notKnown},
		"lost, perhaps that one asks": {future, []wire.SubmissionFlags{recorded}, func(b *sessionBuilder) { b.lost = 1 }, notKnown},
		"another library's future":    {"com.google.common.util.concurrent.TrustedListenableFutureTask", []wire.SubmissionFlags{recorded}, nil, notKnown},
		"the end is missing":          {future, []wire.SubmissionFlags{recorded}, func(b *sessionBuilder) { b.ended = store.EndedLostContact }, "; nobody asked for it, as far as recorded. "},
	} {
		b := newSessionBuilder(t, []string{"", c.future, "com.acme.Job"})
		b.exec(2, 1, 2, 2, 5, 5, -1)
		b.part.Executions[0].Flags = uint16(wire.Threw)
		b.now -= 2
		b.exec(1, 0, 1, 2, 10, 5, 3, 1)
		for i, flags := range c.flags {
			b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: 2, Class: 2, Thread: 2, Flags: uint16(flags), AtNs: b.part.Executions[1].EndNs + units.MonoNs(i)})
		}
		if c.change != nil {
			c.change(b)
		}
		sum, err := summary.Build(b.open(true), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []advice.Finding
		for _, f := range sum.Findings {
			if f.Rule == "swallowed-exceptions" {
				found = append(found, f)
			}
		}
		switch {
		case c.want == "" && len(found) == 0:
		case c.want == "" || len(found) != 1 || found[0].Class != "com.acme.Job" || !strings.Contains(found[0].Text, c.want):
			t.Errorf("%s: %+v, want %q", name, found, c.want)
		}
	}
}
