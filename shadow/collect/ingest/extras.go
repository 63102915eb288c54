package ingest

import (
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// appendWork appends the columns of a batch with that many rows to those of a
// part, which has rows already. What either does not have was not measured.
func appendWork(into *wire.Work, from wire.Work, had, rows int) {
	for _, x := range []struct {
		into *[][]int64
		from [][]int64
	}{{&into.Total, from.Total}, {&into.Nested, from.Nested}} {
		for len(*x.into) < len(x.from) {
			*x.into = append(*x.into, notMeasured(nil, had))
		}
		for k := range *x.into {
			if k < len(x.from) {
				(*x.into)[k] = append((*x.into)[k], x.from[k]...)
			} else {
				(*x.into)[k] = notMeasured((*x.into)[k], rows)
			}
		}
	}
}

// notMeasured appends n values that were not measured.
func notMeasured(list []int64, n int) []int64 {
	list = slices.Grow(list, n)
	for range n {
		list = append(list, int64(units.NotMeasured))
	}
	return list
}
