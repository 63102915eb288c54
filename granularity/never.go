package granularity

import (
	"slices"
	"strings"
)

// IsStage tells CompletableFuture's own nodes, one for each step of a chain, from
// tasks: they are run by a plain call where the future is complete, and dropped
// where it failed or somebody else completed it. What is handed over
// (supplyAsync, runAsync) is a task.
func IsStage(r Hotspot) bool {
	name, ok := strings.CutPrefix(r.Class, "java.util.concurrent.CompletableFuture$")
	return ok && name != "AsyncSupply" && name != "AsyncRun"
}

// NeverExecuted counts the tasks of rows that never ran and those created,
// CompletableFuture's own nodes left out.
func NeverExecuted(rows []Hotspot) (never, created int64) {
	return SumNever(slices.DeleteFunc(slices.Clone(rows), IsStage))
}

// Steps counts the nodes of CompletableFutures that were run by a plain call or
// not needed: the others of what has no execution, beside NeverExecuted.
func Steps(rows []Hotspot) int64 {
	all, _ := SumNever(rows)
	never, _ := NeverExecuted(rows)
	return all - never
}

// FatesOf is what became of those of NeverExecuted; nil: not known.
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

func SumNever(rows []Hotspot) (never, created int64) {
	for _, r := range rows {
		never += r.NeverExecuted
		created += r.Created
	}
	return never, created
}
