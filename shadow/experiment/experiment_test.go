package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/hpc"
	"stackagent/internal/parquet"
)

var twoByTwo = Cross(Cross(nil, Threads, []string{"1", "2"}), Collector, []string{"G1", "Serial"})

func plan(invocations int) Plan {
	return Plan{Kind: "test", Command: []string{"java", "{threads}"}, Points: twoByTwo, Invocations: invocations, Seed: 7}
}

// recorder is a Launch that notes what was run, and leaves a file.
type recorder struct {
	runs []string
	fail func(p Point, invocation int) (Outcome, error)
}

func (r *recorder) launch(_ context.Context, folder string, p Point, invocation int) (Outcome, error) {
	r.runs = append(r.runs, fmt.Sprintf("%s/%d", p, invocation))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Outcome{}, err
	}
	if err := os.WriteFile(filepath.Join(folder, "made"), nil, 0o600); err != nil {
		return Outcome{}, err
	}
	if r.fail != nil {
		return r.fail(p, invocation)
	}
	return Outcome{Usage: hpc.Usage{Wall: 5}}, nil
}

func open(t *testing.T, dir string, p Plan, o Options) *Experiment {
	t.Helper()
	x, err := Open(dir, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestBlocks: each invocation is a block that has every point once, in an order that differs between blocks and is the
// same for the same seed.
func TestBlocks(t *testing.T) {
	var orders [][]string
	for range 2 {
		var r recorder
		x := open(t, t.TempDir(), plan(6), Options{Launch: r.launch})
		if err := x.All(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if len(r.runs) != 7*len(twoByTwo) {
			t.Fatalf("%d runs, want %d", len(r.runs), 7*len(twoByTwo))
		}
		different := 0
		for block := range 7 {
			runs := r.runs[block*4 : block*4+4]
			var want []string
			for _, p := range twoByTwo {
				want = append(want, fmt.Sprintf("%s/%d", p, block))
			}
			if !slices.Equal(slices.Sorted(slices.Values(runs)), slices.Sorted(slices.Values(want))) {
				t.Errorf("block %d has %v, want each of %v", block, runs, want)
			}
			if !slices.Equal(runs, want) {
				different++
			}
		}
		if different < 3 {
			t.Errorf("%d of 7 blocks are in random order", different)
		}
		if n := len(x.Of(twoByTwo[0])); n != 6 {
			t.Errorf("%d results at a point, want 6: warm-ups are none", n)
		}
		if _, err := os.Stat(filepath.Join(x.dir, twoByTwo[0].Folder(), "warmup-1")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of a warm-up is still there: %v", err)
		}
		orders = append(orders, r.runs)
	}
	if !slices.Equal(orders[0], orders[1]) {
		t.Error("the same seed gave two orders")
	}
}

// TestResume: whatever run the experiment ends in, opened again it makes just those that are missing, and has the same
// results in the end. The record of the last run may have been cut anywhere.
func TestResume(t *testing.T) {
	var whole recorder
	x := open(t, t.TempDir(), plan(2), Options{Launch: whole.launch})
	if err := x.All(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	want := len(x.Results())
	stop := errors.New("the power fails")
	for n := range len(whole.runs) {
		dir := t.TempDir()
		var r recorder
		r.fail = func(Point, int) (Outcome, error) {
			if len(r.runs) > n {
				return Outcome{}, stop
			}
			return Outcome{}, nil
		}
		x := open(t, dir, plan(2), Options{Launch: r.launch})
		if err := x.All(t.Context(), 0); !errors.Is(err, stop) {
			t.Fatalf("stopped with %v", err)
		}
		x.journal.close()
		x.lock.Close() // and not Close: it was killed
		if n > 0 {
			journal := filepath.Join(dir, journalName)
			b, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(journal, b[:len(b)-1-n], 0o600); err != nil { // cut in the last line
				t.Fatal(err)
			}
		}
		var again recorder
		x = open(t, dir, plan(2), Options{Launch: again.launch})
		if err := x.All(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		missing := want - max(n-1, 0)
		if len(again.runs) != missing || len(x.Results()) != want {
			t.Errorf("stopped in run %d: %d made again, want %d; %d results, want %d", n+1, len(again.runs), missing, len(x.Results()), want)
		}
		// Nothing is left to be done, and the file says the same.
		x = open(t, dir, plan(2), Options{Launch: func(context.Context, string, Point, int) (Outcome, error) { return Outcome{}, stop }})
		if err := x.All(t.Context(), 0); err != nil || len(x.Results()) != want {
			t.Errorf("%d results, %v", len(x.Results()), err)
		}
		x.Close()
	}
}

// TestMore: a folder takes more invocations and more points; not another command.
func TestMore(t *testing.T) {
	dir := t.TempDir()
	var r recorder
	for _, step := range []struct {
		points      []Point
		invocations int
		runs        int
	}{{twoByTwo[:2], 1, 2}, {twoByTwo, 1, 4}, {twoByTwo, 3, 12}, {twoByTwo[:1], 1, 12}} {
		p := plan(step.invocations)
		p.Points = step.points
		x := open(t, dir, p, Options{Launch: r.launch})
		if err := x.All(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if len(r.runs) != step.runs {
			t.Errorf("%d runs so far, want %d", len(r.runs), step.runs)
		}
	}
	other := plan(1)
	other.Command = []string{"java", "Other"}
	if _, err := Open(dir, other, Options{}); err == nil || !strings.Contains(err.Error(), "holds another experiment: its command") {
		t.Errorf("another command: %v", err)
	}
}

// TestNotKept: a run whose folder was removed is made again; one that failed has none.
func TestNotKept(t *testing.T) {
	dir := t.TempDir()
	r := recorder{fail: func(p Point, _ int) (Outcome, error) {
		if p.Of(Threads) == "2" {
			return Outcome{Code: 1, Failure: ExitCode}, nil
		}
		return Outcome{}, nil
	}}
	for _, want := range []int{4, 6} {
		kept := func(string) bool { return false }
		x := open(t, dir, plan(1), Options{Launch: r.launch, Kept: kept})
		if err := x.All(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		x.Close()
		if len(r.runs) != want {
			t.Errorf("%d runs so far, want %d", len(r.runs), want)
		}
	}
}

// TestFailures: a failed run is a result, and is not made again unless that is asked for.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	r := recorder{fail: func(p Point, _ int) (Outcome, error) {
		if p.Of(Threads) == "2" {
			return Outcome{Code: 3, Failure: OutOfMemory, Why: "java.lang.OutOfMemoryError: Java heap space"}, nil
		}
		return Outcome{}, nil
	}}
	x := open(t, dir, plan(1), Options{Launch: r.launch})
	if err := x.All(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	x.Close()
	again := recorder{}
	x = open(t, dir, plan(1), Options{Launch: again.launch})
	if failed := slices.Collect(func(yield func(*Result) bool) {
		for _, r := range x.Results() {
			if r.Failed() && !yield(r) {
				return
			}
		}
	}); len(failed) != 2 || failed[0].Failure != OutOfMemory || failed[0].Point.Of(Threads) != "2" {
		t.Errorf("failed: %v", failed)
	}
	if err := x.All(t.Context(), 0); err != nil || len(again.runs) != 0 {
		t.Errorf("made again: %v, %v", again.runs, err)
	}
	x.options.Again = true
	if err := x.All(t.Context(), 0); err != nil || len(again.runs) != 2 {
		t.Errorf("made again: %v, %v, want the two that failed", again.runs, err)
	}
	x.Close()
}

// TestDisturbed: a run on a busy machine is made again as often as asked, then kept with the reason.
func TestDisturbed(t *testing.T) {
	busy, quiet := 0.5, 0.0
	for _, c := range []struct {
		others float64
		want   string
	}{{busy, "other programs took 50 % of the CPU time"}, {quiet, ""}} {
		m := Machine{Others: &c.others, Stolen: &quiet}
		if got := m.disturbance(0.05, 10e9); got != c.want {
			t.Errorf("%v: %q, want %q", c.others, got, c.want)
		}
	}
	tick := 0.5
	m := Machine{Others: &tick}
	if got := m.disturbance(0.05, 10e6); got != "" {
		t.Errorf("%q in 10 ms, which the kernel's ticks do not resolve", got)
	}
	// Keep every CPU busy from outside this process, as another program would.
	var told []Progress
	r := recorder{fail: func(Point, int) (Outcome, error) { return Outcome{}, burn(t) }}
	p := plan(1)
	p.Points = twoByTwo[:1]
	x := open(t, t.TempDir(), p, Options{Launch: r.launch, Others: 0.05, Attempts: 2, Tell: func(p Progress) { told = append(told, p) }})
	if err := x.All(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	got := x.Of(twoByTwo[0])
	if len(got) != 1 || got[0].Attempt != 2 || !strings.HasPrefix(got[0].Disturbed, "other programs took") {
		t.Errorf("%+v, want the second attempt, disturbed by other programs", got)
	}
	if len(told) != 2 || !told[0].Repeats || told[1].Repeats {
		t.Errorf("told %+v", told)
	}
	x.Close()
}

// TestMoreNames: programs and sets of options may be added, but a name keeps its meaning.
func TestMoreNames(t *testing.T) {
	dir := t.TempDir()
	named := func(names map[string]string) error {
		p := plan(1)
		p.Named = names
		x, err := Open(dir, p, Options{})
		if err == nil {
			err = x.Close()
		}
		return err
	}
	for _, names := range []map[string]string{{"set a": "-Xint"}, {"set b": "-Xcomp"}, {"set a": "-Xint", "set b": "-Xcomp"}} {
		if err := named(names); err != nil {
			t.Errorf("%v: %v", names, err)
		}
	}
	if err := named(map[string]string{"set a": "-Xmixed"}); err == nil || !strings.Contains(err.Error(), `its set a is "-Xint", not "-Xmixed"`) {
		t.Errorf("another meaning: %v", err)
	}
}

// TestFullDisk: a result that cannot be recorded ends the experiment with the reason; what is recorded stays, and the run is
// made again when there is room.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	var r recorder
	x := open(t, dir, plan(1), Options{Launch: r.launch})
	if _, err := x.Do(t.Context(), twoByTwo[0], 1); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("the system has no /dev/full")
	}
	room := x.journal.f
	x.journal.f = full
	if err := x.All(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "give the same command again") {
		t.Errorf("%v", err)
	}
	if len(x.Results()) != 1 || len(r.runs) != 2 {
		t.Errorf("%d results after %d runs, want one, as the second could not be recorded", len(x.Results()), len(r.runs))
	}
	x.journal.f = room
	if err := errors.Join(x.All(t.Context(), 0), x.Close()); err != nil || len(x.Results()) != 4 || len(r.runs) != 5 {
		t.Errorf("%v: %d results after %d runs", err, len(x.Results()), len(r.runs))
	}
}

// TestLocked: two runners do not work in one folder.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir, plan(1), Options{})
	if _, err := Open(dir, plan(1), Options{}); err == nil || !strings.Contains(err.Error(), "another shadow is running") {
		t.Errorf("second runner: %v", err)
	}
	x.Close()
	open(t, dir, plan(1), Options{}).Close()
}

// TestFolderOfSomebody: what is not an experiment is left alone.
func TestFolderOfSomebody(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, plan(1), Options{}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("%v", err)
	}
}

// TestTable: results.parquet has a row for each run, with the factors as columns.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	var r recorder
	x := open(t, dir, plan(2), Options{Launch: r.launch})
	if err := x.All(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.ReadFile(filepath.Join(dir, TableName))
	if err != nil {
		t.Fatal(err)
	}
	err = parquet.Read(bytes.NewReader(f), int64(len(f)), func(file *parquet.File) error {
		columns := parquet.ReadColumns(file, 100)
		if n := len(columns.Int64("wall_ns")); n != 8 || !columns.Has(Threads) || !columns.Has(Collector) {
			t.Errorf("%d rows, want 8 with the factors", n)
		}
		return columns.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPointNames: folders of different points differ, whatever the values, and stay inside.
func TestPointNames(t *testing.T) {
	names := map[string]string{}
	for _, v := range []string{"1", "2", "a/b", "a_b", "../x", "..", ".", "", "ä", strings.Repeat("x", 500), strings.Repeat("x", 501), "a b", "a\x00b"} {
		for _, p := range []Point{{{Threads, v}}, {{v, "1"}}} {
			name := p.Folder()
			if other, ok := names[name]; ok {
				t.Errorf("%q and %q are both in %s", other, p, name)
			}
			names[name] = p.String()
			if !filepath.IsLocal(name) || filepath.Base(name) != name || len(name) > 255 {
				t.Errorf("%q is in %q", p, name)
			}
		}
	}
}

func TestPointJSON(t *testing.T) {
	p := Point{{"z", "1"}, {"a", `"x"`}}
	text, err := p.MarshalJSON()
	if err != nil || string(text) != `{"z":"1","a":"\"x\""}` {
		t.Fatalf("%s, %v", text, err)
	}
	var q Point
	if err := q.UnmarshalJSON(text); err != nil || !reflect.DeepEqual(p, q) {
		t.Errorf("%v, %v", q, err)
	}
	for _, bad := range []string{`[]`, `{"a":1}`, `{"a":"1","a":"2"}`, `{"a"`, `null`} {
		if err := q.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is taken for a point", bad)
		}
	}
}

func TestCollectorNames(t *testing.T) {
	for given, want := range map[string]string{"g1": "G1", "ZGC": "ZGC", "z": "ZGC", "shenandoahgc": "Shenandoah", "Epsilon": "Epsilon"} {
		if got, _, err := CollectorOptions(given); got != want || err != nil {
			t.Errorf("%s: %s, %v", given, got, err)
		}
	}
	if _, _, err := CollectorOptions("CMS"); err == nil || !strings.Contains(err.Error(), "Serial, Parallel, G1") {
		t.Errorf("CMS: %v", err)
	}
}
