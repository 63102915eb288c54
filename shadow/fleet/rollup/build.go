package rollup

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"stackagent/granularity"
	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// Metrics of rows beside those of work, which have the names that shadow stats gives them: "wall_ns", "self_cpu_ns",
// "queue_ns", "alloc_bytes", ...
const (
	Executions    = "executions"     // Count: executions that ended, or had not when the session did
	Threw         = "threw"          // Count: of these, ended by an exception
	Created       = "created"        // Count: tasks created; without executor and site
	NeverExecuted = "never_executed" // Count: tasks created and not executed by the end of the session; likewise
	Response      = "response_ns"    // from the submission, or when it was due, to the end
	WaitPrefix    = "wait_ns:"       // what for follows, as in shadow waits; Class: of what was waited for; without histogram
	GC            = "gc_ns"          // pauses; Site: the cause
	Uptime        = "uptime_ns"      // Count and Sum: how long the JVM was observed, ns
	LostEvents    = "lost_events"    // Count; Site: the reason
	LostBatches   = "batches_lost"   // Count
)

// ErrNoTime is a session that does not say when it was recorded.
var ErrNoTime = errors.New("the session does not say when it was recorded; its windows are not known")

// Labels are what rows of a session have in common.
type Labels struct {
	Service, Version, Env, Instance string
	Session                         string // its folder in the store
	Free                            string // sorted JSON
}

// Carry is what earlier ranges of a session's batches said, for figures that are not of a range.
type Carry struct {
	Created     map[uint32]int64 `json:"created,omitempty"` // by class
	Started     map[uint32]int64 `json:"started,omitempty"` // by class: of these, executed at least once
	Lost        map[string]int64 `json:"lost,omitempty"`    // by reason, up to then
	LostBatches int64            `json:"lost_batches,omitempty"`
	Until       units.MonoNs     `json:"until,omitempty"` // the JVM's clock
}

func (c *Carry) clone() Carry {
	return Carry{cloned(c.Created), cloned(c.Started), cloned(c.Lost), c.LostBatches, c.Until}
}

func cloned[K comparable](m map[K]int64) map[K]int64 {
	if m == nil {
		return map[K]int64{}
	}
	return maps.Clone(m)
}

// Build sums up a session, or a part of one (session.OpenRange), in rows, sorted. An execution belongs to the window in
// which it ended; summarised ones to that in which the last of their interval did; what has no time to the last window.
// before is what was said of ranges before, of a whole session the zero value; after is for the next. With last, the
// session has ended and nothing follows; whole is all of it, nil if that cannot be read: then its findings are not known.
func Build(s *session.Session, l Labels, before Carry, last bool, whole *session.Session) (rows []Row, after Carry, err error) {
	m := &s.Manifest
	if m.WallUnixNs <= 0 {
		return nil, before, ErrNoTime
	}
	b := &builder{s: s, labels: l, all: map[key]*Cell{}, after: before.clone()}
	steps := []func() error{b.work, b.counts, b.waits}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, before, err
		}
	}
	b.pauses()
	b.losses(last)
	b.uptime(last)
	if last {
		b.never()
	}
	if last && whole != nil {
		b.findings(whole)
	}
	return b.rows(), b.after, nil
}

// key is a row of a session.
type key struct {
	window                        int64
	metric, class, executor, site string
	platform                      bool
}

type builder struct {
	s      *session.Session
	labels Labels
	all    map[key]*Cell
	latest units.MonoNs // end of anything
	after  Carry
}

// window is the begin of the window in which a moment lies.
func (b *builder) window(at units.MonoNs) int64 {
	m := &b.s.Manifest
	return time.Unix(0, m.WallUnixNs+int64(at-m.StartNs)).Truncate(Window).UnixNano()
}

func (b *builder) of(k key) *Cell {
	c := b.all[k]
	if c == nil {
		c = &Cell{}
		b.all[k] = c
	}
	return c
}

// end is the moment of what has no time.
func (b *builder) end() units.MonoNs {
	return cmp.Or(b.latest, b.s.Manifest.EndNs, b.s.Manifest.StartNs)
}

// place is where executions belong. Cells of a place are by metric of the work, behind them some that are not.
type place struct {
	window                int64
	class, executor, site uint32
}

const (
	cellExecutions = iota
	cellThrew
	cellResponse
	otherCells
)

// share is what one goroutine sums up.
type share struct {
	cells  map[place][]Cell
	latest units.MonoNs
}

func (b *builder) work() error {
	w, err := summary.WorkOf(b.s)
	if err != nil {
		return err
	}
	queue := slices.IndexFunc(w.Metrics, func(m summary.WorkMetric) bool { return m.Name == granularity.QueueName })
	shares := make([]share, session.Workers())
	for i := range shares {
		shares[i].cells = map[place][]Cell{}
	}
	err = w.Each(func(worker int, x *summary.WorkItem) error {
		shares[worker].add(b, w, x, queue)
		return nil
	})
	if err != nil {
		return err
	}
	err = w.Summaries(func(x *summary.WorkSummary) error {
		shares[0].summarised(b, x)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range shares {
		b.latest = max(b.latest, shares[i].latest)
		b.take(w, shares[i].cells)
	}
	return nil
}

func (s *share) at(p place, metrics int) []Cell {
	cells := s.cells[p]
	if cells == nil {
		cells = make([]Cell, otherCells+metrics)
		s.cells[p] = cells
	}
	return cells
}

func (s *share) add(b *builder, w *summary.Work, x *summary.WorkItem, queue int) {
	if !x.Running {
		s.latest = max(s.latest, x.End)
	}
	cells := s.at(place{b.window(x.End), x.Class, x.Executor, x.Site}, len(x.Values))
	cells[cellExecutions].Count++
	if x.Threw {
		cells[cellThrew].Count++
	}
	for i, v := range x.Values {
		if v.Measured() {
			cells[otherCells+i].value(int64(v))
		}
	}
	if wall := x.Values[granularity.Wall]; queue >= 0 && wall.Measured() && x.Values[queue].Measured() {
		cells[cellResponse].value(int64(x.Values[queue] + wall))
	}
}

func (s *share) summarised(b *builder, x *summary.WorkSummary) {
	s.latest = max(s.latest, x.To)
	cells := s.at(place{b.window(x.To), x.Class, x.Executor, x.Site}, len(x.Work))
	cells[cellExecutions].Count += x.Executions
	cells[cellThrew].Count += x.Threw
	for i := range x.Work {
		m, c := &x.Work[i], &cells[otherCells+i]
		c.moments(m.Count, int64(m.Sum), int64(m.Min), int64(m.Max))
		for _, n := range m.Buckets {
			c.bucket(int(n.Index), int64(n.Count))
		}
	}
}

// take gives the cells of a share their names.
func (b *builder) take(w *summary.Work, cells map[place][]Cell) {
	label := func(labels []string, n uint32) string {
		if int(n) < len(labels) {
			return labels[n]
		}
		return ""
	}
	for p, list := range cells {
		class := w.Class(p.class)
		k := key{window: p.window, class: class.Name, executor: label(w.Executors, p.executor), site: label(w.Sites, p.site), platform: unit.IsJDK(class.Name, class.Kinds)}
		for i := range list {
			switch i {
			case cellExecutions:
				k.metric = Executions
			case cellThrew:
				k.metric = Threw
			case cellResponse:
				k.metric = Response
			default:
				k.metric = w.Metrics[i-otherCells].Name
			}
			if list[i].Count > 0 {
				b.of(k).Add(&list[i])
			}
		}
	}
}

// counts adds the tasks that were created, which have no time: those of a range belong to its last window.
func (b *builder) counts() error {
	per, _, err := b.s.Counts()
	if err != nil {
		return err
	}
	for i := range per {
		c := &per[i]
		if c.Class == nil {
			continue
		}
		k := key{window: b.window(b.end()), metric: Created, class: c.Class.Name, platform: unit.IsJDK(c.Class.Name, c.Class.Kinds)}
		if c.Created > 0 {
			b.of(k).Count += int64(c.Created)
		}
		b.after.Created[c.Class.ID] += int64(c.Created)
		b.after.Started[c.Class.ID] += int64(max(c.Started(), c.Created-c.NeverExecuted))
	}
	return nil
}

// never adds the tasks that were never executed in all ranges.
func (b *builder) never() {
	for id, n := range b.after.Created {
		if n -= b.after.Started[id]; n > 0 {
			c := callsite.Describe(b.s, nil, id)
			b.of(key{window: b.window(b.end()), metric: NeverExecuted, class: c.Name, platform: unit.IsJDK(c.Name, c.Kinds)}).Count += n
		}
	}
}

func (b *builder) waits() error {
	return wait.EachEnded(b.s, func(e *wait.Ended) {
		c := b.of(key{window: b.window(e.End), metric: WaitPrefix + e.For, class: e.Class})
		c.moments(e.Waits, int64(e.WaitedNs), 0, int64(min(e.MaxNs, e.WaitedNs)))
	})
}

// pauses adds the collector's. Time in which two overlap counts once.
func (b *builder) pauses() {
	var until units.MonoNs
	for _, p := range b.s.Pauses { // by start
		alone := max(0, p.EndNs-max(p.StartNs, until))
		until = max(until, p.EndNs)
		d := int64(p.EndNs - p.StartNs)
		c := b.of(key{window: b.window(p.EndNs), metric: GC, site: p.Cause})
		c.moments(1, int64(alone), d, d)
		c.bucket(histogram.Index(uint64(max(d, 0))), 1)
	}
}

// mostWindows bounds the windows of a range: a clock may be forged.
const mostWindows = 1 << 16

// uptime adds how long the JVM was observed since the range before.
func (b *builder) uptime(last bool) {
	m := &b.s.Manifest
	from, to := cmp.Or(b.after.Until, b.s.Begins()), b.latest
	if last {
		to = max(to, m.EndNs)
	}
	for n := 0; from < to && n < mostWindows; n++ {
		w := b.window(from)
		next := min(to, m.StartNs+units.MonoNs(w+int64(Window)-m.WallUnixNs))
		b.of(key{window: w, metric: Uptime}).moments(int64(next-from), int64(next-from), 0, 0)
		from = next
	}
	b.after.Until = max(b.after.Until, to)
}

// losses adds what was lost since the range before. Batches that did not arrive may still come before the end.
func (b *builder) losses(last bool) {
	m, _ := b.s.Found()
	lost := summary.LostOf(&m.Lost)
	k := key{window: b.window(b.end()), metric: LostEvents}
	var named uint64
	for reason, n := range lost.ByReason {
		named += n
		if reason == summary.LostInGaps && !last {
			continue
		}
		b.lost(k, reason, int64(n))
	}
	if lost.Events > named {
		b.lost(k, "", int64(lost.Events-named))
	}
	if n := int64(lost.Batches) - b.after.LostBatches; n > 0 && last {
		k.metric = LostBatches
		b.of(k).Count += n
		b.after.LostBatches = int64(lost.Batches)
	}
}

func (b *builder) lost(k key, reason string, n int64) {
	if more := n - b.after.Lost[reason]; more > 0 {
		k.site = reason
		b.of(k).Count += more
		b.after.Lost[reason] = n
	}
}

func (b *builder) rows() []Row {
	rows := make([]Row, 0, len(b.all))
	for k, c := range b.all {
		rows = append(rows, Row{WindowUnixNs: k.window, Service: b.labels.Service, Version: b.labels.Version, Env: b.labels.Env, Instance: b.labels.Instance,
			Session: b.labels.Session, Labels: b.labels.Free, Executor: k.executor, Class: k.class, Site: k.site, Platform: k.platform, Metric: k.metric,
			Cell: *c})
	}
	slices.SortFunc(rows, func(a, b Row) int { return Compare(&a, &b) })
	return rows
}

// byDay divides sorted rows by the day of their windows.
func byDay(rows []Row) map[time.Time][]Row {
	days := map[time.Time][]Row{}
	for _, r := range rows {
		day := startOfDay(time.Unix(0, r.WindowUnixNs))
		days[day] = append(days[day], r)
	}
	return days
}
