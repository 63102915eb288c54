package drain

import (
	"maps"
	"slices"

	"stackagent/internal/wire"
)

// maxLossThreads bounds the threads whose losses are told one by one; those of
// further threads are in the sums by reason only.
const maxLossThreads = 1 << 14

// losses are running sums of what was lost behind the rings, by thread; those
// of virtual threads are together under 0.
type losses struct {
	sums     map[uint32]uint64
	changed  map[uint32]struct{} // since they were last in a batch
	platform []uint64            // a bit for each platform thread
}

// know marks t's id as that of a platform thread, if it is one.
func (l *losses) know(t *wire.Thread) {
	if t.Virtual {
		return
	}
	word := int(t.ID / 64)
	for len(l.platform) <= word {
		l.platform = append(l.platform, 0)
	}
	l.platform[word] |= 1 << (t.ID % 64)
}

// add counts n events of a thread as lost.
func (l *losses) add(thread uint32, n uint64) {
	if word := int(thread / 64); word >= len(l.platform) || l.platform[word]&(1<<(thread%64)) == 0 {
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

// told takes note of what a batch carries.
func (l *losses) told(list []wire.ThreadLoss) {
	for _, x := range list {
		delete(l.changed, x.Thread)
	}
}
