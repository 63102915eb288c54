package report

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/wait"
)

// waitRows is the number of rows in each table of waits.
const waitRows = 20

// waits is the data of the section on waits.
type waits struct {
	Rows     []*wait.Row
	More     int
	Units    []waitBar
	MoreUnit int
	Parts    []wait.Part // those in some bar
	Idle     wait.Idle
	Absent   []reason
}

// waitBar is a class of units, and its time as a stacked bar.
type waitBar struct {
	*wait.Breakdown
	Stack []waitPart
}

// waitPart is a part of a bar that is 100 wide.
type waitPart struct {
	wait.Part
	X, Width string
	Time     units.Ns
}

// Waits are what threads waited for; nil if the session has no waits.
func (p *data) Waits() *waits {
	if p.Figures == nil || p.Figures.Waits == nil {
		return nil
	}
	a := p.Figures.Waits
	if a.NotAvailable[wait.NoWaits] != "" && a.NotAvailable[wait.NoRecord] != "" {
		return nil
	}
	rows := a.Rows(false)
	w := &waits{Idle: wait.IdleOf(rows)}
	rows = slices.DeleteFunc(rows, func(r *wait.Row) bool { return r.For == wait.ForQueue })
	w.Rows = rows[:min(len(rows), waitRows)]
	w.More = len(rows) - len(w.Rows)
	all := a.ByUnit()
	shown := all[:min(len(all), waitRows)]
	w.MoreUnit = len(all) - len(shown)
	for _, b := range shown {
		w.Units = append(w.Units, waitBar{b, stackOf(b)})
	}
	for i := range wait.Parts {
		if slices.ContainsFunc(shown, func(b *wait.Breakdown) bool { return wait.Parts[i].Ns(b) > 0 }) {
			w.Parts = append(w.Parts, wait.Parts[i])
		}
	}
	for what, why := range a.NotAvailable {
		w.Absent = append(w.Absent, reason{what, why})
	}
	slices.SortFunc(w.Absent, func(a, b reason) int { return cmp.Compare(a.What, b.What) })
	if len(w.Rows) == 0 && len(w.Units) == 0 {
		return nil
	}
	return w
}

// stackOf divides a bar.
func stackOf(b *wait.Breakdown) (stack []waitPart) {
	whole, at := float64(max(b.WallNs(), 1)), 0.0
	for i := range wait.Parts {
		part := &wait.Parts[i]
		width := 100 * float64(part.Ns(b)) / whole
		if width > 0 {
			stack = append(stack, waitPart{*part, fmt.Sprintf("%.2f", at), fmt.Sprintf("%.2f", width), part.Ns(b)})
		}
		at += width
	}
	return stack
}

// firstShare is the name of the longest share, for the template.
func firstShare(s wait.Shares) string {
	if list := s.List(); len(list) > 0 {
		return list[0].Name
	}
	return ""
}
