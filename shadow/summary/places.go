package summary

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// ErrNoHandOvers is a listing by site or executor of a session without them.
var ErrNoHandOvers = errors.New("the session has no record of hand-overs and no sites: profile again with an agent that records them")

// Groupings of a listing beside class and thread.
const (
	BySite     = "site"
	ByExecutor = "executor"
)

// What stands in the place of a site or an executor that there is not.
const (
	noSite      = "(place not known)"
	noExecutor  = "(not handed to an executor)"
	aThread     = "(a thread of its own)"
	severalWays = "(several)"
	inSummaries = "(summarised: not told apart)"

	severalPlaces = "(several places, counted together)"
	inParts       = "(made inside a task of its own class)"
	unknownPlace  = "(description lost)"
	leftOut       = "(left out by the filter)"
)

// way is how a task was handed over: where and to whom. The zero way is not
// known.
type way struct {
	site, executor uint32
	named          uint32 // the executor that the program handed it to, where that passed it on to executor
	thread         bool   // by starting a thread
	sites          bool   // several, in place of site
	executors      bool   // the same; starting a thread is one of them
	refused        bool   // the latest was: the next stands in its place
	counted        bool   // in summaries, which tell no executor
	unrecorded     bool   // handed over, summarised with others: in which way is not told
}

// ways joins tasks to the way in which they were handed over: 4 bytes a task.
type ways struct {
	s     *session.Session
	list  []way // list[0]: not known
	index map[way]uint32
	pages map[uint64]*[64]uint32
	lines map[uint32]uint32 // of a site, the first of those that are told alike
	// unrecorded is the number of the way of what was handed over without a record
	// of its own, 0 if no hand-over was summarised.
	unrecorded uint32

	from  *origins
	found map[uint32]origin // by class

	// Of recorded tasks of classes that were partly summarised, and whose own
	// records do not tell a place: the way with the place of the whole class.
	better map[betterKey]uint32
}

// delays hands what it is given to another executor, later and on a thread of
// the platform's.
const delays = "java.util.concurrent.CompletableFuture$DelayedExecutor"

// newWays reads all submissions, and where tasks without one, or whose place it
// does not tell, were created.
func newWays(s *session.Session) (*ways, error) {
	w := &ways{s: s, list: make([]way, 1), index: map[way]uint32{}, pages: map[uint64]*[64]uint32{}, lines: linesOf(s), from: newOrigins(s), found: map[uint32]origin{}}
	// A library's hand-over counts for the wrapper; its task bears the program's own.
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			flags := wire.SubmissionFlags(c.Flags[i])
			w.from.submission(c.Class[i], flags, c.Site[i])
			x := way{site: w.line(c.Site[i]), executor: c.Executor[i], named: c.Executor[i], thread: flags&wire.Started != 0}
			switch {
			case flags&wire.Rejected != 0:
				w.takeBack(id, x.executor)
			case flags&wire.NoSubmission == 0:
				w.add(id, x, flags&wire.Inner != 0)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	splits := newSplits(s)
	err = s.Creations(func(c *session.CreationChunk) error {
		for i, id := range c.TaskID {
			site := uint32(0)
			if i < len(c.Site) {
				site = c.Site[i]
			}
			if site != 0 {
				w.place(id, w.line(site))
			}
			w.from.creation(c.Class[i], wire.CreationFlags(c.Flags[i]), site)
			splits.add(id, c.OuterTaskID[i], c.Class[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	splits.inherit(w)
	if err := w.from.summarised(s); err != nil {
		return nil, err
	}
	if h := s.Manifest.Submissions; h != nil && h.Summarised > 0 {
		w.unrecorded = w.number(way{unrecorded: true})
	}
	w.improve()
	return w, nil
}

type betterKey struct{ class, way uint32 }

// improve gives recorded tasks the place of their class, if it has one: those
// that are parts of tasks which were only counted have no other.
func (w *ways) improve() {
	w.better = map[betterKey]uint32{}
	ways := len(w.list)
	for _, class := range slices.Sorted(maps.Keys(w.from.placed)) {
		site := w.from.of(w.s, class, true).site
		if site == 0 {
			continue
		}
		for n := range ways {
			if x := w.list[n]; x.site == 0 && !x.sites {
				x.site = w.line(site)
				w.better[betterKey{class, uint32(n)}] = w.number(x)
			}
		}
	}
}

// wayOf is the number of the way of a recorded task of a class; seen: its creation was.
func (w *ways) wayOf(id uint64, class uint32, seen bool) uint32 {
	n := w.numberOf(id)
	if seen {
		return w.improved(n, class)
	}
	return n
}

func (w *ways) improved(n, class uint32) uint32 {
	if better, ok := w.better[betterKey{class, n}]; ok {
		return better
	}
	return n
}

// originOf is where the summarised executions of a class belong.
func (w *ways) originOf(class uint32) origin {
	x, ok := w.found[class]
	if !ok {
		x = w.from.of(w.s, class, false)
		w.found[class] = x
	}
	return x
}

// placeOf names the place where all tasks of a class that was summarised come
// from; "": there is none, or several.
func (w *ways) placeOf(class uint32) string {
	if t := w.from.totals[class]; t == nil || t.executions == 0 {
		return ""
	}
	if x := w.list[w.summarisedWay(class)]; x.site != 0 {
		return w.label(x, BySite)
	}
	return ""
}

// summarisedWay is the number of the way of all of them.
func (w *ways) summarisedWay(class uint32) uint32 {
	return w.number(way{site: w.originOf(class).site, counted: true})
}

// linesOf finds the sites that are told alike: of two calls on one line each has
// its own.
func linesOf(s *session.Session) map[uint32]uint32 {
	first, lines := map[string]uint32{}, map[uint32]uint32{}
	for _, x := range s.Sites() {
		label := x.Label()
		if same, ok := first[label]; ok {
			lines[x.ID] = same
		} else {
			first[label] = x.ID
		}
	}
	return lines
}

func (w *ways) line(site uint32) uint32 {
	if same, ok := w.lines[site]; ok {
		return same
	}
	return site
}

// place gives a task a place, where it has none.
func (w *ways) place(id uint64, site uint32) {
	x := w.list[w.numberOf(id)]
	if x.site == 0 && !x.sites {
		x.site = site
		w.set(id, x)
	}
}

func (w *ways) at(id uint64) *uint32 {
	p := w.pages[id>>6]
	if p == nil {
		p = new([64]uint32)
		w.pages[id>>6] = p
	}
	return &p[id&63]
}

// add notes a hand-over of a task. An inner one is a library's: an executor that
// forwards to another, or queues a periodic task anew. The place is the
// program's then, and the executor the one at which it has arrived.
func (w *ways) add(id uint64, x way, inner bool) {
	old := w.list[*w.at(id)]
	switch d := w.delay(old.named); {
	case d && old.named == old.executor:
		inner = true
	case !d && old != way{} && w.delay(x.named): // told later, as by another thread
		old, x, inner = x, old, true
	}
	switch {
	case old == way{} || old.refused && !inner:
	case inner:
		x.named, x.sites, x.executors = old.named, old.sites, old.executors
		if old.site != 0 || old.sites {
			x.site = old.site
		}
	default:
		x.sites = old.sites || old.site != x.site
		x.executors = old.executors || old.named != x.named || old.thread != x.thread
		if x.named == old.named {
			x.executor = old.executor // by the same executor to the same one, as far as is known
		}
	}
	if x.sites {
		x.site = 0
	}
	if x.executors {
		x.executor, x.named, x.thread = 0, 0, false
	}
	w.set(id, x)
}

// delay tells whether an executor only waits before it passes a task on.
func (w *ways) delay(executor uint32) bool {
	x := w.s.ExecutorByID(executor)
	return x != nil && x.Class == delays
}

// takeBack notes that an executor has refused a task.
func (w *ways) takeBack(id uint64, executor uint32) {
	if old := w.list[*w.at(id)]; old.executor == executor || old.named == executor {
		old.refused = true
		w.set(id, old)
	}
}

func (w *ways) set(id uint64, x way) { *w.at(id) = w.number(x) }

// number is the place of x in the list.
func (w *ways) number(x way) uint32 {
	n, ok := w.index[x]
	if !ok {
		n = uint32(len(w.list))
		w.list, w.index[x] = append(w.list, x), n
	}
	return n
}

// handed tells whether the task itself was handed over.
func (x way) handed() bool { return x.executor != 0 || x.thread || x.executors }

// placed tells whether a place is known, or several.
func (x way) placed() bool { return x.site != 0 || x.sites }

// ofUnit is the number of the way of a unit, with the place of its class where
// it tells none of its own.
func (w *ways) ofUnit(x *unit.Unit, by string) uint32 {
	n := w.ofUnitItself(x, by)
	if x.Unseen {
		return n
	}
	return w.improved(n, x.Class)
}

// ofUnitItself is that of the task it is named after, or of the wrapper around
// it, or the thread started for it, where that tells nothing. Where it was handed
// over goes before where it was made.
func (w *ways) ofUnitItself(x *unit.Unit, by string) uint32 {
	n, root := w.numberOf(x.Named), w.numberOf(x.Root)
	named, around := w.list[n], w.list[root]
	switch {
	case named.handed():
		return n
	case around.handed() && (by == ByExecutor || around.placed() || !named.placed()):
		return root
	case by == BySite && named.placed():
		return n
	case by == BySite && around.placed():
		return root
	case x.StartedAs != 0:
		return w.numberOf(x.StartedAs)
	case x.HandedOver && w.unrecorded != 0:
		return w.unrecorded
	}
	return n
}

// label names the way's site or executor.
func (w *ways) label(x way, by string) string {
	switch {
	case x.unrecorded && (by == ByExecutor || x.site == 0):
		return inSummaries
	case by == BySite && x.sites, by == ByExecutor && x.executors:
		return severalWays
	case by == BySite && x.site == 0:
		return noSite
	case by == BySite:
		if s := w.s.SiteByID(x.site); s != nil {
			return s.Label()
		}
		return unknownPlace
	case x.thread:
		return aThread
	case x.executor == 0:
		return noExecutor
	}
	return executorLabel(w.s.ExecutorByID(x.executor), x.executor)
}

func executorLabel(e *session.Executor, id uint32) string {
	if e == nil {
		return fmt.Sprintf("executor %d %s", id, unknownPlace)
	}
	label := fmt.Sprintf("%s#%d", e.Class, id)
	if e.Name != "" {
		label += " " + e.Name
	}
	return label
}

// places is a source whose classes are the sites or executors of tasks.
type places struct {
	*ways
	by     string
	filter Filter
	ids    map[string]uint32
	names  []string
	passes byID[bool]
}

// placed groups the executions, or units, of a session by site or executor.
func placed(s *session.Session, opts Options, by string) (Source, *places, error) {
	if !handOvers(s) && len(s.Sites()) == 0 {
		return Source{}, nil, ErrNoHandOvers
	}
	w, err := newWays(s)
	if err != nil {
		return Source{}, nil, fmt.Errorf("reading the hand-overs of session %s: %w", s.Manifest.Session, err)
	}
	p := &places{ways: w, by: by, filter: opts.Filter, ids: map[string]uint32{}}
	for class := range w.from.totals {
		p.summarisedGroup(class)
	}
	for _, x := range w.list {
		p.group(w.label(x, by))
	}
	for i := range s.Classes {
		c := &s.Classes[i]
		p.passes.set(c.ID, new(p.filter.Match(c.Name, c.Kinds)))
	}
	src := FromSession(s)
	read := p.executions(s.ScanExecutions)
	if opts.Units {
		u, err := NewUnits(s)
		if err != nil {
			return Source{}, nil, err
		}
		read, src.Summaries, src.Of = p.units(u), u.Source().Summaries, granularity.UnitsOfWork
	}
	src.Executions, src.Classes = read, nil
	src.Summaries = p.summaries(src.Summaries)
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) { return nil, session.ClassCounts{}, nil }
	for i, name := range p.names {
		src.Classes = append(src.Classes, session.Class{ID: uint32(i) + 1, Name: name})
	}
	return withQueue(src), p, nil
}

// count fills in how many tasks were made and handed over at each place, and
// adds the places where nothing else happened.
func (p *places) count(rows []granularity.Hotspot) []granularity.Hotspot {
	type counts struct{ created, handed, refused uint64 }
	at := map[string]*counts{}
	for k, n := range p.from.counts {
		if !p.passing(k.class) {
			continue
		}
		label := p.label(way{site: k.site}, BySite)
		if k.kind == wire.SitePart {
			label = inParts
		}
		if at[label] == nil {
			at[label] = &counts{}
		}
		switch k.kind {
		case wire.SiteCreation, wire.SitePart:
			at[label].created += n
		case wire.SiteSubmission:
			at[label].handed += n
		case wire.SiteRejected:
			at[label].refused += n
		}
	}
	fill := func(r *granularity.Hotspot, c *counts) {
		r.Created, r.HandedOver = int64(c.created), int64(c.handed-min(c.handed, c.refused))
	}
	for i := range rows {
		if c := at[rows[i].Site]; c != nil {
			fill(&rows[i], c)
			delete(at, rows[i].Site)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(at)) {
		r := granularity.Hotspot{Site: label, Metrics: granularity.Metrics{}}
		if fill(&r, at[label]); r.Created+r.HandedOver > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// group is the number of a label, from 1.
func (p *places) group(label string) uint32 {
	id, ok := p.ids[label]
	if !ok {
		p.names = append(p.names, label)
		id = uint32(len(p.names))
		p.ids[label] = id
	}
	return id
}

// passing tells whether executions of a class are wanted.
func (p *places) passing(class uint32) bool {
	yes := p.passes.get(class)
	return yes == nil && !p.filter.Active() || yes != nil && *yes
}

// numbers is the group of each way, by its place in the list.
func (p *places) numbers() []uint32 {
	out := make([]uint32, len(p.list))
	for i, x := range p.list {
		out[i] = p.group(p.label(x, p.by))
	}
	return out
}

// seen tells whether the creation of a recorded task was.
func seen(c *session.Chunk, i int) bool {
	return wire.ExecutionFlags(c.Flags[i])&wire.CreationUnseen == 0
}

type scan func(store.Columns, func(int, *session.Chunk) error) error

// executions puts groups in the place of classes.
func (p *places) executions(read scan) scan {
	numbers, out := p.numbers(), p.group(leftOut)
	return func(want store.Columns, use func(int, *session.Chunk) error) error {
		want |= store.ExecutionTaskID | store.ExecutionClass | store.ExecutionFlags
		if p.unrecorded != 0 {
			want |= store.ExecutionQueue
		}
		return read(want, func(worker int, c *session.Chunk) error {
			for i, id := range c.TaskID {
				if p.passing(c.Class[i]) {
					c.Class[i] = numbers[p.ofExecution(c, i, id)]
				} else {
					c.Class[i] = out
				}
			}
			return use(worker, c)
		})
	}
}

// ofExecution is the number of the way of execution i of c.
func (p *places) ofExecution(c *session.Chunk, i int, task uint64) uint32 {
	n := p.wayOf(task, c.Class[i], seen(c, i))
	if x := p.list[n]; x.handed() || p.by == BySite && x.placed() || i >= len(c.QueueNs) || !c.QueueNs[i].Measured() || p.unrecorded == 0 {
		return n
	}
	return p.unrecorded
}

// units groups units by the way of the task they are named after, or of the
// wrapper around it.
func (p *places) units(u *Units) scan {
	numbers := p.numbers()
	return func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.chunks(use, func(x *unit.Unit) (uint32, bool) {
			if !p.passing(x.Class) {
				return 0, false
			}
			return numbers[p.ofUnit(x, p.by)], true
		})
	}
}

// summarisedGroup is the group of what was summarised of a class: its place,
// where it has one; of executors nothing is told.
func (p *places) summarisedGroup(class uint32) uint32 {
	if p.by != BySite {
		return p.group(inSummaries)
	}
	x := p.originOf(class)
	if x.site == 0 {
		return p.group(x.why)
	}
	return p.group(p.label(way{site: x.site}, BySite))
}

// summaries puts places, or one group for all, in the place of classes.
func (p *places) summaries(read func(func(*session.Summary) error) error) func(func(*session.Summary) error) error {
	return func(f func(*session.Summary) error) error {
		return read(func(x *session.Summary) error {
			if !p.passing(x.Class) {
				return nil
			}
			y := *x
			y.Class = p.summarisedGroup(x.Class)
			return f(&y)
		})
	}
}

// BuildPlaces condenses a session by site or executor: the rows of the summary
// are those of places. It has no findings.
func BuildPlaces(s *session.Session, opts Options, by string) (*Summary, error) {
	src, p, err := placed(s, opts, by)
	if err != nil {
		return nil, err
	}
	opts.Filter = Filter{not: leftOut} // the classes are told apart by now
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
			r.Executor = r.Class
		}
		r.Class, r.Kinds, r.KindNames = "", units.Kinds(0), ""
	}
	if by == BySite {
		sum.Rows = p.count(sum.Rows)
	}
	_ = granularity.SortHotspots(sum.Rows, granularity.ByWork) // a known order
	return sum, nil
}
