package account

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity/account"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
)

// Kind is what kind of obstacle something is.
type Kind string

// The kinds of obstacles.
const (
	WaitsForItself Kind = "waits-for-itself" // a pool's workers wait for units in its own queue
	HoldAndWait    Kind = "hold-and-wait"    // all who could give what is waited for wait for it, too
	Occupied       Kind = "occupied"         // the workers of a pool are in units that wait
	FewWorkers     Kind = "few-workers"      // the workers of a pool compute, and CPUs are idle
	OneOfMany      Kind = "one-of-many"      // the workers of one of several like executors compute, units wait for it, and CPUs are idle
	Batched        Kind = "batched"          // units of an executor run one after another inside a unit of another one, and CPUs are idle
	Held           Kind = "held"             // a lock, a permit, an element of a pool: its holders
	DoesNotSplit   Kind = "does-not-split"   // a parallel stream has most of its work in one part, and CPUs are idle
	Uneven         Kind = "uneven-parts"     // a unit waits for the last and longest of several that it submitted, which computes while CPUs are idle
	FullQueue      Kind = "full-queue"       // a unit waits for room in a queue, and what empties it does not keep up
	InRounds       Kind = "in-rounds"        // a unit submits others in rounds, and waits for the last of each before it submits the next
	OneByOne       Kind = "one-by-one"       // a unit submits others one by one, and waits for each before it submits the next
	InOrder        Kind = "in-order"         // a unit waits for others in the order in which it submitted them, and computes afterwards what it could compute meanwhile
	Order          Kind = "order"            // what was handed over later runs first
	Overrun        Kind = "overrun"          // a periodic task takes longer than its period
	BlockedServer  Kind = "blocked-server"   // a thread that serves others sleeps, and is hardly ever idle
	Polling        Kind = "polling"          // a unit sleeps on although what it polls for has ended, or takes CPUs from others as it sleeps or yields again and again
	Unanswered     Kind = "unanswered"       // a unit waits until a time limit for what nothing in progress can end
	Crowded        Kind = "crowded"          // short units wait for CPUs on which long ones of another class compute
	WorkInflation  Kind = "work-inflation"   // units take more CPU time when others compute at the same time
	Interpreted    Kind = "interpreted"      // units compute in a method which has more bytecode than the JVM compiles
	KeptAlive      Kind = "kept-alive"       // idle workers keep the JVM when all is done
	FineGrained    Kind = "fine-grained"     // units compute for less than it costs to hand them over and take them
	SlowProducer   Kind = "slow-producer"    // one thread computes between the units that it hands to a pool, and CPUs are idle
	ThreadChurn    Kind = "thread-churn"     // a thread is started for each of many units
	TooLarge       Kind = "pool-too-large"   // the workers of a pool are many times as many as keep the CPUs busy
	Collection     Kind = "collection"       // pauses of the collector
)

// Kinds are those of which obstacles are advice; of collections, rules about the collector speak.
var Kinds = []Kind{WaitsForItself, HoldAndWait, Occupied, FewWorkers, OneOfMany, Batched, Held, DoesNotSplit, Uneven, FullQueue, InRounds, OneByOne, InOrder, Order, Overrun, BlockedServer, Polling, Unanswered, Crowded, WorkInflation, Interpreted, KeptAlive, FineGrained, SlowProducer, ThreadChurn, TooLarge}

// What stands for none of them: time in which the program does what it is for, as fast as the machine lets it.
const (
	cpuBound   Kind = "cpu"
	serial     Kind = "serial"
	own        Kind = "own"
	notKnown   Kind = "not-known"
	otherLoads Kind = "other-programs"
	taking     Kind = "taking"   // the workers of a pool are between two units
	starting   Kind = "starting" // a thread is being started
	idle       Kind = "idle"     // a worker of a pool has nothing to do although units wait
	sized      Kind = "sized"    // a pool made for units that wait is full of them, and has as many workers as it may
)

// Obstacle is something that a class's time depends on and that could be otherwise.
type Obstacle struct {
	Kind     Kind     `json:"kind"`
	Title    string   `json:"title"`              // what is wrong, in a few words
	Happened string   `json:"happened"`           // what happened
	Remedy   string   `json:"remedy"`             // what to do
	Victim   string   `json:"class"`              // of the units that wait most for it, "" if none
	Share    float64  `json:"share"`              // of the response times of that class
	Ns       units.Ns `json:"ns"`                 // of them
	Score    float64  `json:"score"`              // what the obstacles are ordered by: the share, less where less than one unit is in progress on average
	Executor string   `json:"executor,omitempty"` // that it is about, "" if none
	Others   []string `json:"others,omitempty"`   // further classes that wait for it
	// Gain is what a replay of the run without it says; nil: nothing was tried, or CannotTell says why it says nothing.
	Gain       *Gain  `json:"gain,omitempty"`
	CannotTell string `json:"cannot_tell,omitempty"`
	why        reason
}

// cause is what chains have in common that make one obstacle.
type cause struct {
	kind     Kind
	executor uint32
	place    uint32
	holder   uint32 // class
	worker   uint32 // class that the workers of executor are in
	left     bool   // what is waited for never began
	init     string // of a wait inside the JVM: the class that is being initialised; "": not known
	root     account.Frame
	besides  account.Frame // what the holder does as well, much of the time; zero: nothing
}

// reason is the cause of an obstacle, and the class that waits most for it.
type reason struct {
	cause
	victim uint32
}

// weight is how much depends on a cause.
type weight struct {
	n      int
	wanted float64
	places map[uint32]int        // draws by where the root sleeps or waits
	roots  map[account.Frame]int // draws by the root
	asked  map[account.Frame]int // of what is not known: draws by the last wait that leads there
}

// What an obstacle has at the minimum: of a class's response times, and of the recording in which a unit of it is in progress on average.
const (
	leastShare    = 0.1
	leastProgress = 0.02
	mostInOne     = 0.5  // of the work of a parallel stream, in one part
	sizedFrom     = 2    // workers for each CPU of a pool that was made for units that wait
	fullCPUs      = 0.85 // of the CPUs used or wanted: more threads gain nothing
)

// findObstacles sums the chains of all classes by their causes.
func (s *Session) findObstacles() {
	found := map[cause]*Obstacle{}
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		progress := share(c.Response, s.LengthNs)
		if progress < leastProgress || c.Draws == 0 {
			continue
		}
		sums, skipped := map[cause]weight{}, 0
		for k := range c.Chains {
			x := &c.Chains[k]
			if s.serves[c.Class] && isIdle(x.Frames[0].State) {
				skipped += x.N
				continue
			}
			why, frames := s.causeOf(x)
			w := sums[why]
			if w.places == nil {
				w.places, w.roots, w.asked = map[uint32]int{}, map[account.Frame]int{}, map[account.Frame]int{}
			}
			w.n, w.wanted = w.n+x.N, w.wanted+x.Wanted*float64(x.N)
			root := frames[len(frames)-1]
			w.roots[plain(root)] += x.N
			if root.State == account.Sleep || root.State == account.IO {
				w.places[root.On] += x.N
			}
			if why.kind == notKnown {
				for _, f := range slices.Backward(frames) {
					if f.State == account.Handed || f.State == account.Lock || f.State == account.Inside {
						w.asked[f] += x.N
						break
					}
				}
			}
			sums[why] = w
		}
		for why, w := range sums {
			s.addObstacle(found, c, why, &w, progress)
		}
		if s.Bound.Class == "" && 2*skipped < c.Draws {
			s.bound(i, sums)
		}
	}
	for _, o := range found {
		if o.Kind == SlowProducer && o.Share < leastProducer {
			continue
		}
		if o.Score >= leastShare {
			if o.Kind == TooLarge { // whatever else there is gains more
				o.Score = leastShare
			}
			s.Obstacles = append(s.Obstacles, *o)
		}
	}
	s.addInflations()
	s.addInterpreted()
	on := s.readDependents()
	s.addServers(on)
	s.addBusyThreads(on)
	s.addLingering()
	s.addPolls()
	s.dropWider()
	s.dropSpinning()
	largest(s.Obstacles)
}

// classOf is the account of the units of a class; nil if it has no units.
func (s *Session) classOf(class uint32) *account.Class {
	k := slices.IndexFunc(s.account.Classes, func(c account.Class) bool { return c.Class == class })
	if k < 0 {
		return nil
	}
	return &s.account.Classes[k]
}

// addInflations adds the classes whose units take more CPU time when others compute.
func (s *Session) addInflations() {
	for i := range s.account.Dearer {
		x := &s.account.Dearer[i]
		c := s.classOf(x.Class)
		if c == nil {
			continue
		}
		if o := s.ofComputing(c, WorkInflation, share(x.Extra, s.work(x.Class).cpuNs)); o.Score >= leastShare {
			s.describeInflation(&o, x)
			s.Obstacles = append(s.Obstacles, o)
		}
	}
}

// ofComputing is an obstacle that is a part of what units of a class compute.
func (s *Session) ofComputing(c *account.Class, kind Kind, part float64) Obstacle {
	computes := 0 // draws that depend on what the class computes
	for _, chain := range c.Chains {
		if root := chain.Frames[len(chain.Frames)-1]; root.State == account.Compute && root.Class == c.Class {
			computes += chain.N
		}
	}
	o := Obstacle{Kind: kind, Victim: s.graph.Classes[c.Class], why: reason{cause{kind: kind}, c.Class}}
	o.Share = float64(computes) / float64(max(1, c.Draws)) * part
	o.Ns = units.Ns(o.Share * float64(c.Response))
	o.Score = o.Share * min(1, share(c.Response, s.LengthNs))
	return o
}

// addInterpreted adds the classes whose units were seen to compute in a method that the JVM does not compile, because it has too much bytecode.
func (s *Session) addInterpreted() {
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		class := s.graph.Classes[c.Class]
		all := int64(0)
		for _, n := range s.graph.Computing[class] {
			all += n
		}
		at := most(s.graph.Interpreted[class])
		seen := s.graph.Interpreted[class][at]
		if all < leastSamples || float64(seen) < mostlyAt*float64(all) {
			continue
		}
		if o := s.ofComputing(c, Interpreted, float64(seen)/float64(all)); o.Score >= leastShare {
			o.Title = fmt.Sprintf("%s computes in %s, which the JVM does not compile", class, at)
			o.Happened = fmt.Sprintf("%s of %s samples of it were there. The method has more than 8,000 bytes of bytecode, and HotSpot always interprets such a method, which takes several times as long. %s", units.FormatExact(seen), units.FormatExact(all), s.depend(&o))
			o.Remedy = "Divide it into smaller methods. If it cannot be changed, -XX:-DontCompileHugeMethods has it compiled."
			s.Obstacles = append(s.Obstacles, o)
		}
	}
}

// A thread that serves others is blocked if it hardly waits for the end of units, has waited for something to do at least leastServed times, or has sent what others wait for,
// waits for something to do for at most mostIdle of its time, and sleeps for leastAsleep of it.
const (
	mostJoins   = 0.01
	leastServed = 3
	mostIdle    = 0.25
	leastAsleep = 0.2
)

// dropSpinning drops the inflation of classes that wait for locks: who waits for one spins at first.
func (s *Session) dropSpinning() {
	waits := map[uint32]bool{}
	for i := range s.Obstacles {
		if o := &s.Obstacles[i]; o.Kind == Held || o.Kind == HoldAndWait {
			waits[o.why.victim] = true
		}
	}
	s.Obstacles = slices.DeleteFunc(s.Obstacles, func(o Obstacle) bool { return o.Kind == WorkInflation && waits[o.why.victim] })
}

// addServers adds the threads that serve others, as an event loop does, and that sleep for much of the time in which these wait.
func (s *Session) addServers(on map[uint32]dependent) {
	served, sends := s.readServed(), map[uint32]bool{}
	for _, class := range s.account.Peers {
		sends[class] = true
	}
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		keeps := sends[c.Class] && on[c.Class].share >= leastShare
		if c.Units == 1 && s.bodies[c.Class] {
			s.addCallerRuns(c, s.serves[c.Class] && served[c.Class] >= leastServed || keeps)
		}
		if c.Units != 1 || !(s.serves[c.Class] && served[c.Class] >= leastServed) && !keeps {
			continue
		}
		idle, asleep, joins, at := units.Ns(0), units.Ns(0), units.Ns(0), account.Part{}
		for _, p := range c.Parts {
			switch p.State {
			case account.Handed, account.NotKnown, account.IO, account.Waking:
				idle += p.Ns
			case account.Join:
				joins += p.Ns
			case account.Sleep:
				if asleep += p.Ns; p.Ns > at.Ns {
					at = p
				}
			}
		}
		o := Obstacle{Kind: BlockedServer, Victim: s.graph.Classes[c.Class], Ns: asleep, Share: share(asleep, c.Response), why: reason{cause{kind: BlockedServer, root: at.Frame}, c.Class}}
		o.Score = o.Share * min(1, share(c.Response, s.LengthNs))
		if share(joins, c.Response) <= mostJoins && share(idle, c.Response) <= mostIdle && o.Share >= leastAsleep && o.Score >= leastShare {
			s.describe(&o, o.why.cause)
			o.Happened = fmt.Sprintf("It waits for something to do for only %s of its time, and sleeps for %s of it: what comes meanwhile waits.", units.FormatPercent(share(idle, c.Response)), units.FormatPercent(o.Share))
			s.Obstacles = append(s.Obstacles, o)
		}
	}
}

// dependent is the class that depends most on what a thread does, of those that no thread serves others with.
type dependent struct {
	class *account.Class
	share float64       // of its response times
	root  account.Frame // what the thread does then, most often
}

// readDependents finds by thread, as the class of its body, or by the class of loops on workers, who depends on it while it does not just compute on a CPU that others want, in one pass.
func (s *Session) readDependents() map[uint32]dependent {
	out := map[uint32]dependent{}
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		if s.serves[c.Class] || c.Draws == 0 {
			continue
		}
		draws := map[account.Frame]int{}
		for k := range c.Chains {
			x := &c.Chains[k]
			f := x.Frames[len(x.Frames)-1]
			full := s.CPUs > 0 && x.Wanted >= fullCPUs*float64(s.CPUs)
			if (s.bodies[f.Class] || s.loops(f.Class)) && f.Class != c.Class && len(x.Frames) > 1 && !(full && f.State == account.Compute) {
				draws[f] += x.N
			}
		}
		sums, roots := map[uint32]int{}, map[uint32]account.Frame{}
		for _, f := range slices.SortedFunc(maps.Keys(draws), compareFrames) {
			if sums[f.Class] += draws[f]; draws[f] > draws[roots[f.Class]] {
				roots[f.Class] = f
			}
		}
		for thread, n := range sums {
			if part := float64(n) / float64(c.Draws); part*float64(c.Response) > out[thread].ns() {
				out[thread] = dependent{c, part, roots[thread]}
			}
		}
	}
	return out
}

// ns is how much of the response times depends on the thread.
func (d dependent) ns() float64 {
	if d.class == nil {
		return 0
	}
	return d.share * float64(d.class.Response)
}

// leastLingering is from when it is said that idle workers keep the JVM.
const leastLingering = units.Ns(1e9)

func (s *Session) addLingering() {
	x := s.graph.Lingering
	if x == nil || x.Ns < leastLingering || share(x.Ns, x.OfNs) < leastShare {
		return
	}
	part := share(x.Ns, x.OfNs)
	s.Obstacles = append(s.Obstacles, Obstacle{Kind: KeptAlive, Share: part, Score: part, Ns: x.Ns, Executor: x.Executor,
		Title:    fmt.Sprintf("Idle workers of %s keep the JVM alive for %s after all is done", x.Executor, units.FormatNs(x.Ns)),
		Happened: fmt.Sprintf("That is %s of the run: the last task and all other non-daemon threads had ended.", units.FormatPercent(part)),
		Remedy:   "Shut the pool down when its work is done (shutdown(), or close() from JDK 19 on), or make its threads daemons.",
		why:      reason{cause: cause{kind: KeptAlive}}})
}

// mostlyBusy is the share of its time from which a thread is said to have too much to run for others, one after the other.
const mostlyBusy = 0.5

// addCallerRuns adds what a thread that hands units over runs itself for much of its time, as where the queue of their pool is full; and what a thread that serves others
// runs for most of its time although no pool runs any of it.
func (s *Session) addCallerRuns(c *account.Class, served bool) {
	for _, p := range c.Parts {
		if p.State != account.Runs {
			continue
		}
		at, least := s.work(p.On).mostly(), leastAsleep
		if s.count(at) <= 1 { // the thread itself is its worker, as where an executor runs in the caller
			at = 0
		}
		switch {
		case at == 0 && s.serves[c.Class] && s.work(p.On).units >= leastWaits:
			least = mostlyBusy
		case at == 0 || !served:
			continue
		}
		o := Obstacle{Kind: BlockedServer, Victim: s.graph.Classes[c.Class], Ns: p.Ns, Share: share(p.Ns, c.Response), why: reason{cause{kind: BlockedServer, executor: at, holder: p.On, root: p.Frame}, c.Class}}
		o.Score = o.Share * min(1, share(c.Response, s.LengthNs))
		if o.Share >= least && o.Score >= leastShare {
			if at != 0 {
				o.Executor = s.executor(at)
			}
			s.describe(&o, o.why.cause)
			s.Obstacles = append(s.Obstacles, o)
		}
	}
}

// readServed is how often the threads of each class waited for an element of a queue, a condition or an event of a selector, as far as that is recorded.
func (s *Session) readServed() map[uint32]int {
	out := map[uint32]int{}
	for i := range s.graph.Graph.Units {
		for _, x := range s.graph.StepsOf(i) {
			selects := x.Wait == 0 && x.Kind == graph.Outside && x.Cause == graph.IO
			if selects || x.Wait != 0 && (s.graph.Waits[x.Wait].Kind == "notify" || s.graph.Waits[x.Wait].Shared) {
				out[s.graph.Graph.Units[i].Class]++
			}
		}
	}
	return out
}

// isCrowded reports whether a chain is that of a unit which waits for nothing but a worker or a CPU, and another class computes.
func (s *Session) isCrowded(frames []account.Frame) bool {
	last := len(frames) - 1
	root := frames[last]
	if last == 0 || root.State != account.Compute || root.Class == frames[0].Class || s.work(root.Class).beside || s.work(root.Class).cpuNs == 0 || s.work(root.Class).units < s.CPUs {
		return false
	}
	at := s.work(root.Class).mostly()
	for _, f := range frames[:last] {
		switch {
		case f.State == account.Queued && f.On == at && !s.graph.Executors[at].Leaves: // each has its turn
			return false
		case f.State == account.Ready, f.Class == frames[0].Class && (f.State == account.NotMade || f.State == account.Queued):
		default:
			return false
		}
	}
	return true
}

// A class is small beside others if its units compute for at most smallWork of what all compute, and a unit responds in at least
// longWait times what it computes.
const (
	smallWork = 0.1
	longWait  = 10
)

// isSmall reports whether a class does little work and its units take much longer than that. The body of a thread does not take long: it is there.
func (s *Session) isSmall(c *account.Class) bool {
	if s.bodies[c.Class] {
		return false
	}
	s.readWork()
	all := units.Ns(0)
	for _, w := range s.works {
		all += w.cpuNs
	}
	own := s.work(c.Class).cpuNs
	return float64(own) <= smallWork*float64(all) && c.Response >= longWait*own
}

// inflates reports whether units of a class take more CPU time the more compute: more workers gain little.
func (s *Session) inflates(class uint32) bool {
	return slices.ContainsFunc(s.account.Dearer, func(x account.Inflation) bool { return x.Class == class })
}

// dropWider drops the obstacles that more workers would remove if these would wait as well: for what a unit of the same class has, for
// each other, or for units of another pool that has too few workers itself; and parts that are long because they are batches.
func (s *Session) dropWider() {
	held := map[uint32]float64{}   // by place: how much depends on what is held there
	waits := map[uint32]bool{}     // classes that more workers would only make wait
	occupiers := map[uint32]bool{} // classes that occupy a pool themselves
	batches := map[uint32]bool{}   // classes that run others inside themselves
	crowds := map[uint32]bool{}    // pools whose units keep short ones from the CPUs
	occupied := map[uint32]bool{}  // pools whose workers wait: who computes in them now and then gains by the same
	for i := range s.Obstacles {
		switch o := &s.Obstacles[i]; o.Kind {
		case Held, HoldAndWait:
			waits[o.why.victim] = true
			if o.Kind == Held {
				held[o.why.place] = o.Score
			}
		case Batched:
			batches[o.why.worker] = true
		case Crowded:
			crowds[o.why.executor] = true
		case Occupied:
			occupied[o.why.executor] = true
			if o.why.worker == o.why.holder {
				occupiers[o.why.worker] = true
			}
		}
	}
	s.Obstacles = slices.DeleteFunc(s.Obstacles, func(o Obstacle) bool {
		return o.Kind == HoldAndWait && held[o.why.place] > o.Score || o.Kind == Uneven && batches[o.why.holder] || o.Kind == TooLarge && crowds[o.why.executor] || o.Kind == Occupied && (waits[o.why.worker] || o.why.worker != o.why.holder && occupiers[o.why.holder]) || (o.Kind == FewWorkers || o.Kind == OneOfMany) && (waits[o.why.victim] || occupied[o.why.executor])
	})
}

// isIdle reports whether a thread that serves others may have nothing to do in a state.
func isIdle(s account.State) bool {
	switch s {
	case account.Handed, account.Inside, account.NotKnown, account.Sleep, account.IO, account.Waking:
		return true
	}
	return false
}

func (s *Session) addObstacle(found map[cause]*Obstacle, c *account.Class, why cause, w *weight, progress float64) {
	taken := 1.0
	switch why.kind {
	case own:
		if !s.forksOwn(why.holder) || s.activeUnits(why.holder) > mostAtOnce {
			return
		}
		why = cause{kind: OneByOne, holder: why.holder, worker: why.holder}
	case notKnown, otherLoads, sized, idle:
		return
	case cpuBound:
		if taken = s.splitting(why.holder); taken == 0 {
			return
		}
		why = s.fineCause(s.work(why.holder).mostly())
	case taking:
		if taken = s.takes(why.executor); taken == 0 {
			return
		}
		why = s.fineCause(why.executor)
	case starting:
		if why = s.churn(why); why.kind == starting {
			return
		}
	case serial:
		switch part := s.splitting(why.holder); {
		case part > 0:
			taken, why = part, s.fineCause(s.work(why.holder).mostly())
		case s.handing(why.holder) != 0:
			why = s.fineCause(s.feeds(why.holder).executor)
		case s.feeds(why.holder).executor != 0:
			why.kind, why.executor = SlowProducer, s.feeds(why.holder).executor
		case s.graph.Bulk[s.graph.Classes[why.holder]] && s.work(why.holder).largest() >= mostInOne:
			why.kind = DoesNotSplit
		case s.forksOwn(why.holder) && w.wanted <= onlyOne*float64(w.n):
			why.kind, why.worker = OneByOne, why.holder
		default:
			return
		}
	case Uneven:
		if s.work(why.holder).units < 2 { // a thread, not one part of several
			return
		}
	case FewWorkers:
		if s.readWork(); s.inflates(s.mostRun[why.executor]) {
			return
		}
	case Crowded:
		if !s.isSmall(c) {
			return
		}
		why.executor = s.work(why.holder).mostly()
	}
	part := taken * float64(w.n) / float64(c.Draws)
	o := found[why]
	if o == nil {
		o = &Obstacle{Kind: why.kind}
		if why.executor > 0 {
			o.Executor = s.executor(why.executor)
		}
		found[why] = o
	}
	o.Score = max(o.Score, part*min(1, progress))
	name := s.graph.Classes[c.Class]
	ns := units.Ns(part * float64(c.Response))
	larger := ns > o.Ns
	if much := part >= leastShare; o.Victim != "" && much != (o.Share >= leastShare) { // a small part of a large class is not what it is about
		larger = much
	}
	if !larger {
		if part >= leastShare && name != o.Victim {
			o.Others = append(o.Others, name)
		}
		return
	}
	if o.Victim != "" && o.Share >= leastShare && name != o.Victim {
		o.Others = append([]string{o.Victim}, o.Others...)
	}
	o.Victim, o.Share, o.Ns, o.why = name, part, ns, reason{why, c.Class}
	rooted := w.rooted(why)
	if why.kind == Held {
		o.why.root = rooted.root
	}
	s.describe(o, rooted)
}

// rooted is a cause with what is at its root.
func (w *weight) rooted(why cause) cause {
	if len(w.places) > 0 && why.kind != Held && why.kind != FullQueue {
		why.root.On = most(w.places)
	}
	switch why.kind {
	case FewWorkers, OneOfMany:
		why.holder = w.root().Class
	case OneByOne:
		why.root = w.placed(w.root())
	case Held, FullQueue:
		if root := w.root(); root.State != account.NotKnown {
			why.holder = root.Class
			why.root, why.besides = w.placed(root), w.placed(w.besides(root))
		}
	}
	return why
}

// placed is a root with where it waits, most often.
func (w *weight) placed(root account.Frame) account.Frame {
	root = plain(root)
	if root.State == account.Sleep || root.State == account.IO {
		root.On = most(w.places)
	}
	return root
}

// besides is a wait of the holder that at least leastKnown of the draws have as their root, if its root is not one itself.
func (w *weight) besides(root account.Frame) (wait account.Frame) {
	for _, f := range slices.SortedFunc(maps.Keys(w.roots), compareFrames) {
		if n := w.roots[f]; (f.State == account.Sleep || f.State == account.IO) && f.Class == root.Class && root.State == account.Compute && float64(n) >= leastKnown*float64(w.n) && n > w.roots[wait] {
			wait = f
		}
	}
	return wait
}

// leastKnown is the share of the draws that a known root must have to stand for all.
const leastKnown = 0.2

// root is the root with the most draws, if possible a known one.
func (w *weight) root() (root account.Frame) {
	frames := slices.SortedFunc(maps.Keys(w.roots), func(x, y account.Frame) int {
		return cmp.Or(isUnknown(x)-isUnknown(y), cmp.Compare(w.roots[y], w.roots[x]), cmp.Compare(x.Class, y.Class), cmp.Compare(x.State, y.State), cmp.Compare(x.On, y.On))
	})
	if last := frames[len(frames)-1]; isUnknown(last) > 0 && float64(w.roots[frames[0]]) < leastKnown*float64(w.n) {
		return last
	}
	return frames[0]
}

func isUnknown(f account.Frame) int {
	if f.State == account.NotKnown {
		return 1
	}
	return 0
}

// samePlace is the first place that bears the same name: maps have locks of several classes.
func (s *Session) samePlace(n uint32) uint32 {
	if s.placeOf == nil {
		s.placeOf = map[string]uint32{}
	}
	name := s.place(n)
	first, seen := s.placeOf[name]
	if !seen {
		s.placeOf[name], first = n, n
	}
	return first
}

// most is the key with the largest number, the first of several in their order.
func most[K cmp.Ordered, N cmp.Ordered](by map[K]N) (key K) {
	for _, k := range slices.Sorted(maps.Keys(by)) {
		if by[k] > by[key] {
			key = k
		}
	}
	return key
}

// causeOf is the cause of a chain, and the frames that it is about: those up to a wait for input, unless that alone is what there is to say. Then they are also those
// of who sends it.
func (s *Session) causeOf(x *account.Chain) (cause, []account.Frame) {
	input := slices.IndexFunc(x.Frames, func(f account.Frame) bool { return f.State == account.IO })
	if input >= 0 && input < len(x.Frames)-1 {
		why := s.causeOfFrames(x.Frames[:input+1], x.Wanted)
		if why.kind != own && why.kind != sized {
			return why, x.Frames[:input+1]
		}
		all := s.causeOfFrames(x.Frames, x.Wanted)
		if why.kind == sized && (all.kind == sized || all.kind == own || all.kind == notKnown) {
			return why, x.Frames[:input+1]
		}
		return all, x.Frames
	}
	return s.causeOfFrames(x.Frames, x.Wanted), x.Frames
}

// causeOfFrames is the cause of a chain: the last link that leads to another unit for what it has, and what that one does.
func (s *Session) causeOfFrames(frames []account.Frame, wanted float64) cause {
	last := len(frames) - 1
	root := frames[last]
	full := s.CPUs > 0 && wanted >= fullCPUs*float64(s.CPUs)
	switch root.State {
	case account.Cycle:
		return s.cycle(frames)
	case account.Collector:
		return cause{kind: Collection, root: account.Frame{State: account.Collector, On: root.On}}
	case account.Unanswered:
		return cause{kind: Unanswered, holder: root.Class, place: s.samePlace(root.On) + 1}
	case account.Taking:
		return cause{kind: taking, executor: root.On, holder: root.Class}
	case account.Starts, account.Starting:
		return cause{kind: starting}
	case account.Late:
		return cause{kind: Polling, holder: root.Class, place: s.samePlace(root.On) + 1}
	}
	if full && s.isCrowded(frames) {
		return cause{kind: Crowded, holder: root.Class}
	}
	if full && s.isTooLarge(frames) {
		return cause{kind: TooLarge, executor: s.work(root.Class).mostly(), holder: root.Class}
	}
	if last > 0 && frames[last-1].State == account.Ready { // who has the CPU
		last--
		root = frames[last]
	}
	computes := root.State == account.Compute || root.State == account.Ready
	if full && frames[len(frames)-1].State == account.Ready { // and nobody in the program has the CPU
		return cause{kind: otherLoads}
	}
	root.Class = frames[last].Class
	init := s.initialises(root)
	if init != "" && last > 0 && !(computes && full) && s.waitsInside(frames[:last], !computes) {
		return cause{kind: Held, init: init}
	}
	for k := last - 1; k >= 0; k-- {
		f := frames[k]
		switch {
		case f.State == account.Overtaken:
			return cause{kind: Order, executor: s.family(f.On), holder: frames[k+1].Class}
		case f.State == account.Ordered && !full:
			return cause{kind: InOrder, holder: f.On, worker: f.Class, root: plain(root)}
		case f.State == account.Last && s.rounds[f.Class] && !(computes && full):
			return cause{kind: InRounds, holder: f.On, worker: f.Class}
		case f.State == account.Last && computes && !full && !s.graph.Bulk[s.graph.Classes[f.On]]:
			return cause{kind: Uneven, holder: f.On}
		case f.State == account.Alone && !(computes && full) && !s.isOneOfSeveral(f):
			return cause{kind: OneByOne, holder: f.On, worker: f.Class}
		case f.State == account.NotMade && frames[k+1].Class == f.Class && k > 0 && (frames[k-1].State == account.Join || frames[k-1].State == account.Handed) && !s.isTimed(f.Class) && !isDependent(s.graph.Classes[f.Class]) && s.count(s.work(f.Class).mostly()) > 1 && !(computes && full):
			return cause{kind: OneByOne, holder: f.Class}
		case f.State == account.Inside && frames[k+1].Class != 0 && !(computes && full):
			return cause{kind: Held, init: init}
		case f.State == account.Queued || f.State == account.Overtaken:
			if s.graph.Bulk[s.graph.Classes[f.Class]] && frames[k+1].State == account.Runs { // whoever asked for the result is a worker, too
				return s.queued(f, root, frames[k+1].On, computes, full)
			}
			if !(computes && full) && frames[k+1].State == account.Runs && s.work(frames[k+1].Class).mostly() != f.On {
				return cause{kind: Batched, executor: s.family(f.On), holder: frames[k+1].On, worker: frames[k+1].Class}
			}
			why := s.queued(f, root, frames[k+1].Class, computes, full)
			if why.kind == own && k > 0 && s.graph.Executors[f.On].Leaves { // who has what is waited for waits for a carrier
				continue
			}
			return why
		case f.State == account.Handed && s.account.Places[f.On].Room && !(computes && full):
			return cause{kind: FullQueue, place: s.samePlace(f.On) + 1, holder: frames[k+1].Class, worker: f.Class}
		case s.holders(f):
			if computes && full {
				return cause{kind: cpuBound, holder: root.Class}
			}
			return cause{kind: Held, place: s.samePlace(f.On) + 1} // whoever has it, and whatever they do
		}
	}
	switch {
	case last == 1 && frames[0].State == account.NotMade && root.Class == frames[0].Class && s.isTimed(root.Class):
		return cause{kind: Overrun, holder: root.Class}
	case root.State == account.NotKnown || root.State == account.Waking || root.State == account.NotMade:
		return cause{kind: notKnown}
	case frames[len(frames)-1].State == account.Ready:
		return cause{kind: otherLoads}
	case computes && full:
		return cause{kind: cpuBound, holder: root.Class}
	case computes && last > 0 && frames[last-1].State == account.Handed && frames[last-1].Class == root.Class && s.isMeeting(frames[last-1].On):
		return cause{kind: Uneven, holder: root.Class, place: s.samePlace(frames[last-1].On) + 1}
	case computes:
		return cause{kind: serial, holder: root.Class}
	case (root.State == account.Sleep || root.State == account.IO) && last > 0 && frames[last-1].State == account.Handed && s.isBarrier(frames[last-1].On):
		return cause{kind: Uneven, holder: root.Class, place: s.samePlace(frames[last-1].On) + 1, root: plain(root)}
	case s.graph.Bulk[s.graph.Classes[root.Class]] && s.waitsInOne(root.Class):
		return cause{kind: DoesNotSplit, holder: root.Class, root: plain(root)}
	}
	return cause{kind: own, holder: root.Class, root: root}
}

// mostAtOnce is from how many units of a pool in progress on average it is not said that one runs at a time.
const mostAtOnce = 1.2

// isOneOfSeveral reports whether a wait is that of a thread for a unit of a pool which others keep busy meanwhile, as one that serves requests: what it submits next is for the next request.
func (s *Session) isOneOfSeveral(f account.Frame) bool {
	e := s.work(f.On).mostly()
	return s.bodies[f.Class] && e != 0 && s.inProgress(e) > mostAtOnce
}

// isDependent reports whether units of a class are stages of a future, which need the result of the one before.
func isDependent(class string) bool {
	_, made, _ := strings.Cut(class, " (")
	return strings.HasPrefix(made, "then") || strings.HasPrefix(made, "handle") || strings.HasPrefix(made, "whenComplete") || strings.HasPrefix(made, "exceptionally")
}

// isMeeting reports whether units at a place wait for a condition or the like, and not for an element, room, or what has a holder.
func (s *Session) isMeeting(place uint32) bool {
	p := &s.account.Places[place]
	class := s.graph.Classes[p.Class]
	return !p.Lock && !p.Room && !p.Stage && class != "" && !wait.HoldsElements(class) && p.Kind != "io"
}

// isBarrier reports whether units at a place wait until all of them are there.
func (s *Session) isBarrier(place uint32) bool {
	return wait.IsBarrier(s.graph.Classes[s.account.Places[place].Class])
}

// waitsInOne reports whether one part of an operation that the JDK divides takes most of its time, and most of that is waiting.
func (s *Session) waitsInOne(class uint32) bool {
	w := s.work(class)
	return share(w.longest, w.took) >= mostInOne && 2*w.cpuNs < w.took
}

// initialises is the class in whose initialiser a root is; "": none, or not known.
func (s *Session) initialises(root account.Frame) string {
	switch root.State {
	case account.Sleep, account.IO:
		if int(root.On) < len(s.account.Places) {
			return s.graph.Classes[s.account.Places[root.On].Init]
		}
	case account.Compute, account.Ready:
		return s.graph.Initialising[s.graph.Classes[root.Class]]
	}
	return ""
}

// waitsInside reports whether a chain leads only through waits in queues, and for the end of units, to one that may be inside the JVM: for what
// has no record. The worker itself may be the one that is waited for (sure), if it is known to be in the initialiser at that moment.
func (s *Session) waitsInside(frames []account.Frame, sure bool) bool {
	for _, f := range frames {
		switch f.State {
		case account.Inside:
			sure = true
		case account.Lock, account.Overtaken, account.Left, account.NotMade:
			return false
		case account.Handed:
			if int(f.On) < len(s.account.Places) && s.account.Places[f.On] != (account.Place{}) {
				return false
			}
			sure = true
		}
	}
	return sure
}

// plain is a root without where it waits, and in which it does not matter whether who computes is ready for a CPU now and then.
func plain(root account.Frame) account.Frame {
	switch root.State {
	case account.Ready:
		root.State, root.On = account.Compute, 0
	case account.Sleep, account.IO:
		root.On = 0
	}
	return root
}

// queued is the cause of a wait in a queue, whose worker does what root says.
func (s *Session) queued(f, root account.Frame, worker uint32, computes, full bool) cause {
	switch {
	case computes && full:
		return cause{kind: cpuBound, holder: root.Class}
	case s.runsInCaller(f.On):
		return cause{kind: own, holder: root.Class, root: root}
	case s.graph.Executors[f.On].Leaves && (root.State == account.NotKnown || root.State == account.Sleep || root.State == account.IO) && worker != f.Class:
		return cause{kind: Occupied, executor: f.On, holder: root.Class, worker: worker} // what keeps carriers is one obstacle, whatever it waits for
	case s.graph.Executors[f.On].Leaves:
		return cause{kind: own, holder: root.Class, root: root}
	case root.State == account.Ready && s.CPUs > 0 && s.count(f.On) >= s.CPUs: // and nobody in the program has the CPU
		return cause{kind: otherLoads}
	case computes && s.CPUs > 0 && s.count(f.On) >= s.CPUs: // others of its workers wait, and so hold up more
		return cause{kind: serial, holder: root.Class}
	case computes && len(s.ofFamily(f.On)) > 1 && s.workersOf(f.On) >= s.CPUs:
		return cause{kind: OneOfMany, executor: s.family(f.On)}
	case computes:
		return cause{kind: FewWorkers, executor: s.family(f.On)}
	case (root.State == account.Sleep || root.State == account.IO) && len(s.ofFamily(f.On)) > 1 && 2*s.inProgress(f.On) <= float64(s.workersOf(f.On)):
		return cause{kind: OneOfMany, executor: s.family(f.On), holder: root.Class, root: plain(root)}
	case (root.State == account.Sleep || root.State == account.IO) && worker == f.Class && s.count(f.On) >= sizedFrom*s.CPUs && s.stopsAtCore(f.On) == "" && !s.isCommon(f.On) && !s.graph.Pooled[f.On]:
		return cause{kind: sized, executor: f.On, holder: root.Class, root: root}
	case root.State == account.Sleep || root.State == account.IO:
		return cause{kind: Occupied, executor: s.family(f.On), holder: root.Class, worker: worker, root: plain(root)}
	case root.State == account.Idle:
		return cause{kind: idle, executor: s.family(f.On)}
	case root.State == account.NoWorker:
		return cause{kind: starting, executor: s.likes(f.On).first}
	}
	return cause{kind: notKnown}
}

// cycle is the cause of a chain in which a unit waits for itself.
func (s *Session) cycle(frames []account.Frame) cause {
	last := len(frames) - 1
	from := min(int(frames[last].On), last)
	for k := last - 1; k >= from; k-- {
		if f := frames[k]; f.State == account.Queued || f.State == account.Overtaken || f.State == account.Left {
			return cause{kind: WaitsForItself, executor: s.family(f.On), left: f.State == account.Left}
		}
	}
	for k := last - 1; k >= from; k-- {
		if f := frames[k]; s.holders(f) {
			return cause{kind: HoldAndWait, place: f.On + 1, holder: f.Class}
		}
	}
	return cause{kind: notKnown}
}

// bound says what most of the time of a class depends on.
func (s *Session) bound(i int, sums map[cause]weight) {
	c := &s.account.Classes[i]
	keys := slices.SortedFunc(maps.Keys(sums), func(x, y cause) int {
		return cmp.Or(cmp.Compare(sums[y].n, sums[x].n), cmp.Compare(x.kind, y.kind), cmp.Compare(x.holder, y.holder), cmp.Compare(x.place, y.place), cmp.Compare(x.executor, y.executor))
	})
	if len(keys) == 0 {
		return
	}
	w, name := sums[keys[0]], s.graph.Classes[c.Class]
	if keys[0].kind == notKnown {
		s.Bound = Bound{name, s.unknown(&w), float64(w.n) / float64(c.Draws), false}
		return
	}
	s.Bound = Bound{name, s.boundText(name, w.rooted(keys[0]), w.wanted/float64(max(1, w.n))), float64(w.n) / float64(c.Draws), true}
}
