package agent

import (
	"fmt"
	"time"

	"stackagent/internal/proc"
	"stackagent/internal/wire"
)

// osThreads reads the kernel's own account of this process's threads. The JVM's
// service threads have no other voice.
type osThreads struct {
	last time.Time
	took time.Duration // by the last snapshot
}

const (
	osThreadsEvery = time.Second
	osThreadsShare = 50 // at most one part in so many of the time goes into snapshots
)

// snapshot returns the account, or nil when the last one is recent.
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

// expire makes the next snapshot due.
func (o *osThreads) expire() { o.last = time.Time{} }

func readThread(tid int) (wire.OSThread, error) {
	dir := proc.Self.Thread(tid)
	name, err := dir.Comm()
	if err != nil {
		return wire.OSThread{}, fmt.Errorf("name of thread %d: %w", tid, err)
	}
	account, _ := dir.SchedStat() // NotMeasured where the kernel keeps no account
	return wire.OSThread{OSID: int32(tid), Name: name, CPU: account.CPU, Run: account.Waiting}, nil
}
