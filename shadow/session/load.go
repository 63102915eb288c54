package session

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// index finds the place of an id in a slice. Ids are given in sequence, so a
// slice serves nearly always; a map serves ids that are not.
type index struct {
	dense  []int32 // id -> place + 1
	sparse map[uint32]int32
	count  int // ids that were set, again included
}

func (x *index) set(id uint32, place int) {
	x.count++
	if int(id) < len(x.dense) || int(id) < 4*x.count+1<<16 { // not beyond what the ids are worth
		for int(id) >= len(x.dense) {
			x.dense = append(x.dense, 0)
		}
		x.dense[id] = int32(place + 1)
		return
	}
	if x.sparse == nil {
		x.sparse = map[uint32]int32{}
	}
	x.sparse[id] = int32(place + 1)
}

func (x *index) get(id uint32) (int, bool) {
	var p int32
	if int(id) < len(x.dense) {
		p = x.dense[id]
	}
	if p == 0 { // it may have come before the slice grew beyond it
		p = x.sparse[id]
	}
	return int(p) - 1, p != 0
}

// ClassByID is the class with that id; nil when the session does not know it.
func (s *Session) ClassByID(id uint32) *Class {
	if i, ok := s.classes.get(id); ok {
		return &s.Classes[i]
	}
	return nil
}

// ThreadByID is the Java thread with that id; nil when it is not known.
func (s *Session) ThreadByID(id uint32) *Thread {
	if i, ok := s.threads.get(id); ok {
		return &s.Threads[i]
	}
	return s.virtual.byID(id)
}

// classOf is ClassByID with a stand-in for a class whose description was lost.
func (s *Session) classOf(id uint32) *Class {
	if c := s.ClassByID(id); c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.unknown[id]
	if c == nil {
		c = &Class{ID: id, Name: fmt.Sprintf("unknown class %d", id)}
		s.unknown[id] = c
	}
	return c
}

func (s *Session) loadClasses() error {
	rows := map[uint32]Class{}
	bad, err := s.folder.ReadClasses(func(r *store.Class) {
		kinds, err := units.ParseKinds(r.Kinds)
		if err != nil {
			s.warn(fmt.Sprintf("class %q: %v", r.Name, err))
		}
		rows[r.ID] = Class{ID: r.ID, Name: r.Name, Kinds: kinds, Loader: r.Loader, Looped: r.LoopCall != "", LoopCall: r.LoopCall}
	})
	s.warnAll(bad)
	for _, c := range rows {
		s.Classes = append(s.Classes, c)
	}
	slices.SortFunc(s.Classes, func(a, b Class) int { return cmp.Compare(a.ID, b.ID) })
	for i := range s.Classes {
		s.classes.set(s.Classes[i].ID, i)
	}
	return err
}

func (s *Session) loadPauses() error {
	bad, err := s.folder.ReadPauses(func(r *store.Pause) {
		list := &s.Pauses
		if r.Cause == units.Profiler {
			list = &s.Own
		}
		*list = append(*list, Pause{StartNs: units.MonoNs(r.StartNs), EndNs: units.MonoNs(r.EndNs), Cause: r.Cause, Asker: r.Site, ForBuffers: r.Buffers != 0})
	})
	s.warnAll(bad)
	for _, list := range [][]Pause{s.Pauses, s.Own} {
		slices.SortStableFunc(list, func(a, b Pause) int { return cmp.Compare(a.StartNs, b.StartNs) })
	}
	return err
}

func (s *Session) loadThreads() error {
	rows := map[uint32]Thread{}
	var words interner
	bad, err := s.folder.ReadThreads(func(r *store.Thread) {
		if r.Virtual && r.Executions == nil {
			delete(rows, r.ID)
			s.virtual.add(r, &words)
			return
		}
		s.virtual.remove(r.ID)
		t := javaThread(r)
		t.Group, t.Class = words.text(words.of(r.Group)), words.text(words.of(r.Class))
		t.addCounts(r, rows[r.ID])
		rows[r.ID] = t
	})
	s.warnAll(bad)
	if err != nil {
		return err
	}
	if s.virtual.live <= maxListedVirtual {
		s.virtual.each(func(t *Thread) { rows[t.ID] = *t })
		s.virtual = virtuals{}
	}
	for _, t := range rows {
		s.Threads = append(s.Threads, t)
	}
	slices.SortFunc(s.Threads, func(a, b Thread) int { return cmp.Compare(a.ID, b.ID) })
	for i := range s.Threads {
		s.threads.set(s.Threads[i].ID, i)
	}
	return s.loadServiceThreads()
}

// loadServiceThreads adds the kernel's threads that are not Java threads, and
// gives living Java threads whose CPU time the agent did not report the kernel's.
func (s *Session) loadServiceThreads() error {
	rows := map[int32]store.OSThread{}
	bad, err := s.folder.ReadOSThreads(func(r *store.OSThread) { rows[r.OSID] = *r })
	s.warnAll(bad)
	s.shareOut(rows)
	s.tellWaited(rows)
	for i := range s.Threads {
		delete(rows, s.Threads[i].OSID)
	}
	unseen := s.unseenKinds()
	first := len(s.Threads)
	for _, r := range rows {
		s.Threads = append(s.Threads, Thread{
			OSID: r.OSID, Name: serviceName(r.Name), Kind: s.kindOf(r.Name, unseen), CPU: orNotMeasured(r.CPUNs),
		})
	}
	slices.SortFunc(s.Threads[first:], func(a, b Thread) int { return cmp.Compare(a.OSID, b.OSID) })
	return err
}

// unseenKinds are the kinds of Java threads whose OS thread is not known, by what the kernel may call them; "" if they
// differ. Before the agent attached, several threads of one pool may have had one name there.
func (s *Session) unseenKinds() map[string]string {
	kinds := map[string]string{}
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.OSID != 0 || t.Virtual || t.StartNs != 0 {
			continue
		}
		name := t.Name[:min(len(t.Name), kernelNameLength)]
		if kind, known := kinds[name]; known && kind != t.Kind {
			kinds[name] = ""
			continue
		}
		kinds[name] = t.Kind
	}
	return kinds
}

// kindOf is the kind of a thread that the kernel calls comm and that is no known Java thread.
func (s *Session) kindOf(comm string, unseen map[string]string) string {
	kind := ServiceKind(comm)
	if other := unseen[comm]; kind == KindOther && other != "" {
		return other
	}
	return kind
}

// shareOut gives the kernel's CPU time of an OS thread to the Java thread that
// lives on it and whose own the agent did not report, less what is known of the
// Java threads that it carried before: none of it is counted twice.
// (DestroyJavaVM lives on main's OS thread.)
func (s *Session) shareOut(rows map[int32]store.OSThread) {
	known := map[int32]units.Ns{} // CPU time by the agent, by OS thread
	heir := map[int32]*Thread{}   // the newest Java thread without
	for i := range s.Threads {
		t := &s.Threads[i]
		switch {
		case t.OSID == 0:
		case t.CPU.Measured():
			known[t.OSID] += t.CPU
		case t.EndNs == 0 && (heir[t.OSID] == nil || heir[t.OSID].StartNs <= t.StartNs):
			heir[t.OSID] = t
		}
	}
	for id, t := range heir {
		if r, ok := rows[id]; ok && r.CPUNs != nil {
			t.CPU = max(0, units.Ns(*r.CPUNs)-known[id])
		}
	}
}

// tellWaited gives Java threads with an OS thread of their own what the kernel says
// of it. That counts from the thread's start on: of one that ran before the agent came
// most may be of before. The agent looks once a second, and at its end: of a thread that ended before
// that it saw enough if it saw next to all of its CPU time.
func (s *Session) tellWaited(rows map[int32]store.OSThread) {
	lived := map[int32]int{}
	for i := range s.Threads {
		lived[s.Threads[i].OSID]++
	}
	for i := range s.Threads {
		t := &s.Threads[i]
		r, ok := rows[t.OSID]
		if !ok || t.OSID == 0 || t.StartNs == 0 || lived[t.OSID] > 1 || r.CPUNs == nil || r.RunNs == nil {
			continue
		}
		seen := s.Manifest.Ended == store.EndedExit
		if t.EndNs != 0 {
			seen = t.CPU.Measured() && float64(*r.CPUNs) >= mostSeen*float64(t.CPU)
		}
		if seen {
			t.Waited = new(units.Ns(*r.RunNs))
		}
	}
}

// mostSeen is the share of a thread's CPU time that is next to all of it.
const mostSeen = 0.95

func javaThread(r *store.Thread) Thread {
	t := Thread{
		ID: r.ID, JavaID: r.JavaID, OSID: r.OSID, Name: store.CutName(r.Name), Group: r.Group, Class: r.Class,
		Kind: JavaKind(r.Name, r.Group), Daemon: r.Daemon, Virtual: r.Virtual, CPU: orNotMeasured(r.CPUNs),
		Executor: r.Executor,
	}
	if t.delays() {
		t.Kind = KindVM
	}
	if r.StartNs != nil {
		t.StartNs = units.MonoNs(*r.StartNs)
	}
	if r.EndNs != nil {
		t.EndNs = units.MonoNs(*r.EndNs)
	}
	return t
}

// addCounts takes over what the agent counted; a description without counts
// leaves those of the one before.
func (t *Thread) addCounts(r *store.Thread, before Thread) {
	if r.Executions == nil || r.Creations == nil || r.Lost == nil {
		t.Counted, t.Produced, t.Lost = before.Counted, before.Produced, before.Lost
		return
	}
	t.Counted, t.Lost = true, uint64(*r.Lost)
	t.Produced = store.Counts{Executions: uint64(*r.Executions), Creations: uint64(*r.Creations)}
}

func orNotMeasured(v *int64) units.Ns {
	if v == nil {
		return units.NotMeasured
	}
	return units.Ns(*v)
}
