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
func isEmpty(b *wire.Batch) bool {
	return b.Hello == nil && len(b.Executions)+len(b.Creations)+len(b.Summaries)+len(b.SiteSums)+len(b.Constructions)+len(b.Submissions)+
		len(b.Classes)+len(b.Threads)+len(b.Pauses)+len(b.Executors)+len(b.Sites)+len(b.Virtual)+len(b.Waits)+len(b.TaskTraces)+len(b.WaitSums)+len(b.Blockers)+len(b.InsideMonitors)+len(b.InsideSamples)+
		len(b.Contexts.Frames)+len(b.Contexts.Contexts)+len(b.Contexts.Sums) == 0
}
