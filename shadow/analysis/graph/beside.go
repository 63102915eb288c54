package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// What the JVM's own threads compute is divided into windows of at least so long, and at most so many.
const (
	leastWindow = units.Ns(1_000_000)
	mostWindows = 2000
)

// firstBeside numbers the JVM's own threads and their executors: beyond any of the session.
const firstBeside = 1 << 31

// threadsBeside are the threads of the JVM that compute beside the program, by their index in the scheduling record: not those
// that work while the program stands still.
func (r *reader) threadsBeside(a *session.Activity) []*threadOf {
	list := make([]*threadOf, len(a.Threads))
	for i := range a.Threads {
		switch t := &a.Threads[i]; t.Kind {
		case session.KindCompiler, session.KindGC, session.KindVM, session.KindOther:
			if role := session.RoleOf(t.Name); role != "parallel" && role != "VM thread" {
				list[i] = &threadOf{name: t.Name, worker: true, collector: t.Kind == session.KindGC}
				r.rec.beside = append(r.rec.beside, list[i])
			}
		}
	}
	return list
}

// moment is a time at which a thread of the program was in a unit, on a CPU.
type moment struct {
	at     units.MonoNs
	thread uint32 // 0: there was none
	ran    units.Ns
}

// addBeside makes what the JVM's own threads computed in each window a unit. The program made the work for it: so the thread of
// the program that computed most in a window submits it. A program that goes on faster has it done earlier. Each thread
// does its work in this order.
func (a *assembly) addBeside(order []uint32) []uint32 {
	window := max(leastWindow, a.rec.Len()/mostWindows)
	causes := a.causes(order, window)
	for i, t := range a.rec.beside {
		t.id = firstBeside + uint32(i)
		t.pieces, t.stays = a.besideUnits(t, causes, window), nil // where in its new pieces it was on a CPU is not known
		a.rec.threads[t.id] = t
		order = append(order, t.id)
	}
	return order
}

// causes finds for each window the thread of the program that computed most. If none did it is that of the window before.
func (a *assembly) causes(order []uint32, window units.Ns) []moment {
	list := make([]moment, a.rec.Len()/window+1)
	for _, id := range order {
		t := a.rec.threads[id]
		for i := range t.pieces {
			p := &t.pieces[i]
			if p.waits() || p.run == 0 {
				continue
			}
			for _, cut := range a.windows(p.Span, window) {
				at, in := a.inUnit(t, cut.Span)
				if ran := units.Ns(float64(p.run) * float64(cut.Len()) / float64(p.Len())); in && ran > list[cut.window].ran {
					list[cut.window] = moment{at, id, ran}
				}
			}
		}
	}
	for i := 1; i < len(list); i++ {
		if list[i].thread == 0 {
			list[i] = list[i-1]
		}
	}
	return list
}

// inUnit is the first time in a span at which a thread is in a unit.
func (a *assembly) inUnit(t *threadOf, s activity.Span) (units.MonoNs, bool) {
	i, _ := slices.BinarySearchFunc(t.units, s.From, func(i uint32, at units.MonoNs) int { return cmp.Compare(a.rec.units[i].start, at) })
	for _, i := range t.units[max(0, i-1):] {
		u := &a.rec.units[i]
		if at := max(s.From, u.start+1); at < min(u.end, s.To) {
			return at, true
		}
		if u.start >= s.To {
			break
		}
	}
	return 0, false
}

// cut is the part of a span in a window.
type cut struct {
	activity.Span
	window int
}

// windows divides a span of the recording.
func (a *assembly) windows(s activity.Span, window units.Ns) (list []cut) {
	s = s.Cut(a.rec.Span)
	for at := s.From; at < s.To; {
		n := int(units.Ns(at-a.rec.From) / window)
		end := min(s.To, a.rec.From+units.MonoNs(n+1)*units.MonoNs(window))
		list = append(list, cut{activity.Span{From: at, To: end}, n})
		at = end
	}
	return list
}

// besideUnits adds a unit for each window in which a thread computed, and returns the pieces that they consist of: without the
// waits in between, and not beyond the window.
func (a *assembly) besideUnits(t *threadOf, causes []moment, window units.Ns) (pieces []piece) {
	at := -1 // the window of the last piece
	for i := range t.pieces {
		p := &t.pieces[i]
		if p.waits() {
			continue
		}
		for _, cut := range a.windows(p.Span, window) {
			of := float64(cut.Len()) / float64(p.Len())
			part := piece{Span: cut.Span, state: activity.Running, run: units.Ns(float64(p.run) * of), held: units.Ns(float64(p.held) * of)}
			if cut.window != at {
				at, pieces = cut.window, append(pieces, part)
				continue
			}
			last := &pieces[len(pieces)-1]
			last.To, last.run, last.held = last.To+units.MonoNs(cut.Len()), last.run+part.run, last.held+part.held
		}
	}
	executor := t.id
	a.rec.executors[executor] = executorOf{}
	for i := range pieces {
		p := &pieces[i]
		u := unitOf{class: a.rec.names.Number(t.name), thread: t.id, start: p.From, end: p.To, executor: executor, beside: true}
		if cause := causes[units.Ns(p.From-a.rec.From)/window]; cause.thread != 0 {
			u.submitted, u.submitter = cause.at, cause.thread
		}
		t.units, a.rec.units = append(t.units, uint32(len(a.rec.units))), append(a.rec.units, u)
	}
	return pieces
}
