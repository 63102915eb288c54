package store

import (
	"math/rand/v2"
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

const none = int64(units.NotMeasured)

// worked gives a part two extra metrics: values that look like none, values
// that were not measured among others, and in part 3 none at all.
func worked(from uint64, n int) *Part {
	p := sample(from, from, n)
	p.Extra = []string{"bytecodes", "alloc_bytes"}
	if from == 3 {
		return p
	}
	rng := rand.New(rand.NewPCG(from, 1))
	for k := range 2 {
		total, nested := make([]int64, n), make([]int64, n)
		for i := range total {
			total[i], nested[i] = rng.Int64N(1e6)*int64(k)-5, rng.Int64N(50)
			if rng.IntN(5) == 0 {
				total[i], nested[i] = none, none
			}
			if from == 4 && k == 1 { // not measured in this part
				total[i], nested[i] = none, none
			}
		}
		p.ExecutionWork.Total, p.ExecutionWork.Nested = append(p.ExecutionWork.Total, total), append(p.ExecutionWork.Nested, nested)
	}
	for i := range p.Executions {
		p.Executions[i].Site, p.Executions[i].SubmittedNs = uint32(i%3), p.Executions[i].StartNs-units.MonoNs(i)
	}
	hand(p, int(from))
	p.ConstructionWork = wire.Work{Total: [][]int64{{int64(from), none}, {none, 7}}}
	return p
}

// extras are the values that a reader must find for a part.
func extras(p *Part, k int) (total, self []int64) {
	for i := range p.Executions {
		t, s := none, none
		if len(p.ExecutionWork.Total) > k {
			if t = p.ExecutionWork.Total[k][i]; t != none {
				s = t - p.ExecutionWork.Nested[k][i]
			}
		}
		total, self = append(total, t), append(self, s)
	}
	return total, self
}

func TestExtraColumns(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	w.Manifest.Extra = NewExtra([]wire.Extra{{Name: "bytecodes"}, {Name: "alloc", Unit: "bytes"}})
	var parts []*Part
	for i := range uint64(6) {
		parts = append(parts, worked(i+1, 200))
	}
	commit(t, w, parts...)
	checkExtras(t, w, parts)
	mergeAll(t, w)
	if got := files(t, w.Dir(), "executions-*"); len(got) != 1 {
		t.Fatalf("files %v", got)
	}
	checkExtras(t, w, parts)
}

func inUnits(list []int64) (out []units.Ns) {
	for _, v := range list {
		out = append(out, units.Ns(v))
	}
	return out
}

func checkExtras(t *testing.T, w *Writer, parts []*Part) {
	t.Helper()
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Extra = w.Manifest.ExtraColumns()
	var got, want ExecutionColumns
	got.Extra, got.SelfExtra, want.Extra, want.SelfExtra = make([][]units.Ns, 2), make([][]units.Ns, 2), make([][]units.Ns, 2), make([][]units.Ns, 2)
	bad, err := f.ReadExecutions(func(c *ExecutionColumns) error {
		for k := range 2 {
			got.Extra[k], got.SelfExtra[k] = append(got.Extra[k], c.Extra[k]...), append(got.SelfExtra[k], c.SelfExtra[k]...)
		}
		got.Site, got.QueueNs = append(got.Site, c.Site...), append(got.QueueNs, c.QueueNs...)
		return nil
	})
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, damaged %v", err, bad)
	}
	for _, p := range parts {
		for k := range 2 {
			total, self := extras(p, k)
			want.Extra[k], want.SelfExtra[k] = append(want.Extra[k], inUnits(total)...), append(want.SelfExtra[k], inUnits(self)...)
		}
		for _, x := range p.Executions {
			queue := units.NotMeasured
			if x.SubmittedNs != 0 {
				queue = units.Ns(x.StartNs - x.SubmittedNs)
			}
			want.Site, want.QueueNs = append(want.Site, x.Site), append(want.QueueNs, queue)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("other sites, queue times or extra metrics than were written")
	}
	checkSubmissionRows(t, f, parts)
}

func checkSubmissionRows(t *testing.T, f *Folder, parts []*Part) {
	t.Helper()
	var made, wantMade []Construction
	var costs, wantCosts [][2]int64
	var submitted, wantSubmitted []Submission
	var executors, wantExecutors []Executor
	var sites, wantSites []Site
	f.ReadConstructions(func(c *ConstructionColumns) error {
		for i := range c.TaskID {
			made = append(made, Construction{TaskID: c.TaskID[i], Class: c.Class[i], Thread: c.Thread[i], WallNs: c.WallNs[i], CPUNs: c.CPUNs[i]})
			costs = append(costs, [2]int64{int64(c.Extra[0][i]), int64(c.Extra[1][i])})
		}
		return nil
	})
	f.ReadSubmissions(func(c *SubmissionColumns) error {
		for i := range c.TaskID {
			submitted = append(submitted, Submission{
				TaskID: c.TaskID[i], OuterTaskID: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i],
				Executor: c.Executor[i], Site: c.Site[i], Flags: c.Flags[i], AtNs: c.AtNs[i],
			})
		}
		return nil
	})
	f.ReadExecutors(func(x *Executor) { executors = append(executors, *x) })
	f.ReadSites(func(x *Site) { sites = append(sites, *x) })
	var sums, wantSums []SiteSum
	f.ReadSiteSums(func(x *SiteSum) { sums = append(sums, *x) })
	for _, p := range parts {
		wantMade, wantSubmitted = append(wantMade, p.Constructions...), append(wantSubmitted, p.Submissions...)
		wantExecutors, wantSites = append(wantExecutors, p.Executors...), append(wantSites, p.Sites...)
		wantSums = append(wantSums, p.SiteSums...)
		for i := range p.Constructions {
			wantCosts = append(wantCosts, [2]int64{p.ConstructionWork.Total[0][i], p.ConstructionWork.Total[1][i]})
		}
	}
	if !slices.Equal(made, wantMade) || !slices.Equal(costs, wantCosts) || !slices.Equal(submitted, wantSubmitted) || !slices.Equal(executors, wantExecutors) || !slices.Equal(sites, wantSites) || !slices.Equal(sums, wantSums) {
		t.Errorf("constructions\n%v\n%v\nsubmissions\n%v\nor executors or sites are others than were written", made, costs, submitted)
	}
}

// The Parquet library reads the extra columns as any other program does, and
// a part that needs none has none.
func TestExtraColumnsAgainstTheLibrary(t *testing.T) {
	w := openWriter(t, t.TempDir())
	p := worked(1, 200)
	commit(t, w, p, worked(3, 50), worked(4, 50))
	type row struct {
		TaskID   uint64  `parquet:"task_id"`
		Site     *uint32 `parquet:"site"`
		QueueNs  *int64  `parquet:"queue_ns"`
		Code     *int64  `parquet:"bytecodes"`
		Alloc    *int64  `parquet:"alloc_bytes"`
		NestedBy *int64  `parquet:"nested_alloc_bytes"`
	}
	rows, err := parquet.ReadFile[row](filepath.Join(w.Dir(), "executions-1-1.parquet"))
	if err != nil || len(rows) != 200 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	is := func(got *int64, want int64) bool {
		return (got == nil) == (want == none) && (got == nil || *got == want)
	}
	for i, r := range rows {
		x, work := p.Executions[i], p.ExecutionWork
		if r.TaskID != x.TaskID || (r.Site == nil) != (x.Site == 0) || r.Site != nil && *r.Site != x.Site || !is(r.QueueNs, int64(x.StartNs-x.SubmittedNs)) ||
			!is(r.Code, work.Total[0][i]) || !is(r.Alloc, work.Total[1][i]) || !is(r.NestedBy, work.Nested[1][i]) {
			t.Fatalf("row %d: %+v, want %+v", i, r, x)
		}
	}
	columns := func(name string) (out []string) {
		data, err := os.Open(filepath.Join(w.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		info, _ := data.Stat()
		f, err := parquet.OpenFile(data, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Schema().Columns() {
			out = append(out, c[0])
		}
		return out[min(len(out), 11):]
	}
	if got := columns("executions-3-3.parquet"); len(got) != 0 {
		t.Errorf("a part without extra metrics has the columns %v", got)
	}
	if got := strings.Join(columns("executions-4-4.parquet"), " "); got != "site queue_ns bytecodes nested_bytecodes" {
		t.Errorf("a part without allocations has the columns %v", got)
	}
}

// Each set of columns gives what was asked for, and nothing else.
func TestScanOfExtraColumns(t *testing.T) {
	w := openWriter(t, t.TempDir())
	p := worked(1, 300)
	commit(t, w, p)
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	f.Extra = p.Extra
	sets := []Columns{ExecutionSite, ExecutionQueue, ExecutionExtra(0), ExecutionSelfExtra(0), ExecutionExtra(1), ExecutionSelfExtra(1), ExecutionTaskID}
	for mask := range 1 << len(sets) {
		want := Columns(0)
		for i, s := range sets {
			if mask&(1<<i) != 0 {
				want |= s
			}
		}
		bad, err := f.ScanExecutions(want, 1, func(_ int, c *ExecutionColumns) error {
			sameColumn(t, want, ExecutionTaskID, c.TaskID, p.Executions, func(x *Execution) uint64 { return x.TaskID })
			sameColumn(t, want, ExecutionSite, c.Site, p.Executions, func(x *Execution) uint32 { return x.Site })
			sameColumn(t, want, ExecutionQueue, c.QueueNs, p.Executions, func(x *Execution) units.Ns { return units.Ns(x.StartNs - x.SubmittedNs) })
			for k := range 2 {
				total, self := extras(p, k)
				for _, x := range []struct {
					column    Columns
					got, want []units.Ns
				}{{ExecutionExtra(k), c.Extra[k], inUnits(total)}, {ExecutionSelfExtra(k), c.SelfExtra[k], inUnits(self)}} {
					if asked := want&x.column != 0; asked && !slices.Equal(x.got, x.want) || !asked && len(x.got) != 0 {
						t.Errorf("columns %b: %d values of column %b, or others than were written", want, len(x.got), x.column)
					}
				}
			}
			return nil
		})
		if err != nil || len(bad) != 0 || t.Failed() {
			t.Fatalf("columns %b: %v, damaged %v", want, err, bad)
		}
	}
}

func TestExtraNames(t *testing.T) {
	var got []string
	for _, x := range NewExtra([]wire.Extra{
		{Name: "alloc", Unit: "bytes"}, {Name: "L1-dcache-load-misses"}, {Name: "task_id"}, {Name: "cpu_ns"},
		{Name: "l1_dcache_load_misses"}, {Name: "nested_x"}, {Name: "\x00é; DROP"}, {Name: "queue"}, {Name: "ninth"},
	}) {
		got = append(got, x.Column)
	}
	want := []string{"alloc_bytes", "l1_dcache_load_misses", "task_id_2", "cpu_ns_2", "l1_dcache_load_misses_2", "mnested_x", "m____drop", "queue_2"}
	if !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	for i, x := range NewExtra([]wire.Extra{{Name: strings.Repeat("x", 5000), Unit: "bytes"}, {}, {Name: "9"}, {Name: "nested_nested_"}, {Name: "self_self_"}, {Name: "unnamed_0"}, {}}) {
		if err := checkExtra([]ExtraMetric{x}); err != nil {
			t.Errorf("name %d: column %q: %v", i, x.Column, err)
		}
	}
}

func TestExtraRefused(t *testing.T) {
	for _, column := range []string{"", "task_id", "wall_ns", "nested_x", "self_x", "a b", "../x", "A", "9", "queue", "end_ns", strings.Repeat("x", 60)} {
		if err := checkExtra([]ExtraMetric{{Column: column}}); err == nil {
			t.Errorf("column %q is taken", column)
		}
	}
	if checkExtra([]ExtraMetric{{Column: "a"}, {Column: "a"}}) == nil || checkExtra(make([]ExtraMetric, 9)) == nil {
		t.Error("a column twice, or nine of them, are taken")
	}
	p := worked(1, 10)
	p.ExecutionWork.Total[1] = p.ExecutionWork.Total[1][:9]
	if err := openWriter(t, t.TempDir()).Commit(p); err == nil {
		t.Error("a column that is too short is taken")
	}
}

// The pieces of a session are joined with all that belongs to it.
func TestJoinSubmissions(t *testing.T) {
	extra := NewExtra([]wire.Extra{{Name: "bytecodes"}, {Name: "alloc", Unit: "bytes"}})
	all := []*Part{worked(1, 50), worked(2, 50), worked(4, 50)}
	first := writePiece(t, func(m *Manifest) {
		m.Extra, m.Ended, m.Submissions = extra, EndedElsewhere, &RecordAccount{Produced: 1}
	}, all[0])
	second := writePiece(t, func(m *Manifest) {
		m.Ended, m.Submissions = EndedExit, &RecordAccount{Produced: 9, Lost: 1}
	}, all[1], all[2])
	out := filepath.Join(t.TempDir(), "whole")
	m, err := Join(out, []string{second, first})
	if err != nil {
		t.Fatal(err)
	}
	if *m.Submissions != (RecordAccount{Produced: 9, Stored: 3, Lost: 1, InGaps: 5}) || !slices.Equal(m.Extra, extra) {
		t.Errorf("submissions %+v, extra metrics %+v", m.Submissions, m.Extra)
	}
	checkExtras(t, &Writer{dir: out, Manifest: *m}, all)
}

// What the columns take on the disk, of executions like those of a pool.
func TestBytesOfExtraColumns(t *testing.T) {
	const n = 100_000
	size := func(change func(p *Part)) float64 {
		w, p := openWriter(t, t.TempDir()), sample(1, 1, n)
		p.Creations = nil
		change(p)
		commit(t, w, p)
		info, err := os.Stat(filepath.Join(w.Dir(), PartName(Executions, 1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return float64(info.Size()) / n
	}
	plain := size(func(*Part) {})
	rng := rand.New(rand.NewPCG(1, 2))
	full := size(func(p *Part) {
		p.Extra = []string{"bytecodes", "alloc_bytes"}
		p.ExecutionWork = wire.Work{Total: [][]int64{make([]int64, n), make([]int64, n)}, Nested: [][]int64{make([]int64, n), make([]int64, n)}}
		for i := range n {
			x := &p.Executions[i]
			x.Site, x.SubmittedNs = uint32(1+i%7), x.StartNs-units.MonoNs(rng.ExpFloat64()*20_000)-1
			p.ExecutionWork.Total[0][i], p.ExecutionWork.Total[1][i] = int64(x.WallNs)*3/2, 48
		}
	})
	t.Logf("%.2f bytes an execution, %.2f with a site, a queue time and two extra metrics", plain, full)
	if full > plain+8 {
		t.Errorf("the columns take %.2f bytes an execution, want at most 8", full-plain)
	}
}
