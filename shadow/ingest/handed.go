package ingest

import (
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// clearHanded empties what only some sessions have, to be used again.
func clearHanded(p *store.Part) {
	p.Constructions, p.Submissions, p.Executors, p.Sites = p.Constructions[:0], p.Submissions[:0], p.Executors[:0], p.Sites[:0]
	for _, columns := range [][][]int64{p.ExecutionWork.Total, p.ExecutionWork.Nested, p.ConstructionWork.Total, p.ConstructionWork.Nested} {
		for k := range columns { // one that the next part has no values for is not stored
			columns[k] = columns[k][:0]
		}
	}
	p.Frames, p.Contexts, p.ContextSums = p.Frames[:0], p.Contexts[:0], p.ContextSums[:0]
	p.SiteSums = p.SiteSums[:0]
	p.VirtualThreads = p.VirtualThreads[:0]
}

// appendHanded converts what b tells of hand-overs and constructions, and what they name.
func appendHanded(p *store.Part, b *wire.Batch, c *clock) {
	appendWork(&p.ConstructionWork, b.ConstructionWork, len(p.Constructions), len(b.Constructions))
	rate := c.rate(b.Clock.Ticks, b.Clock.Ticks)
	for i := range b.Constructions {
		x := &b.Constructions[i]
		p.Constructions = append(p.Constructions, store.Construction{
			TaskID: x.TaskID, Class: x.Class, Thread: x.Thread, WallNs: units.Ns(rate.ns(uint64(x.Wall))), CPUNs: x.CPU,
		})
	}
	for i := range b.Submissions {
		x := &b.Submissions[i]
		p.Submissions = append(p.Submissions, store.Submission{
			TaskID: x.TaskID, OuterTaskID: x.OuterTaskID, Class: x.Class, Thread: x.Thread, Executor: x.Executor, Site: x.Site,
			Flags: uint16(x.Flags), AtNs: c.mono(x.At),
		})
	}
	for _, x := range b.Executors {
		p.Executors = append(p.Executors, store.Executor(x))
	}
	for _, x := range b.Sites {
		p.Sites = append(p.Sites, store.Site(x))
	}
	for _, x := range b.SiteSums {
		p.SiteSums = append(p.SiteSums, store.SiteSum{
			Class: x.Class, Thread: x.Thread, Flags: uint32(x.Flags), Kind: store.SiteKindName(x.Kind), Site: x.Site, Count: x.Count,
		})
	}
}

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

// describeHanded takes over the sums of submissions and constructions; an agent
// that records none never tells any.
func describeHanded(m *store.Manifest, t *wire.Totals) {
	if t.Submissions|t.LostSubmissions != 0 {
		m.Submissions = &store.Handed{Produced: t.Submissions, Lost: t.LostSubmissions}
	}
	if t.Constructions|t.LostConstructions != 0 {
		m.Constructions = &store.Handed{Produced: t.Constructions, Summarised: t.SummarisedConstructions, Lost: t.LostConstructions}
	}
}
