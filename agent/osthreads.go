package agent

import (
	"fmt"
	"time"

	"stackagent/internal/proc"
	"stackagent/internal/wire"
)

// osThreads reads what the kernel knows of this process's threads. It is the only
// source about the JVM's service threads.
type osThreads struct {
	last time.Time
	took time.Duration // by the last snapshot
}

const (
	osThreadsEvery = time.Second
	osThreadsShare = 50 // snapshots take at most one 50th of the time
)

// snapshot returns the threads, or nil if the last snapshot is recent.
func (o *osThreads) snapshot() []wire.OSThread {
	if time.Since(o.last) < max(osThreadsEvery, osThreadsShare*o.took) {
		return nil
	}
	o.last = time.Now()
	defer func() { o.took = time.Since(o.last) }()
	ids, err := proc.Self.Threads()
	if err != nil {
		return nil
	}
	var list []wire.OSThread
	for _, id := range ids {
		if t, err := readThread(id); err == nil { // it may just have ended
			list = append(list, t)
		}
	}
	return list
}

// expire makes the next snapshot due at once.
func (o *osThreads) expire() { o.last = time.Time{} }

func readThread(tid int) (wire.OSThread, error) {
	dir := proc.Self.Thread(tid)
	name, err := dir.Comm()
	if err != nil {
		return wire.OSThread{}, fmt.Errorf("name of thread %d: %w", tid, err)
	}
	used, _ := dir.SchedStat() // NotMeasured if the kernel does not count
	return wire.OSThread{OSID: int32(tid), Name: name, CPU: used.CPU, Run: used.Waiting}, nil
}
