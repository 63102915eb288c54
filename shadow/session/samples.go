package session

import (
	"cmp"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// Sample is what a busy thread was seen to do, at about 20 moments a second, or where virtual threads yield, of which few are looked at.
type Sample struct {
	Kind      string  // store.ContextPolling, store.ContextComputing, store.ContextLate, store.ContextYielding
	Thread    uint32  // ThreadByID; 0: any, and the frames are only the innermost one and the program's nearest one
	Class     uint32  // ClassByID of the program's outermost execution; 0: none
	Frames    []*Site // innermost first; nil: not known
	Samples   int64
	Pending   int64    // of the Finalizer: adds up to the most objects that waited for it
	StandsFor units.Ns // the time; of store.ContextLate how long it took to show the stack, in all
	Used      units.Ns // CPU time of the thread, in that time
}

// Near is the program's nearest frame; nil: none.
func (x *Sample) Near() *Site {
	for _, f := range x.Frames {
		if f != nil && IsProgram(f) {
			return f
		}
	}
	return nil
}

// IsProgram reports whether a frame is the program's, and not the JDK's.
func IsProgram(f *Site) bool { return !isOfJDK(f.Class) }

// Samples are what busy threads were seen to do, most CPU time first. Sessions of older agents, and those with samples=false, have none.
func (s *Session) Samples() ([]Sample, error) {
	var list []Sample
	err := s.eachSum("samples", func(r *store.Context, frames []*Site, sum *contextSum) {
		list = append(list, Sample{Kind: r.Kind, Thread: r.Thread, Class: r.Class, Frames: frames, Samples: scaled(sum.count, 1), StandsFor: sum.wall, Used: sum.cpu, Pending: scaled(sum.bytes, 1)})
	}, store.ContextPolling, store.ContextComputing, store.ContextLate, store.ContextYielding, store.ContextInterpreted)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(x, y Sample) int { return cmp.Compare(y.Used, x.Used) })
	return list, nil
}

// completers are methods of the JDK and of libraries that run on the thread which completes a future what others asked to be run then, by class. The
// agent has the same list (jvmti/life_samples.c).
var completers = map[string]string{
	"java.util.concurrent.CompletableFuture":           "postComplete",
	"com.google.common.util.concurrent.AbstractFuture": "complete",
	"io.netty.util.concurrent.DefaultPromise":          "notifyListener0",
}

// Stage is the function that runs because the thread has completed a future, the program's outermost frame inside, and the program's frame that completed it. nil: none, or
// it was the JDK that did, at the end of a task.
func Stage(frames []*Site) (function, by *Site) {
	inner := (*Site)(nil)
	for _, f := range frames {
		switch {
		case f == nil:
		case function != nil:
			if IsProgram(f) {
				return function, f
			}
		case inner != nil && completers[f.Class] == f.Method:
			function = inner
		case IsProgram(f) && !strings.Contains(f.Class, "$$Lambda"):
			inner = f
		}
	}
	return function, nil
}
