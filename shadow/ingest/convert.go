package ingest

import (
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// reserve makes room in p for the rows of the batches: growing by steps would
// copy a large part several times.
func reserve(p *store.Part, part []*held) {
	executions, creations := 0, 0
	submissions, constructions := 0, 0
	for _, h := range part {
		executions += len(h.batch.Executions)
		creations += len(h.batch.Creations)
		submissions += len(h.batch.Submissions)
		constructions += len(h.batch.Constructions)
	}
	p.Submissions = slices.Grow(p.Submissions, submissions)
	p.Constructions = slices.Grow(p.Constructions, constructions)
	p.Executions = slices.Grow(p.Executions, executions)
	p.Creations = slices.Grow(p.Creations, creations)
}

// appendBatch converts b and appends it to p.
func appendBatch(p *store.Part, b *wire.Batch, c *clock) {
	appendWork(&p.ExecutionWork, b.ExecutionWork, len(p.Executions), len(b.Executions))
	appendHanded(p, b, c)
	appendContexts(p, b, c)
	appendVirtual(p, b, c)
	for i := range b.Executions {
		p.Executions = append(p.Executions, convertExecution(&b.Executions[i], c))
	}
	for i := range b.Creations {
		x := &b.Creations[i]
		p.Creations = append(p.Creations, store.Creation{
			TaskID: x.TaskID, OuterTaskID: x.OuterTaskID, Class: x.Class, Thread: x.Thread,
			Flags: uint16(x.Flags), AtNs: c.mono(x.At), Site: x.Site,
		})
	}
	for i := range b.Summaries {
		appendSummary(p, store.SummaryID(b.Seq, i), &b.Summaries[i], c)
	}
	for _, x := range b.Classes {
		p.Classes = append(p.Classes, store.Class{ID: x.ID, Name: x.Name, Kinds: x.Kinds.String(), Loader: x.Loader})
	}
	for i := range b.Threads {
		p.Threads = append(p.Threads, convertThread(&b.Threads[i], c))
	}
	for _, x := range b.Pauses {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: int64(c.mono(x.Start)), EndNs: int64(c.mono(x.End))})
	}
	for _, x := range b.OS {
		p.OSThreads = append(p.OSThreads, store.OSThread{OSID: x.OSID, Name: x.Name, CPUNs: nullable(x.CPU), RunNs: nullable(x.Run)})
	}
}

// convertExecution puts x on the session's clock and takes nested executions
// out of its work: self = inclusive - that of the executions directly in it.
func convertExecution(x *wire.Execution, c *clock) store.Execution {
	r := store.Execution{
		TaskID: x.TaskID, OuterTaskID: x.OuterTaskID, Class: x.Class, Thread: x.Thread,
		Depth: x.Depth, Flags: uint16(x.Flags), StartNs: c.mono(x.Start),
		WallNs: units.NotMeasured, SelfWallNs: units.NotMeasured, CPUNs: x.CPU, SelfCPUNs: units.NotMeasured, Site: x.Site,
	}
	if x.Submitted != 0 && x.Submitted <= x.Start {
		r.SubmittedNs = c.mono(x.Submitted)
	}
	if x.End != wire.NoEnd {
		r.EndNs = c.mono(x.End)
		r.WallNs = units.Ns(r.EndNs - r.StartNs)
		r.SelfWallNs = r.WallNs - span(x.ChildTicks, x.Start, x.End, r.WallNs)
		if !r.WallNs.Measured() || !r.SelfWallNs.Measured() { // no real time is that large
			r.EndNs, r.WallNs, r.SelfWallNs = 0, units.NotMeasured, units.NotMeasured
		}
	}
	if x.CPU.Measured() && x.ChildCPU.Measured() {
		r.SelfCPUNs = x.CPU - x.ChildCPU
	}
	return r
}

func convertThread(x *wire.Thread, c *clock) store.Thread {
	r := store.Thread{
		ID: x.ID, JavaID: x.JavaID, OSID: x.OSID, Name: x.Name, Group: x.Group, Class: x.Class,
		Daemon: x.Daemon, Virtual: x.Virtual, CPUNs: nullable(x.CPU),
	}
	if x.Start != 0 {
		r.StartNs = (*int64)(new(c.mono(x.Start)))
	}
	if x.End != 0 {
		r.EndNs = (*int64)(new(c.mono(x.End)))
	}
	if x.Counted {
		r.Executions, r.Creations, r.Lost = new(bounded(x.Executions)), new(bounded(x.Creations)), new(bounded(x.Lost))
	}
	return r
}

func nullable(n units.Ns) *int64 {
	if !n.Measured() {
		return nil
	}
	return (*int64)(&n)
}

// keepLast leaves the last row of each id, in place: a thread is described
// again with every snapshot, and only the newest counts.
func keepLast[T any, K comparable](rows []T, id func(*T) K) []T {
	last := make(map[K]int, len(rows))
	for i := range rows {
		last[id(&rows[i])] = i
	}
	kept := rows[:0]
	for i := range rows {
		if last[id(&rows[i])] == i {
			kept = append(kept, rows[i])
		}
	}
	return kept
}
