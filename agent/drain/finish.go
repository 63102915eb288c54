package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stackagent/internal/wire"
)

// ErrNotDrained means that Finish ran out of time and dropped what was left.
var ErrNotDrained = errors.New("records were dropped: the bus took no more before the time was over")

// Finish sends all that is left and then the last batch, which says that the
// session has ended cleanly. The probes must have stopped. Each call of running
// gives records of some of the executions that have not ended, the last one none;
// nil: there are none. While the sink is full Finish waits until ctx ends, then
// drops and counts what is left; the last batch, of which the totals are exact,
// is forced.
func (c *Collector) Finish(ctx context.Context, running func() []byte, exitNote string) (err error) {
	defer recovered(&err)
	c.running = running
	rounds := 0
	for {
		n := c.drainLast(&rounds)
		for c.pending.any() || c.held != nil {
			if err := c.send(time.Now(), true); err != nil {
				return err
			}
			if c.held == nil {
				continue
			}
			if !sleep(ctx, retryForced) {
				return c.give(exitNote, rounds)
			}
			c.offer(false)
		}
		if n == 0 && rounds == lastRounds {
			return c.last(exitNote, nil)
		}
	}
}

// lastRounds are the rounds of summaries at the end: one may have begun before
// the probes stopped.
const lastRounds = 2

// drainLast drains and counts the rounds of summaries that are over.
func (c *Collector) drainLast(rounds *int) int {
	n := c.drainRunning()
	n += c.drain(*rounds < lastRounds, time.Now())
	if !c.round && !c.paths && *rounds < lastRounds {
		*rounds++
	}
	return n
}

// drainRunning decodes the next executions that have not ended.
func (c *Collector) drainRunning() int {
	const noRing = 1<<32 - 1
	if c.running == nil {
		return 0
	}
	records := c.running()
	c.pending.Decode(noRing, records)
	if len(records) == 0 {
		c.running = nil
	}
	return len(records)
}

// give drops the events that are left, then sends the summaries, the
// descriptions and the last batch by force.
func (c *Collector) give(exitNote string, rounds int) error {
	before := c.stats.Dropped
	c.drop()
	for n := 1; n > 0 || rounds < lastRounds; {
		n = c.drainLast(&rounds)
		c.drop()
		if err := c.force(); err != nil {
			return err
		}
	}
	var cause error
	if n := c.stats.Dropped - before; n > 0 {
		cause = fmt.Errorf("collect records: %d events: %w", n, ErrNotDrained)
	}
	return c.last(exitNote, cause)
}

// force makes the sink take all that is pending.
func (c *Collector) force() error {
	for c.offer(true); c.held == nil && c.pending.any(); c.offer(true) {
		if err := c.emit(nil); err != nil {
			return err
		}
	}
	if c.held != nil {
		return fmt.Errorf("collect records: batch %d and the last one not taken: %w", c.seq, ErrNotDrained)
	}
	return nil
}

func (c *Collector) last(exitNote string, cause error) error {
	err := c.emit(func(b *wire.Batch) {
		b.Last, b.ExitNote = true, exitNote
		if c.cfg.Hello != nil {
			b.Hello = c.cfg.Hello()
		}
	})
	if err != nil {
		return err
	}
	if c.offer(true); c.held != nil {
		return fmt.Errorf("collect records: last batch %d not taken: %w", c.seq, ErrNotDrained)
	}
	return cause
}

// sleep waits for d; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
