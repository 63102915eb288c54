package summary

import "iter"

// byID finds what belongs to the id of a class or thread. Ids are given out in
// sequence, so a slice serves nearly always; a map serves ids that are not.
type byID[T any] struct {
	dense []*T
	rest  map[uint32]*T
}

// denseIDs is how many ids have a place in the slice.
const denseIDs = 1 << 16

// get is nil where nothing was set.
func (x *byID[T]) get(id uint32) *T {
	if int(id) < len(x.dense) {
		return x.dense[id]
	}
	return x.rest[id]
}

func (x *byID[T]) set(id uint32, to *T) {
	if id < denseIDs {
		for int(id) >= len(x.dense) {
			x.dense = append(x.dense, nil)
		}
		x.dense[id] = to
		return
	}
	if x.rest == nil {
		x.rest = map[uint32]*T{}
	}
	x.rest[id] = to
}

// all lists what was set, ids of the slice first and in order.
func (x *byID[T]) all() iter.Seq2[uint32, *T] {
	return func(yield func(uint32, *T) bool) {
		for id, to := range x.dense {
			if to != nil && !yield(uint32(id), to) {
				return
			}
		}
		for id, to := range x.rest {
			if !yield(id, to) {
				return
			}
		}
	}
}
