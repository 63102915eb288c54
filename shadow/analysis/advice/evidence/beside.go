package evidence

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// beside is what the processors, the collector and other threads did while a pool
// worked.
type beside struct {
	by             advice.Submitter // what the submitter did
	held           int64            // workers that wait for the collector now, outside of pauses
	idle, waited   units.Ns
	mutual, apart  units.Ns            // waited for another worker; slept, or waited for files or the network
	endedBy        map[uint32]units.Ns // by pool: workers waited until one of its workers went on
	cpu, processor map[uint32]units.Ns // by other thread: ran; ran or was ready
	timed          map[uint32]waited   // by futex: a worker waited, and a time limit ended it
	unseen         map[uint32]waited   // by futex: a worker waited, and who ended it is not known
	shared         map[uint32]int64    // by futex: how often a worker let another one go on
}

// waited is how often and how long workers waited.
type waited struct {
	times int64
	time  units.Ns
}

func (w waited) and(length units.Ns) waited { return waited{w.times + 1, w.time + length} }

// mostLooks is how often at most a worker looks at a monitor before another one lets it go on: the JVM makes it wait
// 1 ms, then 8 times longer each time. A worker that another one woke a single time in many waits waits for something else.
const mostLooks = 8

// advance adds a time in which that many processors were neither used nor wanted by a
// thread of the JVM.
func (b *beside) advance(length units.Ns, free int) {
	b.idle += length * units.Ns(max(0, free))
	b.waited += length * units.Ns(b.held)
}

// slice adds what a thread did, as far as it is in the pool's span. of is the pool of each
// thread, me this one.
func (b *beside) slice(s activity.Slice, of []int, me int, span activity.Span) {
	length := activity.Span{From: s.From, To: s.To}.Cut(span).Len()
	pool := of[s.Thread]
	switch {
	case length == 0 || pool == notJava:
	case pool == me:
		if by := int(s.By) - 1; s.State == activity.Futex && by >= 0 && by < len(of) && of[by] >= 0 && of[by] != me {
			set(&b.endedBy)[uint32(of[by])] += length
		}
		b.wait(s, length, s.By != 0 && int(s.By-1) < len(of) && of[s.By-1] == me)
	case s.State == activity.Running || s.State == activity.Runnable:
		if s.State == activity.Running {
			set(&b.cpu)[s.Thread] += length
		}
		set(&b.processor)[s.Thread] += length
	}
}

// wait adds a wait of a worker. The JVM lets one of those that wait for a monitor look again
// and again: such waits end by a time limit, but others at the same futex are ended by a worker.
func (b *beside) wait(s activity.Slice, length units.Ns, byWorker bool) {
	if s.State == activity.Sleeping || s.State == activity.IO {
		b.apart += length
	}
	switch {
	case s.State == activity.Futex && byWorker:
		b.mutual += length
		if s.On != 0 {
			set(&b.shared)[s.On]++
		}
	case s.State == activity.Sleeping && s.On != 0:
		set(&b.timed)[s.On] = b.timed[s.On].and(length)
	case s.State == activity.Futex && s.By == 0 && s.On != 0:
		set(&b.unseen)[s.On] = b.unseen[s.On].and(length)
	}
}

// submits adds what the thread did that submits the pool's units.
func (b *beside) submits(s activity.Slice, span activity.Span) {
	length := activity.Span{From: s.From, To: s.To}.Cut(span).Len()
	switch s.State {
	case activity.Running:
		b.by.Ran += length
	case activity.Runnable:
		b.by.Ready += length
	case activity.Sleeping, activity.IO:
		b.by.Apart += length
	}
}

// set is a map, made if need be.
func set[V any](m *map[uint32]V) map[uint32]V {
	if *m == nil {
		*m = map[uint32]V{}
	}
	return *m
}

// facts are what the rules look at. ends: it is known which thread ended a wait.
func (b *beside) facts(ends bool) *advice.Beside {
	out := &advice.Beside{Idle: b.idle, Stalled: b.waited, Outside: b.apart, Mutual: units.NotMeasured, Ran: greatest(b.cpu), Wanted: greatest(b.processor)}
	if ends {
		out.Mutual = b.mutual
		for on, times := range b.shared {
			if timed, unseen := b.timed[on], b.unseen[on]; timed.times+unseen.times <= mostLooks*times {
				out.Mutual += timed.time + unseen.time
				out.Outside -= timed.time
			}
		}
	}
	return out
}

func greatest(of map[uint32]units.Ns) (most units.Ns) {
	for _, n := range of {
		most = max(most, n)
	}
	return most
}
