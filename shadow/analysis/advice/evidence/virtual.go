package evidence

import (
	"strconv"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/session/virtual"
	"stackagent/shadow/store"
)

// virtualSum sums up the units on virtual threads.
type virtualSum struct {
	active cover // a unit waited or ran
	cpu    units.Ns
}

// unit adds a unit that has ended.
func (v *virtualSum) unit(x *unit.Unit) {
	from := x.Start
	if x.Queue.Measured() {
		from -= units.MonoNs(x.Queue)
	}
	v.active.add(from, x.End)
	if !x.Inside {
		v.cpu = v.cpu.Plus(x.Work[granularity.CPU])
	}
}

// firstMounts is how long at least one started virtual thread waited for its first
// carrier, and the number of threads for which that is known. It reads executions of
// the threads themselves: the first unit on a pool's worker may have waited in a queue.
func (a *advisor) firstMounts() (waited units.Ns, known uint64, err error) {
	type sum struct {
		waited cover
		known  uint64
	}
	each := make([]sum, session.Workers())
	err = a.s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionQueue, func(worker int, c *session.Chunk) error {
		to := &each[worker]
		for i, n := range c.QueueNs {
			if class := a.s.ClassByID(c.Class[i]); n.Measured() && class != nil && class.Name == virtualThread {
				to.waited.add(c.StartNs[i]-units.MonoNs(n), c.StartNs[i])
				to.known++
			}
		}
		return nil
	})
	all := &each[0]
	for i := range each[1:] {
		all.waited.merge(&each[1+i].waited)
		all.known += each[1+i].known
	}
	return all.waited.length(), all.known, err
}

// virtualThread is the class of the threads that carriers mount; its execution lasts as
// long as the thread.
const virtualThread = "java.lang.VirtualThread"

// virtualFacts describes how virtual threads were scheduled; nil if none parked while
// pinned, or if that cannot be read.
func (a *advisor) virtualFacts() *advice.VirtualFacts {
	if sums := a.s.Manifest.Scheduling; sums == nil || sums.Pins == 0 {
		return nil
	}
	threads, err := virtual.Read(a.s, func(*session.Class) bool { return true })
	if err != nil || len(threads.List) == 0 {
		return nil
	}
	first, known, err := a.firstMounts()
	if err != nil {
		return nil
	}
	most := &threads.List[0] // pinned for longest
	v := &advice.VirtualFacts{
		JDK: feature(a.s.Manifest.JVM.Version), Pins: int64(threads.Pins), Pinned: threads.PinnedNs,
		Class: most.Class, ClassPins: int64(most.Pins), ClassPinned: most.PinnedNs,
		Active: a.virtual.active.length(), Waited: max(first, threads.Recorded.MostReadyNs),
		CPU: a.virtual.cpu, Partly: threads.Recorded.Groups() || threads.Unrecorded != 0,
	}
	v.Waiting = v.Active
	if threads.Recorded.ReadyNs != nil && known >= threads.Recorded.Threads {
		v.Waiting = min(v.Active, first+*threads.Recorded.ReadyNs)
	}
	for i := range a.s.Threads {
		if t := &a.s.Threads[i]; t.Role() == "carrier" {
			v.Carriers++
		}
	}
	v.Mounted, err = a.mounted()
	if err != nil {
		return nil
	}
	return v
}

// mounted is how long virtual threads were on carriers and not parked there: the time
// from a thread's start to its last record, less the time away or pinned.
func (a *advisor) mounted() (sum units.Ns, err error) {
	recorded := map[uint32]int64{}
	err = a.s.VirtualThreads(func(r *store.VirtualThread) {
		from, again := recorded[r.Thread]
		if t := a.s.ThreadByID(r.Thread); !again && t != nil {
			from = int64(t.StartNs)
		}
		recorded[r.Thread] = r.AtNs
		sum += max(0, units.Ns(r.AtNs-from)-r.AwayNs-r.PinnedNs)
	})
	return sum, err
}

// feature is the feature release in a JVM's version, "21.0.8+9-LTS"; 0: not known.
func feature(version string) int {
	end := strings.IndexFunc(version+".", func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.Atoi(version[:end])
	if err != nil {
		return 0
	}
	return n
}
