// Package callsite finds where tasks come from: the call site and the executor of
// each task's submission, or where it was created. An Index is built once per session.
package callsite

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// Origin is where a task was submitted, and to which executor. The zero Origin is
// unknown.
type Origin struct {
	Site, Executor uint32
	named          uint32 // the executor that the program named, if that passed the task on to Executor
	thread         bool   // submitted by starting a thread
	sites          bool   // several sites, so Site is 0
	executors      bool   // several executors, so Executor is 0; starting a thread counts as one
	rejected       bool   // the latest submission was rejected: the next one replaces it
	summary        bool   // of a summary, which names no executor
	unrecorded     bool   // submitted, but the submission is in a summary
}

// ID is the number of an origin in its Index; 0: unknown. In its upper half is the number of one with the site, where the
// origin itself has none: the classes that have a site for such tasks may be many, and so may the origins.
type ID uint64

// As is the number below Len of an origin that has the same label.
func (id ID) As(by string) ID {
	if placed := id >> 32; placed != 0 && by == BySite {
		return placed
	}
	return id & (1<<32 - 1)
}

// Index finds the origin of each task, with 4 bytes a task. It does not change once it is made, but for labels that are put together on demand.
type Index struct {
	s     *session.Session
	list  []Origin // by ID
	ids   map[Origin]ID
	pages map[uint64]*[64]uint32
	lines map[uint32]uint32 // by site: the first one with the same label
	// unrecorded is the origin of tasks whose submission has no record of its own,
	// 0 if no submission was summarised.
	unrecorded ID

	classes *classCounts
	found   map[uint32]foundOrigin // of summarised executions, by class
	nowhere foundOrigin            // of a class without any

	// placed is, by class, an origin with the only site of the class, for those of its tasks that have
	// none. It serves recorded tasks of classes that were partly summarised.
	placed map[uint32]ID

	// submittedAt replaces, by class, the origin of tasks whose submission has no record of its
	// own, if all submissions of the class are at one site.
	submittedAt map[uint32]ID

	executors func() *executorNames // put together when first asked for, like those of threads
	threads   func() *threadNames
}

// Of is the index of a session, which is made once: it is for any number of goroutines.
func Of(s *session.Session) (*Index, error) { return session.Shared(s, newIndex) }

// newIndex reads all submissions, and the creations of tasks, for those without a
// submission or without its site.
func newIndex(s *session.Session) (*Index, error) {
	x := &Index{s: s, list: make([]Origin, 1), ids: map[Origin]ID{}, pages: map[uint64]*[64]uint32{}, lines: linesOf(s), classes: newClassCounts(s)}
	parts := newParts(s)
	for _, read := range []func() error{
		func() error { return s.Submissions(x.submissions) },
		func() error {
			return s.Creations(func(c *session.CreationChunk) error { return x.creations(c, parts) })
		},
		func() error { parts.inherit(x); return x.classes.readSummaries(s) },
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("reading the submissions of session %s: %w", s.Manifest.Session, err)
		}
	}
	if h := s.Manifest.Submissions; h != nil && h.Summarised > 0 {
		x.unrecorded = x.id(Origin{unrecorded: true})
	}
	x.placeClasses()
	x.placeUnrecorded()
	x.placeSummaries()
	x.executors, x.threads = sync.OnceValue(func() *executorNames { return x.nameExecutors(false) }), sync.OnceValue(x.threadNamesOf)
	return x, nil
}

// submissions adds a chunk. A library's submission belongs to the wrapper that it
// submits; the task inside has the program's own.
func (x *Index) submissions(c *session.SubmissionChunk) error {
	for i, task := range c.TaskID {
		flags := wire.SubmissionFlags(c.Flags[i])
		x.classes.submission(c.Class[i], flags, c.Site[i])
		o := Origin{Site: x.line(c.Site[i]), Executor: c.Executor[i], named: c.Executor[i], thread: flags&wire.Started != 0}
		switch {
		case flags&wire.Rejected != 0:
			x.reject(task, o.Executor)
		case flags&wire.NoSubmission == 0:
			x.submit(task, o, flags&wire.Inner != 0)
		}
	}
	return nil
}

func (x *Index) creations(c *session.CreationChunk, parts *parts) error {
	for i, task := range c.TaskID {
		site := uint32(0)
		if i < len(c.Site) {
			site = c.Site[i]
		}
		if site != 0 {
			x.setSite(task, x.line(site))
		}
		x.classes.creation(c.Class[i], wire.CreationFlags(c.Flags[i]), site)
		parts.add(task, c.OuterTaskID[i], c.Class[i])
	}
	return nil
}

// submit records a submission of a task. An inner one is a library's: an executor
// forwards to another, or queues a periodic task again. Then the site stays the
// program's, and the executor is the last one.
func (x *Index) submit(task uint64, o Origin, inner bool) {
	old := x.list[*x.at(task)]
	switch d := x.delays(old.named); {
	case d && old.named == old.Executor:
		inner = true
	case !d && old != Origin{} && x.delays(o.named): // recorded later, by another thread
		old, o, inner = o, old, true
	}
	switch {
	case old == Origin{} || old.rejected && !inner:
	case inner:
		o.named, o.sites, o.executors = old.named, old.sites, old.executors
		if old.Site != 0 || old.sites {
			o.Site = old.Site
		}
	default:
		o.sites = old.sites || old.Site != o.Site
		o.executors = old.executors || old.named != o.named || old.thread != o.thread
		if o.named == old.named {
			o.Executor = old.Executor // assume that an executor always forwards to the same one
		}
	}
	if o.sites {
		o.Site = 0
	}
	if o.executors {
		o.Executor, o.named, o.thread = 0, 0, false
	}
	*x.at(task) = uint32(x.id(o))
}

// delayedExecutor submits its tasks to another executor later, on a thread of the JDK.
const delayedExecutor = "java.util.concurrent.CompletableFuture$DelayedExecutor"

// delays reports whether an executor only waits before it passes a task on.
func (x *Index) delays(executor uint32) bool {
	e := x.s.ExecutorByID(executor)
	return e != nil && e.Class == delayedExecutor
}

// reject records that an executor rejected a task.
func (x *Index) reject(task uint64, executor uint32) {
	if old := x.list[*x.at(task)]; old.Executor == executor || old.named == executor {
		old.rejected = true
		*x.at(task) = uint32(x.id(old))
	}
}

// setSite gives a task a site if it has none.
func (x *Index) setSite(task uint64, site uint32) {
	if o := x.list[x.recorded(task)]; o.Site == 0 && !o.sites {
		o.Site = site
		*x.at(task) = uint32(x.id(o))
	}
}

// at is where the origin of a task is kept.
func (x *Index) at(task uint64) *uint32 {
	p := x.pages[task>>6]
	if p == nil {
		p = new([64]uint32)
		x.pages[task>>6] = p
	}
	return &p[task&63]
}

// recorded is the origin of a task by its own records.
func (x *Index) recorded(task uint64) ID {
	if p := x.pages[task>>6]; p != nil {
		return ID(p[task&63])
	}
	return 0
}

// id is the number of o; it adds o if it is new.
func (x *Index) id(o Origin) ID {
	id, ok := x.ids[o]
	if !ok {
		id = ID(len(x.list))
		x.list, x.ids[o] = append(x.list, o), id
	}
	return id
}

// linesOf maps each site to the first one with the same label: each call on a line has
// a site of its own.
func linesOf(s *session.Session) map[uint32]uint32 {
	first, lines := map[string]uint32{}, map[uint32]uint32{}
	for _, site := range s.Sites() {
		label := site.Label() + "\x00" + site.Calls + "\x00" + site.Function
		if same, ok := first[label]; ok {
			lines[site.ID] = same
		} else {
			first[label] = site.ID
		}
	}
	return lines
}

func (x *Index) line(site uint32) uint32 {
	if same, ok := x.lines[site]; ok {
		return same
	}
	return site
}

// placeClasses finds the sites of classes for recorded tasks without one: their submission may be in a summary.
func (x *Index) placeClasses() {
	x.placed = map[uint32]ID{}
	for _, class := range slices.Sorted(maps.Keys(x.classes.placed)) {
		if site := x.classes.origin(x.s, class, true).site; site != 0 {
			x.placed[class] = x.id(Origin{Site: x.line(site)})
		}
	}
}

// placeUnrecorded finds the classes whose tasks were all submitted at one site.
func (x *Index) placeUnrecorded() {
	x.submittedAt = map[uint32]ID{}
	if x.unrecorded == 0 {
		return
	}
	submitted := map[uint32]bool{}
	for e := range x.classes.counts {
		if e.Kind == wire.SiteSubmission {
			submitted[e.Class] = true
		}
	}
	for _, class := range slices.Sorted(maps.Keys(submitted)) {
		if site := x.classes.submissionSite(x.s, class); site != 0 {
			x.submittedAt[class] = x.id(Origin{Site: x.line(site), unrecorded: true})
		}
	}
}

// foundOrigin is the origin of all summarised executions of a class.
type foundOrigin struct {
	classOrigin
	id ID
}

// placeSummaries finds the origins of the summarised executions of classes.
func (x *Index) placeSummaries() {
	of := func(class uint32) foundOrigin {
		o := x.classes.origin(x.s, class, false)
		return foundOrigin{o, x.id(Origin{Site: o.site, summary: true})}
	}
	x.nowhere, x.found = foundOrigin{classOrigin{why: NoSite}, x.id(Origin{summary: true})}, map[uint32]foundOrigin{}
	for _, class := range slices.Sorted(maps.Keys(x.classes.totals)) {
		x.found[class] = of(class)
	}
}

// unrecordedOf is the origin of a task of the class whose submission has no record, in a task of a second class.
func (x *Index) unrecordedOf(class, around uint32) ID {
	for _, c := range []uint32{class, around} {
		if id, ok := x.submittedAt[c]; ok {
			return id
		}
	}
	return x.unrecorded
}
