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
	running        uint64               // executions that had not ended
	virtualRunning uint64               // of these, on virtual threads
	threads        []jvmti.ThreadCounts // of those alive
}

// read reads the ends and returns what gives the records of the executions that
// had not ended, as drain.Collector.Finish takes them.
func (e *ends) read() (running func() []byte) {
	jvmti.Settle(settleWait)
	e.threads, e.virtualRunning = jvmti.FinalCounts()
	e.running = e.virtualRunning
	for _, t := range e.threads {
		e.running += t.Running
	}
	return jvmti.Running()
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
