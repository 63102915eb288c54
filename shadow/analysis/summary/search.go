package summary

import (
	"stackagent/granularity"
	"stackagent/internal/idmap"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

const (
	// maxPasses bounds the readings: each narrows a bucket by a factor of 4096, and
	// little memory may need several readings for all classes.
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

// lookup is what a goroutine looks for in each execution.
type lookup struct {
	metrics   *metrics
	groups    idmap.Map[[][]*granularity.Search] // by metric
	threads   idmap.Map[[]*granularity.Search]
	perThread bool // threads is not empty
	row       func(thread uint32) uint32
	passes    func(group uint32) bool // filtered executions are not in a thread's values
	rows      []*[][]*granularity.Search
}

// quest is another reading of the executions.
type quest struct {
	sought  []*sought
	metrics *metrics
	lookups []lookup
	columns store.Columns
	used    int
}

// search reads once more to make values exact. more is false if all are.
func (b *builder) search(groups []*classGroup, p *parts) (more bool, err error) {
	q := b.newQuest(groups, p)
	if len(q.sought) == 0 {
		return false, nil
	}
	b.progress.pass("looking up quantiles")
	err = b.executions(q.columns, func(worker int, c *session.Chunk, group []uint32) error {
		q.lookups[worker].chunk(c, group)
		b.progress.add(c.Len())
		return nil
	})
	for _, s := range q.sought {
		s.values.Learn(s.searches...)
	}
	return true, b.reading("reading the executions", err)
}

// seek adds v to the reading if it is not exact and there is room. It returns the
// searches of all workers.
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
	q.columns |= q.metrics.list[m].columns
	return s.searches
}

func (b *builder) newQuest(groups []*classGroup, p *parts) *quest {
	q := &quest{columns: store.ExecutionClass, metrics: b.metrics, lookups: make([]lookup, session.Workers())}
	for i := range q.lookups {
		q.lookups[i].metrics, q.lookups[i].row = q.metrics, b.threadRow
		q.lookups[i].passes = func(group uint32) bool { g := b.all.byID.Get(group); return g != nil && g.passes }
	}
	whole := make([][]*granularity.Search, len(q.metrics.list))
	for m := range q.metrics.count() {
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
		for m := range q.metrics.count() {
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

// ask makes every worker show the executions of a group to the searches.
func (q *quest) ask(group uint32, m granularity.Metric, searches ...[]*granularity.Search) {
	for worker := range q.lookups {
		for _, s := range searches {
			if s == nil {
				continue
			}
			at := q.lookups[worker].groups.Get(group)
			if at == nil {
				rows := make([][]*granularity.Search, len(q.metrics.list))
				at = &rows
				q.lookups[worker].groups.Set(group, at)
			}
			(*at)[m] = append((*at)[m], s[worker])
		}
	}
}

// askThread has every worker show the executions on a thread to its searches.
func (q *quest) askThread(id uint32, g *granularity.Group) {
	for m := range q.metrics.count() {
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
				row := make([]*granularity.Search, len(q.metrics.list))
				l.threads.Set(id, &row)
				l.perThread = true
			}
			(*l.threads.Get(id))[m] = searches[worker]
		}
	}
}

func (l *lookup) chunk(c *session.Chunk, group []uint32) {
	l.rows = l.rows[:0]
	for _, id := range group {
		l.rows = append(l.rows, l.groups.Get(id))
	}
	for m := range l.metrics.list {
		l.look(c, group, l.metrics.list[m].values(c), granularity.Metric(m))
	}
}

// look shows the values of metric m in the chunk to the searches.
func (l *lookup) look(c *session.Chunk, group []uint32, values []units.Ns, m granularity.Metric) {
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
	if !l.perThread {
		return
	}
	for i, id := range c.Thread {
		at := l.threads.Get(l.row(id))
		if n := values[i]; at != nil && (*at)[m] != nil && n.Measured() && l.passes(group[i]) {
			(*at)[m].Look(n)
		}
	}
}
