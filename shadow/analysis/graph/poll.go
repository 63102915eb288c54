package graph

import (
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// lateEnd is the share of a recording for which it may last after the program's main thread has ended.
const lateEnd = 0.02

// endsWithMain reports whether the recording goes on to the program's end, and that is the end of the main thread.
func (r *reader) endsWithMain() bool {
	_, end := r.main()
	late := units.Ns(r.rec.To - end)
	return end != 0 && late >= 0 && float64(late) <= lateEnd*float64(r.rec.Len())
}

// main is the main thread, and when it ended; 0: it did not, or is not known.
func (r *reader) main() (id uint32, end units.MonoNs) {
	for i := range r.s.Threads {
		if t := &r.s.Threads[i]; t.Kind == session.KindMain {
			return t.ID, t.EndNs
		}
	}
	return 0, 0
}

// startAtEnd makes the end of the main thread the cause of threads that begin after it, and of which no thread of the program is known to have started them: the
// JVM starts the shutdown hooks.
func (rec *recording) startAtEnd(main uint32, end units.MonoNs) {
	of := rec.threads[main]
	if end == 0 || of == nil || len(of.pieces) == 0 {
		return
	}
	for _, t := range rec.threads {
		if rec.threads[t.start.by] == nil && len(t.pieces) > 0 && t.pieces[0].From >= end {
			t.start.by, t.start.at = main, of.pieces[len(of.pieces)-1].To
		}
	}
}

// poll makes waits of a unit take no time in a replay if it would poll less often in a shorter run: those that reached their time limit, if the
// unit then had no effect on others before it waited again for something that came. What it waited for then is in the graph. The same holds
// of all waits at the end of a thread that nobody waits for.
func (a *assembly) poll(n int) {
	steps, _ := a.stepsOf(n)
	from := 0
	for i := range steps {
		switch x := &steps[i]; {
		case a.effect(x):
			polls(steps[from:i])
			from = i + 1
		case x.Kind.Waits() || x.Kind == graph.Outside && (x.Cause == graph.NotKnown || x.Cause == graph.IO):
			polls(steps[from:i])
			skip(steps[from:i], graph.Limit, graph.Poll)
			from = i + 1
		case x.Kind == graph.Outside && x.Cause == graph.Time:
			from = i + 1
		}
	}
	if u := &a.rec.units[a.of[n]]; !u.beside && a.rec.threads[u.thread].alive && u.body {
		for from = len(steps); from > 0 && !a.effect(&steps[from-1]); {
			from--
		}
		skip(steps[from:], graph.Limit, graph.Poll, graph.Time, graph.IO, graph.NotKnown)
	}
}

// polls marks the waits that reached their time limit, but for the last one.
func polls(steps []graph.Step) {
	last := -1
	for i := range steps {
		if x := &steps[i]; x.Kind == graph.Outside && x.Cause == graph.Limit {
			if last >= 0 {
				steps[last].Cause = graph.Poll
			}
			last = i
		}
	}
}

// effect reports whether a step makes something possible for other units of the program.
func (a *assembly) effect(x *graph.Step) bool {
	return x.Kind == graph.Signal || x.Kind == graph.Release || x.Kind == graph.Submit && !a.rec.units[a.of[x.On]].beside
}

// skip makes steps that wait for a cause take no time.
func skip(steps []graph.Step, causes ...graph.Cause) {
	for i := range steps {
		if x := &steps[i]; x.Kind == graph.Outside && slices.Contains(causes, x.Cause) {
			x.Len = 0
		}
	}
}

// Sleeps in a row at one place are polls if the unit computes for at most mostComputed of them in between, and if it is unlikely that each row ended by chance
// just after the unit that it seems to be for: of n sleeps the last one is as likely as any other.
const (
	mostComputed = 0.1
	mostChance   = 0.05
)

// row is some sleeps at one place.
type row struct {
	from, last int     // steps
	child      *unitOf // whose end it may be for; nil: none
	sleeps     int
}

// sleepPolls makes the last of some sleeps in a row a join, and the others polls: those of a unit that, in between, does nothing for others and hardly
// computes, and that always continues after the first sleep in which the end of a unit falls that it submitted before. children are those that it submitted, by
// their ends.
func (a *assembly) sleepPolls(n int, children []uint32) {
	if len(children) == 0 {
		return
	}
	rows, chance := map[uint32][]row{}, map[uint32]float64{} // by place
	steps, _ := a.stepsOf(n)
	for from := 0; from < len(steps); from++ {
		if !a.sleeps(&steps[from]) {
			continue
		}
		x, open := a.row(n, from, children)
		place := steps[from].Wait
		switch _, known := chance[place]; {
		case x.child == nil && open: // it did not wait for it
			chance[place] = 2
		case !known:
			chance[place] = 1
		}
		if x.child != nil {
			rows[place], chance[place] = append(rows[place], x), chance[place]/float64(x.sleeps)
		}
		from = x.last
	}
	for place, list := range rows {
		if chance[place] > mostChance {
			continue
		}
		for _, x := range list {
			a.polled(n, x)
		}
	}
}

// polled makes a row of sleeps wait for a unit's end.
func (a *assembly) polled(n int, of row) {
	steps, ends := a.stepsOf(n)
	child := of.child
	for k := of.from; k < of.last; k++ {
		if x := &steps[k]; a.sleeps(x) {
			x.Cause, x.Len, x.On = graph.Poll, 0, child.at
		}
	}
	x := &steps[of.last]
	x.Kind, x.Cause, x.On, x.Len = graph.Join, 0, child.at-1, ends[of.last].At-a.since(child.end)
	ends[of.last].By = a.after(child.last())
}

// row are the sleeps in a row from a step on; open: a unit that was submitted before had not ended when it began, and did so not in the last sleep.
func (a *assembly) row(n, from int, children []uint32) (x row, open bool) {
	steps, ends := a.stepsOf(n)
	end := func(k int) units.MonoNs { return a.rec.From + units.MonoNs(ends[k].At) }
	first := a.rec.units[a.of[n]].start
	if from > 0 {
		first = end(from - 1)
	}
	x.from, x.last = from, from
	at, since, slept := first, first, units.Ns(0) // since: the last sleep
	computed, before := units.Ns(0), units.Ns(0)  // before: until the last sleep
	for k := from; k < len(steps); k++ {
		switch s := &steps[k]; {
		case a.sleeps(s) && s.Wait == steps[from].Wait:
			x.last, x.sleeps, since, slept, before = k, x.sleeps+1, at, slept+units.Ns(end(k)-at), computed
		case s.Kind == graph.Compute:
			computed += s.Len
		case s.Kind == graph.Outside && (s.Cause == graph.Machine || s.Cause == graph.Collector):
		default:
			k = len(steps) - 1
		}
		at = end(k)
	}
	child, open := a.polledFor(children, first, since, end(x.last))
	if float64(before) <= mostComputed*float64(slept) {
		x.child = child
	}
	return x, open
}

func (a *assembly) sleeps(x *graph.Step) bool {
	return x.Kind == graph.Outside && x.Cause == graph.Time && x.Wait != 0 && a.b.WaitOf(x.Wait).Kind == "sleep" && !a.b.WaitOf(x.Wait).Sum
}

// polledFor is the unit for whose end somebody slept again and again: it was submitted before, ended within the last sleep, and of the others none ended since the
// first sleep, or all had ended. nil: there is none. open: one had not ended when the first sleep began.
func (a *assembly) polledFor(children []uint32, first, since, end units.MonoNs) (child *unitOf, open bool) {
	others, later := false, false
	for _, i := range children {
		u := &a.rec.units[i]
		switch {
		case u.submitted > first || u.end <= first:
			continue
		case u.end > end:
			later = true
		case u.end > since:
			others = others || child != nil
			child = u
		default:
			others = true
		}
		open = true
	}
	if child == nil || child.at == 0 || child.steps == 0 || later && others {
		return nil, open
	}
	return child, open
}
