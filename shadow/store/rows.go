package store

import (
	"slices"
	"strconv"

	"stackagent/internal/wire"
)

// SubmissionEvents is what the summary stands for in the account of submissions.
func (s *Summary) SubmissionEvents() uint64 { return s.Submissions + s.Rejected + s.Cancelled }

// Events is what the summary stands for in the counts of a session.
func (s *Summary) Events() Counts {
	return Counts{Executions: s.Executions, Creations: s.Creations + s.Failed + s.Withdrawn}
}

// SummaryID numbers entry i of the batch seq in the session: whatever comes
// again has the same number.
func SummaryID(seq uint64, i int) uint64 { return seq*wire.MaxSummaries + uint64(i) }

// The kinds of SiteSum, by wire.SiteKind.
var siteKinds = [wire.NumSiteKinds]string{"creation", "submission", "part", "inner", "rejected", "rejected_inner"}

// SiteKindName is a kind as the site_sums table has it.
func SiteKindName(k wire.SiteKind) string {
	if k < wire.NumSiteKinds {
		return siteKinds[k]
	}
	return "kind " + strconv.Itoa(int(k)) // of a newer agent
}

// KindNumber is the kind of the row; ok is false for a later version's.
func (s *SiteSum) KindNumber() (k wire.SiteKind, ok bool) {
	i := slices.Index(siteKinds[:], s.Kind)
	return wire.SiteKind(max(i, 0)), i >= 0
}

// waitKinds are the kinds of waits, by wire.WaitKind.
var waitKinds = [wire.NumWaitKinds]string{"monitor", "notify", "park", "sleep", "io"}

// WaitKindName is a kind as the tables of waits have it.
func WaitKindName(k wire.WaitKind) string {
	if k < wire.NumWaitKinds {
		return waitKinds[k]
	}
	return "kind " + strconv.Itoa(int(k)) // of a newer agent
}

// traceKinds are the kinds of traces, by wire.TraceKind.
var traceKinds = [wire.NumTraceKinds]string{TraceSubmission, TraceExecution}

// The kinds of traces as the table has them.
const (
	TraceSubmission = "submission"
	TraceExecution  = "execution"
)

// TraceKindName is a kind as the table of traces has it.
func TraceKindName(k wire.TraceKind) string {
	if k < wire.NumTraceKinds {
		return traceKinds[k]
	}
	return "kind " + strconv.Itoa(int(k)) // of a newer agent
}

// clearWork empties the columns of extra metrics; one that stays empty is not stored.
func clearWork(work *wire.Work) {
	for _, columns := range [][][]int64{work.Total, work.Nested} {
		for k := range columns {
			columns[k] = columns[k][:0]
		}
	}
}

// Label is the call site as listings name it, com.acme.Main.run:42; without the
// line where that is not known.
func (s *Site) Label() string {
	label := s.Class + "." + s.Method
	if s.Line > 0 {
		label += ":" + strconv.Itoa(int(s.Line))
	}
	return label
}

// After is the executor with what an earlier row of the same id says and e does not.
func (e *Executor) After(earlier Executor) Executor {
	x := *e
	if x.MadeIn == "" {
		x.MadeIn, x.File, x.Line = earlier.MadeIn, earlier.File, earlier.Line
	}
	if x.Name == "" {
		x.Name = earlier.Name
	}
	if x.Maximum == 0 {
		x.Core, x.Maximum, x.Queue, x.Bound = earlier.Core, earlier.Maximum, earlier.Queue, earlier.Bound
		x.RemovesCancelled, x.AsyncMode = earlier.RemovesCancelled, earlier.AsyncMode
	}
	return x
}
