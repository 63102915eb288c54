package session

import (
	"fmt"
	"sync/atomic"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// maxListedVirtual is how many virtual threads a session may have for each to
// be listed in Threads. Nobody reads a list of a million threads, which would
// take half a gigabyte; they are found by their ids.
const maxListedVirtual = 1 << 15

// Unlisted is how many virtual threads are not in Threads, since there are too
// many; ThreadByID finds them.
func (s *Session) Unlisted() int { return s.virtual.live }

// IsUnlisted reports whether id is one of them.
func (s *Session) IsUnlisted(id uint32) bool { return s.virtual.has(id) }

// virtuals are virtual threads in some 60 bytes each.
type virtuals struct {
	rows  [][]virtualThread // in blocks, so that growing copies nothing
	count int
	names []byte
	words *interner
	index index
	live  int // rows that are not gone
	// made are the latest that were made into a Thread, by the low bits of their
	// ids: executions of one thread come together.
	made [256]atomic.Pointer[Thread]
}

// blockRows is the length of a block.
const blockRows = 1 << 13

func (v *virtuals) at(i int) *virtualThread { return &v.rows[i/blockRows][i%blockRows] }

// virtualThread is a row of the threads table without what all have in common.
type virtualThread struct {
	id           uint32
	name         uint32 // where it begins in names
	length       uint16
	gone, daemon bool
	group, class uint32 // words
	javaID       int64
	start, end   units.MonoNs // 0: not known
	cpu          units.Ns
}

// add keeps r; the last row of an id counts.
func (v *virtuals) add(r *store.Thread, words *interner) {
	v.words = words
	x := virtualThread{id: r.ID, daemon: r.Daemon, group: words.of(r.Group), class: words.of(r.Class), javaID: r.JavaID, cpu: orNotMeasured(r.CPUNs)}
	if r.StartNs != nil {
		x.start = units.MonoNs(*r.StartNs)
	}
	if r.EndNs != nil {
		x.end = units.MonoNs(*r.EndNs)
	}
	at, known := v.index.get(r.ID)
	if known && v.name(v.at(at)) == r.Name {
		x.name, x.length = v.at(at).name, v.at(at).length
	} else {
		x.name, x.length = v.keep(r.Name)
	}
	if known {
		if v.at(at).gone {
			v.live++
		}
		*v.at(at) = x
		return
	}
	if v.count%blockRows == 0 {
		v.rows = append(v.rows, make([]virtualThread, blockRows))
	}
	*v.at(v.count) = x
	v.index.set(r.ID, v.count)
	v.count++
	v.live++
}

// keep appends a name; one that has no room, beyond 4 GiB of names, is "".
func (v *virtuals) keep(name string) (at uint32, length uint16) {
	const most = 1<<32 - 1
	name = name[:min(len(name), 1<<16-1)]
	if name == "" || len(v.names)+len(name) > most {
		return 0, 0
	}
	at = uint32(len(v.names))
	v.names = append(v.names, name...)
	return at, uint16(len(name))
}

func (v *virtuals) name(x *virtualThread) string {
	return string(v.names[x.name : int(x.name)+int(x.length)])
}

// remove forgets an id that another row gives to a platform thread.
func (v *virtuals) remove(id uint32) {
	if at, ok := v.index.get(id); ok && !v.at(at).gone {
		v.at(at).gone = true
		v.live--
	}
}

func (v *virtuals) has(id uint32) bool {
	at, ok := v.index.get(id)
	return ok && !v.at(at).gone
}

// byID makes the thread of that id; nil when it is not there.
func (v *virtuals) byID(id uint32) *Thread {
	if !v.has(id) {
		return nil
	}
	slot := &v.made[id%uint32(len(v.made))]
	if t := slot.Load(); t != nil && t.ID == id {
		return t
	}
	at, _ := v.index.get(id)
	t := v.thread(v.at(at))
	slot.Store(t)
	return t
}

func (v *virtuals) thread(x *virtualThread) *Thread {
	t := &Thread{
		ID: x.id, JavaID: x.javaID, Name: v.name(x), Group: v.words.text(x.group), Class: v.words.text(x.class),
		Daemon: x.daemon, Virtual: true, StartNs: x.start, EndNs: x.end, CPU: x.cpu,
	}
	t.Kind = JavaKind(t.Name, t.Group)
	return t
}

// each calls f with all of them.
func (v *virtuals) each(f func(*Thread)) {
	for i := range v.count {
		if x := v.at(i); !x.gone {
			f(v.thread(x))
		}
	}
}

// interner gives equal texts one number.
type interner struct {
	numbers map[string]uint32
	texts   []string
}

func (w *interner) of(text string) uint32 {
	n, ok := w.numbers[text]
	if !ok {
		if w.numbers == nil {
			w.numbers = map[string]uint32{}
		}
		n = uint32(len(w.texts))
		w.numbers[text] = n
		w.texts = append(w.texts, text)
	}
	return n
}

func (w *interner) text(n uint32) string { return w.texts[n] }

// VirtualThreads calls f with how each virtual thread was scheduled, or each
// group of them recorded together (Thread 0), in the order of the batches.
// Sessions without virtual threads, or of older agents, have none.
func (s *Session) VirtualThreads(f func(*store.VirtualThread)) error {
	bad, err := s.folder.ReadVirtualThreads(f)
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading how the virtual threads of session %s were scheduled: %w", s.Manifest.Session, err)
	}
	return nil
}

// EachVirtual calls f with every virtual thread, also those that Threads does not list. f must not keep them.
func (s *Session) EachVirtual(f func(*Thread)) {
	for i := range s.Threads {
		if t := &s.Threads[i]; t.Virtual {
			f(t)
		}
	}
	s.virtual.each(f)
}
