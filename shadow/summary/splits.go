package summary

import (
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// splits are the fork/join tasks that the platform makes for an operation of its
// own (a parallel stream, a parallel sort): the first is made where the program
// calls the operation, the others inside each other, on any thread, and have
// that place too.
type splits struct {
	operation byID[uint32] // of a class: what its tasks are parts of, 0: of nothing
	tasks     map[uint64]part
	none      bool // no class has any
}

// part is a task that is one.
type part struct {
	outer     uint64
	operation uint32
}

func newSplits(s *session.Session) *splits {
	p := &splits{tasks: map[uint64]part{}, none: true}
	numbers := map[string]uint32{}
	for i := range s.Classes {
		c := &s.Classes[i]
		const wanted = units.KindJDK | units.KindForkJoin
		if c.Kinds&wanted != wanted {
			continue
		}
		top, _, nested := strings.Cut(c.Name, "$")
		if !nested {
			continue // no part of anything
		}
		if numbers[top] == 0 {
			numbers[top] = uint32(len(numbers)) + 1
		}
		p.operation.set(c.ID, new(numbers[top]))
		p.none = false
	}
	return p
}

// add notes a task, if it is a part, and the one in which it was made.
func (p *splits) add(id, outer uint64, class uint32) {
	if n := p.operation.get(class); n != nil {
		p.tasks[id] = part{outer, *n}
	}
}

// inherit gives each part without a place that of the part in which it was made.
func (p *splits) inherit(w *ways) {
	var chain []uint64
	for id := range p.tasks {
		chain = chain[:0]
		at := id
		for w.list[w.numberOf(at)].site == 0 {
			x := p.tasks[at]
			outer, is := p.tasks[x.outer]
			// Ids grow along no chain: a damaged session could have a ring.
			if !is || outer.operation != x.operation || len(chain) > len(p.tasks) {
				break
			}
			chain = append(chain, at)
			at = x.outer
		}
		if site := w.list[w.numberOf(at)].site; site != 0 {
			for _, part := range chain {
				w.place(part, site)
			}
		}
	}
}

// Inherited gives the tasks that tasks of the platform make for an operation of
// the program (a parallel stream) the place of that operation, as listings by
// site do. place is nil for what has a place of its own, or of which none is known.
func Inherited(s *session.Session) (place func(*session.Task) *session.Site, err error) {
	parts := newSplits(s)
	if parts.none || len(s.Sites()) == 0 {
		return func(*session.Task) *session.Site { return nil }, nil
	}
	w, err := newWays(s)
	if err != nil {
		return nil, err
	}
	return func(t *session.Task) *session.Site {
		if t.Class == nil || t.CreatedNs == 0 || t.CreatedAt != nil || t.Submission != nil && t.Submission.Site != nil || parts.operation.get(t.Class.ID) == nil {
			return nil
		}
		return s.SiteByID(w.list[w.wayOf(t.TaskID, t.Class.ID, true)].site)
	}, nil
}
