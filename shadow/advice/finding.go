// Package advice turns the figures of a session into findings: what happened, and what
// to do about it.
//
// A finding is data: its rule, its evidence and its possible gain. rules.go lists the
// rules, thresholds.go their thresholds, and the files text*.go have all sentences. To
// add a finding, write a rule, its evidence with a sentence, and a test.
package advice

import (
	"bytes"
	"encoding/json"

	"stackagent/internal/units"
)

// FindingKind is what a finding is for.
type FindingKind string

// The kinds of findings.
const (
	Fact    FindingKind = "fact"    // what happened
	Advice  FindingKind = "advice"  // something to act on
	Caution FindingKind = "caution" // something that limits what the figures say
)

// Finding is one observation.
type Finding struct {
	Rule     string // its name in the table of rules; of advice, also in docs/advice.md
	Kind     FindingKind
	Class    string // the task class that it is about, "" if none
	Evidence Evidence
	Gain     *Bound // nil: unknown
	// Predicted is what a replay of the pool with the advice followed says; nil: of no pool.
	Predicted *Predicted
}

// Evidence has the figures behind a finding. JSON names end in the unit (_ns, _share);
// counts have none. Its sentence is in text.go or textsession.go.
type Evidence interface{ sentence(*Finding) string }

// Bound is the most that following an advice can gain.
type Bound struct {
	Ns    units.Ns `json:"ns"`
	Share float64  `json:"share"` // of the session's duration, 0 to 1
	// Left is the number of tasks that the pool had not begun when the run ended: it may
	// get more done then, and end no earlier.
	Left int64 `json:"tasks_left,omitempty"`
	// Assumes are the conditions for gaining that much.
	Assumes []Assumption `json:"assumes,omitempty"`
}

// Assumption is a condition of a bound; text.go has it in words.
type Assumption string

// The assumptions.
const (
	CPUsFree       Assumption = "no_other_load"     // nothing else needs the processors
	NotCompeting   Assumption = "tasks_independent" // tasks do not wait for one another
	NoLock         Assumption = "no_lock"           // tasks do not wait for a lock that one of them holds
	NoOtherLock    Assumption = "no_other_lock"     // tasks do not wait for another lock instead
	OthersSameLoad Assumption = "same_other_load"   // other programs take as much CPU time as they did
)

// bounded is evidence whose figures bound what following the advice can gain. Each
// figure is of the same threads over the same time, and waiting for a processor is in
// none of them: fewer other programs are not what the advice is about.
type bounded interface {
	Evidence
	saves() units.Ns
}

// bound is what the evidence allows to gain, at least 0, out of whole.
func bound(e bounded, whole units.Ns, assumes ...Assumption) *Bound {
	saved := max(0, e.saves())
	b := &Bound{Ns: saved, Assumes: assumes}
	if whole > 0 {
		b.Share = float64(saved) / float64(whole)
	}
	return b
}

func (f *Finding) gain() units.Ns {
	if f.Gain == nil {
		return 0
	}
	return f.Gain.Ns
}

// Text is the finding in a sentence or two.
func (f *Finding) Text() string { return f.Evidence.sentence(f) }

// MarshalJSON adds the text, and the name of advice.
func (f Finding) MarshalJSON() ([]byte, error) {
	name := ""
	if f.Kind == Advice {
		name = f.Rule
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the caller escapes
	err := enc.Encode(struct {
		Kind      FindingKind `json:"kind"`
		Text      string      `json:"text"`
		Name      string      `json:"name,omitempty"`
		Class     string      `json:"class,omitempty"`
		Gain      *Bound      `json:"gain,omitempty"`
		Predicted *Predicted  `json:"predicted,omitempty"`
		Rule      string      `json:"rule"`
		Evidence  Evidence    `json:"evidence"`
	}{f.Kind, f.Text(), name, f.Class, f.Gain, f.Predicted, f.Rule, f.Evidence})
	return b.Bytes(), err
}
