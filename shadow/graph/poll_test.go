package graph

import (
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// polling is besideJIT without a compiler and with a thread that looks every 10 ms whether there is something to do, in waits with a time limit. Main ends
// its last wait at 101 ms, when the jobs are done, and waits for its end at 102 ms.
func polling() *recording {
	r := besideJIT(1)
	r.To = 103 * ms
	main := r.threads[1]
	main.pieces = append(main.pieces, run(101, 102), wait(102, 103, activity.Futex, 3, "Thread"))
	t := &threadOf{id: 3, name: "cleaner", start: started{at: 1, by: 1}}
	for at := units.MonoNs(1); at < 91; at += 10 {
		p := wait(at, at+9, activity.Sleeping, 0, "ReferenceQueue.remove")
		p.expired = true
		t.pieces = append(t.pieces, p, run(at+9, at+10))
	}
	t.pieces = append(t.pieces, wait(91, 101, activity.Futex, 1, "ReferenceQueue.remove"), run(101, 103))
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
				r.units = append(r.units, unitOf{id: id, class: "Timed", thread: 4, start: (at + 1) * ms, end: (at + 2) * ms, submitted: at * ms, submitter: 3, executor: 6})
				if r.threads[4] == nil {
					r.executors[6], r.threads[4] = executorOf{name: "timed"}, &threadOf{id: 4, name: "timed", worker: true}
				}
				r.threads[4].units, r.threads[4].pieces = append(r.threads[4].units, len(r.units)-1), append(r.threads[4].pieces, run(at+1, at+2))
			}
		}, 90, 103},
		// It has not ended when the program does: nobody waits for it.
		{"a daemon", func(r *recording) {
			r.To = 102 * ms
			r.threads[1].pieces = r.threads[1].pieces[:len(r.threads[1].pieces)-1]
			d := r.threads[3]
			d.alive = true
			d.pieces[len(d.pieces)-2] = wait(91, 102, activity.Sleeping, 0, "Thread.sleep")
			d.pieces = d.pieces[:len(d.pieces)-1]
			for i := range d.pieces {
				d.pieces[i].expired = false
			}
		}, 51, 65},
	} {
		r := polling()
		c.make(r)
		g, err := assemble(r)
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
	r.threads[7] = &threadOf{id: 7, name: "hook", pieces: []piece{run(101, 111)}, units: []int{len(r.units)}, start: started{at: 101 * ms, by: 99}}
	r.units = append(r.units, unitOf{id: 99, class: "Hook", thread: 7, start: 101*ms + ms/2, end: 111 * ms, submitted: 101 * ms, submitter: 99}) // by a thread of the JVM
	r.startAtEnd(1, 101*ms)
	g, err := assemble(r)
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
	r.threads[3].pieces = []piece{wait(1, 96, activity.Futex, 0, ""), run(96, 97)}
	r.threads[1].pieces[len(r.threads[1].pieces)-1] = wait(102, 103, activity.Sleeping, 0, "")
	g, err := assemble(r)
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
