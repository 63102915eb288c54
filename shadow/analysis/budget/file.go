package budget

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/text"
	"stackagent/internal/yamlfile"
)

// Severities of a budget.
const (
	SeverityError   = "error"   // if it is broken, the check fails
	SeverityWarning = "warning" // it is only reported
)

// Budget is a promise about figures.
type Budget struct {
	Name     string
	Why      string
	Severity string
	Holds    *Expr // what must hold; nil: Fails is set
	Fails    *Expr // what must not hold: --fail-if
	File     string
	Line     int // in File; 0: of the command line
}

// Expr is what is evaluated.
func (b *Budget) Expr() *Expr {
	if b.Fails != nil {
		return b.Fails
	}
	return b.Holds
}

// FailIf is the budget of an expression that must not hold.
func FailIf(expression string) (*Budget, error) {
	x, err := Parse(expression)
	if err != nil {
		return nil, err
	}
	return &Budget{Name: "fail if " + expression, Severity: SeverityError, Fails: x}, nil
}

// Read reads the budgets of a file that is open.
func Read(r io.Reader, path string) ([]*Budget, error) {
	data, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("reading budgets: %w", err)
	}
	budgets, err := parseBudgets(data)
	if err != nil {
		return nil, fmt.Errorf("budgets %s: %w", text.OneLine(path), err)
	}
	for _, b := range budgets {
		b.File = path
	}
	return budgets, nil
}

func parseBudgets(data []byte) ([]*Budget, error) {
	n, err := yamlfile.Document(data, maxBytes)
	if err != nil {
		return nil, err
	}
	var budgets []*Budget
	err = yamlfile.Fields(n, "file of budgets", map[string]yamlfile.Setter{"budgets": func(n *yaml.Node) error {
		return each(n, "budgets", maxBudgets, func(n *yaml.Node) error {
			b, err := parseBudget(n)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(budgets, func(o *Budget) bool { return o.Name == b.Name }); i >= 0 {
				return yamlfile.At(n, "the budget on line %d is named %q, too", budgets[i].Line, b.Name)
			}
			budgets = append(budgets, b)
			return nil
		})
	}})
	if err == nil && len(budgets) == 0 {
		err = errors.New("it has no budgets")
	}
	return budgets, err
}

func parseBudget(n *yaml.Node) (*Budget, error) {
	b := &Budget{Severity: SeverityError, Line: n.Line}
	expression := func(n *yaml.Node) error {
		var s string
		if err := line(&s)(n); err != nil {
			return err
		}
		x, err := Parse(s)
		if err != nil {
			return yamlfile.At(n, "expr: %w", err)
		}
		b.Holds, b.Line = x, n.Line
		return nil
	}
	severity := func(n *yaml.Node) error {
		if err := line(&b.Severity)(n); err != nil {
			return err
		}
		if b.Severity != SeverityError && b.Severity != SeverityWarning {
			return yamlfile.At(n, "severity: %q: use error or warning", text.Cut(b.Severity, 40))
		}
		return nil
	}
	name := func(n *yaml.Node) error {
		err := line(&b.Name)(n)
		if err == nil && (b.Name == "" || len(b.Name) > maxText) {
			err = yamlfile.At(n, "name: use 1 to %d characters", maxText)
		}
		return err
	}
	err := yamlfile.Fields(n, "budget", map[string]yamlfile.Setter{"name": name, "expr": expression, "why": line(&b.Why), "severity": severity})
	switch {
	case err != nil:
		return nil, err
	case b.Holds == nil:
		return nil, yamlfile.At(n, "a budget without expr:")
	case b.Name == "":
		b.Name = b.Holds.Text
	}
	return b, nil
}
