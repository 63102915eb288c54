package jfrimport

import (
	"encoding/binary"

	"stackagent/internal/jfrfile"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// waitType is a type of events that are waits.
type waitType struct {
	kind    wire.WaitKind
	blocker string // field with the class of what was waited for
	waker   string
	holder  string
}

var waitTypes = map[string]waitType{
	"jdk.JavaMonitorEnter": {kind: wire.WaitMonitor, blocker: "monitorClass", holder: "previousOwner"},
	"jdk.JavaMonitorWait":  {kind: wire.WaitNotify, blocker: "monitorClass", waker: "notifier"},
	"jdk.ThreadPark":       {kind: wire.WaitPark, blocker: "parkedClass"},
	"jdk.ThreadSleep":      {kind: wire.WaitSleep},
	"jdk.SocketRead":       {kind: wire.WaitIO}, "jdk.SocketWrite": {kind: wire.WaitIO},
	"jdk.FileRead": {kind: wire.WaitIO}, "jdk.FileWrite": {kind: wire.WaitIO}, "jdk.FileForce": {kind: wire.WaitIO},
	"jdk.VirtualThreadPinned": {kind: wire.WaitPark},
}

// pinned is what a virtual thread did that kept its carrier, by the event's words.
var pinned = map[string]wire.WaitKind{"Contended monitor enter": wire.WaitMonitor, "Object.wait": wire.WaitNotify}

// wait is an event of waiting.
func (b *builder) wait(e jfrfile.Value) error {
	name := e.Type().Name
	t := waitTypes[name]
	start, end, ok := b.clock.span(e)
	thread, err := b.thread(e, "eventThread")
	if err != nil || !ok || thread == 0 {
		b.facts.bad++
		return err
	}
	r := row{start: start, end: end, thread: thread, what: waitRow, kind: uint32(t.kind)}
	var flags wire.WaitFlags
	switch name {
	case "jdk.VirtualThreadPinned":
		flags = wire.WaitPinned
		if kind, known := pinned[e.Get("blockingOperation").Text()]; known {
			r.kind = uint32(kind)
		}
	case "jdk.JavaMonitorWait":
		if e.Get("timeout").Int() > 0 {
			flags |= wire.WaitTimed
		}
		if e.Get("timedOut").Int() != 0 {
			flags |= wire.WaitTimedOut
		}
	case "jdk.ThreadPark":
		if e.Get("timeout").Int() > 0 || e.Get("until").Int() > 0 {
			flags |= wire.WaitTimed
		}
	case "jdk.ThreadSleep":
		flags |= wire.WaitTimed
	}
	r.flags = uint32(flags)
	if t.blocker != "" {
		if r.class, err = b.blocker(e, t.blocker); err != nil {
			return err
		}
	}
	if t.waker != "" {
		if r.other, err = b.thread(e, t.waker); err != nil {
			return err
		}
	}
	if t.holder != "" {
		if r.holder, err = b.thread(e, t.holder); err != nil {
			return err
		}
	}
	s := b.stackOf(e)
	r.site, r.context = s.site, s.context
	b.facts.waitTypes[name] = true
	return b.rows.add(r)
}

// stack is the calling context of a wait.
type stack struct {
	site, context uint32
}

// stackOf keeps the stack of an event; its site is the innermost frame of the program.
func (b *builder) stackOf(e jfrfile.Value) (s stack) {
	key := e.Key("stackTrace")
	if key == 0 {
		return s
	}
	if s, ok := b.ofStack[key]; ok {
		return s
	}
	v := e.Get("stackTrace")
	c := store.Context{Kind: "wait", Cut: v.Get("truncated").Int() != 0}
	var text []byte
	v.Get("frames").Each(func(f jfrfile.Value) bool {
		if len(c.Frames) == maxFrames {
			c.Cut = true
			return false
		}
		id := b.frame(f)
		c.Frames = append(c.Frames, id)
		text = binary.AppendUvarint(text, uint64(id))
		if s.site == 0 && id != 0 && platform(b.frames[id-1].Class) == 0 {
			s.site = id
		}
		return true
	})
	if len(c.Frames) > 0 {
		id, ok := b.ctxIDs[string(text)]
		switch {
		case ok:
			s.context = id
		case len(b.contexts) < maxContexts:
			c.ID = uint32(len(b.contexts) + 1)
			b.contexts = append(b.contexts, c)
			b.ctxIDs[string(text)] = c.ID
			s.context = c.ID
		default:
			b.full = true
		}
	}
	b.ofStack[key] = s
	return s
}

func (b *builder) frame(f jfrfile.Value) uint32 {
	m := f.Get("method")
	class, _ := javaName(m.Get("type").Get("name").Text())
	x := store.Frame{Class: class, Method: short(m.Get("name").Text()), Line: int32(max(f.Get("lineNumber").Int(), 0))}
	if x.Class == "" && x.Method == "" {
		return 0
	}
	if id, ok := b.frameIDs[x]; ok {
		return id
	}
	if len(b.frames) == maxNames {
		b.full = true
		return 0
	}
	id := uint32(len(b.frames) + 1)
	b.frameIDs[x] = id
	x.ID = id
	b.frames = append(b.frames, x)
	return id
}
