package summary

import (
	"stackagent/granularity"
	"stackagent/internal/idmap"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// gathered is what one goroutine has read, or all together.
type gathered struct {
	b       *builder
	byID    idmap.Map[classGroup] // by class, or by the number of Source.Groups
	byName  map[string]*classGroup
	threads idmap.Map[threadGroup]
	work    *unit.WorkColumns
	values  []units.Ns // of one execution
	// fromSums: some of it came from sums, which say nothing about single threads.
	fromSums bool

	// The newest: executions of a class and of a thread follow one another.
	lastGroup  uint32
	group      *classGroup
	lastThread uint32
	thread     *threadGroup
}

func (b *builder) newGathered() *gathered {
	g := &gathered{b: b, byName: map[string]*classGroup{}}
	g.work = unit.NewWorkColumns(b.metrics.session)
	g.values = make([]units.Ns, g.work.Len())
	if b.src.Groups != nil {
		for i, label := range b.src.Groups.Labels {
			g.byID.Set(uint32(i), g.named(label, 0))
		}
		return g
	}
	for i := range b.src.Classes {
		c := &b.src.Classes[i]
		g.byID.Set(c.ID, g.named(c.Name, c.Kinds))
	}
	return g
}

// named is the group of a name.
func (g *gathered) named(name string, kinds units.Kinds) *classGroup {
	if c, ok := g.byName[name]; ok {
		c.kinds |= kinds
		c.knownLoop = unit.IsLoop(name, c.kinds)
		return c
	}
	c := &classGroup{name: name, kinds: kinds, passes: g.b.opts.Filter.MatchNamed(name, g.b.src.TaskClass[name], kinds), knownLoop: unit.IsLoop(name, kinds)}
	if g.b.opts.Shapes && c.passes {
		c.Series = granularity.NewSeries(g.b.grid)
	}
	g.byName[name] = c
	return c
}

// classOf is the group of an id; a class without a description (its batch was
// lost) has a name that says so.
func (g *gathered) classOf(id uint32) *classGroup {
	c := g.byID.Get(id)
	if c == nil {
		c = g.named(unit.UnknownClass(id), 0)
		g.byID.Set(id, c)
	}
	return c
}

// gather reads all executions once.
func (b *builder) gather() error {
	columns := store.ExecutionClass | store.ExecutionThread | store.ExecutionDepth | store.ExecutionFlags
	for _, m := range b.metrics.list {
		columns |= m.columns
	}
	if b.opts.Shapes {
		columns |= store.ExecutionStart | store.ExecutionEnd
	}
	b.progress.pass("reading the executions")
	each := make([]*gathered, session.Workers())
	of := func(worker int) *gathered {
		if each[worker] == nil {
			each[worker] = b.newGathered()
		}
		return each[worker]
	}
	rows := func(worker int, c *session.Chunk, group []uint32) error {
		of(worker).chunk(c, group)
		b.progress.add(c.Len())
		return nil
	}
	var err error
	if b.src.Sums == nil {
		err = b.executions(columns, rows)
	} else {
		err = b.src.Sums(columns, func(worker int, x *store.Sums) error {
			of(worker).sums(x)
			b.progress.add(int(x.Rows))
			return nil
		}, func(worker int, c *session.Chunk) error { return rows(worker, c, c.Class) })
	}
	for _, g := range each {
		switch {
		case g == nil:
		case b.all == nil:
			b.all = g // what it holds is not copied
		default:
			b.all.merge(g)
		}
	}
	if b.all == nil {
		b.all = b.newGathered()
	}
	return b.reading("reading the executions", err)
}

// executions reads the executions, each with its group.
func (b *builder) executions(want store.Columns, use func(worker int, c *session.Chunk, group []uint32) error) error {
	if b.src.Groups != nil {
		return b.src.Groups.Executions(want, use)
	}
	return b.src.Executions(want, func(worker int, c *session.Chunk) error { return use(worker, c, c.Class) })
}

func (g *gathered) chunk(c *session.Chunk, group []uint32) {
	columns := g.work.Of(c)
	work := g.values[:len(columns)]
	e := granularity.Execution{Work: work}
	for i, id := range group {
		if g.group == nil || id != g.lastGroup {
			g.lastGroup, g.group = id, g.classOf(id)
		}
		if !g.group.passes {
			continue
		}
		flags := wire.ExecutionFlags(c.Flags[i])
		e.Thread, e.Nested = c.Thread[i], c.Depth[i] > 0
		e.Threw, e.Running, e.Cut = flags&wire.Threw != 0, flags&wire.Running != 0, flags&wire.Cut != 0
		e.Virtual, e.CreateUnseen = flags&wire.Virtual != 0, flags&wire.CreationUnseen != 0
		for m := range work {
			work[m] = columns[m][i]
		}
		if len(c.StartNs) > 0 {
			e.Start, e.End = c.StartNs[i], c.EndNs[i]
			if e.End == 0 {
				e.End = g.b.until // on the time axis it is drawn up to there
			}
		}
		g.group.Add(&e)
		if g.thread == nil || e.Thread != g.lastThread {
			g.lastThread, g.thread = e.Thread, g.threadOf(g.b.threadRow(e.Thread))
		}
		g.thread.add(g.b, g.group, &e, c.Depth[i])
	}
}

// merge adds what o has gathered.
func (g *gathered) merge(o *gathered) {
	g.fromSums = g.fromSums || o.fromSums
	for name, from := range o.byName {
		to := g.named(name, from.kinds)
		to.Merge(&from.Group)
		from.Group = granularity.Group{} // its memory is free again
	}
	for id, c := range o.byID.All() {
		g.byID.Set(id, g.byName[c.name])
	}
	for id, t := range o.threads.All() {
		g.threadOf(id).merge(t)
	}
}
