package jfrimport

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/jfrfile"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// The recordings are of a program that submits 500 Jobs to a pool of two, each of which calls an Inner; computes fib(10) by
// fork/join (177 Fibs); collects twice; waits for a monitor for 90 ms and in Object.wait for 60 ms; and, on JDK 21 and later,
// starts 41 virtual threads, the last of which sleeps for 80 ms in a synchronized block, which pins it on JDK 21.
func recording(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../internal/jfrfile/testdata", name+".jfr.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type imported struct {
	*Result
	m          *store.Manifest
	byClass    map[string]int
	nested     map[string]int // executions inside another one, by class
	executions []store.Execution
	names      map[uint32]string
}

func build(t *testing.T, b []byte, o Options) imported {
	t.Helper()
	root := t.TempDir()
	o.Temp = root
	dir := filepath.Join(root, "s")
	r, err := Build(dir, bytes.NewReader(b), int64(len(b)), o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	x := imported{Result: r, m: m, byClass: map[string]int{}, nested: map[string]int{}, names: map[uint32]string{}}
	b2 := newBuilder(o)
	if err := b2.read(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
	b2.begin()
	n := nesting{b: b2}
	if err := b2.rows.each(n.add); err != nil {
		t.Fatal(err)
	}
	if err := n.end(); err != nil {
		t.Fatal(err)
	}
	for i, c := range b2.classes {
		x.names[uint32(i+1)] = c.name
	}
	x.executions = b2.part.Executions
	for _, e := range x.executions {
		x.byClass[x.names[e.Class]]++
		if e.OuterTaskID != 0 {
			x.nested[x.names[e.Class]]++
		}
	}
	return x
}

func TestMethodTrace(t *testing.T) {
	x := build(t, recording(t, "jdk25"), Options{})
	for class, n := range map[string]int{"Prog$Job": 500, "Prog$Inner": 500, "Prog$Fib": 177, "java.util.concurrent.FutureTask": 540, "java.util.concurrent.ThreadPoolExecutor$Worker": 2, virtualThread: 41} {
		if x.byClass[class] != n {
			t.Errorf("%d executions of %s, want %d", x.byClass[class], class, n)
		}
	}
	if x.nested["Prog$Inner"] != 500 || x.nested["Prog$Job"] != 500 || x.nested["java.util.concurrent.FutureTask"] != 540 || x.nested[virtualThread] != 0 {
		t.Errorf("nested: %v", x.nested)
	}
	if x.Executions != 1760 || x.Pauses != 3 || x.m.JVM.MainClass != "Prog" || !strings.HasPrefix(x.m.JVM.Version, "25.") || x.m.JVM.GC != "G1" || x.m.JVM.CPUs != 2 {
		t.Errorf("%+v, %+v", x.Result, x.m.JVM)
	}
	for _, e := range x.executions {
		if e.SelfWallNs < 0 || e.SelfWallNs > e.WallNs || e.CPUNs != units.NotMeasured {
			t.Fatalf("%+v", e)
		}
	}
	all := build(t, recording(t, "jdk25"), Options{Methods: true})
	if all.Executions != 1760+1177 || all.byClass["Prog$Fib.<init>"] != 177 {
		t.Errorf("with all methods: %d, %v", all.Executions, all.byClass)
	}
}

// TestRepeatedChunks: joined dumps that overlap count what both hold once.
func TestRepeatedChunks(t *testing.T) {
	once := recording(t, "jdk25")
	x, y := build(t, once, Options{}), build(t, slices.Concat(once, once), Options{})
	if y.Executions != x.Executions || y.Pauses != x.Pauses || y.Waits != x.Waits || !strings.Contains(strings.Join(y.Notes, "\n"), "left out: the file holds the same one before") {
		t.Errorf("once %+v, twice %+v", x.Result, y.Result)
	}
}

func TestVirtualThreadsAndWaits(t *testing.T) {
	x := build(t, recording(t, "jdk21"), Options{})
	if x.byClass[virtualThread] != 41 || x.Executions != 41 || x.Pauses != 2 || x.Waits != 9 {
		t.Errorf("%v, %+v", x.byClass, x.Result)
	}
	for key, part := range map[string]string{"cpu": "no CPU times", "queue": "submitted", store.NoCreations: "created", store.NoLostCount: "does not count", "waits: short ones": "jdk.ThreadPark below 20.0 ms", "waits: io": "jdk.SocketRead"} {
		if !strings.Contains(x.m.NotAvailable[key], part) {
			t.Errorf("%s: %q", key, x.m.NotAvailable[key])
		}
	}
	if x.m.Balance == nil || x.m.Balance.State != store.BalanceUnknown || x.m.ImportedFrom != Source {
		t.Errorf("%+v", x.m)
	}
}

// TestNothing: a recording without tasks has none that are 'not available', not 0.
func TestNothing(t *testing.T) {
	x := build(t, recording(t, "jdk17"), Options{})
	if x.Executions != 0 || x.Waits != 7 || x.m.NotAvailable[store.NoExecutions] == "" || x.m.NotAvailable[store.NoPauses] != "" {
		t.Errorf("%+v, %v", x.Result, x.m.NotAvailable)
	}
	x = build(t, recording(t, "async-profiler"), Options{})
	if x.LeftOut["profiler.WallClockSample"] != 205 || x.m.NotAvailable[store.NoPauses] == "" || x.Waits == 0 {
		t.Errorf("%+v, %v", x.Result, x.m.NotAvailable)
	}
}

// TestHostileNames: names with anything in them are names.
func TestHostileNames(t *testing.T) {
	bad := "\x1b[3\n<b>\x00\xff\xff"
	b := bytes.ReplaceAll(recording(t, "jdk25"), []byte("Prog$Inner"), []byte(bad[:10]))
	x := build(t, b, Options{})
	if n := x.byClass[strings.ToValidUTF8(bad[:10], "\ufffd")]; n != 500 {
		t.Errorf("%d executions, %v", n, x.byClass)
	}
	if s := short(strings.Repeat("x", 1<<20) + "\xff"); len(s) != maxText {
		t.Errorf("a name of %d bytes", len(s))
	}
}

// TestSortOnDisk: sorted in runs on the disk, rows come as when sorted in memory.
func TestSortOnDisk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	disk, memory := newSorter(t.TempDir()), newSorter("")
	disk.most = 64
	for range 1000 {
		x := row{start: r.Int64N(50), end: 50 + r.Int64N(50), thread: r.Uint32N(3), what: rowKind(r.IntN(3)), class: r.Uint32(), flags: r.Uint32(), kind: r.Uint32(),
			site: r.Uint32(), context: r.Uint32(), other: r.Uint32(), holder: r.Uint32(), cpu: -r.Int64(), queue: r.Int64(), task: r.Int64()}
		for _, s := range []*sorter{disk, memory} {
			if err := s.add(x); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer disk.close()
	var a, b []row
	if err := disk.each(func(x *row) error { a = append(a, *x); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := memory.each(func(x *row) error { b = append(b, *x); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(disk.runs) < 15 || !slices.Equal(a, b) {
		t.Errorf("%d runs, %d and %d rows", len(disk.runs), len(a), len(b))
	}
}

// TestNesting: depth, self times and what encloses a wait, by intervals alone.
func TestNesting(t *testing.T) {
	b := newBuilder(Options{})
	none := int64(units.NotMeasured)
	for _, x := range []row{
		{thread: 1, start: 20, end: 30, class: 3, cpu: none}, {thread: 1, start: 10, end: 40, class: 2, cpu: none}, {thread: 1, start: 0, end: 100, class: 1, cpu: none},
		{thread: 1, start: 50, end: 120, class: 4, cpu: none},                                                                                                           // reaches beyond
		{thread: 3, start: 0, end: 10, class: 1, cpu: none}, {thread: 3, start: 10, end: 20, class: 2, cpu: none}, {thread: 3, start: 20, end: 20, class: 3, cpu: none}, // touch
		{thread: 3, start: 30, end: 40, class: 2, cpu: none}, {thread: 3, start: 30, end: 40, class: 1, cpu: none}, {thread: 3, start: 35, end: 40, class: 3, cpu: none}, // end together
		{thread: 1, start: 22, end: 28, what: waitRow, kind: uint32(wire.WaitPark), flags: uint32(wire.WaitPinned)},
		{thread: 1, start: 23, end: 28, what: waitRow, kind: uint32(wire.WaitMonitor), class: 9}, // the same wait
		{thread: 2, start: 60, end: 70, what: waitRow},
	} {
		if err := b.rows.add(x); err != nil {
			t.Fatal(err)
		}
	}
	b.begin()
	n := nesting{b: b}
	if err := b.rows.each(n.add); err != nil {
		t.Fatal(err)
	}
	if err := n.end(); err != nil {
		t.Fatal(err)
	}
	var got [][3]int64
	for _, e := range b.part.Executions {
		got = append(got, [3]int64{int64(e.Class), int64(e.Depth), int64(e.SelfWallNs)})
	}
	if want := [][3]int64{{3, 2, 10}, {2, 1, 20}, {1, 0, 70}, {4, 0, 70}, {1, 0, 10}, {2, 0, 10}, {3, 0, 0}, {3, 2, 5}, {2, 1, 5}, {1, 0, 0}}; !slices.Equal(got, want) || b.overlaps != 1 {
		t.Errorf("%v, %d overlaps", got, b.overlaps)
	}
	w := b.part.Waits
	if len(w) != 2 || w[0].Kind != "monitor" || w[0].Within != 3 || w[0].Blocker != 9 || w[0].EndNs-w[0].StartNs != 6 || w[1].Within != 0 {
		t.Errorf("%+v", w)
	}
}

// TestClockKeepsNesting: what ends at one tick ends at one time, whatever the tick rounds to.
func TestClockKeepsNesting(t *testing.T) {
	for _, rate := range []int64{1_000_000_000, 2_095_078_000, 24_000_000, 3} {
		var k clock
		k.chunk(&jfrfile.Header{StartUnixNs: 1e18, StartTicks: 1e9, TicksPerSecond: rate})
		for i := range int64(5_000) {
			outer, inner, end := i*7919, i*7919+i%13, i*7919+i%13+i%17
			_, a, ok := k.at(outer, end-outer)
			from, b, fine := k.at(inner, end-inner)
			if !ok || !fine || a != b || from > b {
				t.Fatalf("%d ticks a second: %d to %d ends at %d, %d to %d at %d", rate, outer, end, a, inner, end, b)
			}
		}
		for _, x := range [][2]int64{{math.MaxInt64, 1}, {0, -1}, {0, math.MaxInt64}, {math.MinInt64, 0}} {
			if start, end, ok := k.at(x[0], x[1]); ok && (start < 0 || end < start) {
				t.Errorf("%v is %d to %d", x, start, end)
			}
		}
	}
}

// TestBuildOnlyIntoEmptyFolder: what is in the folder is not mixed with the session.
func TestBuildOnlyIntoEmptyFolder(t *testing.T) {
	b := recording(t, "jdk21")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(dir, bytes.NewReader(b), int64(len(b)), Options{Temp: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("%v, want a refusal", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries beside: %v", len(entries), err)
	}
}
