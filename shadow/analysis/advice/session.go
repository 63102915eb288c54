package advice

import (
	"cmp"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/gc"
	"stackagent/granularity/unit"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Volume is how much was executed.
type Volume struct {
	Of         text.Population `json:"-"`
	Executions int64           `json:"executions"`
	Created    int64           `json:"created"`
	Threads    int64           `json:"threads"`
	Duration   units.Ns        `json:"duration_ns"`
	Like       string          `json:"class,omitempty"`
	Unseen     bool            `json:"created_unseen,omitempty"`    // not all creations were seen
	NotCreated bool            `json:"created_not_known,omitempty"` // no creation was
	Partial    bool            `json:"partial,omitempty"`           // executions are missing: there were at least so many
	ThreadsLow bool            `json:"threads_at_least,omitempty"`  // more threads may have run those that are summarised
}

// CreationsUnseen is in NotAvailable if tasks existed before the agent attached.
const CreationsUnseen = "created"

// These are in NotAvailable of imported sessions, as the store names them.
const (
	NoCreations  = "all creations"
	NoExecutions = "all executions"
	NoPauses     = "all pauses"
)

func volume(s *search) *Finding {
	if slices.Contains(s.NotAvailable, NoExecutions) {
		return nil
	}
	return &Finding{Evidence: &Volume{s.Of, s.Executions, s.Created, s.Threads, s.Duration, s.Like, slices.Contains(s.NotAvailable, CreationsUnseen), slices.Contains(s.NotAvailable, NoCreations), s.Partial, s.ThreadsLow}}
}

// TaskFineness is how fine the program's tasks are.
type TaskFineness struct {
	Of       text.Population      `json:"-"`
	Fineness granularity.Fineness `json:"-"`
	N        int64                `json:"n"`
	Median   units.Ns             `json:"median_ns"`
	IsAll    bool                 `json:"all"` // the program has no tasks of its own
	// OwnShare is their share of all work, 0 if it is most or unknown.
	OwnShare float64 `json:"own_share,omitempty"`
}

func fineness(s *search) *Finding {
	if s.Fine.N == 0 {
		return nil
	}
	own := 0.0
	for _, r := range s.Rows {
		if !r.JDK && !r.Loop {
			own += r.WorkShare
		}
	}
	// Waiting loops would have most of the wall time.
	if own >= 0.9 || s.FineIsAll || s.Total.WorkMetric() == granularity.SelfWall {
		own = 0
	}
	return &Finding{Evidence: &TaskFineness{s.Of, s.Fine, s.Fine.N, s.Fine.Median, s.FineIsAll, own}}
}

// WorkSplit divides the work between the program's tasks, the JDK's tasks around them,
// and loops.
type WorkSplit struct {
	Metric granularity.Metric `json:"-"`
	Work   units.Ns           `json:"work_ns"`
	Own    float64            `json:"own_share"`
	Most   []ClassShare       `json:"most"` // the program's classes with the most
	JDK    float64            `json:"jdk_share"`
	Around string             `json:"jdk_class,omitempty"` // the JDK's class with the most work
	Loops  float64            `json:"loops_share"`
	Timed  int64              `json:"timed,omitempty"` // executions, if Work is an estimate from these
	// Partial: executions are missing, and the shares are of those that are there.
	Partial bool `json:"partial,omitempty"`
}

// ClassShare is the share of a class in a sum or count.
type ClassShare struct {
	Class string  `json:"class"`
	Share float64 `json:"share"`
}

func whereWork(s *search) *Finding {
	rows := slices.Clone(s.Rows)
	if err := granularity.SortHotspots(rows, granularity.ByWork); err != nil || len(rows) == 0 || rows[0].Work <= 0 {
		return nil
	}
	work := s.Total.WorkMetric()
	x := &WorkSplit{Metric: work, Work: s.Total[work].Sum, Timed: s.Total[work].Timed, Partial: s.Partial}
	for _, r := range rows {
		switch {
		case r.Loop:
			x.Loops += r.WorkShare
		case r.JDK:
			x.JDK += r.WorkShare
			x.Around = cmp.Or(x.Around, r.Class)
		default:
			x.Own += r.WorkShare
			if len(x.Most) < maxNamed && r.Work > 0 {
				x.Most = append(x.Most, ClassShare{r.Class, r.WorkShare})
			}
		}
	}
	return &Finding{Evidence: x}
}

// Processors is how many processors the tasks used on average.
type Processors struct {
	CPU      units.Ns `json:"cpu_ns"`
	Duration units.Ns `json:"duration_ns"`
	CPUs     int      `json:"cpus"`
	Timed    int64    `json:"timed,omitempty"`   // executions, if the CPU time is an estimate from these
	Partial  bool     `json:"partial,omitempty"` // executions are missing: they used at least so much
}

func processors(s *search) *Finding {
	d := s.Total[granularity.SelfCPU]
	if d.Count == 0 || s.Duration <= 0 || s.CPUs <= 0 {
		return nil
	}
	return &Finding{Evidence: &Processors{d.Sum, s.Duration, s.CPUs, d.Timed, s.Partial}}
}

// CollectorPauses are the pauses of garbage collection.
type CollectorPauses struct {
	Count   int64    `json:"pauses"`
	Total   units.Ns `json:"total_ns"`
	Max     units.Ns `json:"max_ns"`
	Share   float64  `json:"share"`
	Unended bool     `json:"unended,omitempty"`
	Partial bool     `json:"partial,omitempty"` // a part of the session is missing: there were at least so many
	// Standstill is of the whole program, for collections and other reasons; nil: not known.
	Standstill *gc.Standstill `json:"standstill,omitempty"`
	// ProfilerNs is how much of it was the profiler's own, at most: it changed classes.
	ProfilerNs units.Ns `json:"profiler_ns,omitempty"`
	// Costly: beside the pauses and the profiler's own it is as long as collections that cost too much.
	Costly bool `json:"costly_standstill,omitempty"`
}

func pauses(s *search) *Finding {
	if s.Duration <= 0 || slices.Contains(s.NotAvailable, NoPauses) {
		return nil
	}
	costly := s.Standstill != nil && float64(s.Standstill.TotalNs-s.GC.Total-s.ProfilerNs) >= s.t.GCShare*float64(s.Duration)
	return &Finding{Evidence: &CollectorPauses{s.GC.Count, s.GC.Total, s.GC.Max, float64(s.GC.Total) / float64(s.Duration), s.Unended, s.Partial, s.Standstill, s.ProfilerNs, costly}}
}

// StoodStill reports whether safepoints stopped the program for clearly longer than the pauses.
func (e *CollectorPauses) StoodStill() bool {
	return e.Standstill != nil && e.Standstill.TotalNs >= e.Total+e.Total/10 && (e.Count > 0 || e.Costly)
}

// Exceptions are executions that ended with an exception.
type Exceptions struct {
	Of    text.Population `json:"-"`
	Threw int64           `json:"threw"`
	All   int64           `json:"executions"`
	Own   int64           `json:"own"` // of the program's tasks: wrappers around them end with the same exception
}

func threw(s *search) *Finding {
	if s.Threw <= 0 {
		return nil
	}
	own := int64(0)
	for _, r := range s.Rows {
		if !r.JDK {
			own += r.Threw
		}
	}
	return &Finding{Evidence: &Exceptions{s.Of, s.Threw, s.Executions, own}}
}

// Running is what still ran at the end of the session.
type Running struct {
	Of      text.Population `json:"-"`
	Running int64           `json:"running"`
	Loops   int64           `json:"loops"` // loops of threads, which wait for tasks
}

func running(s *search) *Finding {
	if s.Running <= 0 {
		return nil
	}
	x := &Running{Of: s.Of, Running: s.Running}
	for _, r := range s.Rows {
		if r.Loop {
			x.Loops += r.Running
		}
	}
	if x.Loops == x.Running { // normal for pool workers
		return &Finding{Kind: Fact, Evidence: x}
	}
	return &Finding{Evidence: x}
}

// Unended is a session without its end.
type Unended struct{}

func unended(s *search) *Finding {
	if !s.Unended {
		return nil
	}
	return &Finding{Evidence: &Unended{}}
}

// Lost is what was produced and did not reach the session.
type Lost struct {
	Events  uint64 `json:"events"`
	Batches uint64 `json:"batches"`
}

func lost(s *search) *Finding {
	if s.LostEvents == 0 && s.LostBatches == 0 {
		return nil
	}
	return &Finding{Evidence: &Lost{s.LostEvents, s.LostBatches}}
}

// SummarisedExecutions are those of fast classes without a record of their own.
type SummarisedExecutions struct {
	Of         text.Population `json:"-"`
	Summarised int64           `json:"summarised"`
	All        int64           `json:"executions"`
	Most       []ClassShare    `json:"most"`
	Others     int             `json:"other_classes"`
	Timed      int64           `json:"timed,omitempty"` // of All: the times are estimates; 0: all were timed
}

func summarised(s *search) *Finding {
	if s.Summarised == 0 {
		return nil
	}
	rows := slices.DeleteFunc(slices.Clone(s.Rows), func(r granularity.Hotspot) bool { return r.Summarised == 0 })
	slices.SortStableFunc(rows, func(a, b granularity.Hotspot) int { return cmp.Compare(b.Summarised, a.Summarised) })
	x := &SummarisedExecutions{Of: s.Of, Summarised: s.Summarised, All: s.Executions, Others: max(0, len(rows)-maxNamed), Timed: s.Total[granularity.Wall].Timed}
	for _, r := range rows[:min(len(rows), maxNamed)] {
		x.Most = append(x.Most, ClassShare{r.Class, float64(r.Summarised) / float64(max(1, r.Executions))})
	}
	return &Finding{Evidence: x}
}

// Refused is what was not instrumented or recorded.
type Refused struct {
	Reasons []Refusal `json:"reasons"`
}

func refused(s *search) *Finding {
	if len(s.Refused) == 0 {
		return nil
	}
	return &Finding{Evidence: &Refused{s.Refused}}
}

// NotMeasured lists what was not measured.
type NotMeasured struct {
	What []string `json:"what"`
}

func notMeasured(s *search) *Finding {
	if len(s.NotAvailable) == 0 {
		return nil
	}
	what := slices.Clone(s.NotAvailable)
	slices.Sort(what)
	return &Finding{Evidence: &NotMeasured{what}}
}

// UnitsNote says how well units are known.
type UnitsNote struct{ *unit.Note }

func unitsNote(s *search) *Finding {
	n := s.Note
	if n == nil || n.SubmissionsKnown && n.Undecided == 0 && n.Platform.Executions == 0 {
		return nil
	}
	kind := Caution
	if n.SubmissionsKnown && n.Undecided == 0 {
		kind = Fact
	}
	return &Finding{Kind: kind, Evidence: UnitsNote{n}}
}

// SummarisedSubmissions are submissions without a record, so advice about units ignores them.
type SummarisedSubmissions struct {
	Produced   uint64 `json:"produced"`
	Stored     uint64 `json:"stored"`
	Summarised uint64 `json:"summarised"`
	All        bool   `json:"all"`
}

func submissionsSummarised(s *search) *Finding {
	n := s.Submissions
	if n == nil || n.Summarised == 0 {
		return nil
	}
	return &Finding{Evidence: &SummarisedSubmissions{n.Produced, n.Stored, n.Summarised, !s.unitsRead()}}
}

// UnitsSkipped: the session has too many executions to read its units.
type UnitsSkipped struct{ Skipped }

func unitsSkipped(s *search) *Finding {
	if s.Skipped == nil {
		return nil
	}
	return &Finding{Evidence: &UnitsSkipped{*s.Skipped}}
}

// Contended is what other programs took of the machine.
type Contended struct {
	Taken units.Ns `json:"taken_ns"`
	All   units.Ns `json:"available_ns"` // of all processors, while the scheduler was recorded
}

// contended warns that other programs used the machine meanwhile.
func contended(s *search) *Finding {
	f := s.Units
	if f == nil || !f.Taken.Measured() {
		return nil
	}
	all := f.Recorded * units.Ns(f.CPUs)
	if all <= 0 || float64(f.Taken) < s.t.Taken*float64(all) {
		return nil
	}
	return &Finding{Evidence: &Contended{f.Taken, all}}
}
