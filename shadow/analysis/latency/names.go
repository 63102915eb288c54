package latency

import (
	"fmt"

	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// names finds the program's names of units, if no execution has a class that matches, and
// adds those that match to the wanted ones.
func (r *reader) names() (*callsite.Names, error) {
	if !r.tasks.Units || !callsite.MayName(r.s) {
		return nil, nil
	}
	x, err := callsite.Of(r.s)
	if err != nil {
		return nil, fmt.Errorf("naming the units of work: %w", err)
	}
	names := callsite.NewNames(x)
	for _, c := range names.Classes() {
		r.wanted[c.ID] = r.filter.Match(c.Name, c.Kinds)
		r.titles[c.ID] = c.Name
	}
	return names, nil
}

// see notes the name of what was found.
func (r *reader) see(class uint32) {
	name := r.titles[class]
	if name == "" {
		name = unit.ClassName(r.s, class)
	}
	r.seen[name] = true
}

// noResponse says why response times are missing.
func (r *reader) noResponse() {
	t := &r.tasks
	switch why := r.s.Manifest.NotAvailable["queue"]; {
	case why != "":
		t.NoResponse = why
	case !unit.SubmissionsKnown(r.s) && len(t.SummarisedResponses) == 0:
		t.NoResponse = "the session has no submissions"
	case t.SummarisedCount() > 0 && len(t.SummarisedResponses) == 0:
		t.NoResponse = "the summaries of fast classes do not have it: record with detail=all"
	case len(t.Responses) == 0 && len(t.SummarisedResponses) == 0:
		t.NoResponse = "these tasks were not submitted by themselves"
	}
}
