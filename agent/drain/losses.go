package drain

import (
	"maps"
	"slices"

	"stackagent/internal/wire"
)

// maxLossThreads bounds the threads whose losses are counted one by one; those of
// further threads are in the sums by reason only.
const maxLossThreads = 1 << 14

// losses are running sums of what was lost behind the rings, by thread; those
// of virtual threads are together under 0.
type losses struct {
	sums    map[uint32]uint64
	changed map[uint32]struct{} // since they were last in a batch

	platform map[uint32]struct{} // platform threads of which records may wait
	ended    []uint32            // of these, reported to have ended since the rings were last read to their ends
	passing  []uint32            // the same before the last time but one
	leaving  []leaving           // of these, whose records have all left the rings, oldest first
}

// leaving are threads whose last records are among the first executions and
// creations, counted from the start.
type leaving struct {
	threads               []uint32
	executions, creations uint64
}

// know marks t's id as that of a platform thread, if it is one.
func (l *losses) know(t *wire.Thread) {
	if t.Virtual {
		return
	}
	if l.platform == nil {
		l.platform = map[uint32]struct{}{}
	}
	l.platform[t.ID] = struct{}{}
	if t.End != 0 {
		l.ended = append(l.ended, t.ID)
	}
}

// passed takes note that the rings were read to their ends; so many executions
// and creations have been decoded.
func (l *losses) passed(executions, creations uint64) {
	if len(l.passing) > 0 {
		l.leaving = append(l.leaving, leaving{l.passing, executions, creations})
	}
	l.passing, l.ended = l.ended, nil // a ring that wraps is read in two passes
}

// settled takes note that so many executions and creations are in batches or
// dropped: what has ended before them is forgotten.
func (l *losses) settled(executions, creations uint64) {
	for len(l.leaving) > 0 && l.leaving[0].executions <= executions && l.leaving[0].creations <= creations {
		for _, thread := range l.leaving[0].threads {
			delete(l.platform, thread)
		}
		l.leaving = l.leaving[1:]
	}
}

// add counts n events of a thread as lost.
func (l *losses) add(thread uint32, n uint64) {
	if _, platform := l.platform[thread]; !platform {
		thread = 0
	}
	if _, ok := l.sums[thread]; !ok && len(l.sums) >= maxLossThreads {
		return
	}
	if l.sums == nil {
		l.sums, l.changed = map[uint32]uint64{}, map[uint32]struct{}{}
	}
	l.sums[thread] += n
	l.changed[thread] = struct{}{}
}

// news are at most limit sums that have changed.
func (l *losses) news(limit int) []wire.ThreadLoss {
	if len(l.changed) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(l.changed))
	list := make([]wire.ThreadLoss, min(limit, len(ids)))
	for i := range list {
		list[i] = wire.ThreadLoss{Thread: ids[i], Events: l.sums[ids[i]]}
	}
	return list
}

// sent notes what a batch carries.
func (l *losses) sent(list []wire.ThreadLoss) {
	for _, x := range list {
		delete(l.changed, x.Thread)
	}
}
