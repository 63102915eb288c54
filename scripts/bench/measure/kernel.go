package measure

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// KernelTime is how long eBPF programs ran, as the kernel counts it.
type KernelTime struct {
	Time time.Duration
	Runs uint64
}

// Kernel counts the time of the eBPF programs that are loaded under a name.
type Kernel struct {
	name     string
	stats    io.Closer
	last     ebpf.ProgramID
	programs []*ebpf.Program // held, so that their counts stay when they are unloaded
	stop     chan struct{}
	stopped  chan struct{}
}

// WatchKernel counts the programs of that name that are loaded from now on. The kernel reads its clock twice more for each run of
// any program meanwhile. It needs CAP_SYS_ADMIN.
func WatchKernel(name string) (*Kernel, error) {
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, fmt.Errorf("counting the time of eBPF programs: %w", err)
	}
	k := &Kernel{name: name, stats: stats, stop: make(chan struct{}), stopped: make(chan struct{})}
	k.look(false)
	go k.watch()
	return k, nil
}

func (k *Kernel) watch() {
	defer close(k.stopped)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-tick.C:
			k.look(true)
		}
	}
}

// look goes through the programs that were loaded since the last look.
func (k *Kernel) look(hold bool) {
	for {
		id, err := ebpf.ProgramGetNextID(k.last)
		if err != nil { // there are no more
			return
		}
		k.last = id
		if !hold {
			continue
		}
		p, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // unloaded meanwhile
		}
		if info, err := p.Info(); err == nil && info.Name == k.name {
			k.programs = append(k.programs, p)
		} else {
			p.Close()
		}
	}
}

// Close ends the count.
func (k *Kernel) Close() (t KernelTime, err error) {
	close(k.stop)
	<-k.stopped
	for _, p := range k.programs {
		s, failed := p.Stats()
		if failed != nil {
			err = errors.Join(err, failed)
		} else {
			t.Time += s.Runtime
			t.Runs += s.RunCount
		}
		p.Close()
	}
	if len(k.programs) == 0 {
		err = errors.Join(err, fmt.Errorf("no eBPF program %q was loaded: %w", k.name, os.ErrNotExist))
	}
	return t, errors.Join(err, k.stats.Close())
}
