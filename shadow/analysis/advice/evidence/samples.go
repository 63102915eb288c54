package evidence

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// samples adds what busy threads were seen to do.
func (a *advisor) samples(f *advice.UnitFacts) error {
	list, err := a.s.Samples()
	if err != nil {
		return err
	}
	f.Polling = a.polling(list)
	if f.Stages, err = a.stages(list); err != nil {
		return err
	}
	f.Late = a.seenAt(list, store.ContextLate, (*session.Sample).Near)
	f.Finalized = a.seenAt(list, store.ContextComputing, ended)
	return nil
}

// seen sums the samples of threads of one name, at one method.
type seen struct {
	advice.Seen
	threads map[uint32]bool
	lines   map[string]units.Ns // CPU time by place
	classes map[uint32]units.Ns // by class of the execution
}

// seenAt sums samples by the names of their threads and a frame of theirs; those without one are left out. Most CPU time first.
func (a *advisor) seenAt(list []session.Sample, kind string, frame func(*session.Sample) *session.Site) (out []advice.Seen) {
	type key struct{ threads, class, method string }
	all := map[key]*seen{}
	for i := range list {
		x := &list[i]
		if x.Kind != kind {
			continue
		}
		at, t := frame(x), a.s.ThreadByID(x.Thread)
		if at == nil || t == nil {
			continue
		}
		k := key{t.Pool(), at.Class, at.Method}
		s := all[k]
		if s == nil {
			s = &seen{advice.Seen{Thread: t.Name}, map[uint32]bool{}, map[string]units.Ns{}, map[uint32]units.Ns{}}
			all[k] = s
		}
		s.threads[x.Thread] = true
		if len(s.threads) > 1 {
			s.Thread = t.Pool()
		}
		s.CPU, s.Samples, s.Wall = s.CPU+x.Used, s.Samples+x.Samples, s.Wall+x.StandsFor
		s.Pending += x.Pending
		s.lines[at.Label()] += x.Used
		s.classes[x.Class] += x.Used
	}
	for _, s := range all {
		s.Threads, s.Site = int64(len(s.threads)), heaviest(s.lines)
		if class := heaviest(s.classes); class != 0 {
			s.Class = a.className(class)
		}
		out = append(out, s.Seen)
	}
	slices.SortFunc(out, func(x, y advice.Seen) int {
		return cmp.Or(cmp.Compare(y.CPU, x.CPU), cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Site, y.Site))
	})
	return out
}

// heaviest is the key with the most time, the smallest of equals.
func heaviest[K cmp.Ordered](of map[K]units.Ns) (best K) {
	for i, k := range slices.Sorted(maps.Keys(of)) {
		if i == 0 || of[k] > of[best] {
			best = k
		}
	}
	return best
}

func (a *advisor) polling(list []session.Sample) []advice.Seen {
	return a.seenAt(list, store.ContextPolling, (*session.Sample).Near)
}

// stage is the function that runs because the thread has completed a future; nil: none.
func stage(x *session.Sample) *session.Site {
	function, _ := session.Stage(x.Frames)
	return function
}

// stages are the functions of stages that threads of their own run which serve others: those of pools have nothing else to do, and one that waits
// for its tasks in a queue of the program's own is a worker, too.
func (a *advisor) stages(list []session.Sample) ([]advice.Seen, error) {
	if !slices.ContainsFunc(list, func(x session.Sample) bool { return x.Kind == store.ContextComputing && stage(&x) != nil }) {
		return nil, nil
	}
	parked := map[uint32]bool{}
	err := a.s.Waits(func(w *store.Wait) {
		if w.Kind == "park" || w.Kind == "notify" {
			parked[w.Thread] = true
		}
	})
	list = slices.DeleteFunc(slices.Clone(list), func(x session.Sample) bool {
		t := a.s.ThreadByID(x.Thread)
		serves := t != nil && t.Kind != session.KindMain && (t.Class == session.TimerThread || a.origins.ExecutorOf(x.Thread) == 0 && !parked[x.Thread])
		return !serves
	})
	return a.seenAt(list, store.ContextComputing, stage), err
}

// ended is the finalize() that the Finalizer runs; nil: none.
func ended(x *session.Sample) *session.Site {
	for _, f := range x.Frames {
		if f != nil && f.Method == "finalize" && session.IsProgram(f) {
			return f
		}
	}
	return nil
}
