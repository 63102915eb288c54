package diff

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// Found is a finding of the account of time: that of the same rule, class and executor on both sides.
type Found struct {
	advice.Finding     // as B says it, or A if it went; without evidence
	RunsA          int `json:"runs_a"` // of A that have it
	RunsB          int `json:"runs_b"`
}

// account adds the findings of the account of time, and what the response times of each class went to.
func (r *Run) account(s *session.Session, f summary.Filter) error {
	switch {
	case f.Active():
		r.NotAvailable[Cause] = "the account of time is of all classes: leave out --class, --app and --trace"
		return nil
	case r.Partial:
		r.NotAvailable[Cause] = "executions are missing in session " + text.OneLine(r.Session)
		return nil
	}
	a, err := account.NewPredictor(s).Account()
	if err != nil {
		r.NotAvailable[Cause] = text.OneLine(err.Error())
		return nil
	}
	r.Findings = advice.OfAccount(a, a.LengthNs)
	for i := range a.Classes {
		c := &a.Classes[i]
		for _, p := range c.Parts {
			r.Rows[keyOf(Cause, c.Name+" "+p.What)] = map[string]float64{"unit_ns": float64(p.Ns / units.Ns(max(1, c.Units)))}
		}
	}
	return nil
}

// finding is the one of a name; nil: the run does not have it.
func (r *Run) finding(name string) *advice.Finding {
	for i := range r.Findings {
		if nameOf(&r.Findings[i]) == name {
			return &r.Findings[i]
		}
	}
	return nil
}

func nameOf(f *advice.Finding) string { return f.Rule + " " + f.Class + " " + f.Executor }

// found pairs the findings of both sides: those that came first, then those that went.
func found(a, b []*Run) []Found {
	names := func(runs []*Run) (list []string) {
		for _, r := range runs {
			for i := range r.Findings {
				list = append(list, nameOf(&r.Findings[i]))
			}
		}
		return list
	}
	out := []Found{}
	for _, p := range match(names(a), names(b)) {
		var x Found
		count := func(runs []*Run, name string) (n int) {
			for _, r := range runs {
				if f := r.finding(name); f != nil {
					x.Finding, n = *f, n+1
				}
			}
			return n
		}
		x.RunsA, x.RunsB = count(a, p.a), count(b, p.b)
		x.Evidence = nil
		out = append(out, x)
	}
	order := func(x *Found) int {
		switch {
		case x.RunsA == 0:
			return 0
		case x.RunsB == 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(x, y Found) int {
		return cmp.Or(cmp.Compare(order(&x), order(&y)), cmp.Compare(y.Worth, x.Worth), cmp.Compare(x.Title, y.Title))
	})
	return out
}

// FoundTexts say in a line each which findings came, went and stayed.
func (d *Diff) FoundTexts() (lines []string) {
	for i := range d.Findings {
		x := &d.Findings[i]
		in := "In both"
		switch {
		case x.RunsA == 0:
			in = "Only in B"
		case x.RunsB == 0:
			in = "Only in A"
		}
		if d.A.Runs > 1 || d.B.Runs > 1 {
			in += fmt.Sprintf(" (%d of %d in A, %d of %d in B)", x.RunsA, d.A.Runs, x.RunsB, d.B.Runs)
		}
		lines = append(lines, fmt.Sprintf("%s: %s.", in, x.Title))
	}
	return lines
}
