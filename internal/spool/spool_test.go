package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var meta = Meta{Session: "job", Process: "7-a", Bus: "nats://127.0.0.1:4222", PID: 7}

// folder is a private one.
func folder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	if err := Prepare(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func create(t testing.TB, max int64) *File {
	t.Helper()
	f, err := Create(folder(t), meta, max)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.f.Close() })
	return f
}

// batch is a batch of n bytes of which every one depends on seq.
func batch(seq uint64, n int) []byte {
	return bytes.Repeat([]byte{byte(seq), byte(seq * 7)}, n/2)
}

func add(t testing.TB, f *File, from, to uint64, size int) []Ref {
	t.Helper()
	var refs []Ref
	for seq := from; seq <= to; seq++ {
		r, err := f.Append(seq, batch(seq, size))
		if err != nil {
			t.Fatalf("batch %d: %v", seq, err)
		}
		refs = append(refs, r)
	}
	return refs
}

// left closes f and reads it as one who delivers it.
func left(t testing.TB, f *File) *Left {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := Open(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// expect checks that l holds exactly the batches wanted, whole.
func expect(t testing.TB, l *Left, size int, want ...uint64) {
	t.Helper()
	var got []uint64
	for _, r := range l.Batches {
		got = append(got, r.Seq())
		data, err := l.Read(r)
		if err != nil || !bytes.Equal(data, batch(r.Seq(), size)) {
			t.Errorf("batch %d: %d bytes, %v", r.Seq(), len(data), err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("batches %v, want %v", got, want)
	}
}

func TestQueue(t *testing.T) {
	f := create(t, 1<<20)
	refs := add(t, f, 1, 5, 1000)
	for i, r := range refs {
		data, err := f.Read(r)
		if err != nil || !bytes.Equal(data, batch(uint64(i+1), 1000)) {
			t.Errorf("batch %d: %v", i+1, err)
		}
	}
	l := left(t, f)
	if l.Meta != meta || l.Damaged != 0 {
		t.Errorf("%+v, %d damaged", l.Meta, l.Damaged)
	}
	expect(t, l, 1000, 1, 2, 3, 4, 5)
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	f := create(t, 1<<20)
	info, err := os.Stat(f.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Create(filepath.Dir(f.Path()), meta, 1); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second file of one name: %v", err)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(open); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a folder that others may enter: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(f.Path()), link); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(link); err == nil {
		t.Error("a link is taken for a folder")
	}
}

// The bound is on what is not delivered: what was gives its space back.
func TestBoundAndHoles(t *testing.T) {
	const size = 100_000
	f := create(t, 12*size)
	next, oldest := uint64(1), []Ref(nil)
	for range 20 {
		for {
			r, err := f.Append(next, batch(next, size))
			if errors.Is(err, ErrFull) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			oldest = append(oldest, r)
			next++
		}
		if f.Bytes() > 12*size || len(oldest) < 8 {
			t.Fatalf("full with %d batches, %d bytes", len(oldest), f.Bytes())
		}
		if err := f.Release(oldest[4].End()); err != nil {
			t.Fatal(err)
		}
		oldest = oldest[5:]
	}
	info, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if disk := info.Sys().(*syscall.Stat_t).Blocks * 512; disk > 14*size && f.freed > f.start {
		t.Errorf("%d bytes on the disk for a bound of %d", disk, 12*size)
	}
	var want []uint64
	for _, r := range oldest {
		want = append(want, r.Seq())
	}
	l := left(t, f)
	if n := len(l.Batches) - len(want); n < 0 || n > 1 { // the hole ends at a block
		t.Errorf("%d batches, want %v", len(l.Batches), want)
	}
	l.Batches = l.Batches[len(l.Batches)-len(want):]
	expect(t, l, size, want...)
}

func TestReleaseAll(t *testing.T) {
	f := create(t, 1<<20)
	refs := add(t, f, 1, 9, 5000)
	if err := f.Release(refs[8].End()); err != nil || f.Bytes() != 0 {
		t.Fatalf("%d bytes, %v", f.Bytes(), err)
	}
	add(t, f, 10, 11, 5000)
	expect(t, left(t, f), 5000, 10, 11)
}

// A crash leaves a torn tail, a bad disk a damaged place: the rest is read.
func TestDamage(t *testing.T) {
	whole := create(t, 1<<20)
	refs := add(t, whole, 1, 4, 1000)
	good, err := os.ReadFile(whole.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		want   []uint64
	}{
		{"torn batch", func(b []byte) []byte { return b[:len(b)-1] }, []uint64{1, 2, 3}},
		{"torn header", func(b []byte) []byte { return b[:refs[3].offset+headerSize-1] }, []uint64{1, 2, 3}},
		{"torn magic", func(b []byte) []byte { return b[:refs[3].offset+2] }, []uint64{1, 2, 3}},
		{"zeros behind", func(b []byte) []byte { return append(b, make([]byte, 2*windowBytes)...) }, []uint64{1, 2, 3, 4}},
		{"half overwritten", func(b []byte) []byte { return append(b, b[refs[0].offset:refs[1].offset+500]...) }, []uint64{1, 2, 3, 4}},
		{"a bit", func(b []byte) []byte { b[refs[1].offset+headerSize+77] ^= 4; return b }, []uint64{1, 3, 4}},
		{"a length", func(b []byte) []byte { b[refs[1].offset+4]++; return b }, []uint64{1, 3, 4}},
		{"a huge length", func(b []byte) []byte { b[refs[1].offset+7] = 0xff; return b }, []uint64{1, 3, 4}},
		{"a sequence", func(b []byte) []byte { b[refs[1].offset+8] = 9; return b }, []uint64{1, 3, 4}},
		{"a hole", func(b []byte) []byte { clear(b[refs[0].offset:refs[2].offset]); return b }, []uint64{3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x"+Suffix)
			if err := os.WriteFile(path, c.damage(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			expect(t, l, 1000, c.want...)
		})
	}
	// What the writer itself reads back is checked, too.
	if _, err := whole.f.WriteAt([]byte{0xee}, refs[2].offset+headerSize+10); err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Read(refs[2]); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged batch is read: %v", err)
	}
}

func TestInUse(t *testing.T) {
	f := create(t, 1<<20)
	add(t, f, 1, 1, 100)
	if _, err := Open(f.Path()); !errors.Is(err, ErrInUse) {
		t.Errorf("the file of a running JVM: %v", err)
	}
	if got := Files(filepath.Dir(f.Path())); len(got) != 1 || got[0] != f.Path() {
		t.Errorf("files %v", got)
	}
}

func TestNotSpool(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty":     nil,
		"text":      []byte("hello"),
		"no json":   appendFrame(nil, 0, []byte("{")),
		"a path":    appendFrame(nil, 0, []byte(`{"session":"../x","process":"1"}`)),
		"a process": appendFrame(nil, 0, []byte(`{"session":"x","process":"1/2"}`)),
		"a batch":   appendFrame(nil, 3, []byte(`{"session":"x"}`)),
		"forged":    append(appendFrame(nil, 0, []byte(`{"session":"x"}`)), bytes.Repeat([]byte(magic), maxDamaged+2)...),
	} {
		path := filepath.Join(t.TempDir(), "x"+Suffix)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrNotSpool) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What nobody delivers does not stay for ever, and does not fill the disk.
func TestFolderBounds(t *testing.T) {
	dir := folder(t)
	f, err := Create(dir, meta, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-MaxAge - time.Hour)
	if err := os.Chtimes(f.Path(), old, old); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir); err != nil || len(Files(dir)) != 1 {
		t.Errorf("the file of a running JVM is deleted: %v, %v", Files(dir), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir); err != nil || len(Files(dir)) != 0 {
		t.Errorf("an old file stays: %v, %v", Files(dir), err)
	}
	big, err := os.Create(filepath.Join(dir, "big"+Suffix))
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	if err := syscall.Fallocate(int(big.Fd()), 0, 0, MaxFolderBytes); err != nil {
		t.Skipf("no room for a large file: %v", err)
	}
	if err := Prepare(dir); !errors.Is(err, ErrFolderFull) {
		t.Errorf("a full folder: %v", err)
	}
}

// No bytes make the reader fail other than by an error, and what it takes for a
// batch is one.
func FuzzScan(f *testing.F) {
	head := appendFrame(nil, 0, []byte(`{"session":"job","process":"7-a"}`))
	f.Add(head)
	f.Add(appendFrame(bytes.Clone(head), 1, []byte("batch")))
	f.Add(append(appendFrame(bytes.Clone(head), 2, nil), magic...))
	f.Add(append(bytes.Clone(head), "\xf5SPL\xff\xff\xff\xff\x01"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		l, err := scan(r, int64(len(b)))
		if err != nil {
			return
		}
		last := uint64(0)
		for _, ref := range l.Batches {
			fr, err := readFrame(r, ref.offset)
			if err != nil || fr.seq != ref.seq || len(fr.data) != ref.size || ref.seq <= last {
				t.Fatalf("batch %+v behind %d: %+v, %v", ref, last, fr, err)
			}
			last = ref.seq
		}
	})
}

// What is left of a frame whose batch was delivered is no damage.
func TestGivenBackIsNotDamaged(t *testing.T) {
	f := create(t, 8<<20)
	refs := add(t, f, 1, 40, 3000)
	for _, i := range []int{4, 11, 20} {
		if err := f.Release(refs[i].End()); err != nil {
			t.Fatal(err)
		}
	}
	l := left(t, f)
	if l.Damaged != 0 {
		t.Errorf("%d batches are called damaged", l.Damaged)
	}
	for _, r := range l.Batches {
		if r.Seq() > 21 {
			return
		}
	}
	t.Error("the batches that wait are not there")
}

// A file that is kept is not delivered again, and goes when it is old.
func TestKeep(t *testing.T) {
	f := create(t, 1<<20)
	add(t, f, 1, 3, 100)
	l := left(t, f)
	path, err := l.Keep()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	if files := Files(dir); len(files) != 0 || len(Kept(dir)) != 1 {
		t.Errorf("to be delivered %v, kept %v", files, Kept(dir))
	}
	if err := Prepare(dir); err != nil || len(Kept(dir)) != 1 {
		t.Errorf("kept %v, %v", Kept(dir), err)
	}
	old := time.Now().Add(-MaxAge - time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir); err != nil || len(Kept(dir)) != 0 {
		t.Errorf("kept %v, %v", Kept(dir), err)
	}
}
