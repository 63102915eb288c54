package account

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

const ms = units.Ns(1_000_000)

// replayed is the account of a graph's replay, whose schedule is known to be right.
func replayed(t *testing.T, cpus int, build func(*graph.Builder)) (*graph.Graph, *Account) {
	t.Helper()
	var b graph.Builder
	build(&b)
	g, err := b.Graph(cpus)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	return g, Of(g, s)
}

// unit is a unit of a class on a thread.
func unit(b *graph.Builder, class string, executor uint32, thread string) uint32 {
	u := b.Unit(class, executor)
	b.At(u).Thread = b.Threads.Number(thread)
	return u
}

// submit makes one unit submit others at its start.
func submit(b *graph.Builder, by uint32, list ...uint32) {
	for _, u := range list {
		b.Do(by, graph.Submit, u)
	}
}

// classOf is the account of a class.
func classOf(t *testing.T, g *graph.Graph, a *Account, name string) *Class {
	t.Helper()
	for i := range a.Classes {
		if g.Classes[a.Classes[i].Class] == name {
			return &a.Classes[i]
		}
	}
	t.Fatalf("no class %s", name)
	return nil
}

// shareOf is the share of the draws whose chain has these states, each of the class given.
func shareOf(g *graph.Graph, c *Class, states []State, classes []string) float64 {
	n := 0
	for _, x := range c.Chains {
		if len(x.Frames) != len(states) {
			continue
		}
		same := true
		for i, f := range x.Frames {
			same = same && f.State == states[i] && g.Classes[f.Class] == classes[i]
		}
		if same {
			n += x.N
		}
	}
	return float64(n) / float64(c.Draws)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want-0.04 || got > want+0.04 {
		t.Errorf("%s: %.3f, want %.3f", what, got, want)
	}
}

// A worker sleeps for 90 ms in one unit, while another one that computes for 10 ms is queued.
func TestQueuedBehindAnotherClass(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		main := unit(b, "main", 0, "main")
		slow, quick := unit(b, "Slow", pool, "w"), unit(b, "Quick", pool, "w")
		submit(b, main, slow, quick)
		b.Add(slow, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 90 * ms})
		b.Compute(quick, 10*ms)
		b.Do(main, graph.Join, quick)
	})
	c := classOf(t, g, a, "Quick")
	if c.Response != 100*ms {
		t.Fatalf("response %d, want 100 ms", c.Response)
	}
	near(t, "behind the sleep", shareOf(g, c, []State{Queued, Sleep}, []string{"Quick", "Slow"}), 0.9)
	near(t, "computing", shareOf(g, c, []State{Compute}, []string{"Quick"}), 0.1)
	main := classOf(t, g, a, "main")
	near(t, "main", shareOf(g, main, []State{Join, Queued, Sleep}, []string{"main", "Quick", "Slow"}), 0.9)
}

// Five units compute for 2 ms each, and the worker takes 8 ms from one to the next: it computes for 4 of them, is ready for a CPU for 2, and waits for 2.
func TestTakingTheNext(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		main := unit(b, "main", 0, "main")
		for range 5 {
			job := unit(b, "Job", pool, "w")
			submit(b, main, job)
			b.Compute(job, 2*ms)
			u := b.At(job)
			u.Latency, u.Took, u.Waited = 8*ms, 500, 250
		}
	})
	// The k-th one takes 10k ms. In the first 8 there is no worker yet; in 8 (k-1) of the others the worker is between two units: 80 of 150 ms in all.
	c := classOf(t, g, a, "Job")
	near(t, "no worker", shareOf(g, c, []State{Queued, NoWorker}, []string{"Job", "Job"}), 40.0/150)
	near(t, "takes the next", shareOf(g, c, []State{Queued, Taking}, []string{"Job", "Job"}), 40.0/150)
	near(t, "ready for a CPU", shareOf(g, c, []State{Queued, Ready}, []string{"Job", "Job"}), 20.0/150)
	near(t, "has nothing to do", shareOf(g, c, []State{Queued, Idle}, []string{"Job", "Job"}), 20.0/150)
	near(t, "behind another one", shareOf(g, c, []State{Queued, Compute}, []string{"Job", "Job"}), 20.0/150)
}

// A worker runs 1,000 units in 100 ms that are only summed up: it is in them for 60, in which they compute for 40 and wait for a lock for 10, takes the next one for 30, and is ready
// for a CPU for 10. They wait in the queue for 300 ms, summed.
func TestSums(t *testing.T) {
	sums := func(b *graph.Builder, took units.Ns) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		b.Compute(unit(b, "main", 0, "main"), 100*ms)
		lock := b.Wait(graph.Wait{Kind: "park", Lock: true, Class: b.Classes.Number("Lock")})
		b.Sums = append(b.Sums, graph.Sum{Class: b.Classes.Number("Tiny"), Thread: b.Threads.Number("w"), Executor: pool, To: 100 * ms, Units: 1000, Queued: 300 * ms,
			Ran: 60 * ms, CPU: 40 * ms, Free: 100 * ms, Self: 60 * ms, Took: took, Ready: 10 * ms, Waits: []graph.SumWait{{Wait: lock, Ns: 10 * ms}}})
	}
	g, a := replayed(t, 2, func(b *graph.Builder) { sums(b, 30*ms) })
	c := classOf(t, g, a, "Tiny")
	if c.Units != 1000 || c.Response != 360*ms {
		t.Errorf("%d units, %d ns", c.Units, c.Response)
	}
	parts := map[State]units.Ns{}
	for _, p := range c.Parts {
		parts[p.State] += p.Ns
	}
	if want := (map[State]units.Ns{Queued: 300 * ms, Compute: 40 * ms, Lock: 10 * ms, NotKnown: 10 * ms}); !reflect.DeepEqual(parts, want) {
		t.Errorf("%v, want %v", parts, want)
	}
	queued := 300.0 / 360
	near(t, "computes", shareOf(g, c, []State{Compute}, []string{"Tiny"}), 40.0/360)
	near(t, "behind another one", shareOf(g, c, []State{Queued, Compute}, []string{"Tiny", "Tiny"}), 0.4*queued)
	near(t, "takes the next", shareOf(g, c, []State{Queued, Taking}, []string{"Tiny", "Tiny"}), 0.3*queued)
	near(t, "is idle", shareOf(g, c, []State{Queued, Idle}, []string{"Tiny", "Tiny"}), 0)

	// If it takes the next one for 10 ms, it has nothing to do for 20: a unit waits until it is awake, so that this is at most 100 µs for each of them.
	g, a = replayed(t, 2, func(b *graph.Builder) { sums(b, 10*ms) })
	near(t, "has nothing to do", shareOf(g, classOf(t, g, a, "Tiny"), []State{Queued, Idle}, []string{"Tiny", "Tiny"}), 0.2*queued)
}

// A unit waits until its time limit for a future. If its submissions were only counted, one of them may be in progress, so it is not known that nobody answers.
func TestUnlisted(t *testing.T) {
	for _, unlisted := range []bool{false, true} {
		g, a := replayed(t, 2, func(b *graph.Builder) {
			u := unit(b, "main", 0, "main")
			w := b.Wait(graph.Wait{Kind: "park", Class: b.Classes.Number("CompletableFuture")})
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Limit, Len: 50 * ms, Wait: w})
			if unlisted {
				b.Unlisted = []graph.Unlisted{{Thread: b.Threads.Number("main"), To: 10 * ms}}
			}
		})
		want := map[bool]State{false: Unanswered, true: NotKnown}[unlisted]
		for _, x := range classOf(t, g, a, "main").Chains {
			if last := x.Frames[len(x.Frames)-1]; last.State != want {
				t.Errorf("submissions only counted: %v: %+v", unlisted, x.Frames)
			}
		}
	}
}

// Both workers of a pool wait for a part that is queued in the same pool, until a time limit.
func TestPoolThatWaitsForItself(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 2})
		main := unit(b, "main", 0, "main")
		future := b.Wait(graph.Wait{Class: b.Classes.Number("java.util.concurrent.FutureTask"), Kind: "park", Object: 7})
		for _, thread := range []string{"w1", "w2"} {
			outer, part := unit(b, "Outer", pool, thread), unit(b, "Part", pool, thread)
			submit(b, main, outer)
			submit(b, outer, part)
			b.Add(outer, graph.Step{Kind: graph.Outside, Cause: graph.Limit, Len: 100 * ms, Wait: future})
			b.Compute(part, ms)
		}
	})
	c := classOf(t, g, a, "Outer")
	n := 0
	for _, x := range c.Chains {
		if x.Frames[len(x.Frames)-1].State == Cycle {
			n += x.N
			if from := x.Frames[x.Frames[len(x.Frames)-1].On]; from.State != Handed {
				t.Errorf("the circle begins at %v, not at the wait for the part", from.State)
			}
		}
	}
	near(t, "in a circle", float64(n)/float64(c.Draws), 1)
}

// The only worker waits to the end for a part that is queued behind it and never began.
func TestPartThatNeverBegan(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		main, outer := unit(b, "main", 0, "main"), unit(b, "Outer", pool, "w")
		submit(b, main, outer)
		b.Add(outer, graph.Step{Kind: graph.Outside, Len: 100 * ms})
		b.At(outer).Left = pool + 1
	})
	near(t, "in a circle", shareOf(g, classOf(t, g, a, "Outer"), []State{Left, Cycle}, []string{"Outer", "Outer"}), 1)
}

// A worker takes what was handed over last: the old unit waits while 9 newer ones of another class run.
func TestOvertaken(t *testing.T) {
	g, a := replayed(t, 1, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1, Order: graph.LIFO})
		main := unit(b, "main", 0, "main")
		first := unit(b, "First", pool, "w")
		submit(b, main, first)
		old := unit(b, "Old", pool, "w")
		submit(b, first, old)
		b.Compute(first, ms)
		for range 9 {
			u := unit(b, "New", pool, "w")
			submit(b, first, u)
			b.Compute(u, 10*ms)
		}
		b.Compute(old, ms)
	})
	near(t, "behind newer ones", shareOf(g, classOf(t, g, a, "Old"), []State{Overtaken, Compute}, []string{"Old", "New"}), 90.0/92)
}

// One of two waits for a lock that the other one has for 60 ms while it sleeps.
func TestHolder(t *testing.T) {
	var b graph.Builder
	lock := b.Wait(graph.Wait{Class: b.Classes.Number("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Kind: "park", Object: 9, Lock: true})
	owner, waiter := unit(&b, "Owner", 0, "a"), unit(&b, "Waiter", 0, "b")
	event := b.Resource(graph.Event, "lock", 1)
	b.Compute(owner, 10*ms)
	b.Add(owner, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 60 * ms})
	b.Do(owner, graph.Signal, event)
	b.Compute(waiter, 30*ms)
	b.Add(waiter, graph.Step{Kind: graph.Await, On: event, Wait: lock})
	b.Compute(waiter, 30*ms)
	g, err := b.Graph(2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	c := classOf(t, g, Of(g, s), "Waiter")
	near(t, "the holder sleeps", shareOf(g, c, []State{Lock, Sleep}, []string{"Waiter", "Owner"}), 0.4)
	near(t, "computing", shareOf(g, c, []State{Compute}, []string{"Waiter"}), 0.6)
}

// Eight threads compute 10 ms alone on one CPU: each is ready for seven eighths of its time.
func TestReady(t *testing.T) {
	g, a := replayed(t, 1, func(b *graph.Builder) {
		for _, thread := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			b.Compute(unit(b, "Work", 0, thread), 10*ms)
		}
	})
	c := classOf(t, g, a, "Work")
	for _, p := range c.Parts {
		if p.State == Ready {
			near(t, "ready", float64(p.Ns)/float64(c.Response), 7.0/8)
		}
	}
	near(t, "computing", shareOf(g, c, []State{Compute}, []string{"Work"}), 1.0/8)
}

// The owner computes for 50 ms after it gave the lock back: then the second one has it.
func TestHolderThatGaveItBack(t *testing.T) {
	g, a := replayed(t, 4, func(b *graph.Builder) {
		lock := b.Wait(graph.Wait{Class: b.Classes.Number("Lock"), Kind: "park", Object: 9, Lock: true})
		first, second, third := unit(b, "First", 0, "a"), unit(b, "Second", 0, "b"), unit(b, "Third", 0, "c")
		one, two := b.Resource(graph.Event, "one", 1), b.Resource(graph.Event, "two", 1)
		b.Compute(first, 20*ms)
		b.Do(first, graph.Signal, one)
		b.Compute(first, 50*ms)
		b.Compute(second, ms)
		b.Add(second, graph.Step{Kind: graph.Await, On: one, Wait: lock})
		b.Add(second, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 40 * ms})
		b.Do(second, graph.Signal, two)
		b.Compute(third, 20*ms)
		b.Add(third, graph.Step{Kind: graph.Await, On: two, Wait: lock})
	})
	near(t, "the second one has it", shareOf(g, classOf(t, g, a, "Third"), []State{Lock, Sleep}, []string{"Third", "Second"}), 40.0/60)
}

// The same graph has the same account, whatever the order of maps.
func TestSameEachTime(t *testing.T) {
	g, first := replayed(t, 2, func(b *graph.Builder) { randomProgram(b, rand.New(rand.NewPCG(3, 46))) })
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again := Of(g, s); !reflect.DeepEqual(again, first) {
			t.Fatal("another account of the same graph")
		}
	}
}

// The parts of any graph's classes add up to the response times, and no draw is lost.
func TestPartsAddUp(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 46))
		g, a := replayed(t, 1+r.IntN(4), func(b *graph.Builder) { randomProgram(b, r) })
		for i := range a.Classes {
			c := &a.Classes[i]
			sum, n := units.Ns(0), 0
			for _, p := range c.Parts {
				sum += p.Ns
			}
			for _, x := range c.Chains {
				n += x.N
			}
			if sum != c.Response || n != c.Draws {
				t.Fatalf("seed %d, %s: parts %d, response %d; %d of %d draws", seed, g.Classes[c.Class], sum, c.Response, n, c.Draws)
			}
		}
	}
}

// randomProgram is one of some pools whose units compute, sleep, submit and join.
func randomProgram(b *graph.Builder, r *rand.Rand) {
	pools := []uint32{0}
	for i := range 1 + r.IntN(3) {
		pools = append(pools, b.Executor(graph.Executor{Name: string(rune('a' + i)), Workers: 1 + r.IntN(3), Order: graph.Order(r.IntN(2))}))
	}
	var grow func(u uint32, depth int)
	grow = func(u uint32, depth int) {
		for range r.IntN(5) {
			switch k := r.IntN(4); {
			case k == 0:
				b.Compute(u, units.Ns(r.IntN(1000)))
			case k == 1:
				b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Cause(r.IntN(int(graph.Poll))), Len: units.Ns(r.IntN(1000))})
			case depth < 4:
				pool := pools[r.IntN(len(pools))]
				if depth > 0 {
					pool = 0 // a unit of a pool that joins one of a pool may never end
				}
				child := unit(b, "class"+string(rune('0'+r.IntN(4))), pool, "thread"+string(rune('0'+r.IntN(8))))
				submit(b, u, child)
				grow(child, depth+1)
				if r.IntN(2) == 0 {
					b.Do(u, graph.Join, child)
				}
			}
		}
	}
	for i := range 3 {
		grow(unit(b, "main", 0, "main"+string(rune('0'+i))), 0)
	}
}

func TestEdges(t *testing.T) {
	var e edges
	e.add(5, 15)
	e.add(0, 10)
	e.sort()
	for at, want := range map[units.Ns]int{-1: 0, 0: 1, 5: 2, 9: 2, 10: 1, 15: 0, 99: 0} {
		if got := e.openAt(at); got != want {
			t.Errorf("open at %d: %d, want %d", at, got, want)
		}
	}
}

// BenchmarkOf is the account of 100,000 units.
func BenchmarkOf(b *testing.B) {
	var x graph.Builder
	pool := x.Executor(graph.Executor{Name: "pool", Workers: 8})
	main := unit(&x, "main", 0, "main")
	for i := range 100_000 {
		u := unit(&x, "Work", pool, "w"+string(rune('0'+i%8)))
		submit(&x, main, u)
		x.Compute(u, 1000)
	}
	g, err := x.Graph(8)
	if err != nil {
		b.Fatal(err)
	}
	s, err := replay.Run(g)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Of(g, s)
	}
}

// Main looks every 25 ms whether a job of 80 ms has ended, and goes on 20 ms after it has.
func TestPolled(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		sleep := b.Wait(graph.Wait{Kind: "sleep"})
		main, job := unit(b, "main", 0, "main"), unit(b, "Job", pool, "w")
		submit(b, main, job)
		b.Compute(job, 80*ms)
		for range 3 {
			b.Add(main, graph.Step{Kind: graph.Outside, Cause: graph.Poll, On: job + 1, Len: 25 * ms, Wait: sleep})
		}
		b.Add(main, graph.Step{Kind: graph.Join, On: job, Len: 20 * ms, Wait: sleep})
	})
	c := classOf(t, g, a, "main")
	for _, p := range c.Parts {
		if want := map[State]units.Ns{Join: 80 * ms, Late: 20 * ms}[p.State]; p.Ns != want {
			t.Errorf("%v for %v, want %v", p.State, p.Ns, want)
		}
	}
	near(t, "polls while the job computes", shareOf(g, c, []State{Join, Compute}, []string{"main", "Job"}), 0.8)
	near(t, "sleeps on", shareOf(g, c, []State{Late}, []string{"main"}), 0.2)
}

// A consumer waits 40 ms for an element that a producer puts as the last thing it does, a client as long for the end of what it submitted itself; both know of the wait
// that it was for something that is shared. The client then parks for 20 ms, and for nothing.
func TestWaitsForWhatIsShared(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		main := unit(b, "main", 0, "main")
		producer, consumer, client, asked := unit(b, "Producer", 0, "p"), unit(b, "Consumer", 0, "c"), unit(b, "Client", 0, "d"), unit(b, "Asked", 0, "e")
		submit(b, main, producer, consumer, client)
		submit(b, client, asked)
		for _, u := range []uint32{producer, asked} {
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 40 * ms})
		}
		queue := b.Wait(graph.Wait{Class: b.Classes.Number("ConditionObject"), Kind: "park", Shared: true})
		b.Add(consumer, graph.Step{Kind: graph.Join, On: producer, Wait: queue})
		b.Add(client, graph.Step{Kind: graph.Join, On: asked, Wait: queue})
		b.Add(client, graph.Step{Kind: graph.Outside, Cause: graph.Limit, Len: 20 * ms, Wait: b.Wait(graph.Wait{Kind: "park"})})
	})
	near(t, "the element", shareOf(g, classOf(t, g, a, "Consumer"), []State{Handed, Sleep}, []string{"Consumer", "Producer"}), 1)
	near(t, "the end", shareOf(g, classOf(t, g, a, "Client"), []State{Join, Sleep}, []string{"Client", "Asked"}), 2.0/3)
	near(t, "the time", shareOf(g, classOf(t, g, a, "Client"), []State{Sleep}, []string{"Client"}), 1.0/3)
}

// Nobody in the graph submits the units of a pool, of which it is known when they were due: each 10 ms, while one takes 20 ms.
func TestDueWithoutASubmitter(t *testing.T) {
	g, a := replayed(t, 2, func(b *graph.Builder) {
		pool := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		for i := range units.Ns(3) {
			u := unit(b, "Tick", pool, "w")
			b.At(u).Delay = i * 10 * ms
			b.Compute(u, 20*ms)
		}
	})
	c := classOf(t, g, a, "Tick")
	if c.Response != (20+30+40)*ms {
		t.Errorf("response %d, want 90 ms", c.Response)
	}
	near(t, "queued", shareOf(g, c, []State{Queued, Compute}, []string{"Tick", "Tick"}), 1.0/3)
}

// The second holder computes for 50 ms with an element of a pool that the first one gave back. A third one was refused at its time limit and sleeps: who asks in vain for 30 of 50 ms
// waits for the second.
func TestWhoWasRefusedHoldsNothing(t *testing.T) {
	g, a := replayed(t, 4, func(b *graph.Builder) {
		pool := b.Wait(graph.Wait{Class: b.Classes.Number("java.util.concurrent.ArrayBlockingQueue"), Kind: "park", Shared: true})
		first, second, third, asker := unit(b, "Holder", 0, "a"), unit(b, "Holder", 0, "b"), unit(b, "Holder", 0, "c"), unit(b, "Asker", 0, "d")
		one := b.Resource(graph.Event, "one", 1)
		b.Compute(first, 10*ms)
		b.Do(first, graph.Signal, one)
		b.Add(second, graph.Step{Kind: graph.Await, On: one, Wait: pool})
		b.Compute(second, 50*ms)
		b.Add(third, graph.Step{Kind: graph.Outside, Cause: graph.Limit, Len: 5 * ms, Wait: pool})
		b.Add(third, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 55 * ms})
		b.Compute(asker, 20*ms)
		b.Add(asker, graph.Step{Kind: graph.Outside, Cause: graph.Limit, Len: 30 * ms, Wait: pool})
	})
	near(t, "the second one has it", shareOf(g, classOf(t, g, a, "Asker"), []State{Handed, Compute}, []string{"Asker", "Holder"}), 30.0/50)
}

// A unit leaves the only carrier for 10 ms, and finds it kept by another one, which sleeps for 50. Of its next 50 ms it computes for 10; where is not known.
func TestKeptCarrier(t *testing.T) {
	var b graph.Builder
	main, carriers := unit(&b, "main", 0, "main"), b.Executor(graph.Executor{Name: "carriers", Workers: 1, Leaves: true})
	job, keeps := unit(&b, "Job", carriers, "a"), unit(&b, "Keeps", carriers, "b")
	submit(&b, main, job, keeps)
	b.Compute(job, 10*ms)
	b.Add(job, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 10 * ms})
	b.Compute(job, 10*ms)
	b.Add(keeps, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 50 * ms, Pinned: true})
	g, err := b.Graph(2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	slept := &s.End[g.Units[job].First+1]
	if slept.At != 60*ms {
		t.Fatalf("it sleeps until %d, want 60 ms, when it has a carrier", slept.At)
	}
	slept.At = 20 * ms // as a recording says
	near(t, "it waits for the one that sleeps", shareOf(g, classOf(t, g, Of(g, s), "Job"), []State{Queued, Sleep}, []string{"Job", "Keeps"}), 0.8*40/70)
}
