package granularity

import (
	"slices"
	"strings"
)

// IsStage reports whether the class is one of CompletableFuture's own nodes, one per
// stage of a chain. A stage is no task: a complete future runs it by a plain call, a
// failed one drops it. Submitted stages (supplyAsync, runAsync) are tasks.
func IsStage(r Hotspot) bool {
	name, ok := strings.CutPrefix(r.Class, "java.util.concurrent.CompletableFuture$")
	return ok && name != "AsyncSupply" && name != "AsyncRun"
}

// NeverExecuted counts the tasks in rows that never ran and those created, without
// the stages of CompletableFutures.
func NeverExecuted(rows []Hotspot) (never, created int64) {
	return SumNever(slices.DeleteFunc(slices.Clone(rows), IsStage))
}

// Steps counts the stages of CompletableFutures that a plain call ran or that were
// not needed.
func Steps(rows []Hotspot) int64 {
	all, _ := SumNever(rows)
	never, _ := NeverExecuted(rows)
	return all - never
}

// FatesOf is what became of the tasks of NeverExecuted; nil: not known.
func FatesOf(rows []Hotspot) *Fates {
	var sum Fates
	for i := range rows {
		if !IsStage(rows[i]) {
			sum.Add(rows[i].Fates)
		}
	}
	if never, _ := NeverExecuted(rows); never == 0 || sum.Sum() != never {
		return nil
	}
	return &sum
}

// SumNever counts all that was created and never ran, stages included.
func SumNever(rows []Hotspot) (never, created int64) {
	for _, r := range rows {
		never += r.NeverExecuted
		created += r.Created
	}
	return never, created
}
