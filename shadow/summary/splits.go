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
}

// part is a task that is one.
type part struct {
	outer     uint64
	operation uint32
}

func newSplits(s *session.Session) *splits {
	p := &splits{tasks: map[uint64]part{}}
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
