package summary_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// randomPart has rows of every kind: nested, on many threads, running, thrown, cut, without
// CPU time, with queue times of either sign, and an extra metric.
func randomPart(r *rand.Rand, seq uint64, rows int) *store.Part {
	p := &store.Part{Range: store.Range{From: seq, To: seq}, Extra: []string{"alloc_bytes"}}
	p.ExecutionWork = wire.Work{Total: make([][]int64, 1), Nested: make([][]int64, 1)}
	for i := range rows {
		task, start := seq<<24|uint64(i+1), units.MonoNs(1_000_000+r.Int64N(1_000_000_000))
		wall := units.Ns(math.Exp(r.Float64() * 25))
		x := store.Execution{
			TaskID: task, Class: uint32(1 + r.IntN(6)), Thread: uint32(1 + r.IntN(200)), Depth: uint16(r.IntN(2)), Flags: uint16(r.IntN(32))&^uint16(wire.Running) | uint16(wire.First),
			StartNs: start, EndNs: start + units.MonoNs(wall), WallNs: wall, SelfWallNs: wall - units.Ns(r.Int64N(int64(wall)+1)), CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured,
		}
		switch r.IntN(10) {
		case 0:
			x.Flags |= uint16(wire.Running)
			x.EndNs, x.WallNs, x.SelfWallNs = 0, units.NotMeasured, units.NotMeasured
		case 1, 2, 3:
			x.SubmittedNs = start - units.MonoNs(r.Int64N(50_000)-100)
		case 4:
			x.SubmittedNs, x.DueNs = start-5_000_000, start-units.MonoNs(r.Int64N(1000))
		default:
			x.CPUNs = wall / 2
			x.SelfCPUNs = x.CPUNs / 3
		}
		p.Executions = append(p.Executions, x)
		alloc, nested := int64(units.NotMeasured), int64(units.NotMeasured)
		if r.IntN(3) > 0 {
			alloc, nested = r.Int64N(1<<40), 0
		}
		p.ExecutionWork.Total[0], p.ExecutionWork.Nested[0] = append(p.ExecutionWork.Total[0], alloc), append(p.ExecutionWork.Nested[0], nested)
		if r.IntN(8) > 0 {
			flags := uint16(0)
			if r.IntN(50) == 0 {
				flags = uint16(wire.Failed)
			}
			p.Creations = append(p.Creations, store.Creation{TaskID: task, Class: x.Class, Thread: x.Thread, AtNs: start - 10, Flags: flags})
		}
	}
	return p
}

// randomSession has parts with and without sums, large and merged ones. One was written twice: the shadow ended before
// the manifest named it.
func randomSession(t *testing.T, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 17))
	root := t.TempDir()
	open := func() *store.Writer {
		w, err := store.OpenWriter(root, "s", "s")
		if err != nil {
			t.Fatal(err)
		}
		w.SumsFrom = 1
		w.Manifest.Metrics, w.Manifest.StartNs, w.Manifest.EndNs = []string{"wall", "cpu", "alloc"}, 1_000_000, 2_000_000_000
		w.Manifest.Extra = []store.ExtraMetric{{Name: "alloc", Unit: "bytes", Column: "alloc_bytes"}}
		return w
	}
	w := open()
	for seq := uint64(1); seq <= 26; seq++ {
		rows := 2000 + r.IntN(1000)
		if seq == 3 || seq == 24 {
			rows = 40_000 // too large to be merged
		}
		p := randomPart(r, seq, rows)
		if seq == 1 {
			for i, name := range []string{"app.A", "app.B", "app.A", "java.util.concurrent.FutureTask", "app.C"} { // class 6 is lost
				p.Classes = append(p.Classes, store.Class{ID: uint32(i + 1), Name: name, Kinds: "Runnable"})
			}
		}
		before, _ := os.ReadFile(filepath.Join(w.Dir(), store.ManifestName))
		if err := w.Commit(p); err != nil {
			t.Fatal(err)
		}
		if seq == 12 || seq == 24 {
			if err := os.WriteFile(filepath.Join(w.Dir(), store.ManifestName), before, 0o600); err != nil {
				t.Fatal(err)
			}
			w = open()
			if err := w.Commit(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for again := true; again; {
		var err error
		if again, err = w.Merge(true); err != nil {
			t.Fatal(err)
		}
	}
	return w.Dir()
}

func openSession(t *testing.T, dir string) *session.Session {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSums: what the sums of the parts say is what all rows say: counts, sums, extremes and standard deviations exactly,
// quantiles within the error that is given.
func TestSums(t *testing.T) {
	for seed := range uint64(3) {
		dir := randomSession(t, seed)
		for _, f := range []summary.Filter{{}, {App: true}, {Class: "app.*"}} {
			got, err := summary.Build(openSession(t, dir), summary.Options{SumsAbove: 1, Filter: f})
			if err != nil {
				t.Fatal(err)
			}
			want, err := summary.Build(openSession(t, dir), summary.Options{SumsAbove: 1, Filter: f, Exact: true, AsRecorded: true})
			if err != nil {
				t.Fatal(err)
			}
			if !got.FromSums || want.FromSums {
				t.Fatalf("from sums: %v, and %v when asked for exact ones", got.FromSums, want.FromSums)
			}
			if got.Tasks != want.Tasks || got.DurationNs != want.DurationNs {
				t.Errorf("%+v\n%+v", got.Tasks, want.Tasks)
			}
			sameButQuantiles(t, "all", got.Metrics, want.Metrics)
			if len(got.Rows) != len(want.Rows) || len(got.Rows) == 0 {
				t.Fatalf("%d rows, want %d", len(got.Rows), len(want.Rows))
			}
			for i := range got.Rows {
				a, b := got.Rows[i], want.Rows[i]
				sameButQuantiles(t, b.Class, a.Metrics, b.Metrics)
				a.Metrics, b.Metrics = nil, nil
				if a.Class != b.Class || a.Executions != b.Executions || a.Created != b.Created || a.NeverExecuted != b.NeverExecuted || a.Threads != b.Threads ||
					a.Nested != b.Nested || a.Threw != b.Threw || a.Running != b.Running || a.Work != b.Work || a.WorkShare != b.WorkShare {
					t.Errorf("row %d: %+v\n%+v", i, a, b)
				}
			}
		}
	}
}

func sameButQuantiles(t *testing.T, of string, got, want granularity.Metrics) {
	t.Helper()
	if len(got) != len(want) || len(got) < 6 {
		t.Errorf("%s: %d metrics, want %d", of, len(got), len(want))
	}
	for m, b := range want {
		a := got[m]
		if a.Count != b.Count || a.Sum != b.Sum || a.Min != b.Min || a.Max != b.Max || a.NotMeasured != b.NotMeasured || a.Mean != b.Mean || a.StdDev != b.StdDev || a.Summarised != 0 {
			t.Errorf("%s, metric %v:\n%+v\n%+v", of, m, a, b)
		}
		if b.RelativeError != 0 || a.RelativeError > 0.0079 {
			t.Errorf("%s, metric %v: errors %v and %v", of, m, a.RelativeError, b.RelativeError)
		}
		for i, q := range [][2]units.Ns{{a.P1, b.P1}, {a.P5, b.P5}, {a.P25, b.P25}, {a.P50, b.P50}, {a.P75, b.P75}, {a.P95, b.P95}, {a.P99, b.P99}, {a.P999, b.P999}} {
			if off := math.Abs(float64(q[0] - q[1])); off > a.RelativeError*math.Abs(float64(q[1]))+1 {
				t.Errorf("%s, metric %v, quantile %d: %d for %d", of, m, i, q[0], q[1])
			}
		}
	}
}

// TestSumsOfDamage: rows of which only the sums are read are not looked at; who reads them finds the damage, and what
// was asked for of a damaged session comes from the rows.
func TestSumsOfDamage(t *testing.T) {
	dir := randomSession(t, 9)
	large := filepath.Join(dir, store.PartName(store.Executions, 3, 3))
	data, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 0x55
	if err := os.WriteFile(large, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := summary.Build(openSession(t, dir), summary.Options{SumsAbove: 1}); err != nil || !s.FromSums {
		t.Errorf("from sums: %v", err)
	}
	if _, err := summary.Build(openSession(t, dir), summary.Options{SumsAbove: 1, Exact: true}); err == nil {
		t.Error("the damage was not found")
	}
	s, err := session.OpenDamaged(dir)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := summary.Build(s, summary.Options{SumsAbove: 1}); err != nil || sum.FromSums {
		t.Errorf("a damaged session was read by its sums: %v", err)
	}
}
