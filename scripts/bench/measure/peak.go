package measure

import (
	"sync/atomic"
	"time"

	"stackagent/internal/proc"
)

// watchPeak reads a process's peak of memory until the returned function is
// called. The kernel keeps the peak itself (VmHWM), so only the last reading
// matters; wait4 would return the largest peak among the process and its children.
func watchPeak(pid int) (end func() int64) {
	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if status, err := proc.Process(pid).Status(); err == nil {
				bytes, _ := status.PeakBytes() // a process that has ended has none
				peak.Store(max(peak.Load(), bytes))
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-stopped
		return peak.Load()
	}
}
