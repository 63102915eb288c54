package store

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// trickle commits n small parts with rows in all tables, every third one
// without creations, and returns all executions and creations.
// hand adds what only some sessions have; sites, submission times and one extra
// metric come in every other part only.
func hand(p *Part, i int) {
	n := units.Ns(i)
	p.Constructions = []Construction{{TaskID: uint64(i), Class: 1, Thread: 2, WallNs: n, CPUNs: n}, {TaskID: 1 << 63, CPUNs: units.NotMeasured}}
	p.Submissions = []Submission{{TaskID: uint64(i), OuterTaskID: uint64(i % 2), Class: 1, Thread: 2, Executor: uint32(i % 3), Site: uint32(i % 4), Flags: 5, AtNs: 7}}
	p.Executors, p.Sites = []Executor{{ID: uint32(i), Class: "x.Pool", Name: "p"}}, []Site{{ID: uint32(i), Class: "x.Y", Method: "m", File: "Y.java", Line: 3}}
	handContexts(p, i)
	p.SiteSums = []SiteSum{{Class: 1, Thread: uint32(i), Kind: "creation", Site: 3, Count: uint64(i)}}
	p.Extra = []string{"bytecodes", "alloc_bytes"}
	p.ConstructionWork = wire.Work{Total: [][]int64{{int64(i), int64(units.NotMeasured)}}}
	if i%2 == 0 {
		return
	}
	for k := range p.Executions {
		p.Executions[k].Site, p.Executions[k].SubmittedNs = uint32(k%3), p.Executions[k].StartNs-10
	}
	for k := range p.Creations {
		p.Creations[k].Site = uint32(k % 5)
	}
}

func trickle(t testing.TB, w *Writer, from, n int) (rows []Execution, made []Creation) {
	t.Helper()
	for i := from; i < from+n; i++ {
		p := sample(uint64(i), uint64(i), 20+i)
		odd := &p.Executions[3]
		odd.EndNs, odd.WallNs, odd.SelfWallNs, odd.SelfCPUNs = 0, units.NotMeasured, units.NotMeasured, units.NotMeasured
		p.Executions[4].Class = 1<<32 - 1
		if i%3 == 0 {
			p.Creations = nil
		}
		at := int64(i)
		p.Classes = []Class{{ID: uint32(i), Name: fmt.Sprint("c", i)}}
		p.Threads = []Thread{{ID: uint32(i), Name: fmt.Sprint("t", i), Executions: &at}}
		p.Pauses = []Pause{{StartNs: at, EndNs: at + 1}}
		p.OSThreads = []OSThread{{OSID: int32(i)}}
		id := SummaryID(uint64(i), 0)
		p.Summaries = []Summary{{ID: id, Executions: 2}}
		p.Measures = []Measure{{Summary: id, Metric: "cpu", Count: 2}}
		p.Buckets = []Bucket{{Summary: id, Metric: "cpu", LowestNs: 5, HighestNs: 5, Count: 2}}
		hand(p, i)
		commit(t, w, p)
		rows, made = append(rows, p.Executions...), append(made, p.Creations...)
	}
	return rows, made
}

func mergeAll(t testing.TB, w *Writer) {
	t.Helper()
	for again := true; again; {
		var err error
		if again, err = w.Merge(true); err != nil {
			t.Fatal(err)
		}
	}
}

func files(t testing.TB, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	return names
}

// sameSession checks that the folder holds these rows, in this order, and that
// the small tables and the clock hold one row each of the batches 1..n.
func sameSession(t *testing.T, dir string, n int, rows []Execution, made []Creation) {
	t.Helper()
	gotRows, gotMade, bad := readAll(t, dir)
	if !slices.Equal(gotRows, rows) || !slices.Equal(gotMade, made) || len(bad) != 0 {
		t.Fatalf("%d executions of %d, %d creations of %d, or others than were written; damaged %v", len(gotRows), len(rows), len(gotMade), len(made), bad)
	}
	f, _, err := OpenSession(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, bad := f.Rows(Executions); got != int64(len(rows)) || len(bad) != 0 {
		t.Fatalf("%d executions by the manifest, damaged %v", got, bad)
	}
	var ids [6][]int
	f.ReadClasses(func(x *Class) { ids[0] = append(ids[0], int(x.ID)) })
	f.ReadThreads(func(x *Thread) { ids[1] = append(ids[1], int(*x.Executions)) })
	f.ReadPauses(func(x *Pause) { ids[2] = append(ids[2], int(x.StartNs)) })
	f.ReadOSThreads(func(x *OSThread) { ids[3] = append(ids[3], int(x.OSID)) })
	f.ReadWholeSummaries(func(x *WholeSummary) error {
		if len(x.Measures) == 1 && len(x.Measures[0].Buckets) == 1 {
			ids[4] = append(ids[4], int(x.ID/wire.MaxSummaries))
		}
		return nil
	})
	for _, k := range f.Clock() {
		ids[5] = append(ids[5], int(k.Ticks/10))
	}
	want := make([]int, n)
	for i := range want {
		want[i] = i + 1
	}
	for i, got := range ids {
		if !slices.Equal(got, want) {
			t.Errorf("table %d: rows of the batches %v, want 1..%d", i, got, n)
		}
	}
}

func TestMergeKeepsEveryRow(t *testing.T) {
	w := openWriter(t, t.TempDir())
	rows, made := trickle(t, w, 1, 9)
	before := w.Manifest
	mergeAll(t, w)
	sameSession(t, w.Dir(), 9, rows, made)
	if got := files(t, w.Dir(), "*.parquet"); len(got) != int(numTables) {
		t.Errorf("files after merging: %v", got)
	}
	more, moreMade := trickle(t, w, 10, 4) // and on it goes
	mergeAll(t, w)
	sameSession(t, w.Dir(), 13, append(rows, more...), append(made, moreMade...))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Manifest.Stored.Executions != before.Stored.Executions+uint64(len(more))+8 {
		t.Errorf("stored %+v, before %+v", w.Manifest.Stored, before.Stored)
	}
	again, err := OpenWriter(filepath.Dir(w.Dir()), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.parts, w.parts) || again.Manifest.Stored != w.Manifest.Stored || len(again.Manifest.Notes) != 0 {
		t.Errorf("another writer finds\n%+v\nwant\n%+v", again.parts, w.parts)
	}
}

// A crash at any moment of a merge: the merged part is there or not, those that
// it covers are deleted or not. Nothing is read twice, and the next writer
// clears up.
func TestCrashWhileMerging(t *testing.T) {
	for _, name := range []string{"half a file", "before the manifest names it", "before the old are deleted", "half of the old deleted"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			w := openWriter(t, root)
			rows, made := trickle(t, w, 1, 6)
			old := map[string][]byte{}
			for _, n := range files(t, w.Dir(), "*.parquet") {
				old[n], _ = os.ReadFile(filepath.Join(w.Dir(), n))
			}
			manifest, _ := os.ReadFile(filepath.Join(w.Dir(), ManifestName))
			mergeAll(t, w)
			if name == "half a file" || name == "before the manifest names it" {
				os.WriteFile(filepath.Join(w.Dir(), ManifestName), manifest, 0o600)
			}
			restore := func(n string) { os.WriteFile(filepath.Join(w.Dir(), n), old[n], 0o600) }
			for i, n := range slices.Sorted(func(yield func(string) bool) {
				for n := range old {
					if !yield(n) {
						return
					}
				}
			}) {
				if name != "half of the old deleted" || i%2 == 0 {
					restore(n)
				}
			}
			if name == "half a file" {
				for _, n := range files(t, w.Dir(), "*-1-6.parquet") {
					data, _ := os.ReadFile(filepath.Join(w.Dir(), n))
					os.WriteFile(filepath.Join(w.Dir(), tmpPrefix+n), data[:len(data)/2], 0o600)
					os.Remove(filepath.Join(w.Dir(), n))
				}
			}
			sameSession(t, w.Dir(), 6, rows, made)
			w = openWriter(t, root)
			if w.Manifest.Stored.Executions != uint64(len(rows)+12) {
				t.Errorf("stored %+v", w.Manifest.Stored)
			}
			mergeAll(t, w)
			sameSession(t, w.Dir(), 6, rows, made)
			if got := files(t, w.Dir(), "*.parquet"); len(got) != int(numTables) {
				t.Errorf("files: %v", got)
			}
			if left := files(t, w.Dir(), ".tmp-*"); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A batch that is missing may still come: it must not fall within the range of
// a merged part, where no reader would look for it.
func TestMergeLeavesRoomForLateBatches(t *testing.T) {
	w := openWriter(t, t.TempDir())
	rows, made := trickle(t, w, 1, 4)
	more, moreMade := trickle(t, w, 6, 4)
	mergeAll(t, w)
	if got := files(t, w.Dir(), "executions-*.parquet"); !slices.Equal(got, []string{"executions-1-4.parquet", "executions-6-9.parquet"}) {
		t.Errorf("merged into %v", got)
	}
	late, lateMade := trickle(t, w, 5, 1)
	want, wantMade := slices.Concat(rows, late, more), slices.Concat(made, lateMade, moreMade)
	sameSession(t, w.Dir(), 9, want, wantMade)
	more, moreMade = trickle(t, w, 10, 1)
	mergeAll(t, w)
	sameSession(t, w.Dir(), 10, append(want, more...), append(wantMade, moreMade...))
	if got := files(t, w.Dir(), "executions-*.parquet"); !slices.Equal(got, []string{"executions-1-10.parquet"}) {
		t.Errorf("merged into %v", got)
	}
}

// Who reads a session while its parts are merged reads on undisturbed.
func TestMergeWhileRead(t *testing.T) {
	w := openWriter(t, t.TempDir())
	rows, made := trickle(t, w, 1, 6)
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	bad, err := f.ReadExecutions(func(c *ExecutionColumns) error {
		if n == 0 {
			mergeAll(t, w)
		}
		n += len(c.TaskID)
		return nil
	})
	if n != len(rows) || len(bad) != 0 || err != nil {
		t.Errorf("%d rows of %d, damaged %v, %v", n, len(rows), bad, err)
	}
	if got := files(t, w.Dir(), "executions-*.parquet"); len(got) != 7 {
		t.Errorf("while the session was read, files were deleted: %v", got)
	}
	sameSession(t, w.Dir(), 6, rows, made)
	f.Close()
	mergeAll(t, w)
	if got := files(t, w.Dir(), "executions-*.parquet"); len(got) != 1 {
		t.Errorf("files that nobody reads are still there: %v", got)
	}
	sameSession(t, w.Dir(), 6, rows, made)
}

// Parts are committed while others are merged; one of them, late, comes before these.
func TestCommitWhileMerging(t *testing.T) {
	w := openWriter(t, t.TempDir())
	rows, made := trickle(t, w, 3, 6)
	m, written := w.PlanMerge(true), make(chan struct{})
	go func() {
		defer close(written)
		m.Write()
	}()
	lateRows, lateMade := trickle(t, w, 1, 2)
	moreRows, moreMade := trickle(t, w, 9, 2)
	<-written
	rows, made = slices.Concat(lateRows, rows, moreRows), slices.Concat(lateMade, made, moreMade)
	sameSession(t, w.Dir(), 10, rows, made) // what is written aside is not read
	if merged, err := w.FinishMerge(m); !merged || err != nil {
		t.Fatalf("merged: %v, %v", merged, err)
	}
	sameSession(t, w.Dir(), 10, rows, made)
	want := []string{"executions-1-1.parquet", "executions-10-10.parquet", "executions-2-2.parquet", "executions-3-8.parquet", "executions-9-9.parquet"}
	if got := files(t, w.Dir(), "executions-*.parquet"); !slices.Equal(got, want) {
		t.Errorf("files: %v, want %v", got, want)
	}
	mergeAll(t, w)
	sameSession(t, w.Dir(), 10, rows, made)
}

// A merge that is given up leaves the parts as they were, and nothing beside them.
func TestDroppedMerge(t *testing.T) {
	w := openWriter(t, t.TempDir())
	rows, made := trickle(t, w, 1, 6)
	before := files(t, w.Dir(), "*")
	m := w.PlanMerge(true)
	m.Write()
	if len(files(t, w.Dir(), ".tmp-*")) != int(numTables) {
		t.Errorf("written: %v", files(t, w.Dir(), ".tmp-*"))
	}
	m.Drop()
	if after := files(t, w.Dir(), "*"); !slices.Equal(before, after) || len(files(t, w.Dir(), ".tmp-*")) > 0 {
		t.Errorf("files: %v, before %v", after, before)
	}
	mergeAll(t, w)
	sameSession(t, w.Dir(), 6, rows, made)
}

// A damaged part is not merged, so that what can be read of it stays as it is.
func TestMergeOfDamagedParts(t *testing.T) {
	w := openWriter(t, t.TempDir())
	trickle(t, w, 1, 6)
	path := filepath.Join(w.Dir(), "executions-4-4.parquet")
	data, _ := os.ReadFile(path)
	for i := 100; i < 140; i++ {
		data[i] ^= 0x5a
	}
	os.WriteFile(path, data, 0o600)
	before, _, _ := readAll(t, w.Dir())
	if _, err := w.Merge(true); err == nil {
		t.Fatal("damage was merged")
	}
	mergeAll(t, w) // the other tables
	after, _, bad := readAll(t, w.Dir())
	if !slices.Equal(before, after) || len(bad) != 1 {
		t.Errorf("%d rows before, %d after; damaged %v", len(before), len(after), bad)
	}
	if left := files(t, w.Dir(), ".tmp-*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRunsToMerge(t *testing.T) {
	parts := func(rows ...int) (v inventory) {
		for i, n := range rows {
			v = append(v, partInfo{Range: Range{uint64(i + 1), uint64(i + 1)}, rows: n})
		}
		return v
	}
	many := func(n, rows int) []int { return slices.Repeat([]int{rows}, n) }
	stay := parts(1, 1, 1, 1, 1, 1)
	stay[1].stay = true
	knots := parts(1, 1, 1)
	knots[0].knots, knots[1].knots, knots[2].knots = maxKnots/2, maxKnots/2, 1
	whole := Ranges{{1, 1000}}
	for name, c := range map[string]struct {
		parts    inventory
		stored   Ranges
		may      func(Range) bool
		all      bool
		from, to int
	}{
		"none":                  {nil, whole, nil, true, 0, 0},
		"one":                   {parts(1), whole, nil, true, 0, 0},
		"few, running":          {parts(many(mergeParts-1, 1)...), whole, nil, false, 0, 0},
		"enough, running":       {parts(many(mergeParts, 1)...), whole, nil, false, 0, mergeParts},
		"too few, ended":        {parts(1, 1, 1), whole, nil, true, 0, 0},
		"few, ended":            {parts(1, 1, 1, 1), whole, nil, true, 0, 4},
		"behind a large one":    {parts(1, smallRows, 1, 1, 1, 1), whole, nil, true, 2, 6},
		"large ones":            {parts(smallRows, smallRows), whole, nil, true, 0, 0},
		"full, running":         {parts(many(40, smallRows-1)...), whole, nil, false, 0, mergedRows / smallRows},
		"a gap":                 {parts(1, 1, 1, 1, 1, 1), Ranges{{1, 1}, {3, 6}}, nil, true, 2, 6},
		"not in the manifest":   {parts(1, 1, 1, 1), nil, nil, true, 0, 0},
		"one that stays":        {stay, whole, nil, true, 2, 6},
		"a long clock":          {knots, whole, nil, false, 0, 2},
		"not all may":           {parts(many(10, 1)...), whole, func(r Range) bool { return Ranges{{1, 6}, {8, 10}}.HasAll(r.From, r.To) }, true, 0, 6},
		"none may":              {parts(many(10, 1)...), whole, func(Range) bool { return false }, true, 0, 0},
		"more than can be open": {parts(many(maxMerged+9, 1)...), whole, nil, false, 0, maxMerged},
	} {
		if from, to := c.parts.run(c.stored, c.may, least(c.all)); from != c.from || to != c.to {
			t.Errorf("%s: %d to %d, want %d to %d", name, from, to, c.from, c.to)
		}
	}
}

func least(all bool) int {
	if all {
		return mergeAtEnd
	}
	return mergeParts
}

func BenchmarkMerge(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := openWriter(b, b.TempDir())
		var before int64
		for i := range 16 {
			commit(b, w, sample(uint64(i+1), uint64(i+1), 16<<10))
		}
		for _, n := range files(b, w.Dir(), "*.parquet") {
			info, _ := os.Stat(filepath.Join(w.Dir(), n))
			before += info.Size()
		}
		b.StartTimer()
		mergeAll(b, w)
		b.StopTimer()
		var after int64
		for _, n := range files(b, w.Dir(), "*.parquet") {
			info, _ := os.Stat(filepath.Join(w.Dir(), n))
			after += info.Size()
		}
		b.ReportMetric(float64(before)/(16*16<<10), "B/task-before")
		b.ReportMetric(float64(after)/(16*16<<10), "B/task-after")
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*(16*16<<10)/b.Elapsed().Seconds()/1e6, "Mtasks/s")
}

// Parts with columns that this version does not know, where it has no room for
// them, stay as they are.
func TestMergeOfUnknownColumns(t *testing.T) {
	w := openWriter(t, t.TempDir())
	const n = 5
	for i := range uint64(n) {
		p := sample(i+1, i+1, 20)
		hand(p, 1)
		commit(t, w, p)
	}
	type later struct {
		TaskID      uint64 `parquet:"task_id,delta"`
		OuterTaskID uint64 `parquet:"outer_task_id,optional,delta"`
		Class       uint32 `parquet:"class,delta"`
		Thread      uint32 `parquet:"thread,delta"`
		Executor    uint32 `parquet:"executor,optional,delta"`
		Site        uint32 `parquet:"site,optional,delta"`
		Flags       uint16 `parquet:"flags,delta"`
		AtNs        int64  `parquet:"at_ns,delta"`
		Later       int64  `parquet:"later,optional,delta"`
	}
	for _, name := range files(t, w.Dir(), "submissions-*.parquet") {
		rows := make([]later, w.parts[Submissions][0].rows)
		rows[0].Later = 1
		if err := parquet.WriteFile(filepath.Join(w.Dir(), name), rows, parquet.Compression(&parquet.Zstd)); err != nil {
			t.Fatal(err)
		}
		w.files[name], _ = sumOf(filepath.Join(w.Dir(), name))
	}
	w.Manifest.Ended = EndedExit
	if _, err := w.Merge(true); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("merging: %v", err)
	}
	if left := files(t, w.Dir(), "submissions-*.parquet"); len(left) != n {
		t.Errorf("left are %v", left)
	}
}

// Rows that no column holds against a row group are not believed.
func TestRowGroupsAreBounded(t *testing.T) {
	done := int64(0)
	none := func([]column, int) error { t.Error("rows were read"); return nil }
	if err := runs(nil, rowGroupRows+1, &done, none); err == nil {
		t.Error("more rows than a row group has were believed")
	}
}
