package advice

import "stackagent/internal/units"

// LockKind is how units of work keep one another out.
type LockKind string

// The kinds of locks.
const (
	Monitor   LockKind = "monitor"         // synchronized
	Exclusive LockKind = "exclusive-lock"  // ReentrantLock and its kind
	ReadWrite LockKind = "read-write-lock" // ReentrantReadWriteLock, StampedLock
	Permits   LockKind = "semaphore"
	// Handed is no lock: a queue or condition by which threads give one another something, as a pool of connections does.
	Handed LockKind = "handed"
)

// Lock is what units of a pool waited for at one site: locks of one class.
type Lock struct {
	Kind    LockKind `json:"kind"`
	Name    string   `json:"lock"`            // its class; of a monitor, that of the object
	Unit    string   `json:"units"`           // the class of most of the units that waited
	Site    string   `json:"site,omitempty"`  // where they waited, "" if not known
	Locks   int64    `json:"locks,omitempty"` // how many of the class; 0: not known
	Waits   int64    `json:"waits"`
	Waited  units.Ns `json:"waited_ns"`
	Most    units.Ns `json:"max_ns"`
	Any     units.Ns `json:"any_ns"` // during which at least one unit waited
	Holder  Holder   `json:"holder"`
	Given   int64    `json:"given,omitempty"`     // of what is handed: waits that another unit of the pool ended
	Limited int64    `json:"timed_out,omitempty"` // of what is handed: waits that a time limit ended
}

// Holder is who had a lock while others waited for it.
type Holder struct {
	Unit   string   `json:"units,omitempty"` // the class of most of the units that had it, "" if not known
	Known  units.Ns `json:"known_ns"`        // the part of the waits in which it is known that units of this class had it
	Waited units.Ns `json:"waited_ns"`       // the part of Known in which that thread waited itself, for something else
	For    string   `json:"for,omitempty"`   // what it waited for most: "sleep", "io", "lock", or "other"
	Site   string   `json:"site,omitempty"`  // where
}

// ContendedLock is a lock for which units wait for a considerable part of their response time.
type ContendedLock struct {
	PoolName
	Lock     Lock     `json:"contended"`
	Response units.Ns `json:"response_ns"` // of the pool's units, in the queue and running
	Span     units.Ns `json:"pool_time_ns"`
	Waited   units.Ns `json:"cpu_wait_ns"` // of a worker on average: for a processor, or for the collector
	Least    units.Ns `json:"least_ns"`    // that the work takes without the waiting for the lock
}

// saves is the time in which a unit waited for the lock, at most what the pool's time exceeds the work without it.
func (e *ContendedLock) saves() units.Ns { return min(e.Lock.Any, e.Span-e.Waited-e.Least) }

// contendedLock: units wait for a lock that others of them have. It need not be a pool whose size or tasks the
// program chooses: the lock is the program's.
func contendedLock(s *search, p *Pool, span units.Ns) *Finding {
	lock := p.mostWaited()
	if lock == nil || p.Response <= 0 || float64(lock.Waited) < s.t.LockShare*float64(p.Response) {
		return nil
	}
	n := units.Ns(len(p.Workers))
	least := max(orNone(p.CPU)/min(n, units.Ns(s.Units.CPUs)), (p.Wall-lock.Waited-orNone(p.Runnable)-p.held())/n)
	e := &ContendedLock{p.PoolName, *lock, p.Response, span, (orNone(p.Runnable) + p.held()) / n, least}
	return found(lock.Unit, e, NoWaits, NoOtherLock)
}

// mostHanded is what the units waited for in most of their time, if they give it to one another; nil: nothing.
func (p *Pool) mostHanded() *Lock {
	for i := range p.Handed {
		if l := &p.Handed[i]; l.Given > 0 && 2*l.Waited >= p.Wall-p.held() {
			return l
		}
	}
	return nil
}

// longest is the most that was waited for one of them.
func longest(of []Lock) (most units.Ns) {
	for i := range of {
		most = max(most, of[i].Waited)
	}
	return most
}

// mostWaited is the lock for which the units waited longest; nil: none.
func (p *Pool) mostWaited() *Lock {
	var most *Lock
	for i := range p.Locks {
		if most == nil || p.Locks[i].Waited > most.Waited {
			most = &p.Locks[i]
		}
	}
	return most
}

// lockOf is the lock that explains most of what the units waited; nil: not known.
func (p *Pool) lockOf(waited units.Ns) *Lock {
	if lock := p.mostWaited(); lock != nil && lock.Waited >= waited/2 {
		return lock
	}
	return nil
}
