package wait

import (
	"slices"
	"strings"

	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// object is what threads waited for: its identity hash, and the id of its class in blockers.
type object struct{ hash, blocker uint32 }

// readObjects names objects whose class says little by the code that waits for them: locks of class Object, and
// conditions. Long waits have the stack that shows it; shorter ones for the same object have the name from them.
func (t *tables) readObjects() (err error) {
	if t.blockers, err = t.s.Blockers(); err != nil {
		return err
	}
	t.objects = map[object]string{}
	if t.contexts, err = t.s.WaitContexts(); err != nil || len(t.contexts) == 0 {
		return err
	}
	return t.s.Waits(func(r *store.Wait) {
		if r.Object == 0 || r.Context == 0 {
			return
		}
		o, name := object{r.Object, r.Blocker}, t.byStack(r)
		if old := t.objects[o]; name != "" && (old == "" || name < old) { // one name, in whichever order they come
			t.objects[o] = name
		}
	})
}

// object is the name of what the wait was for, "" if its class is good enough.
func (t *tables) object(r *store.Wait) string {
	if name := t.objects[object{r.Object, r.Blocker}]; name != "" && r.Object != 0 {
		return name
	}
	return t.byStack(r)
}

// byStack names what the wait was for by its stack.
func (t *tables) byStack(r *store.Wait) string {
	frames, class := t.contexts[r.Context].Frames, t.blockers[r.Blocker].Class
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
