package evidence

import (
	"slices"

	"stackagent/shadow/session"
)

// mostOf is the share of the recorded submissions from which a thread is the one that submits.
const mostOf = 0.95

// submitters are the threads that submit nearly all units of a pool outside of tasks, by the pool's label.
func (v *submissions) submitters(into map[string]string) map[string]uint32 {
	if v == nil {
		return nil
	}
	all, each := map[string]int64{}, map[string]map[uint32]int64{}
	for i := range v.list {
		pool, by := v.list[i].pool, v.list[i].by
		if merged := into[pool]; merged != "" {
			pool = merged
		}
		if each[pool] == nil {
			each[pool] = map[uint32]int64{}
		}
		all[pool]++
		each[pool][by]++
	}
	out := map[string]uint32{}
	for pool, counts := range each {
		if by := most(counts); float64(counts[by]) >= mostOf*float64(all[pool]) {
			out[pool] = by
		}
	}
	return out
}

// recordedAs is 1 + the index in the scheduling record of a thread that submits units; 0: none, or it runs units as well.
func recordedAs(record *session.Activity, thread uint32, workers []uint32) int {
	i, ok := record.Index[thread]
	if !ok || slices.Contains(workers, thread) {
		return 0
	}
	return i + 1
}
