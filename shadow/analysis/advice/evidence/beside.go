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
	cpu, processor map[uint32]units.Ns // by other thread: ran; ran or was ready
}

// advance adds a time in which that many processors were neither used nor wanted by a
// thread of the JVM.
func (b *beside) advance(length units.Ns, free int) {
	b.idle += length * units.Ns(max(0, free))
	b.waited += length * units.Ns(b.held)
}

// slice adds what a thread did, as far as it is in the pool's span. of is the pool of each
// thread, me this one.
func (b *beside) slice(s *activity.Slice, of []int, me int, span activity.Span) {
	length := activity.Span{From: s.From, To: s.To}.Cut(span).Len()
	pool := of[s.Thread]
	switch {
	case length == 0 || pool == notJava || pool == me:
	case s.State == activity.Running || s.State == activity.Runnable:
		if s.State == activity.Running {
			set(&b.cpu)[s.Thread] += length
		}
		set(&b.processor)[s.Thread] += length
	}
}

// submits adds what the thread did that submits the pool's units.
func (b *beside) submits(s *activity.Slice, span activity.Span) {
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

// facts are what the rules look at.
func (b *beside) facts() *advice.Beside {
	return &advice.Beside{Idle: b.idle, Stalled: b.waited, Ran: greatest(b.cpu), Wanted: greatest(b.processor)}
}

func greatest(of map[uint32]units.Ns) (most units.Ns) {
	for _, n := range of {
		most = max(most, n)
	}
	return most
}
