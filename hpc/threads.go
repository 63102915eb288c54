package hpc

import (
	"fmt"
	"time"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// ThreadID names a kernel thread uniquely: the kernel reuses thread ids, but not
// with the same start time.
type ThreadID struct {
	TID   int
	Start uint64 // proc.Stat.Start
}

// Thread is a thread as the kernel lists it.
type Thread struct {
	ID   ThreadID
	Name string // comm
}

// Lister lists the threads of a process: from /proc, or a test's. Of a process
// that has ended it reports proc.ErrEnded.
type Lister interface {
	List(pid int) ([]Thread, error)
	// CPU is the CPU time of a thread so far, or NotMeasured.
	CPU(pid, tid int) units.Ns
}

// procLister lists the threads of one process from /proc. It lists the ids every
// time, but reads names and start times again only once a second.
type procLister struct {
	known map[int]knownThread
	read  time.Time // when all names were read
}

type knownThread struct {
	Thread
	reads int
}

const (
	renewEvery = time.Second // the kernel reuses an id only after 32,768 others or more
	youngReads = 2           // most threads get their name right after they begin
)

// List skips threads that end while it reads.
func (p *procLister) List(pid int) ([]Thread, error) {
	dir := proc.Process(pid)
	ids, err := dir.Threads()
	if err != nil {
		return nil, fmt.Errorf("listing the threads of process %d: %w", pid, err)
	}
	before := p.known
	if now := time.Now(); now.Sub(p.read) >= renewEvery {
		before, p.read = nil, now
	}
	p.known = make(map[int]knownThread, len(ids))
	threads := make([]Thread, 0, len(ids))
	for _, tid := range ids {
		t := before[tid]
		if t.reads < youngReads {
			stat, err := dir.Thread(tid).Stat()
			if err != nil {
				continue
			}
			t = knownThread{Thread{ID: ThreadID{TID: tid, Start: stat.Start}, Name: stat.Name}, t.reads + 1}
		}
		p.known[tid] = t
		threads = append(threads, t.Thread)
	}
	return threads, nil
}

// CPU reads the scheduler's count.
func (*procLister) CPU(pid, tid int) units.Ns {
	account, err := proc.Process(pid).Thread(tid).SchedStat()
	if err != nil {
		return units.NotMeasured
	}
	return account.CPU
}
