package store

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// sample makes n executions and creations as a pool of four threads would:
// tasks of some microseconds, a quarter of them nested in the next.
func sample(from, to uint64, n int) *Part {
	r := rand.New(rand.NewSource(int64(from)))
	p := &Part{Range: Range{from, to}}
	var now [4]int64
	var id [4]uint64
	for k := range id {
		id[k], now[k] = uint64(k+1)<<40|from<<24, int64(from)*1e9
	}
	for i := range n {
		k := (i / 500) % 4
		id[k]++
		wall := int64(r.ExpFloat64()*2000) + 100
		start := now[k] + int64(r.ExpFloat64()*300) + 30
		now[k] = start + wall
		x := Execution{
			TaskID: id[k], Class: uint32(1 + r.Intn(3)), Thread: uint32(k + 1), StartNs: units.MonoNs(start), EndNs: units.MonoNs(start + wall),
			WallNs: units.Ns(wall), CPUNs: units.Ns(wall - int64(r.Intn(40))), SelfWallNs: units.Ns(wall), SelfCPUNs: units.Ns(wall - int64(r.Intn(40))),
		}
		if r.Intn(4) == 0 {
			x.OuterTaskID, x.Depth, x.SelfWallNs = id[k]+1, 1, x.SelfWallNs-50
		}
		p.Executions = append(p.Executions, x)
		p.Creations = append(p.Creations, Creation{TaskID: x.TaskID, OuterTaskID: x.OuterTaskID, Class: x.Class, Thread: x.Thread, AtNs: x.StartNs - 200})
	}
	p.Clock = []wire.ClockPair{{Ticks: units.Ticks(from * 10), Mono: units.MonoNs(from * 4)}}
	return p
}

// submitted is the time of the submission before a start.
func submitted(start units.MonoNs, queue units.Ns) units.MonoNs {
	if !queue.Measured() {
		return 0
	}
	return start - units.MonoNs(queue)
}

func readAll(t testing.TB, dir string) (rows []Execution, made []Creation, bad []*PartError) {
	t.Helper()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bad, err = f.ReadExecutions(func(c *ExecutionColumns) error {
		for i := range c.TaskID {
			rows = append(rows, Execution{
				TaskID: c.TaskID[i], OuterTaskID: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Depth: c.Depth[i], Flags: c.Flags[i],
				StartNs: c.StartNs[i], EndNs: c.EndNs[i], WallNs: c.WallNs[i], CPUNs: c.CPUNs[i], SelfWallNs: c.SelfWallNs[i], SelfCPUNs: c.SelfCPUNs[i],
				Site: c.Site[i], SubmittedNs: submitted(c.StartNs[i], c.QueueNs[i]),
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	more, err := f.ReadCreations(func(c *CreationColumns) error {
		for i := range c.TaskID {
			made = append(made, Creation{
				TaskID: c.TaskID[i], OuterTaskID: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Flags: c.Flags[i], AtNs: c.AtNs[i], Site: c.Site[i],
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, made, append(bad, more...)
}

func openWriter(t testing.TB, root string) *Writer {
	t.Helper()
	w, err := OpenWriter(root, "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func commit(t testing.TB, w *Writer, parts ...*Part) {
	t.Helper()
	for _, p := range parts {
		if err := w.Commit(p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	a, b := sample(1, 3, 40_000), sample(4, 4, 100)
	odd := &a.Executions[7]
	odd.EndNs, odd.WallNs, odd.SelfWallNs, odd.CPUNs, odd.SelfCPUNs = 0, units.NotMeasured, units.NotMeasured, units.NotMeasured, units.NotMeasured
	odd.Flags, odd.Depth, odd.Class = uint16(wire.Running), 65535, 1<<32-1
	a.Executions[8].CPUNs = 0          // measured, and nothing
	a.Executions[9].TaskID = 1<<64 - 1 // unsigned to the end
	a.Executions[10].SelfWallNs = -3   // shown as it came
	a.Creations[11].Flags = uint16(wire.Failed)
	n := int64(5)
	a.Classes = []Class{{ID: 1, Name: "a.B", Kinds: "runnable", Loader: "app"}}
	a.Threads = []Thread{{ID: 1, JavaID: 9, Name: "main", StartNs: &n}}
	a.Pauses = []Pause{{StartNs: 10, EndNs: 20, Cause: "System.gc()", Site: 3, Buffers: 1}}
	a.OSThreads = []OSThread{{OSID: 4, Name: "VM Thread", CPUNs: &n}}
	commit(t, w, a, b)

	rows, made, bad := readAll(t, w.Dir())
	if len(bad) != 0 {
		t.Fatalf("damaged: %v", bad)
	}
	if !slices.Equal(rows, append(slices.Clone(a.Executions), b.Executions...)) {
		t.Error("executions differ from what was written")
	}
	if !slices.Equal(made, append(slices.Clone(a.Creations), b.Creations...)) {
		t.Error("creations differ from what was written")
	}
	f, _ := OpenFolder(w.Dir())
	var classes []Class
	var threads []Thread
	var pauses []Pause
	var kernel []OSThread
	f.ReadClasses(func(x *Class) { classes = append(classes, *x) })
	f.ReadThreads(func(x *Thread) { threads = append(threads, *x) })
	f.ReadPauses(func(x *Pause) { pauses = append(pauses, *x) })
	f.ReadOSThreads(func(x *OSThread) { kernel = append(kernel, *x) })
	if !reflect.DeepEqual(classes, a.Classes) || !reflect.DeepEqual(threads, a.Threads) ||
		!reflect.DeepEqual(pauses, a.Pauses) || !reflect.DeepEqual(kernel, a.OSThreads) {
		t.Errorf("small tables: %v %v %v %v", classes, threads, pauses, kernel)
	}
	if got := f.Clock(); !slices.Equal(got, []wire.ClockPair{a.Clock[0], b.Clock[0]}) {
		t.Errorf("clock: %v", got)
	}
	m, err := ReadManifest(w.Dir())
	if err != nil || m.Stored != (Counts{40_100, 40_100}) || !reflect.DeepEqual(m.Sequences, Ranges{{1, 4}}) {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	if info, _ := os.Stat(w.Dir()); info.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v, want 0700", info.Mode())
	}
}

// The shadow dies after the parts are in place and before the manifest is: the
// batches come again, cut into other parts, and nothing is stored twice.
func TestCrashBetweenPartsAndManifest(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	parts := []*Part{sample(1, 1, 10), sample(2, 2, 20), sample(3, 3, 30), sample(4, 4, 40)}
	commit(t, w, parts[0])
	old, _ := os.ReadFile(filepath.Join(w.Dir(), ManifestName))
	both := &Part{Range: Range{2, 3}, Executions: slices.Concat(parts[1].Executions, parts[2].Executions), Creations: slices.Concat(parts[1].Creations, parts[2].Creations)}
	commit(t, w, both)
	os.WriteFile(filepath.Join(w.Dir(), ManifestName), old, 0o600)
	os.Remove(filepath.Join(w.Dir(), PartName(Creations, 2, 3))) // that one had not been written yet

	w = openWriter(t, root)
	if w.Has(2) || !w.Has(1) {
		t.Fatal("the account of what is stored is wrong")
	}
	if w.SamePart(3, 4) || !w.SamePart(2, 3) {
		t.Fatal("batches partly on the disk must not share a part with others")
	}
	commit(t, w, parts[1], parts[2], parts[3])
	rows, made, bad := readAll(t, w.Dir())
	if len(rows) != 100 || len(made) != 100 || len(bad) != 0 {
		t.Errorf("%d executions, %d creations, damaged %v; want 100 of each", len(rows), len(made), bad)
	}
	if w.Manifest.Stored != (Counts{100, 100}) {
		t.Errorf("stored: %+v", w.Manifest.Stored)
	}
}

func TestDamagedParts(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(data []byte) []byte
		known  bool // how many rows are lost
	}{
		{"truncated", func(d []byte) []byte { return d[:len(d)/2] }, false},
		{"empty", func([]byte) []byte { return nil }, false},
		{"flipped bytes in a page", func(d []byte) []byte {
			for i := 2000; i < 2100; i++ {
				d[i] ^= 0x5a
			}
			return d
		}, true},
		{"footer length", func(d []byte) []byte { d[len(d)-8] = 0xff; d[len(d)-6] = 0xff; return d }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			w := openWriter(t, root)
			commit(t, w, sample(1, 1, 500), sample(2, 2, 3000), sample(3, 3, 700))
			path := filepath.Join(w.Dir(), PartName(Executions, 2, 2))
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(path, c.damage(data), 0o600)
			rows, made, bad := readAll(t, w.Dir())
			if len(rows) != 1200 || len(made) != 4200 {
				t.Errorf("%d executions, %d creations readable; want 1200, 4200", len(rows), len(made))
			}
			if len(bad) != 1 || bad[0].File != path || (bad[0].Rows == 3000) != c.known {
				t.Errorf("damage: %v", bad)
			}
		})
	}
}

func TestCallersErrorStops(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	commit(t, w, sample(1, 1, 10), sample(2, 2, 10))
	f, _ := OpenFolder(w.Dir())
	stop, calls := errors.New("enough"), 0
	bad, err := f.ReadExecutions(func(*ExecutionColumns) error { calls++; return stop })
	if err != stop || calls != 1 || bad != nil {
		t.Errorf("err %v after %d calls, damaged %v", err, calls, bad)
	}
}

func TestOverlappingPartsAreReadOnce(t *testing.T) {
	got, covered := inOrder([]Range{{3, 4}, {1, 2}, {1, 4}, {5, 5}, {7, 9}, {5, 6}})
	if want := []Range{{1, 4}, {5, 6}, {7, 9}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := []Range{{1, 2}, {3, 4}, {5, 5}}; !slices.Equal(covered, want) {
		t.Errorf("covered %v, want %v", covered, want)
	}
}

// FuzzPart damages a real part in one place; reading must end with the rows or
// an error, never with a crash, and never give more rows than the footer says.
func FuzzPart(f *testing.F) {
	root := f.TempDir()
	w := openWriter(f, root)
	commit(f, w, sample(1, 1, 300))
	data, err := os.ReadFile(filepath.Join(w.Dir(), PartName(Executions, 1, 1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(100, byte(1), len(data))
	f.Add(len(data)-20, byte(0x80), len(data))
	f.Add(0, byte(0), len(data)/2)
	f.Fuzz(func(t *testing.T, at int, flip byte, length int) {
		d := slices.Clone(data)
		if at >= 0 && at < len(d) {
			d[at] ^= flip
		}
		if length >= 0 && length < len(d) {
			d = d[:length]
		}
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, PartName(Executions, 1, 1)), d, 0o600)
		folder, err := OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		bad, err := folder.ReadExecutions(func(c *ExecutionColumns) error { rows += len(c.TaskID); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(bad) == 0 && rows != 300 && slices.Equal(d, data) {
			t.Errorf("%d rows of an undamaged part", rows)
		}
	})
}

func BenchmarkCommit(b *testing.B) {
	const n = 256 << 10
	p := sample(1, 1, n)
	w := openWriter(b, b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Commit(p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtasks/s")
	b.ReportMetric(fileSize(b, w, Executions)/n, "B/execution")
	b.ReportMetric((fileSize(b, w, Executions)+fileSize(b, w, Creations))/n, "B/task")
}

func fileSize(b *testing.B, w *Writer, t Table) float64 {
	info, err := os.Stat(filepath.Join(w.Dir(), PartName(t, 1, 1)))
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size())
}

func BenchmarkRead(b *testing.B) {
	const n = 256 << 10
	w := openWriter(b, b.TempDir())
	commit(b, w, sample(1, 1, n))
	f, _ := OpenFolder(w.Dir())
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		f.ReadExecutions(func(c *ExecutionColumns) error { rows += len(c.TaskID); return nil })
		if rows != n {
			b.Fatalf("%d rows", rows)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
