package summary

import (
	"cmp"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Figures is the data behind the figures of a report.
type Figures struct {
	Metrics []granularity.Metric // the measured ones
	// Shapes has, per metric, the distribution of all executions first, then
	// of the classes with the most work. Program classes come before the
	// platform's; the loops of threads are in the first one only.
	Shapes map[granularity.Metric][]Shape
	Grid   granularity.Grid
	Total  *granularity.Series // all executions
	// ByClass has the busiest classes, the program's before the platform's,
	// most executions first; the rest of the executions is Total less their sum.
	ByClass []ClassSeries
	// Waiting has the spans from submission to start of all units, Queues those of the
	// executors with the most; nil unless units were condensed.
	Waiting *granularity.Series
	Queues  []ClassSeries
	// Activity is nil where there is no scheduling record.
	Activity *Activity
}

// Shape is a distribution to draw.
type Shape struct {
	Label string // a class name, or "all executions", "all units of work"
	JDK   bool
	All   bool
	CDF   granularity.CDF
	Box   granularity.Box
}

// ClassSeries is a class over time.
type ClassSeries struct {
	Label  string
	JDK    bool
	Series *granularity.Series
}

// cdfPoints is the number of points to which a curve is thinned.
const cdfPoints = 2000

// parts are the unions of classes that get distributions.
type parts struct {
	whole []*granularity.Values // all executions, by metric
	// own are the program's own tasks without the loops of threads, whose length does
	// not depend on how the work was divided; nil: there are none.
	own     *granularity.Values
	isOwn   map[*classGroup]bool
	work    granularity.Metric
	missing []int64
}

// parts merges the values of the groups.
func (b *builder) parts(groups []*classGroup) *parts {
	p := &parts{isOwn: map[*classGroup]bool{}, work: granularity.SelfWall}
	for m := range b.metrics.count() {
		whole, missing := new(granularity.Values), int64(0)
		for _, g := range groups {
			if v, without := g.Of(m); v != nil {
				whole.Merge(v)
				missing += without
			}
		}
		p.whole, p.missing = append(p.whole, whole), append(p.missing, missing)
	}
	if p.whole[granularity.SelfCPU].Count() > 0 {
		p.work = granularity.SelfCPU
	}
	own := new(granularity.Values)
	for _, g := range groups {
		g.loop = g.isLoop()
		if !unit.IsJDK(g.name, g.kinds) && !g.loop {
			p.isOwn[g] = true
			if v, _ := g.Of(p.work); v != nil {
				own.Merge(v)
			}
		}
	}
	if own.Len() > 0 {
		p.own = own
	}
	return p
}

// describe computes the distributions and all rows.
func (b *builder) describe(s *Summary, groups []*classGroup, p *parts) {
	s.Metrics = granularity.Metrics{}
	for m := range b.metrics.count() {
		if p.whole[m].Count() > 0 || b.metrics.list[m].always {
			d := granularity.Describe(p.whole[m])
			d.NotMeasured = p.missing[m]
			s.Metrics[m] = d
		}
	}
	b.metrics.name(s.Metrics)
	total := s.Metrics[p.work].Sum
	rows := make([]granularity.Hotspot, len(groups))
	for i, g := range groups {
		rows[i] = b.row(g)
		rows[i].NeverAtMost = rows[i].NeverExecuted > 0 && s.NeverAtMost()
		share(&rows[i], p.work, total, s.Tasks.Executions)
	}
	s.FineIsAll = p.own == nil
	if s.FineIsAll {
		s.Fine = granularity.FinenessOf(p.work, p.whole[p.work])
	} else {
		s.Fine = granularity.FinenessOf(p.work, p.own)
	}
	order := workOrder(rows, groups)
	if b.opts.Shapes {
		s.Figures = b.figures(s, order, p)
		s.Figures.Activity = b.readActivity(s)
	}
	s.Rows = nil
	for _, o := range order {
		s.Rows = append(s.Rows, o.row)
	}
	b.threadRows(s)
	s.markCreations()
}

// markCreations marks the rows of a session that has no creations.
func (s *Summary) markCreations() {
	for _, rows := range [][]granularity.Hotspot{s.Rows, s.ThreadRows} {
		for i := range rows {
			rows[i].NoCreations = s.NotAvailable[store.NoCreations] != ""
		}
	}
}

func (b *builder) row(g *classGroup) granularity.Hotspot {
	h := hotspot(&g.Group)
	b.metrics.name(h.Metrics)
	h.Class, h.Kinds, h.KindNames, h.JDK = g.name, g.kinds, g.kinds.String(), unit.IsJDK(g.name, g.kinds)
	h.TaskClass = b.src.TaskClass[g.name]
	h.Loop, h.Library = g.loop, unit.IsLibrary(g.name)
	h.Created, h.NeverExecuted = g.created, g.never
	if g.fates != nil && g.fates.Sum() == g.never { // else the fates of a class of that name are not known
		h.Fates = g.fates
	}
	return h
}

func hotspot(g *granularity.Group) granularity.Hotspot {
	return granularity.Hotspot{
		Executions: g.Executions, Summarised: g.Summarised, Threads: g.Threads(), Nested: g.Nested, Threw: g.Threw,
		Running: g.Running, CreateUnseen: g.CreateUnseen, Metrics: g.Describe(),
	}
}

func share(h *granularity.Hotspot, work granularity.Metric, total units.Ns, executions int64) {
	h.Work = h.Metrics[work].Sum
	if total > 0 {
		h.WorkShare = float64(h.Work) / float64(total)
	}
	if executions > 0 {
		h.ExecutionShare = float64(h.Executions) / float64(executions)
	}
}

// rowGroup keeps a row beside the values it came from.
type rowGroup struct {
	row   granularity.Hotspot
	group *classGroup
}

// workOrder sorts by work, as the listing does.
func workOrder(rows []granularity.Hotspot, groups []*classGroup) []rowGroup {
	at := make(map[string]*classGroup, len(groups))
	for _, g := range groups {
		at[g.name] = g
	}
	sorted := slices.Clone(rows)
	// ByWork is a known order: there is nothing to fail.
	_ = granularity.SortHotspots(sorted, granularity.ByWork)
	out := make([]rowGroup, len(sorted))
	for i, r := range sorted {
		out[i] = rowGroup{r, at[r.Class]}
	}
	return out
}

// figures computes the curves of all executions and of the chosen classes.
func (b *builder) figures(s *Summary, order []rowGroup, p *parts) *Figures {
	f := &Figures{Shapes: map[granularity.Metric][]Shape{}, Grid: b.grid, Total: granularity.NewSeries(b.grid)}
	for _, o := range order {
		f.Total.Merge(o.group.Series)
	}
	chosen := b.choose(order)
	for m := range b.metrics.count() {
		if _, ok := s.Metrics[m]; !ok {
			continue
		}
		f.Metrics = append(f.Metrics, m)
		shapes := []Shape{shapeOf(s.Of.All(), false, p.whole[m])}
		shapes[0].All = true
		for _, c := range chosen {
			if c.group.Measured(m) {
				v, _ := c.group.Of(m)
				shapes = append(shapes, shapeOf(c.row.Class, c.row.JDK, v))
			}
		}
		f.Shapes[m] = shapes
	}
	busiest := withoutLoops(order)
	slices.SortStableFunc(busiest, func(a, c rowGroup) int {
		return cmp.Or(platformLast(a, c), cmp.Compare(c.row.Executions, a.row.Executions))
	})
	for _, c := range busiest[:min(len(busiest), b.opts.Classes)] {
		f.ByClass = append(f.ByClass, ClassSeries{c.row.Class, c.row.JDK, c.group.Series})
	}
	return f
}

func shapeOf(label string, jdk bool, v *granularity.Values) Shape {
	return Shape{Label: label, JDK: jdk, CDF: granularity.CDFOf(v, cdfPoints), Box: granularity.BoxOf(v)}
}

// choose picks the classes with a curve of their own: the program's classes by
// work, filled up with the platform's.
func (b *builder) choose(order []rowGroup) []rowGroup {
	ran := withoutLoops(order)
	slices.SortStableFunc(ran, platformLast)
	return ran[:min(len(ran), b.opts.Classes)]
}

// platformLast orders the program's classes before the platform's.
func platformLast(a, c rowGroup) int {
	switch {
	case a.row.JDK == c.row.JDK:
		return 0
	case c.row.JDK:
		return -1
	}
	return 1
}

// withoutLoops are the classes that were executed, without the loops of threads: one
// value per thread is no distribution. If there are only loops, it keeps them.
func withoutLoops(order []rowGroup) []rowGroup {
	var ran, own []rowGroup
	for _, r := range order {
		if r.row.Executions == 0 {
			continue
		}
		ran = append(ran, r)
		if !r.row.Loop {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		return ran
	}
	return own
}
