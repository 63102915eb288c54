package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// stateOf is that of a thread in a wait of the agent, by its kind.
func stateOf(kind string) activity.ThreadState {
	switch kind {
	case "sleep":
		return activity.Sleeping
	case "io":
		return activity.IO
	}
	return activity.Futex
}

// readWaits adds what the agent recorded of waits: what the waits of the scheduling record are for, and all of the
// waits of threads that it does not have.
func (r *reader) readWaits() error {
	namer, err := wait.NamerOf(r.s)
	if err != nil {
		return err
	}
	if err := r.readUnseen(); err != nil {
		return err
	}
	staged := map[uint32]int{} // by site: more whole stacks are of stages than are not
	waits, entered, n := map[uint32][]piece{}, map[uint32][]entry{}, 0
	err = r.s.Waits(func(w *store.Wait) {
		what, part := namer.Of(w)
		p := piece{Span: activity.Span{From: max(units.MonoNs(w.StartNs), r.rec.From), To: min(units.MonoNs(w.EndNs), r.rec.To)}, state: stateOf(w.Kind), by: w.Waker, class: r.rec.names.Number(cmp.Or(what.Lock, what.Blocker)),
			lock: part == waiting.Lock, pin: wire.WaitFlags(w.Flags)&wire.WaitPinned != 0}
		if w.ReadyNs != nil && w.ReadyNs.Measured() { // it waits for a carrier then
			p.To -= units.MonoNs(min(*w.ReadyNs, p.Len()))
		}
		stack := namer.Contexts[w.Context]
		x := waitInfo{kind: w.Kind, lock: p.lock, init: initialised(stack.Frames)}
		x.class, x.room = what.Awaited()
		x.all = slices.ContainsFunc(stack.Frames, func(f *session.Site) bool { return f != nil && f.Method == "invokeAll" })
		if !stack.Near && len(stack.Frames) > 0 {
			if function, by := session.Stage(stack.Frames); by != nil || function != nil && isStage(unit.ClassName(r.s, w.Within)) {
				staged[w.Site]++
			} else {
				staged[w.Site]--
			}
		}
		if site := r.s.SiteByID(w.Site); site != nil {
			x.site = site.Label()
		}
		if x.lock {
			x.object = w.Object
		}
		t := r.rec.threads[w.Thread]
		if t != nil && len(t.stretches) > 0 {
			x.within = w.Within
		}
		p.wait = r.numberOf(x)
		if p.From >= p.To || t == nil {
			return
		}
		if t.virtual {
			p.expired = expired(w)
			r.seen(t, w, p, x)
		}
		if p.pin {
			r.rec.pins.recorded += p.Len()
		}
		if n++; n <= graph.MaxSteps {
			waits[w.Thread] = append(waits[w.Thread], p)
			if w.Kind == "monitor" && w.Object != 0 {
				entered[w.Object] = append(entered[w.Object], entry{p.Span, w.Thread})
			}
		}
	})
	if n > graph.MaxSteps {
		return fmt.Errorf("%w: more than %d waits; choose a shorter time with --from and --to", graph.ErrTooLarge, graph.MaxSteps)
	}
	r.nameStages(staged)
	for id, list := range waits {
		slices.SortFunc(list, func(x, y piece) int { return cmp.Compare(x.From, y.From) })
		t := r.rec.threads[id]
		if len(t.pieces) == 0 {
			t.pieces = r.between(t, list)
		} else {
			r.nameWaits(t, list)
		}
	}
	slices.SortFunc(r.virtual, func(x, y virtualEnd) int { return cmp.Compare(x.at, y.at) })
	for _, t := range r.rec.threads {
		if t.virtual && len(t.pieces) == 0 {
			t.pieces = r.between(t, nil)
		}
	}
	r.addUnseen(namer)
	r.nameLeavers(leavers(entered))
	for _, t := range r.rec.threads {
		for i := range t.pieces {
			if p := &t.pieces[i]; r.carries(p.by) {
				p.by = r.endedBefore(p.To)
			}
		}
	}
	return err
}

// isStage reports whether a class is that of the JDK's tasks for stages, such as those which its HTTP client submits to complete the program's futures.
func isStage(class string) bool {
	return strings.HasPrefix(class, "java.util.concurrent.CompletableFuture$Uni")
}

// expired reports whether a time limit ended a wait, of which the scheduling record has nothing.
func expired(w *store.Wait) bool {
	flags := wire.WaitFlags(w.Flags)
	return flags&wire.WaitTimedOut != 0 || flags&wire.WaitTimed != 0 && flags&wire.WaitOpen == 0 && w.Kind == "park" && w.Waker == 0
}

// nameStages says which waits are in stages: those at the sites of such stacks, of which only some are kept whole.
func (r *reader) nameStages(staged map[uint32]int) {
	sites := map[string]bool{}
	for id, n := range staged {
		if site := r.s.SiteByID(id); site != nil && n > 0 {
			sites[site.Label()] = true
		}
	}
	for i := range r.rec.waits {
		r.rec.waits[i].stage = sites[r.rec.waits[i].site]
	}
}

// numberOf is the number of what the agent recorded of a wait, one for all that are alike.
func (r *reader) numberOf(x waitInfo) uint32 {
	known := r.waited[x]
	if known == 0 {
		r.rec.waits = append(r.rec.waits, x)
		known = uint32(len(r.rec.waits))
		r.waited[x] = known
	}
	return known
}

// initialised is the class of the program whose initialiser runs on a stack, the innermost one; "": none.
func initialised(frames []*session.Site) string {
	for _, f := range frames {
		if f != nil && f.Method == "<clinit>" && session.IsProgram(f) {
			return f.Class
		}
	}
	return ""
}

// readSamples finds the classes of units that computed in the initialiser of a class, and where the others computed, by samples of busy threads.
func (r *reader) readSamples() error {
	list, err := r.s.Samples()
	names := map[uint32]string{} // of classes of which all units bear one name
	for key, n := range r.named {
		if _, several := names[key[0]]; several {
			names[key[0]] = ""
			continue
		}
		names[key[0]] = r.rec.names.Name(n)
	}
	for i := range list {
		x := &list[i]
		if near := x.Near(); x.Kind == store.ContextYielding && near != nil {
			note(r.yielding, unit.ClassName(r.s, x.Class), near.Label(), x.Samples)
		}
		if x.Kind != store.ContextComputing && x.Kind != store.ContextInterpreted && x.Kind != store.ContextPolling || x.Class == 0 {
			continue
		}
		if init, name := initialised(x.Frames), unit.ClassName(r.s, x.Class); init != "" && r.initialising[name] == "" {
			r.initialising[name] = init
		}
		if name := names[x.Class]; name != "" && !onlyWaits(x.Frames) {
			note(r.computing, name, placeOf(x), x.Samples)
			if near := x.Near(); x.Kind == store.ContextInterpreted && near != nil {
				note(r.interpreted, name, near.Class+"."+near.Method, x.Samples)
			}
		}
	}
	return err
}

// note adds samples of a class at a place.
func note(to map[string]map[string]int64, class, place string, samples int64) {
	if to[class] == nil {
		to[class] = map[string]int64{}
	}
	to[class][place] += samples
}

// justWait are methods of the JDK that do nothing but wait. A thread that is there has waited, and waits for a CPU.
var justWait = map[string]bool{"java.lang.Thread.sleep": true, "java.lang.Thread.sleep0": true, "java.lang.Thread.sleepNanos0": true, "java.lang.Object.wait": true, "java.lang.Object.wait0": true, "jdk.internal.misc.Unsafe.park": true}

// onlyWaits reports whether the innermost frame is one of them.
func onlyWaits(frames []*session.Site) bool {
	return len(frames) > 0 && frames[0] != nil && justWait[wait.Readable(frames[0].Class)+"."+frames[0].Method]
}

// CalledAt stands between a method of the JDK where a busy thread was and the line of the program that called it.
const CalledAt = ", called at "

// placeOf names where a busy thread was: a method, and the line of the program that called it, if it is not the program's; "": only in the method of a lambda that the JVM has made.
func placeOf(x *session.Sample) string {
	near := x.Near()
	switch at := x.Frames[0]; {
	case at != nil && strings.Contains(at.Class, "$$Lambda"):
		return ""
	case at == nil && near == nil:
		return ""
	case at == nil || at == near:
		return near.Label()
	case near == nil:
		return wait.Readable(at.Class) + "." + at.Method
	default:
		return wait.Readable(at.Class) + "." + at.Method + CalledAt + near.Label()
	}
}

// virtualEnd is when a unit on a virtual thread ended.
type virtualEnd struct {
	at     units.MonoNs
	thread uint32
}

// carries reports whether a thread carries virtual threads: the thread that it carries ended the wait.
func (r *reader) carries(thread uint32) bool {
	t := r.s.ThreadByID(thread)
	return t != nil && t.Role() == "carrier"
}

// endedBefore is the virtual thread whose unit ended last before a time: whoever joins it is woken by its carrier. 0: none did.
func (r *reader) endedBefore(at units.MonoNs) uint32 {
	i, _ := slices.BinarySearchFunc(r.virtual, at, func(v virtualEnd, at units.MonoNs) int { return cmp.Compare(v.at, at+1) })
	if i == 0 || at-r.virtual[i-1].at > afterEnd {
		return 0
	}
	return r.virtual[i-1].thread
}

// nameWaits names what the waits of the scheduling record are for, after those of the agent that they lie in.
func (r *reader) nameWaits(t *threadOf, waits []piece) {
	for i := range t.pieces {
		p := &t.pieces[i]
		for len(waits) > 0 && waits[0].To < p.From {
			waits = waits[1:]
		}
		if len(waits) > 0 && p.waits() && waits[0].From <= p.To {
			p.class, p.lock, p.wait = waits[0].class, waits[0].lock, waits[0].wait
			p.expired = p.state == activity.Sleeping && waits[0].state == activity.Futex
			if waits[0].by != 0 && (p.state == activity.Futex || p.state == activity.IO) && (p.by == 0 || r.carries(p.by)) {
				p.by = waits[0].by
			}
		}
	}
}
