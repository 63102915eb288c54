package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"stackagent/internal/units"
)

// VirtualFlags qualify a VirtualThread.
type VirtualFlags uint16

// VirtualAlive says that the thread had not ended. It equals SA_VIRTUAL_ALIVE of jvmti/ring/record.h.
const VirtualAlive VirtualFlags = 1

// VirtualThread is how a virtual thread was scheduled while it executed
// something, or several with bodies of one class together (Thread 0) that came
// too fast to be told one by one: then counts and times are sums. A thread that an
// agent found running, or in which several executions follow one another, has
// several; all add up.
type VirtualThread struct {
	Thread uint32 // Thread.ID, or 0
	Class  uint32 // Class.ID of its body: the first class of the program that it executed, else of the JDK
	Flags  VirtualFlags
	At     units.Ticks // when it was told: at the thread's end

	Threads     uint64 // that it stands for; 1 of a thread
	Mounts      uint64 // times that it got onto a carrier, its start included
	Changes     uint64 // of these, onto another carrier than before
	First, Last uint32 // carriers, Thread.ID, 0: not known; of a single thread
	Pins        uint64 // parked without leaving its carrier

	Pinned units.Ticks // time in these
	Away   units.Ticks // between two mounts: parked, blocked, or ready to go on
	Ready  units.Ns    // of these the ticks that it waited for a carrier, or NotMeasured

	// The largest of a single thread, over all that the agent has counted so far
	// of this class on a carrier.
	MostMounts                      uint64
	MostPinned, MostAway, MostReady units.Ticks
}

const (
	// virtualFields is how many numbers an entry has; those of several threads
	// together have virtualMaxima more.
	virtualFields = 13
	virtualMaxima = 4
)

func appendVirtual(out []byte, list []VirtualThread) []byte {
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(list)))
	var body []byte
	for i := range list {
		body = appendVirtualThread(body[:0], &list[i])
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out
}

func appendVirtualThread(out []byte, v *VirtualThread) []byte {
	ready := uint64(0) // not measured
	if v.Ready.Measured() {
		ready = uint64(v.Ready) + 1
	}
	for _, n := range [virtualFields]uint64{
		uint64(v.Thread), uint64(v.Class), uint64(v.Flags), uint64(v.At), v.Threads, v.Mounts, v.Changes,
		uint64(v.First), uint64(v.Last), v.Pins, uint64(v.Pinned), uint64(v.Away), ready,
	} {
		out = binary.AppendUvarint(out, n)
	}
	if v.Thread != 0 {
		return out
	}
	for _, n := range [virtualMaxima]uint64{v.MostMounts, uint64(v.MostPinned), uint64(v.MostAway), uint64(v.MostReady)} {
		out = binary.AppendUvarint(out, n)
	}
	return out
}

// checkVirtual refuses what a reader would refuse.
func checkVirtual(list []VirtualThread) error {
	if len(list) > MaxEvents {
		return fmt.Errorf("%d virtual threads: %w", len(list), ErrTooMany)
	}
	for i := range list {
		if v := &list[i]; v.Thread != 0 && v.Threads != 1 {
			return fmt.Errorf("virtual thread %d stands for %d threads", v.Thread, v.Threads)
		}
	}
	return nil
}

// decodeVirtual is the inverse of appendVirtual; unknown counts the ends of
// entries that were passed over.
func decodeVirtual(data []byte, limit int) (list []VirtualThread, unknown int, err error) {
	return decodeBlocks(data, limit, virtualFields+1, "virtual thread", "virtual threads", (*payload).virtual)
}

func (p *payload) virtual(v *VirtualThread, end int) {
	id := func(field string) uint32 { return uint32(p.within("virtual."+field, end, math.MaxUint32)) }
	// Counts and times of real programs are far below; sums of them stay below 2^63.
	sum := func(field string) uint64 { return p.within("virtual."+field, end, math.MaxInt64) }
	v.Thread, v.Class = id("thread"), id("class")
	v.Flags = VirtualFlags(p.within("virtual.flags", end, math.MaxUint16))
	v.At = units.Ticks(p.within("virtual.at", end, math.MaxUint64))
	v.Threads, v.Mounts, v.Changes = sum("threads"), sum("mounts"), sum("changes")
	v.First, v.Last = id("first carrier"), id("last carrier")
	v.Pins, v.Pinned, v.Away = sum("pins"), units.Ticks(sum("pinned")), units.Ticks(sum("away"))
	v.Ready = units.NotMeasured
	if ready := sum("ready"); ready != 0 {
		v.Ready = units.Ns(ready - 1)
	}
	if p.err == nil && v.Thread != 0 && v.Threads != 1 {
		p.err = p.fail("virtual.threads", "a single thread stands for another number of them")
	}
	if v.Thread != 0 || p.err != nil {
		return
	}
	v.MostMounts = sum("most mounts")
	v.MostPinned, v.MostAway, v.MostReady = units.Ticks(sum("most pinned")), units.Ticks(sum("most away")), units.Ticks(sum("most ready"))
}
