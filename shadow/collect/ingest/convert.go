package ingest

import (
	"fmt"
	"math"
	"strconv"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// appendBatch converts b and appends it to p.
func appendBatch(p *store.Part, b *wire.Batch, c *clock) {
	appendWork(&p.ExecutionWork, b.ExecutionWork, len(p.Executions), len(b.Executions))
	appendWork(&p.ConstructionWork, b.ConstructionWork, len(p.Constructions), len(b.Constructions))
	appendRows(p, b, c)
	for i := range b.Summaries {
		appendSummary(p, store.SummaryID(b.Seq, i), &b.Summaries[i], c)
	}
}

// deriveExecution makes the end and wall time, the queue time, and self work:
// inclusive - that of the executions directly inside.
func deriveExecution(r *store.Execution, x *wire.Execution, c *clock, _ nsPerTick) {
	r.WallNs, r.SelfWallNs, r.SelfCPUNs = units.NotMeasured, units.NotMeasured, units.NotMeasured
	if x.Submitted != 0 && x.Submitted <= x.Start {
		r.SubmittedNs = c.mono(x.Submitted)
		switch {
		case x.Due == 0 || x.Due > x.Start:
		case x.Submitted < x.Due:
			r.DueNs = c.mono(x.Due)
		default: // since then it is due at once, which is a delay of the least there is
			r.DueNs, r.DueBeforeNs = r.SubmittedNs+1, c.mono(x.Due)
		}
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
}

// deriveSummary makes null of an end that is not known.
func deriveSummary(r *store.Summary, x *wire.Summary, c *clock, _ nsPerTick) {
	if x.LastEnd != 0 {
		r.LastEndNs = new(int64(c.mono(x.LastEnd)))
	}
}

// deriveThread makes null of what is not known.
func deriveThread(r *store.Thread, x *wire.Thread, c *clock, _ nsPerTick) {
	if x.Start != 0 {
		r.StartNs = (*int64)(new(c.mono(x.Start)))
	}
	if x.End != 0 {
		r.EndNs = (*int64)(new(c.mono(x.End)))
	}
	if x.Counted {
		r.Executions, r.Creations, r.Lost = new(bounded(x.Executions)), new(bounded(x.Creations)), new(bounded(x.Lost))
	}
}

// deriveVirtualThread makes the largest values of a single thread.
func deriveVirtualThread(r *store.VirtualThread, x *wire.VirtualThread, _ *clock, rate nsPerTick) {
	ns := func(t units.Ticks) units.Ns { return units.Ns(rate.ns(uint64(t))) }
	r.Alive = x.Flags&wire.VirtualAlive != 0
	if x.Ready.Measured() {
		r.ReadyNs = new(ns(units.Ticks(x.Ready)))
	}
	if x.Thread == 0 {
		r.MostMounts, r.MostPinnedNs, r.MostAwayNs, r.MostReadyNs = x.MostMounts, ns(x.MostPinned), ns(x.MostAway), ns(x.MostReady)
		return
	}
	r.MostMounts, r.MostPinnedNs, r.MostAwayNs = r.Mounts, r.PinnedNs, r.AwayNs
	if r.ReadyNs != nil {
		r.MostReadyNs = *r.ReadyNs
	}
}

var contextKinds = [wire.NumContextKinds]string{store.ContextCreation, store.ContextSubmission, store.ContextExecution, store.ContextWait, store.ContextAllocation, store.ContextThrown, store.ContextPolling, store.ContextComputing, store.ContextLate, store.ContextYielding, store.ContextInterpreted}

func deriveContext(r *store.Context, x *wire.Context, _ *clock, _ nsPerTick) {
	r.Kind = "kind " + strconv.Itoa(int(x.Kind)) // of a newer agent
	if x.Kind < wire.NumContextKinds {
		r.Kind = contextKinds[x.Kind]
	}
}

func deriveSiteSum(r *store.SiteSum, x *wire.SiteSum, _ *clock, _ nsPerTick) {
	r.Kind = store.SiteKindName(x.Kind)
}

func deriveWait(r *store.Wait, x *wire.Wait, _ *clock, rate nsPerTick) {
	r.Kind = store.WaitKindName(x.Kind)
	if x.Ready != 0 {
		r.ReadyNs = new(units.Ns(rate.ns(uint64(x.Ready))))
	}
}

func deriveTaskTrace(r *store.TaskTrace, x *wire.TaskTrace, _ *clock, _ nsPerTick) {
	r.Kind = store.TraceKindName(x.Kind)
	r.TraceID = fmt.Sprintf("%016x%016x", x.TraceHigh, x.TraceLow)
	r.SpanID = fmt.Sprintf("%016x", x.Span)
}

func deriveWaitSum(r *store.WaitSum, x *wire.WaitSum, _ *clock, _ nsPerTick) {
	r.Kind = store.WaitKindName(x.Kind)
}

func deriveInsideSample(r *store.InsideSample, x *wire.InsideSample, _ *clock, _ nsPerTick) {
	r.Value = math.Float64frombits(x.Bits)
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
