package agent

import (
	"time"

	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// settleWait bounds the wait for probes that are running when recording stops; a
// thread may have lost its CPU inside one.
const settleWait = time.Second

// ends holds what is known only after the probes have stopped.
type ends struct {
	running        uint64               // executions that had not ended
	virtualRunning uint64               // the part of them on virtual threads
	threads        []jvmti.ThreadCounts // that are alive
}

// read reads the ends. It returns the function that gives the records of the
// executions that had not ended, for drain.Collector.Finish.
func (e *ends) read() (running func() []byte) {
	jvmti.Settle(settleWait)
	e.threads, e.virtualRunning = jvmti.FinalCounts()
	e.running = e.virtualRunning
	for _, t := range e.threads {
		e.running += t.Running
	}
	return jvmti.Running()
}

// take gives, once, the last descriptions of the threads that are alive, with their
// totals.
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
