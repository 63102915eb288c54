package predict

import (
	"errors"
	"slices"
	"testing"

	"stackagent/internal/units"
)

const ms = units.Ns(1_000_000)

// run records n units that were all submitted at 0 and ran on that many workers, one after the
// other, each as u.
func run(n, workers int, wall, cpu, locked units.Ns) Pool {
	p := Pool{Workers: workers, CPUs: 2, By: units.NotMeasured}
	for i := range n {
		from := units.MonoNs(i/workers) * units.MonoNs(wall)
		p.Units = append(p.Units, Unit{Start: from, End: from + units.MonoNs(wall), CPU: cpu, Locked: locked, Thread: uint32(i % workers)})
	}
	return p
}

func TestKnown(t *testing.T) {
	one := run(40, 1, 10*ms, 10*ms, 0)      // 40 units of 10 ms on one worker of two processors
	sleep := run(40, 2, 20*ms, 0, 0)        // 40 units that sleep for 20 ms, on two workers
	turns := run(60, 4, 16*ms, 4*ms, 12*ms) // four workers that take turns: each unit computes 4 ms and waits 12 ms for three others
	coarse := run(1, 1, 500*ms, 500*ms, 0)  // 500 ms on one worker, and 20 units of 5 ms on the other
	coarse.Workers = 2
	for i := range 20 {
		from := units.MonoNs(i) * units.MonoNs(5*ms)
		coarse.Units = append(coarse.Units, Unit{Start: from, End: from + units.MonoNs(5*ms), CPU: 5 * ms, Thread: 1})
	}
	uneven := Pool{Workers: 2, CPUs: 2, Threads: true, By: units.NotMeasured, Units: []Unit{{End: units.MonoNs(500 * ms), CPU: 500 * ms}, {End: units.MonoNs(100 * ms), CPU: 100 * ms, Thread: 1}}}
	gaps := Pool{Workers: 1, CPUs: 2, By: units.NotMeasured} // 100 units of 1 ms, 1 ms apart
	for i := range 100 {
		from := units.MonoNs(2*i) * units.MonoNs(ms)
		gaps.Units = append(gaps.Units, Unit{Start: from, End: from + units.MonoNs(ms), CPU: ms})
	}
	producer := Pool{Workers: 2, CPUs: 2, By: 99 * ms} // a thread computes 1 ms before each of 100 units of 0.1 ms
	for i := range 100 {
		from := units.MonoNs(i) * units.MonoNs(ms)
		producer.Units = append(producer.Units, Unit{Due: from, Start: from, End: from + units.MonoNs(ms/10), CPU: ms / 10, Thread: uint32(i % 2)})
	}
	woken := Pool{Workers: 2, CPUs: 2, By: 99 * ms} // the same, but an idle worker needs 0.5 ms to wake up
	for _, u := range producer.Units {
		u.Start, u.End = u.Start+units.MonoNs(ms/2), u.End+units.MonoNs(ms/2)
		woken.Units = append(woken.Units, u)
	}
	churn := Pool{Workers: 50, CPUs: 2, Threads: true, By: units.NotMeasured} // one thread after the other, 1 ms to start and 1 ms to run
	for i := range 50 {
		from := units.MonoNs(2*i) * units.MonoNs(ms)
		churn.Units = append(churn.Units, Unit{Due: from, Start: from + units.MonoNs(ms), End: from + units.MonoNs(2*ms), CPU: ms, Thread: uint32(i)})
	}
	turns.Lock(0, 0)
	brief := run(40, 2, 20*ms, 20*ms, 0) // two workers compute all the time, and one of them once waited for the other
	brief.Units[1].CPU, brief.Units[1].Locked = 19*ms, ms
	beside := one
	beside.Beside = 400 * ms // another thread has the other processor
	self := wholes()
	for _, c := range []struct {
		name              string
		pool              Pool
		change            Change
		recorded, changed units.Ns
	}{
		{"two workers for one", one, Change{Workers: 2}, 400 * ms, 200 * ms},
		{"three workers on two processors", one, Change{Workers: 3}, 400 * ms, 200 * ms},
		{"twenty workers that sleep", sleep, Change{Workers: 20}, 400 * ms, 40 * ms},
		{"no lock, on two processors", turns, Change{Free: true}, 240 * ms, 120 * ms},
		{"a wait for a lock that does not matter", brief, Change{Workers: 4}, 400 * ms, 399*ms + ms/2},
		{"one unit cut", coarse, Change{Largest: 5 * ms}, 500 * ms, 300 * ms},
		{"threads cut", uneven, Change{Largest: 10 * ms}, 500 * ms, 300 * ms},
		{"nothing between units", gaps, Change{Reuse: true}, 199 * ms, 100 * ms},
		// The submitter is done at once; 9.9 + 0.1 ms of units and 99 ms of its own on two processors.
		{"a submitter's work divided", producer, Change{Shared: true}, 99*ms + ms/10, 54*ms + ms/2},
		// Then no worker is idle before the end: each wakes up once.
		{"a submitter's work divided over workers that had to wake up", woken, Change{Shared: true}, 99*ms + ms*6/10, 55 * ms},
		{"threads reused", churn, Change{Reuse: true, Workers: 1}, 100 * ms, 50 * ms},
		{"a submitter that is cheaper", producer, Change{Cheap: ms}, 99*ms + ms/10, 5 * ms},
		// A worker more gets two thirds of what the other thread leaves free of the processors.
		{"beside a thread", beside, Change{Workers: 2}, 400 * ms, 300 * ms},
		{"parts on a pool of their own", self, Change{Apart: true}, 160 * ms, 80 * ms},
	} {
		got, err := c.pool.Of(c.change)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		off := func(a, b units.Ns) bool { return a > b+b/20+ms/10 || a < b-b/20-ms/10 }
		if got.Recorded != c.recorded || off(got.Unchanged, c.recorded) || off(got.Changed, c.changed) || off(got.Saved(), c.recorded-c.changed) {
			t.Errorf("%s: %+v, want %v and with the change %v", c.name, *got, c.recorded, c.changed)
		}
	}
}

// clients are requests of 16 clients, each of which sends the next one after an answer. A request waits for one of four
// permits, and has it for 5 ms.
func clients(n int) Pool {
	p := Pool{Workers: 16, CPUs: 2, By: units.NotMeasured}
	for i := range n {
		end := units.MonoNs(i/4+1) * units.MonoNs(5*ms)
		due := max(0, end-units.MonoNs(20*ms))
		p.Units = append(p.Units, Unit{Due: due, Start: due, End: end, Locked: units.Ns(end-due) - 5*ms, Thread: uint32(i % 16)})
	}
	return p
}

// TestClients: a server whose clients wait for answers gets done earlier if its requests do.
func TestClients(t *testing.T) {
	p := clients(640)
	p.Lock(0, 800*ms) // someone waits all the time
	got, err := p.Of(Change{Free: true})
	if err != nil || got.Recorded != 800*ms || got.Unchanged != 800*ms || got.Changed != 200*ms {
		t.Errorf("%+v, %v, want 800 ms, and 640 requests of 5 ms, 16 at a time: 200 ms", got, err)
	}
	// The clients compute 1 ms for each request. Without a lock all 16 get their answers at the same time, and take 8 ms on two
	// processors to send the next ones: 5 ms and 39 times 13 ms.
	busy := clients(640)
	busy.Lock(0, 800*ms)
	busy.Beside = 640 * ms
	if got, err = busy.Of(Change{Free: true}); err != nil || got.Unchanged < 800*ms || got.Unchanged > 808*ms || got.Changed != 512*ms {
		t.Errorf("%+v, %v, want 800 ms, and 512 ms", got, err)
	}
	half := clients(640) // a permit is held for half of the request only: the other 2.5 ms come later
	for i := range half.Units {
		half.Units[i].End += units.MonoNs(ms * 5 / 2)
		if i >= 16 {
			half.Units[i].Due += units.MonoNs(ms * 5 / 2)
			half.Units[i].Start += units.MonoNs(ms * 5 / 2)
			half.Units[i].Locked -= ms * 5 / 2
		}
	}
	half.Lock(0, 800*ms)
	got, err = half.Of(Change{Free: true})
	// 40 requests of each client, of 7.5 ms.
	if err != nil || got.Recorded != 802*ms+ms/2 || got.Unchanged < 795*ms || got.Unchanged > 810*ms || got.Changed < 299*ms || got.Changed > 301*ms {
		t.Errorf("%+v, %v, want 802.5 ms, and 300 ms", got, err)
	}
	open := clients(640) // each request comes at its time, whatever becomes of the others
	for i := range open.Units {
		open.Units[i].Due = units.MonoNs(i) * units.MonoNs(5*ms) / 4
		open.Units[i].Start, open.Units[i].End, open.Units[i].Locked = open.Units[i].Due, open.Units[i].Due+units.MonoNs(5*ms), 0
	}
	if got, err = open.Of(Change{Free: true}); err != nil || got.Saved() != 0 {
		t.Errorf("%+v, %v, want the same time", got, err)
	}
}

// wholes are ten units one after the other on a pool of two workers, each with four parts of 4 ms on
// the other worker.
func wholes() Pool {
	p := Pool{Workers: 2, CPUs: 2, By: units.NotMeasured}
	for i := range 10 {
		from := units.MonoNs(i) * units.MonoNs(16*ms)
		p.Units = append(p.Units, Unit{Due: from, Start: from, End: from + units.MonoNs(16*ms)})
		whole := int32(len(p.Units))
		for k := range 4 {
			at := from + units.MonoNs(k)*units.MonoNs(4*ms)
			p.Units = append(p.Units, Unit{Due: from, Start: at, End: at + units.MonoNs(4*ms), CPU: 4 * ms, Thread: 1, Parent: whole})
		}
	}
	return p
}

// TestCannotTell: what the model does not explain has no prediction.
func TestCannotTell(t *testing.T) {
	odd := run(40, 2, 10*ms, 10*ms, 0) // two workers, of which one does nothing for half of the time
	for i := range odd.Units {
		odd.Units[i].Ready = 6 * ms
		odd.Units[i].CPU = 4 * ms
	}
	missing := run(4, 1, ms, ms, 0)
	missing.Missing = true
	for name, c := range map[string]struct {
		pool Pool
		want error
	}{"waited for processors that other programs had": {odd, ErrOff}, "summarised": {missing, ErrMissing}, "none": {Pool{}, ErrNoUnits},
		"CPU time not known": {run(4, 1, ms, units.NotMeasured, 0), ErrNoUnits}, "too many": {run(MaxUnits+1, 1, 10, 10, 0), ErrTooLarge}} {
		got, err := c.pool.Of(Change{})
		if !errors.Is(err, c.want) || errors.Is(err, ErrOff) && *got != (Prediction{200 * ms, 80 * ms, 0}) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestStarts: what a thread takes that starts others includes starting them. If it matters for the prediction, there is none.
func TestStarts(t *testing.T) {
	churn := func(unit, gap units.Ns) *Pool { // one thread after the other, each 1 ms to start; the next one comes some time after its end
		p := &Pool{Workers: 50, CPUs: 2, Threads: true, By: units.NotMeasured}
		at := units.MonoNs(0)
		for i := range 50 {
			start := at + units.MonoNs(ms)
			p.Units = append(p.Units, Unit{Due: at, Start: start, End: start + units.MonoNs(unit), CPU: unit, Thread: uint32(i)})
			at = start + units.MonoNs(unit+gap)
		}
		return p
	}
	change := Change{Reuse: true, Workers: 1, Starts: true}
	if got, err := churn(10*ms, ms).Of(change); err != nil || got.Changed < 549*ms || got.Changed > 550*ms {
		t.Errorf("%+v, %v, want 50 units of 10 ms and 49 times 1 ms", got, err)
	}
	if got, err := churn(2*ms, ms).Of(change); !errors.Is(err, ErrStarts) || got.Unchanged < 199*ms {
		t.Errorf("%+v, %v, want no prediction", got, err)
	}
	asleep := churn(2*ms, ms)
	asleep.By, asleep.Apart = 0, 49*ms // it sleeps between, which a pool does not change
	if got, err := asleep.Of(change); err != nil || got.Changed < 148*ms || got.Changed > 150*ms {
		t.Errorf("%+v, %v, want 50 units of 2 ms and 49 times 1 ms", got, err)
	}
}

// TestReadySubmitter: a submitter that waits for a processor does not wait for the ends of units meanwhile. It computes 0.92 ms
// before each of 100 units and waits 0.07 ms for a processor; a unit ends 0.12 ms after its submission.
func TestReadySubmitter(t *testing.T) {
	p := Pool{Workers: 2, CPUs: 2, By: 92 * ms * 99 / 100, ByReady: 7 * ms * 99 / 100}
	for i := range 100 {
		due := units.MonoNs(i) * units.MonoNs(ms)
		start := due + units.MonoNs(ms/50)
		p.Units = append(p.Units, Unit{Due: due, Start: start, End: start + units.MonoNs(ms/10), CPU: ms / 10, Thread: uint32(i % 2)})
	}
	got, err := p.Of(Change{Shared: true})
	if err != nil || got.Changed < 50*ms || got.Changed > 53*ms { // 91.08 ms of its own and 10 ms of units on two processors
		t.Errorf("%+v, %v, want 51 ms", got, err)
	}
}

// TestRounds: whoever waits until no unit is left waits for all of them, also for those that end last only in the replay. Of the two units of
// a round one has 4 ms more work: the first in every second round, the other in the rest.
func TestRounds(t *testing.T) {
	p := Pool{Workers: 2, CPUs: 4, By: units.NotMeasured}
	for i := range 20 {
		at := units.MonoNs(i) * units.MonoNs(10*ms)
		for k := range 2 {
			n := 10 * ms
			if k == i%2 {
				n = 6 * ms
			}
			p.Units = append(p.Units, Unit{Due: at, Start: at, End: at + units.MonoNs(n), CPU: n, Thread: uint32(k)})
		}
	}
	// The longer unit of a round is cut in two, so that the other one, which is not, ends last.
	got, err := p.Of(Change{Largest: 6 * ms, Workers: 4})
	if err != nil || got.Unchanged != 200*ms || got.Changed != 120*ms {
		t.Errorf("%+v, %v, want 200 ms, and 20 rounds of 6 ms", got, err)
	}
}

// TestSort: parents stay the parents.
func TestSort(t *testing.T) {
	list := []Unit{{Due: 3, Thread: 30, Parent: 3}, {Due: 2, Thread: 20, Parent: 3}, {Due: 1, Thread: 10}}
	Sort(list)
	if list[0].Thread != 10 || list[0].Parent != 0 || list[1].Thread != 20 || list[1].Parent != 1 || list[2].Parent != 1 {
		t.Errorf("%+v", list)
	}
}

// TestClientsAndMore: a few units more for a moment, such as the ends of connections, do not hide that clients wait for answers.
func TestClientsAndMore(t *testing.T) {
	p := clients(640)
	for i := range 6 {
		at := units.MonoNs(101*ms) + units.MonoNs(i)
		p.Units = append(p.Units, Unit{Due: at, Start: at, End: at + units.MonoNs(ms), Thread: uint32(16 + i)})
	}
	slices.SortStableFunc(p.Units, func(a, b Unit) int { return int(a.Due - b.Due) })
	p.Workers += 6
	p.Lock(0, 800*ms)
	got, err := p.Of(Change{Free: true})
	if err != nil || got.Recorded != 800*ms || got.Changed < 200*ms || got.Changed > 220*ms {
		t.Errorf("%+v, %v, want 800 ms, and 640 requests of 5 ms, 16 at a time: 200 ms", got, err)
	}
}

// TestListeners: units whose ends submit the tasks of listeners, which they do not wait for. By hand: one worker takes 400 ms for 20 pairs of 10 ms each, two
// take half.
func TestListeners(t *testing.T) {
	p := run(20, 1, 10*ms, 10*ms, 0)
	for i := range int32(20) {
		from := units.MonoNs(20+i) * units.MonoNs(10*ms)
		p.Units = append(p.Units, Unit{Due: p.Units[i].End - 1, Start: from, End: from + units.MonoNs(10*ms), CPU: 10 * ms, Parent: i + 1})
	}
	got, err := p.Of(Change{Workers: 2})
	if err != nil || got.Unchanged != 400*ms || got.Changed != 200*ms {
		t.Errorf("%+v (%v), by hand 400 ms and 200 ms", got, err)
	}
}
