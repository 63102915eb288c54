// Package drain turns the raw records of the rings into batches: decode,
// gather, cut to size, number, encode, offer to the publisher.
//
// One goroutine drives a Collector. It stops draining while the publisher has
// no room, so that the rings fill and their own overflow policy acts; after a
// bounded patience it goes on draining and drops what it gets, counted.
package drain

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Decoder decodes slots into columns. Each ring belongs to one thread at a
// time; the Decoder remembers which.
type Decoder struct {
	Executions []wire.Execution
	Creations  []wire.Creation
	Pauses     []wire.Pause

	// Extras is how many extra metrics each execution's record has behind it,
	// the same for all; ExecutionWork are their columns, as long as Executions.
	Extras        int
	ExecutionWork wire.Work

	Submissions []wire.Submission
	Virtual     []wire.VirtualThread
	Waits       []wire.Wait
	TaskTraces  []wire.TaskTrace

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
	due       units.Ticks
}

// Decode appends the records of one ring; slots is a multiple of 32 bytes. No
// slots: the ring is gone.
func (d *Decoder) Decode(ring uint32, slots []byte) {
	if len(slots) == 0 {
		delete(d.threads, ring)
		delete(d.queued, ring)
		return
	}
	thread := d.threads[ring]
	for len(slots) >= slotBytes {
		n := d.size(slots[0])
		if n > len(slots) {
			d.Unknown++
			return
		}
		s := slots[:n:n]
		slots = slots[n:]
		switch s[0] {
		case recExecution:
			d.Executions = append(d.Executions, executionOf((*[executionBytes]byte)(s), thread))
			d.work(s[executionBytes:])
			d.queue(ring)
		case recCreation:
			d.Creations = append(d.Creations, creationOf((*[creationBytes]byte)(s), thread))
			x := &d.Creations[len(d.Creations)-1]
			x.Site = d.site(x.Site)
		case recConstruction:
			d.Constructions = append(d.Constructions, constructionOf((*[constructionBytes]byte)(s), thread))
			d.constructionWork(s[constructionBytes:])
		case recSubmission:
			x := submissionOf((*[submissionBytes]byte)(s), thread)
			x.Site = d.site(x.Site)
			d.Submissions = append(d.Submissions, x)
		case recVirtualThread:
			x := virtualThreadOf((*[virtualThreadBytes]byte)(s), thread)
			x.Threads = 1
			d.Virtual = append(d.Virtual, x)
		case recWait:
			x := waitOf((*[waitBytes]byte)(s), thread)
			x.Site = d.site(x.Site)
			d.Waits = append(d.Waits, x)
		case recTaskTrace:
			d.TaskTraces = append(d.TaskTraces, taskTraceOf((*[taskTraceBytes]byte)(s), thread))
		case recQueue:
			d.remember(ring, (*[queueBytes]byte)(s))
		case recThreadSwitch:
			thread = threadSwitchThread((*[threadSwitchBytes]byte)(s))
			if d.threads == nil {
				d.threads = map[uint32]uint32{}
			}
			d.threads[ring] = thread
		case recPause:
			x := pauseOf((*[pauseBytes]byte)(s))
			x.Site = d.site(x.Site)
			d.Pauses = append(d.Pauses, x)
		case recPad:
		default:
			d.Unknown++
		}
	}
	if len(slots) > 0 {
		d.Unknown++
	}
}

// size is how many bytes a record takes, the extra metrics behind it included.
func (d *Decoder) size(kind byte) int {
	switch kind {
	case recExecution:
		return d.RecordBytes()
	case recConstruction:
		return constructionBytes + whole(d.Extras*8)
	case recSubmission:
		return submissionBytes
	case recVirtualThread:
		return virtualThreadBytes
	case recWait:
		return waitBytes
	case recTaskTrace:
		return taskTraceBytes
	}
	return slotBytes
}

// whole rounds up to whole slots.
func whole(bytes int) int { return (bytes + slotBytes - 1) / slotBytes * slotBytes }

// RecordBytes is the size of an execution's record.
func (d *Decoder) RecordBytes() int { return executionBytes + whole(d.Extras*2*8) }

// maxSite is the largest number of a site: those of waits follow the 16 bits that other records have.
const maxSite = 1<<16 + 1<<17

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

// remember keeps when the task of the ring's next execution was submitted.
func (d *Decoder) remember(ring uint32, s *[queueBytes]byte) {
	if d.queued == nil {
		d.queued = map[uint32]queued{}
	}
	d.queued[ring] = queued{queueTaskID(s), queueSubmitted(s), queueDue(s)}
}

// queue gives the execution decoded last the submission time that the record
// before it in its ring has, if that is of the same task.
func (d *Decoder) queue(ring uint32) {
	q, ok := d.queued[ring]
	if !ok {
		return
	}
	delete(d.queued, ring)
	if e := &d.Executions[len(d.Executions)-1]; e.TaskID == q.task {
		e.Submitted, e.Due = q.submitted, q.due
	}
}
