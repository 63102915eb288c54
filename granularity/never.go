package granularity

import (
	"fmt"
	"slices"

	"stackagent/internal/units"
)

// neverRun counts the tasks that never ran: as advice where they are the
// program's own and not a few, else as a fact. Platform classes (cleaners of
// resources that were closed by hand, close handlers of streams) seldom run, and
// of fork/join tasks every other one is computed by a plain call.
func neverRun(f Facts, advice bool) string {
	if f.NeverExecuted <= 0 || f.Created <= 0 {
		return ""
	}
	rows := f.Rows
	never, created, whose := f.NeverExecuted, f.Created, ""
	own := slices.DeleteFunc(ownTasks(f.Rows, ByNever), isForkJoin)
	ownNever, ownCreated := sumNever(own)
	if worth := float64(ownNever) >= neverShare*float64(max(ownCreated, 1)) && ownNever > 0; worth != advice {
		return ""
	}
	if advice {
		rows, never, created, whose = own, ownNever, ownCreated, " of the program"
	}
	s := fmt.Sprintf("%s (%s of those created) never executed%s", plural(never, "task"+whose, "tasks"+whose), share(never, created), mostNever(rows, never))
	if f.LostEvents > 0 {
		return s + ": as far as recorded; events were lost, so it may be fewer."
	}
	if !advice {
		return s + "." + plainCalls(rows)
	}
	return s + ": objects created for nothing, run by a plain call of another method, or still queued at the end."
}

func isForkJoin(r Hotspot) bool { return r.Kinds&units.KindForkJoin != 0 }

// plainCalls explains what looks like waste in fork/join and is none.
func plainCalls(rows []Hotspot) string {
	for _, r := range rows {
		if !r.JDK && isForkJoin(r) && r.NeverExecuted > 0 {
			return " Fork/join tasks whose compute() is called directly, the usual and cheap way, are among them."
		}
	}
	return ""
}

func sumNever(rows []Hotspot) (never, created int64) {
	for _, r := range rows {
		never += r.NeverExecuted
		created += r.Created
	}
	return never, created
}

// mostNever names the class with most of the tasks that never ran.
func mostNever(rows []Hotspot, never int64) string {
	rows = slices.Clone(rows)
	if err := SortHotspots(rows, ByNever); err != nil || len(rows) == 0 || rows[0].NeverExecuted == 0 {
		return ""
	}
	first := rows[0]
	which := "most of them"
	switch {
	case first.NeverExecuted == never:
		return ", all of them " + readable(first.Class)
	case first.NeverExecuted*2 < never:
		which = "the most"
	}
	return fmt.Sprintf(", %s %s (%s)", which, readable(first.Class), units.FormatCount(first.NeverExecuted))
}
