package replay_test

import (
	"testing"

	"stackagent/granularity/critical"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// program is a graph with a known answer.
type program struct {
	name    string
	cpus    int
	build   func(b *graph.Builder)
	length  units.Ns            // of the schedule, by hand
	on      map[string]units.Ns // the critical path by class and, for what is no compute, "class/what"
	change  func(g *graph.Graph) replay.Change
	changed units.Ns                          // length with the change, by hand
	as      func(b *graph.Builder) (cpus int) // the program with the change made
}

func class(g *graph.Graph, name string) uint32 { return index(g.Classes, name) }

func index(names []string, name string) uint32 {
	for i, n := range names {
		if n == name {
			return uint32(i)
		}
	}
	panic("no " + name)
}

func executor(g *graph.Graph, name string) uint32 {
	for i, e := range g.Executors {
		if e.Name == name {
			return uint32(i)
		}
	}
	panic("no " + name)
}

// pool submits n units of class, each of which computes so long, from a main unit that joins them all.
func pool(b *graph.Builder, workers, n int, length units.Ns) {
	e := b.Executor(graph.Executor{Name: "pool", Workers: workers})
	main := b.Unit("main", 0)
	var jobs []uint32
	for range n {
		job := b.Unit("job", e)
		b.Compute(job, length)
		jobs = append(jobs, job)
		b.Do(main, graph.Submit, job)
	}
	for _, job := range jobs {
		b.Do(main, graph.Join, job)
	}
}

// fork is a fork/join tree: a node forks its left half, does its right one as a unit, too, and joins both.
func fork(b *graph.Builder, e uint32, depth int, leaf units.Ns) uint32 {
	u := b.Unit("node", e)
	if depth == 0 {
		b.Compute(u, leaf)
		return u
	}
	left, right := fork(b, e, depth-1, leaf), fork(b, e, depth-1, leaf)
	b.Do(u, graph.Submit, left)
	b.Do(u, graph.Submit, right)
	b.Do(u, graph.Join, right)
	b.Do(u, graph.Join, left)
	return u
}

func tree(workers int) func(b *graph.Builder) {
	return func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "fj", Workers: workers, Order: graph.Stealing, Helps: true})
		main := b.Unit("main", 0)
		root := fork(b, e, 3, 10)
		b.Do(main, graph.Submit, root)
		b.Do(main, graph.Join, root)
	}
}

// pipeline is n elements through a queue: the producer takes p for each, the consumer c.
func pipeline(b *graph.Builder, capacity, n int, p, c units.Ns) {
	q := b.Resource(graph.Queue, "queue", capacity)
	producer, consumer := b.Unit("producer", 0), b.Unit("consumer", 0)
	for range n {
		b.Compute(producer, p)
		b.Do(producer, graph.Put, q)
		b.Do(consumer, graph.Take, q)
		b.Compute(consumer, c)
	}
}

// convoy is n threads that each compute out, and in inside a lock, k times.
func convoy(b *graph.Builder, permits, n, k int, out, in units.Ns) {
	l := b.Resource(graph.Lock, "lock", permits)
	for range n {
		u := b.Unit("thread", 0)
		for range k {
			b.Compute(u, out)
			b.Do(u, graph.Acquire, l)
			b.Add(u, graph.Step{Kind: graph.Compute, Len: in, Class: b.Classes.Number("inside")})
			b.Do(u, graph.Release, l)
		}
	}
}

// polled is a thread that polls three times, and then does what main waits for after so long.
func polled(b *graph.Builder, after units.Ns) {
	e := b.Resource(graph.Event, "event", 1)
	main, poller := b.Unit("main", 0), b.Unit("poller", 0)
	b.Compute(main, after)
	b.Do(main, graph.Await, e)
	b.Compute(main, 10)
	for i, n := range []units.Ns{20, 20, 12} {
		b.Add(poller, graph.Step{Kind: graph.Outside, Cause: []graph.Cause{graph.Poll, graph.Poll, graph.Limit}[i], Len: n})
	}
	b.Compute(poller, 3)
	b.Do(poller, graph.Signal, e)
}

var programs = []program{
	{name: "chain", build: func(b *graph.Builder) {
		a, c := b.Unit("a", 0), b.Unit("c", 0)
		b.Compute(a, 30)
		b.Do(a, graph.Submit, c)
		b.Compute(c, 70)
	}, length: 100, on: map[string]units.Ns{"a": 30, "c": 70}, // 30 + 70
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Faster: map[uint32]float64{class(g, "c"): 2}} },
		changed: 65}, // 30 + 70/2

	{name: "diamond", build: func(b *graph.Builder) {
		top, left, right := b.Unit("top", 0), b.Unit("left", 0), b.Unit("right", 0)
		b.Compute(top, 10)
		b.Do(top, graph.Submit, left)
		b.Do(top, graph.Submit, right)
		b.Compute(left, 20)
		b.Compute(right, 50)
		b.Do(top, graph.Join, left)
		b.Do(top, graph.Join, right)
		b.Compute(top, 5)
	}, length: 65, on: map[string]units.Ns{"top": 15, "right": 50}, // 10 + max(20, 50) + 5
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "right"): 10}}
		},
		changed: 35}, // 10 + max(20, 5) + 5: the left is the longer one now

	{name: "diamond on one CPU", cpus: 1, build: func(b *graph.Builder) {
		top, left, right := b.Unit("top", 0), b.Unit("left", 0), b.Unit("right", 0)
		b.Do(top, graph.Submit, left)
		b.Do(top, graph.Submit, right)
		b.Compute(left, 20)
		b.Compute(right, 50)
		b.Do(top, graph.Join, left)
		b.Do(top, graph.Join, right)
	}, length: 70, on: map[string]units.Ns{"right": 50, "right/cpu": 20}, // sharing: left ends at 40, right at 40 + 30
		change: func(*graph.Graph) replay.Change { return replay.Change{CPUs: 2} }, changed: 50},

	{name: "CPUs that others had", cpus: 2, build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "pool", Workers: 4})
		for range 4 { // threads share two CPUs with a program that had one for a tenth of the time
			u := b.Unit("job", e)
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Machine, Len: 1})
			b.Compute(u, 19)
		}
	}, length: 40, on: map[string]units.Ns{"job": 19, "job/cpu": 21}, // 4*20 / 2: 2 of it while the other had a CPU
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Pool: map[uint32]int{executor(g, "pool"): 2}} },
		changed: 40}, // the same work

	{name: "a lock inside the JVM", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "pool", Workers: 2})
		lock := b.Resource(graph.Event, "", 1)
		first, second := b.Unit("first", e), b.Unit("second", e)
		b.Do(first, graph.Await, lock)
		b.Compute(first, 10)
		b.Compute(second, 30)
		b.Do(second, graph.Signal, lock)
	}, length: 40, on: map[string]units.Ns{"first": 10, "second": 30},
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Pool: map[uint32]int{executor(g, "pool"): 1}} },
		changed: 40}, // the second one cannot have the lock before it starts: 10 + 30

	{name: "pool", build: func(b *graph.Builder) { pool(b, 2, 6, 10) },
		length: 30, on: map[string]units.Ns{"job": 30}, // 6 jobs on 2 workers: 3 rounds of 10
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Pool: map[uint32]int{executor(g, "pool"): 3}} },
		changed: 20, // 2 rounds
		as:      func(b *graph.Builder) int { pool(b, 3, 6, 10); return 0 }},

	{name: "unbalanced pool", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "pool", Workers: 4})
		main := b.Unit("main", 0)
		long := b.Unit("long", e)
		b.Compute(long, 100)
		b.Do(main, graph.Submit, long)
		for range 3 {
			u := b.Unit("short", e)
			b.Compute(u, 10)
			b.Do(main, graph.Submit, u)
			b.Do(main, graph.Join, u)
		}
		b.Do(main, graph.Join, long)
	}, length: 100, on: map[string]units.Ns{"long": 100},
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Split: map[uint32]int{class(g, "long"): 4}} },
		changed: 55}, // 4 parts of 25 keep the 4 workers; then three shorts, one after the other: 25 + 3*10

	{name: "fork/join tree on four workers", build: tree(4),
		length: 20, on: map[string]units.Ns{"node": 20}, // 8 leaves of 10 on 4 workers
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Pool: map[uint32]int{executor(g, "fj"): 8}} },
		changed: 10, as: func(b *graph.Builder) int { tree(8)(b); return 0 }},

	{name: "pipeline, slow consumer", build: func(b *graph.Builder) { pipeline(b, 1, 5, 10, 30) },
		length: 160, on: map[string]units.Ns{"producer": 10, "consumer": 150}, // 10 + 5*30
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "consumer"): 6}}
		},
		changed: 55, // 5*10 + 5
		as:      func(b *graph.Builder) int { pipeline(b, 1, 5, 10, 5); return 0 }},

	{name: "convoy", build: func(b *graph.Builder) { convoy(b, 1, 3, 2, 5, 10) },
		length: 65, on: map[string]units.Ns{"thread": 5, "inside": 60}, // 5 + 3*2*10: the lock is never free
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Free: map[uint32]bool{class(g, "lock"): true}}
		},
		changed: 30}, // 2*(5+10)

	{name: "semaphore", build: func(b *graph.Builder) { convoy(b, 2, 4, 2, 0, 10) },
		length: 40, on: map[string]units.Ns{"inside": 40}, // 4*2*10 / 2 permits
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Free: map[uint32]bool{class(g, "lock"): true}}
		},
		changed: 20, as: func(b *graph.Builder) int { convoy(b, 4, 4, 2, 0, 10); return 0 }},

	{name: "barrier", build: func(b *graph.Builder) {
		bar := b.Resource(graph.Barrier, "barrier", 3)
		for i := range 3 {
			u := b.Unit([]string{"x", "y", "z"}[i], 0)
			for phase := range 3 { // in phase p the thread p is slow
				n := units.Ns(10)
				if phase == i {
					n = 40
				}
				b.Compute(u, n)
				b.Do(u, graph.Arrive, bar)
			}
		}
	}, length: 120, on: map[string]units.Ns{"x": 40, "y": 40, "z": 40}, // 3 phases of 40
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Faster: map[uint32]float64{class(g, "y"): 4}} },
		changed: 90}, // 40 + 10 + 40

	{name: "latch", build: func(b *graph.Builder) {
		latch := b.Resource(graph.Event, "latch", 2)
		m := b.Unit("main", 0)
		for _, n := range []units.Ns{20, 35} {
			u := b.Unit("party", 0)
			b.Compute(u, n)
			b.Do(u, graph.Signal, latch)
			b.Compute(u, 1)
		}
		b.Add(m, graph.Step{Kind: graph.Await, On: latch, Len: 2})
		b.Compute(m, 10)
	}, length: 47, on: map[string]units.Ns{"party": 35, "main/wake-up": 2, "main": 10}, // 35 + 2 to wake up + 10
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "party"): 35}}
		},
		changed: 13}, // 1 + 2 + 10

	{name: "two pools that wait for each other", build: func(b *graph.Builder) {
		// Requests on a pool of 2 each submit a query to a pool of 1 and wait for it.
		web, db := b.Executor(graph.Executor{Name: "web", Workers: 2}), b.Executor(graph.Executor{Name: "db", Workers: 1})
		main := b.Unit("main", 0)
		for range 4 {
			request, query := b.Unit("request", web), b.Unit("query", db)
			b.Do(main, graph.Submit, request)
			b.Compute(request, 2)
			b.Do(request, graph.Submit, query)
			b.Do(request, graph.Join, query)
			b.Compute(request, 3)
			b.Add(query, graph.Step{Kind: graph.Outside, Cause: graph.IO, Len: 20})
		}
	}, length: 85, on: map[string]units.Ns{"request": 5, "query/io": 80}, // 2 + 4*20 + 3: the other request's 3+2 hide behind the query
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Pool: map[uint32]int{executor(g, "db"): 2}} },
		changed: 50}, // twice 2 + 20 + 3, two at a time

	{name: "periodic", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "timer", Workers: 1})
		for i := range 4 { // every 100; each takes 30
			u := b.Unit("tick", e)
			b.At(u).Delay = units.Ns(i * 100)
			b.Compute(u, 30)
		}
	}, length: 330, on: map[string]units.Ns{"tick/delay": 300, "tick": 30},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "tick"): 3}}
		},
		changed: 310}, // the time of the last one remains

	{name: "late ticks", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "timer", Workers: 1})
		for i := range 3 { // every 10; each takes 30
			u := b.Unit("tick", e)
			b.At(u).Delay = units.Ns(i * 10)
			b.Compute(u, 30)
		}
	}, length: 90, on: map[string]units.Ns{"tick": 90},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Pool: map[uint32]int{executor(g, "timer"): 3}}
		},
		changed: 50}, // 20 + 30

	// Every 10; each takes 30, and is submitted by the one before: if they take 15, the last one starts at 20 or later, 60 at most.
	{name: "late ticks that submit the next one", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "timer", Workers: 1})
		before := b.Unit("main", 0)
		for range 3 {
			u := b.Unit("tick", e)
			b.Do(before, graph.Submit, u)
			b.At(u).Late = true
			b.Compute(u, 30)
			before = u
		}
	}, length: 90, on: map[string]units.Ns{"tick": 90},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "tick"): 2}}
		},
		changed: graph.Never}, // 45 or 75

	{name: "started late by a worker", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		m, u := b.Unit("main", 0), b.Unit("job", e)
		b.Compute(m, 10)
		b.Do(m, graph.Submit, u)
		b.At(u).Latency = 7
		b.Compute(u, 20)
	}, length: 37, on: map[string]units.Ns{"main": 10, "job/queue": 7, "job": 20},
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Split: map[uint32]int{class(g, "job"): 2}} },
		changed: 44}, // two parts of 10 on one worker, each 7 late: 10 + 2*(7 + 10)

	{name: "pinned", build: func(b *graph.Builder) {
		// Units on 2 carriers: each computes 1, waits 20, and computes 1. While the first four wait, they keep their carriers.
		e := b.Executor(graph.Executor{Name: "carriers", Workers: 2, Leaves: true})
		for i := range 6 {
			u := b.Unit([]string{"pinned", "free"}[i/4], e)
			b.Compute(u, 1)
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 20, Pinned: i < 4})
			b.Compute(u, 1)
		}
	}, length: 66, on: map[string]units.Ns{"pinned": 4, "pinned/sleep": 40, "free": 2, "free/sleep": 20}, // 22 + 22 + 22
		change:  func(*graph.Graph) replay.Change { return replay.Change{Unpin: true} },
		changed: 24}, // 6 times 1 on 2 carriers, the last one's 20 and 1

	{name: "a unit that waits for another one leaves its carrier", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "carriers", Workers: 1, Leaves: true})
		x, y := b.Unit("x", e), b.Unit("y", e)
		b.Do(x, graph.Submit, y)
		b.Do(x, graph.Join, y)
		b.Compute(x, 5)
		b.Compute(y, 10)
	}, length: 15, on: map[string]units.Ns{"x": 5, "y": 10},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "y"): 10}}
		},
		changed: 6},

	{name: "pauses of the collector", build: func(b *graph.Builder) {
		asked, full := b.Pauses.Number("System.gc()"), b.Pauses.Number("Allocation Failure")
		for range 2 {
			u := b.Unit("thread", 0)
			b.Compute(u, 10)
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Collector, On: asked, Len: 30})
			b.Compute(u, 10)
			b.Add(u, graph.Step{Kind: graph.Outside, Cause: graph.Collector, On: full, Len: 5})
		}
	}, length: 55, on: map[string]units.Ns{"thread": 20, "thread/gc": 35},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Pauses: map[uint32]bool{index(g.Pauses, "System.gc()"): true}}
		},
		changed: 25},

	{name: "waiting for a thread that polls", build: func(b *graph.Builder) { polled(b, 5) },
		length: 65, on: map[string]units.Ns{"main": 15, "poller/sleep": 47, "poller": 3}, // main waits from 5 on
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "main"): 5}}
		},
		changed: 57}, // the polls decided how long the run took: 55 + 10/5

	// Until 50 main computes, whatever the other thread polls for. From then on it waits for what that does after its last poll.
	{name: "waiting for what a thread that polls does", build: func(b *graph.Builder) { polled(b, 50) },
		length: 65, on: map[string]units.Ns{"main": 50, "poller/sleep": 12, "poller": 3},
		change: func(g *graph.Graph) replay.Change {
			return replay.Change{Faster: map[uint32]float64{class(g, "main"): 2}}
		},
		changed: graph.Never}, // 55 + 10/2, or 50/2 + 10/2 if what it polls for is there earlier

	{name: "a worker that has to wake up", build: func(b *graph.Builder) {
		e := b.Executor(graph.Executor{Name: "pool", Workers: 1})
		m, u := b.Unit("main", 0), b.Unit("job", e)
		b.Compute(m, 10)
		b.Do(m, graph.Submit, u)
		b.At(u).Wake = 7
		b.Compute(u, 20)
	}, length: 37, on: map[string]units.Ns{"main": 10, "job/queue": 7, "job": 20},
		change:  func(g *graph.Graph) replay.Change { return replay.Change{Split: map[uint32]int{class(g, "job"): 2}} },
		changed: 37}, // the worker goes on with the second part: 10 + 7 + 2*10
}

func graphOf(t *testing.T, cpus int, build func(*graph.Builder)) *graph.Graph {
	t.Helper()
	var b graph.Builder
	build(&b)
	g, err := b.Graph(cpus)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestKnownPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			g := graphOf(t, p.cpus, p.build)
			s, err := replay.Run(g)
			if err != nil {
				t.Fatal(err)
			}
			length, last := g.Length(s)
			if length != p.length {
				t.Errorf("length %d, by hand %d", length, p.length)
			}
			got := map[string]units.Ns{}
			for _, part := range critical.Path(g, s, last, 0, length) {
				name := g.Classes[part.Class]
				if part.What != critical.Compute {
					name += "/" + part.What.String()
				}
				got[name] += part.Len()
			}
			for name, n := range p.on {
				if got[name] != n {
					t.Errorf("%s: %d on the path, by hand %d (all: %v)", name, got[name], n, got)
				}
			}
			if len(got) != len(p.on) {
				t.Errorf("on the path: %v, by hand %v", got, p.on)
			}
			answer, err := replay.Predict(g, p.length, p.change(g))
			if err != nil || answer.Predicted != p.changed || answer.Replayed != p.length {
				t.Errorf("predicted %+v (%v), by hand %d", answer, err, p.changed)
			}
			if p.as == nil {
				return
			}
			var b graph.Builder
			cpus := p.as(&b)
			made, err := b.Graph(cpus)
			if err != nil {
				t.Fatal(err)
			}
			if s, err = replay.Run(made); err != nil {
				t.Fatal(err)
			}
			if length, _ := made.Length(s); length != answer.Predicted {
				t.Errorf("predicted %d, the changed program takes %d", answer.Predicted, length)
			}
		})
	}
}

// TestNoHelpInIO: a worker of a fork/join pool helps while a unit waits for an event, but not if that is input: then what is queued waits, too.
func TestNoHelpInIO(t *testing.T) {
	for kind, want := range map[string]units.Ns{"": 20, "park": 20, "io": 30, "notify": 30} { // others: 10 beside the wait of 20, or after it
		var b graph.Builder
		e := b.Executor(graph.Executor{Name: "fj", Workers: 1, Order: graph.Stealing, Helps: true})
		event := b.Resource(graph.Event, "event", 1)
		main, reads, other := b.Unit("main", 0), b.Unit("reads", e), b.Unit("other", e)
		b.Do(main, graph.Submit, reads)
		b.Do(main, graph.Submit, other)
		b.Compute(main, 20)
		b.Do(main, graph.Signal, event)
		wait := uint32(0)
		if kind != "" {
			wait = b.Wait(graph.Wait{Kind: kind})
		}
		b.Add(reads, graph.Step{Kind: graph.Await, On: event, Wait: wait})
		b.Compute(other, 10)
		g, err := b.Graph(2)
		if err != nil {
			t.Fatal(err)
		}
		s, err := replay.Run(g)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := g.Length(s); got != want {
			t.Errorf("wait of kind %q: %d, want %d", kind, got, want)
		}
	}
}
