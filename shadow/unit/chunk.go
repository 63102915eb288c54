package unit

import (
	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// unitChunk is how many units are handed on at once.
const unitChunk = 4096

// Chunks hands on the units that class lets pass, as executions of the class
// that it says.
func (u *Reader) Chunks(use func(int, *session.Chunk) error, class func(*unit.Unit) (uint32, bool)) error {
	c := newUnitChunk(len(u.s.Manifest.Extra))
	err := u.Each(func(x *unit.Unit) error {
		if id, ok := class(x); ok {
			c.add(x, id)
		}
		if c.Len() < unitChunk {
			return nil
		}
		defer c.empty()
		return use(0, &c.Chunk)
	})
	if err != nil || c.Len() == 0 {
		return err
	}
	return use(0, &c.Chunk)
}

// unitColumns are units in the columns of executions.
type unitColumns struct {
	session.Chunk
	further int
}

func newUnitChunk(further int) *unitColumns {
	c := &unitColumns{further: further}
	c.Extra, c.SelfExtra = make([][]units.Ns, further), make([][]units.Ns, further)
	return c
}

func (c *unitColumns) add(x *unit.Unit, class uint32) {
	c.TaskID, c.OuterTaskID = append(c.TaskID, x.Root), append(c.OuterTaskID, 0)
	c.Class, c.Thread = append(c.Class, class), append(c.Thread, x.Thread)
	depth := uint16(0)
	if x.Inside {
		depth = 1
	}
	c.Depth, c.Flags = append(c.Depth, depth), append(c.Flags, unitFlags(x))
	c.StartNs, c.EndNs = append(c.StartNs, x.Start), append(c.EndNs, x.End)
	c.WallNs, c.CPUNs = append(c.WallNs, x.Work[granularity.Wall]), append(c.CPUNs, x.Work[granularity.CPU])
	c.SelfWallNs, c.SelfCPUNs = append(c.SelfWallNs, x.Work[granularity.SelfWall]), append(c.SelfCPUNs, x.Work[granularity.SelfCPU])
	c.Site, c.QueueNs = append(c.Site, 0), append(c.QueueNs, x.Queue)
	for k := range c.further {
		total, self := units.NotMeasured, units.NotMeasured
		if k < unit.MaxFurther {
			total, self = x.More[2*k], x.More[2*k+1]
		}
		c.Extra[k], c.SelfExtra[k] = append(c.Extra[k], total), append(c.SelfExtra[k], self)
	}
}

func unitFlags(x *unit.Unit) uint16 {
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

func (c *unitColumns) empty() {
	k := &c.Chunk
	k.TaskID, k.OuterTaskID, k.Class, k.Thread = k.TaskID[:0], k.OuterTaskID[:0], k.Class[:0], k.Thread[:0]
	k.Depth, k.Flags, k.StartNs, k.EndNs = k.Depth[:0], k.Flags[:0], k.StartNs[:0], k.EndNs[:0]
	k.WallNs, k.CPUNs, k.SelfWallNs, k.SelfCPUNs = k.WallNs[:0], k.CPUNs[:0], k.SelfWallNs[:0], k.SelfCPUNs[:0]
	k.Site, k.QueueNs = k.Site[:0], k.QueueNs[:0]
	for i := range k.Extra {
		k.Extra[i], k.SelfExtra[i] = k.Extra[i][:0], k.SelfExtra[i][:0]
	}
}
