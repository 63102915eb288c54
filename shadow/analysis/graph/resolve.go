package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// resolve turns the waits that other threads ended into joins and events.
func (a *assembly) resolve() {
	slices.SortFunc(a.left, func(x, y left) int { return cmp.Compare(x.at, y.at) })
	first, submitted := a.submittedBy()
	for n := range a.of {
		joins := submitted[first[n]:first[n+1]]
		a.sleepPolls(n, joins)
		since := a.since(a.rec.units[a.of[n]].start)
		steps, ends := a.stepsOf(n)
		for i := range steps {
			x := &steps[i]
			if x.Kind == graph.Await {
				a.resolveWait(x, &ends[i], n, since)
			}
			since = ends[i].At
			if x.Kind != graph.Join {
				continue
			}
			var joined []uint32
			for len(joins) > 0 && a.since(a.rec.units[joins[0]].end) <= since {
				joined, joins = append(joined, a.rec.units[joins[0]].at-1), joins[1:]
			}
			if len(joined) > 0 {
				a.also = append(a.also, also{uint32(n), uint32(i), joined})
			}
		}
		a.poll(n)
	}
}

// stepsOf are the steps of a unit, and when they end.
func (a *assembly) stepsOf(n int) ([]graph.Step, []graph.Moment) {
	g := a.b.At(uint32(n))
	return a.steps[g.First : g.First+g.N], a.ends[g.First : g.First+g.N]
}

// submittedBy lists the units that each unit n of the graph submitted to run at once, by their ends: who asks for one of them may ask for all. They are list[first[n]:first[n+1]].
func (a *assembly) submittedBy() (first, list []uint32) {
	of := func(u *unitOf) int {
		if u.at == 0 || !u.submittedBy.known() || u.beside || u.timed() {
			return -1
		}
		return int(u.submittedBy.unit - 1)
	}
	first = make([]uint32, len(a.of)+2)
	for i := range a.rec.units {
		if n := of(&a.rec.units[i]); n >= 0 {
			first[n+2]++
		}
	}
	for n := range first[1:] {
		first[n+1] += first[n]
	}
	list = make([]uint32, first[len(first)-1])
	for i := range a.rec.units {
		if n := of(&a.rec.units[i]); n >= 0 { // first[n+1] is where the next goes, and becomes where the next unit's begin
			list[first[n+1]] = uint32(i)
			first[n+1]++
		}
	}
	for n := range a.of {
		slices.SortFunc(list[first[n]:first[n+1]], func(i, j uint32) int { return cmp.Compare(a.rec.units[i].end, a.rec.units[j].end) })
	}
	return first, list
}

// resolveWait makes a wait, which began then, a join, an event, or a time of which nothing is known.
func (a *assembly) resolveWait(x *graph.Step, end *graph.Moment, n int, since units.Ns) {
	w := &a.waits[x.On]
	x.On = 0
	switch {
	case w.unit != 0 && int(a.rec.units[w.unit-1].at)-1 != n && a.onlyEnds(w):
		u := &a.rec.units[w.unit-1]
		x.Kind, x.On, end.By, x.Len = graph.Join, u.at-1, a.after(u.last()), max(0, end.At-a.since(u.end))
	case w.signal.known() && int(w.signal.unit)-1 != n:
		x.On, end.By = w.event, a.after(w.signal)
	case w.begins:
		x.Kind, x.Cause, x.Len = graph.Outside, graph.Thread, end.At-since
	default:
		x.Kind, x.Len = graph.Outside, end.At-since
	}
}

// onlyEnds reports whether the unit that ended a wait did not wait for anything else before its end.
func (a *assembly) onlyEnds(w *waitOf) bool {
	u := &a.rec.units[w.unit-1]
	if u.at == 0 || u.steps == 0 {
		return false
	}
	steps, _ := a.stepsOf(int(u.at) - 1)
	if w.signal.known() {
		steps = steps[min(int(w.signal.step), len(steps)):]
	} else {
		steps = nil
	}
	for _, x := range steps {
		if x.Kind.Waits() {
			return false
		}
	}
	return true
}

// place is where a step is that is known, in the order in which units end.
func (a *assembly) place(r stepRef) uint32 { return a.b.At(r.unit-1).First + r.step }

// after is 1 + the place of a step; 0: it is not known.
func (a *assembly) after(r stepRef) uint32 {
	if !r.known() {
		return 0
	}
	return a.place(r) + 1
}

// finish lays the steps out and makes the recorded schedule.
func (a *assembly) finish() (*Session, error) {
	recorded := &graph.Schedule{Start: make([]graph.Moment, len(a.of))}
	for n, i := range a.of {
		recorded.Start[n] = a.startOf(&a.rec.units[i])
	}
	a.rec.units = nil // to make room
	if err := a.inOrder(recorded.Start); err != nil {
		return nil, err
	}
	recorded.End = a.ends
	out := &Session{Span: a.rec.Span, Given: a.given, Recorded: recorded, Pooled: a.pooled()}
	out.paused, out.collected, out.locked, out.pins = a.paused(), a.collected(), a.locked(), a.rec.pins
	out.pins.carriers = a.carriers != 0
	out.Refused = map[Refusal]int{}
	for k, n := range a.rec.refused {
		if t := a.rec.threads[k.thread]; t != nil && a.pools[k.executor] != 0 {
			out.Refused[Refusal{t.name, a.pools[k.executor]}] += n
		}
	}
	out.CPU, out.Pending = a.rec.cpu, map[uint32]int{}
	for i := range a.rec.pending {
		out.Pending[a.class(a.rec.pending[i].class)]++
	}
	out.Turns, out.Sums = map[uint32]Turns{}, map[SumOf]Unrecorded{}
	for _, class := range slices.Sorted(maps.Keys(a.rec.turns)) {
		out.Turns[a.class(class)] = a.rec.turns[class]
	}
	for _, k := range slices.SortedFunc(maps.Keys(a.rec.sums), compareSumOf) {
		out.Sums[SumOf{a.class(k.Class), a.wait(k.Wait)}] = a.rec.sums[k]
	}
	a.b.Fill(a.steps)
	g, err := a.b.Graph(a.rec.cpus)
	if err != nil {
		return nil, fmt.Errorf("the graph of the session: %w", err)
	}
	out.Graph = g
	findBackground(g, recorded)
	return out, nil
}

// A unit of a thread's own is in the background if it is that of a daemon, or of a thread which had not ended, and nobody waits for its end, or if it is a later run of a periodic task, or
// waits for a time at one place at least leastLooks times, mostlyLook times as often as it does anything else but compute, and continues for mostOfRun, if others do so, too.
const (
	leastLooks = 10
	mostlyLook = 4
	mostOfRun  = 0.9
)

// findBackground finds which threads decide nothing about how long the run takes: these are the others, if they take as long.
func findBackground(g *graph.Graph, recorded *graph.Schedule) {
	joined := map[uint32]bool{}
	for i := range g.Steps {
		if g.Steps[i].Kind == graph.Join {
			joined[g.Steps[i].On] = true
		}
	}
	for i := range g.Units {
		u := &g.Units[i]
		u.Background = (u.Background || u.Timed && u.Again) && !joined[uint32(i)] || looksAgain(g, i)
	}
	others, _ := g.Length(recorded)
	all := others
	for i := range g.Units {
		if g.Units[i].Background {
			all = max(all, g.Finish(recorded, i))
		}
	}
	for i := range g.Units {
		u := &g.Units[i]
		u.Background = u.Background && float64(others) >= mostOfRun*float64(all) && float64(g.Finish(recorded, i)) >= mostOfRun*float64(all)
	}
}

// looksAgain reports whether a unit of a thread's own waits for a time at one place again and again, and seldom does anything else but compute. A poll for something that ends is no such wait.
func looksAgain(g *graph.Graph, unit int) bool {
	u := &g.Units[unit]
	if u.Executor != 0 || u.Thread == 0 || u.Beside {
		return false
	}
	looks, most, others := map[uint32]int{}, 0, 0
	for _, x := range g.StepsOf(unit) {
		switch {
		case x.Kind == graph.Outside && x.Cause == graph.Time && x.Wait != 0:
			looks[x.Wait]++
			most = max(most, looks[x.Wait])
		case x.Kind != graph.Compute && x.Kind != graph.Outside, x.Kind == graph.Outside && x.Cause == graph.IO:
			others++
		}
	}
	return most >= leastLooks && mostlyLook*others <= most
}

func (a *assembly) tooLarge() error {
	return fmt.Errorf("%w: more than %d; choose a shorter time with --from and --to", graph.ErrTooLarge, a.most)
}

// inOrder brings the steps into the order of the units, and adds those of what is joined, too.
func (a *assembly) inOrder(starts []graph.Moment) error {
	more := 0
	for i := range a.also {
		more += len(a.also[i].joined)
	}
	if len(a.steps)+more > a.most {
		return a.tooLarge()
	}
	sorted := a.areInOrder()
	if sorted && more == 0 {
		return nil
	}
	moved := make([]uint32, len(a.steps)) // where each step is then
	steps, ends := a.steps, a.ends
	if !sorted {
		steps, ends = make([]graph.Step, 0, len(a.steps)+more), make([]graph.Moment, 0, len(a.steps)+more)
	}
	steps, ends = slices.Grow(steps, more)[:len(a.steps)+more], slices.Grow(ends, more)[:len(a.steps)+more]
	at, also := uint32(len(steps)), a.also // from the last to the first: where units are in order no step is overwritten before it is moved
	for n := len(a.of) - 1; n >= 0; n-- {
		g := a.b.At(uint32(n))
		end := at
		for k := g.N; k > 0; k-- {
			from := g.First + k - 1
			x, m := a.steps[from], a.ends[from]
			if last := len(also) - 1; last >= 0 && also[last].unit == uint32(n) && also[last].step == k-1 {
				for _, unit := range slices.Backward(also[last].joined) {
					at--
					steps[at], ends[at] = graph.Step{Kind: graph.Join, On: unit, Class: x.Class, Site: x.Site}, m
				}
				also = also[:last]
			}
			at--
			steps[at], ends[at], moved[from] = x, m, at
		}
		g.First, g.N = at, end-at
	}
	for _, list := range [][]graph.Moment{starts, ends} {
		for i := range list {
			if by := &list[i].By; *by != 0 {
				*by = moved[*by-1] + 1
			}
		}
	}
	a.steps, a.ends = steps, ends
	return nil
}

// areInOrder reports whether the steps of each unit follow those of the unit before.
func (a *assembly) areInOrder() bool {
	next := uint32(0)
	for n := range a.of {
		g := a.b.At(uint32(n))
		if g.First != next {
			return false
		}
		next += g.N
	}
	return true
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
		if w := &a.waits[i]; w.lock && w.class != 0 {
			class := a.rec.names.Name(w.class)
			waits[class] = append(waits[class], w.Span)
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
	if u.freed.known() {
		return u.freedAt <= at
	}
	t := a.rec.threads[u.thread]
	i, _ := slices.BinarySearchFunc(t.pieces, at, func(p piece, at units.MonoNs) int { return cmp.Compare(p.To, at+1) })
	return i < len(t.pieces) && (t.pieces[i].waits() || t.pieces[i].From > at)
}

// startOf is when a unit started and what made it possible: its submission, or its worker, whichever was later.
// A worker that was idle had to wake up first: it need not if it comes from another unit.
func (a *assembly) startOf(u *unitOf) graph.Moment {
	g, m := a.b.At(u.at-1), graph.Moment{At: a.since(u.start)}
	due := max(u.submitted, u.due) // from when its worker could run it
	if due == 0 || due > u.start {
		due = u.start
	}
	switch {
	case u.beside: // it is due some time after its submission, not at the end of a wait
		m.By = a.after(u.submittedBy)
	case a.carriers != 0 && g.Executor == a.carriers: // how long it waits for a carrier is up to the replay
		if from := a.carrierFor(due, u.start); from.known() {
			m.By = a.after(from)
		} else if u.submittedBy.known() {
			m.By = a.after(u.submittedBy)
		}
	case u.freed.known() && u.freedAt > due:
		m.By, g.Latency = a.after(u.freed), units.Ns(u.start-u.freedAt)
		g.Took, g.Waited = a.rec.threads[u.thread].took(activity.Span{From: u.freedAt, To: u.start})
	case u.submittedBy.known():
		m.By, g.Wake = a.after(u.submittedBy), units.Ns(u.start-due)
	case a.idle(u, due):
		g.Wake = units.Ns(u.start - due)
	default: // its worker may have done anything until then
		due = u.start
	}
	g.Late, g.Timed, g.Again = u.late && u.again && !u.fixed, u.timed(), u.again
	if u.fixed {
		g.Fixed, g.Due = true, a.since(u.due)
		return m
	}
	if u.submittedBy.known() {
		g.Delay = units.Ns(max(0, due-u.submitted))
	} else {
		g.Delay = a.since(due)
	}
	return m
}
