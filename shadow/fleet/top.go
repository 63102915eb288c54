package fleet

import (
	"math"
	"slices"
	"time"

	"stackagent/internal/listing"
	"stackagent/shadow/fleet/rollup"
)

// TopColumns are the columns of shadow fleet top.
func TopColumns(by By, rows []*Row) []listing.Column[*Row] {
	type row = *Row
	total := int64(0)
	for _, r := range rows {
		total += r.Work().Sum
	}
	name := func(name, title, doc string, of func(row) string) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(of(r)) }}
	}
	count := func(name, title, doc string, of func(row) int64) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Int, Unit: listing.Count, Value: func(r row) listing.Value { return listing.IntOf(of(r)) }}
	}
	ns := func(name, title, doc string, of func(row) *rollup.Cell, figure func(*rollup.Cell) float64) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Int, Unit: listing.Ns, Optional: true, Value: func(r row) listing.Value {
			s := of(r)
			v := figure(s)
			if s.Count == 0 || math.IsNaN(v) {
				return listing.Null
			}
			return listing.IntOf(int64(math.Round(v)))
		}}
	}
	sum := func(s *rollup.Cell) float64 { return float64(s.Sum) }
	at := func(p float64) func(*rollup.Cell) float64 {
		return func(s *rollup.Cell) float64 { return s.Quantile(p) }
	}
	of := func(metric string) func(row) *rollup.Cell {
		return func(r row) *rollup.Cell { return r.Metric(metric) }
	}
	mean := (*rollup.Cell).Mean
	instances := count("instances", "instances", "instances that had any of it", func(r row) int64 { return int64(r.Instances) })
	instances.Optional = true
	instances.Value = func(r row) listing.Value { return listing.UnlessZero(int64(r.Instances)) }
	list := []listing.Column[row]{
		name("service", "service", "name of the service; empty: none was given", func(r row) string { return r.Service }),
		name("name", string(by), "what the row is about, see --by", func(r row) string { return r.Name }),
		name("version", "", "version of the service, of rows by instance and session", func(r row) string { return r.Version }),
		instances,
		count("executions", "executions", "executions that ended", (row).Executions),
		count("threw", "", "of these, ended by an exception", func(r row) int64 { return r.Metric(rollup.Threw).Count }),
		ns("work_ns", "work", "CPU time of the executions' own, nested ones taken out; wall time, where CPU time was not measured", (row).Work, sum),
		{Name: "share", Title: "share", Doc: "of the work of all rows", Kind: listing.Float, Unit: listing.Share, Optional: true, Value: func(r row) listing.Value {
			if total == 0 {
				return listing.Null
			}
			return listing.FloatOf(float64(r.Work().Sum) / float64(total))
		}},
		ns("work_mean_ns", "mean", "mean work of an execution", (row).Work, mean),
		ns("wall_ns", "", "wall time, nested executions included", of(Wall), sum),
		ns("wall_p50_ns", "wall p50", "median wall time", of(Wall), at(0.5)),
		ns("wall_p99_ns", "wall p99", "99th percentile of the wall time", of(Wall), at(0.99)),
		ns("wall_max_ns", "", "longest wall time", of(Wall), func(s *rollup.Cell) float64 { return float64(s.Max) }),
		ns("queue_ns", "queue", "time in queues, of all", of(Queue), sum),
		ns("queue_p50_ns", "", "median queue time", of(Queue), at(0.5)),
		ns("queue_p99_ns", "queue p99", "99th percentile of the queue time", of(Queue), at(0.99)),
		ns("response_p99_ns", "response p99", "99th percentile of queue time and wall time together", of(rollup.Response), at(0.99)),
		ns("wait_ns", "waits", "time that threads waited", (row).Waits, sum),
		ns("gc_ns", "", "time in GC pauses", of(rollup.GC), sum),
		count("lost", "", "events that were lost", (row).Lost),
		name("first", "", "begin of its first window, RFC 3339", func(r row) string { return time.Unix(0, r.First).UTC().Format(time.RFC3339) }),
		name("last", "", "begin of its last window", func(r row) string { return time.Unix(0, r.Last).UTC().Format(time.RFC3339) }),
	}
	if by == Service {
		list[1].Title = ""
	}
	if by == Instance || by == Session {
		list[2].Title, list[3].Title = "version", ""
	}
	if by == Wait {
		for i := range list {
			if !slices.Contains([]string{"service", "name", "instances", "wait_ns"}, list[i].Name) {
				list[i].Title = ""
			}
		}
	}
	return list
}
