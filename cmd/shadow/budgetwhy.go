package main

import (
	"strings"

	"stackagent/internal/text"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/budget"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// judged are the findings and the account of time of a session, as figures of budgets.
type judged struct {
	// Findings counts the advice of each rule, with _ for -, and in all that of all rules.
	Findings   map[string]int   `json:"findings"`
	NoFindings string           `json:"findings_not_available,omitempty"` // why
	Account    *account.Figures `json:"why"`
	NoAccount  string           `json:"why_not_available,omitempty"` // why
}

// judge finds what a session's budgets may be about, once for all of them.
func judge(s *session.Session) func() (*summary.Summary, *account.Session, error) {
	var sum *summary.Summary
	p := account.NewPredictor(s)
	return func() (*summary.Summary, *account.Session, error) {
		if sum == nil {
			var err error
			if sum, err = summary.Build(s, summary.Options{Replayer: p}); err != nil {
				return nil, nil, err
			}
		}
		a, err := p.Account()
		return sum, a, err
	}
}

// judgedTree are the figures of what a selector chooses.
func judgedTree(judge func() (*summary.Summary, *account.Session, error), x budget.Selector) (budget.Tree, error) {
	var f judged
	sum, a, err := judge()
	switch {
	case sum == nil:
		return nil, err
	case err != nil:
		f.NoFindings, f.NoAccount = text.OneLine(err.Error()), text.OneLine(err.Error())
		return budget.TreeOf(&f)
	}
	var match func(string) bool
	if x.Glob != "" {
		match = func(class string) bool { return summary.Filter{Class: x.Glob}.Match(class, 0) }
	}
	f.Findings = map[string]int{"all": 0}
	for _, rule := range advice.Rules() {
		f.Findings[ruleName(rule)] = 0
	}
	for i := range sum.Findings {
		if x := &sum.Findings[i]; x.Kind == advice.Advice && (match == nil || match(x.Class)) {
			f.Findings[ruleName(x.Rule)]++
			f.Findings["all"]++
		}
	}
	if f.Account = a.Figures(match); f.Account == nil {
		f.NoAccount = "it has no unit of work"
	}
	return budget.TreeOf(&f)
}

func ruleName(rule string) string { return strings.ReplaceAll(rule, "-", "_") }
