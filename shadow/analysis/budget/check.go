package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/granularity/estimate"
	"stackagent/internal/units"
)

// State is what became of a budget.
type State string

// The states.
const (
	Kept         State = "kept"
	Broken       State = "broken"
	NotAvailable State = "not_available"
)

// Result is a budget and what the sessions say of it.
type Result struct {
	*Budget
	State   State
	Why     string // not available
	Of      string // the session, if each is checked on its own
	Figures []Shown
	empty   bool // the sessions have nothing that a figure is of
	excused bool // another session that is checked on its own has it
}

// Shown is a figure of a result.
type Shown struct {
	Name     string            `json:"name"`
	Unit     string            `json:"unit"`
	Value    estimate.Interval `json:"value"`
	AtLeast  *float64          `json:"at_least,omitempty"` // of a figure that is not exact: what the true one is at least
	AtMost   *float64          `json:"at_most,omitempty"`  // of such a figure: what the true one is at most
	Why      string            `json:"not_available,omitempty"`
	Baseline *float64          `json:"baseline"` // mean; null: it plays no part
	Change   *Change           `json:"-"`
	margin
}

// Text is the figure in words.
func (s *Shown) Text() string {
	if s.Why != "" {
		return s.Name + " is not available: " + s.Why
	}
	line := s.bound()
	if s.Value.Known() && s.Value.High > s.Value.Low {
		line += fmt.Sprintf(" (%s to %s at 95 %%, %d runs)", units.FormatIn(s.Unit, s.Value.Low), units.FormatIn(s.Unit, s.Value.High), s.Value.N)
	}
	if s.Change != nil && s.Baseline != nil && s.unbounded() == "" {
		line += ", " + s.Change.Text() + " against " + units.FormatIn(s.Unit, *s.Baseline)
	}
	return line
}

// bound is the figure with its margin only.
func (s *Shown) bound() string { return s.Name + " is " + s.margin.text(s.Unit, s.Value.Mean) }

// Text says in one line what became of the budget.
func (r *Result) Text() string {
	var parts []string
	if r.State == NotAvailable {
		parts = append(parts, "not available: "+r.Why)
	}
	for i := range r.Figures {
		s := &r.Figures[i]
		if said := r.State == NotAvailable && (s.Why != "" || strings.HasPrefix(r.Why, s.bound())); !said {
			parts = append(parts, s.Text())
		}
	}
	return strings.Join(parts, "; ")
}

// Fails reports whether the result fails the check: a gate that nobody can decide is not passed. allowEmpty lets it pass.
func (r *Result) Fails(allowEmpty bool) bool {
	return r.Severity == SeverityError && (r.State == Broken || r.State == NotAvailable && !allowEmpty && !r.excused)
}

// Excuse lets sessions that are checked each on its own have nothing of what another of them has: of the JVMs of a build, most
// do not run what a budget is of.
func Excuse(results []*Result) {
	found := map[*Budget]bool{}
	for _, r := range results {
		found[r.Budget] = found[r.Budget] || !r.empty
	}
	for _, r := range results {
		r.excused = r.empty && found[r.Budget]
	}
}

// Check evaluates budgets over figures; of names the session, if each is checked on its own.
func Check(budgets []*Budget, f *Figures, of string) []*Result {
	out := make([]*Result, 0, len(budgets))
	for _, b := range budgets {
		x := b.Expr()
		v := x.root.eval(f)
		r := &Result{Budget: b, State: Kept, Of: of, Figures: shown(x, f)}
		r.empty = slices.ContainsFunc(x.Names, func(n Name) bool { return f.Sample(n).Empty })
		switch {
		case v.why != "":
			r.State, r.Why = NotAvailable, v.why
		case (v.v == 1) == (b.Fails != nil):
			r.State = Broken
		}
		out = append(out, r)
	}
	return out
}

func shown(x *Expr, f *Figures) []Shown {
	var out []Shown
	for _, n := range x.Names {
		s := f.Sample(n)
		show := Shown{Name: n.String(), Unit: n.Unit(), Value: estimate.Mean(s.Values), Why: s.Why, margin: s.margin}
		if s.Why == "" {
			show.AtLeast, show.AtMost = s.margin.bounds(show.Value.Mean)
		}
		if slices.Contains(x.Baseline, n) {
			if b := f.Baseline.sample(n); b.Why == "" {
				mean := estimate.Mean(b.Values).Mean
				change := f.Change(n)
				show.Baseline, show.Change = &mean, &change
			}
		}
		out = append(out, show)
	}
	return out
}

// Names are the figures of a session that budgets need, each once, in the order of their first use.
func Names(budgets []*Budget) []Name {
	var out []Name
	for _, b := range budgets {
		for _, n := range b.Expr().Names {
			add(&out, n)
		}
	}
	return out
}

// BaselineNames are the figures of the baseline that budgets need.
func BaselineNames(budgets []*Budget) []Name {
	var out []Name
	for _, b := range budgets {
		for _, n := range b.Expr().Baseline {
			add(&out, n)
		}
	}
	return out
}

// Selectors are those of names, each once.
func Selectors(names []Name) ([]Selector, error) {
	var out []Selector
	for _, n := range names {
		if !slices.Contains(out, n.Selector) {
			out = append(out, n.Selector)
		}
	}
	if len(out) > maxSelectors {
		return nil, fmt.Errorf("more than %d selectors: each reads every session", maxSelectors)
	}
	slices.SortFunc(out, func(a, b Selector) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Glob, b.Glob)) })
	return out, nil
}
