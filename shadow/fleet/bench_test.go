package fleet

import (
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"stackagent/internal/testobjects"
	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store/objectstore"
)

var (
	fleetSessions = flag.Int("fleet-sessions", 100, "sessions of the fleet of BenchmarkFirstAnswer; 10000 take minutes to make")
	fleetDelay    = flag.Duration("fleet-delay", 20*time.Millisecond, "by which its object store answers later")
)

// BenchmarkFirstAnswer asks a bucket whose answers take as long as those of a cloud's, each time as a new process does.
func BenchmarkFirstAnswer(b *testing.B) {
	s := testobjects.Start(b)
	to, err := objectstore.Open(b.Context(), s.Address("fleet", ""))
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	f := fleettest.Fleet{Sessions: *fleetSessions, Services: 10, Instances: 8, Days: 30, Executions: 1000, From: now.UTC().AddDate(0, 0, -30).Truncate(24 * time.Hour)}
	if err := f.Fill(b.Context(), to); err != nil {
		b.Fatal(err)
	}
	if _, err := rollup.Compact(b.Context(), to, rollup.CompactOptions{Enough: 1}, now); err != nil {
		b.Fatal(err)
	}
	s.Fail(testobjects.Always(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		time.Sleep(*fleetDelay)
		next.ServeHTTP(w, r)
	}))
	for name, ask := range map[string]func(*Store, *Question, Span) error{
		"top": func(st *Store, q *Question, at Span) error {
			_, err := st.Top(b.Context(), q, at, Service, "work")
			return err
		},
		"findings": func(st *Store, q *Question, at Span) error {
			_, err := st.Findings(b.Context(), q, at)
			return err
		},
	} {
		for _, last := range []string{"7d", "40d"} {
			b.Run(fmt.Sprintf("%s/last=%s/sessions=%d", name, last, f.Sessions), func(b *testing.B) {
				var cost rollup.Answer
				for b.Loop() {
					to, err := objectstore.Open(b.Context(), s.Address("fleet", ""))
					if err != nil {
						b.Fatal(err)
					}
					st, q := &Store{Objects: to, Now: time.Now}, &Question{Last: last}
					at, err := q.Check(now)
					if err != nil {
						b.Fatal(err)
					}
					if err := ask(st, q, at); err != nil {
						b.Fatal(err)
					}
					cost = st.Cost
				}
				b.ReportMetric(float64(cost.Requests), "requests/op")
				b.ReportMetric(float64(cost.Bytes)/1024, "KiB/op")
			})
		}
	}
}
