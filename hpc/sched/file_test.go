package sched

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"stackagent/internal/units"
)

func sample() (*Record, []Slice) {
	r := &Record{Source: "ebpf", PID: 7, From: 100, To: 500, Lost: 3, NotAvailable: map[string]string{"x": "why"},
		Threads: []Thread{
			{TID: 7, Name: "java", First: 100, Last: 500, Voluntary: 2, CPU: 250},
			{TID: 9, Name: "GC Thread#0", First: 150, Last: 300, BeginSeen: true, EndSeen: true, Involuntary: 1, CPU: units.NotMeasured},
		}}
	return r, []Slice{{0, Running, 100, 200, 0, 0}, {1, Runnable, 150, 200, 0, 0}, {0, Futex, 200, 350, 0, 0}, {1, Running, 200, 300, 0, 0}, {0, Running, 350, 500, 0, 0}}
}

func all(t *testing.T, r *Reader, from, to units.MonoNs) []Slice {
	t.Helper()
	var got []Slice
	if err := r.Each(from, to, func(s []Slice) error { got = append(got, s...); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func open(t *testing.T, dir string) *Reader {
	t.Helper()
	r, err := Open(dir)
	if err != nil || r == nil {
		t.Fatalf("opening: %v, %v", r, err)
	}
	return r
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	want, slices := sample()
	if none, err := Open(dir); none != nil || err != nil {
		t.Fatalf("folder without a record: %v, %v; want nil, nil", none, err)
	}
	if err := Write(dir, want, slices); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, want, slices); err == nil {
		t.Error("a second record was written over the first")
	}
	r := open(t, dir)
	if !reflect.DeepEqual(r.Record(), want) || !r.Complete() || len(r.Damage()) > 0 {
		t.Errorf("read %+v\nwrote %+v\ncomplete %v, damage %v", r.Record(), want, r.Complete(), r.Damage())
	}
	if got := all(t, r, want.From, want.To); !reflect.DeepEqual(got, slices) {
		t.Errorf("read %v\nwrote %v", got, slices)
	}
	if got, want := all(t, r, 250, 320), []Slice{{0, Futex, 250, 320, 0, 0}, {1, Running, 250, 300, 0, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("window: %v, want %v", got, want)
	}
}

// TestNameThatIsCut: readers of Parquet refuse a table with text that is not UTF-8.
func TestNameThatIsCut(t *testing.T) {
	dir := t.TempDir()
	r, slices := sample()
	r.Threads[0].Name = "\u043f\u043e\u0442\u043e\u043a-12345\xd0"
	if err := Write(dir, r, slices); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Record().Threads[0].Name; got != "\u043f\u043e\u0442\u043e\u043a-12345\uFFFD" {
		t.Errorf("%q", got)
	}
}

// Another shadow follows one that was killed: the record continues after a hole, in
// which no thread lives.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, Folder)
	for i, source := range []string{"ebpf", "perf"} {
		w, err := Create(folder, Record{Source: source, PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		from := units.MonoNs(i) * 200
		thread := ThreadRow{0, Thread{TID: 1, Name: source, First: from, Last: from + 100, CPU: 1}}
		if err := w.Write(&Part{From: from, To: from + 100, Slices: []Slice{{0, Running, from, from + 100, 0, 0}}, Threads: []ThreadRow{thread}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Create(folder, Record{PID: 2}); err == nil {
		t.Error("the record of one process was continued with another")
	}
	r := open(t, dir)
	want := []Slice{{0, Running, 0, 100, 0, 0}, {1, Running, 200, 300, 0, 0}}
	if got := all(t, r, 0, 300); !reflect.DeepEqual(got, want) || len(r.Record().Threads) != 2 || len(r.Damage()) > 0 {
		t.Errorf("got %v, want %v; threads %+v, damage %v", got, want, r.Record().Threads, r.Damage())
	}
	if len(r.Record().NotAvailable) != 1 {
		t.Errorf("the change of the source is not recorded: %v", r.Record().NotAvailable)
	}
}

// A shadow is killed between the files of a part, here before that of the
// slices: the next shadow numbers its threads from those that are whole.
func TestResumeTorn(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, Folder)
	part := func(from units.MonoNs, tids ...int32) *Part {
		p := &Part{From: from, To: from + 100, GC: []GCSample{{At: from, Collector: "c"}}}
		for i, tid := range tids {
			p.Threads = append(p.Threads, ThreadRow{uint32(i), Thread{TID: tid, First: from, Last: from + 100, CPU: units.NotMeasured}})
			p.Slices = append(p.Slices, Slice{uint32(i), Running, from, from + 100, 0, 0})
		}
		return p
	}
	for i, p := range []*Part{part(0, 1, 2, 3), part(200, 1), part(400, 1)} {
		w, err := Create(folder, Record{Source: "ebpf", PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		head, err := os.ReadFile(filepath.Join(folder, headName))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			break
		}
		if err := errors.Join(os.Remove(filepath.Join(folder, partName(slicesPrefix, 0))), os.WriteFile(filepath.Join(folder, headName), head, 0o600)); err != nil {
			t.Fatal(err)
		}
		if r := open(t, dir); len(r.Record().Threads) > 0 || len(r.Damage()) > 0 {
			t.Errorf("a part that was being written: threads %+v, damage %v", r.Record().Threads, r.Damage())
		}
	}
	r := open(t, dir)
	if got := all(t, r, 0, 500); !reflect.DeepEqual(got, []Slice{{0, Running, 400, 500, 0, 0}}) || len(r.Record().Threads) != 1 || len(r.Damage()) > 0 {
		t.Errorf("got %v, threads %+v, damage %v", got, r.Record().Threads, r.Damage())
	}
	if gc, err := r.GC(); err != nil || len(gc) != 1 || gc[0].At != 400 {
		t.Errorf("samples %+v, %v", gc, err)
	}
}

// A record whose threads are unknown cannot be continued: new threads would get their
// numbers.
func TestResumeWithoutThreads(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, Folder)
	w, err := Create(folder, Record{Source: "ebpf", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&Part{To: 100, Threads: []ThreadRow{{0, Thread{TID: 1, CPU: units.NotMeasured}}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(folder, partName(threadsPrefix, 0)), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(folder, Record{Source: "ebpf", PID: 1}); !errors.Is(err, ErrDamaged) {
		t.Errorf("continued: %v", err)
	}
}

// A part that could not be written (a full disk) costs its slices; the threads
// that ended in it are in the next one.
func TestFailedPart(t *testing.T) {
	for _, prefix := range []string{threadsPrefix, slicesPrefix} {
		dir := t.TempDir()
		folder := filepath.Join(dir, Folder)
		w, err := Create(folder, Record{Source: "ebpf", PID: 1})
		if err != nil {
			t.Fatal(err)
		}
		inWay := filepath.Join(folder, partName(prefix, 0))
		if err := os.MkdirAll(filepath.Join(inWay, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		row := func(i uint32, last units.MonoNs, ended bool) ThreadRow {
			return ThreadRow{i, Thread{TID: int32(i + 1), Last: last, EndSeen: ended, CPU: units.NotMeasured}}
		}
		if err := w.Write(&Part{To: 100, Threads: []ThreadRow{row(0, 100, false), row(1, 50, true), row(2, 60, true)}}); err == nil {
			t.Fatal("a part was written over a folder")
		}
		if err := os.RemoveAll(inWay); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&Part{From: 100, To: 200, Threads: []ThreadRow{row(0, 200, false), row(3, 200, false)}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&Part{From: 200, To: 300, Threads: []ThreadRow{row(0, 300, false)}}); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir)
		threads := r.Record().Threads
		if len(r.Damage()) > 0 || len(threads) != 4 || threads[0].Last != 300 || threads[1].Last != 50 || !threads[2].EndSeen || threads[3].TID != 4 {
			t.Errorf("%s: threads %+v, damage %v", prefix, threads, r.Damage())
		}
	}
}

// A record that ends after a part that could not be written has no part, and is not damaged: of that part nothing is left.
func TestEndAfterFailedPart(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, Folder)
	w, err := Create(folder, Record{Source: "ebpf", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	inWay := filepath.Join(folder, partName(slicesPrefix, 0))
	if err := os.MkdirAll(filepath.Join(inWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&Part{To: 100, Threads: []ThreadRow{{0, Thread{TID: 1, CPU: units.NotMeasured}}}, GC: []GCSample{{At: 50}}}); err == nil {
		t.Fatal("a part was written over a folder")
	}
	if err := errors.Join(os.RemoveAll(inWay), w.Close(nil)); err != nil {
		t.Fatal(err)
	}
	if r := open(t, dir); len(r.Damage()) > 0 || !r.Complete() {
		t.Errorf("complete %v, damage %v", r.Complete(), r.Damage())
	}
}

// Of three parts the middle one is damaged or missing: its time is unknown, the
// others stand.
func TestDamagedPart(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed":   os.Remove,
		"cut":       func(p string) error { return os.Truncate(p, 100) },
		"overwrite": func(p string) error { return os.WriteFile(p, make([]byte, 4096), 0o600) },
		"a page": func(p string) error {
			b, err := os.ReadFile(p)
			copy(b[4:], "\xff\xff\xff\xff\xff\xff\xff\xff")
			return errors.Join(err, os.WriteFile(p, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			folder := filepath.Join(dir, Folder)
			w, err := Create(folder, Record{Source: "perf", PID: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i := units.MonoNs(0); i < 3; i++ {
				from := i * 100
				thread := ThreadRow{0, Thread{TID: 1, Name: "a", Last: from + 100, CPU: units.Ns(i)}}
				if err := w.Write(&Part{From: from, To: from + 100, Slices: []Slice{{0, Running, from, from + 100, 0, 0}}, Threads: []ThreadRow{thread}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := damage(filepath.Join(folder, partName(slicesPrefix, 1))); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir)
			want := []Slice{{0, Running, 0, 100, 0, 0}, {0, Unknown, 100, 200, 0, 0}, {0, Running, 200, 300, 0, 0}}
			if got := all(t, r, 0, 300); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			all(t, r, 0, 300) // again: it is reported once
			if r.Complete() || len(r.Damage()) != 1 || !errors.Is(r.Damage()[0], ErrDamaged) {
				t.Errorf("complete %v, damage %v", r.Complete(), r.Damage())
			}
			if th := r.Record().Threads[0]; th.Last != 300 || th.CPU != 2 {
				t.Errorf("thread %+v, want its last row", th)
			}
		})
	}
}

// What is read is in order, inside the record and about threads that there are.
func FuzzPartOfSlices(f *testing.F) {
	dir := f.TempDir()
	record, slices := sample()
	if err := Write(dir, record, slices); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{partName(slicesPrefix, 0), partName(threadsPrefix, 0)} {
		b, err := os.ReadFile(filepath.Join(dir, Folder, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, name == partName(slicesPrefix, 0))
	}
	f.Fuzz(func(t *testing.T, data []byte, isSlices bool) {
		dir := t.TempDir()
		if err := Write(dir, record, slices); err != nil {
			t.Fatal(err)
		}
		name := partName(threadsPrefix, 0)
		if isSlices {
			name = partName(slicesPrefix, 0)
		}
		if err := os.WriteFile(filepath.Join(dir, Folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err != nil {
			return
		}
		before := r.record.From
		err = r.All(func(run []Slice) error {
			for _, s := range run {
				if s.From < before || s.To <= s.From || s.To > r.record.To || int(s.Thread) >= len(r.record.Threads) || s.State >= NStates {
					t.Fatalf("%+v after %d in %+v", s, before, r.record)
				}
				before = s.From
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"version":1,"source":"perf","pid":3,"complete":true}`))
	f.Add([]byte(`{"version":9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHead(b); err == nil && (h.Version < 1 || h.Version > Version) {
			t.Fatalf("version %d was let through", h.Version)
		}
	})
}

// A record stays valid if another shadow cannot continue it.
func TestRefuseKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Folder)
	w, err := Create(dir, Record{Source: "perf", PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&Part{From: 1, To: 9, Slices: []Slice{{State: Running, From: 1, To: 9}}, Threads: []ThreadRow{{0, Thread{TID: 7, First: 1, Last: 9}}}}); err != nil {
		t.Fatal(err)
	}
	if err := Refuse(dir, 7, errors.New("the JVM has ended")); err != nil {
		t.Fatal(err)
	}
	r, err := openFolder(dir)
	if err != nil || r.Record().Source != "perf" || r.Record().To != 9 {
		t.Errorf("%+v, %v", r, err)
	}
}

// threeParts writes a record of three parts and ends it if complete.
func threeParts(t *testing.T, pid int, complete bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w, err := Create(filepath.Join(dir, Folder), Record{Source: "ebpf", PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	for i := units.MonoNs(0); i < 3; i++ {
		from := i * 100
		p := &Part{From: from, To: from + 100, GC: []GCSample{{At: from, Collector: "c"}},
			Slices:  []Slice{{0, Running, from, from + 10*units.MonoNs(pid), 0, 0}},
			Threads: []ThreadRow{{0, Thread{TID: 1, Name: "a", Last: from + 100, CPU: units.Ns(i)}}}}
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if complete {
		if err := w.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file of another record, one that is gone, one too many and a head that was
// edited are damage, each named, although each file is whole in itself.
func TestExchangedFiles(t *testing.T) {
	other := filepath.Join(threeParts(t, 2, true), Folder)
	for name, damage := range map[string]func(folder string) error{
		"slices-00000001.parquet": func(folder string) error {
			return os.CopyFS(folder, only(os.DirFS(other), "slices-00000001.parquet"))
		},
		"gc-00000000.parquet":      func(folder string) error { return os.Remove(filepath.Join(folder, "gc-00000000.parquet")) },
		"threads-00000002.parquet": func(folder string) error { return os.Remove(filepath.Join(folder, "threads-00000002.parquet")) },
		"slices-00000003.parquet": func(folder string) error {
			return os.Rename(filepath.Join(folder, "slices-00000002.parquet"), filepath.Join(folder, "slices-00000003.parquet"))
		},
		headName: func(folder string) error {
			b, err := os.ReadFile(filepath.Join(folder, headName))
			return errors.Join(err, os.WriteFile(filepath.Join(folder, headName), bytes.Replace(b, []byte(`"pid": 1`), []byte(`"pid": 7`), 1), 0o600))
		},
	} {
		dir := threeParts(t, 1, true)
		folder := filepath.Join(dir, Folder)
		if strings.HasPrefix(name, "slices-00000001") {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := damage(folder); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err == nil {
			err = errors.Join(r.Damage()...)
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// only is a file system with one of the files of another.
func only(all fs.FS, name string) fs.FS {
	b, err := fs.ReadFile(all, name)
	if err != nil {
		panic(err)
	}
	return fstest.MapFS{name: {Data: b, Mode: 0o600}}
}

// A record of version 1 has no checksums and is read. A newer record that claims
// version 1 is damage.
func TestRecordWithoutChecksums(t *testing.T) {
	dir := threeParts(t, 1, true)
	path := filepath.Join(dir, Folder, headName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, fmt.Appendf(nil, `"version": %d`, Version), []byte(`"version": 1`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("the version was changed: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"version":1,"source":"ebpf","pid":1,"complete":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := open(t, dir); len(r.Damage()) > 0 || len(all(t, r, 0, 300)) < 3 || r.Sealed() {
		t.Errorf("damage %v", r.Damage())
	}
}

// What a shadow wrote after the head, before it was killed, is a part of the record.
func TestPartAfterHead(t *testing.T) {
	dir := threeParts(t, 1, false)
	folder := filepath.Join(dir, Folder)
	head, err := os.ReadFile(filepath.Join(folder, headName))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(folder, Record{Source: "ebpf", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&Part{From: 300, To: 400, Slices: []Slice{{0, Running, 300, 310, 0, 0}}, Threads: []ThreadRow{{0, Thread{TID: 5, Last: 400, CPU: units.NotMeasured}}}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, headName), head, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := open(t, dir); r.Record().To != 400 || len(r.Damage()) > 0 {
		t.Errorf("to %d, damage %v", r.Record().To, r.Damage())
	}
	if w, err = Create(folder, Record{Source: "ebpf", PID: 1}); err != nil || len(w.head.Files) != 11 {
		t.Errorf("continued with the checksums of %d files, %v", len(w.head.Files), err)
	}
}
