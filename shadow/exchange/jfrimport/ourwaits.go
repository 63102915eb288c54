package jfrimport

import (
	"slices"
	"strings"

	"stackagent/internal/jfrfile"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

func (b *builder) ourWait(e jfrfile.Value) error {
	start, end, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	kind, known := ourKind(e)
	if err != nil || !ok || thread == 0 || !known {
		b.facts.bad++
		return err
	}
	r := row{start: start, end: end, thread: thread, what: ourWaitRow, kind: uint32(kind), site: b.ourSite(e), cpu: max(e.Get("carrierTime").Int(), 0)}
	for field, flag := range map[string]wire.WaitFlags{"timed": wire.WaitTimed, "timedOut": wire.WaitTimedOut, "pinned": wire.WaitPinned, "open": wire.WaitOpen} {
		if e.Get(field).Int() != 0 {
			r.flags |= uint32(flag)
		}
	}
	if r.class, err = b.ourBlocker(e); err != nil {
		return err
	}
	if r.other, err = b.thread(e, "waker"); err != nil {
		return err
	}
	if r.holder, err = b.thread(e, "holder"); err != nil {
		return err
	}
	b.facts.waitTypes[waitTypeOf[kind]] = true
	return b.rows.add(r)
}

// ourWaitSum is what is known of waits that the session did not record one by one.
func (b *builder) ourWaitSum(e jfrfile.Value) error {
	start, end, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	kind, known := ourKind(e)
	waits := e.Get("waits").Int()
	if err != nil || !ok || !known || waits <= 0 {
		b.facts.bad++
		return err
	}
	r := row{start: start, end: end, thread: thread, what: waitSumRow, kind: uint32(kind), task: waits, cpu: max(e.Get("waited").Int(), 0), queue: max(e.Get("longest").Int(), 0)}
	if r.class, err = b.ourBlocker(e); err != nil {
		return err
	}
	if r.other, err = b.ourClass(e, "taskClass"); err != nil {
		return err
	}
	b.facts.waitTypes[waitTypeOf[kind]] = true
	return b.rows.add(r)
}

// ourBlocker is what a wait was for, as the session says that was exported; older recordings have the class only.
func (b *builder) ourBlocker(e jfrfile.Value) (uint32, error) {
	class, _ := javaName(e.Get("blockerClass").Get("name").Text())
	lock, _ := javaName(e.Get("lockClass").Get("name").Text())
	x := store.Blocker{Class: class, Lock: lock, For: short(e.Get("waitFor").Text()), Shown: short(e.Get("waitClass").Text())}
	if x == (store.Blocker{}) {
		return 0, nil
	}
	return b.blockerOf(x)
}

func ourKind(e jfrfile.Value) (wire.WaitKind, bool) {
	name := e.Get("kind").Text()
	for kind := range waitTypeOf {
		if store.WaitKindName(kind) == name {
			return kind, true
		}
	}
	return 0, false
}

// waitTypeOf is the JVM's type of events for the same.
var waitTypeOf = map[wire.WaitKind]string{wire.WaitMonitor: "jdk.JavaMonitorEnter", wire.WaitNotify: "jdk.JavaMonitorWait", wire.WaitPark: "jdk.ThreadPark", wire.WaitSleep: "jdk.ThreadSleep", wire.WaitIO: "jdk.SocketRead"}

const ourWaitType = "stackagent.Wait"

// describeOurWaits says which waits the session had that was exported; false: that is not known.
func (b *builder) describeOurWaits(m *store.Manifest) bool {
	kinds, known := b.settings.kinds, b.settings.kinds != ""
	if !known {
		return false
	}
	m.Waits = &store.WaitRecording{LimitNs: b.settings.threshold[ourWaitType]}
	there := strings.Split(kinds, ",")
	for _, s := range sources {
		if kind := store.WaitKindName(s.kind); slices.Contains(there, kind) {
			m.Waits.Sources = append(m.Waits.Sources, kind)
		} else {
			m.NotAvailable["waits: "+kind] = "the session that was exported has none"
		}
	}
	return true
}
