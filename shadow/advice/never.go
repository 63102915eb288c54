package advice

import (
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// neverRun counts the tasks that never ran: as advice where they are the
// program's own and not a few, else as a fact. Platform classes (cleaners of
// resources that were closed by hand, close handlers of streams) seldom run,
// nodes of CompletableFutures are run by plain calls, and so is every other
// fork/join task; what a library that schedules tasks makes for itself is not the
// program's to change; lambdas that something may call need not be called.
func neverRun(f Facts, advice bool) string {
	if f.NeverExecuted <= 0 || f.Created <= 0 {
		return ""
	}
	t := f.thresholds()
	rows := slices.DeleteFunc(slices.Clone(f.Rows), granularity.IsStage)
	stages, stagesCreated := granularity.SumNever(f.Rows)
	restNever, restCreated := granularity.SumNever(rows)
	stages, stagesCreated = stages-restNever, stagesCreated-restCreated
	never, created, whose := f.NeverExecuted-stages, f.Created-stagesCreated, ""
	own := slices.DeleteFunc(ownTasks(rows, granularity.ByNever), func(r granularity.Hotspot) bool { return r.Library || isForkJoin(r) || isFunction(r) })
	ownNever, ownCreated := granularity.SumNever(own)
	worth := ownNever >= max(1, t.NeverTasks) && float64(ownNever) >= t.NeverShare*float64(ownCreated)
	if worth != advice {
		return ""
	}
	if never <= 0 {
		return stagesText(stages, "") + "."
	}
	if advice {
		rows, never, created, whose = own, ownNever, ownCreated, " of the program"
	}
	s := fmt.Sprintf("%s (%s of those created) never executed%s", text.Plural(never, "task"+whose, "tasks"+whose), share(never, created), mostNever(rows, never))
	if f.LostEvents > 0 {
		return s + ": as far as recorded; events were lost, so it may be fewer."
	}
	if f.Unended {
		return s + ": as far as recorded; of what was being executed when the record ends there is none, so it may be fewer."
	}
	if !advice {
		return s + stagesToo(stages) + "." + plainCalls(rows)
	}
	s += ": objects created for nothing, run by a plain call of another method, or still queued at the end."
	if fates := granularity.FatesOf(rows).Text(); fates != "" {
		s += " In detail: " + fates + "."
	}
	return s
}

func stagesToo(n int64) string {
	if n == 0 {
		return ""
	}
	return "; " + stagesText(n, "beside them, ")
}

func stagesText(n int64, lead string) string {
	return lead + text.Plural(n, "step of a CompletableFuture was", "steps of CompletableFutures were") + " run by a plain call or not needed"
}

// isFunction tells lambdas that are handed to whoever may call them, as what a cache
// has to call for a value that it lacks: some were called, none was handed over as a task.
func isFunction(r granularity.Hotspot) bool {
	return r.Kinds&units.KindHidden != 0 && r.Created > r.NeverExecuted && r.Queue().Count == 0 && r.Fates != nil && r.Fates.NeverSubmitted == r.NeverExecuted
}

func isForkJoin(r granularity.Hotspot) bool { return r.Kinds&units.KindForkJoin != 0 }

// plainCalls explains what looks like waste in fork/join and is none.
func plainCalls(rows []granularity.Hotspot) string {
	for _, r := range rows {
		if !r.JDK && isForkJoin(r) && r.NeverExecuted > 0 {
			return " Fork/join tasks whose compute() is called directly, the usual and cheap way, are among them."
		}
	}
	return ""
}

// mostNever names the class with most of the tasks that never ran.
func mostNever(rows []granularity.Hotspot, never int64) string {
	rows = slices.Clone(rows)
	if err := granularity.SortHotspots(rows, granularity.ByNever); err != nil || len(rows) == 0 || rows[0].NeverExecuted == 0 {
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
