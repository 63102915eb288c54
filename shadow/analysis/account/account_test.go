package account

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"stackagent/granularity/account"
	model "stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

const ms = units.Ns(1_000_000)

// program is a graph that a test builds.
type program struct {
	model.Builder
	main  uint32
	given map[uint32]*session.Executor

	lingering *graph.Lingering
	computing map[string]map[string]int64
	turns     map[uint32]graph.Turns
	sums      map[graph.SumOf]graph.Unrecorded
	cpu       graph.CPUTime
	yielding  map[string]map[string]int64
	pooled    map[uint32]bool

	interpreted map[string]map[string]int64
}

// unit is a unit that main submits, on a thread.
func (p *program) unit(class string, executor uint32, thread string) uint32 {
	u := p.Unit(class, executor)
	p.At(u).Thread = p.Threads.Number(thread)
	p.Do(p.main, model.Submit, u)
	return u
}

// accountOf is the account of a program's replay on two CPUs, whose schedule is known to be right.
func accountOf(t *testing.T, build func(*program)) *Session {
	t.Helper()
	p := &program{given: map[uint32]*session.Executor{}}
	p.main = p.Unit("main", 0)
	p.At(p.main).Thread = p.Threads.Number("main")
	build(p)
	g, err := p.Graph(2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	session := &graph.Session{Graph: g, Recorded: s, Bulk: map[string]bool{"Leaf": true, "Leaf (forEachOrdered, Main.java:8)": true}, Given: p.given, Lingering: p.lingering, Computing: p.computing, Turns: p.turns, Sums: p.sums, CPU: p.cpu, Yielding: p.yielding, Pooled: p.pooled, Interpreted: p.interpreted}
	a := Of(session)
	a.Try()
	return a
}

func kinds(a *Session) string {
	var list []string
	for _, o := range a.Obstacles {
		list = append(list, string(o.Kind))
	}
	return strings.Join(list, " ")
}

// sleep adds a sleep to a unit.
func (p *program) sleep(unit uint32, n units.Ns) {
	p.Add(unit, model.Step{Kind: model.Outside, Cause: model.Time, Len: n})
}

func (p *program) computes(unit uint32, n units.Ns) { p.Compute(unit, n) }

const condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"

// passOn submits units on threads of their own: one sleeps and gives an element, for which the next one waits, and so on. Every other one is of
// the second class, and sleeps for nothing.
func (p *program) passOn(first, second string) {
	park, class, before := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue")}), first, uint32(0)
	var all []uint32
	for i := range 10 {
		u := p.unit(class, 0, fmt.Sprint("t", i))
		all = append(all, u)
		if i > 0 && (class == second || first == second) {
			p.Add(u, model.Step{Kind: model.Await, On: before, Wait: park})
		}
		if class == first {
			p.sleep(u, 10*ms)
		}
		before = p.Resource(model.Event, "Event", 1)
		p.Do(u, model.Signal, before)
		if class == first {
			class = second
		} else {
			class = first
		}
	}
	for _, u := range all {
		p.Do(p.main, model.Join, u)
	}
}

// empty adds a wait for an element of a queue that nobody is known to have ended.
func (p *program) empty(unit uint32) {
	p.Add(unit, model.Step{Kind: model.Outside, Len: 90 * ms, Wait: p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue")})})
}

// rounds submits eight parts n times to two workers and waits for all of them each time. last is how long the last one computes.
func (p *program) rounds(n int, last units.Ns) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 2})
	for range n {
		var parts []uint32
		for i := range 8 {
			u := p.unit("Part", pool, fmt.Sprint("w", i%2))
			if parts = append(parts, u); i < 7 {
				p.Compute(u, 5*ms)
			} else {
				p.Compute(u, last)
			}
		}
		for _, u := range parts {
			p.Do(p.main, model.Join, u)
		}
	}
}

// inOrder submits eight parts to eight workers, and takes their results in the same order, each to compute for 5 ms.
func (p *program) inOrder(first, others units.Ns, of string) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 8})
	var parts []uint32
	for i := range 8 {
		u, long := p.unit("Part", pool, fmt.Sprint("w", i)), others
		if i == 0 {
			long = first
		}
		p.sleep(u, long)
		parts = append(parts, u)
	}
	result := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number(of)})
	for _, u := range parts {
		p.Add(p.main, model.Step{Kind: model.Join, On: u, Wait: result})
		p.Compute(p.main, 5*ms)
	}
}

// consume are three loops on workers of a pool: one sleeps for 100 ms less its idle time, and the others for a time, and then wait for elements. The main thread waits for the first.
func (p *program) consume(others, idle units.Ns) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 3})
	element := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue"), Shared: true})
	for i := range 3 {
		u, busy := p.unit("Consume", pool, fmt.Sprint("w", i)), others
		if i == 0 {
			busy = 100*ms - idle
		}
		for range 20 {
			p.sleep(u, busy/20)
		}
		if rest := 100*ms - busy; rest > 0 {
			p.Add(u, model.Step{Kind: model.Outside, Len: rest, Wait: element})
		}
		if i == 0 {
			done := p.Resource(model.Event, "Event", 1)
			p.Do(u, model.Signal, done)
			p.Add(p.main, model.Step{Kind: model.Await, On: done, Wait: p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.CountDownLatch$Sync")})})
		}
	}
}

// bursts puts three times four elements, each as soon as the one before is taken, into a queue that one unit empties in 10 ms for each, and sleeps in between.
func (p *program) bursts(sleep units.Ns) {
	queue := p.Classes.Number("java.util.concurrent.ArrayBlockingQueue")
	element, room := p.Wait(model.Wait{Kind: "park", Class: queue, Shared: true}), p.Wait(model.Wait{Kind: "park", Class: queue, Shared: true, Room: true})
	writer := p.unit("Writer", 0, "writer")
	for range 3 {
		first := p.Resource(model.Event, "Event", 1)
		p.Do(p.main, model.Signal, first)
		p.Add(writer, model.Step{Kind: model.Await, On: first, Wait: element})
		for k := range 4 {
			if p.sleep(writer, 10*ms); k == 3 {
				continue
			}
			taken := p.Resource(model.Event, "Event", 1)
			p.Do(writer, model.Signal, taken)
			p.Add(p.main, model.Step{Kind: model.Await, On: taken, Wait: room})
		}
		p.sleep(p.main, sleep)
	}
	p.Do(p.main, model.Join, writer)
}

// chain are n units that sleep for 10 ms and then submit the next one. The main thread waits for the last.
func (p *program) chain(n, workers int, again bool) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: workers})
	before := p.main
	for i := range n {
		u := p.Unit("Stage", pool)
		p.At(u).Thread, p.At(u).Again = p.Threads.Number(fmt.Sprint("w", i%workers)), again && i > 0
		p.Do(before, model.Submit, u)
		p.sleep(u, 10*ms)
		before = u
	}
	p.Do(p.main, model.Join, before)
}

// unnotified waits three times up to a time limit for what is in a pipe, and then has something to do or not.
func (p *program) unnotified(goesOn bool) {
	u := p.unit("Read", p.Executor(model.Executor{Name: "pool", Workers: 2}), "w0")
	pipe := p.Wait(model.Wait{Kind: "notify", Class: p.Classes.Number("java.io.PipedInputStream")})
	for range 3 {
		p.Add(u, model.Step{Kind: model.Outside, Cause: model.Limit, Len: 30 * ms, Wait: pipe})
		p.Compute(u, ms)
		if goesOn {
			p.Add(u, model.Step{Kind: model.Outside, Cause: model.Time, Len: ms, Wait: p.Wait(model.Wait{Kind: "sleep"})})
		}
	}
	if !goesOn {
		p.Add(u, model.Step{Kind: model.Outside, Cause: model.NotKnown, Len: 30 * ms, Wait: pipe})
	}
	p.Do(p.main, model.Join, u)
}

// pool runs units that sleep on twice as many workers as there are CPUs.
func (p *program) pool(virtual bool) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 4})
	if virtual {
		p.pooled = map[uint32]bool{pool: true}
	}
	for i := range 24 {
		p.sleep(p.unit("Send", pool, fmt.Sprint("w", i%4)), 10*ms)
	}
}

// oneByOne submits ten parts that sleep, and waits for each before it submits the next. also adds to a part.
func (p *program) oneByOne(workers int, also func(unit uint32)) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: workers})
	for i := range 10 {
		u := p.unit("Part", pool, fmt.Sprint("w", i%workers))
		if p.sleep(u, 10*ms); also != nil {
			also(u)
		}
		p.Do(p.main, model.Join, u)
	}
}

// within submits a unit from another one.
func (p *program) within(by uint32) uint32 {
	u := p.Unit("Leaf", 0)
	p.At(u).Thread = p.Threads.Number("leaf")
	p.Do(by, model.Submit, u)
	p.sleep(u, ms)
	return u
}

// putAll puts elements into a queue that one unit empties, slowly.
func (p *program) putAll(full bool) {
	wait := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.ArrayBlockingQueue"), Shared: true, Room: full})
	writer := p.unit("Writer", 0, "writer")
	for range 10 {
		p.sleep(writer, 10*ms)
		e := p.Resource(model.Event, "Event", 1)
		p.Do(writer, model.Signal, e)
		p.Add(p.main, model.Step{Kind: model.Await, On: e, Wait: wait})
	}
	p.Do(p.main, model.Join, writer)
}

// pollAll polls a queue that stays empty, each time up to a time limit, in n units of two workers.
func (p *program) pollAll(n int) {
	wait := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue"), Shared: true})
	pool := p.Executor(model.Executor{Name: "pool", Workers: 2})
	for i := range n {
		u := p.unit("Poll", pool, fmt.Sprint("w", i%2))
		for range 30 / n {
			p.Add(u, model.Step{Kind: model.Outside, Cause: model.Limit, Len: 20 * ms, Wait: wait})
		}
		p.Do(p.main, model.Join, u)
	}
}

// askLoop is a client that asks an event loop twelve times, each time after a pause. The loop sleeps before it answers.
func (p *program) askLoop(sleep, pause units.Ns) {
	loop, client := p.unit("io-loop", 0, "io-loop"), p.unit("Client", 0, "client")
	input := p.Wait(model.Wait{Kind: "io", Site: p.Sites.Number("Client.ask:9")})
	for range 12 {
		asked, answered := p.Resource(model.Event, "Event", 1), p.Resource(model.Event, "Event", 1)
		p.sleep(client, pause)
		p.Do(client, model.Signal, asked)
		p.Do(loop, model.Await, asked)
		p.sleep(loop, sleep)
		p.Do(loop, model.Signal, answered)
		p.Add(client, model.Step{Kind: model.Await, On: answered, Wait: input})
	}
	p.Do(p.main, model.Join, client)
}

// replayers are three threads, of which the first and the others sleep for so long. All then end the wait of the main thread.
func (p *program) replayers(first, others units.Ns) {
	latch := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.CountDownLatch$Sync")})
	for i := range 3 {
		name, sleep := fmt.Sprint("replay-", i), others
		if i == 0 {
			sleep = first
		}
		u, done := p.unit(name, 0, name), p.Resource(model.Event, "Event", 1)
		p.sleep(u, sleep)
		p.Do(u, model.Signal, done)
		p.Add(p.main, model.Step{Kind: model.Await, On: done, Wait: latch})
	}
}

// force are units of three workers that each have a monitor while they wait for a file.
func (p *program) force(class, file string) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 3})
	journal := p.Wait(model.Wait{Kind: "monitor", Class: p.Classes.Number(class), Object: 1, Lock: true})
	disk := p.Wait(model.Wait{Kind: "io", Class: p.Classes.Number(file), Site: p.Sites.Number("Journal.append:9")})
	m := p.Resource(model.Lock, class, 1)
	for i := range 6 {
		u := p.unit("Append", pool, fmt.Sprint("w", i%3))
		p.Add(u, model.Step{Kind: model.Acquire, On: m, Wait: journal})
		p.Add(u, model.Step{Kind: model.Outside, Cause: model.IO, Len: 10 * ms, Wait: disk})
		p.Add(u, model.Step{Kind: model.Release, On: m})
	}
}

// feed hands n units of a length to a pool of two workers, and computes before each of them.
func (p *program) feed(n int, between, each units.Ns) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: 2})
	for i := range n {
		p.Compute(p.main, between)
		p.Compute(p.unit("Job", pool, fmt.Sprint("w", i%2)), each)
	}
}

// startEach starts a thread for each of n units, and waits for its end.
func (p *program) startEach(n int) {
	for i := range n {
		u := p.unit("Job", 0, fmt.Sprint("t", i))
		p.At(u).Latency = ms
		p.Compute(u, ms/10)
		p.Do(p.main, model.Join, u)
	}
}

// crowd is a pool of n workers, each of which runs one unit at the same time on two CPUs, that computes and then sleeps.
func (p *program) crowd(n int, sleep units.Ns) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: n})
	for i := range n {
		u := p.unit("Job", pool, fmt.Sprint("w", i))
		p.Compute(u, 20*ms)
		p.sleep(u, sleep)
	}
}

// meet are two units that wait for each other after each of ten steps, in which one does something for a time, and the other for another time.
func (p *program) meet(class string, does func(unit uint32, n units.Ns), one, other units.Ns) {
	wait := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number(class)})
	a, b := p.unit("Strip", 0, "a"), p.unit("Strip", 0, "b")
	for range 10 {
		does(a, one)
		does(b, other)
		done, too := p.Resource(model.Event, "Event", 1), p.Resource(model.Event, "Event", 1)
		p.Do(a, model.Signal, done)
		p.Do(b, model.Signal, too)
		p.Add(b, model.Step{Kind: model.Await, On: done, Wait: wait})
		p.Add(a, model.Step{Kind: model.Await, On: too, Wait: wait})
	}
	p.Do(p.main, model.Join, a)
}

// serve is a thread that takes an event and runs a unit for it, which sleeps, n times; an event comes every 2 ms.
func (p *program) serve(n int, each units.Ns) {
	loop := p.unit("HTTP-Dispatcher", 0, "HTTP-Dispatcher")
	take := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue"), Shared: true})
	for range n {
		event := p.Resource(model.Event, "Event", 1)
		p.sleep(p.main, 2*ms)
		p.Do(p.main, model.Signal, event)
		p.Add(loop, model.Step{Kind: model.Await, On: event, Wait: take})
		u := p.Unit("Exchange", 0)
		p.At(u).Thread = p.Threads.Number("HTTP-Dispatcher")
		p.Do(loop, model.Submit, u)
		p.sleep(u, each)
		p.Do(loop, model.Join, u)
	}
	p.sleep(p.main, 35*ms) // the thread lives nearly to the end
}

// dispatch is a thread that hands 40 units to a pool, one for each element that it takes from a queue, and runs some of its own.
func (p *program) dispatch(itself int) {
	pool, thread := p.Executor(model.Executor{Name: "pool", Workers: 2}), p.unit("dispatcher", 0, "dispatcher")
	take := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedBlockingQueue"), Shared: true})
	mail := func(executor uint32, on string) uint32 {
		u := p.Unit("Mail", executor)
		p.At(u).Thread = p.Threads.Number(on)
		p.Do(thread, model.Submit, u)
		p.sleep(u, 2*ms)
		return u
	}
	for i := range 40 {
		p.sleep(p.main, 2*ms)
		element := p.Resource(model.Event, "Event", 1)
		p.Do(p.main, model.Signal, element)
		p.Add(thread, model.Step{Kind: model.Await, On: element, Wait: take})
		if i < itself {
			p.Do(thread, model.Join, mail(0, "dispatcher"))
			continue
		}
		mail(pool, fmt.Sprint("w", i%2))
	}
}

// fork is a chain of tasks of a fork/join pool, each of which forks the next one, joins it and then computes.
func (p *program) fork(workers int) {
	pool := p.Executor(model.Executor{Name: "pool", Workers: workers, Order: model.Stealing, Helps: true})
	first := p.unit("Fork", pool, "w")
	for at, n := first, 0; n < 12; n++ {
		u := p.Unit("Fork", pool)
		p.At(u).Thread = p.Threads.Number("w")
		p.Do(at, model.Submit, u)
		p.Do(at, model.Join, u)
		p.Compute(at, 5*ms)
		at = u
	}
	p.Do(p.main, model.Join, first)
}

// gaveUp are units that wait up to a time limit for what they submitted to their own pool, which has no worker for it, or to another one, which throws it away.
func (p *program) gaveUp(own bool) {
	wait := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.FutureTask")})
	pool, other := p.Executor(model.Executor{Name: "pool", Workers: 2}), p.Executor(model.Executor{Name: "other", Workers: 1})
	p.Compute(p.unit("Part", other, "o"), ms)
	for i := range 6 {
		u := p.unit("Report", pool, fmt.Sprint("w", i%2))
		if p.At(u).Left = other + 1; own {
			p.At(u).Left = pool + 1
		}
		p.Compute(u, ms)
		p.Add(u, model.Step{Kind: model.Outside, Cause: model.Limit, Len: 30 * ms, Wait: wait})
		p.Compute(u, ms)
	}
	p.sleep(p.main, 100*ms)
	p.Compute(p.unit("Part", other, "o"), ms)
}

// periods submits a task at a fixed rate to one worker. Each run submits the next one at its end.
func (p *program) periods(period, sleep units.Ns) {
	pool, before := p.Executor(model.Executor{Name: "timer", Workers: 1}), p.main
	for i := range units.Ns(20) {
		u := p.Unit("Tick", pool)
		g := p.At(u)
		g.Thread, g.Timed, g.Fixed, g.Due = p.Threads.Number("timer"), true, true, i*period
		p.sleep(u, sleep)
		p.Do(before, model.Submit, u)
		before = u
	}
	p.Do(p.main, model.Join, before)
}

// latch waits for a latch up to a time limit of 100 ms, five times, each time for a part that computes for 1 ms and then sleeps.
func (p *program) latch(sleep units.Ns) {
	wait := p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.CountDownLatch$Sync")})
	for i := range 5 {
		u := p.unit("Part", 0, fmt.Sprint("t", i))
		p.Compute(u, ms)
		if sleep > 0 {
			p.sleep(u, sleep)
		}
		p.Add(p.main, model.Step{Kind: model.Outside, Cause: model.Limit, Len: 100 * ms, Wait: wait})
	}
}

// jobs submits units that compute.
func (p *program) jobs(class string, executor uint32, thread string, n int, length units.Ns) {
	for range n {
		p.Compute(p.unit(class, executor, thread), length)
	}
}

// summed has 200,000 units on two workers that are only summed up.
func (p *program) summed(computes, took units.Ns) {
	e := p.Executor(model.Executor{Name: "pool", Workers: 2})
	p.Compute(p.main, 100*ms)
	for _, w := range []string{"w1", "w2"} {
		p.Sums = append(p.Sums, model.Sum{Class: p.Classes.Number("Tiny"), Thread: p.Threads.Number(w), Executor: e, To: 100 * ms, Units: 100_000, Queued: 5000 * ms,
			Ran: computes, CPU: computes, Free: 100 * ms, Self: computes, Took: took})
	}
}

// split are two units that divide their work into 2,000 parts each, which compute for so long, in a fork/join pool.
func (p *program) split(each units.Ns) {
	e := p.Executor(model.Executor{Name: "pool", Workers: 2, Helps: true})
	for _, w := range []string{"w1", "w2"} {
		root := p.unit("Fib", e, w)
		for range 2000 {
			part := p.Unit("Fib", e)
			p.At(part).Thread = p.Threads.Number(w)
			p.Do(root, model.Submit, part)
			p.Compute(part, each)
			p.Do(root, model.Join, part)
		}
	}
}

// polls submits jobs to a pool with more workers than CPUs, and four units on virtual threads that wait meanwhile: each gets off its carrier 1,000 times to yield, and so often to
// sleep, and computes for some time in between. All of it takes the carriers 30 ms.
func (p *program) polls(sleeps uint64, between units.Ns) {
	carriers := p.Executor(model.Executor{Name: "carriers", Workers: 2, Leaves: true})
	sleep := p.Wait(model.Wait{Kind: "sleep", Site: p.Sites.Number("Poll.run:7"), Sum: true})
	for i := range 4 {
		p.Add(p.unit("Poll", carriers, fmt.Sprint("v", i)), model.Step{Kind: model.Outside, Cause: model.Time, Len: 90 * ms, Wait: sleep})
	}
	class := p.Classes.Number("Poll")
	p.turns = map[uint32]graph.Turns{class: {Units: 4, Mounts: 4 * (1001 + sleeps), Summed: 4 * sleeps, Computed: 4 * units.Ns(1000+sleeps) * between}}
	p.sums = map[graph.SumOf]graph.Unrecorded{{Class: class, Wait: sleep}: {Waits: 4 * sleeps, Ns: 360 * ms}}
	p.yielding = map[string]map[string]int64{"Poll": {"Poll.run:5": 19, "Poll.run:6": 1}}
	p.cpu = graph.CPUTime{All: 130 * ms, Switching: 30 * ms}
	p.crowd(4, 0)
}

// TestObstacles: small programs whose trouble is known, and some that are well.
func TestObstacles(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(*program)
		want  string
		says  string // in the first title, remedy or outcome
	}{
		{"one worker of two CPUs", func(p *program) {
			p.jobs("Job", p.Executor(model.Executor{Name: "pool", Workers: 1}), "w", 20, 5*ms)
		}, "few-workers", "Predicted with 2 workers: the run takes 50.0 ms (50 % less)"},
		{"one of many executors", func(p *program) {
			for i := range 8 {
				n := 1
				if i == 3 {
					n = 20
				}
				e := p.Executor(model.Executor{Name: fmt.Sprint("shard-", i), Workers: 1})
				p.given[e] = &session.Executor{Class: "java.util.concurrent.ThreadPoolExecutor", File: "Main.java", Line: 9}
				p.jobs("Job", e, fmt.Sprint("w", i), n, 5*ms)
			}
		}, "one-of-many", "Job waits in one of 8 executors made at Main.java:9 (ThreadPoolExecutor), which computes while CPUs are idle"},
		{"each of many executors has its share", func(p *program) {
			for i := range 8 {
				e := p.Executor(model.Executor{Name: fmt.Sprint("shard-", i), Workers: 1})
				p.given[e] = &session.Executor{Class: "java.util.concurrent.ThreadPoolExecutor", File: "Main.java", Line: 9}
				p.jobs("Job", e, fmt.Sprint("w", i), 5, 5*ms)
			}
		}, "", ""},
		{"the last part is the longest", func(p *program) { p.rounds(5, 60*ms) }, "in-rounds", "Predicted if all are submitted first"},
		{"the last of two rounds is the longest", func(p *program) { p.rounds(2, 60*ms) }, "uneven-parts", "main waits for the last and longest of several Part, which computes while CPUs are idle"},
		{"one by one", func(p *program) { p.oneByOne(2, nil) }, "one-by-one", "Predicted if all are submitted first: the run takes 50.0 ms (50 % less)"},
		{"one by one, on one worker", func(p *program) { p.oneByOne(1, nil) }, "", ""},
		{"one by one, and each is a round of its own", func(p *program) {
			p.oneByOne(2, func(u uint32) {
				p.Do(u, model.Join, p.within(u))
			})
		}, "", ""},
		{"a full queue", func(p *program) { p.putAll(true) }, "full-queue", "main waits for room in the full ArrayBlockingQueue: Writer, which empties it, sleeps"},
		{"a queue that is not full", func(p *program) { p.putAll(false) }, "", ""},
		{"a queue into which nobody puts anything", func(p *program) { p.pollAll(30) }, "unanswered", "Poll waits for an element of a LinkedBlockingQueue until its time limit, and none comes"},
		{"a loop that is given nothing", func(p *program) { p.pollAll(1) }, "", ""},
		{"a period that is too short", func(p *program) { p.periods(10*ms, 30*ms) }, "overrun", "Tick takes longer than its period"},
		{"a period that is long enough", func(p *program) { p.periods(40*ms, 30*ms) }, "", ""},
		{"results are taken in the order of submission", func(p *program) { p.inOrder(60*ms, 5*ms, "java.util.concurrent.FutureTask") }, "in-order", "Predicted at best, if it computes meanwhile: the run takes 60"},
		{"all results are there at the same time", func(p *program) { p.inOrder(30*ms, 30*ms, "java.util.concurrent.FutureTask") }, "", ""},
		{"the first result takes long, and there is little to do with the others", func(p *program) { p.inOrder(900*ms, 5*ms, "java.util.concurrent.FutureTask") }, "", ""},
		{"all results are waited for with a latch", func(p *program) { p.inOrder(60*ms, 5*ms, "java.util.concurrent.CountDownLatch$Sync") }, "", ""},
		{"one of several consumers has a queue of its own", func(p *program) { p.consume(10*ms, 0) }, "one-of-many", "main depends on Consume, which sleeps, while 2 units like it have nothing to do for 90 % of that time"},
		{"consumers take turns", func(p *program) { p.consume(50*ms, 50*ms) }, "", ""},
		{"a queue is too short for bursts", func(p *program) { p.bursts(40 * ms) }, "full-queue", "Make the queue as long as a burst, so that both work at the same time. Beyond that only more threads that empty it help, or less to do for each element. Predicted if the queue always has room: the run takes 1"},
		{"each unit submits the next one", func(p *program) { p.chain(8, 4, false) }, "one-by-one", "Each Stage is submitted by the one before, at its end, and sleeps"},
		{"what starting all of a chain gains", func(p *program) { p.chain(8, 4, false) }, "one-by-one", "Predicted if all are submitted first: the run takes 2"},
		{"each unit submits the next one, to the only worker", func(p *program) { p.chain(8, 1, false) }, "", ""},
		{"a task that submits itself again", func(p *program) { p.chain(8, 4, true) }, "one-by-one", "Stage, which submits itself again at its end, sleeps: its runs are one after another"},
		{"nobody notifies who waits with a time limit, and continues", func(p *program) { p.unnotified(true) }, "unanswered", "until its time limit, and nobody notifies it Call flush() after writing"},
		{"who waits with a time limit has nothing to do", func(p *program) { p.unnotified(false) }, "", ""},
		{"a pool of virtual threads", func(p *program) { p.pool(true) }, "occupied", "Its workers are virtual threads, which need no pool"},
		{"a pool as large as it was made for waits", func(p *program) { p.pool(false) }, "", ""},
		{"a method is interpreted", func(p *program) {
			p.Compute(p.main, 100*ms)
			p.computing = map[string]map[string]int64{"main": {"A.rate:7": 9, "A.g:4": 2}}
			p.interpreted = map[string]map[string]int64{"main": {"A.rate": 9}}
		}, "interpreted", "main computes in A.rate, which the JVM does not compile Divide it into smaller methods"},
		{"a method is interpreted now and then", func(p *program) {
			p.Compute(p.main, 100*ms)
			p.computing = map[string]map[string]int64{"main": {"A.rate:7": 2, "A.g:4": 9}}
			p.interpreted = map[string]map[string]int64{"main": {"A.rate": 2}}
		}, "", ""},
		{"even parts", func(p *program) { p.rounds(5, 5*ms) }, "", ""},
		{"a latch that nobody counts down", func(p *program) { p.latch(0) }, "unanswered", "main waits for a CountDownLatch until its time limit: nobody is there to end that"},
		{"a latch that is late", func(p *program) { p.latch(150 * ms) }, "", ""},
		{"many executors of which each is occupied", func(p *program) {
			for i := range 16 {
				e := p.Executor(model.Executor{Name: fmt.Sprint("shard-", i), Workers: 1})
				p.given[e] = &session.Executor{Class: "java.util.concurrent.ThreadPoolExecutor", File: "Main.java", Line: 9}
				p.sleep(p.unit("Slow", e, fmt.Sprint("w", i)), 90*ms)
				p.Compute(p.unit("Quick", e, fmt.Sprint("w", i)), ms)
			}
		}, "occupied", "Quick waits in one of 16 executors made at Main.java:9 (ThreadPoolExecutor), whose worker is in Slow, which sleeps"},
		{"as many workers as CPUs", func(p *program) {
			e := p.Executor(model.Executor{Name: "pool", Workers: 2})
			p.jobs("Job", e, "w1", 10, 5*ms)
			p.jobs("Job", e, "w2", 10, 5*ms)
		}, "", ""},
		{"one worker, and the same units take twice as long in a pool of two", func(p *program) {
			one, two := p.Executor(model.Executor{Name: "one", Workers: 1}), p.Executor(model.Executor{Name: "two", Workers: 2})
			p.jobs("Job", one, "w", 20, 5*ms)
			last := p.unit("Job", one, "w")
			p.Do(p.main, model.Join, last)
			p.jobs("Job", two, "w1", 10, 10*ms)
			p.jobs("Job", two, "w2", 10, 10*ms)
		}, "work-inflation", "Job takes 2.0 times as much CPU time when others compute meanwhile"},
		{"short units beside long ones on all CPUs", func(p *program) {
			many := p.Executor(model.Executor{Name: "many", Workers: 40})
			for i := range 40 {
				p.jobs("Long", many, fmt.Sprint("w", i), 1, 20*ms)
			}
			own := p.Executor(model.Executor{Name: "own", Workers: 1})
			for range 4 {
				u := p.unit("Short", own, "s")
				p.Compute(u, 1*ms)
				p.Do(p.main, model.Join, u)
			}
		}, "crowded", "Short waits for a CPU while Long computes on both CPUs"},
		{"virtual threads keep the carriers", func(p *program) {
			carriers := p.Executor(model.Executor{Name: "carriers", Workers: 2, Leaves: true})
			for range 2 {
				p.Add(p.unit("Pinned", carriers, ""), model.Step{Kind: model.Outside, Cause: model.Time, Len: 90 * ms, Pinned: true})
			}
			p.Compute(p.unit("Quote", carriers, ""), 2*ms)
		}, "occupied", "Quote waits for a carrier, which virtual threads in Pinned keep"},
		{"first in, first out would help the older ones", func(p *program) {
			e := p.Executor(model.Executor{Name: "pool", Workers: 1, Order: model.Stealing})
			first := p.unit("First", e, "w")
			p.Compute(first, 1*ms)
			old := p.Unit("Old", e)
			p.At(old).Thread = p.Threads.Number("w")
			p.Do(first, model.Submit, old)
			p.Compute(old, 1*ms)
			for range 10 {
				u := p.Unit("New", e)
				p.At(u).Thread = p.Threads.Number("w")
				p.Compute(first, 1000)
				p.Do(first, model.Submit, u)
				p.Compute(u, 9*ms)
			}
		}, "order few-workers", "Predicted first in, first out: a unit of Old takes 1.01 ms instead of 91.0 ms (99 % less)"},
		{"a thread that serves others sleeps", func(p *program) {
			loop, park := p.unit("Loop", 0, "io"), p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number("java.util.concurrent.LinkedTransferQueue"), Shared: true})
			for range 12 {
				p.Compute(p.main, 8*ms)
				event := p.Resource(model.Event, "Event", 1)
				p.Do(p.main, model.Signal, event)
				p.Add(loop, model.Step{Kind: model.Await, On: event, Wait: park})
				p.sleep(loop, 7*ms)
			}
		}, "blocked-server", "Loop handles on one thread what others give it, and sleeps there"},
		{"an event loop sleeps, and clients wait for its answers", func(p *program) { p.askLoop(7*ms, 0) }, "blocked-server", "io-loop handles on one thread what others give it, and sleeps there"},
		{"an event loop that is mostly idle", func(p *program) { p.askLoop(ms, 20*ms) }, "", ""},
		{"one of the threads that are alike has all to do", func(p *program) { p.replayers(100*ms, 2*ms) }, "one-of-many", "main depends on replay-0, which sleeps, while 2 threads like it have nothing to do for 98 % of that time"},
		{"threads that are alike share what there is to do", func(p *program) { p.replayers(100*ms, 90*ms) }, "", ""},
		{"who hands over runs much itself", func(p *program) { p.dispatch(10) }, "blocked-server", "dispatcher, which hands units over, runs Mail itself for"},
		{"who hands over runs nothing itself", func(p *program) { p.dispatch(0) }, "", ""},
		{"forks that are joined at once", func(p *program) { p.fork(2) }, "one-by-one", "Fork forks others, and one runs at a time"},
		{"forks on a pool of one worker", func(p *program) { p.fork(1) }, "", ""},
		{"a stream that waits in one part", func(p *program) {
			leaf := p.unit("Leaf", p.Executor(model.Executor{Name: "pool", Workers: 4}), "w")
			p.sleep(leaf, 90*ms)
			p.Do(p.main, model.Join, leaf)
		}, "does-not-split", "Leaf does not run in parallel: one part of it takes 90.0 ms, and sleeps meanwhile"},
		{"what a pool never began before a time limit", func(p *program) { p.gaveUp(true) }, "waits-for-itself", "pool waits for itself"},
		{"what a pool threw away", func(p *program) { p.gaveUp(false) }, "unanswered", "nobody is there to end that"},
		{"idle workers keep the JVM", func(p *program) {
			p.sleep(p.main, 90*ms)
			p.lingering = &graph.Lingering{Executor: "pool", Ns: 5000 * ms, OfNs: 5100 * ms}
		}, "kept-alive", "Idle workers of pool keep the JVM alive for 5.00 s after all is done"},
		{"idle workers keep the JVM for a moment", func(p *program) {
			p.sleep(p.main, 90*ms)
			p.lingering = &graph.Lingering{Executor: "pool", Ns: 500 * ms, OfNs: 600 * ms}
		}, "", ""},
		{"a connection is kept while its unit sleeps", func(p *program) { p.passOn("Order", "Order") }, "held", "Order waits for an element of a LinkedBlockingQueue, held by Order, which sleeps"},
		{"a file is forced under a lock", func(p *program) { p.force("Journal", wait.Forced) }, "held", "Append waits for the monitor of Journal, held by Append, which waits for a file that is forced to disk at Journal.append:9 Have one thread force the file for all that wait"},
		{"elements that another class makes are work", func(p *program) { p.passOn("Make", "Pack") }, "", ""},
		{"units of a pool wait for elements that nobody gives back", func(p *program) {
			e := p.Executor(model.Executor{Name: "pool", Workers: 2})
			p.Compute(p.unit("Order", e, "w1"), 1*ms)
			p.empty(p.unit("Order", e, "w1"))
			p.empty(p.unit("Order", e, "w2"))
		}, "held", "Order waits for an element of a LinkedBlockingQueue"},
		{"a consumer waits for elements", func(p *program) {
			p.empty(p.unit("Consumer", 0, "t"))
			p.Compute(p.main, 90*ms)
		}, "", ""},
		{"the worker sleeps", func(p *program) {
			e := p.Executor(model.Executor{Name: "pool", Workers: 1})
			p.sleep(p.unit("Slow", e, "w"), 90*ms)
			p.Compute(p.unit("Quick", e, "w"), 10*ms)
		}, "occupied", "Quick waits in pool, whose worker is in Slow, which sleeps"},
		{"units of an executor run inside one of another", func(p *program) {
			pool, batching := p.Executor(model.Executor{Name: "pool", Workers: 2}), p.Executor(model.Executor{Name: "batching", Workers: 1})
			batch := p.unit("Batch", pool, "w")
			for range 20 {
				part := p.unit("Part", batching, "w")
				p.Compute(part, 5*ms)
				p.Do(batch, model.Join, part)
			}
		}, "batched", "batching runs units of Part one after another: Batch runs them inside itself, on one thread"},
		{"a stream of one part", func(p *program) {
			p.Compute(p.unit("Leaf", 0, "main"), 95*ms)
			p.Compute(p.unit("Leaf", 0, "w"), 5*ms)
		}, "does-not-split", "Leaf does not run in parallel: one part has 95 % of the work"},
		{"an action for one element at a time", func(p *program) { p.Compute(p.unit("Leaf (forEachOrdered, Main.java:8)", 0, "main"), 95*ms) }, "does-not-split", "do the work in map() before it"},
		{"a stream of two parts", func(p *program) {
			p.Compute(p.unit("Leaf", 0, "main"), 50*ms)
			p.Compute(p.unit("Leaf", 0, "w"), 50*ms)
		}, "", ""},
		{"the collector stops it", func(p *program) {
			p.Pauses.Number("")
			p.Compute(p.main, 50*ms)
			p.Add(p.main, model.Step{Kind: model.Outside, Cause: model.Collector, On: p.Pauses.Number("System.gc()"), Len: 50 * ms})
		}, "collection", "main is stopped by the collector (System.gc())"},
		{"safepoints other than collections stop it", func(p *program) {
			p.Pauses.Number("")
			p.Compute(p.main, 50*ms)
			p.Add(p.main, model.Step{Kind: model.Outside, Cause: model.Collector, On: p.Pauses.Number(graph.Safepoint), Len: 50 * ms})
		}, "collection", "main is stopped by the JVM at safepoints other than collections"},
		{"units that take less than it takes to take one", func(p *program) { p.summed(30*ms, 60*ms) }, "fine-grained", "The tasks of Tiny are too small Give each task more work"},
		{"units that divide their work into parts as small as what it costs to fork one", func(p *program) { p.split(300) }, "fine-grained", "The tasks of Fib are too small"},
		{"units that divide their work into larger parts", func(p *program) { p.split(5000) }, "", ""},
		{"units that are short, but not too short", func(p *program) { p.summed(80*ms, 15*ms) }, "", ""},
		{"a thread computes between the units that it hands over", func(p *program) { p.feed(120, ms, 10_000) }, "slow-producer", "The workers of pool wait for main, which hands them their units"},
		{"a thread that hands over few units", func(p *program) { p.feed(20, 5*ms, 10_000) }, "", ""},
		{"a thread that hands over as fast as they are run", func(p *program) { p.feed(120, ms, 2*ms) }, "", ""},
		{"an executor that runs what it is given in the caller", func(p *program) {
			caller := p.Executor(model.Executor{Name: "caller", Workers: 1})
			for range 120 {
				p.Compute(p.main, ms)
				u := p.unit("Job", caller, "main")
				p.Compute(u, 10_000)
				p.Do(p.main, model.Join, u)
			}
		}, "", ""},
		{"a thread for each unit", func(p *program) { p.startEach(120) }, "thread-churn", "A thread is started for each Job"},
		{"a thread for each unit of one class, and plain calls of another one", func(p *program) {
			for range 200 {
				u := p.unit("Call", 0, "main")
				p.Compute(u, ms/100)
				p.Do(p.main, model.Join, u)
			}
			p.startEach(120)
		}, "thread-churn", "A thread is started for each Job"},
		{"a few threads", func(p *program) { p.startEach(20) }, "", ""},
		{"many workers on two CPUs", func(p *program) { p.crowd(16, 0) }, "pool-too-large", "pool has more workers than keep the CPUs busy Give it 2 workers, unless"},
		{"many workers that wait for as long as they compute", func(p *program) { p.crowd(32, 20*ms) }, "pool-too-large", "Give it 4 workers, unless"},
		{"many workers that wait for longer than they compute", func(p *program) { p.crowd(16, 40*ms) }, "", ""},
		{"few more workers than CPUs", func(p *program) { p.crowd(4, 0) }, "", ""},
		{"parties that meet, of which one has more to do", func(p *program) { p.meet(condition, p.computes, 9*ms, ms) }, "uneven-parts", "Strip waits for a condition until another Strip has computed"},
		{"parties of a barrier, of which one sleeps for longer", func(p *program) { p.meet("CyclicBarrier", p.sleep, 9*ms, ms) }, "uneven-parts", "Strip waits for a CyclicBarrier until another Strip is there, which sleeps"},
		{"who signals a condition sleeps", func(p *program) { p.meet(condition, p.sleep, 9*ms, ms) }, "", ""},
		{"a map computes values of other keys", func(p *program) { p.force("java.util.concurrent.ConcurrentHashMap", "file or pipe") }, "held", "call get() first, or put a future there"},
		{"parties that meet and have as much to do", func(p *program) { p.meet(condition, p.computes, 5*ms, 5*ms) }, "", ""},
		{"one thread runs all that it is given", func(p *program) { p.serve(30, 3*ms) }, "blocked-server", "HTTP-Dispatcher runs each Exchange itself, one after the other"},
		{"one thread runs all that it is given, and waits for more", func(p *program) { p.serve(30, ms/2) }, "", ""},
		{"units that yield again and again", func(p *program) { p.polls(0, 1000) }, "polling", "Poll yields (Thread.yield) at Poll.run:5 again and again on virtual threads, while Job waits for a CPU"},
		{"units that sleep again and again", func(p *program) { p.polls(5000, 1000) }, "polling", "Poll sleeps at Poll.run:7 again and again on virtual threads, while Job waits for a CPU"},
		{"units that yield, and compute in between", func(p *program) { p.polls(0, 50_000) }, "", ""},
		{"one thing that computes alone", func(p *program) { p.Compute(p.main, 100*ms) }, "", ""},
	} {
		a := accountOf(t, c.build)
		if kinds(a) != c.want {
			t.Errorf("%s: %q, want %q: %+v", c.name, kinds(a), c.want, a.Obstacles)
			continue
		}
		if c.want == "" {
			if a.Bound.What == "" {
				t.Errorf("%s: nothing is said of what the time depends on: %+v", c.name, a.Bound)
			}
			continue
		}
		if o := &a.Obstacles[0]; !strings.Contains(o.Title+" "+o.Remedy+" "+o.Outcome(), c.says) {
			t.Errorf("%s: %s %s %s", c.name, o.Title, o.Remedy, o.Outcome())
		}
	}
}

// TestNoMoreWorkers: where units wait for a lock that one of them has while it sleeps, more workers are not proposed.
func TestNoMoreWorkers(t *testing.T) {
	s := &Session{Obstacles: []Obstacle{
		{Kind: Held, why: reason{victim: 3}},
		{Kind: Occupied, why: reason{cause: cause{worker: 3}}},
		{Kind: Occupied, why: reason{cause: cause{worker: 4, holder: 4}}},
		{Kind: Occupied, why: reason{cause: cause{worker: 5, holder: 4}}}, // which waits for those in the other pool
		{Kind: FewWorkers, why: reason{victim: 3}},
	}}
	s.dropWider()
	if got := kinds(s); got != "held occupied" || s.Obstacles[1].why.worker != 4 {
		t.Errorf("%s", got)
	}
}

// TestOtherPrograms: where other programs have the CPUs for which all workers are ready, it is not said that these compute.
func TestOtherPrograms(t *testing.T) {
	a := accountOf(t, func(p *program) {
		e := p.Executor(model.Executor{Name: "pool", Workers: 2})
		for i := range 20 {
			u := p.unit("Job", e, []string{"w1", "w2"}[i%2])
			p.Compute(u, 2*ms)
			p.Add(u, model.Step{Kind: model.Outside, Cause: model.Machine, Len: 8 * ms})
		}
	})
	if want := "other programs, or threads of the JVM, have the CPUs"; a.Bound.What != want || a.Bound.Share < 0.7 {
		t.Errorf("%+v, want %s", a.Bound, want)
	}
}

// TestStopsAtCore: if all workers of a pool sleep, it is said why it does not start more, though it may, also where a pool of that many workers
// for each CPU else passes for made for units that wait.
func TestStopsAtCore(t *testing.T) {
	for _, c := range []struct {
		maximum int32
		bound   int32
		want    string
	}{
		{16, math.MaxInt32, "It has 4 workers. Its core size is 4 and its maximum 16, but it starts workers beyond the core size only when its queue is full, and its LinkedBlockingQueue has no bound: the maximum is never reached."},
		{16, 100, "It has 4 workers. Its core size is 4 and its maximum 16, but it starts workers beyond the core size only when its queue is full: its LinkedBlockingQueue holds 100."},
		{4, math.MaxInt32, ""},
	} {
		a := accountOf(t, func(p *program) {
			e := p.Executor(model.Executor{Name: "pool", Workers: 4})
			p.given = map[uint32]*session.Executor{e: {Core: 4, Maximum: c.maximum, Bound: c.bound, Queue: "java.util.concurrent.LinkedBlockingQueue"}}
			for i := range 40 {
				p.sleep(p.unit("Call", e, fmt.Sprint("w", i%4)), 10*ms)
			}
		})
		switch {
		case c.want == "":
			if len(a.Obstacles) > 0 {
				t.Errorf("maximum %d: %+v", c.maximum, a.Obstacles)
			}
		case len(a.Obstacles) != 1 || !strings.HasPrefix(a.Obstacles[0].Happened, c.want) || !strings.Contains(a.Obstacles[0].Remedy, "a higher core size"):
			t.Errorf("maximum %d: %+v, want %s", c.maximum, a.Obstacles, c.want)
		}
	}
}

// TestCommonPool: its workers at a time are counted, not all that it ever had, and the remedy is not one for pools that the program makes.
func TestCommonPool(t *testing.T) {
	a := accountOf(t, func(p *program) {
		e := p.Executor(model.Executor{Name: "ForkJoinPool.commonPool", Workers: 3})
		p.given = map[uint32]*session.Executor{e: {Maximum: 1}}
		for i := range 40 {
			p.sleep(p.unit("Call", e, fmt.Sprint("w", i%3)), 10*ms)
		}
	})
	if len(a.Obstacles) != 1 || !strings.HasPrefix(a.Obstacles[0].Happened, "It has 1 worker.") {
		t.Errorf("%+v", a.Obstacles)
	}
	a = accountOf(t, func(p *program) {
		e := p.Executor(model.Executor{Name: "ForkJoinPool.commonPool", Workers: 1})
		p.given = map[uint32]*session.Executor{e: {Maximum: 1}}
		for range 40 {
			p.Compute(p.unit("Call", e, "w"), 10*ms)
		}
	})
	if len(a.Obstacles) != 1 || !strings.Contains(a.Obstacles[0].Remedy, "common.parallelism=2), or pass an executor") || strings.Contains(a.Obstacles[0].Remedy, "in order and apart") {
		t.Errorf("%+v", a.Obstacles)
	}
}

// TestUneven: three of four units are bound to one of two executors made at the same place: it is said that the other one is idle, and how
// to use it. Not where the other one has as much to do, or was made elsewhere.
func TestUneven(t *testing.T) {
	for _, c := range []struct {
		first, second int // units
		line          int32
		want          bool
	}{{15, 5, 7, true}, {10, 10, 7, false}, {15, 5, 8, false}} {
		a := accountOf(t, func(p *program) {
			p.given = map[uint32]*session.Executor{}
			for i, n := range []int{c.first, c.second} {
				e := p.Executor(model.Executor{Name: fmt.Sprint("pool-", i), Workers: 1})
				p.given[e] = &session.Executor{Class: "ThreadPoolExecutor", File: "Main.java", Line: []int32{7, c.line}[i]}
				for range n {
					p.sleep(p.unit("Call", e, fmt.Sprint("w", i)), 10*ms)
				}
			}
		})
		const happened, remedy = "A unit is bound to one of these executors: while pool-0 has units, the others are idle for 67 % of the time.", "one executor with 2 workers"
		if len(a.Obstacles) == 0 {
			t.Errorf("%+v: nothing was found", c)
			continue
		}
		if o := &a.Obstacles[0]; strings.HasPrefix(o.Happened, happened) != c.want || strings.Contains(o.Remedy, remedy) != c.want {
			t.Errorf("%+v: %s %s", c, o.Happened, o.Remedy)
		}
	}
}

// TestRoot: a root that is known stands for all, unless hardly any of the draws have it.
func TestRoot(t *testing.T) {
	unknown, sleeps := account.Frame{State: account.NotKnown}, account.Frame{State: account.Sleep}
	for n, want := range map[int]account.Frame{5: unknown, 40: sleeps} {
		w := weight{n: 100, roots: map[account.Frame]int{unknown: 100 - n, sleeps: n}}
		if got := w.root(); got != want {
			t.Errorf("%d of 100 sleep: %+v", n, got)
		}
	}
}

// TestBoundByAnother: what most of the time depends on is followed to what the one does that has it, also if no change of it gains anything.
func TestBoundByAnother(t *testing.T) {
	a := accountOf(t, func(p *program) {
		e := p.Executor(model.Executor{Name: "pool", Workers: 1})
		p.sleep(p.unit("Slow", e, "w"), 90*ms)
		p.Compute(p.unit("Quick", e, "w"), 10*ms)
	})
	if want := "Quick waits in pool, whose worker is in Slow, which sleeps"; a.Bound.What != want {
		t.Errorf("%+v, want %s", a.Bound, want)
	}
}

// TestOneLine: executors that one line makes for units of different classes are not a family: units of one are not meant for the other.
func TestOneLine(t *testing.T) {
	for class, want := range map[string]string{"Scan": "one-of-many", "Request": "few-workers"} {
		a := accountOf(t, func(p *program) {
			for i, c := range []string{"Scan", class} {
				e := p.Executor(model.Executor{Name: fmt.Sprint("pool-", i), Workers: 1})
				p.given[e] = &session.Executor{Class: "java.util.concurrent.ThreadPoolExecutor", File: "Main.java", Line: 9}
				p.jobs(c, e, fmt.Sprint("w", i), 20-19*i, 5*ms)
			}
		})
		if kinds(a) != want {
			t.Errorf("Scan beside %s: %q, want %q", class, kinds(a), want)
		}
	}
}

// TestOneAfterTheOther: an executor that is used when another one of the same line is no longer could not have done its work.
func TestOneAfterTheOther(t *testing.T) {
	a := accountOf(t, func(p *program) {
		for i := range 2 {
			e := p.Executor(model.Executor{Name: fmt.Sprint("pool-", i), Workers: 1 + i})
			p.given[e] = &session.Executor{Class: "java.util.concurrent.ThreadPoolExecutor", File: "Main.java", Line: 9}
			var last uint32
			for range 20 {
				last = p.unit("Job", e, fmt.Sprint("w", i))
				p.Compute(last, 5*ms)
			}
			p.Do(p.main, model.Join, last)
		}
	})
	if kinds(a) != "few-workers" || !strings.HasPrefix(a.Obstacles[0].Title, "pool-0") {
		t.Errorf("%q: %+v", kinds(a), a.Obstacles)
	}
}

// TestFigures: the parts are of the response time, and the shares add up to all of it; bodies of threads count where they are named.
func TestFigures(t *testing.T) {
	a := accountOf(t, func(p *program) {
		p.jobs("Job", p.Executor(model.Executor{Name: "pool", Workers: 1}), "w", 20, 5*ms)
		p.jobs("Other", p.Executor(model.Executor{Name: "other", Workers: 1}), "o", 1, 5*ms)
	})
	match := func(name string) func(string) bool { return func(class string) bool { return class == name } }
	f := a.Figures(match("Job"))
	if f == nil || f.Units != 20 || f.PartNs["compute"] != float64(5*ms) {
		t.Fatalf("%+v", f)
	}
	sum, share, depends := 0.0, 0.0, 0.0
	for state := range f.PartShare {
		sum, share, depends = sum+f.PartNs[state], share+f.PartShare[state], depends+f.DependsShare[state]
	}
	if math.Abs(sum-float64(f.ResponseNs)) > 1e-3*sum || math.Abs(share-1) > 1e-9 || math.Abs(depends-1) > 1e-9 {
		t.Errorf("the parts are %v of %v ns, the shares %v and %v", sum, f.ResponseNs, share, depends)
	}
	if f.PartShare["queue"] < 0.8 || f.DependsShare["compute"] < 0.9 || f.DependsShare["queue"] != 0 {
		t.Errorf("it waits for a worker that computes: %+v", f)
	}
	if all, body, none := a.Figures(nil), a.Figures(match("main")), a.Figures(match("x")); all.Units != 21 || body == nil || none != nil {
		t.Errorf("%+v, %+v, %+v", all, body, none)
	}
}

// TestPlaces: what is waited for, in words.
func TestPlaces(t *testing.T) {
	a := accountOf(t, func(p *program) {
		for _, class := range []string{"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "java.util.concurrent.SynchronousQueue$TransferStack", "java.util.concurrent.FutureTask"} {
			p.Add(p.main, model.Step{Kind: model.Outside, Len: ms, Wait: p.Wait(model.Wait{Kind: "park", Class: p.Classes.Number(class)})})
		}
	})
	var got []string
	for _, p := range a.Classes[0].Parts {
		got = append(got, p.What)
	}
	if text := strings.Join(got, ", "); text != "waits for a condition, waits for an element of a SynchronousQueue, waits for a FutureTask" {
		t.Errorf("%s", text)
	}
}

// TestVictim: an obstacle is about a class of which it is much of the time, not about one that waits longer for it in sum, which is little of its own time.
func TestVictim(t *testing.T) {
	a := accountOf(t, func(p *program) {
		e := p.Executor(model.Executor{Name: "pool", Workers: 1})
		p.sleep(p.unit("Slow", e, "w"), 90*ms)
		var quick uint32
		for range 12 {
			quick = p.unit("Quick", e, "w")
			p.Compute(quick, ms)
		}
		for i := range 20 {
			u := p.unit("Long", 0, fmt.Sprint("t", i))
			p.Do(u, model.Join, quick)
			p.sleep(u, 1500*ms)
		}
	})
	if len(a.Obstacles) == 0 || a.Obstacles[0].Victim != "Quick" || a.Obstacles[0].Share < 0.8 {
		t.Errorf("%+v", a.Obstacles)
	}
}

// TestFewUnits: the bound says that few of many units compute most.
func TestFewUnits(t *testing.T) {
	for long, want := range map[units.Ns]string{50 * ms: "; 4 of its 200 units have 91 % of its CPU time", ms / 10: ""} {
		a := accountOf(t, func(p *program) {
			pool := p.Executor(model.Executor{Name: "pool", Workers: 2})
			for i := range 200 {
				u := p.unit("Mail", pool, fmt.Sprint("w", i%2))
				if p.Compute(u, ms/10); i%50 == 0 {
					p.Compute(u, long)
				}
			}
		})
		if !strings.HasSuffix(a.Bound.What, "in use"+want) {
			t.Errorf("%q, want %q", a.Bound.What, want)
		}
	}
}

// TestWhereItComputes: the bound says where a class was seen to compute, if that is mostly one place and there are samples enough.
func TestWhereItComputes(t *testing.T) {
	for _, c := range []struct {
		seen map[string]int64
		want string
	}{
		{map[string]int64{"A.f:3": 9, "A.g:4": 2}, ", mostly in A.f:3 (82 % of 11 samples)"},
		{map[string]int64{"A.f:3": 5}, ""},
		{map[string]int64{"A.f:3": 2, "A.f:4": 2, "A.f:5": 2, "A.f:6": 2, "A.f:7": 2, "A.g:1": 1}, ", mostly in A.f (91 % of 11 samples)"},
		{map[string]int64{"B.a, called at A.f:3": 3, "B.b, called at A.f:4": 3, "B.c, called at A.f:4": 3, "A.g:1": 3}, ", mostly in A.f and what it calls (75 % of 12 samples)"},
		{map[string]int64{"A.a:1": 4, "A.b:1": 4, "A.c:1": 4, "A.d:1": 4}, ""},
	} {
		a := accountOf(t, func(p *program) {
			p.Compute(p.main, 100*ms)
			p.computing = map[string]map[string]int64{"main": c.seen}
		})
		if want := "one after another: main computes while 1.0 of 2 CPUs are used" + c.want; a.Bound.What != want {
			t.Errorf("%v: %q, want %q", c.seen, a.Bound.What, want)
		}
	}
}
