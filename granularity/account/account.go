// Package account divides the response times of units of work by what they went to,
// and follows each part to what it depends on.
//
// The parts of a class add up to the response times of its units: from when each was
// handed over, or due, to its end. What a part depends on is found at moments drawn evenly
// from those times: at each the chain is followed, from a unit in a queue to what the
// workers do then, from a wait to who has what is waited for, until something is reached
// that waits for nothing in the program. n draws give a share p with a standard error of at
// most sqrt(p(1-p)/n).
package account

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// State is what a unit does, or waits for, at a moment.
type State uint8

// The states. Up to Left they lead to another unit.
const (
	Queued     State = iota // in the queue of executor On
	Overtaken               // the same, and the worker runs a unit of another class that was handed over later
	Join                    // waits for the end of a unit of class On
	Last                    // the same, and that is the last and longest of several that it submitted
	Alone                   // the same, and it submits the next one only when that has ended
	Ordered                 // the same, while others that it submitted later have ended, and then computes what it could compute meanwhile
	Runs                    // runs a unit of class On inside itself, on its own thread
	Lock                    // waits for a lock or permit, Waits On
	Handed                  // waits for what another unit gives or signals, Waits On
	Inside                  // waits inside the JVM, as for the initialiser of a class, and another unit ended that
	Left                    // waits, and what it submitted to executor On never began
	NotMade                 // not submitted yet, and another unit waits for it: the submitter comes next
	Compute                 // on a CPU
	Ready                   // waits for a CPU: the next link has it; without one a thread that is not in the graph
	Sleep                   // a time
	IO                      // Waits On
	Collector               // a pause or stall of the collector, Pauses On
	Late                    // sleeps on at a place, Waits On, although what it polls for has ended
	Starting                // its thread was being started
	Waking                  // what it waited for had ended: it was being woken
	Idle                    // of a queue: the worker had nothing to do
	Taking                  // of a queue: the worker had ended a unit of executor On and took this one
	Starts                  // waits until a thread that it starts is there
	Unanswered              // waited until the time limit, Waits On, and nothing was in progress that could have ended it
	NoWorker                // of a queue: no worker was there
	Cycle                   // waits for itself: a unit earlier in the chain
	NotKnown                // nothing says what for
	NStates
)

var stateNames = [NStates]string{"queue", "overtaken", "join", "last", "one_by_one", "in_order", "runs", "lock", "handed", "inside_jvm", "never_began", "not_submitted", "compute", "cpu", "sleep", "io", "gc", "late", "starting", "waking", "idle_worker", "taking", "starts_thread", "unanswered", "no_worker", "cycle", "not_known"}

func (s State) String() string {
	if s >= NStates {
		return "unknown"
	}
	return stateNames[s]
}

// Frame is a link of a chain.
type Frame struct {
	State State
	Class uint32 // index in Graph.Classes of who is in the state
	On    uint32 // by State
}

// Part is a part of a class's time.
type Part struct {
	Frame
	Ns units.Ns
}

// Chain is what a part of a class's time depends on: the first frame is one of its own, the last the root.
type Chain struct {
	Frames []Frame
	N      int     // of the draws
	Wanted float64 // CPUs on which threads of the graph computed then, or for which they were ready, on average; at most CPUs
}

// Class is the account of the units of a class.
type Class struct {
	Class    uint32
	Units    int
	Response units.Ns // summed
	Parts    []Part   // longest first; they add up to Response
	Chains   []Chain  // most frequent first
	Draws    int
}

// Place is where and for what units wait.
type Place struct {
	Class, Site uint32
	Kind        string
	Stage       bool
	Lock, Room  bool   // as in graph.Wait
	Init        uint32 // the class in whose initialiser it is; 0: none, or not known
}

// Account is the account of a schedule.
type Account struct {
	Classes []Class           // by response, longest first
	Places  []Place           // that On of Lock, Handed and IO counts
	Back    map[uint32]bool   // places where units wait for what others of them give back, as connections to a pool
	Alone   map[uint32]bool   // units that submit others one by one
	Ordered map[uint32]bool   // units that wait for others in the order in which they submitted them, and compute afterwards
	Rounds  map[uint32]bool   // units that submit others in rounds: the next one when all of the one before have ended
	Peers   map[uint32]uint32 // by place where units wait for input: the class that sends it, if one does
	Given   map[uint32]bool   // places where somebody is known to have ended a wait
	Dearer  []Inflation
}

// How many moments are drawn of each class: fewer of those after the first mostDrawn, as a program may have any number of classes.
const (
	Draws     = 2000
	fewDraws  = 100
	mostDrawn = 50
)

// Of makes the account of a graph's schedule. It is the same each time.
func Of(g *graph.Graph, s *graph.Schedule) *Account {
	b := newBook(g, s)
	byClass := map[uint32][]uint32{}
	for i := range g.Units {
		if u := &g.Units[i]; !u.Beside && s.Start[i].At != graph.Never && g.Finish(s, i) != graph.Never {
			byClass[u.Class] = append(byClass[u.Class], uint32(i))
		}
	}
	sums := map[uint32][]uint32{}
	for i := range g.Sums {
		x := &g.Sums[i]
		sums[x.Class] = append(sums[x.Class], uint32(i))
		if _, known := byClass[x.Class]; !known {
			byClass[x.Class] = nil
		}
	}
	out := &Account{}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		out.Classes = append(out.Classes, b.divided(class, byClass[class], sums[class]))
	}
	slices.SortStableFunc(out.Classes, func(x, y Class) int { return cmp.Compare(y.Response, x.Response) })
	for i := range out.Classes {
		c := &out.Classes[i]
		if c.Response == 0 {
			continue
		}
		if c.Draws = Draws; i >= mostDrawn {
			c.Draws = fewDraws
		}
		b.random = rand.New(rand.NewPCG(uint64(c.Class), 0)) // of its own: what is drawn of other classes changes nothing
		b.draw(c, byClass[c.Class], sums[c.Class])
	}
	out.Ordered = map[uint32]bool{}
	for u := range b.ordered {
		out.Ordered[u] = true
	}
	out.Places, out.Back, out.Alone, out.Rounds, out.Peers, out.Given, out.Dearer = b.places, b.givesBack, b.alone, b.rounds, b.peers, map[uint32]bool{}, b.inflations()
	for place := range b.givers {
		out.Given[place] = true
	}
	return out
}

// divided has the parts of a class.
func (b *book) divided(class uint32, list, sums []uint32) Class {
	c := Class{Class: class, Units: len(list)}
	parts := map[Frame]units.Ns{}
	for _, u := range list {
		b.divide(u, func(f Frame, n units.Ns) { parts[f] += n })
		c.Response += b.response(u)
	}
	for _, i := range sums {
		x := &b.g.Sums[i]
		c.Units, c.Response = c.Units+x.Units, c.Response+x.Response()
		parts[Frame{Queued, class, x.Executor}] += x.Queued
		b.divideSum(x, func(f Frame, n units.Ns) { parts[f] += n })
	}
	for f, n := range parts {
		c.Parts = append(c.Parts, Part{f, n})
	}
	slices.SortFunc(c.Parts, func(x, y Part) int { return cmp.Or(cmp.Compare(y.Ns, x.Ns), compareFrames(x.Frame, y.Frame)) })
	return c
}

// MeanResponse is the mean response time of the units of a class in a schedule.
func MeanResponse(g *graph.Graph, s *graph.Schedule, class uint32) units.Ns {
	due := duesOf(g, s)
	sum, n := units.Ns(0), units.Ns(0)
	for i := range g.Units {
		if u := &g.Units[i]; u.Class == class && !u.Beside && s.Start[i].At != graph.Never && g.Finish(s, i) != graph.Never {
			sum += g.Finish(s, i) - due.at[i]
			n++
		}
	}
	return sum / max(1, n)
}

// response is the time from when a unit was handed over, or due, to its end.
func (b *book) response(u uint32) units.Ns { return b.finish(u) - b.due[u] }

func compareFrames(x, y Frame) int {
	return cmp.Or(cmp.Compare(x.State, y.State), cmp.Compare(x.Class, y.Class), cmp.Compare(x.On, y.On))
}

// draw follows moments drawn evenly from the units' times.
func (b *book) draw(c *Class, list, sums []uint32) {
	at, index, until := map[string]int{}, -1, units.Ns(0)
	n := len(list) + len(sums)
	response := func(i int) units.Ns {
		if i < len(list) {
			return b.response(list[i])
		}
		return b.g.Sums[sums[i-len(list)]].Response()
	}
	for k := range c.Draws {
		x := units.Ns((float64(k) + b.random.Float64()) * float64(c.Response) / float64(c.Draws))
		for index < n-1 && until <= x {
			index++
			until += response(index)
		}
		left := max(1, until-x) // of the unit's time
		var t units.Ns
		var frames []Frame
		if index < len(list) {
			t = b.finish(list[index]) - left
			frames = b.follow(list[index], t)
		} else {
			x := &b.g.Sums[sums[index-len(list)]]
			t = x.To - units.Ns(float64(left)/float64(x.Response())*float64(x.To-x.From))
			frames = b.followSum(x, t)
		}
		key := keyOf(frames)
		i, seen := at[key]
		if !seen {
			i = len(c.Chains)
			at[key], c.Chains = i, append(c.Chains, Chain{Frames: slices.Clone(frames)})
		}
		c.Chains[i].N++
		c.Chains[i].Wanted += b.wantedAt(t)
	}
	for i := range c.Chains {
		c.Chains[i].Wanted /= float64(c.Chains[i].N)
	}
	slices.SortStableFunc(c.Chains, func(x, y Chain) int { return cmp.Compare(y.N, x.N) })
}

func keyOf(frames []Frame) string {
	key := make([]byte, 0, 9*len(frames))
	for _, f := range frames {
		key = append(key, byte(f.State), byte(f.Class), byte(f.Class>>8), byte(f.Class>>16), byte(f.Class>>24), byte(f.On), byte(f.On>>8), byte(f.On>>16), byte(f.On>>24))
	}
	return string(key)
}
