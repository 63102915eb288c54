package summary

import (
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// buildUnits condenses the units of work of the session instead of its executions.
func (a *analysis) buildUnits() (*Summary, error) {
	sum, err := a.inUnits()
	if err != nil {
		return nil, err
	}
	sum.facts.Note = sum.Units
	if !a.opts.Filter.Active() {
		return sum, a.advise(sum)
	}
	sum.Findings = advice.Find(&sum.facts)
	return sum, nil
}

// inUnits condenses the units, without advice about them.
func (a *analysis) inUnits() (*Summary, error) {
	u, err := unit.Of(a.s)
	if err != nil {
		return nil, err
	}
	names, err := a.named()
	if err != nil {
		return nil, err
	}
	sum, err := BuildFrom(unitSource(a.s, u, names), a.opts)
	if err != nil {
		return nil, err
	}
	sum.Units = u.Note(sum.Tasks.Summarised)
	if !a.opts.Shapes {
		return sum, nil
	}
	return sum, a.queues(sum.Figures, max(a.opts.Classes, DefaultClasses))
}

// unitSource is the session with units as its executions.
func unitSource(s *session.Session, u *unit.Reader, names *callsite.Names) Source {
	src := FromSession(s)
	src.Of = text.UnitsOfWork
	src.Executions = func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.Chunks(unitClass(names), func(c *session.Chunk, group []uint32) error {
			of := *c
			of.Class = group
			return use(0, &of)
		})
	}
	src.Summaries, src.Counts = u.Summaries, u.ClassCounts
	if names != nil {
		name(&src, names, true)
	}
	return src
}
