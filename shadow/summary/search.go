package summary

import (
	"stackagent/granularity"
	"stackagent/internal/byid"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

const (
	// maxPasses bounds the further readings: each narrows a bucket by a factor
	// of 4096, and memory may want the classes in several goes.
	maxPasses = 40
	// searchBytes bounds what one goroutine collects in one reading.
	searchBytes = 64 << 20
)

// sought is a set of values that a reading looks into.
type sought struct {
	values   *granularity.Values
	metric   granularity.Metric
	searches []*granularity.Search // by worker
}

// lookup is what a goroutine asks about each execution.
type lookup struct {
	metrics []metric
	classes byid.Map[[][]*granularity.Search] // by metric
	threads byid.Map[[]*granularity.Search]
	row     func(thread uint32) uint32
	passes  func(class uint32) bool // what was filtered out is no part of a thread's values
	rows    []*[][]*granularity.Search
}

// quest is a further reading.
type quest struct {
	sought  []*sought
	metrics []metric
	lookups []lookup
	columns store.Columns
	used    int
}

// search reads once more what is not yet known exactly. more is false if there
// was nothing to look for.
func (b *builder) search(groups []*classGroup, p *parts) (more bool, err error) {
	q := b.newQuest(groups, p)
	if len(q.sought) == 0 {
		return false, nil
	}
	b.told.pass("looking up quantiles")
	err = b.src.Executions(q.columns, func(worker int, c *session.Chunk) error {
		q.lookups[worker].chunk(c)
		b.told.add(c.Len())
		return nil
	})
	for _, s := range q.sought {
		s.values.Learn(s.searches...)
	}
	return true, b.reading("reading the executions", err)
}

// seek adds v to the reading, if there is something to look for and room. It
// gives the searches of all workers.
func (q *quest) seek(v *granularity.Values, m granularity.Metric) []*granularity.Search {
	if !v.Unknown() {
		return nil
	}
	size := v.SearchBytes()
	if q.used+size > searchBytes && q.used > 0 {
		return nil // the next reading
	}
	q.used += size
	s := &sought{values: v, metric: m}
	for range q.lookups {
		s.searches = append(s.searches, v.Search())
	}
	q.sought = append(q.sought, s)
	q.columns |= q.metrics[m].columns
	return s.searches
}

func (b *builder) newQuest(groups []*classGroup, p *parts) *quest {
	q := &quest{columns: store.ExecutionClass, metrics: b.metrics, lookups: make([]lookup, session.Workers())}
	for i := range q.lookups {
		q.lookups[i].metrics, q.lookups[i].row = q.metrics, b.threadRow
		q.lookups[i].passes = func(class uint32) bool { g := b.all.byID.Get(class); return g != nil && g.passes }
	}
	whole := make([][]*granularity.Search, len(q.metrics))
	for m := range granularity.Metric(len(q.metrics)) {
		whole[m] = q.seek(p.whole[m], m)
	}
	var own []*granularity.Search
	if p.own != nil {
		own = q.seek(p.own, p.work)
	}
	ids := map[*classGroup][]uint32{}
	for id, g := range b.all.byID.All() {
		ids[g] = append(ids[g], id)
	}
	for _, g := range groups {
		for m := range granularity.Metric(len(q.metrics)) {
			var mine []*granularity.Search
			if v, _ := g.Of(m); v != nil {
				mine = q.seek(v, m)
			}
			var ours []*granularity.Search
			if m == p.work && p.isOwn[g] {
				ours = own
			}
			for _, id := range ids[g] {
				q.ask(id, m, mine, whole[m], ours)
			}
		}
	}
	for id, t := range b.all.threads.All() {
		if t.group != nil {
			q.askThread(id, t.group)
		}
	}
	return q
}

// ask has every worker show the executions of a class to some searches.
func (q *quest) ask(class uint32, m granularity.Metric, searches ...[]*granularity.Search) {
	for worker := range q.lookups {
		for _, s := range searches {
			if s == nil {
				continue
			}
			at := q.lookups[worker].classes.Get(class)
			if at == nil {
				rows := make([][]*granularity.Search, len(q.metrics))
				at = &rows
				q.lookups[worker].classes.Set(class, at)
			}
			(*at)[m] = append((*at)[m], s[worker])
		}
	}
}

// askThread has every worker show the executions on a thread to its searches.
func (q *quest) askThread(id uint32, g *granularity.Group) {
	for m := range granularity.Metric(len(q.metrics)) {
		v, _ := g.Of(m)
		if v == nil {
			continue
		}
		searches := q.seek(v, m)
		if searches == nil {
			continue
		}
		q.columns |= store.ExecutionThread
		for worker := range q.lookups {
			l := &q.lookups[worker]
			if l.threads.Get(id) == nil {
				row := make([]*granularity.Search, len(q.metrics))
				l.threads.Set(id, &row)
			}
			(*l.threads.Get(id))[m] = searches[worker]
		}
	}
}

func (l *lookup) chunk(c *session.Chunk) {
	l.rows = l.rows[:0]
	for _, class := range c.Class {
		l.rows = append(l.rows, l.classes.Get(class))
	}
	for m := range l.metrics {
		l.look(c, l.metrics[m].values(c), granularity.Metric(m))
	}
}

// look shows the values of metric m of the chunk's executions to who asked.
func (l *lookup) look(c *session.Chunk, values []units.Ns, m granularity.Metric) {
	if len(values) == 0 {
		return
	}
	for i, at := range l.rows {
		if n := values[i]; at != nil && n.Measured() {
			for _, s := range (*at)[m] {
				s.Look(n)
			}
		}
	}
	if len(c.Thread) == 0 {
		return
	}
	for i, id := range c.Thread {
		at := l.threads.Get(l.row(id))
		if n := values[i]; at != nil && (*at)[m] != nil && n.Measured() && l.passes(c.Class[i]) {
			(*at)[m].Look(n)
		}
	}
}
