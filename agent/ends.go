package agent

import (
	"time"

	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// settleWait bounds the wait for probes that are at work when recording stops;
// a thread may have lost its CPU inside one.
const settleWait = time.Second

// ends is what is known only when the probes have stopped.
type ends struct {
	running        uint64 // executions that had not ended
	virtualRunning uint64 // of these, on virtual threads
	lost           uint64 // of running, not recorded
	skipped        []wire.ThreadLoss
	threads        []jvmti.ThreadCounts // of those alive
}

// read reads the ends and returns records of the executions that had not
// ended, of executionBytes each.
func (e *ends) read(executionBytes int) (slots []byte) {
	jvmti.Settle(settleWait)
	slots, skipped := jvmti.Running()
	e.running = countExecutions(slots, executionBytes)
	for _, t := range skipped {
		e.running += t.Lost
		e.lost += t.Lost
		e.skipped = append(e.skipped, wire.ThreadLoss{Thread: t.Thread, Events: t.Lost})
	}
	e.threads, e.virtualRunning = jvmti.FinalCounts()
	return slots
}

// take gives, once, the last descriptions of the threads that are alive: as
// before, with what they have produced.
func (e *ends) take(known map[uint32]wire.Thread) []wire.Thread {
	list := make([]wire.Thread, 0, len(e.threads))
	for _, c := range e.threads {
		t, ok := known[c.Thread]
		if !ok {
			continue
		}
		t.Counted, t.Executions, t.Creations, t.Lost = true, c.Executions, c.Creations, c.Lost
		known[c.Thread] = t
		list = append(list, t)
	}
	e.threads = nil
	return list
}

// takeSkipped gives, once, the threads whose running executions had no room.
func (e *ends) takeSkipped() []wire.ThreadLoss {
	skipped := e.skipped
	e.skipped = nil
	return skipped
}

// countExecutions counts the execution records in slots (jvmti/ring/record.h).
func countExecutions(slots []byte, executionBytes int) uint64 {
	const slot, execution = 32, 1
	n := uint64(0)
	for at := 0; at+slot <= len(slots); {
		if slots[at] != execution {
			at += slot
			continue
		}
		n++
		at += executionBytes
	}
	return n
}
