package graph

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// resolve turns the waits that other threads ended into joins and events.
func (a *assembly) resolve() {
	slices.SortFunc(a.left, func(x, y left) int { return cmp.Compare(x.at, y.at) })
	submitted := a.submittedBy()
	for n := range a.steps {
		at, joins := a.rec.units[a.of[n]].start, submitted[n]
		a.sleepPolls(n, joins)
		for i := range a.steps[n] {
			x := &a.steps[n][i]
			if x.Kind == graph.Await {
				a.resolveWait(x, n, at)
			}
			at = x.end
			if x.Kind != graph.Join {
				continue
			}
			var also []uint32
			for len(joins) > 0 && a.rec.units[joins[0]].end <= x.end {
				also, joins = append(also, a.rec.units[joins[0]].at-1), joins[1:]
			}
			if len(also) > 0 {
				a.also = append(a.also, also)
				x.also = uint32(len(a.also))
			}
		}
		a.poll(n)
	}
}

// submittedBy lists the units that each unit of the graph submitted to run at once, by their ends: who asks for one of them may ask for all.
func (a *assembly) submittedBy() [][]int {
	list := make([][]int, len(a.steps))
	for i := range a.rec.units {
		if u := &a.rec.units[i]; u.at != 0 && u.submittedBy.known && !u.beside && !u.timed() {
			list[u.submittedBy.unit] = append(list[u.submittedBy.unit], i)
		}
	}
	for _, of := range list {
		slices.SortFunc(of, func(i, j int) int { return cmp.Compare(a.rec.units[i].end, a.rec.units[j].end) })
	}
	return list
}

// resolveWait makes a wait, which began then, a join, an event, or a time of which nothing is known.
func (a *assembly) resolveWait(x *stepOf, n int, since units.MonoNs) {
	w := &a.waits[x.wait]
	switch {
	case w.unit != 0 && int(a.rec.units[w.unit-1].at)-1 != n && a.onlyEnds(w):
		u := &a.rec.units[w.unit-1]
		x.Kind, x.On, x.by, x.Len = graph.Join, u.at-1, u.last, units.Ns(max(0, x.end-u.end))
	case w.signal.known && int(w.signal.unit) != n:
		x.On, x.by = w.event, w.signal
	default:
		x.Kind, x.Len = graph.Outside, units.Ns(x.end-since)
	}
}

// onlyEnds reports whether the unit that ended a wait did not wait for anything else before its end.
func (a *assembly) onlyEnds(w *waitOf) bool {
	u := &a.rec.units[w.unit-1]
	if u.at == 0 || !u.last.known {
		return false
	}
	after := uint32(len(a.steps[u.at-1]))
	if w.signal.known {
		after = w.signal.step
	}
	for _, x := range a.steps[u.at-1][after:] {
		if x.Kind.Waits() {
			return false
		}
	}
	return true
}

// finish lays the steps out and makes the recorded schedule.
func (a *assembly) finish() (*Session, error) {
	place, total, err := a.place()
	if err != nil {
		return nil, err
	}
	by := func(r stepRef) uint32 {
		if !r.known {
			return 0
		}
		return place[r.unit][r.step] + 1
	}
	out := &Session{Span: a.rec.Span, Given: a.given, Recorded: &graph.Schedule{End: make([]graph.Moment, 0, total)}}
	all, counts := make([]graph.Step, 0, total), make([]uint32, len(a.steps))
	for n, steps := range a.steps {
		u, first := &a.rec.units[a.of[n]], len(all)
		out.Units = append(out.Units, u.id)
		out.Recorded.Start = append(out.Recorded.Start, a.startOf(u, by))
		for i := range steps {
			x := &steps[i]
			all = append(all, x.Step)
			for _, unit := range a.joined(x) {
				all = append(all, graph.Step{Kind: graph.Join, On: unit, Class: x.Class, Site: x.Site})
			}
			for len(out.Recorded.End) < len(all) {
				out.Recorded.End = append(out.Recorded.End, graph.Moment{At: a.since(x.end), By: by(x.by)})
			}
		}
		counts[n], a.steps[n] = uint32(len(all)-first), nil
	}
	a.b.Fill(all, counts)
	out.paused, out.collected, out.locked, out.pins = a.paused(), a.collected(), a.locked(), a.rec.pins
	out.pins.carriers = a.carriers != 0
	g, err := a.b.Graph(a.rec.cpus)
	if err != nil {
		return nil, fmt.Errorf("the graph of the session: %w", err)
	}
	out.Graph = g
	return out, nil
}

func (a *assembly) tooLarge() error {
	return fmt.Errorf("%w: more than %d; choose a shorter time with --from and --to", graph.ErrTooLarge, a.most)
}

// place is where each step is in the graph, by unit, and how many there are.
func (a *assembly) place() (at [][]uint32, total int, err error) {
	all, at := make([]uint32, 0, a.n), make([][]uint32, len(a.steps))
	for n, steps := range a.steps {
		first := len(all)
		for i := range steps {
			all = append(all, uint32(total))
			total += 1 + len(a.joined(&steps[i]))
		}
		if at[n] = all[first:]; total > a.most {
			return nil, 0, a.tooLarge()
		}
	}
	return at, total, nil
}

// joined are the units that a join is taken to join, too.
func (a *assembly) joined(x *stepOf) []uint32 {
	if x.also == 0 {
		return nil
	}
	return a.also[x.also-1]
}

// paused is how long the program was stopped for each reason.
func (a *assembly) paused() (sums []units.Ns) {
	for _, p := range a.rec.pauses {
		n := int(a.b.Pauses.Number(cmp.Or(p.Cause, Unnamed)))
		sums = append(sums, make([]units.Ns, max(0, n+1-len(sums)))...)
		sums[n] += units.Ns(p.EndNs - p.StartNs)
	}
	return sums
}

// locked is how long any thread waited for a lock of each class.
func (a *assembly) locked() map[string]units.Ns {
	waits := map[string][]activity.Span{}
	for i := range a.waits {
		if w := &a.waits[i]; w.lock && w.class != "" {
			waits[w.class] = append(waits[w.class], w.Span)
		}
	}
	out := map[string]units.Ns{}
	for class, list := range waits {
		slices.SortFunc(list, func(x, y activity.Span) int { return cmp.Compare(x.From, y.From) })
		end := units.MonoNs(0)
		for _, s := range list {
			s.From = max(s.From, end)
			if s.From < s.To {
				out[class], end = out[class]+s.Len(), s.To
			}
		}
	}
	return out
}

// collected is how long the collector computed beside the program.
func (a *assembly) collected() (sum units.Ns) {
	for _, t := range a.rec.beside {
		for i := range t.pieces {
			if t.collector {
				sum += t.pieces[i].run
			}
		}
	}
	return sum
}

func (a *assembly) since(t units.MonoNs) units.Ns { return units.Ns(max(0, t-a.rec.From)) }

// idle reports whether the thread of a unit is known to have had nothing to do at a time: its unit before had ended, it
// waited, or it had not begun.
func (a *assembly) idle(u *unitOf, at units.MonoNs) bool {
	if u.freed.known {
		return u.freedAt <= at
	}
	t := a.rec.threads[u.thread]
	i, _ := slices.BinarySearchFunc(t.pieces, at, func(p piece, at units.MonoNs) int { return cmp.Compare(p.To, at+1) })
	return i < len(t.pieces) && (t.pieces[i].waits() || t.pieces[i].From > at)
}

// startOf is when a unit started and what made it possible: its submission, or its worker, whichever was later.
// A worker that was idle had to wake up first: it need not if it comes from another unit.
func (a *assembly) startOf(u *unitOf, by func(stepRef) uint32) graph.Moment {
	g, m := a.b.At(u.at-1), graph.Moment{At: a.since(u.start)}
	due := max(u.submitted, u.due) // from when its worker could run it
	if due == 0 || due > u.start {
		due = u.start
	}
	switch {
	case u.beside: // it is due some time after its submission, not at the end of a wait
		m.By = by(u.submittedBy)
	case a.carriers != 0 && g.Executor == a.carriers: // how long it waits for a carrier is up to the replay
		if from := a.carrierFor(due, u.start); from.known {
			m.By = by(from)
		} else if u.submittedBy.known {
			m.By = by(u.submittedBy)
		}
	case u.freed.known && u.freedAt > due:
		m.By, g.Latency = by(u.freed), units.Ns(u.start-u.freedAt)
	case u.submittedBy.known:
		m.By, g.Wake = by(u.submittedBy), units.Ns(u.start-due)
	case a.idle(u, due):
		g.Wake = units.Ns(u.start - due)
	default: // its worker may have done anything until then
		due = u.start
	}
	g.Late, g.Timed = u.late && u.again && !u.fixed, u.timed()
	if u.fixed {
		g.Fixed, g.Due = true, a.since(u.due)
		return m
	}
	if u.submittedBy.known {
		g.Delay = units.Ns(max(0, due-u.submitted))
	} else {
		g.Delay = a.since(due)
	}
	return m
}
