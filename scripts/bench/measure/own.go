package measure

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, in which the kernel shows times in /proc.
const ticksPerSecond = 100

// ownCPU waits until the child has ended, but leaves it to be waited for, and returns the CPU time that it took itself; 0: not known.
func ownCPU(pid int) time.Duration {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return 0
		}
	}
	own, _ := cpuOf(pid) // 0: not known
	return own
}

// cpuOf is the CPU time of a process that lives, or has not been waited for, without its children's.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseOwn(string(b))
}

// parseOwn reads utime and stime of /proc/PID/stat.
func parseOwn(line string) (time.Duration, error) {
	f := strings.Fields(line[strings.LastIndexByte(line, ')')+1:]) // the name may hold anything
	if len(f) < 13 {
		return 0, fmt.Errorf("too few fields in %q", line)
	}
	user, err := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticksPerSecond, errors.Join(err, err2)
}
