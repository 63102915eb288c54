package measure

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// watchPeak reads a process's peak of memory until the returned function is
// called. The kernel keeps the peak itself (VmHWM), so that what matters is the last
// reading; wait4's figure would be the greatest among the process and its children.
func watchPeak(pid int) (end func() int64) {
	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				peak.Store(max(peak.Load(), highWater(b)))
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

// highWater finds VmHWM in the text of /proc/PID/status; 0 where it is not
// there (a process that has ended).
func highWater(status []byte) int64 {
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		value, found := strings.CutPrefix(lines.Text(), "VmHWM:")
		if !found {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		if err != nil {
			return 0
		}
		return kib << 10
	}
	return 0
}
