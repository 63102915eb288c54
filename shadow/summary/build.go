package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// buckets is the number of buckets of every figure over time.
const buckets = 200

// builder is the state of one pass over the executions.
type builder struct {
	src     Source
	opts    Options
	grid    granularity.Grid
	until   units.MonoNs
	classes map[uint32]*classGroup
	byName  map[string]*classGroup
	threads map[uint32]*threadGroup
	all     granularity.Group // flags and threads of all; its values stay empty
	total   *granularity.Series
}

// classGroup is what is known of the classes of one name: lambdas of the same
// code and classes of several loaders count as one.
type classGroup struct {
	granularity.Group
	name    string
	kinds   units.Kinds
	passes  bool
	body    bool // its executions are loops around other tasks; known once all are read
	created int64
	never   int64
	failed  int64
}

// BuildFrom condenses what src holds.
func BuildFrom(src Source, opts Options) (*Summary, error) {
	if err := opts.Filter.Check(); err != nil {
		return nil, err
	}
	if opts.Classes <= 0 {
		opts.Classes = DefaultClasses
	}
	b := &builder{
		src: src, opts: opts,
		classes: map[uint32]*classGroup{}, byName: map[string]*classGroup{}, threads: map[uint32]*threadGroup{},
	}
	if err := b.makeGrid(); err != nil {
		return nil, err
	}
	for i := range src.Classes {
		c := &src.Classes[i]
		b.classes[c.ID] = b.named(c.Name, c.Kinds)
	}
	if err := b.src.Executions(b.chunk); err != nil {
		return nil, fmt.Errorf("reading the executions of session %s: %w", src.Manifest.Session, err)
	}
	if err := b.counts(); err != nil {
		return nil, err
	}
	if src.Found != nil {
		b.src.Manifest, b.src.Warnings = src.Found()
	}
	return b.finish(), nil
}

// makeGrid spans the session; a session whose end is not known (its shadow
// crashed before the first refresh) is spanned by its executions, in a pass of
// its own.
func (b *builder) makeGrid() error {
	from, to := b.src.Manifest.StartNs, b.src.Manifest.EndNs
	if to <= from {
		var first units.MonoNs
		err := b.src.Executions(func(c *session.Chunk) error {
			for i := range c.Len() {
				if first == 0 || c.StartNs[i] < first {
					first = c.StartNs[i]
				}
				to = max(to, c.StartNs[i], c.EndNs[i])
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading the executions of session %s: %w", b.src.Manifest.Session, err)
		}
		if from == 0 {
			from = first
		}
	}
	b.until = to
	b.grid = granularity.NewGrid(from, to, buckets)
	b.total = granularity.NewSeries(b.grid)
	return nil
}

// named is the group of the class of that name.
func (b *builder) named(name string, kinds units.Kinds) *classGroup {
	if g, ok := b.byName[name]; ok {
		g.kinds |= kinds
		return g
	}
	g := &classGroup{name: name, kinds: kinds, passes: b.opts.Filter.Match(name, kinds)}
	if b.opts.Shapes {
		g.Series = granularity.NewSeries(b.grid)
	}
	b.byName[name] = g
	return g
}

// class is the group of a class id; an id without a description (its batch was
// lost) keeps its executions under a name that says so.
func (b *builder) class(id uint32) *classGroup {
	g, ok := b.classes[id]
	if !ok {
		g = b.named(fmt.Sprintf("(class %d, description lost)", id), 0)
		b.classes[id] = g
	}
	return g
}

func (b *builder) chunk(c *session.Chunk) error {
	var e granularity.Execution
	for i := range c.Len() {
		g := b.class(c.Class[i])
		if !g.passes {
			continue
		}
		flags := wire.ExecutionFlags(c.Flags[i])
		e = granularity.Execution{
			Start: c.StartNs[i], End: c.EndNs[i], Thread: c.Thread[i],
			Nested:       c.OuterTaskID[i] != 0 || c.Depth[i] > 0,
			Threw:        flags&wire.Threw != 0,
			Running:      flags&wire.Running != 0,
			Cut:          flags&wire.Cut != 0,
			Virtual:      flags&wire.Virtual != 0,
			CreateUnseen: flags&wire.CreationUnseen != 0,
		}
		e.Work[granularity.Wall], e.Work[granularity.CPU] = c.WallNs[i], c.CPUNs[i]
		e.Work[granularity.SelfWall], e.Work[granularity.SelfCPU] = c.SelfWallNs[i], c.SelfCPUNs[i]
		g.Add(&e, b.until)
		end := e.End
		if end == 0 {
			end = b.until
		}
		b.total.Add(e.Start, end)
		b.thread(e.Thread).add(b, g, &e, c.Depth[i], end)
	}
	return nil
}

// counts joins the exact counts of creations to the groups.
func (b *builder) counts() error {
	per, _, err := b.src.Counts()
	if err != nil {
		return fmt.Errorf("counting the tasks of session %s: %w", b.src.Manifest.Session, err)
	}
	for _, c := range per {
		if c.Class == nil {
			continue
		}
		g := b.class(c.Class.ID)
		g.created += int64(c.Created)
		g.never += int64(c.NeverExecuted)
		g.failed += int64(c.Failed)
	}
	return nil
}

// groups are the classes that pass the filter and of which there is anything
// to tell, by name.
func (b *builder) groups() []*classGroup {
	var out []*classGroup
	for _, name := range slices.Sorted(maps.Keys(b.byName)) {
		if g := b.byName[name]; g.passes && (g.Executions > 0 || g.created > 0 || g.failed > 0) {
			out = append(out, g)
		}
	}
	return out
}

func (b *builder) finish() *Summary {
	m := &b.src.Manifest
	s := &Summary{
		Session: m.Session, Started: started(m), DurationNs: m.DurationNs, Ended: m.Ended,
		JVM: JVM{
			Version: m.JVM.Version, PID: m.JVM.PID, GC: m.JVM.GC, CPUs: m.JVM.CPUs, Name: m.JVM.Name,
			MainClass: m.JVM.MainClass, Host: m.JVM.Host, Home: m.JVM.Home,
			AgentVersion: m.JVM.AgentVersion, Clock: m.JVM.Clock, CPUClock: m.JVM.CPUClock,
		},
		Lost:         Lost{Events: m.Lost.Events, Switches: m.Lost.Switches, Batches: m.Lost.Batches, ByReason: m.Lost.ByReason},
		NotAvailable: maps.Clone(m.NotAvailable), Refusals: nonNil(slices.Clone(m.Refusals)),
		Warnings: slices.Clone(b.src.Warnings), StartNs: b.grid.From, EndNs: b.until,
	}
	if s.NotAvailable == nil {
		s.NotAvailable = map[string]string{}
	}
	for what, why := range b.src.Uncounted {
		if _, told := s.NotAvailable[what]; !told {
			s.NotAvailable[what] = why
		}
	}
	if b.opts.Filter.Active() {
		f := b.opts.Filter
		s.Filter = &f
	}
	if s.DurationNs <= 0 && b.until > b.grid.From {
		s.DurationNs = units.Ns(b.until - b.grid.From)
	}
	groups := b.groups()
	b.totals(s, groups)
	b.pauses(s)
	b.distributions(s, groups)
	b.threadRows(s)
	s.Findings = granularity.Findings(b.facts(s))
	return s
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (b *builder) totals(s *Summary, groups []*classGroup) {
	t := &s.Tasks
	for _, g := range groups {
		t.Created += g.created
		t.NeverExecuted += g.never
		t.Failed += g.failed
		t.Executions += g.Executions
		t.Threw += g.Threw
		t.Running += g.Running
		t.Cut += g.Cut
		t.Nested += g.Nested
		t.Virtual += g.Virtual
		t.CreateUnseen += g.CreateUnseen
		g.MarkThreads(&b.all)
	}
	t.Threads = b.all.Threads()
	t.Classes = int64(len(groups))
}

func (b *builder) pauses(s *Summary) {
	for _, p := range b.src.Pauses {
		s.Pauses = append(s.Pauses, granularity.Span{From: p.StartNs, To: p.EndNs})
	}
	slices.SortStableFunc(s.Pauses, func(a, c granularity.Span) int { return cmp.Compare(a.From, c.From) })
	st := granularity.Pauses(s.Pauses)
	s.GC = GC{Pauses: st.Count, PauseNs: st.Total, MedianNs: st.Median, P99Ns: st.P99, MaxNs: st.Max}
	if s.DurationNs > 0 {
		s.GC.Share = float64(st.Total) / float64(s.DurationNs)
	}
}

// facts are what the findings look at.
func (b *builder) facts(s *Summary) granularity.Facts {
	f := granularity.Facts{
		Duration: s.DurationNs, CPUs: s.JVM.CPUs, Created: s.Tasks.Created, Executions: s.Tasks.Executions,
		NeverExecuted: s.Tasks.NeverExecuted, Threw: s.Tasks.Threw, Running: s.Tasks.Running,
		Threads: s.Tasks.Threads, Total: s.Metrics, Fine: s.Fine, FineIsAll: s.FineIsAll, Rows: s.Rows,
		GC:         granularity.PauseStats{Count: s.GC.Pauses, Total: s.GC.PauseNs, Median: s.GC.MedianNs, P99: s.GC.P99Ns, Max: s.GC.MaxNs},
		LostEvents: s.Lost.Events, LostBatches: s.Lost.Batches,
		// What was asked for; that the machine has no counters is no news in each session.
		NotAvailable: slices.Sorted(maps.Keys(b.src.Manifest.NotAvailable)),
	}
	for _, r := range s.Refusals {
		f.Refused += r.Count
	}
	return f
}
