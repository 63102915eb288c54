package summary

import (
	"errors"
	"fmt"

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
	noSite       = "(place not known)"
	noExecutor   = "(not handed to an executor)"
	aThread      = "(a thread of its own)"
	severalWays  = "(several)"
	inSummaries  = "(summarised: not told apart)"
	unknownPlace = "(description lost)"
)

// way is how a task was handed over: where and to whom. The zero way is not
// known.
type way struct {
	site, executor uint32
	thread         bool // by starting a thread
	several        bool // tasks handed over in different ways
}

// ways joins tasks to the way in which they were handed over: 4 bytes a task.
type ways struct {
	s     *session.Session
	list  []way // list[0]: not known
	index map[way]uint32
	pages map[uint64]*[64]uint32
}

// newWays reads all submissions, and where tasks without one were created.
func newWays(s *session.Session) (*ways, error) {
	w := &ways{s: s, list: make([]way, 1), index: map[way]uint32{}, pages: map[uint64]*[64]uint32{}}
	// A library's hand-over counts for the wrapper; its task bears the program's own.
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			flags := wire.SubmissionFlags(c.Flags[i])
			if flags&(wire.Rejected|wire.Cancelled) == 0 {
				w.add(id, way{site: c.Site[i], executor: c.Executor[i], thread: flags&wire.Started != 0})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.Creations(func(c *session.CreationChunk) error {
		for i, id := range c.TaskID {
			if i < len(c.Site) && c.Site[i] != 0 && *w.at(id) == 0 {
				w.add(id, way{site: c.Site[i]})
			}
		}
		return nil
	})
	return w, err
}

func (w *ways) at(id uint64) *uint32 {
	p := w.pages[id>>6]
	if p == nil {
		p = new([64]uint32)
		w.pages[id>>6] = p
	}
	return &p[id&63]
}

func (w *ways) add(id uint64, x way) {
	at := w.at(id)
	if *at != 0 && w.list[*at] != x {
		if old := w.list[*at]; old.site != x.site || old.executor != x.executor {
			x = way{several: true}
		}
	}
	n, ok := w.index[x]
	if !ok {
		n = uint32(len(w.list))
		w.list, w.index[x] = append(w.list, x), n
	}
	*at = n
}

// ofUnit is the number of the way of a unit: of the task it is named after, or
// of the wrapper around it where that tells nothing.
func (w *ways) ofUnit(x *unit.Unit, by string) uint32 {
	n := w.numberOf(x.Named)
	way := w.list[n]
	if way.executor != 0 || way.thread || way.several || by == BySite && way.site != 0 {
		return n
	}
	if root := w.numberOf(x.Root); n == 0 || w.list[root].executor != 0 || w.list[root].thread {
		return root
	}
	return n
}

// label names the way's site or executor.
func (w *ways) label(x way, by string) string {
	switch {
	case x.several:
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
func placed(s *session.Session, opts Options, by string) (Source, error) {
	if !handOvers(s) && len(s.Sites()) == 0 {
		return Source{}, ErrNoHandOvers
	}
	w, err := newWays(s)
	if err != nil {
		return Source{}, fmt.Errorf("reading the hand-overs of session %s: %w", s.Manifest.Session, err)
	}
	p := &places{ways: w, by: by, filter: opts.Filter, ids: map[string]uint32{}}
	p.group(inSummaries)
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
			return Source{}, err
		}
		read, src.Summaries, src.Of = p.units(u), u.Source().Summaries, granularity.UnitsOfWork
	}
	src.Executions, src.Classes = read, nil
	src.Summaries = p.summaries(src.Summaries)
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) { return nil, session.ClassCounts{}, nil }
	for i, name := range p.names {
		src.Classes = append(src.Classes, session.Class{ID: uint32(i) + 1, Name: name})
	}
	return withQueue(src), nil
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

type scan func(store.Columns, func(int, *session.Chunk) error) error

// executions puts groups in the place of classes and leaves out what does not
// pass.
func (p *places) executions(read scan) scan {
	numbers := p.numbers()
	return func(want store.Columns, use func(int, *session.Chunk) error) error {
		return read(want|store.ExecutionTaskID|store.ExecutionClass, func(worker int, c *session.Chunk) error {
			mine := keep(*c, func(i int) bool { return p.passing(c.Class[i]) })
			for i, id := range mine.TaskID {
				mine.Class[i] = numbers[0]
				if page := p.pages[id>>6]; page != nil {
					mine.Class[i] = numbers[page[id&63]]
				}
			}
			return use(worker, &mine)
		})
	}
}

// keep leaves in a chunk, whose memory it uses, the rows that pass.
func keep(c session.Chunk, pass func(i int) bool) session.Chunk {
	rows := make([]int, 0, c.Len())
	for i := range c.Len() {
		if pass(i) {
			rows = append(rows, i)
		}
	}
	if len(rows) == c.Len() {
		return c
	}
	c.TaskID, c.OuterTaskID = pick(c.TaskID, rows), pick(c.OuterTaskID, rows)
	c.Class, c.Thread, c.Site = pick(c.Class, rows), pick(c.Thread, rows), pick(c.Site, rows)
	c.Depth, c.Flags = pick(c.Depth, rows), pick(c.Flags, rows)
	c.StartNs, c.EndNs = pick(c.StartNs, rows), pick(c.EndNs, rows)
	c.WallNs, c.CPUNs = pick(c.WallNs, rows), pick(c.CPUNs, rows)
	c.SelfWallNs, c.SelfCPUNs, c.QueueNs = pick(c.SelfWallNs, rows), pick(c.SelfCPUNs, rows), pick(c.QueueNs, rows)
	extra, self := make([][]int64, len(c.Extra)), make([][]int64, len(c.SelfExtra))
	for k := range c.Extra {
		extra[k] = pick(c.Extra[k], rows)
	}
	for k := range c.SelfExtra {
		self[k] = pick(c.SelfExtra[k], rows)
	}
	c.Extra, c.SelfExtra = extra, self
	return c
}

// pick moves the rows, ascending, to the front of a column; one that was not
// read stays empty.
func pick[T any](column []T, rows []int) []T {
	if len(column) == 0 {
		return column
	}
	for to, from := range rows {
		column[to] = column[from]
	}
	return column[:len(rows)]
}

// units groups units by the way of the task they are named after, or of the
// wrapper around it.
func (p *places) units(u *Units) scan {
	return func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.chunks(use, func(x *unit.Unit) (uint32, bool) {
			if !p.passing(x.Class) {
				return 0, false
			}
			return p.group(p.label(p.list[p.ofUnit(x, p.by)], p.by)), true
		})
	}
}

// summaries puts all that was summarised into one group.
func (p *places) summaries(read func(func(*session.Summary) error) error) func(func(*session.Summary) error) error {
	return func(f func(*session.Summary) error) error {
		return read(func(x *session.Summary) error {
			if !p.passing(x.Class) {
				return nil
			}
			y := *x
			y.Class = p.group(inSummaries)
			return f(&y)
		})
	}
}

// BuildPlaces condenses a session by site or executor: the rows of the summary
// are those of places. It has no findings.
func BuildPlaces(s *session.Session, opts Options, by string) (*Summary, error) {
	src, err := placed(s, opts, by)
	if err != nil {
		return nil, err
	}
	opts.Filter = Filter{} // has been applied
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
	_ = granularity.SortHotspots(sum.Rows, granularity.ByWork) // a known order
	return sum, nil
}
