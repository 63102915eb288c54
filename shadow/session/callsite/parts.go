package callsite

import (
	"strings"

	"stackagent/internal/idmap"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// parts are the fork/join tasks that the JDK creates for one operation (a parallel
// stream or sort). The first is created where the program calls the operation, the
// others inside each other, on any thread. They share the first one's site.
type parts struct {
	operation idmap.Map[uint32] // by class; no entry: its tasks are not parts
	tasks     map[uint64]part
	none      bool // no class has any
}

type part struct {
	outer     uint64 // the task in which it was created
	operation uint32
}

func newParts(s *session.Session) *parts {
	p := &parts{tasks: map[uint64]part{}, none: true}
	numbers := map[string]uint32{}
	for i := range s.Classes {
		c := &s.Classes[i]
		const wanted = units.KindJDK | units.KindForkJoin
		if c.Kinds&wanted != wanted {
			continue
		}
		top, _, nested := strings.Cut(c.Name, "$")
		if !nested {
			continue
		}
		if numbers[top] == 0 {
			numbers[top] = uint32(len(numbers)) + 1
		}
		p.operation.Set(c.ID, new(numbers[top]))
		p.none = false
	}
	return p
}

// add records a task if it is a part.
func (p *parts) add(task, outer uint64, class uint32) {
	if n := p.operation.Get(class); n != nil {
		p.tasks[task] = part{outer, *n}
	}
}

// inherit gives each part without a site the site of the part that created it.
func (p *parts) inherit(x *Index) {
	var chain []uint64
	without := map[uint64]bool{} // nor has any around them
	for task := range p.tasks {
		chain = chain[:0]
		at := task
		for x.list[x.recorded(at)].Site == 0 && !without[at] {
			this := p.tasks[at]
			outer, ok := p.tasks[this.outer]
			// The limit guards against cycles in a damaged session.
			if !ok || outer.operation != this.operation || len(chain) > len(p.tasks) {
				break
			}
			chain = append(chain, at)
			at = this.outer
		}
		site := x.list[x.recorded(at)].Site
		for _, task := range chain {
			if site != 0 {
				x.setSite(task, site)
			} else {
				without[task] = true
			}
		}
	}
}

// OfTasks returns functions that find the site that a part of an operation inherits, as
// listings by site do, and the program's name of a task of the JDK. They return nil and ""
// for a task with a site of its own and for one without such a name.
func OfTasks(s *session.Session) (site func(*session.Task) *session.Site, name func(*session.Task) string, err error) {
	parts := newParts(s)
	if parts.none || len(s.Sites()) == 0 {
		return func(*session.Task) *session.Site { return nil }, func(*session.Task) string { return "" }, nil
	}
	x, err := Of(s)
	if err != nil {
		return nil, nil, err
	}
	site = func(t *session.Task) *session.Site {
		if t.Class == nil || t.CreatedNs == 0 || t.CreatedAt != nil || t.Submission != nil && t.Submission.Site != nil || parts.operation.Get(t.Class.ID) == nil {
			return nil
		}
		return s.SiteByID(x.At(x.OfTask(t.TaskID, t.Class.ID, true)).Site)
	}
	return site, NewNames(x).OfTask, nil
}
