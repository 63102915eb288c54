// Package idmap maps the ids of classes and threads to values.
package idmap

import "iter"

// Map finds the value of an id. Ids are given out in sequence, so a slice serves
// nearly all of them; a map serves the rest. The zero value is empty.
type Map[T any] struct {
	dense []*T
	rest  map[uint32]*T
}

// denseIDs is the number of ids with a place in the slice.
const denseIDs = 1 << 16

// Get returns nil if the id has no value.
func (m *Map[T]) Get(id uint32) *T {
	if int(id) < len(m.dense) {
		return m.dense[id]
	}
	return m.rest[id]
}

// Set gives an id its value.
func (m *Map[T]) Set(id uint32, to *T) {
	if id < denseIDs {
		for int(id) >= len(m.dense) {
			m.dense = append(m.dense, nil)
		}
		m.dense[id] = to
		return
	}
	if m.rest == nil {
		m.rest = map[uint32]*T{}
	}
	m.rest[id] = to
}

// All yields the ids and values, those of the slice first and in order.
func (m *Map[T]) All() iter.Seq2[uint32, *T] {
	return func(yield func(uint32, *T) bool) {
		for id, to := range m.dense {
			if to != nil && !yield(uint32(id), to) {
				return
			}
		}
		for id, to := range m.rest {
			if !yield(id, to) {
				return
			}
		}
	}
}
