package callsite

import (
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// The groupings of a listing by origin.
const (
	BySite     = "site"
	ByExecutor = "executor"
)

// Labels that replace a site or an executor.
const (
	NoSite       = "(call site unknown)"
	NoExecutor   = "(no executor)"
	OwnThread    = "(own thread)"
	Several      = "(several)"
	Summarised   = "(summarised: not separated)"
	SeveralSites = "(summarised: several sites)"
	OwnParts     = "(part of a task of its class)"
	UnknownSite  = "(description lost)"
)

// Len is the number of origins: what As returns is less.
func (x *Index) Len() int { return len(x.list) }

// At is the origin with that number.
func (x *Index) At(id ID) Origin {
	o := x.list[uint32(id)]
	if placed := id >> 32; placed != 0 {
		o.Site = x.list[placed].Site
	}
	return o
}

// Submitted reports whether the task itself was submitted, as far as recorded.
func (o Origin) Submitted() bool { return o.Executor != 0 || o.thread || o.executors }

// Placed reports whether a site is known, or several are.
func (o Origin) Placed() bool { return o.Site != 0 || o.sites }

// SeveralExecutors reports whether the task was submitted to more than one.
func (o Origin) SeveralExecutors() bool { return o.executors }

// OfSummary reports whether o is the origin of summarised executions.
func (o Origin) OfSummary() bool { return o.summary }

// OfTask is the origin of a recorded task of a class; seen: its creation was.
func (x *Index) OfTask(task uint64, class uint32, seen bool) ID {
	id := x.recorded(task)
	if seen {
		return x.improved(id, class)
	}
	return id
}

// improved is an origin with the site of the class, if it has none and the class has one.
func (x *Index) improved(id ID, class uint32) ID {
	placed, ok := x.placed[class]
	if !ok {
		return id
	}
	o := x.At(id)
	if o.Site != 0 || o.sites {
		return id
	}
	o.Site = x.list[placed].Site
	if same, ok := x.ids[o]; ok {
		return same
	}
	return placed<<32 | id
}

// OfExecution is the origin of the task of execution i of c.
func (x *Index) OfExecution(c *session.Chunk, i int) ID {
	return x.OfTask(c.TaskID[i], c.Class[i], wire.ExecutionFlags(c.Flags[i])&wire.CreationUnseen == 0)
}

// Unrecorded is the origin of tasks whose submissions were summarised; ok is false if
// there are none.
func (x *Index) Unrecorded() (id ID, ok bool) { return x.unrecorded, x.unrecorded != 0 }

// OfUnit is the origin of a unit, with the site of its class if it has none of its
// own.
func (x *Index) OfUnit(u *unit.Unit, by string) ID {
	id := x.ofUnit(u, by)
	if u.Unseen {
		return id
	}
	return x.improved(id, u.Class)
}

// ofUnit is the origin of the task that the unit is named after, else of the wrapper
// around it, else of the thread started for it. A submission goes before a creation, but not
// one by a server of the JDK: then the program's task has its own site. A task of the user's
// definitions runs on the executor of the task that calls it.
func (x *Index) ofUnit(u *unit.Unit, by string) ID {
	id, root := x.recorded(u.Named), x.recorded(u.Root)
	named, around := x.list[id], x.list[root]
	switch {
	case named.Submitted():
		return id
	case by == BySite && x.ofProgram(named.Site) && around.Site != 0 && !x.ofProgram(around.Site):
		return id
	case around.Submitted() && (by == ByExecutor || around.Placed() || !named.Placed()):
		return root
	case by == BySite && named.Placed():
		return id
	case by == BySite && around.Placed():
		return root
	case u.StartedAs != 0:
		return x.recorded(u.StartedAs)
	case u.Submitted && x.unrecorded != 0:
		submitted, made := x.unrecordedOf(u.Class, u.Around), x.improved(id, u.Class)
		if by == BySite && !u.Unseen && x.ofProgram(x.At(made).Site) && !x.ofProgram(x.At(submitted).Site) {
			return made
		}
		return submitted
	}
	if outer := x.recorded(u.Outer); by == ByExecutor && x.list[outer].Executor != 0 {
		return outer
	}
	return id
}

// ofProgram reports whether a site is in the program, not in a class of the JDK.
func (x *Index) ofProgram(site uint32) bool {
	s := x.s.SiteByID(site)
	return s != nil && !unit.IsJDK(s.Class, 0)
}

// OfSummaries is the origin of all summarised executions of a class.
func (x *Index) OfSummaries(class uint32) ID { return x.ofSummaries(class).id }

// SummaryLabel is the label of the site of a class's summarised executions, or why
// there is none.
func (x *Index) SummaryLabel(class uint32) string {
	o := x.ofSummaries(class)
	if o.site == 0 {
		return o.why
	}
	return x.SiteLabel(o.site)
}

func (x *Index) ofSummaries(class uint32) foundOrigin {
	if o, ok := x.found[class]; ok {
		return o
	}
	return x.nowhere
}

// SiteOf is the label of the site of all tasks of a summarised class; "": none, or
// several.
func (x *Index) SiteOf(class uint32) string {
	if !x.HasSummaries(class) {
		return ""
	}
	if o := x.list[x.OfSummaries(class)]; o.Site != 0 {
		return x.Label(o, BySite)
	}
	return ""
}

// HasSummaries reports whether executions of a class were summarised.
func (x *Index) HasSummaries(class uint32) bool {
	t := x.classes.totals[class]
	return t != nil && t.executions > 0
}

// Label names the site or the executor of an origin.
func (x *Index) Label(o Origin, by string) string {
	switch {
	case o.unrecorded && (by == ByExecutor || o.Site == 0):
		return Summarised
	case by == BySite && o.sites, by == ByExecutor && o.executors:
		return Several
	case by == BySite:
		return x.SiteLabel(o.Site)
	case o.thread:
		return OwnThread
	case o.Executor == 0:
		return NoExecutor
	}
	return x.ExecutorLabel(o.Executor)
}

// SiteLabel names a site; 0: unknown.
func (x *Index) SiteLabel(site uint32) string {
	if site == 0 {
		return NoSite
	}
	if s := x.s.SiteByID(site); s != nil {
		return s.Label()
	}
	return UnknownSite
}
