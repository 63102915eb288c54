// Package drain turns the raw records of the rings into batches: decode,
// gather, cut to size, number, encode, offer to the publisher.
//
// One goroutine drives a Collector. It stops draining while the publisher has
// no room, so that the rings fill and their own overflow policy acts; after a
// bounded patience it goes on draining and drops what it gets, counted.
package drain

import (
	"encoding/binary"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// The layout of jvmti/ring/record.h; a test holds both against each other.
const (
	slotBytes      = 32
	executionBytes = 2 * slotBytes // without extra metrics

	recPad       = 0
	recExecution = 1
	recCreation  = 2
	recThread    = 3
	recPause     = 4

	recConstruction = 5

	recSubmission   = 10
	submissionBytes = 2 * slotBytes
	recQueue        = 11

	recVirtual   = 12
	virtualBytes = 2 * slotBytes

	offType  = 0
	offFlags = 1

	offDepth      = 2
	offClass      = 4
	offTask       = 8
	offOuter      = 16
	offStart      = 24
	offEnd        = 32
	offCPU        = 40
	offChildTicks = 48
	offChildCPU   = 56
	offCreationAt = 24
	offThreadID   = 4
	offPauseStart = 8
	offPauseEnd   = 16

	offWall            = 16
	offConstructionCPU = 24

	offCreationSite = 2
	offExecutor     = 32
	offSite         = 36
	offQueued       = 16

	offVirtualMounts  = 8
	offVirtualChanges = 12
	offVirtualFirst   = 16
	offVirtualLast    = 20
	offVirtualPins    = 24
	offVirtualPinned  = 32
	offVirtualAway    = 40
	offVirtualReady   = 48
	offVirtualAt      = 56
)

// Decoder decodes slots into columns. Each ring belongs to one thread at a
// time; the Decoder remembers which.
type Decoder struct {
	Executions []wire.Execution
	Creations  []wire.Creation
	Pauses     []wire.Pause

	// Extras is how many extra metrics each execution's record has behind it,
	// the same for all; Work are their columns, as long as Executions.
	Extras int
	Work   wire.Work

	Submissions []wire.Submission
	Virtual     []wire.VirtualThread

	Constructions    []wire.Construction
	ConstructionWork wire.Work // only Total

	// Unknown counts slots of a type this program does not know, and records
	// that the end of a chunk cut in two. Always zero if the probes are right.
	Unknown uint64

	threads  map[uint32]uint32 // ring -> wire.Thread.ID
	sites    []uint64          // a bit for each that a record has named
	newSites []uint32          // named for the first time, to be taken
	queued   map[uint32]queued // ring -> what its next execution may belong to
}

// queued says when a task was submitted whose execution is to follow.
type queued struct {
	task      uint64
	submitted units.Ticks
}

// Decode appends the records of one ring; slots is a multiple of 32 bytes. No
// slots: the ring is no more.
func (d *Decoder) Decode(ring uint32, slots []byte) {
	if len(slots) == 0 {
		delete(d.threads, ring)
		delete(d.queued, ring)
		return
	}
	thread := d.threads[ring]
	for len(slots) >= slotBytes {
		s := slots[:slotBytes:slotBytes]
		slots = slots[slotBytes:]
		switch s[offType] {
		case recExecution:
			more := d.RecordBytes() - slotBytes
			if len(slots) < more {
				d.Unknown++
				slots = nil
				continue
			}
			d.execution(thread, s, slots[:slotBytes:slotBytes])
			d.work(slots[slotBytes:more])
			d.queue(ring)
			slots = slots[more:]
		case recConstruction:
			more := d.constructionBytes() - slotBytes
			if len(slots) < more {
				d.Unknown++
				slots = nil
				continue
			}
			d.construction(thread, s, slots[:more])
			slots = slots[more:]
		case recSubmission:
			if len(slots) < slotBytes {
				d.Unknown++
				continue
			}
			d.submission(thread, s, slots[:slotBytes:slotBytes])
			slots = slots[slotBytes:]
		case recVirtual:
			if len(slots) < slotBytes {
				d.Unknown++
				continue
			}
			d.virtual(thread, s, slots[:slotBytes:slotBytes])
			slots = slots[slotBytes:]
		case recQueue:
			if d.queued == nil {
				d.queued = map[uint32]queued{}
			}
			d.queued[ring] = queued{binary.LittleEndian.Uint64(s[offTask:]), ticks(s, offQueued)}
		case recCreation:
			d.creation(thread, s)
		case recThread:
			thread = binary.LittleEndian.Uint32(s[offThreadID:])
			if d.threads == nil {
				d.threads = map[uint32]uint32{}
			}
			d.threads[ring] = thread
		case recPause:
			d.Pauses = append(d.Pauses, wire.Pause{Start: ticks(s, offPauseStart), End: ticks(s, offPauseEnd)})
		case recPad:
		default:
			d.Unknown++
		}
	}
	if len(slots) > 0 {
		d.Unknown++
	}
}

// RecordBytes is the size of an execution's record.
func (d *Decoder) RecordBytes() int {
	return executionBytes + (d.Extras*2*8+slotBytes-1)/slotBytes*slotBytes
}

// work appends the extra metrics of the execution before: the totals, then
// what of them is nested.
func (d *Decoder) work(s []byte) {
	for k := range d.Extras {
		d.Work.Total[k] = append(d.Work.Total[k], number(s, 8*k))
		d.Work.Nested[k] = append(d.Work.Nested[k], number(s, 8*(d.Extras+k)))
	}
}

func number(s []byte, off int) int64 { return int64(binary.LittleEndian.Uint64(s[off:])) }

func ticks(s []byte, off int) units.Ticks { return units.Ticks(binary.LittleEndian.Uint64(s[off:])) }

// execution decodes a record of two slots.
func (d *Decoder) execution(thread uint32, a, b []byte) {
	d.Executions = append(d.Executions, wire.Execution{
		TaskID:      binary.LittleEndian.Uint64(a[offTask:]),
		OuterTaskID: binary.LittleEndian.Uint64(a[offOuter:]),
		Class:       binary.LittleEndian.Uint32(a[offClass:]),
		Thread:      thread,
		Depth:       binary.LittleEndian.Uint16(a[offDepth:]),
		Flags:       wire.ExecutionFlags(a[offFlags]),
		Start:       ticks(a, offStart),
		End:         ticks(b, offEnd-slotBytes),
		CPU:         units.Ns(binary.LittleEndian.Uint64(b[offCPU-slotBytes:])),
		ChildTicks:  ticks(b, offChildTicks-slotBytes),
		ChildCPU:    units.Ns(binary.LittleEndian.Uint64(b[offChildCPU-slotBytes:])),
	})
}

func (d *Decoder) creation(thread uint32, s []byte) {
	d.Creations = append(d.Creations, wire.Creation{
		TaskID:      binary.LittleEndian.Uint64(s[offTask:]),
		OuterTaskID: binary.LittleEndian.Uint64(s[offOuter:]),
		Class:       binary.LittleEndian.Uint32(s[offClass:]),
		Thread:      thread,
		Flags:       wire.CreationFlags(s[offFlags]),
		At:          ticks(s, offCreationAt),
		Site:        d.site(uint32(binary.LittleEndian.Uint16(s[offCreationSite:]))),
	})
}

// submission decodes a record of two slots.
func (d *Decoder) submission(thread uint32, a, b []byte) {
	d.Submissions = append(d.Submissions, wire.Submission{
		TaskID:      binary.LittleEndian.Uint64(a[offTask:]),
		OuterTaskID: binary.LittleEndian.Uint64(a[offOuter:]),
		Class:       binary.LittleEndian.Uint32(a[offClass:]),
		Thread:      thread,
		Executor:    binary.LittleEndian.Uint32(b[offExecutor-slotBytes:]),
		Site:        d.site(binary.LittleEndian.Uint32(b[offSite-slotBytes:])),
		Flags:       wire.SubmissionFlags(a[offFlags]),
		At:          ticks(a, offCreationAt),
	})
}

// maxSite is the largest number of a site.
const maxSite = 1<<16 - 1

// site remembers that a record names a site.
func (d *Decoder) site(id uint32) uint32 {
	if id == 0 || id > maxSite {
		return 0
	}
	word, bit := int(id/64), uint64(1)<<(id%64)
	for len(d.sites) <= word {
		d.sites = append(d.sites, 0)
	}
	if d.sites[word]&bit == 0 {
		d.sites[word] |= bit
		d.newSites = append(d.newSites, id)
	}
	return id
}

// queue tells the execution decoded last when its task was submitted, if the
// record before it in its ring says so. It may be that of an execution which
// found no room.
func (d *Decoder) queue(ring uint32) {
	q, ok := d.queued[ring]
	if !ok {
		return
	}
	delete(d.queued, ring)
	if e := &d.Executions[len(d.Executions)-1]; e.TaskID == q.task {
		e.Submitted = q.submitted
	}
}

// virtual decodes a record of two slots.
func (d *Decoder) virtual(thread uint32, a, b []byte) {
	count := func(off int) uint64 { return uint64(binary.LittleEndian.Uint32(a[off:])) }
	d.Virtual = append(d.Virtual, wire.VirtualThread{
		Thread: thread, Class: binary.LittleEndian.Uint32(a[offClass:]), Flags: wire.VirtualFlags(a[offFlags]),
		Threads: 1, Mounts: count(offVirtualMounts), Changes: count(offVirtualChanges), Pins: count(offVirtualPins),
		First: uint32(count(offVirtualFirst)), Last: uint32(count(offVirtualLast)),
		Pinned: ticks(b, offVirtualPinned-slotBytes), Away: ticks(b, offVirtualAway-slotBytes),
		Ready: units.Ns(number(b, offVirtualReady-slotBytes)), At: ticks(b, offVirtualAt-slotBytes),
	})
}
