// Package fleet answers questions over many sessions from their roll-ups: where the work of a service is, what changed
// between its versions, which of its instances are unlike the others, and how it develops. The answers are the same on the command
// line and on the page: what a question may say, from which level of roll-ups it is answered, and the columns of its answer.
package fleet

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/fleet/rollup"
)

// By is what rows of a listing are about.
type By string

// What rows are about, each within a service.
const (
	Service  By = "service"
	Version  By = "version"
	Env      By = "env"
	Instance By = "instance"
	Class    By = "class"
	Executor By = "executor"
	Site     By = "site"
	Session  By = "session"
	Wait     By = "wait" // what was waited for
	Day      By = "day"
)

// All are the groupings in the order of help texts.
var All = []By{Class, Executor, Site, Wait, Instance, Version, Env, Service, Session, Day}

// Metrics of roll-ups that have a part in figures here, beside those of package rollup.
const (
	Wall     = "wall_ns"
	SelfWall = "self_wall_ns"
	CPU      = "cpu_ns"
	SelfCPU  = "self_cpu_ns"
	Queue    = "queue_ns"
)

// Key tells rows apart.
type Key struct {
	Service, Name string
	Version       string // of By Version, Instance and Session, where a row has one only
}

// Row sums up the roll-ups of a key.
type Row struct {
	Key
	Platform    bool // all of it is of classes of the JDK
	First, Last int64
	Metrics     map[string]*rollup.Cell
	Instances   int // that had any of it; 0: not known

	instances map[string]struct{}
}

// Metric is a metric of the row; a zero one, if it has none.
func (r *Row) Metric(name string) *rollup.Cell {
	if s := r.Metrics[name]; s != nil {
		return s
	}
	return &rollup.Cell{}
}

// Executions are those that ended.
func (r *Row) Executions() int64 { return r.Metric(rollup.Executions).Count }

// Hours is how long JVMs were observed; where roll-ups do not say, from the begin of the first window to the end of the last.
func (r *Row) Hours() float64 {
	if up := r.Metric(rollup.Uptime).Sum; up > 0 {
		return time.Duration(up).Hours()
	}
	return (time.Duration(r.Last-r.First) + rollup.Window).Hours()
}

// Work is the CPU time of its own of the executions, nested ones taken out; where that was not measured, the wall time.
func (r *Row) Work() *rollup.Cell {
	if s := r.Metric(SelfCPU); s.Count > 0 {
		return s
	}
	return r.Metric(SelfWall)
}

// Waits sums up what threads waited for, but for workers without work.
func (r *Row) Waits() *rollup.Cell {
	all := &rollup.Cell{}
	for name, s := range r.Metrics {
		if strings.HasPrefix(name, rollup.WaitPrefix) && name != rollup.WaitPrefix+idle {
			all.Add(s)
		}
	}
	return all
}

// idle is what a worker waits for that has nothing to do.
const idle = "queue"

// Lost are events that were lost, whatever the reason.
func (r *Row) Lost() int64 { return r.Metric(rollup.LostEvents).Count }

// Select chooses rows of roll-ups; an empty text lets all pass.
type Select struct {
	Version, Env, Instance, Class string
	App                           bool // leave out the JDK's classes
	Match                         func(pattern, name string) bool
}

func (s *Select) passes(r *rollup.Row) bool {
	of := func(pattern, name string) bool { return pattern == "" || s.Match(pattern, name) }
	return of(s.Version, r.Version) && of(s.Env, r.Env) && of(s.Instance, r.Instance) && (of(s.Class, r.Class) || r.Class == "" && s.Class == "") &&
		!(s.App && r.Platform)
}

// mostRows bounds the rows of a grouping; what more there is goes into one named Rest.
const mostRows = 100_000

// Rest is the name of the row that stands for what is beyond the bound.
const Rest = "(all others)"

// Groups sums up rows of roll-ups by key.
type Groups struct {
	By     By
	Select Select

	rows map[Key]*Row
	// Read is how many rows of roll-ups were summed up.
	Read int64
}

// NewGroups groups by one thing.
func NewGroups(by By, s Select) *Groups {
	if s.Match == nil {
		s.Match = func(pattern, name string) bool { return pattern == name }
	}
	return &Groups{By: by, Select: s, rows: map[Key]*Row{}}
}

// Add sums up rows.
func (g *Groups) Add(rows []rollup.Row) error {
	for i := range rows {
		r := &rows[i]
		g.Read++
		if !g.Select.passes(r) {
			continue
		}
		key, ok := g.key(r)
		if !ok {
			continue
		}
		to := g.row(key, r)
		m := to.Metrics[r.Metric]
		if m == nil {
			m = &rollup.Cell{}
			to.Metrics[r.Metric] = m
		}
		m.Add(&r.Cell)
	}
	return nil
}

// key is what a row belongs to; ok is false if it has no part in this grouping.
func (g *Groups) key(r *rollup.Row) (k Key, ok bool) {
	k.Service = r.Service
	if _, finding := rollup.FindingOf(r); finding {
		return k, false // Findings groups them
	}
	waits := strings.HasPrefix(r.Metric, rollup.WaitPrefix)
	switch g.By {
	case Service:
	case Version:
		k.Name = r.Version
	case Env:
		k.Name = r.Env
	case Instance:
		k.Name, k.Version = r.Instance, r.Version
	case Session:
		k.Name, k.Version = r.Session, r.Version
	case Day:
		k.Name = dayOf(r.WindowUnixNs)
	case Wait:
		if !waits {
			return k, false
		}
		k.Name = strings.TrimPrefix(r.Metric, rollup.WaitPrefix)
		if r.Class != "" {
			k.Name += " " + r.Class
		}
	case Executor:
		k.Name = r.Executor
	case Site:
		k.Name = r.Site
	default:
		k.Name = r.Class
	}
	if g.By == Class || g.By == Executor || g.By == Site {
		return k, r.Class != "" && !waits
	}
	return k, true
}

func (g *Groups) row(k Key, r *rollup.Row) *Row {
	to := g.rows[k]
	if to == nil && len(g.rows) >= mostRows {
		k = Key{Name: Rest}
		to = g.rows[k]
	}
	if to == nil {
		to = &Row{Key: k, Platform: true, First: r.WindowUnixNs, Metrics: map[string]*rollup.Cell{}, instances: map[string]struct{}{}}
		g.rows[k] = to
	}
	to.Platform = to.Platform && r.Platform
	to.First, to.Last = min(to.First, r.WindowUnixNs), max(to.Last, r.WindowUnixNs)
	if r.Instance != "" && len(to.instances) < mostRows {
		to.instances[r.Instance] = struct{}{}
	}
	return to
}

// Rows are the sums, in the order of a listing.
func (g *Groups) Rows(sort string) []*Row {
	list := make([]*Row, 0, len(g.rows))
	for _, r := range g.rows {
		r.Instances = len(r.instances)
		list = append(list, r)
	}
	weight := Weights[sort]
	slices.SortFunc(list, func(a, b *Row) int {
		if g.By == Day || sort == ByName {
			return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
		}
		x, y := weight(a), weight(b)
		if math.IsNaN(x) {
			x = -1
		}
		if math.IsNaN(y) {
			y = -1
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return list
}

// ByName sorts by service and name.
const ByName = "name"

// Weights are what listings sort by, the largest first.
var Weights = map[string]func(*Row) float64{
	"work":     func(r *Row) float64 { return float64(r.Work().Sum) },
	"count":    func(r *Row) float64 { return float64(r.Executions()) },
	"wall":     func(r *Row) float64 { return float64(r.Metric(Wall).Sum) },
	"queue":    func(r *Row) float64 { return float64(r.Metric(Queue).Sum) },
	"response": func(r *Row) float64 { return r.Metric(rollup.Response).Quantile(0.99) },
	"wait":     func(r *Row) float64 { return float64(r.Waits().Sum) },
	"gc":       func(r *Row) float64 { return float64(r.Metric(rollup.GC).Sum) },
	"lost":     func(r *Row) float64 { return float64(r.Lost()) },
	ByName:     func(*Row) float64 { return 0 },
}
