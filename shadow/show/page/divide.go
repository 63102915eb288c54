package page

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// Limits of the bands.
const (
	bandClasses   = 8
	bandExecutors = 8
	mostMeasures  = 8
	mostQueues    = 4096 // executors that are counted apart while the tasks are read
)

// part is what one goroutine has read of the tasks, or all together.
type part struct {
	d      *divider
	cube   *filler
	slices *sampler
	bands  []*granularity.Series          // of the classes with a band, then of the others
	queues map[uint32]*granularity.Series // by executor
	ended  []int64                        // by bucket
	class  map[uint32]uint32              // by summary.WorkItem.Class: the index of its name
}

// divider reads the tasks once and divides them.
type divider struct {
	*builder
	grid     granularity.Grid
	measures []summary.WorkMetric
	cpu      int // the index in Values; -1: not measured
	queue    int
	bandOf   map[uint32]int // by class: its band
	bands    []uint32       // the classes with a band
	seed     uint64
}

// divide fills the cube, the bands and the slices.
func (b *builder) divide() error {
	var err error
	if b.work, err = b.sum.Work(); err != nil {
		return err
	}
	d := &divider{builder: b, seed: seedOf(b.sum.Session),
		grid: b.axis.grid(buckets)}
	d.chooseMeasures()
	d.chooseBands()
	parts := make([]*part, session.Workers())
	of := func(worker int) *part {
		if parts[worker] == nil {
			parts[worker] = d.newPart()
		}
		return parts[worker]
	}
	if err := b.work.Each(func(worker int, x *summary.WorkItem) error { of(worker).add(x); return nil }); err != nil {
		return err
	}
	all := of(0)
	for _, p := range parts[1:] {
		if p != nil {
			all.merge(p)
		}
	}
	if err := b.work.Summaries(func(x *summary.WorkSummary) error { all.addSummary(x); return nil }); err != nil {
		return err
	}
	d.finish(all)
	return nil
}

// chooseMeasures chooses what the tables and distributions of the page can show: the metric of work, the own times, wall time, queue time
// and the own values of the session's other metrics.
func (d *divider) chooseMeasures() {
	d.cpu, d.queue = -1, -1
	chosen := map[granularity.Metric]bool{}
	add := func(m granularity.Metric) {
		if !chosen[m] {
			chosen[m] = true
			d.measures = append(d.measures, d.work.Metrics[m])
		}
	}
	add(d.tasks.Shown())
	add(d.tasks.Metrics.WorkMetric())
	self, wall := d.tasks.Metrics[granularity.SelfWall], d.tasks.Metrics[granularity.Wall]
	if self.Sum != wall.Sum || self.Count != wall.Count { // else nothing is nested
		add(granularity.SelfWall)
	}
	add(granularity.Wall)
	for i, m := range d.work.Metrics {
		known := d.tasks.Metrics[m.Metric].Count > 0
		switch {
		case m.Name == granularity.QueueName && known:
			d.queue = i
			add(m.Metric)
		case m.Metric == granularity.CPU && known:
			d.cpu = i
		case m.Metric > granularity.SelfCPU && m.Self && known && len(d.measures) < mostMeasures:
			add(m.Metric)
		}
	}
	if d.queue < 0 {
		d.missing("queue", "the session has no queue times: no submission was recorded")
	}
}

// chooseBands chooses the classes with a band: those with the most tasks, the program's first.
func (d *divider) chooseBands() {
	order := make([]uint32, len(d.classes.names))
	tasks := make([]int64, len(order))
	for i := range order {
		order[i], tasks[i] = uint32(i), d.tasks.Rows[i].Executions
	}
	slices.SortStableFunc(order, func(a, c uint32) int {
		return cmp.Or(boolCompare(d.classes.names[a].Platform, d.classes.names[c].Platform), cmp.Compare(tasks[c], tasks[a]))
	})
	d.bandOf = map[uint32]int{}
	for _, class := range order[:min(len(order), bandClasses)] {
		if tasks[class] > 0 {
			d.bandOf[class] = len(d.bands)
			d.bands = append(d.bands, class)
		}
	}
}

func (d *divider) newPart() *part {
	p := &part{d: d, cube: newFiller(d.measures, slots), slices: newSampler(), ended: make([]int64, buckets),
		queues: map[uint32]*granularity.Series{}, class: map[uint32]uint32{}}
	for range len(d.bands) + 1 {
		p.bands = append(p.bands, granularity.NewSeries(d.grid))
	}
	return p
}

// classOf is the index of the name of a class.
func (p *part) classOf(id uint32) uint32 {
	n, ok := p.class[id]
	if !ok {
		if n, ok = p.d.classes.index[p.d.work.Class(id).Name]; !ok {
			n = none
		}
		p.class[id] = n
	}
	return n
}

func (p *part) band(class uint32) *granularity.Series {
	if i, ok := p.d.bandOf[class]; ok {
		return p.bands[i]
	}
	return p.bands[len(p.bands)-1]
}

// queueOf is the series of the waiting tasks of an executor.
func (p *part) queueOf(executor uint32) *granularity.Series {
	s := p.queues[executor]
	if s == nil && len(p.queues) >= mostQueues {
		executor = none
		s = p.queues[none]
	}
	if s == nil {
		s = granularity.NewSeries(p.d.grid)
		p.queues[executor] = s
	}
	return s
}

// key is the combination of a task.
func (p *part) key(class, executor, site, thread uint32) rowKey {
	k := rowKey{p.classOf(class), executor, site, p.d.threads.index(thread)}
	if len(p.d.work.Executors) == 0 {
		k.executor, k.site = none, none
	}
	return k
}

func (p *part) add(x *summary.WorkItem) {
	d := p.d
	k := p.key(x.Class, x.Executor, x.Site, x.Thread)
	p.cube.add(k, d.axis.grid(slots).Ended(x.End), slots, x)
	p.band(k.class).Add(x.Start, x.End)
	if !x.Running {
		p.ended[d.grid.Ended(x.End)]++
	}
	queue := units.Ns(units.NotMeasured)
	if d.queue >= 0 {
		queue = x.Values[d.queue]
	}
	if queue.Measured() {
		p.queueOf(k.executor).Add(x.Start-units.MonoNs(queue), x.Start)
	}
	s := slice{key: k, start: x.Start, end: x.End, queue: queue, cpu: units.NotMeasured}
	if d.cpu >= 0 {
		s.cpu = x.Values[d.cpu]
	}
	p.slices.add(s, d.seed)
}

func (p *part) addSummary(x *summary.WorkSummary) {
	d := p.d
	k := p.key(x.Class, x.Executor, x.Site, x.Thread)
	p.cube.addSummary(k, d.axis.grid(slots).Weights(x.From, x.To), x)
	p.band(k.class).Spread(x.From, x.To, x.Executions, x.Work[granularity.Wall].Sum)
	ended := granularity.NewSeries(d.grid)
	ended.Spread(x.From, x.To, x.Executions, 0)
	for i, n := range ended.Started {
		p.ended[i] += n
	}
	if d.queue >= 0 && x.Work[d.queue].Count > 0 {
		by := p.queueOf(k.executor)
		x.Work[d.queue].Like(d.grid.Width, func(n int64, wait units.Ns) { by.SpreadWaits(x.From, x.To, n, wait) })
	}
	p.slices.total += x.Executions
}

// merge adds what o has read.
func (p *part) merge(o *part) {
	p.cube.merge(o.cube)
	p.slices.merge(o.slices)
	for i, s := range o.bands {
		p.bands[i].Merge(s)
	}
	for executor, s := range o.queues {
		p.queueOf(executor).Merge(s)
	}
	for i, n := range o.ended {
		p.ended[i] += n
	}
}

// finish writes what all parts have.
func (d *divider) finish(all *part) {
	data, cube := d.data, &d.data.Cube
	foldedRows := all.cube.finish()
	data.Slots = all.cube.slots
	data.SlotNs = float64(d.axis.width) * float64(buckets/data.Slots)
	kept, sampled := all.slices.result()
	executors, sites := newLabels(d.work.Executors), newLabels(d.work.Sites)
	keys := all.cube.keys()
	for _, k := range keys {
		executors.use(k.executor)
		sites.use(k.site)
	}
	for i := range kept {
		executors.use(kept[i].key.executor)
		sites.use(kept[i].key.site)
	}
	of := d.work.Of
	*cube = Cube{One: of.One(), Many: of.Many(), Classes: d.classes.names, Threads: d.threads.names, Folded: foldedRows,
		Executors: executors.names(func(name string) string { return nameOf(name).Short }), Sites: sites.names(shortSite)}
	for _, m := range d.measures {
		cube.Measures = append(cube.Measures, measureOf(m))
	}
	d.exact(cube.Classes)
	for _, k := range keys {
		cube.Rows.Class, cube.Rows.Executor = append(cube.Rows.Class, narrow(k.class)), append(cube.Rows.Executor, executors.index(k.executor))
		cube.Rows.Site, cube.Rows.Thread = append(cube.Rows.Site, sites.index(k.site)), append(cube.Rows.Thread, narrow(k.thread))
	}
	all.cube.write(&cube.Cells)
	if why := d.work.NoOrigins; why != "" {
		d.missing("origins", why)
	}
	d.writeSlices(kept, sampled, all.slices.total, executors, sites)
	d.writeBands(all)
}

// keysOfMeasures are the names by which the page knows measures.
var keysOfMeasures = map[granularity.Metric]string{granularity.Wall: "wall", granularity.SelfWall: "self_wall", granularity.SelfCPU: "self_cpu"}

func measureOf(m summary.WorkMetric) Measure {
	out := Measure{Key: keysOfMeasures[m.Metric], Label: m.Label, Unit: m.Unit}
	switch {
	case m.Name == granularity.QueueName:
		out.Key, out.Doc = "queue", "from the latest submission, or the due time, to the start"
	case m.Metric == granularity.Wall:
		out.Doc = "from start to end, waiting and what is nested inside included"
	case m.Metric == granularity.SelfWall:
		out.Doc = "from start to end, without what is nested inside"
	case m.Metric == granularity.SelfCPU:
		out.Doc = "on a CPU, without what is nested inside"
	default:
		out.Key = m.Name
	}
	return out
}

// exact fills in the distributions of classes over the whole session.
func (d *divider) exact(classes []Name) {
	for i := range classes {
		for _, m := range d.measures {
			var of *Distribution
			if x := d.tasks.Rows[i].Metrics[m.Metric]; x.Count > 0 {
				of = distributionOf(&x)
			}
			classes[i].Exact = append(classes[i].Exact, of)
		}
	}
}

func distributionOf(x *granularity.Distribution) *Distribution {
	f := func(n units.Ns) float64 { return float64(n) }
	return &Distribution{Count: float64(x.Count), Sum: f(x.Sum), Mean: x.Mean, StdDev: x.StdDev, Min: f(x.Min), P25: f(x.P25), P50: f(x.P50),
		P75: f(x.P75), P95: f(x.P95), P99: f(x.P99), P999: f(x.P999), Max: f(x.Max), Error: x.RelativeError}
}

// writeBands writes the tasks over time.
func (d *divider) writeBands(all *part) {
	bands := &d.data.Bands
	bands.Buckets, bands.BucketNs = buckets, float64(d.axis.width)
	for i, s := range all.bands {
		key, label := "", "others"
		if i < len(d.bands) {
			name := &d.classes.names[d.bands[i]]
			key, label = name.Name, name.Short
		} else if s.StartedTotal()+s.Outside == 0 && i > 0 {
			continue
		}
		bands.Started = append(bands.Started, Series{key, label, float32s(s.Started)})
		bands.Running = append(bands.Running, Series{key, label, float32s(s.Running())})
	}
	bands.Finished = Series{"", "finished", float32s(all.ended)}
	bands.Pauses = d.pauses()
	d.writeQueues(all)
}

func (d *divider) writeQueues(all *part) {
	most := slices.SortedFunc(maps.Keys(all.queues), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(all.queues[b].StartedTotal(), all.queues[a].StartedTotal()), cmp.Compare(a, b))
	})
	rest := granularity.NewSeries(d.grid)
	for _, executor := range most {
		s := all.queues[executor]
		if executor == none || len(d.data.Bands.Queued) == bandExecutors {
			rest.Merge(s)
			continue
		}
		name := nameOf(d.work.Executors[executor])
		d.data.Bands.Queued = append(d.data.Bands.Queued, Series{name.Name, name.Short, float32s(s.Running())})
	}
	if rest.StartedTotal() > 0 {
		d.data.Bands.Queued = append(d.data.Bands.Queued, Series{"", "others", float32s(rest.Running())})
	}
}

func float32s[T int64 | float64](list []T) Column[float32] {
	out := make(Column[float32], len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// mostPauses is how many pauses have a place of their own.
const mostPauses = 5000

func (d *divider) pauses() Pauses {
	p := Pauses{Count: len(d.sum.Pauses), BySlot: make(Column[float64], d.data.Slots)}
	list := slices.Clone(d.sum.Pauses)
	until := units.MonoNs(math.MinInt64)
	for _, x := range list {
		from := max(x.From, until)
		for slot := 0; from < x.To && slot < len(p.BySlot); slot++ {
			begin := d.axis.from + units.MonoNs(float64(slot)*d.data.SlotNs)
			end := d.axis.from + units.MonoNs(float64(slot+1)*d.data.SlotNs)
			if both := min(end, x.To) - max(begin, from); both > 0 {
				p.BySlot[slot] += float64(both)
			}
		}
		until = max(until, x.To)
	}
	if len(list) > mostPauses {
		slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(b.Len(), a.Len()) })
		list = list[:mostPauses]
		slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	}
	for _, x := range list {
		p.From, p.Ns = append(p.From, d.axis.at(x.From)), append(p.Ns, float32(x.Len()))
	}
	return p
}
