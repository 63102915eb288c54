package session

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// Incomplete says what of a program a session does not have, and which figures that concerns.
type Incomplete struct {
	Why []string `json:"why"` // a clause for each reason
	// UntilNs is the time of the session after which nothing is recorded; nil: not known. What is missing
	// from files may lie before.
	UntilNs *units.Ns `json:"until_ns,omitempty"`
	// AtMost and AtLeast are figures that are bounds, NotKnown those that say nothing of the program, by their names in
	// the JSON of shadow stats: * is each metric, and the name of an object is all in it that has no name here.
	AtMost   []string `json:"at_most,omitempty"`
	AtLeast  []string `json:"at_least,omitempty"`
	NotKnown []string `json:"not_known,omitempty"`
}

// Figures that depend on a complete session.
const (
	FigureNever   = "tasks.never_executed"
	FigureFates   = "tasks.fates"
	FigureRunning = "tasks.running"

	FigureExecutions = "tasks.executions"
)

// Figures of a session of which rows are missing: executions, pauses, or waits. Sums of self times are bounds over all
// executions only: an execution may lack those that were nested in it.
var (
	figuresLow = []string{
		FigureExecutions, "tasks.created", "tasks.summarised", "tasks.threads", "tasks.threw", "tasks.failed", "tasks.cut", "tasks.nested",
		"tasks.virtual", "tasks.creation_unseen", "tasks.classes",
		"metrics.*.count", "metrics.*.sum", "metrics.*.max", "metrics.*.not_measured", "metrics.*.summarised", "metrics.*.timed",
		"gc.pauses", "gc.pause_ns", "gc.max_ns", "gc.standstill", "gc.profiler_ns", "waits", "virtual_threads", "units",
	}
	figuresOfPart = []string{
		"metrics.*.mean", "metrics.*.stddev", "metrics.*.min", "metrics.*.p1", "metrics.*.p5", "metrics.*.p25", "metrics.*.p50", "metrics.*.p75",
		"metrics.*.p95", "metrics.*.p99", "metrics.*.p999", "gc.median_ns", "gc.p99_ns", "gc.share", "virtual_threads.told.median_mounts", "hidden",
	}
	// figuresNested are too high for an execution without those that were nested in it.
	figuresNested = []string{"metrics.self_wall_ns.max", "metrics.self_cpu_ns.max"}
)

// IncompleteOf is what the manifest of a session says of it; nil: it is complete, but for events that
// were lost one by one. The manifest of a damaged session is that of Session.Found.
func IncompleteOf(m *store.Manifest) *Incomplete {
	x := &Incomplete{}
	if why := broke[m.Ended]; m.Ended != store.EndedExit {
		if why == "" {
			why = "the record ended without an end of the program (" + m.Ended + ")"
		}
		x.Why = append(x.Why, why)
		x.NotKnown = append(x.NotKnown, FigureRunning)
		if m.DurationNs > 0 {
			x.UntilNs = new(m.DurationNs)
		}
	}
	_, left := m.NotAvailable[Totals]
	if left {
		why := "files are damaged, missing or exchanged"
		if n := m.Lost.ByReason[damaged]; n > 0 {
			why += fmt.Sprintf(" (executions and creations in them: %d)", n)
		}
		x.Why = append(x.Why, why)
		x.NotKnown = append(x.NotKnown, FigureFates)
		x.part()
		x.UntilNs = nil
	}
	if len(m.PartOf) > 0 {
		x.Why = append(x.Why, m.PartOf...)
		x.part(figuresNested...)
	}
	if m.Lost.Batches > 0 {
		x.Why = append(x.Why, fmt.Sprintf("batches that never arrived: %d", m.Lost.Batches))
		x.part()
	}
	if len(x.Why) == 0 {
		return nil
	}
	if x.Partial() && !slices.Contains(x.NotKnown, FigureRunning) {
		x.AtLeast = append(x.AtLeast, FigureRunning)
	}
	x.AtMost = append(x.AtMost, FigureNever)
	return x
}

// part marks the figures of a session of which rows are missing, and those in notKnown.
func (x *Incomplete) part(notKnown ...string) {
	if !x.Partial() {
		x.AtLeast = slices.Clone(figuresLow)
		x.NotKnown = append(x.NotKnown, figuresOfPart...)
	}
	x.NotKnown = append(x.NotKnown, notKnown...)
}

// Partial reports whether executions are missing: counts, sums and maxima of what was recorded are lower bounds, and
// means, quantiles and shares are of that part only.
func (x *Incomplete) Partial() bool { return x != nil && slices.Contains(x.AtLeast, FigureExecutions) }

// Flat reports whether an execution may lack those that were nested in it: its self times are no bound then.
func (x *Incomplete) Flat() bool { return x != nil && slices.Contains(x.NotKnown, figuresNested[0]) }

// broke says why a session has no end, by store.Manifest.Ended.
var broke = map[string]string{
	store.EndedRunning:     "it has no end: the program still runs, or the shadow was killed",
	store.EndedLostContact: "it has no end: the JVM was killed, or the connection to it was lost",
	store.EndedClosed:      "it has no end: the shadow stopped before the program",
	store.EndedElsewhere:   "it has no end: another shadow continued it",
}

// Sentence is Text with its beginning.
func (x *Incomplete) Sentence() string { return store.Incomplete + x.Text() }

// Text is the reasons and the time, a sentence without its beginning and end.
func (x *Incomplete) Text() string {
	s := strings.Join(x.Why, "; ")
	switch {
	case x.UntilNs == nil:
	case x.Damaged():
		s += fmt.Sprintf("; of the executions that are left, the last ended at %s", units.FormatNs(*x.UntilNs))
	default:
		s += fmt.Sprintf("; nothing is recorded after %s", units.FormatNs(*x.UntilNs))
	}
	return s
}

// Damaged reports whether files are.
func (x *Incomplete) Damaged() bool { return x != nil && slices.Contains(x.NotKnown, FigureFates) }
