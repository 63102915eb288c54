package advice

import (
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// NeverExecuted are tasks that never ran.
type NeverExecuted struct {
	Never      int64              `json:"never"`
	Created    int64              `json:"created"`
	OfProgram  bool               `json:"of_program"` // counted of the program's own tasks only
	Class      string             `json:"class,omitempty"`
	OfClass    int64              `json:"of_class"` // of the class with the most, of the program if any of it is among them
	OfJDK      int64              `json:"of_jdk"`   // tasks of classes of the JDK among Never
	JDKClass   string             `json:"jdk_class,omitempty"`
	OfJDKClass int64              `json:"of_jdk_class,omitempty"` // of the JDK's class with the most
	Stages     int64              `json:"completable_future_stages"`
	Fates      *granularity.Fates `json:"fates,omitempty"`
	PlainCalls bool               `json:"plain_calls,omitempty"` // fork/join tasks of the program are among them
	Cancelled  int64              `json:"cancelled,omitempty"`   // of the program's, as far as known
	Lost       bool               `json:"lost,omitempty"`
	Unended    bool               `json:"unended,omitempty"`
}

// neverRun counts tasks that never ran: as advice if many of the program's own were submitted and then left in a queue, or
// refused; else as a fact. Whoever makes an object of a task's class need not want it run: cleaners, functions, entries of
// maps, copies that were sent elsewhere, and a timeout that is cancelled has done its work.
func neverRun(s *search) *Finding {
	if s.NeverExecuted <= 0 || s.Created <= 0 {
		return nil
	}
	rows := slices.DeleteFunc(slices.Clone(s.Rows), granularity.IsStage)
	all, allCreated := granularity.SumNever(s.Rows)
	tasks, tasksCreated := granularity.SumNever(rows)
	x := &NeverExecuted{Stages: all - tasks, Lost: s.LostEvents > 0, Unended: s.Unended}
	own := slices.DeleteFunc(ownTasks(rows, granularity.ByNever), func(r granularity.Hotspot) bool { return r.Library || isForkJoin(r) || !leftBehind(&r) })
	never, created := granularity.SumNever(own)
	kind := Fact
	known := never - int64(min(s.LostEvents, uint64(never)))                             // a lost event may be the execution of one of them
	kept := slices.ContainsFunc(s.Kept, func(k Kept) bool { return 2*k.Tasks >= never }) // they are the tasks around these
	if !kept && !s.Unended && !s.Damaged && known >= max(1, s.t.NeverTasks) && float64(known) >= s.t.NeverShare*float64(created) {
		kind, rows = Advice, own
		x.Never, x.Created, x.OfProgram, x.Fates = never, created, true, granularity.FatesOf(own)
	} else {
		x.Never, x.Created = s.NeverExecuted-x.Stages, s.Created-(allCreated-tasksCreated)
		x.PlainCalls = slices.ContainsFunc(rows, func(r granularity.Hotspot) bool {
			return !r.JDK && isForkJoin(r) && r.NeverExecuted > 0 && (r.Fates == nil || r.Fates.NeverSubmitted > 0)
		})
	}
	if err := granularity.SortHotspots(rows, granularity.ByNever); err == nil && len(rows) > 0 && rows[0].NeverExecuted > 0 {
		x.Class, x.OfClass = rows[0].Class, rows[0].NeverExecuted
	}
	x.divide(rows)
	return &Finding{Kind: kind, Evidence: x}
}

// leftBehind reports whether most tasks of a class that never ran were submitted, and then left in a queue or refused. What ran
// without a seen creation may be copies of them, as of a task that is sent to another process and comes back.
func leftBehind(r *granularity.Hotspot) bool {
	return r.Fates != nil && 2*(r.Fates.NeverRun+r.Fates.Rejected-r.CreateUnseen) > r.NeverExecuted
}

// divide counts the JDK's own tasks in rows, most first, and names a class of the program before them.
func (x *NeverExecuted) divide(rows []granularity.Hotspot) {
	program := true
	for _, r := range rows {
		switch {
		case r.NeverExecuted == 0:
		case r.JDK:
			if x.OfJDK == 0 {
				x.JDKClass, x.OfJDKClass = r.Class, r.NeverExecuted
			}
			x.OfJDK += r.NeverExecuted
		case program:
			x.Class, x.OfClass, program = r.Class, r.NeverExecuted, false
		}
		if !r.JDK && r.Fates != nil {
			x.Cancelled += r.Fates.Cancelled
		}
	}
}

func isForkJoin(r granularity.Hotspot) bool { return r.Kinds&units.KindForkJoin != 0 }
