package drain

import (
	"time"

	"stackagent/internal/wire"
)

// beat is the time between batches: the longer nothing happens, the longer, up to IdleBeat. What has been read does not
// wait for that.
func (c *Collector) beat() time.Duration {
	beat := c.cfg.Heartbeat
	if c.held != nil || c.round || c.paths || c.pending.any() {
		return beat
	}
	for range c.empty {
		if beat *= 2; beat >= c.cfg.IdleBeat {
			return max(c.cfg.IdleBeat, c.cfg.Heartbeat)
		}
	}
	return beat
}

// isEmpty says that a batch is only a sign of life.
func isEmpty(b *wire.Batch) bool { return b.Hello == nil && b.Records() == 0 }
