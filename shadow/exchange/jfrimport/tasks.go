package jfrimport

import (
	"strings"

	"stackagent/internal/jfrfile"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// method is what a traced method is as a task.
type method struct {
	class uint32 // 0: none
}

// execution methods of tasks, by name.
var execution = map[string]units.Kinds{
	"run": units.KindRunnable, "call": units.KindCallable, "exec": units.KindForkJoin, "compute": units.KindForkJoin,
}

const accBridge = 0x40

// methodOf finds the task class of a traced method.
func (b *builder) methodOf(e jfrfile.Value) (method, error) {
	key := e.Key("method")
	if m, ok := b.ofMethod[key]; ok {
		return m, nil
	}
	v := e.Get("method")
	name, kinds := javaName(v.Get("type").Get("name").Text())
	what := short(v.Get("name").Text())
	kind, is := execution[what]
	is = is && strings.HasPrefix(v.Get("descriptor").Text(), "()") && v.Get("modifiers").Int()&accBridge == 0
	var m method
	var err error
	switch {
	case name == "" || what == "":
	case is:
		if name == "java.lang.Thread" || strings.HasPrefix(name, "java.lang.VirtualThread") {
			kind = units.KindThread | units.KindRunnable
		}
		m.class, err = b.classOf(name, kinds|kind)
	case b.o.Methods:
		m.class, err = b.classOf(name+"."+what, kinds|units.KindCustom)
	}
	b.ofMethod[key] = m
	return m, err
}

// methodTrace is jdk.MethodTrace: an execution of a method that the user asked for.
func (b *builder) methodTrace(e jfrfile.Value) error {
	m, err := b.methodOf(e)
	if err != nil {
		return err
	}
	if m.class == 0 {
		b.facts.otherMethods++
		return nil
	}
	start, end, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	if err != nil || !ok || thread == 0 {
		b.facts.bad++
		return err
	}
	b.facts.traced++
	return b.rows.add(row{start: start, end: end, thread: thread, class: m.class, flags: b.flagsOf(thread), cpu: int64(units.NotMeasured), queue: int64(units.NotMeasured)})
}

func (b *builder) flagsOf(thread uint32) uint32 {
	flags := wire.CreationUnseen | wire.First
	if b.threads[thread-1].Virtual {
		flags |= wire.Virtual
	}
	return uint32(flags)
}

// lives are the virtual threads whose start and end were not both read: an event lies in the buffer of the carrier, so that
// an end can come before its start.
type lives struct {
	starts, ends map[int64]int64 // by the Java id
	threads      map[int64]uint32
	noStart      int64
}

func (l *lives) init() {
	l.starts, l.ends, l.threads = map[int64]int64{}, map[int64]int64{}, map[int64]uint32{}
}

// virtualThread is the class of what is known of a virtual thread: its life.
const virtualThread = "java.lang.VirtualThread"

func (b *builder) virtualStart(e jfrfile.Value) error { return b.life(e, true) }
func (b *builder) virtualEnd(e jfrfile.Value) error   { return b.life(e, false) }

// life is jdk.VirtualThreadStart or jdk.VirtualThreadEnd.
func (b *builder) life(e jfrfile.Value, begins bool) error {
	at, _, ok := b.clock.span(e)
	id := e.Get("javaThreadId").Int()
	if !ok || id <= 0 {
		b.facts.bad++
		return nil
	}
	thread, err := b.thread(e, "eventThread") // it names the virtual thread; its name may be set only later
	if err != nil {
		return err
	}
	if thread == 0 || b.threads[thread-1].JavaID != id {
		if thread, err = b.threadOf(id, 0, ""); err != nil {
			return err
		}
	}
	t := &b.threads[thread-1]
	t.Virtual, t.OSID = true, 0
	from, to := &b.lives.starts, &b.lives.ends
	if begins {
		t.StartNs = &at
	} else {
		t.EndNs = &at
		from, to = to, from
	}
	other, there := (*to)[id]
	if !there {
		(*from)[id] = at
		b.lives.threads[id] = thread
		return nil
	}
	delete(*to, id)
	delete(b.lives.threads, id)
	start, end := at, other
	if !begins {
		start, end = other, at
	}
	if end < start {
		b.facts.bad++
		return nil
	}
	return b.addLife(thread, start, end, 0)
}

func (b *builder) addLife(thread uint32, start, end int64, flags wire.ExecutionFlags) error {
	class, err := b.classOf(virtualThread, units.KindThread|units.KindVirtual|units.KindRunnable)
	if err != nil {
		return err
	}
	b.facts.lives++
	return b.rows.add(row{start: start, end: end, thread: thread, class: class, flags: b.flagsOf(thread) | uint32(flags), cpu: int64(units.NotMeasured), queue: int64(units.NotMeasured)})
}

// endLives adds the virtual threads that did not end. Of those that began before the recording there is no execution: how
// long they ran is not known.
func (b *builder) endLives() error {
	b.lives.noStart = int64(len(b.lives.ends))
	if b.count["jdk.VirtualThreadEnd"] == 0 {
		return nil // ends were not recorded
	}
	for id, start := range b.lives.starts {
		if err := b.addLife(b.lives.threads[id], start, maxTime, wire.Running); err != nil {
			return err
		}
	}
	return nil
}

// submitFailed is jdk.VirtualThreadSubmitFailed.
func (b *builder) submitFailed(jfrfile.Value) error {
	b.facts.submitFailed++
	return nil
}
