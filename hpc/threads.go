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
	// List may return the last list again if no thread has begun since, unless it must be fresh.
	List(pid int, fresh bool) ([]Thread, error)
	// CPU is the CPU time of a thread so far, or NotMeasured.
	CPU(pid, tid int) units.Ns
}

// procLister lists the threads of one process from /proc. It lists the ids when the machine has a new thread, and at
// least once a second, when it also reads names and start times again.
type procLister struct {
	newest func() (int, error) // the newest thread of the machine; nil: proc.NewestThread
	last   int                 // what newest said before the list was read
	listed []Thread            // then
	young  bool                // some of them are read again with the next list
	known  map[int]knownThread
	read   time.Time // when all names were read
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
func (p *procLister) List(pid int, fresh bool) ([]Thread, error) {
	newest := p.newest
	if newest == nil {
		newest = proc.NewestThread
	}
	last, err := newest()
	if err == nil && !fresh && last == p.last && !p.young && time.Since(p.read) < renewEvery {
		return p.listed, nil
	}
	if p.listed, err = p.list(pid); err != nil {
		return nil, err
	}
	p.last = last
	return p.listed, nil
}

func (p *procLister) list(pid int) ([]Thread, error) {
	dir := proc.Process(pid)
	ids, err := dir.Threads()
	if err != nil {
		return nil, fmt.Errorf("listing the threads of process %d: %w", pid, err)
	}
	before := p.known
	if now := time.Now(); now.Sub(p.read) >= renewEvery {
		before, p.read = nil, now
	}
	p.known, p.young = make(map[int]knownThread, len(ids)), false
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
		p.known[tid], p.young = t, p.young || t.reads < youngReads
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
