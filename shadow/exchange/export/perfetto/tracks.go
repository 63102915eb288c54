package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/heap"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Numbers of tracks: what a track is, and which.
const (
	trackProcess = 1

	trackThread uint64 = iota << 32
	trackLane
	trackCounter
	trackPauses
	trackNotes
	trackVirtual
)

// Tracks beside that of a thread.
const (
	waitsBit   uint64 = 1 << 62
	apartShift        = 40 // 1 to maxApart + 1 of them
)

// maxVirtualTracks is up to how many virtual threads have a track each. More share tracks, as many as lived at once.
const maxVirtualTracks = 256

const (
	descriptorUUID, descriptorName, descriptorProcess, descriptorThread, descriptorParent, descriptorCounter = 1, 2, 3, 4, 5, 8
)

// tracks are the tracks that were described.
type tracks struct {
	w      *writer
	s      *session.Session
	known  map[uint64]bool
	tids   map[int32]bool
	lanes  map[uint32]uint32 // of virtual threads; nil: each has a track of its own
	spans  map[uint64]*nesting
	shared int // tracks that virtual threads share
}

func newTracks(w *writer, s *session.Session) *tracks {
	t := &tracks{w: w, s: s, known: map[uint64]bool{}, tids: map[int32]bool{}, spans: map[uint64]*nesting{}}
	t.assignLanes()
	return t
}

// process describes the JVM, the parent of all other tracks.
func (t *tracks) process() error {
	j := &t.s.Manifest.JVM
	p := number(nil, 1, uint64(max(0, j.PID)))
	p = str(p, 6, clean(j.MainClass))
	labels := []string{j.Name + " " + j.Version, j.GC, "session " + t.s.Manifest.Session}
	for _, l := range t.s.Manifest.Labels.Pairs() {
		labels = append(labels, l.Name+"="+l.Value)
	}
	for _, label := range labels {
		p = str(p, 8, clean(label))
	}
	return t.w.track(message(number(nil, descriptorUUID, trackProcess), descriptorProcess, p))
}

// named describes a track once.
func (t *tracks) named(uuid, parent uint64, name string, more func([]byte) []byte) error {
	if t.known[uuid] {
		return nil
	}
	t.known[uuid] = true
	d := number(nil, descriptorUUID, uuid)
	if name != "" {
		d = str(d, descriptorName, clean(name))
	}
	d = number(d, descriptorParent, parent)
	if more != nil {
		d = more(d)
	}
	return t.w.track(d)
}

// thread is the track of a thread. The slices of a virtual thread that has none of its own name it.
func (t *tracks) thread(id uint32) (track uint64, shared bool, err error) {
	if lane, ok := t.lanes[id]; ok {
		track = trackLane + uint64(lane)
		return track, true, t.virtual(track, fmt.Sprintf("virtual threads %d", lane+1))
	}
	track = trackThread + uint64(id)
	if t.known[track] {
		return track, false, nil
	}
	x := t.s.ThreadByID(id)
	switch {
	case x == nil:
		return track, false, t.named(track, trackProcess, fmt.Sprintf("unknown thread %d", id), nil)
	case x.Virtual:
		return track, false, t.virtual(track, x.Label())
	case x.OSID <= 0 || t.tids[x.OSID]: // the trace knows threads by the kernel's ids, which may come again
		return track, false, t.named(track, trackProcess, x.Label(), nil)
	}
	t.tids[x.OSID] = true
	return track, false, t.named(track, trackProcess, "", func(d []byte) []byte {
		m := number(number(nil, 1, uint64(max(0, t.s.Manifest.JVM.PID))), 2, uint64(x.OSID))
		return message(d, descriptorThread, str(m, 5, clean(x.Name)))
	})
}

func (t *tracks) virtual(track uint64, name string) error {
	if err := t.named(trackVirtual, trackProcess, "virtual threads", nil); err != nil {
		return err
	}
	return t.named(track, trackVirtual, name, nil)
}

// assignLanes gives virtual threads that live at different times the same track, if there are many.
func (t *tracks) assignLanes() {
	type life struct {
		id       uint32
		from, to units.MonoNs
	}
	var lives []life
	m := &t.s.Manifest
	t.s.EachVirtual(func(x *session.Thread) {
		l := life{x.ID, cmp.Or(x.StartNs, m.StartNs), cmp.Or(x.EndNs, m.EndNs)}
		lives = append(lives, l)
	})
	if len(lives) <= maxVirtualTracks {
		return
	}
	slices.SortFunc(lives, func(a, b life) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id)) })
	t.lanes = make(map[uint32]uint32, len(lives))
	var busy heap.Heap[lane]
	for _, l := range lives {
		if len(busy) > 0 && busy[0].until < l.from {
			busy[0].until = l.to
			t.lanes[l.id] = busy[0].lane
			busy.Fix()
			continue
		}
		t.lanes[l.id] = uint32(len(busy))
		busy.Push(lane{uint32(len(busy)), l.to})
	}
	t.shared = len(busy)
}

// lane is a shared track and when its last thread ends.
type lane struct {
	lane  uint32
	until units.MonoNs
}

// Before reports whether l is free before o.
func (l lane) Before(o lane) bool { return l.until < o.until }

// nestingOf holds the slices of a track.
func (t *tracks) nestingOf(track uint64) *nesting {
	n := t.spans[track]
	if n == nil {
		n = new(nesting)
		t.spans[track] = n
	}
	return n
}
