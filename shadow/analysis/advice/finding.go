// Package advice turns the figures of a session into findings: what happened, and what
// to do about it.
//
// A finding is data: its rule, its evidence and what a replay says that it saves. rules.go lists the
// rules, thresholds.go their thresholds, and the files text*.go have all sentences. To
// add a finding, write a rule, its evidence with a sentence, and a test.
package advice

import "stackagent/internal/units"

// FindingKind is what a finding is for.
type FindingKind string

// The kinds of findings.
const (
	Fact    FindingKind = "fact"    // what happened
	Advice  FindingKind = "advice"  // something to act on
	Caution FindingKind = "caution" // something that limits what the figures say
)

// Finding is one observation, in sentences and in figures. All that shows or compares findings reads this type.
type Finding struct {
	Rule     string      `json:"rule"` // its name in the table of rules; of advice, also in docs/advice.md
	Kind     FindingKind `json:"kind"`
	Text     string      `json:"text"`               // what happened, what to do, and what that saves
	Title    string      `json:"title,omitempty"`    // of advice, and of events lost: what is wrong, in a few words
	Happened string      `json:"happened"`           // the sentences of the text that say what happened
	Remedy   string      `json:"remedy,omitempty"`   // of advice: those that say what to do
	Outcome  string      `json:"outcome,omitempty"`  // of advice: those that say what it saves; absent: it is not about time
	Class    string      `json:"class,omitempty"`    // the task class that it is about
	Executor string      `json:"executor,omitempty"` // the executor, or the class that threads were started for
	// Gain is what a replay predicts; absent: Predicted says why it cannot.
	Gain *Gain `json:"gain,omitempty"`
	// Predicted has the figures of the replay; absent: following the advice is not about time.
	Predicted *Predicted `json:"predicted,omitempty"`
	Evidence  Evidence   `json:"evidence,omitempty"` // the figures behind it, as the rule has them
	// Worth is what the figures of the evidence leave to save. It finds and orders findings
	// and is no promise: most programs save less.
	Worth   units.Ns     `json:"-"`
	assumes []Assumption // of a prediction
}

// Evidence has the figures behind a finding. JSON names end in the unit (_ns, _share);
// counts have none. Its sentence is in text.go or textsession.go.
type Evidence interface{ sentence(*Finding) string }

// remedied is the evidence of advice. Its sentence says what happened.
type remedied interface {
	Evidence
	title(*Finding) string // what is wrong, in a few words
	remedy() string        // what to do, in sentences; "": another finding says it
}

// Gain is what following an advice saves, by a replay.
type Gain struct {
	Ns    units.Ns `json:"ns"`
	Share float64  `json:"share"` // of the session's duration, 0 to 1
	// Assumes are the conditions for gaining that much.
	Assumes []Assumption `json:"assumes,omitempty"`
}

// Assumption is a condition of a prediction; text.go has it in words.
type Assumption string

// The assumptions.
const (
	NotNeeded Assumption = "not_needed" // nothing needs these collections, as direct buffers do
)

// limited is evidence whose figures limit what following the advice can save. Each
// figure is of the same threads over the same time, and waiting for a processor is in
// none of them: fewer other programs are not what the advice is about.
type limited interface {
	remedied
	saves() units.Ns
}

// found is the finding that evidence makes. A prediction of what it saves assumes that much.
func found(class string, e limited, assumes ...Assumption) *Finding {
	return &Finding{Class: class, Worth: max(0, e.saves()), Evidence: e, assumes: assumes}
}

// rank is what findings are ordered by: what they save, or if that cannot be predicted, what their figures leave to save.
func (f *Finding) rank() units.Ns {
	if _, part := f.Evidence.(*Obstructed); f.Gain != nil && !part { // of an obstacle, units may end sooner although the run does not
		return f.Gain.Ns
	}
	return f.Worth
}

// Describe writes the sentences by the evidence.
func (f *Finding) Describe() {
	f.Happened = f.Evidence.sentence(f)
	f.Text = f.Happened
	if e, ok := f.Evidence.(interface{ happened() string }); ok { // its sentence has the title, too
		f.Happened = e.happened()
	}
	if e, ok := f.Evidence.(interface{ title(*Finding) string }); ok {
		f.Title = e.title(f)
	}
	if e, ok := f.Evidence.(remedied); ok {
		f.Remedy = e.remedy()
	}
	if p, ok := f.Evidence.(interface{ PoolLabel() string }); ok {
		f.Executor = p.PoolLabel()
	}
	f.Outcome = f.outcome()
	for _, more := range []string{f.Remedy, f.Outcome} {
		if more != "" {
			f.Text += " " + more
		}
	}
}
