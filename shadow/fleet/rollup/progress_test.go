package rollup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// writer makes a session batch by batch. It begins ten minutes before midnight, and has a batch a minute.
type writer struct {
	t    *testing.T
	w    *store.Writer
	root string
}

const batchExecutions = 50

func newWriter(t *testing.T, name string) *writer {
	root := t.TempDir()
	w, err := store.OpenWriter(root, name, name)
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: name, WallUnixNs: midnight.Add(-10 * time.Minute).UnixNano(), StartNs: 1000, Metrics: []string{"wall", "cpu"},
		Labels: label.Labels{Service: "orders", Version: "7", Free: map[string]string{"zone": "b", "rack": "1"}}, Submissions: &store.RecordAccount{}}
	return &writer{t: t, w: w, root: root}
}

func (w *writer) dir() string { return w.w.Dir() }

// part is what a batch brings: tasks that were created and submitted in the batch before, and tasks for the next.
func (w *writer) part(seq uint64) *store.Part {
	p := &store.Part{Range: store.Range{From: seq, To: seq}}
	if seq == 1 {
		p.Classes = []store.Class{{ID: 1, Name: "com.acme.Job", Kinds: units.KindRunnable.String()}, {ID: 2, Name: "com.acme.Never", Kinds: units.KindRunnable.String()}}
		p.Threads = []store.Thread{{ID: 1, JavaID: 11, Name: "t", Group: "main"}}
		p.Executors = []store.Executor{{ID: 1, Class: "com.acme.Pool"}}
		p.Sites = []store.Site{{ID: 1, Class: "com.acme.Main", Method: "run", Line: 7}}
	}
	begin := 1000 + units.MonoNs(seq-1)*units.MonoNs(time.Minute)
	for i := range uint64(batchExecutions) {
		at := begin + units.MonoNs(i)*units.MonoNs(time.Second)
		id := seq*1000 + i
		p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: 1, Thread: 1, AtNs: at})
		p.Submissions = append(p.Submissions, store.Submission{TaskID: id, Class: 1, Thread: 1, Executor: 1, Site: 1, AtNs: at})
		if i == 0 {
			p.Creations = append(p.Creations, store.Creation{TaskID: id + 500, Class: 2, Thread: 1, AtNs: at})
		}
		if seq == 1 {
			continue
		}
		wall := units.Ns(1000 * (i + seq))
		x := store.Execution{TaskID: id - 1000, Class: 1, Thread: 1, StartNs: at, EndNs: at + units.MonoNs(wall), WallNs: wall, SelfWallNs: wall, CPUNs: wall / 2, SelfCPUNs: wall / 2,
			SubmittedNs: at - units.MonoNs(time.Minute), Flags: uint16(wire.First)}
		if i%10 == 0 {
			x.Flags |= uint16(wire.Threw)
		}
		p.Executions = append(p.Executions, x)
	}
	p.Pauses = []store.Pause{{StartNs: int64(begin), EndNs: int64(begin) + 1_000_000, Cause: "G1 Evacuation Pause"}}
	return p
}

// commit stores batches.
func (w *writer) commit(sequences ...uint64) {
	w.t.Helper()
	for _, seq := range sequences {
		p := w.part(seq)
		m := &w.w.Manifest
		m.Produced.Executions += uint64(len(p.Executions))
		m.Produced.Creations += uint64(len(p.Creations))
		m.EndNs = max(m.EndNs, 1000+units.MonoNs(seq)*units.MonoNs(time.Minute))
		m.DurationNs = units.Ns(m.EndNs - m.StartNs)
		m.Lost = store.Lost{Events: seq, Reported: seq, ByReason: map[string]uint64{"ring full": seq}}
		if err := w.w.Commit(p); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *writer) end() {
	w.t.Helper()
	w.w.Manifest.Ended = store.EndedExit
	if err := w.w.CommitManifest(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) roll(to *memory, ended bool) {
	w.t.Helper()
	if err := RollUp(context.Background(), to, w.dir(), "s", ended); err != nil {
		w.t.Fatal(err)
	}
}

// all reads everything of a level.
func all(t *testing.T, m *memory, l Level) []Row {
	t.Helper()
	rows, answer := allBut(t, m, l)
	if len(answer.Missing) > 0 {
		t.Fatalf("not read: %v", answer.Missing)
	}
	return rows
}

func allBut(t *testing.T, m *memory, l Level) (rows []Row, a *Answer) {
	t.Helper()
	a, err := Open(m).Read(context.Background(), Query{Level: l}, func(r []Row) error {
		rows = append(rows, r...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, a
}

// TestRollUpInRanges rolls a session up while it is written, with a batch that comes late and merges on the way, and
// compares the sums with those of the whole.
func TestRollUpInRanges(t *testing.T) {
	w, m := newWriter(t, "s"), newMemory()
	w.w.MayMerge = func() func(store.Range) bool { return MayMerge(w.dir(), w.w.Manifest.Ended != "") }
	w.commit(1, 2, 3)
	w.roll(m, false)
	w.roll(m, false) // nothing new
	w.commit(4, 6, 7)
	w.roll(m, false)
	w.commit(5) // late
	for seq := uint64(8); seq <= 30; seq++ {
		w.commit(seq)
		if seq%10 == 0 {
			w.roll(m, false)
		}
		for more := true; more; {
			var err error
			if more, err = w.w.Merge(true); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.commit(31)
	w.end()
	w.roll(m, true)
	w.roll(m, true)

	rows := all(t, m, Detail)
	placed := slices.Clone(rows)
	s, err := session.Open(w.dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.PartNames(store.Executions)) > 12 {
		t.Errorf("%d parts: what is rolled up was not merged", len(s.PartNames(store.Executions)))
	}
	compare(t, rows, statisticsOf(t, s))
	whole, _ := built(t, w.dir())
	// Batch 6 was rolled up before batch 5, with its submissions, came.
	unplaced := int64(0)
	for _, all := range [][]Row{rows, whole} {
		for i := range all {
			r := &all[i]
			if r.Metric == Executions && strings.Contains(r.Site, "unknown") {
				unplaced += r.Count
			}
			if r.Metric == LostEvents || r.Metric == GC {
				continue
			}
			r.Executor, r.Site = "", ""
		}
	}
	if got, want := sums(rows), sums(whole); !reflect.DeepEqual(got, want) || unplaced != batchExecutions {
		t.Errorf("in ranges, %d without site:\n%v\nwhole:\n%v", unplaced, got, want)
	}
	for i := range placed {
		r := &placed[i]
		if r.Metric == Executions && !strings.Contains(r.Site, "unknown") && (r.Executor == "" || r.Site == "" || r.Service != "orders" || r.Session != "s" || r.Labels != `{"rack":"1","zone":"b"}`) {
			t.Errorf("where from? %+v", r)
		}
	}
	if days := len(m.keys(freshPrefix + "date=2026-02-28/")); days == 0 || days == len(m.keys(freshPrefix)) {
		t.Errorf("%d of %d files are of the first day", days, len(m.keys(freshPrefix)))
	}
}

// sums adds up rows by what they are of, without the times: those of what has none depend on the ranges.
func sums(rows []Row) map[string][2]int64 {
	all := map[string][2]int64{}
	for _, r := range rows {
		k := fmt.Sprint(r.Metric, "|", r.Class, "|", r.Executor, "|", r.Site)
		all[k] = [2]int64{all[k][0] + r.Count, all[k][1] + r.Sum}
	}
	return all
}

// TestRollUpCrashes lets each operation of rolling up fail, before and after it is done.
func TestRollUpCrashes(t *testing.T) {
	w := newWriter(t, "s")
	w.commit(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	w.end()
	want := newMemory()
	w.roll(want, true)
	operations := want.operations
	for n := 1; n <= operations; n++ {
		for _, done := range []bool{false, true} {
			if err := os.Remove(filepath.Join(w.dir(), ProgressName)); err != nil {
				t.Fatal(err)
			}
			m := newMemory()
			m.crashAt(n, done)
			if err := RollUp(context.Background(), m, w.dir(), "s", true); !errors.Is(err, errCrash) {
				t.Fatalf("operation %d: %v", n, err)
			}
			m.recover()
			w.roll(m, true)
			if !reflect.DeepEqual(sums(all(t, m, Detail)), sums(all(t, want, Detail))) {
				t.Errorf("operation %d, done %v: other sums", n, done)
			}
		}
	}
}

// TestAddAgain: what a store has lost of a session is put again, once; where it cannot be, that is said.
func TestAddAgain(t *testing.T) {
	deleteFirst := func(m *memory, prefix string, n int) {
		for _, k := range m.keys(prefix)[:n] {
			delete(m.objects, k)
		}
	}
	compact := func(m *memory) {
		if _, err := Compact(t.Context(), m, CompactOptions{Enough: 1}, m.now.Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		live    bool // it was rolled up while it went on
		lose    func(m *memory)
		added   bool
		refused bool
	}{
		"nothing":            {lose: func(*memory) {}},
		"nothing, live":      {live: true, lose: func(*memory) {}},
		"nothing, compacted": {lose: compact},
		"a day":              {lose: func(m *memory) { deleteFirst(m, freshPrefix+"date=2026-03-01/", 1) }, added: true},
		"a compacted day": {lose: func(m *memory) {
			compact(m)
			for _, k := range m.keys("") {
				if strings.Contains(k, "date=2026-02-28") {
					delete(m.objects, k)
				}
			}
		}, added: true},
		"all":       {lose: func(m *memory) { clear(m.objects) }, added: true},
		"all, live": {live: true, lose: func(m *memory) { clear(m.objects) }, added: true},
		"a part, live": {live: true, lose: func(m *memory) {
			deleteFirst(m, freshPrefix+"date=2026-02-28/", 1)
		}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, m := newWriter(t, "s"), newMemory()
			w.commit(1, 2, 3, 4)
			if c.live {
				w.roll(m, false)
			}
			w.commit(5, 6, 7, 8, 9, 10, 11, 12)
			w.end()
			if added, err := Add(t.Context(), m, w.dir(), "s"); !added || err != nil {
				t.Fatalf("added %v, %v", added, err)
			}
			want := sums(all(t, m, Day))
			c.lose(m)
			if added, err := Add(t.Context(), m, w.dir(), "s"); added != c.added || errors.Is(err, ErrLost) != c.refused || (err != nil) != c.refused {
				t.Fatalf("added %v, %v", added, err)
			}
			if c.refused {
				return
			}
			if added, err := Add(t.Context(), m, w.dir(), "s"); added || err != nil {
				t.Errorf("once more: added %v, %v", added, err)
			}
			if got := sums(all(t, m, Day)); !reflect.DeepEqual(got, want) {
				t.Errorf("other sums: %v, want %v", got, want)
			}
		})
	}
}

func TestMinus(t *testing.T) {
	for _, c := range []struct {
		r    [2]uint64
		set  store.Ranges
		want [][2]uint64
	}{
		{[2]uint64{1, 9}, nil, [][2]uint64{{1, 9}}},
		{[2]uint64{1, 9}, store.Ranges{{1, 9}}, nil},
		{[2]uint64{1, 9}, store.Ranges{{1, 3}, {5, 6}}, [][2]uint64{{4, 4}, {7, 9}}},
		{[2]uint64{4, 9}, store.Ranges{{1, 2}, {9, 20}}, [][2]uint64{{4, 8}}},
		{[2]uint64{4, 9}, store.Ranges{{1, 20}}, nil},
		{[2]uint64{4, 9}, store.Ranges{{12, 20}}, [][2]uint64{{4, 9}}},
	} {
		if got := minus(c.r, c.set); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v without %v is %v, want %v", c.r, c.set, got, c.want)
		}
	}
}

// TestNoTime: a session without a wall clock is left alone, and says why.
func TestNoTime(t *testing.T) {
	w, m := newWriter(t, "s"), newMemory()
	w.w.Manifest.WallUnixNs = 0
	w.commit(1, 2)
	w.end()
	w.roll(m, true)
	w.roll(m, true)
	root, err := os.OpenRoot(w.dir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if p, err := readProgress(root, m.String()); err != nil || p.Problem == "" || len(m.keys("")) != 0 {
		t.Errorf("progress %+v, %v; objects %v", p, err, m.keys(""))
	}
}

func FuzzProgress(f *testing.F) {
	f.Add([]byte(`{"version":1,"store":"memory","rolled":[[1,3]],"intent":{"from":4,"to":9}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := parseProgress(data); err == nil && p.Rolled.Check() != nil {
			t.Error("ranges in disorder")
		}
	})
}
