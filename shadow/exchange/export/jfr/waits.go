package jfr

import (
	"fmt"
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/store"
)

// waitSettings says which waits the session has: of which kinds, and from which length on one by one.
func (r *recording) waitSettings() error {
	m := &r.s.Manifest
	if m.Waits == nil {
		return nil
	}
	for _, of := range [][2]string{{"threshold", fmt.Sprintf("%d ns", m.Waits.LimitNs)}, {"kinds", strings.Join(m.Waits.Sources, ",")}} {
		r.start(eventSetting, m.StartNs)
		r.number(eventWait)
		r.words(of[0])
		r.words(of[1])
		if err := r.end(m.StartNs); err != nil {
			return err
		}
	}
	return nil
}

func (r *recording) waits() (err error) {
	if len(r.s.PartNames(store.Waits))+len(r.s.PartNames(store.WaitSums)) == 0 {
		return nil // what names them takes time
	}
	if r.namer, err = wait.NamerOf(r.s); err != nil {
		return err
	}
	return r.src.Waits(func(x *store.Wait) error {
		flags := wire.WaitFlags(x.Flags)
		what, _ := r.namer.Of(x)
		r.start(eventWait, units.MonoNs(x.StartNs))
		r.number(max(0, x.EndNs-x.StartNs))
		r.number(r.thread(x.Thread))
		r.number(r.site(x.Site))
		r.words(x.Kind)
		r.number(r.class(r.namer.Blockers[x.Blocker].Class))
		r.number(r.taskClass(x.Within))
		r.number(r.thread(x.Waker))
		r.number(r.thread(x.Holder))
		r.what(&what, x.Blocker)
		carrier := units.Ns(0)
		if x.ReadyNs != nil {
			carrier = max(*x.ReadyNs, 0)
		}
		r.span(carrier)
		r.boolean(what.For == wait.ForQueue)
		for _, f := range []wire.WaitFlags{wire.WaitTimed, wire.WaitTimedOut, wire.WaitPinned, wire.WaitOpen} {
			r.boolean(flags&f != 0)
		}
		return r.end(units.MonoNs(x.EndNs))
	})
}

// what says what waits were for.
func (r *recording) what(w *wait.What, blocker uint32) {
	r.words(w.For)
	r.words(w.Class)
	r.number(r.class(r.namer.Blockers[blocker].Lock))
}

func (r *recording) waitSums() error {
	return r.src.WaitSums(func(x *store.WaitSum) error {
		what, _ := r.namer.OfSum(x)
		r.start(eventWaitSum, units.MonoNs(x.FromNs))
		r.number(max(0, x.ToNs-x.FromNs))
		r.number(r.thread(x.Thread))
		r.words(x.Kind)
		r.number(r.class(r.namer.Blockers[x.Blocker].Class))
		r.number(r.taskClass(x.Within))
		r.what(&what, x.Blocker)
		r.boolean(what.For == wait.ForQueue)
		r.number(int64(min(x.Waits, 1<<62)))
		r.span(max(x.WaitedNs, 0))
		r.span(max(x.MaxNs, 0))
		return r.end(units.MonoNs(x.ToNs))
	})
}
