package account

import (
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity/account"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// A class polls on virtual threads if its units, each at least leastWakes times on average, get off their carriers nearly always to sleep or to yield, and compute for
// at most mostBetween in between, with the call that does this.
const (
	leastWakes  = 20
	nearlyOnly  = 0.9
	mostBetween = 10_000
)

// polls are how the units of a class poll.
type polls struct {
	class         uint32
	yields, slept float64  // times of all units
	place         uint32   // where they sleep, in account.Places; 0: nowhere in particular
	own, switches units.Ns // CPU time: of the units, and of getting them on and off their carriers, and of timers
	atMost        bool     // own is at most that, and what it is is a part of switches
}

// wakes is how often they wake up.
func (p *polls) wakes() float64 { return p.yields + p.slept }

// cost is the CPU time that goes to it.
func (p *polls) cost() units.Ns {
	if p.atMost {
		return p.switches
	}
	return p.own + p.switches
}

// sleepOf are the sleeps of the units of a class at a place.
type sleepOf struct{ class, place uint32 }

// readSleeps sums up the sleeps of each class by place, with those that have no record of their own.
func (s *Session) readSleeps() map[sleepOf]placeSum {
	g, numbers := s.graph.Graph, s.placeNumbers()
	out, timed := map[sleepOf]placeSum{}, make([]bool, len(g.Waits)) // timed: of which only the time was waited for
	add := func(class, wait uint32, waits int, ns units.Ns) {
		if n := numbers[wait]; n >= 0 {
			k := sleepOf{class, uint32(n)}
			x := out[k]
			x.waits, x.sum = x.waits+waits, x.sum+ns
			out[k] = x
		}
	}
	for i := range g.Units {
		before := s.graph.Recorded.Start[i].At
		for k, x := range s.graph.StepsOf(i) {
			end := s.graph.Recorded.End[int(g.Units[i].First)+k].At
			if x.Wait != 0 && account.Sleeps(&x, &g.Waits[x.Wait]) {
				if timed[x.Wait] = true; !g.Waits[x.Wait].Sum {
					add(g.Units[i].Class, x.Wait, 1, end-before)
				}
			}
			before = end
		}
	}
	for k, x := range s.graph.Sums {
		if timed[k.Wait] {
			add(k.Class, k.Wait, int(x.Waits), x.Ns)
		}
	}
	return out
}

// readPolls finds the classes whose units poll on virtual threads.
func (s *Session) readPolls() []polls {
	mounts, sleeps, places := 0.0, 0.0, map[uint32][]uint32{} // by class: where it sleeps
	for _, x := range s.graph.Turns {
		mounts += float64(x.Mounts)
	}
	for k, x := range s.sleeps {
		sleeps += float64(x.waits)
		places[k.class] = append(places[k.class], k.place)
	}
	var list []polls
	for _, class := range slices.Sorted(maps.Keys(s.graph.Turns)) {
		x, p := s.graph.Turns[class], polls{class: class, own: s.graph.Turns[class].Computed, atMost: s.graph.Turns[class].AtMost}
		if p.yields = float64(x.Yields()); x.Mounts <= x.Units {
			continue
		}
		most := 0
		for _, place := range slices.Sorted(slices.Values(places[class])) {
			n := s.sleeps[sleepOf{class, place}]
			if p.slept += float64(n.waits); n.waits > most {
				most, p.place = n.waits, place
			}
		}
		if float64(most) < nearlyOnly*p.slept {
			p.place = 0
		}
		p.switches = units.Ns(float64(s.graph.CPU.Switching)*min(1, p.wakes()/mounts) + float64(s.graph.CPU.Timers)*p.slept/max(1, sleeps))
		if p.wakes() >= nearlyOnly*float64(x.Mounts-x.Units) && p.wakes() >= leastWakes*float64(x.Units) && float64(p.own) <= mostBetween*p.wakes() {
			list = append(list, p)
		}
	}
	return list
}

// addPolls adds the classes that poll on virtual threads while units of another class are ready for a CPU, and drops that they wait for a CPU themselves.
func (s *Session) addPolls() {
	for _, p := range s.readPolls() {
		of := s.readyMost(p.class)
		cpu := share(p.cost(), s.graph.CPU.All)
		if of.class == nil || cpu < leastShare || of.share < leastShare {
			continue
		}
		c := of.class
		o := Obstacle{Kind: Polling, Victim: s.graph.Classes[c.Class], Share: of.share * min(1, cpu), why: reason{cause{kind: Polling, holder: p.class}, c.Class}}
		o.Ns = units.Ns(o.Share * float64(c.Response))
		if o.Score = o.Share * min(1, share(c.Response, s.LengthNs)); o.Score < leastShare {
			continue
		}
		s.describePolls(&o, &p, of.share)
		s.Obstacles = slices.DeleteFunc(s.Obstacles, func(x Obstacle) bool {
			return x.Kind == Crowded && (x.why.victim == p.class || x.why.holder == p.class)
		})
		s.Obstacles = append(s.Obstacles, o)
	}
}

// readyMost is the class other than one of which most time depends on a CPU for which somebody is ready.
func (s *Session) readyMost(but uint32) (out dependent) {
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		if c.Class == but || s.serves[c.Class] || c.Draws == 0 {
			continue
		}
		n := 0
		for k := range c.Chains {
			frames := c.Chains[k].Frames
			if slices.ContainsFunc(frames[max(0, len(frames)-2):], func(f account.Frame) bool { return f.State == account.Ready }) {
				n += c.Chains[k].N
			}
		}
		if part := float64(n) / float64(c.Draws); part*float64(c.Response) > out.ns() {
			out = dependent{class: c, share: part}
		}
	}
	return out
}

func (s *Session) describePolls(o *Obstacle, p *polls, ready float64) {
	name, n := s.graph.Classes[p.class], s.graph.Turns[p.class].Units
	how, pause := "yields (Thread.yield)"+s.yieldsAt(name), "to yield"
	if p.slept > p.yields {
		how, pause = "sleeps"+s.at(p.place), "to sleep"
	} else if p.slept > 0 {
		how, pause = how+", and now and then sleeps"+s.at(p.place)+",", "to yield or to sleep"
	}
	o.Title = fmt.Sprintf("%s %s again and again on virtual threads, while %s waits for a CPU", name, how, o.Victim)
	each, atMost := p.wakes()/float64(max(1, n)), ""
	if p.atMost {
		atMost = "at most "
	}
	o.Happened = fmt.Sprintf("A unit stops %s %s times, and computes for %s%s in between. With what it costs to switch and to wake the threads this took %s of CPU time, %s of what the JVM used. %s of the response times of %s are waits for a CPU.",
		pause, units.FormatExact(int64(each)), atMost, units.FormatNs(units.Ns(float64(p.own)/max(1, p.wakes()))), units.FormatNs(p.cost()), units.FormatPercent(share(p.cost(), s.graph.CPU.All)), units.FormatPercent(ready), o.Victim)
	if n := s.graph.Pending[o.why.victim]; n > 0 {
		o.Happened += fmt.Sprintf(" %s of it had not begun at the end.", text.PluralExact(int64(n), "unit", "units"))
	}
	o.Remedy = "If it waits for something, let whoever brings that about wake it: a CompletableFuture, a CountDownLatch, a condition, or an element of a queue. Else let it sleep for longer."
}

// yieldsAt says where a class was seen to yield most; "": nowhere in particular.
func (s *Session) yieldsAt(class string) string {
	seen, all := s.graph.Yielding[class], int64(0)
	for _, n := range seen {
		all += n
	}
	at := most(seen)
	if at == "" || float64(seen[at]) < nearlyOnly*float64(all) {
		return ""
	}
	return " at " + at
}

// again says how often each unit of a class sleeps at a place, if that is often; "": it is not.
func (s *Session) again(class uint32, root account.Frame) string {
	if root.State != account.Sleep {
		return ""
	}
	x, n := s.sleeps[sleepOf{class, root.On}], s.work(class).units
	if x.waits < leastWakes*n || n == 0 {
		return ""
	}
	each := " a unit, "
	if n == 1 {
		each = ", "
	}
	return fmt.Sprintf(" (%s times%s%s on average)", units.FormatExact(int64(x.waits/n)), each, units.FormatNs(x.sum/units.Ns(x.waits)))
}
