package advice

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// rule makes findings of one kind.
type rule struct {
	name string
	kind FindingKind // of its findings, unless they set their own
	find func(*search) []Finding
}

// rules lists all rules. Findings of a kind are reported in this order, advice by its rank.
var rules = []rule{
	{name: "volume", kind: Fact, find: one(volume)},
	{name: "fineness", kind: Fact, find: one(fineness)},
	{name: "work", kind: Fact, find: one(whereWork)},
	{name: "allocated", kind: Fact, find: one(allocated)},
	{name: "processors", kind: Fact, find: one(processors)},
	{name: "gc", kind: Fact, find: one(pauses)},
	{name: "exceptions", kind: Fact, find: one(threw)},
	{name: "never-executed", kind: Fact, find: one(neverRun)},
	{name: "observed", kind: Fact, find: one(observed)},
	{name: "bound", kind: Fact, find: one(bound)},

	{name: "obstacle", kind: Advice, find: obstacles},
	{name: "fine-grained", kind: Advice, find: fineGrained},
	{name: "pinned-threads", kind: Advice, find: one(pinned)},
	{name: "coarse-grained", kind: Advice, find: coarseExecutions},
	{name: "deep-nesting", kind: Advice, find: one(deepNesting)},
	{name: "ended-periodic", kind: Advice, find: endedPeriodic},
	{name: "one-part", kind: Advice, find: oneParts},
	{name: "spinning", kind: Advice, find: spinning},
	{name: "inline-stages", kind: Advice, find: inlineStages},
	{name: "swallowed-exceptions", kind: Advice, find: swallowed},
	{name: "backlog", kind: Advice, find: backlogged},
	{name: "finalizers", kind: Advice, find: one(finalizers)},
	{name: "kept-cancelled", kind: Advice, find: keptCancelled},
	{name: "thread-locals", kind: Advice, find: threadLocals},
	{name: "garbage-collection", kind: Advice, find: one(costlyPauses)},
	{name: "explicit-collections", kind: Advice, find: one(explicit)},

	{name: "no-account", kind: Caution, find: one(noAccount)},
	{name: "contended", kind: Caution, find: one(contended)},
	{name: "submissions-summarised", kind: Caution, find: one(submissionsSummarised)},
	{name: "units-skipped", kind: Caution, find: one(unitsSkipped)},
	{name: "ended", kind: Caution, find: one(unended)},
	{name: "lost", kind: Caution, find: one(lost)},
	{name: "summarised", kind: Caution, find: one(summarised)},
	{name: "running", kind: Caution, find: one(running)},
	{name: "refused", kind: Caution, find: one(refused)},
	{name: "not-measured", kind: Caution, find: one(notMeasured)},
	{name: "units", kind: Caution, find: one(unitsNote)},
}

// Rules are the names that advice can have.
func Rules() []string {
	names := []string{"never-executed"} // which may be a fact, too
	for _, kind := range account.Kinds {
		names = append(names, string(kind))
	}
	for _, r := range rules {
		if r.kind == Advice && r.name != "obstacle" && !slices.Contains(names, r.name) { // an obstacle has the name of its kind
			names = append(names, r.name)
		}
	}
	return names
}

// search is the input of rules.
type search struct {
	*Facts
	t Thresholds
	// account is the account of time; nil: noAccount is why, or there are no units.
	account   *account.Session
	noAccount error
}

// Find applies all rules: facts first, then advice, then cautions.
func Find(f *Facts) []Finding {
	s := &search{Facts: f, t: f.thresholds()}
	if f.Replayer != nil && f.unitsRead() {
		s.account, s.noAccount = f.Replayer.Account()
	}
	var out []Finding
	add := func(r *rule, found ...Finding) {
		for _, x := range found {
			x.Rule, x.Kind = cmp.Or(x.Rule, r.name), cmp.Or(x.Kind, r.kind)
			x.Describe()
			out = append(out, x)
		}
	}
	for i := range rules {
		add(&rules[i], rules[i].find(s)...)
	}
	order := map[FindingKind]int{Fact: 0, Advice: 1, Caution: 2}
	slices.SortStableFunc(out, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(order[x.Kind], order[y.Kind]), cmp.Compare(y.rank(), x.rank()))
	})
	return out
}

// time is duration without what the JVM lost by waiting for processors. Shares of the
// session from which a rule makes a finding are of this: they are the same beside other
// programs. If the JVM had less than a quarter of the time, what is left is too little to
// judge by, and a quarter counts.
func (s *search) time(duration units.Ns) units.Ns {
	if s.Units == nil || s.Units.Waits == nil {
		return duration
	}
	return max(duration/4, duration-s.Units.Waits.Lost)
}

// one makes a rule of a function that finds at most one.
func one(find func(*search) *Finding) func(*search) []Finding {
	return func(s *search) []Finding {
		if x := find(s); x != nil {
			return []Finding{*x}
		}
		return nil
	}
}
