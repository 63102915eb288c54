package advice

import (
	"math/rand/v2"
	"testing"

	"stackagent/internal/units"
)

// TestWorth: whatever the figures are, no finding is worth more than its evidence shows: it
// is at most the pool's time without its waiting for processors, at most what the
// finding is about, and never more than the work allows.
func TestWorth(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(16_000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		f := anyFacts(rng)
		for _, x := range Find(f) {
			if _, ok := x.Evidence.(limited); !ok || !x.Worth.Measured() {
				continue
			}
			found[x.Rule]++
			most, of := allowed(f, &x)
			if x.Worth < 0 || x.Worth > max(0, most) || x.Gain != nil {
				t.Fatalf("seed %d: %s is worth %v, but %s is %v: %+v", seed, x.Rule, x.Worth, of, most, x.Evidence)
			}
		}
	}
	for i := range rules {
		switch name := rules[i].name; name {
		case "deep-nesting", "swallowed-exceptions", "never-executed", "obstacle", "backlog", "finalizers", "kept-cancelled", "thread-locals", "ended-periodic", "spinning", "inline-stages", "one-part", "coarse-grained": // no formula
		default:
			if rules[i].kind == Advice && found[name] < 5 {
				t.Errorf("%s was found %d times only", name, found[name])
			}
		}
	}
}

// allowed is the most that a finding's evidence allows to save, independent of saves, and what that is.
func allowed(f *Facts, x *Finding) (units.Ns, string) {
	u := f.Units
	cpus := units.Ns(u.CPUs)
	pool := func(name PoolName) *Pool {
		for i := range u.Pools {
			if u.Pools[i].Label == name.Label {
				return &u.Pools[i]
			}
		}
		return nil
	}
	switch e := x.Evidence.(type) {
	case *FineUnits:
		p := pool(e.PoolName)
		return min(e.Active-e.Waited, e.Active-e.Work/cpus, e.Active-max(0, p.Beside-5*micro*units.Ns(p.Units))), "the pool's time less its work, and what another thread computes for itself"
	case *Pinned:
		return min(e.Pinned, e.Waiting), "what threads were pinned and waited"
	case *CostlyPauses:
		c := f.Units.Collections
		return c.Stopped - f.Units.Waits.Stopped + f.Units.Waits.Beside + f.Units.Waits.Stalled, "what the collector took, without the waiting"
	case *Explicit:
		return e.Cost, "what the collector took"
	}
	return 0, "unknown evidence"
}

// anyFacts are random figures that hang together: a worker computes, waits for a
// processor or waits for something else within the pool's time.
func anyFacts(rng *rand.Rand) *Facts {
	share := func(n units.Ns) units.Ns { // often all, or nothing
		switch rng.IntN(4) {
		case 0:
			return n
		case 1:
			return n / units.Ns(10+rng.IntN(100))
		}
		return units.Ns(rng.Float64() * float64(n))
	}
	cpus, n := 1+rng.IntN(8), 1+rng.IntN(12)
	if rng.IntN(4) == 0 {
		n *= 20
	}
	span := 50*milli + share(2000*milli)
	p := Pool{PoolName: PoolName{Label: "p", Threads: rng.IntN(3) == 0}, To: units.MonoNs(span), Workers: n}
	p.Units = int64(n) + int64(rng.IntN(300))
	cpu := units.Ns(0)
	for range n {
		wall := share(span)
		used := share(wall)
		p.Wall, p.Waited, cpu = p.Wall+wall, p.Waited+share(wall-used), cpu+used
	}
	p.Self, p.Active = share(cpu), span-share(span/2)
	if rng.IntN(2) == 0 {
		p.Beside = share(span)
		p.Units += int64(rng.IntN(3)) * 2000
	}
	u := &UnitFacts{Read: true, Duration: span + share(span), CPUs: cpus, Pools: []Pool{p}}
	if rng.IntN(5) == 0 {
		c := UnitClass{Name: "A", Units: 1000 + int64(rng.IntN(100_000)), Wall: share(p.Wall)}
		for range 1000 {
			c.Self.Add(units.Ns(rng.IntN(12_000)))
			u.Pools[0].Gaps.Add(units.Ns(rng.IntN(12_000)))
		}
		u.Classes = []UnitClass{c}
	}
	if rng.IntN(4) == 0 {
		active := share(span)
		u.Virtual = &VirtualFacts{Carriers: 1 + rng.IntN(4), Pins: 10, Pinned: share(4 * span), Active: active, Waited: share(active), CPU: share(span), Mounted: share(span)}
		u.Virtual.Waiting = max(u.Virtual.Waited, share(active))
	}
	stopped := share(span / 2)
	u.Waits = &Waits{Lost: share(span), Stopped: share(stopped), Beside: share(span - stopped)}
	u.Waits.Stalled = share(span - stopped - u.Waits.Beside)
	u.Waits.Held = share(u.Waits.Stalled)
	f := &Facts{Duration: u.Duration, CPUs: cpus, Units: u}
	f.GC.Total = stopped - share(stopped) // the standstill counts
	u.Collections = &Collections{Stopped: stopped, Around: true, Explicit: int64(rng.IntN(3)), Other: 3, OtherTime: share(stopped), Unseen: int64(rng.IntN(9))}
	if u.Collections.Explicit > 0 {
		u.Collections.ExplicitTime = share(stopped)
	}
	return f
}
