// Package account is the account of a session's time, with names: what the response
// times of each class of units went to, what that depends on, and the obstacles that this
// amounts to (package granularity/account has the method).
package account

import (
	"cmp"
	"slices"
	"strings"

	"stackagent/granularity/account"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	sessiongraph "stackagent/shadow/analysis/graph"
	"stackagent/shadow/analysis/wait"
)

// Session is the account of a session. Its JSON names are promised.
type Session struct {
	LengthNs  units.Ns          `json:"length_ns"` // of the recording
	CPUs      int               `json:"cpus"`
	Part      *Span             `json:"part,omitempty"` // of the session that was looked at; absent: all of it
	Obstacles []Obstacle        `json:"obstacles"`      // what stands in the way, most first
	Bound     Bound             `json:"bound"`          // what most of the time depends on, whether that could be otherwise or not
	Classes   []Class           `json:"classes"`        // by response, longest first; threads that serve others come last
	NotKnown  map[string]string `json:"not_known,omitempty"`

	graph   *sessiongraph.Session
	account *account.Account
	works   map[uint32]*work  // by class; nil: not read yet
	bodies  map[uint32]bool   // classes of units that are bodies of threads
	placeOf map[string]uint32 // by name: the first place of this name
	byName  map[string]*likes // executors by name; nil: not read yet
	uses    map[uint32]use    // by executor; nil: not read yet
	started uint32            // the class with the most threads of its own, one for each unit; 0: none has many
	serves  map[uint32]bool   // classes of which all units are threads that serve others
	rounds  map[uint32]bool   // classes of which units submit others in rounds
	mostRun map[uint32]uint32 // by executor: the class of which it runs most units
	handed  map[uint32]handed // by executor
	runs    map[uint32]int    // by executor: of how many classes it runs units
	sums    []placeSum        // by place; nil: not read yet
	sleeps  map[sleepOf]placeSum
	// Executors that one line makes, by executor the first of them, and by that one all; nil: not read yet.
	families map[uint32]uint32
	members  map[uint32][]uint32
	lives    []life               // by executor
	fine     map[uint32]*fineness // by executor; nil: not read yet
}

// Span is a part of a session, since its start.
type Span struct {
	FromNs units.Ns `json:"from_ns"`
	ToNs   units.Ns `json:"to_ns"`
}

// Bound is what most of the time of a class depends on: of the class with the longest response times, or of the body of a thread.
type Bound struct {
	Class string  `json:"class"`
	What  string  `json:"what"`
	Share float64 `json:"share"` // of the response times of the class
	Known bool    `json:"known"` // what says what it is
}

// Class is the account of the units of a class.
type Class struct {
	Name       string   `json:"class"`
	Body       bool     `json:"thread,omitempty"` // it is the body of a thread
	Units      int      `json:"units"`
	NotBegun   int      `json:"not_begun,omitempty"` // of them, on virtual threads that had no carrier until the end
	ResponseNs units.Ns `json:"response_ns"`         // from when each was handed over, or due, to its end; summed
	Parts      []Part   `json:"parts"`               // add up to response_ns
	Chains     []Chain  `json:"chains"`              // what it depends on, by moments drawn evenly from the response times
}

// Part is a part of a class's response times.
type Part struct {
	What  string   `json:"what"`
	Ns    units.Ns `json:"ns"`
	Share float64  `json:"share"`
}

// Chain is what a share of a class's time depends on: what a unit does, and what whoever that is for does, up to what waits for nothing.
type Chain struct {
	Links  []string `json:"links"` // what a unit of the class does, what whoever that depends on does, and so on
	Share  float64  `json:"share"`
	Wanted float64  `json:"cpus_wanted"` // that threads of the program used or were ready for then
}

// Of is the account of a graph.
func Of(g *sessiongraph.Session) *Session {
	length, _ := g.Length(g.Recorded)
	s := &Session{LengthNs: length, CPUs: g.CPUs, Obstacles: []Obstacle{}, Classes: []Class{}, NotKnown: g.NotKnown, graph: g, account: account.Of(g.Graph, g.Recorded)}
	bodies := map[uint32]bool{}
	for i := range g.Graph.Units {
		if u := &g.Graph.Units[i]; u.Executor == 0 && u.Thread != 0 && g.Classes[u.Class] == g.Threads[u.Thread] {
			bodies[u.Class] = true
		}
	}
	s.bodies = bodies
	s.readServers()
	slices.SortStableFunc(s.account.Classes, func(x, y account.Class) int { return order(s.serves[x.Class]) - order(s.serves[y.Class]) })
	for i := range s.account.Classes {
		s.Classes = append(s.Classes, s.class(&s.account.Classes[i], bodies))
	}
	s.rounds = map[uint32]bool{}
	for u := range s.account.Rounds {
		s.rounds[g.Graph.Units[u].Class] = true
	}
	s.sleeps = s.readSleeps()
	s.findObstacles()
	return s
}

// order is that of the threads that serve others, after the others.
func order(serves bool) int {
	if serves {
		return 1
	}
	return 0
}

// A thread that still lives after toTheEnd of the session serves others, and so does one that is waitsMostly of its life handed nothing to do.
const (
	toTheEnd    = 0.9
	waitsMostly = 0.5
)

// readServers finds the classes of threads that serve others: they were started, and mostly wait for what they are given, or live to the end, which
// nobody waits for; and the loops on workers of pools that mostly wait for what they are given. That they wait for something to do keeps nobody.
func (s *Session) readServers() {
	g := s.graph.Graph
	joined, started, in := make([]bool, len(g.Units)), make([]bool, len(g.Units)), make([]uint32, len(g.Units)) // in: what it runs inside, or itself
	for i := range g.Units {
		in[i] = uint32(i)
	}
	for i := range g.Units {
		for _, x := range g.StepsOf(i) {
			switch {
			case x.Kind == graph.Join && g.Units[x.On].Thread == g.Units[i].Thread:
				in[x.On] = uint32(i)
			case x.Kind == graph.Join:
				joined[x.On] = true
			case x.Kind == graph.Submit:
				started[x.On] = true
			}
		}
	}
	waits, mayWait := map[uint32]bool{}, map[uint32]bool{} // by class
	for i := range s.account.Classes {
		c, n, perhaps := &s.account.Classes[i], units.Ns(0), units.Ns(0)
		for _, p := range c.Parts {
			switch {
			case p.State == account.Handed && s.forWork(p.On) && !s.account.Places[p.On].Room && !s.holders(p.Frame), p.State == account.IO && s.isSelect(p.On):
				n += p.Ns
			case p.State == account.NotKnown:
				perhaps += p.Ns
			}
		}
		waits[c.Class], mayWait[c.Class] = share(n, c.Response) >= waitsMostly, share(n+perhaps, c.Response) >= waitsMostly
	}
	s.serves = map[uint32]bool{}
	for i := range g.Units {
		u := &g.Units[i]
		body := in[i] // of the thread, if that runs nothing but this
		lives := (u.Executor == 0 || body != uint32(i)) && started[body] && g.Units[body].Executor == 0 && (waits[u.Class] || !joined[body] && (mayWait[u.Class] || float64(g.Finish(s.graph.Recorded, i)) >= toTheEnd*float64(s.LengthNs)))
		lives = lives || waits[u.Class] && s.loops(u.Class)
		if before, seen := s.serves[u.Class]; !seen || before {
			s.serves[u.Class] = lives
		}
	}
}

// isSelect reports whether input or output at a place is an event of a selector, which the kernel knows of and the agent, which records the other waits, does not.
func (s *Session) isSelect(place uint32) bool {
	return len(s.graph.Waits) > 1 && s.account.Places[place] == account.Place{}
}

// forWork reports whether what is waited for at a place may be something to do: an element of a queue, a condition, or an event of a selector, of which there is no record.
func (s *Session) forWork(place uint32) bool {
	p := &s.account.Places[place]
	class := s.graph.Classes[p.Class]
	return class == "" || p.Kind == "notify" || wait.HoldsElements(class) || wait.IsCondition(class)
}

func (s *Session) class(c *account.Class, bodies map[uint32]bool) Class {
	out := Class{Name: s.graph.Classes[c.Class], Body: bodies[c.Class], Units: c.Units, NotBegun: s.graph.Pending[c.Class], ResponseNs: c.Response, Parts: []Part{}, Chains: []Chain{}}
	for _, p := range c.Parts {
		out.Parts = append(out.Parts, Part{s.state(p.Frame), p.Ns, share(p.Ns, c.Response)})
	}
	for i := range c.Chains {
		x := &c.Chains[i]
		chain := Chain{Share: float64(x.N) / float64(max(1, c.Draws)), Wanted: x.Wanted}
		for k, f := range x.Frames {
			chain.Links = append(chain.Links, s.link(x.Frames, k, f))
		}
		out.Chains = append(out.Chains, chain)
	}
	return out
}

func share(part, of units.Ns) float64 { return float64(part) / float64(max(1, of)) }

// link is a frame of a chain in words; the class is named where another one comes in.
func (s *Session) link(chain []account.Frame, k int, f account.Frame) string {
	if f.State == account.Cycle {
		return "waits for itself: the workers, permits or parts that it needs are those that wait here"
	}
	return s.graph.Classes[f.Class] + " " + s.state(f)
}

// state is what a unit in a frame does, in words.
func (s *Session) state(f account.Frame) string {
	switch f.State {
	case account.Queued:
		return "queued in " + s.executor(f.On)
	case account.Overtaken:
		return "queued in " + s.executor(f.On) + " behind newer units"
	case account.Join:
		return "waits for the end of " + s.graph.Classes[f.On]
	case account.Last:
		return "waits for the last and longest of several " + s.graph.Classes[f.On]
	case account.Ordered:
		return "waits for the end of " + s.graph.Classes[f.On] + " while others that it submitted later have ended"
	case account.Alone:
		return "waits for the end of one " + s.graph.Classes[f.On] + " before it submits the next"
	case account.Runs:
		return "runs " + s.graph.Classes[f.On] + " inside itself"
	case account.Lock, account.Handed:
		return "waits for " + s.place(f.On)
	case account.Inside:
		return "waits inside the JVM"
	case account.Left:
		return "waits for what it submitted to " + s.executor(f.On) + " and that never began"
	case account.NotMade:
		return "is not submitted yet"
	case account.Compute:
		return "computes"
	case account.Ready:
		return "is ready for a CPU"
	case account.Sleep:
		return "sleeps" + s.at(f.On)
	case account.IO:
		if s.account.Places[f.On] == (account.Place{}) { // the kernel says so; where is not recorded
			return "waits for a socket, pipe or file"
		}
		return "waits for " + s.place(f.On)
	case account.Collector:
		return s.stopped(f.On)
	case account.Late:
		return "sleeps on" + s.at(f.On) + " although what it polls for has ended"
	case account.Starting:
		return "is being started"
	case account.Waking:
		return "is being woken"
	case account.Idle:
		return "finds an idle worker in " + s.executor(f.On)
	case account.Taking:
		return "is taken by a worker of " + s.executor(f.On) + " that ended another unit"
	case account.Starts:
		return "starts a thread, and waits until it is there"
	case account.Unanswered:
		return "waits for " + s.place(f.On) + " until its time limit, and nothing in progress could end that"
	case account.NoWorker:
		return "finds no worker yet in " + s.executor(f.On)
	case account.Cycle:
		return "waits for itself"
	}
	return "waits for something that is not known"
}

func (s *Session) executor(n uint32) string {
	if int(n) < len(s.graph.Executors) {
		return s.graph.Executors[n].Name
	}
	return "an executor"
}

func (s *Session) at(place uint32) string {
	if int(place) < len(s.account.Places) {
		if p := &s.account.Places[place]; s.graph.Sites[p.Site] != "" {
			at := " at " + s.graph.Sites[p.Site]
			if p.Stage {
				at += ", in a stage that runs on the thread that completes its future"
			}
			return at
		}
	}
	return ""
}

// place is what is waited for, and where, in words.
func (s *Session) place(n uint32) string {
	if int(n) >= len(s.account.Places) {
		return "something"
	}
	p := &s.account.Places[n]
	class := s.graph.Classes[p.Class]
	name := wait.Readable(class)
	switch {
	case class == "" && p.Kind == "io":
		name = "a socket, pipe or file"
	case class == "":
		name = "another thread"
	case p.Kind == "monitor":
		name = "the monitor of " + name
	case strings.HasPrefix(name, "Semaphore"):
		name = "a permit of " + withArticle(name)
	case wait.IsCondition(class):
		name = "a condition"
	case p.Lock:
		name = "the lock " + name
	case p.Room:
		name = "room in the full " + name
	case wait.HoldsElements(class):
		name = "an element of " + withArticle(name)
	case p.Kind == "notify":
		name = "Object.wait on " + name
	default:
		name = withArticle(name)
	}
	return name + s.at(n)
}

// withArticle is the name of a class with its article.
func withArticle(name string) string {
	if name != "" && strings.ContainsRune("AEIOaeio", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// holders reports whether a unit in a frame waits for what others have: a lock, a permit or, as of a pool of connections, an element of a queue
// that units of its class give back, or that nobody does. The elements of other queues are work: a unit that loops for ever on a worker, or a thread that is
// given nothing, is a consumer, even if another one wakes it.
func (s *Session) holders(f account.Frame) bool {
	if f.State != account.Lock && f.State != account.Handed || int(f.On) >= len(s.account.Places) {
		return false
	}
	p := &s.account.Places[f.On]
	if p.Lock || p.Room || p.Kind == "notify" || !wait.HoldsElements(s.graph.Classes[p.Class]) {
		return p.Lock
	}
	w := s.work(f.Class)
	return !s.loops(f.Class) && (s.account.Back[f.On] || !s.account.Given[f.On] && len(w.by[0]) < w.units)
}

// loops reports whether the units of a class may be loops on the workers of pools: no worker needs to have run two.
func (s *Session) loops(class uint32) bool { return s.work(class).loops }

// largest orders obstacles.
func largest(list []Obstacle) {
	slices.SortStableFunc(list, func(x, y Obstacle) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Title, y.Title))
	})
}
