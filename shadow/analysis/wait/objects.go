package wait

import (
	"slices"
	"strings"

	"stackagent/granularity/waiting"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// object is what threads waited for: its identity hash, and the id of its class in blockers.
type object struct{ hash, blocker uint32 }

// Namer says what the waits of a session were for.
type Namer struct {
	s        *session.Session
	reader   *unit.Reader
	Blockers map[uint32]store.Blocker     // by store.Wait.Blocker
	Contexts map[uint32]session.WaitStack // by store.Wait.Context
	objects  map[object]string            // names of those whose class says little
}

// NamerOf is that of a session, which keeps it.
func NamerOf(s *session.Session) (*Namer, error) { return session.Shared(s, newNamer) }

// newNamer names objects whose class says little by the code that waits for them: locks of class Object, and
// conditions. Long waits have the stack that shows it; shorter ones for the same object have the name from them.
func newNamer(s *session.Session) (n *Namer, err error) {
	n = &Namer{s: s, objects: map[object]string{}}
	if n.reader, err = unit.Of(s); err != nil {
		return nil, err
	}
	if n.Blockers, err = s.Blockers(); err != nil {
		return nil, err
	}
	if n.Contexts, err = s.WaitContexts(); err != nil || len(n.Contexts) == 0 {
		return n, err
	}
	return n, s.Waits(func(r *store.Wait) {
		if r.Object == 0 || r.Context == 0 {
			return
		}
		o, name := object{r.Object, r.Blocker}, n.byStack(r)
		if old := n.objects[o]; name != "" && (old == "" || name < old) { // one name, in whichever order they come
			n.objects[o] = name
		}
	})
}

// Of is what a wait was for, and which part of its thread's time it is.
func (n *Namer) Of(r *store.Wait) (What, waiting.Part) {
	return n.whatOf(r.Kind, n.object(r), r.Blocker, r.Thread, r.Within, wire.WaitFlags(r.Flags), r.Holder != 0, uint8(r.Flags)&open == 0)
}

// OfSum is the same of waits that have no record of their own.
func (n *Namer) OfSum(r *store.WaitSum) (What, waiting.Part) {
	return n.whatOf(r.Kind, "", r.Blocker, r.Thread, r.Within, wire.WaitFlags(r.Flags), false, false)
}

// object is the name of what the wait was for, "" if its class is good enough.
func (n *Namer) object(r *store.Wait) string {
	if name := n.objects[object{r.Object, r.Blocker}]; name != "" && r.Object != 0 {
		return name
	}
	return n.byStack(r)
}

// byStack names what the wait was for by its stack.
func (n *Namer) byStack(r *store.Wait) string {
	frames, class := n.Contexts[r.Context].Frames, n.Blockers[r.Blocker].Class
	if i := slices.Index(frames, nil); i >= 0 {
		frames = frames[:i]
	}
	switch {
	case len(frames) == 0:
	case r.Kind == kindPark && IsCondition(class):
		return awaitedIn(frames)
	case r.Kind == kindPark && r.Blocker == 0:
		return parkedIn(frames)
	case r.Kind == kindMonitor && class == "java.lang.Object":
		return class + " in " + frames[0].Class
	case r.Kind == kindIO && slices.ContainsFunc(frames[:min(len(frames), acceptFrames)], accepts):
		return connection
	}
	return ""
}

// awaitedIn names a condition of java.util.concurrent by the method that the program called: a thread that waits for one
// of an ArrayBlockingQueue waits in ArrayBlockingQueue.take. Others have the name of the class that waits.
func awaitedIn(frames []*session.Site) string {
	await := func(f *session.Site) bool { return IsCondition(f.Class) }
	i := slices.IndexFunc(frames, await)
	if i < 0 {
		return ""
	}
	for i < len(frames) && await(frames[i]) {
		i++
	}
	if i == len(frames) {
		return ""
	}
	if !strings.HasPrefix(frames[i].Class, concurrent) {
		return "condition in " + frames[i].Class
	}
	for i+1 < len(frames) && frames[i+1].Class == frames[i].Class {
		i++
	}
	return Readable(frames[i].Class) + "." + frames[i].Method
}

// parkedIn names what a thread without a blocker waits for by the method of the JDK that the program called, such as
// StructuredTaskScopeImpl.join; "" if the program parks itself.
func parkedIn(frames []*session.Site) string {
	i := 0
	for i < len(frames) && frames[i].Class == lockSupport {
		i++
	}
	first := i
	for i < len(frames) && unit.IsJDK(frames[i].Class, 0) {
		i++
	}
	switch {
	case i == first:
		return ""
	case i < len(frames): // without a frame of the program the JDK's innermost says most
		first = i - 1
	}
	return Readable(frames[first].Class) + "." + frames[first].Method
}

const lockSupport = concurrent + "locks.LockSupport"

// connection is what a thread waits for that accepts connections: the next one is its work.
const connection = "connection to accept"

// acceptFrames is how far from the system call the JDK's accept is at most.
const acceptFrames = 4

func accepts(f *session.Site) bool {
	return f.Method == "accept" && (f.Class == "sun.nio.ch.Net" || f.Class == "sun.nio.ch.NioSocketImpl" || f.Class == "sun.nio.ch.UnixDomainSockets")
}
