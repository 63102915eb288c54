package rollup

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkDay compacts six hours of a service of 20 instances, a session an hour each, and asks about it. It reports the cost
// of a question.
func BenchmarkDay(b *testing.B) {
	m := newMemory()
	for i := range 20 {
		for h := range 6 {
			var rows []Row
			for w := range 12 {
				for c := range 20 {
					for _, metric := range []string{"cpu_ns", Executions, "queue_ns", "self_wall_ns", "wall_ns"} {
						r := Row{WindowUnixNs: midnight.Add(time.Duration(h*12+w) * Window).UnixNano(), Service: "orders", Version: "1", Instance: fmt.Sprint("i", i), Session: fmt.Sprint("s", i, "-", h),
							Executor: "pool", Class: fmt.Sprint("com.acme.Job", c), Site: "com.acme.Main.run:7", Metric: metric, Cell: Cell{Count: 100}}
						if metric != Executions {
							r.Sum, r.Min, r.Max = int64(1e6*(c+w)), 100, int64(1e5*(i+1))
							for k := range int32(30) {
								r.Index, r.Buckets = append(r.Index, 300+10*k+int32(i+w)%10), append(r.Buckets, int64(c)+int64(k))
							}
						}
						rows = append(rows, r)
					}
				}
			}
			putRows(b, m, fmt.Sprint("s", i, "-", h), 1, rows)
		}
	}
	ask := func(name string, q Query) {
		b.Run(name, func(b *testing.B) {
			var a *Answer
			for range b.N {
				var err error
				if a, err = Open(m).Read(context.Background(), q, func([]Row) error { return nil }); err != nil || len(a.Missing) > 0 {
					b.Fatal(err, a)
				}
			}
			b.ReportMetric(float64(a.Rows), "rows")
			b.ReportMetric(float64(a.Requests), "requests")
			b.ReportMetric(float64(a.Bytes)/(1<<20), "MiB")
		})
	}
	ask("fresh", Query{Level: Day, Metrics: []string{"cpu_ns"}, Columns: ColumnClass | ColumnSum | ColumnCount})
	at := time.Now()
	done, err := Compact(context.Background(), m, CompactOptions{}, midnight.Add(26*time.Hour))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("compacted in %v: %+v", time.Since(at), *done)
	for _, l := range Levels {
		ask(string(l)+"/all", Query{Level: l})
		ask(string(l)+"/sums of a metric", Query{Level: l, Metrics: []string{"cpu_ns"}, Columns: ColumnClass | ColumnSum | ColumnCount})
	}
}
