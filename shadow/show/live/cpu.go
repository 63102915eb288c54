package live

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// The kinds of CPU time.
const (
	cpuApplication = iota
	cpuGC
	cpuCompiler
	cpuVM
	cpuAgent
	cpuOther
	numCPUKinds
)

var cpuKinds = [numCPUKinds]struct{ key, label string }{
	{"application", "application"}, {"gc", "garbage collection"}, {"compiler", "JIT compilers"}, {"vm", "JVM"}, {"agent", "agent"}, {"other", "other threads"},
}

func cpuKind(kind string) uint8 {
	switch kind {
	case session.KindApplication, session.KindMain:
		return cpuApplication
	case session.KindGC:
		return cpuGC
	case session.KindCompiler:
		return cpuCompiler
	case session.KindVM:
		return cpuVM
	}
	return cpuOther
}

// cpuOf follows the CPU times of a process's threads from one snapshot of the kernel's account
// to the next.
type cpuOf struct {
	kinds map[int32]uint8    // of Java threads, by kernel id
	prev  map[int32]cpuPrev  // at the last snapshot
	sum   [numCPUKinds]int64 // since then, of threads that ended
	at    int64              // of the last snapshot; 0: none
	turn  uint32             // counts snapshots
	total [numCPUKinds]int64 // since the shadow follows the session
	fresh bool               // total holds something
}

type cpuPrev struct {
	cpu  units.Ns
	turn uint32
}

// maxOSThreads bounds those that are followed.
const maxOSThreads = 16384

func newCPU() cpuOf { return cpuOf{kinds: map[int32]uint8{}, prev: map[int32]cpuPrev{}} }

func (c *cpuOf) kind(id int32, name string) uint8 {
	if k, ok := c.kinds[id]; ok {
		return k
	}
	if session.RoleOf(name) == "agent" {
		return cpuAgent
	}
	return cpuKind(session.ServiceKind(name))
}

// ended takes what a Java thread had used in all.
func (c *cpuOf) ended(id int32, cpu units.Ns) {
	k, known := c.kinds[id]
	delete(c.kinds, id)
	p, seen := c.prev[id]
	delete(c.prev, id)
	if !known || !cpu.Measured() || c.at == 0 {
		return
	}
	if d := cpu - p.cpu; d > 0 && (seen || len(c.prev) < maxOSThreads) {
		c.sum[k] += int64(d)
	}
}

// snapshot returns the CPU time by kind since the last snapshot; ok is false for the first.
func (c *cpuOf) snapshot(list []wire.OSThread, at int64) (used [numCPUKinds]int64, since int64, ok bool) {
	c.turn++
	for i := range list {
		t := &list[i]
		if !t.CPU.Measured() {
			continue
		}
		p, seen := c.prev[t.OSID]
		if !seen && len(c.prev) >= maxOSThreads {
			continue
		}
		if d := t.CPU - p.cpu; d > 0 {
			c.sum[c.kind(t.OSID, t.Name)] += int64(d)
		}
		c.prev[t.OSID] = cpuPrev{t.CPU, c.turn}
	}
	for id, p := range c.prev {
		if p.turn != c.turn {
			delete(c.prev, id)
		}
	}
	used, since = c.sum, c.at
	c.sum = [numCPUKinds]int64{}
	first := c.at == 0
	c.at = at
	if first || at <= since {
		return used, since, false
	}
	for k := range used {
		c.total[k] += used[k]
	}
	c.fresh = true
	return used, since, true
}
