package wait

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// Stack is where threads waited for something. Those of long waits are whole; of others the nearest frame of the program is
// known, or none.
type Stack struct {
	What
	Frames   []*session.Site // innermost first; nil: not known
	WaitedNs units.Ns

	order stackKey
}

type stackKey struct{ what, context, site uint32 }

// Stacks are the waits that were recorded one by one, by stack; those of workers without work are left out. Of most long waits
// the agent takes the frames to the program's nearest one only. The latest whole stack stands for them that the same
// thread had there, waiting for the same thing.
func (a *Analysis) Stacks() []*Stack {
	s := &stackSums{Analysis: a, places: a.places(), stacks: map[stackKey]*Stack{}, groups: map[stackGroup]*standing{}}
	var virtual []*waiting.Wait
	for i := range a.waits {
		w := &a.waits[i]
		switch t := a.s.ThreadByID(w.Thread); {
		case w.Part == waiting.Idle:
		case t != nil && t.Virtual:
			virtual = append(virtual, w)
		default:
			s.add(w, w.Thread)
		}
	}
	slices.SortStableFunc(virtual, func(x, y *waiting.Wait) int { return cmp.Compare(x.From, y.From) })
	for _, w := range virtual { // few of them wait often at one place
		s.add(w, 0)
	}
	for group, x := range s.groups {
		if x.early > 0 {
			s.count(stackKey{what: group.what, context: x.near}, x.early)
		}
	}
	return slices.SortedFunc(maps.Values(s.stacks), func(x, y *Stack) int {
		return cmp.Or(cmp.Compare(y.WaitedNs, x.WaitedNs), cmp.Compare(x.order.what, y.order.what), cmp.Compare(x.order.context, y.order.context), cmp.Compare(x.order.site, y.order.site))
	})
}

// stackSums is the time by stack.
type stackSums struct {
	*Analysis
	places map[uint32]string
	stacks map[stackKey]*Stack
	groups map[stackGroup]*standing
}

// stackGroup are the waits of a thread at a place, for which one of its stacks stands; thread 0: virtual threads.
type stackGroup struct {
	thread, what uint32
	place        string
}

type standing struct {
	whole, near uint32   // contexts; whole is 0 until there is one
	early       units.Ns // before it
}

// add takes the waits of a thread in the order of time.
func (s *stackSums) add(w *waiting.Wait, thread uint32) {
	d, k := units.Ns(w.To-w.From), stackKey{w.What, w.Context, w.Site}
	stack, place := s.Contexts[w.Context], s.places[w.Context]
	if stack.Frames != nil {
		k.site = 0
	}
	if place == "" {
		s.count(k, d)
		return
	}
	group := stackGroup{thread, w.What, place}
	x := s.groups[group]
	if x == nil {
		x = &standing{}
		s.groups[group] = x
	}
	switch {
	case !stack.Near:
		x.whole = w.Context
		s.count(k, d+x.early)
		x.early = 0
	case x.whole != 0:
		k.context = x.whole
		s.count(k, d)
	default:
		x.near = w.Context
		x.early += d
	}
}

func (s *stackSums) count(k stackKey, d units.Ns) {
	x := s.stacks[k]
	if x == nil {
		x = &Stack{What: s.whats[k.what], Frames: s.Contexts[k.context].Frames, order: k}
		if site := s.s.SiteByID(k.site); x.Frames == nil && site != nil {
			x.Frames = []*session.Site{site}
		}
		s.stacks[k] = x
	}
	x.WaitedNs += d
}

// places are the frames to the program's nearest one, of the stacks that end with it and of the whole ones that begin so.
func (a *Analysis) places() map[uint32]string {
	ends, places := map[string]bool{}, map[uint32]string{}
	for _, c := range a.Contexts {
		if c.Near {
			ends[frameIDs(c.Frames)] = true
		}
	}
	for id, c := range a.Contexts {
		all := frameIDs(c.Frames)
		if c.Near {
			places[id] = all
			continue
		}
		for n := 1; n <= min(len(c.Frames), wire.MaxNearFrames); n++ {
			if near := all[:n*frameIDBytes]; ends[near] {
				places[id] = near
				break
			}
		}
	}
	return places
}

const frameIDBytes = 4

// frameIDs are the numbers of frames, 0 for one that is not known.
func frameIDs(frames []*session.Site) string {
	var b []byte
	for _, f := range frames {
		id := uint32(0)
		if f != nil {
			id = f.ID
		}
		b = binary.BigEndian.AppendUint32(b, id)
	}
	return string(b)
}
