package unit

import (
	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// chunkLength is the number of units in a chunk.
const chunkLength = 4096

// Chunks reads the units as chunks of executions, each with its group; group also
// chooses the units.
func (u *Reader) Chunks(group func(*Unit) (uint32, bool), use func(c *session.Chunk, group []uint32) error) error {
	c := newColumns(len(u.s.Manifest.Extra))
	err := u.Each(func(x *Unit) error {
		if id, ok := group(x); ok {
			c.add(x, id)
		}
		if c.Len() < chunkLength {
			return nil
		}
		defer c.empty()
		return use(&c.Chunk, c.group)
	})
	if err != nil || c.Len() == 0 {
		return err
	}
	return use(&c.Chunk, c.group)
}

// columns are units in the columns of executions.
type columns struct {
	session.Chunk
	group []uint32
	work  []*[]units.Ns // of Chunk, by granularity.Metric
}

// newColumns makes columns for units of a session with so many extra metrics.
func newColumns(extra int) *columns {
	c := &columns{}
	c.Extra, c.SelfExtra = make([][]units.Ns, extra), make([][]units.Ns, extra)
	c.work = []*[]units.Ns{granularity.Wall: &c.WallNs, granularity.CPU: &c.CPUNs, granularity.SelfWall: &c.SelfWallNs, granularity.SelfCPU: &c.SelfCPUNs}
	for k := range extra {
		c.work = append(c.work, &c.Extra[k], &c.SelfExtra[k])
	}
	return c
}

func (c *columns) add(x *Unit, group uint32) {
	c.TaskID, c.OuterTaskID = append(c.TaskID, x.Root), append(c.OuterTaskID, 0)
	c.Class, c.Thread, c.group = append(c.Class, x.Class), append(c.Thread, x.Thread), append(c.group, group)
	depth := uint16(0)
	if x.Inside {
		depth = 1
	}
	c.Depth, c.Flags = append(c.Depth, depth), append(c.Flags, flagsOf(x))
	c.StartNs, c.EndNs = append(c.StartNs, x.Start), append(c.EndNs, x.End)
	c.Site, c.QueueNs, c.DelayNs = append(c.Site, 0), append(c.QueueNs, x.Queue), append(c.DelayNs, x.Delay)
	for m, to := range c.work {
		n := units.NotMeasured
		if m < unit.MaxMetrics {
			n = x.Work[m]
		}
		*to = append(*to, n)
	}
}

func flagsOf(x *Unit) uint16 {
	var flags wire.ExecutionFlags
	for _, f := range []struct {
		set  bool
		flag wire.ExecutionFlags
	}{{x.Threw, wire.Threw}, {x.Running, wire.Running}, {x.Cut, wire.Cut}, {x.Virtual, wire.Virtual}, {x.Unseen, wire.CreationUnseen}} {
		if f.set {
			flags |= f.flag
		}
	}
	return uint16(flags)
}

func (c *columns) empty() {
	c.TaskID, c.OuterTaskID, c.Class, c.Thread = c.TaskID[:0], c.OuterTaskID[:0], c.Class[:0], c.Thread[:0]
	c.Depth, c.Flags, c.StartNs, c.EndNs = c.Depth[:0], c.Flags[:0], c.StartNs[:0], c.EndNs[:0]
	c.Site, c.QueueNs, c.DelayNs, c.group = c.Site[:0], c.QueueNs[:0], c.DelayNs[:0], c.group[:0]
	for _, column := range c.work {
		*column = (*column)[:0]
	}
}
