package evidence

import (
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/session/unit"
)

// owner is who makes the tasks of a class.
type owner uint8

const (
	program owner = iota
	either        // the JDK's task around code of the program, or of the JDK itself
	others        // the JDK for itself, or a scheduling library
	owners
)

// owner says who makes the tasks of a class.
func (a *advisor) owner(class uint32) owner {
	c := a.s.ClassByID(class)
	switch {
	case c == nil || !unit.IsJDK(c.Name, c.Kinds) && !unit.IsLibrary(c.Name) || unit.IsBulk(c):
		return program
	case strings.HasPrefix(c.Name, "java.util.concurrent."):
		return either
	}
	return others
}

// jdkPools are prefixes of the names of threads that the JDK starts to run its own
// tasks, JDK 17 to 25.
var jdkPools = []string{"HttpClient-", "HTTP-Dispatcher", "Common-Cleaner", "Cleaner-", "process reaper", "CompletableFutureDelayScheduler",
	"Keep-Alive-", "RMI ", "JMX ", "VirtualThread-unparker", "VirtualThread-unblocker", "Read-Poller", "Write-Poller"}

// foreign reports whether a pool mostly runs tasks of the JDK or a library: the program
// does not choose its size or its tasks. A pool of the JDK on which the program's own
// tasks take most of the time is as good as the program's.
func (a *advisor) foreign(p *poolSum) bool {
	var all units.Ns
	for _, n := range p.by {
		all += n
	}
	if p.by[others] > all/2 {
		return true
	}
	named := 0
	for thread := range p.workers {
		if t := a.s.ThreadByID(thread); t != nil && isJDKPool(t.Name) {
			named++
		}
	}
	return 2*named > len(p.workers) && p.by[program] <= all/2
}

func isJDKPool(thread string) bool {
	for _, prefix := range jdkPools {
		if strings.HasPrefix(thread, prefix) {
			return true
		}
	}
	return false
}
