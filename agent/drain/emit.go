package drain

import (
	"fmt"

	"stackagent/internal/wire"
)

// emit encodes one batch of what is pending into c.held. change may add to it.
// What cannot be encoded is left out and counted; the rest of the batch is sent.
func (c *Collector) emit(change func(*wire.Batch)) error {
	b := &wire.Batch{Session: c.cfg.Session, Process: c.cfg.Process, Seq: c.seq + 1, Clock: c.src.Clock(), Totals: c.totals()}
	if b.Seq == 1 && c.cfg.Hello != nil {
		b.Hello = c.cfg.Hello()
	}
	if change != nil {
		change(b)
	}
	for {
		err := c.encodePart(b)
		if err == nil {
			c.account(b)
			return nil
		}
		if !c.leaveOut(b, err) {
			return fmt.Errorf("collect records: %w", err)
		}
		b.Totals = c.totals()
	}
}

// encodePart fills b with the first part of what is pending and encodes it into
// c.scratch. A batch that cannot be encoded, or is too large for a message, is made
// again with half of the content; the error is that of the smallest one.
func (c *Collector) encodePart(b *wire.Batch) error {
	for s := c.share(); ; s = s.half() {
		c.pending.fill(b, s)
		if err := c.encode(b); err == nil || s.smallest() {
			return err
		}
	}
}

// encode encodes b into c.scratch. It turns a panic into an error.
func (c *Collector) encode(b *wire.Batch) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.enc = wire.Encoder{}
			err = fmt.Errorf("encode batch %d: internal error: %v", b.Seq, p)
		}
	}()
	msg, err := c.enc.Encode(b, c.scratch[:0])
	if err != nil {
		return err
	}
	if c.scratch = msg; len(msg) > maxMessage {
		return fmt.Errorf("batch %d of %d bytes cannot be split below %d", b.Seq, len(msg), maxMessage)
	}
	return nil
}

// account keeps the encoded batch and takes its content off what is pending.
func (c *Collector) account(b *wire.Batch) {
	c.held = append([]byte(nil), c.scratch...)
	c.seq = b.Seq
	c.pending.losses.sent(b.Totals.LostByThread)
	if c.empty++; !isEmpty(b) {
		c.empty = 0
	}
	n := b.Events()
	if n >= minBatchEvents && len(b.Summaries) == 0 {
		c.per = max(1, 0.75*c.per+0.25*float64(len(c.held))/float64(n))
	}
	c.stats.Batches++
	c.stats.Events += uint64(n)
	c.stats.Bytes += uint64(len(c.held))
	c.pending.taken(b)
}

// totals are the probes' sums and the Collector's own losses.
func (c *Collector) totals() wire.Totals {
	t := c.pending.meta.Totals
	t.Lost = append([]wire.Loss(nil), t.Lost...)
	if c.stats.Dropped > 0 {
		t.Lost = append(t.Lost, wire.Loss{Reason: LostBufferFull, Events: c.stats.Dropped})
	}
	if c.pending.Unknown > 0 {
		t.Lost = append(t.Lost, wire.Loss{Reason: LostUnknown, Events: c.pending.Unknown})
	}
	if c.pending.unfit > 0 {
		t.Lost = append(t.Lost, wire.Loss{Reason: LostUnfit, Events: c.pending.unfit})
	}
	if c.pending.lostPauses > 0 {
		t.Lost = append(t.Lost, wire.Loss{Reason: wire.LostPauses, Events: c.pending.lostPauses})
	}
	t.Add(&c.pending.lost)
	t.LostByThread = c.pending.losses.news(maxBatchItems)
	return t
}
