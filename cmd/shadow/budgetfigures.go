package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/budget"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// ofSelector are the names of figures that a selector limits.
var ofSelector = []string{"tasks", "metrics", "units", "findings"}

// treeOf are the figures of what a selector chooses: those of shadow stats, or of the row of a listing. judge: findings and parts of response times
// are asked for, too.
func treeOf(env console.Env, s *session.Session, x budget.Selector, judge func() (*summary.Summary, *account.Session, error)) (*summary.Summary, budget.Tree, error) {
	sum, tree, err := chosenTree(env, s, x)
	if err != nil {
		return nil, nil, err
	}
	if x.Kind != budget.All {
		tree.WholeRun(slices.DeleteFunc(budget.Keys(sum), func(key string) bool { return slices.Contains(ofSelector, key) }))
	}
	if judge != nil && x.Kind != budget.Executor && x.Kind != budget.Site {
		more, err := judgedTree(judge, x)
		if err != nil {
			return nil, nil, err
		}
		tree.Add(more)
	}
	return sum, tree, nil
}

func chosenTree(env console.Env, s *session.Session, x budget.Selector) (*summary.Summary, budget.Tree, error) {
	var o summary.Options
	switch x.Kind {
	case budget.Executor, budget.Site:
		return rowTree(s, x)
	case budget.Class, budget.Unit:
		o.Filter.Class = x.Glob
	}
	o.Units = x.Kind == budget.Unit || x.Kind == budget.Units
	sum, err := choice.Condense(env, s, o)
	if err != nil {
		return nil, nil, err
	}
	sum.Findings = nil // sentences, no figures
	tree, err := budget.TreeOf(sum)
	if err == nil && x.Glob != "" && len(sum.Rows) == 0 {
		tree.Empty("no class of the session matches " + x.Glob)
	}
	for name, d := range sum.Doubts() {
		tree.Doubt(name, d.Why, d.Below, d.Above)
	}
	return sum, tree, err
}

// maxListed is how many names a message lists.
const maxListed = 3

// rowTree are the figures of the one row of a listing that a glob matches.
func rowTree(s *session.Session, x budget.Selector) (*summary.Summary, budget.Tree, error) {
	sum, err := summary.BuildByOrigin(s, summary.Options{}, x.Kind)
	if errors.Is(err, summary.ErrNoSubmissions) {
		sum, err := summary.Build(s, summary.Options{Brief: true}) // says what the program was
		if err != nil {
			return nil, nil, err
		}
		tree, err := budget.TreeOf(&granularity.Hotspot{})
		if err == nil {
			tree.Missing(summary.ErrNoSubmissions.Error())
		}
		return sum, tree, err
	}
	if err != nil {
		return nil, nil, err
	}
	var found []*granularity.Hotspot
	var labels []string
	for i := range sum.Rows {
		r := &sum.Rows[i]
		label := r.Executor + r.Site // one of them is empty
		if ok, _ := path.Match(strings.ReplaceAll(x.Glob, "/", "."), strings.ReplaceAll(label, "/", ".")); ok || label == x.Glob {
			found, labels = append(found, r), append(labels, label)
		}
	}
	switch {
	case len(found) == 0:
		found = append(found, &granularity.Hotspot{})
	case len(found) > 1:
		if len(labels) > maxListed {
			labels = append(labels[:maxListed], "...")
		}
		return nil, nil, console.Usagef("%s matches %d: %s; choose one", text.OneLine(x.String()), len(found), text.OneLine(strings.Join(labels, ", ")))
	}
	tree, err := budget.TreeOf(found[0])
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", text.OneLine(x.String()), err)
	}
	if len(labels) == 0 {
		tree.Empty("no " + x.Kind + " of the session matches " + x.Glob)
	}
	for name, d := range sum.RowDoubts() {
		tree.Doubt(name, d.Why, d.Below, d.Above)
	}
	return sum, tree, nil
}
