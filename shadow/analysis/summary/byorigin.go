package summary

import (
	"errors"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/idmap"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// ErrNoSubmissions is a listing by site or executor of a session without them.
var ErrNoSubmissions = errors.New("the session has no record of submissions and no sites: profile again with an agent that records them")

// Groupings of a listing beside class and thread.
const (
	BySite     = callsite.BySite
	ByExecutor = callsite.ByExecutor
)

// leftOut is the group of the executions that the filter leaves out.
const leftOut = "(filtered out)"

// BuildByOrigin condenses a session by site or executor: those are the rows of the
// summary. It has no findings.
func BuildByOrigin(s *session.Session, opts Options, by string) (*Summary, error) {
	if err := opts.Filter.Check(); err != nil {
		return nil, err
	}
	sum, err := newAnalysis(s, opts).byOrigin(by)
	if err != nil || opts.Filter.Trace != "" {
		return sum, err
	}
	sum.Hidden, err = findHidden(s)
	return sum, err
}

func (a *analysis) byOrigin(by string) (*Summary, error) {
	g, src, err := a.groups(by)
	if err != nil {
		return nil, err
	}
	opts := a.opts
	opts.Filter = Filter{not: leftOut} // the groups have no classes to filter by
	sum, err := BuildFrom(src, opts)
	if err != nil {
		return nil, err
	}
	sum.Findings = nil
	for i := range sum.Rows {
		r := &sum.Rows[i]
		if by == BySite {
			r.Site = r.Class
		} else {
			r.Executor, r.Executors = r.Class, g.ExecutorsIn(r.Class)
		}
		r.Class, r.Kinds, r.KindNames = "", units.Kinds(0), ""
	}
	if by == BySite && a.opts.Filter.Trace == "" {
		sum.Rows = g.count(sum.Rows)
		sum.markCreations()
	}
	_ = granularity.SortHotspots(sum.Rows, granularity.ByWork) // a known order
	return sum, a.leaveRun(sum)
}

// Groups replace the classes of a source. They are numbered from 0.
type Groups struct {
	Labels []string
	// Executions reads columns as Source.Executions does, with the group of each.
	Executions func(want store.Columns, use func(worker int, c *session.Chunk, group []uint32) error) error
	// OfSummary is the group of what a summary counts; false: it is left out.
	OfSummary func(*session.Summary) (uint32, bool)
}

// groups numbers the sites or executors of a session.
type groups struct {
	*callsite.Index
	by     string
	filter Filter
	ids    map[string]uint32
	labels []string
	passes idmap.Map[bool] // by class
	// threads are the groups of a label that is divided by threads, by the number of their name.
	threads map[uint32][]uint32
	names   *callsite.Names // nil: none
	of      text.Population

	session  *session.Session
	numbers  []uint32          // by origin
	workers  map[uint32]uint32 // by thread: the group of the pool whose worker it is
	unplaced map[uint32]uint32 // by class: the group of its tasks without a site
}

// groups makes a source that is grouped by the sites or executors of tasks.
func (a *analysis) groups(by string) (*groups, Source, error) {
	if !unit.SubmissionsKnown(a.s) && len(a.s.Sites()) == 0 {
		return nil, Source{}, ErrNoSubmissions
	}
	x, err := a.origins()
	if err != nil {
		return nil, Source{}, err
	}
	g := &groups{Index: x, session: a.s, by: by, filter: a.opts.Filter, ids: map[string]uint32{}}
	g.addLabels()
	if g.names, err = a.named(); err != nil {
		return nil, Source{}, err
	}
	classes := a.s.Classes
	if g.names != nil {
		classes = append(classes[:len(classes):len(classes)], g.names.Classes()...)
	}
	for i := range classes {
		c := &classes[i]
		passes := g.filter.Match(c.Name, c.Kinds)
		if g.names != nil {
			passes = g.filter.MatchNamed(c.Name, g.names.From()[c.Name], c.Kinds)
		}
		g.passes.Set(c.ID, &passes)
	}
	src := FromSession(a.s)
	if err := a.ofTrace(&src); err != nil {
		return nil, Source{}, err
	}
	g.numberAll()
	out := g.number(leftOut)
	src.Groups = &Groups{Labels: g.labels, Executions: g.executions(src.Executions, out)}
	src.Groups.OfSummary = func(x *session.Summary) (uint32, bool) {
		return g.ofSummary(x), g.passing(g.summarised(x.Class))
	}
	if a.opts.Units {
		u, err := unit.Of(a.s)
		if err != nil {
			return nil, Source{}, err
		}
		src.Groups.Executions, src.Summaries, src.Of = g.units(u), u.Summaries, text.UnitsOfWork
		g.of = src.Of
	}
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) { return nil, session.ClassCounts{}, nil }
	return g, src, nil
}

// number is the number of a label.
func (g *groups) number(label string) uint32 {
	id, ok := g.ids[label]
	if !ok {
		id = uint32(len(g.labels))
		g.labels, g.ids[label] = append(g.labels, label), id
	}
	return id
}

// numberAll numbers all labels.
func (g *groups) numberAll() {
	g.numbers = make([]uint32, g.Len())
	for id := range g.numbers {
		g.numbers[id] = g.number(g.Label(g.At(callsite.ID(id)), g.by))
	}
	g.numberWorkers(g.session)
	g.numberClasses(g.session)
}

// addLabels numbers the labels that no origin has.
func (g *groups) addLabels() {
	if g.by == BySite {
		for class := range g.SummarisedClasses() {
			g.number(g.SummaryLabel(class))
		}
		return
	}
	g.threads = map[uint32][]uint32{}
	for _, label := range []string{callsite.OwnThread, callsite.NoExecutor, callsite.Summarised} {
		var numbers []uint32
		for _, name := range g.ThreadNames() {
			numbers = append(numbers, g.number(callsite.OnThread(name, label)))
		}
		g.threads[g.number(label)] = numbers
	}
}

// onThread is the group of work with a label that a thread ran.
func (g *groups) onThread(label, thread uint32) uint32 {
	if of := g.threads[label]; of != nil {
		return of[g.ThreadName(thread)]
	}
	return label
}

// summarised is the class, or the name, of a class's summaries.
func (g *groups) summarised(class uint32) uint32 {
	if g.names == nil {
		return class
	}
	return g.names.OfSummaries(class, g.of == text.UnitsOfWork)
}

// passing reports whether executions of a class are wanted.
func (g *groups) passing(class uint32) bool {
	yes := g.passes.Get(class)
	return yes == nil && !g.filter.Active() || yes != nil && *yes
}

type (
	scan        func(store.Columns, func(int, *session.Chunk) error) error
	scanGrouped func(store.Columns, func(int, *session.Chunk, []uint32) error) error
)

// executions reads executions with their groups.
func (g *groups) executions(read scan, out uint32) scanGrouped {
	_, unrecorded := g.Unrecorded()
	return func(want store.Columns, use func(int, *session.Chunk, []uint32) error) error {
		want |= store.ExecutionTaskID | store.ExecutionClass | store.ExecutionFlags | store.ExecutionThread
		if unrecorded {
			want |= store.ExecutionQueue
		}
		group := make([][]uint32, session.Workers())
		return read(want, func(worker int, c *session.Chunk) error {
			column := group[worker][:0]
			for i, class := range c.Class {
				n := out
				if g.names != nil {
					class = g.names.OfExecution(c, i)
				}
				if g.passing(class) {
					n = g.numberOf(g.ofExecution(c, i), c.Class[i], c.Thread[i])
				}
				column = append(column, n)
			}
			group[worker] = column
			return use(worker, c, column)
		})
	}
}

// ofExecution is the origin of execution i of c.
func (g *groups) ofExecution(c *session.Chunk, i int) callsite.ID {
	id := g.OfExecution(c, i)
	unrecorded, any := g.Unrecorded()
	if o := g.At(id); !any || o.Submitted() || g.by == BySite && o.Placed() || i >= len(c.QueueNs) || !c.QueueNs[i].Measured() {
		return id
	}
	return unrecorded
}

// units reads units with their groups.
func (g *groups) units(u *unit.Reader) scanGrouped {
	return func(_ store.Columns, use func(int, *session.Chunk, []uint32) error) error {
		group := func(x *unit.Unit) (uint32, bool) {
			if class, _ := unitClass(g.names)(x); !g.passing(class) {
				return 0, false
			}
			return g.numberOf(g.OfUnit(x, g.by), x.Class, x.Thread), true
		}
		return u.Chunks(group, func(c *session.Chunk, group []uint32) error { return use(0, c, group) })
	}
}

// ofSummary is the group of a summary: the site of its class, if it has one. Summaries do not
// record the executor, but the thread.
func (g *groups) ofSummary(x *session.Summary) uint32 {
	if g.by != BySite {
		return g.number(g.ExecutorOfSummary(x))
	}
	label := g.SummaryLabel(x.Class)
	if n, ok := g.unplaced[x.Class]; ok && label == callsite.NoSite {
		return n
	}
	return g.number(label)
}

// count fills in how many tasks were made and submitted at each site, and adds the
// sites where nothing else happened.
func (g *groups) count(rows []granularity.Hotspot) []granularity.Hotspot {
	type counts struct{ created, submitted, rejected uint64 }
	at := map[string]*counts{}
	for e, n := range g.Counts() {
		class := e.Class
		if g.names != nil {
			class = g.names.AtSite(class, e.Site, g.of == text.UnitsOfWork)
		}
		if !g.passing(class) {
			continue
		}
		label := g.SiteLabel(e.Site)
		switch {
		case e.Kind == wire.SitePart:
			label = callsite.OwnParts
		case e.Site == 0:
			label = g.unknownSite(e.Class)
		}
		if at[label] == nil {
			at[label] = &counts{}
		}
		switch e.Kind {
		case wire.SiteCreation, wire.SitePart:
			at[label].created += n
		case wire.SiteSubmission:
			at[label].submitted += n
		case wire.SiteRejected:
			at[label].rejected += n
		}
	}
	fill := func(r *granularity.Hotspot, c *counts) {
		r.Created, r.Submitted = int64(c.created), int64(c.submitted-min(c.submitted, c.rejected))
	}
	for i := range rows {
		if c := at[rows[i].Site]; c != nil {
			fill(&rows[i], c)
			delete(at, rows[i].Site)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(at)) {
		r := granularity.Hotspot{Site: label, Metrics: granularity.Metrics{}}
		if fill(&r, at[label]); r.Created+r.Submitted > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}
