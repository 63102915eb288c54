package store

import (
	"errors"
	"fmt"
)

// ErrStraddles is a part that holds batches inside and outside of a range.
var ErrStraddles = errors.New("a part holds batches of the range and others")

// Tables of things that happened, row by row: what a range of batches brought says nothing about others. The rest describe
// things that rows of any range may name.
var events = [numTables]bool{
	Executions: true, Creations: true, Pauses: true, Summaries: true, Measures: true, Buckets: true, Constructions: true, Submissions: true,
	ContextSums: true, Waits: true, WaitSums: true, InsideSamples: true, TaskTraces: true,
}

// Within leaves only what the batches from..to brought of events. Of creations and submissions it also keeps up to
// lookBack batches before, for readers that look for where tasks come from; scans and counts do without. A part that
// holds batches on both sides of a bound is an error, or stays whole if loose.
func (f *Folder) Within(from, to, lookBack uint64, loose bool) error {
	for t := range numTables {
		if !events[t] {
			continue
		}
		var kept, before []Range
		for _, r := range f.parts[t] {
			switch {
			case from <= r.From && r.To <= to, loose && r.From <= to && from <= r.To:
				kept = append(kept, r)
			case r.To < from:
				if (t == Creations || t == Submissions) && r.To+lookBack >= from {
					before = append(before, r)
				}
			case r.From <= to:
				return fmt.Errorf("%s, range %d-%d: %w", f.path(t, r), from, to, ErrStraddles)
			}
		}
		f.parts[t], f.before[t] = kept, before
	}
	return nil
}
