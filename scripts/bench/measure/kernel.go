package measure

import (
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// CountKernel lets the kernel count the time of eBPF programs until it is closed. The kernel reads its clock twice more for each of their
// runs meanwhile. It needs CAP_SYS_ADMIN.
func CountKernel() (io.Closer, error) {
	counts, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, fmt.Errorf("counting the time of eBPF programs: %w", err)
	}
	return counts, nil
}
