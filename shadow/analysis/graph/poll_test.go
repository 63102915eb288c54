package graph

import (
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// polling is besideJIT without a compiler and with a thread that looks every 10 ms whether there is something to do, in waits with a time limit. Main ends
// its last wait at 101 ms, when the jobs are done, and waits for its end at 102 ms.
func polling() *recording {
	r := besideJIT(1)
	r.To = 103 * ms
	main := r.threads[1]
	main.pieces = append(main.pieces, run(101, 102), awaits(102, 103, activity.Futex, 3, "Thread"))
	t := &threadOf{id: 3, name: "cleaner", start: started{at: 1, by: 1}}
	for at := units.MonoNs(1); at < 91; at += 10 {
		p := awaits(at, at+9, activity.Sleeping, 0, "ReferenceQueue.remove")
		p.expired = true
		t.pieces = append(t.pieces, p, run(at+9, at+10))
	}
	t.pieces = append(t.pieces, awaits(91, 101, activity.Futex, 1, "ReferenceQueue.remove"), run(101, 103))
	r.threads[3] = t
	return r
}

// TestExpired: whoever polls until the end polls less often if the end comes earlier. By hand: two workers take 50 ms instead of 100, main 3 ms.
func TestExpired(t *testing.T) {
	for _, c := range []struct {
		name        string
		make        func(r *recording)
		least, most units.Ns
	}{
		{"polls", func(*recording) {}, 52, 65}, // 9 times 1 ms of polling compete with two workers
		{"sleeps", func(r *recording) {
			for i := range r.threads[3].pieces {
				r.threads[3].pieces[i].expired = false
			}
		}, 90, 103},
		// Each time it has waited it starts something: what is timed remains.
		{"does something", func(r *recording) {
			for at := units.MonoNs(10); at < 91; at += 10 {
				id := uint64(100 + at)
				r.units = append(r.units, unitOf{id: id, class: named("Timed"), thread: 4, start: (at + 1) * ms, end: (at + 2) * ms, submitted: at * ms, submitter: 3, executor: 6})
				if r.threads[4] == nil {
					r.executors[6], r.threads[4] = executorOf{name: "timed"}, &threadOf{id: 4, name: "timed", worker: true}
				}
				r.threads[4].units, r.threads[4].pieces = append(r.threads[4].units, uint32(len(r.units)-1)), append(r.threads[4].pieces, run(at+1, at+2))
			}
		}, 90, 103},
		// It has not ended when the program does: nobody waits for it.
		{"a daemon", func(r *recording) {
			r.To = 102 * ms
			r.threads[1].pieces = r.threads[1].pieces[:len(r.threads[1].pieces)-1]
			d := r.threads[3]
			d.alive = true
			d.pieces[len(d.pieces)-2] = awaits(91, 102, activity.Sleeping, 0, "Thread.sleep")
			d.pieces = d.pieces[:len(d.pieces)-1]
			for i := range d.pieces {
				d.pieces[i].expired = false
			}
		}, 51, 65},
	} {
		r := polling()
		c.make(r)
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		recorded, _ := g.Length(g.Recorded)
		for i, e := range g.Executors {
			if e.Name != "pool" {
				continue
			}
			p, err := replay.Predict(g.Graph, recorded, replay.Change{Pool: map[uint32]int{uint32(i): 2}})
			if err != nil || p.Why != nil || p.Expected() < c.least*ms || p.Expected() > c.most*ms {
				t.Errorf("%s: predicted %v (%v, %v), by hand %d to %d ms", c.name, p.Expected(), p.Why, err, c.least, c.most)
			}
		}
	}
}

// TestHooks: what the JVM starts when main has ended starts earlier if main ends earlier.
func TestHooks(t *testing.T) {
	r := besideJIT(1)
	r.To = 111 * ms
	r.threads[7] = &threadOf{id: 7, name: "hook", pieces: []piece{run(101, 111)}, units: []uint32{uint32(len(r.units))}, start: started{at: 101 * ms, by: 99}}
	r.units = append(r.units, unitOf{id: 99, class: named("Hook"), thread: 7, start: 101*ms + ms/2, end: 111 * ms, submitted: 101 * ms, submitter: 99}) // by a thread of the JVM
	r.startAtEnd(1, 101*ms)
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	recorded, _ := g.Length(g.Recorded)
	for i, e := range g.Executors {
		if e.Name != "pool" {
			continue
		}
		p, err := replay.Predict(g.Graph, recorded, replay.Change{Pool: map[uint32]int{uint32(i): 2}})
		if err != nil || p.Why != nil || p.Expected() < 60*ms || p.Expected() > 62*ms {
			t.Errorf("predicted %v (%v, %v), by hand 61 ms", p.Expected(), p.Why, err)
		}
	}
}

// TestUnknownWithTheChange: main also joins a thread that waits until 96 ms, and nobody knows for what. Nothing of that is on the path of the run; with two
// workers it is most of the path.
func TestUnknownWithTheChange(t *testing.T) {
	r := polling()
	r.threads[3].pieces = []piece{awaits(1, 96, activity.Futex, 0, ""), run(96, 97)}
	r.threads[1].pieces[len(r.threads[1].pieces)-1] = awaits(102, 103, activity.Sleeping, 0, "")
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range g.Executors {
		if e.Name != "pool" {
			continue
		}
		p, err := g.Predict(replay.Change{Pool: map[uint32]int{uint32(i): 2}})
		if err != nil || p.Why == nil || !strings.Contains(p.Why.Error(), "with the change, 9") {
			t.Errorf("%+v, %v; want cannot tell: over 90 %% of the path would be not known", p, err)
		}
	}
}

// predictTwo is what a recording of besideJIT takes with two workers.
func predictTwo(t *testing.T, r *recording) *replay.Prediction {
	t.Helper()
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	recorded, _ := g.Length(g.Recorded)
	for i, e := range g.Executors {
		if e.Name != "pool" {
			continue
		}
		p, err := replay.Predict(g.Graph, recorded, replay.Change{Pool: map[uint32]int{uint32(i): 2}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Fatal("no pool")
	return nil
}

// TestCutWait: the last job submits a task of 1 ms, for which main waits. The scheduling record cuts this wait into parts, each of which says who ended it.
// Two workers take half as long.
func TestCutWait(t *testing.T) {
	r, main := besideJIT(1), &threadOf{id: 1, name: "main"}
	r.To = 102 * ms
	r.executors[6] = executorOf{name: "report"}
	r.units = append(r.units, unitOf{id: 50, class: named("Report"), thread: 3, start: 101 * ms, end: 102 * ms, submitted: 101*ms - 1, submitter: 2, executor: 6})
	r.threads[3] = &threadOf{id: 3, name: "reporter", worker: true, units: []uint32{uint32(len(r.units) - 1)}, pieces: []piece{run(101, 102)}}
	main.add(run(0, 1))
	for _, part := range [][2]units.MonoNs{{1, 36}, {36, 66}, {66, 102}} {
		main.add(awaits(part[0], part[1], activity.Futex, 3, ""))
	}
	r.threads[1] = main
	if p := predictTwo(t, r); p.Why != nil || p.Expected() < 51*ms || p.Expected() > 53*ms {
		t.Errorf("predicted %v (%v), by hand 52 ms", p.Expected(), p.Why)
	}
}

// heartbeat is besideJIT with a task that main submits at 1 ms to run later, for 1 ms. It ends the wait of a loop, which computes for 1 ms, waits for the
// jobs and computes for 1 ms more. Main waits for the loop.
func heartbeat(at units.MonoNs) *recording {
	r := besideJIT(1)
	r.To = 103 * ms
	r.executors[6] = executorOf{name: "timer"}
	r.units = append(r.units, unitOf{id: 50, class: named("Beat"), thread: 3, start: at * ms, end: (at + 1) * ms, submitted: 1 * ms, submitter: 1, due: at * ms, executor: 6})
	r.threads[3] = &threadOf{id: 3, name: "beats", worker: true, units: []uint32{uint32(len(r.units) - 1)}, pieces: []piece{awaits(1, at, activity.Sleeping, 0, ""), run(at, at+1)}}
	r.threads[4] = &threadOf{id: 4, name: "loop", start: started{at: 1, by: 1}, pieces: []piece{
		awaits(1, at+1, activity.Futex, 3, "Queue.take"), run(at+1, at+2), awaits(at+2, 101, activity.Futex, 2, "Queue.take"), run(101, 102)}}
	r.threads[1].pieces[1] = awaits(1, 102, activity.Futex, 4, "Thread")
	r.threads[1].pieces = append(r.threads[1].pieces, run(102, 103))
	return r
}

// TestHeartbeat: a run that is done before a periodic task is due does not wait for it, although the recorded one handled it first. By hand it takes 54 ms with
// two workers: 1, 50 for the jobs and 3 for the beat's and the jobs' handling and main. If the beat is waited for, it takes until the beat and 4 ms.
func TestHeartbeat(t *testing.T) {
	for _, c := range []struct{ at, least, most units.MonoNs }{
		{20, 53, 54},
		{60, 58, 59}, // between 53 and 64
		{90, 0, 0},   // 53 or 94
	} {
		p := predictTwo(t, heartbeat(c.at))
		switch {
		case c.most == 0 && (p.Why == nil || !strings.Contains(p.Why.Error(), "periodic tasks")):
			t.Errorf("a beat at %d ms: predicted %v, %v; want cannot tell because of periodic tasks", c.at, p.Expected(), p.Why)
		case c.most != 0 && (p.Why != nil || p.Expected() < units.Ns(c.least)*ms || p.Expected() > units.Ns(c.most)*ms):
			t.Errorf("a beat at %d ms: predicted %v (%v), by hand %d to %d ms", c.at, p.Expected(), p.Why, c.least, c.most)
		}
	}
}

// TestTimer: main waits for a task that is due at 150 ms, long after the jobs: the time of that decides, and remains.
func TestTimer(t *testing.T) {
	r := heartbeat(150)
	r.To = 153 * ms
	r.threads[4].pieces = []piece{awaits(1, 151, activity.Futex, 3, "Queue.take"), run(151, 152)}
	r.threads[1].pieces = []piece{run(0, 1), awaits(1, 152, activity.Futex, 4, "Thread"), run(152, 153)}
	if p := predictTwo(t, r); p.Why != nil || p.Expected() < 152*ms || p.Expected() > 153*ms {
		t.Errorf("predicted %v (%v), by hand 153 ms", p.Expected(), p.Why)
	}
}

// TestJoinsOfTimedTasks: who waits for one of its tasks may ask for all of them, but not for those that run later. Main waits for the jobs only.
func TestJoinsOfTimedTasks(t *testing.T) {
	r := heartbeat(60)
	r.threads[1].pieces[1].by, r.threads[1].pieces[1].To = 2, 101*ms
	r.threads[1].pieces[2] = run(101, 103)
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	joined := 0
	for _, s := range g.StepsOf(0) {
		if s.Kind == graph.Join {
			joined++
			if g.Graph.Units[s.On].Timed {
				t.Error("main joins the beat")
			}
		}
	}
	if joined < 10 || g.Threads[g.Graph.Units[0].Thread] != "main" {
		t.Errorf("%s joins %d tasks, main has 10", g.Threads[g.Graph.Units[0].Thread], joined)
	}
}

// TestPolls: the thread that polls starts something after its last poll, in the middle of the jobs. What it polled for may be there earlier if the jobs
// are done earlier, or not.
func TestPolls(t *testing.T) {
	r := polling()
	d := r.threads[3]
	d.pieces = append(d.pieces[:len(d.pieces)-2], run(91, 92), awaits(92, 101, activity.Futex, 1, "ReferenceQueue.remove"), run(101, 103))
	r.executors[6], r.threads[4] = executorOf{name: "cleaning"}, &threadOf{id: 4, name: "cleaning", worker: true, units: []uint32{uint32(len(r.units))}, pieces: []piece{run(92, 93)}}
	r.units = append(r.units, unitOf{id: 60, class: named("Clean"), thread: 4, start: 92 * ms, end: 93 * ms, submitted: 92*ms - 1, submitter: 3, executor: 6})
	if p := predictTwo(t, r); p.Why == nil || !strings.Contains(p.Why.Error(), "time limits") {
		t.Errorf("predicted %v (%v); want cannot tell: 55 ms, or 93", p.Expected(), p.Why)
	}
}

// sleeper submits a job at 1 ms, which a worker computes from 1 ms to jobEnds, and sleeps for 20 ms at a time, with 1 ms between, 24 times, from 1 ms to 504 ms.
func sleeper(jobEnds units.MonoNs) *recording {
	r := &recording{Span: activity.Span{From: 0, To: 510 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}}
	r.units = []unitOf{{id: 1, class: named("Job"), thread: 2, start: 1 * ms, end: jobEnds * ms, submitted: 1 * ms, submitter: 1, executor: 5}}
	main := &threadOf{id: 1, name: "main", pieces: []piece{run(0, 1)}}
	for at := units.MonoNs(1); at < 504; at += 21 {
		p := awaits(at, at+20, activity.Sleeping, 0, "")
		p.wait = r.note(waitInfo{site: "Main.main:5", kind: "sleep"})
		main.pieces = append(main.pieces, p, run(at+20, at+21))
	}
	main.pieces = append(main.pieces, run(505, 510))
	r.threads = map[uint32]*threadOf{1: main, 2: {id: 2, name: "worker", worker: true, units: []uint32{0}, pieces: []piece{awaits(0, 1, activity.Futex, 1, ""), run(1, jobEnds)}}}
	return r
}

// TestSleepPolls: main sleeps 24 times in a row. If the job ends in the last of the sleeps, main polled for its end, and goes on that much too late.
func TestSleepPolls(t *testing.T) {
	for _, c := range []struct {
		name    string
		jobEnds units.MonoNs
		change  func(*recording)
		late    units.Ns // -1: it does not poll
	}{
		{"the end is in the last sleep", 490, nil, 14 * ms},
		{"the end is before", 50, nil, -1},
		{"the end is after all", 506, nil, -1},
		{"the job is none of its own", 490, func(r *recording) { r.units[0].submitter = 7 }, -1},
		{"it sleeps at two places", 490, func(r *recording) {
			r.threads[1].pieces[25].wait = r.note(waitInfo{site: "Main.main:6", kind: "sleep"})
		}, -1},
		{"it computes in between", 490, func(r *recording) {
			for i := 1; i < 48; i += 4 {
				p := &r.threads[1].pieces[i]
				*p = run(p.From/ms, p.To/ms)
			}
		}, -1},
	} {
		r := sleeper(c.jobEnds)
		if c.change != nil {
			c.change(r)
		}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		late, polls := units.Ns(-1), 0
		for i := range g.Graph.Units {
			for _, x := range g.StepsOf(i) {
				switch {
				case x.Kind == graph.Join && x.Wait != 0:
					late = x.Len
				case x.Kind == graph.Outside && x.Cause == graph.Poll && x.On != 0:
					polls++
				}
			}
		}
		if late != c.late || c.late >= 0 && polls != 23 || c.late < 0 && polls != 0 {
			t.Errorf("%s: %v late after %d polls, want %v", c.name, late, polls, c.late)
		}
		if p, err := g.Predict(replay.Change{Prompt: true}); c.late >= 0 && (err != nil || p.Why != nil || p.Recorded-p.Expected() < 13*ms || p.Recorded-p.Expected() > 16*ms) {
			t.Errorf("%s: predicted %+v (%v), by hand 14 ms less", c.name, p, err)
		}
	}
}
