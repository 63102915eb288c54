package timers

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// slack is how late the timers of this process may fire, ns.
const slack = "500000"

// Lenient lets the kernel delay timers of this process by half a millisecond. While anything runs, a thread of the Go
// runtime looks after it every 20 µs; delayed by the 50 µs that Linux allows by default, it takes a fifth of the CPU time
// of a process that wakes up a dozen times a second. The process needs CAP_SYS_NICE: the threads are there already.
func Lenient() error {
	for range 2 { // a thread has the slack of the one that starts it, which may be one that has its turn later
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("the slack of timers: %w", err)
		}
		for _, t := range threads {
			err := os.WriteFile("/proc/"+t.Name()+"/timerslack_ns", []byte(slack), 0)
			if err != nil && !os.IsNotExist(err) && !errors.Is(err, syscall.ESRCH) { // it has ended
				return fmt.Errorf("the slack of timers: %w", err)
			}
		}
	}
	return nil
}
