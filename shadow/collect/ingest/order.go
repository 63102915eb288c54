package ingest

import (
	"errors"
	"fmt"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// place puts a batch in order: the expected one and those that waited for it
// are ready to be stored; a later one waits; an earlier one, given up as lost,
// is stored by itself.
func (w *worker) place(h *held) {
	seq := h.seq
	if seq > w.next {
		w.waiting[seq] = h
		w.behind += h.rows
		if w.gap.IsZero() {
			w.gap = time.Now()
		}
		w.skipGaps(false)
		return
	}
	w.ready(h)
	if seq == w.next {
		w.next++
		w.follow()
	}
}

// follow makes those ready that waited for what has come.
func (w *worker) follow() {
	for {
		h := w.waiting[w.next]
		if h == nil {
			break
		}
		delete(w.waiting, w.next)
		w.behind -= h.rows
		w.next++
		w.ready(h)
	}
	w.gap = time.Time{}
	if len(w.waiting) > 0 {
		w.gap = time.Now()
	}
}

// skipGaps goes on behind a gap that has been waited for long enough, or
// behind all of them.
func (w *worker) skipGaps(all bool) {
	for len(w.waiting) > 0 {
		if !all && len(w.waiting) <= reorderBatches && w.behind <= w.partRows() && time.Since(w.gap) < gapWait {
			return
		}
		first := uint64(store.MaxSeq)
		for seq := range w.waiting {
			first = min(first, seq)
		}
		w.next = first
		w.follow()
	}
}

// ready appends h to the part, which holds consecutive batches only.
func (w *worker) ready(h *held) {
	if n := len(w.part); n > 0 {
		last := w.part[n-1].seq
		apart := h.seq != last+1 || h.alone || w.part[n-1].alone || !w.out.SamePart(last, h.seq)
		w.ahead = h.batch.Clock
		if apart && !w.store() {
			return // the shadow ends; h, not acknowledged, comes again to the next one
		}
	}
	if len(w.part) == 0 {
		w.since = time.Now()
	}
	if w.ingest.o.Follower != nil {
		w.ingest.o.Follower.Batch(w.pro.Folder, h.batch, len(w.in) == cap(w.in))
	}
	w.part = append(w.part, h)
	w.rows += h.rows
	if w.rows >= w.partRows() || h.batch.Last {
		w.store()
	}
}

// partRows is when a part closes: earlier when many sessions share the memory.
func (w *worker) partRows() int {
	share := rowBudget / int(max(w.ingest.active.Load(), 1))
	return min(w.ingest.o.PartRows, max(share, minPartRows))
}

// store converts the part, commits it and acknowledges its messages. While the
// disk refuses, it tries again and again, and nothing more is taken from the
// bus; it gives up, and returns false, only when the shadow ends.
func (w *worker) store() bool {
	if len(w.part) == 0 {
		return true
	}
	w.convert()
	w.keepNames()
	for {
		if w.dropped() {
			return false
		}
		err := w.guarded(func() error { return w.out.Commit(&w.p) })
		w.problem(err)
		if err == nil {
			break
		}
		select {
		case <-w.ingest.stop:
			if !w.lastTry(err) {
				return false
			}
		case <-time.After(time.Second):
		}
	}
	w.clock.added, w.said = nil, nil // they are in the part now
	if w.out.Manifest.Ended != store.EndedRunning {
		w.ended = time.Now()
	}
	w.ack(w.part...)
	for _, h := range w.part {
		delete(w.pending, h.seq)
		h.batch.Release()
	}
	clear(w.part)
	w.part, w.rows = w.part[:0], 0
	if w.ingest.turns() { // hardly any of many sessions stores something at a moment
		w.p, w.part = store.Part{}, nil
	}
	w.slim()
	w.publish()
	return true
}

const (
	// endPatience is how long a shadow that ends waits for a bus that does not
	// answer: the heartbeats go on, and the next may prove that the session is ours.
	endPatience = 3 * time.Second
	endPause    = 50 * time.Millisecond
)

// lastTry waits a moment and reports whether storing is to be tried again although
// the shadow ends.
func (w *worker) lastTry(err error) bool {
	if !errors.Is(err, ownership.ErrUncertain) {
		return false
	}
	time.Sleep(endPause)
	return w.ingest.sinceShut() < endPatience
}

// convert puts the part's batches on the session's clock.
func (w *worker) convert() {
	m := &w.out.Manifest
	newest := m.Sequences.Max()
	w.clock.sparse = w.ingest.turns()
	w.clock.extend(w.pairs())
	late := w.clock.late
	p := &w.p
	p.Clear()
	p.From, p.To = w.part[0].seq, w.part[len(w.part)-1].seq
	reserve(p, w.part)
	p.Extra = m.ExtraColumns()
	if w.said != nil {
		appendBatch(p, w.said, &w.clock)
	}
	for _, h := range w.part {
		describe(m, h.batch, h.batch.Seq > newest)
		p.Extra = m.ExtraColumns()
		w.describeLosses(&h.batch.Totals)
		appendBatch(p, h.batch, &w.clock)
	}
	p.Threads = keepLast(p.Threads, func(t *store.Thread) uint32 { return t.ID })
	for i := range p.Threads {
		p.Threads[i].Name = store.CutName(p.Threads[i].Name)
	}
	p.OSThreads = keepLast(p.OSThreads, func(t *store.OSThread) int32 { return t.OSID })
	p.Clock = w.clock.added
	if n := w.clock.late - late; n > 0 {
		w.out.Note(fmt.Sprintf("batches %d-%d: %s beyond the clock reading of their batch and moved to it", p.From, p.To, text.PluralExact(n, "time was", "times were")))
	}
	if len(w.clock.knots) < 2 && !w.clock.nanoseconds() {
		w.out.Note(fmt.Sprintf("batches %d-%d: the rate of the agent's clock is not known; their durations are in its ticks", p.From, p.To))
	}
}

// describeLosses takes over what threads lost behind their rings. The sums only
// grow, so that the order of batches does not matter.
func (w *worker) describeLosses(t *wire.Totals) {
	for _, l := range t.LostByThread {
		if !w.out.Manifest.Lost.AddThread(l.Thread, l.Events) {
			w.out.Note(fmt.Sprintf("events of more than %d threads were lost; of those of the others it is not known which lost how many", store.MaxLostThreads))
		}
	}
}

// pairs are the clock pairs of the part, in order.
func (w *worker) pairs() []wire.ClockPair {
	pairs := make([]wire.ClockPair, 0, len(w.part)+2)
	if h := w.part[0].batch.Hello; h != nil && len(w.clock.knots) == 0 && h.StartClock.Mono != 0 {
		pairs = append(pairs, h.StartClock)
	}
	for _, h := range w.part {
		pairs = append(pairs, h.batch.Clock)
	}
	// One reading gives no rate: of a session taken over in its midst, the next batch's helps.
	if len(w.clock.knots)+len(pairs) == 1 && w.ahead.Mono > pairs[0].Mono {
		pairs = append(pairs, w.ahead)
	}
	return pairs
}

// problem reports a change between storing and not storing, once.
func (w *worker) problem(err error) {
	w.err = err
	if was := w.stuck.Swap(err != nil); was == (err != nil) {
		return
	}
	if err != nil {
		w.ingest.log.Error("ingest: cannot store; batches wait on the bus", "session", w.name, "error", err)
	} else {
		w.ingest.log.Info("ingest: storing works again", "session", w.name)
	}
	if w.ingest.o.Live != nil {
		w.ingest.o.Live.Problem(w.name, err)
	}
}

// publish says where the session stands.
func (w *worker) publish() {
	m := &w.out.Manifest
	w.pro.JVM, w.pro.Labels, w.pro.StartNs, w.pro.Stored, w.pro.Lost, w.pro.Ended = m.JVM, m.Labels, m.StartNs, m.Stored, m.Lost, m.Ended
	w.published = time.Now()
	w.pro.LastBatch = time.Unix(0, w.lastBatch.Load())
	w.ingest.report(w.pro)
}
