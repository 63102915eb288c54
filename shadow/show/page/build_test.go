package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/store/storetest"
)

// made is a session with its page.
type made struct {
	s   *session.Session
	sum *summary.Summary
	*Data
}

func build(t testing.TB, dir string, o summary.Options) *made {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Report = true
	sum, err := summary.Build(s, o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Build(s, sum, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &made{s, sum, d}
}

func generated(t testing.TB, n int) string {
	t.Helper()
	root := t.TempDir()
	if _, err := summarytest.Generate(root, "g", n, true); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "g")
}

const (
	begin  = units.MonoNs(1_000_000)
	length = units.MonoNs(240_000_000) // a slot of 2 ms, a bucket of 1 ms
)

// mixed writes a session of units of work that are recorded one by one and of others that are summarised: a class and a pool each.
func mixed(t testing.TB) string {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "m", "m")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "m", WallUnixNs: 1_700_000_000_000_000_000, StartNs: begin, EndNs: begin + length, Ended: store.EndedExit, Metrics: []string{"wall", "cpu"},
		JVM:         store.JVM{PID: 1, MainClass: "a.Main", CPUs: 2},
		Submissions: &store.RecordAccount{Produced: 100, Stored: 100},
		Produced:    store.Counts{Executions: 100 + 1001}, Summarised: store.Counts{Executions: 1001}}
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Classes:   []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}, {ID: 2, Name: "a.Fine", Kinds: "runnable"}},
		Threads:   []store.Thread{{ID: 1, JavaID: 1, Name: "one"}, {ID: 2, JavaID: 2, Name: "two"}},
		Sites:     []store.Site{{ID: 1, Class: "a.Main", Method: "run", File: "Main.java", Line: 7}},
		Executors: []store.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor", Name: "pool"}},
	}
	for i := range 100 {
		at, task := begin+units.MonoNs(i)*2_000_000+1_000_000, uint64(i+1)
		e := store.Execution{TaskID: task, Class: 1, Thread: uint32(1 + i%2), StartNs: at, EndNs: at + 500_000, SubmittedNs: at - 250_000,
			WallNs: 500_000, CPUNs: 400_000, SelfWallNs: 500_000, SelfCPUNs: units.Ns(100_000 + 1000*i)}
		p.Executions = append(p.Executions, e)
		p.Submissions = append(p.Submissions, store.Submission{TaskID: task, Class: 1, Thread: 1, Executor: 1, Site: 1, AtNs: e.SubmittedNs})
	}
	const id = 1 << 14
	p.Summaries = []store.Summary{{ID: id, Class: 2, Thread: 2, FromNs: begin + 10_000_000, ToNs: begin + 100_000_000, Executions: 1001, Threw: 3}}
	for _, m := range []string{"wall", "self_wall", "cpu", "self_cpu", "queue"} {
		p.Measures = append(p.Measures, store.Measure{Summary: id, Metric: m, Count: 1001, SumNs: 1001*10_000 + 7, MinNs: 9000, MaxNs: 20_000})
		p.Buckets = append(p.Buckets, store.Bucket{Summary: id, Metric: m, LowestNs: 8192, HighestNs: 8319, Count: 500}, store.Bucket{Summary: id, Metric: m, LowestNs: 16384, HighestNs: 16639, Count: 501})
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// totals are the sums over cells by class.
type totals struct {
	count, threw uint64
	known        []uint64
	sum          []float64
	max          []float64
	times        []uint64
}

func (m *made) totals(t testing.TB) map[string]*totals {
	t.Helper()
	out, c := map[string]*totals{}, &m.Cube.Cells
	for i, row := range c.Row {
		name := "others"
		if n := m.Cube.Rows.Class[row]; n != NoName {
			name = m.Cube.Classes[n].Name
		}
		x := out[name]
		if x == nil {
			n := len(c.Measures)
			x = &totals{known: make([]uint64, n), sum: make([]float64, n), max: make([]float64, n), times: make([]uint64, n)}
			out[name] = x
		}
		if int(c.Slot[i]) >= m.Slots {
			t.Fatalf("slot %d of %d", c.Slot[i], m.Slots)
		}
		x.count += uint64(c.Count[i])
		x.threw += uint64(c.Threw[i])
		for k := range c.Measures {
			of := &c.Measures[k]
			x.known[k] += uint64(of.Known[i])
			x.sum[k] += of.Sum[i]
			x.max[k] = max(x.max[k], of.Max[i])
			from, cell := uint32(0), uint64(0)
			if i > 0 {
				from = of.End[i-1]
			}
			for _, times := range of.Times[from:of.End[i]] {
				cell += uint64(times)
			}
			if cell != uint64(of.Known[i]) {
				t.Fatalf("cell %d: %d values in buckets of %d", i, cell, of.Known[i])
			}
			x.times[k] += cell
		}
	}
	return out
}

// check compares the cube, the bands and the slices with the summary.
func (m *made) check(t *testing.T) {
	t.Helper()
	want := m.sum
	if m.sum.InUnits != nil {
		want = m.sum.InUnits
	}
	got := m.totals(t)
	all := int64(0)
	names := map[string]int{}
	for i := range want.Rows {
		names[nameOf(want.Rows[i].Class).Name]++
	}
	for i := range want.Rows {
		r := &want.Rows[i]
		all += r.Executions
		if names[nameOf(r.Class).Name] > 1 {
			continue // made printable, several names are alike
		}
		x := got[nameOf(r.Class).Name]
		if x == nil {
			x = &totals{known: make([]uint64, 9), sum: make([]float64, 9), max: make([]float64, 9)}
		}
		if int64(x.count) != r.Executions || int64(x.threw) != r.Threw {
			t.Errorf("%s: %d executions, %d threw, want %d and %d", r.Class, x.count, x.threw, r.Executions, r.Threw)
		}
		for k, measure := range m.Cube.Measures {
			d := r.Metrics[metricOf(t, measure.Key)]
			if int64(x.known[k]) != d.Count || x.sum[k] != float64(d.Sum) || d.Count > 0 && x.max[k] != float64(d.Max) {
				t.Errorf("%s %s: %d with sum %g and max %g, want %d, %d, %d", r.Class, measure.Key, x.known[k], x.sum[k], x.max[k], d.Count, d.Sum, d.Max)
			}
		}
	}
	if all != want.Tasks.Executions {
		t.Errorf("rows have %d executions of %d", all, want.Tasks.Executions)
	}
	started, finished := 0.0, 0.0
	for _, s := range m.Bands.Started {
		for _, n := range s.Values {
			started += float64(n)
		}
	}
	for _, n := range m.Bands.Finished.Values {
		finished += float64(n)
	}
	if started != float64(all-m.startedOutside(t)) || finished != float64(all-want.Tasks.Running) {
		t.Errorf("bands have %g started and %g finished of %d", started, finished, all)
	}
	if m.Slices.Total != float64(all) {
		t.Errorf("slices are of %g tasks, want %d", m.Slices.Total, all)
	}
}

// startedOutside is how many executions began before or after the time axis.
func (m *made) startedOutside(t *testing.T) (n int64) {
	t.Helper()
	grid := newAxis(m.sum.StartNs, m.sum.EndNs).grid(buckets)
	err := m.s.Executions(func(c *session.Chunk) error {
		for _, at := range c.StartNs {
			if _, inside := grid.Bucket(at); !inside {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func metricOf(t testing.TB, key string) granularity.Metric {
	for m, k := range keysOfMeasures {
		if k == key {
			return m
		}
	}
	if key == "queue" {
		return granularity.MetricOf(2, false)
	}
	t.Fatalf("no metric %q", key)
	return 0
}

// TestCounts: what is in the cells adds up to the summary, recorded or summarised.
func TestCounts(t *testing.T) {
	t.Run("generated", func(t *testing.T) {
		m := build(t, generated(t, 30_000), summary.Options{})
		m.check(t)
		if !m.Slices.All || len(m.Slices.Start) != 30_000 || m.Slots != slots || m.Cube.Folded != 0 {
			t.Errorf("%d slices, all %v; %d slots, %d folded", len(m.Slices.Start), m.Slices.All, m.Slots, m.Cube.Folded)
		}
	})
	t.Run("units and summaries", func(t *testing.T) {
		m := build(t, mixed(t), summary.Options{})
		if m.Cube.Many != "units of work" {
			t.Fatalf("the cube is of %s", m.Cube.Many)
		}
		m.check(t)
		named := func(name string) func(Name) bool { return func(n Name) bool { return n.Name == name } }
		if !slices.ContainsFunc(m.Cube.Executors, named("pool (ThreadPoolExecutor)")) || !slices.ContainsFunc(m.Cube.Sites, named("a.Main.run:7")) {
			t.Errorf("executors %+v, sites %+v", m.Cube.Executors, m.Cube.Sites)
		}
		if len(m.Bands.Queued) == 0 || m.Missing["queue"] != "" {
			t.Errorf("no queue: %q", m.Missing["queue"])
		}
		if m.Slices.All || len(m.Slices.Start) != 100 {
			t.Errorf("%d slices, all: %v", len(m.Slices.Start), m.Slices.All)
		}
	})
	t.Run("filter", func(t *testing.T) {
		m := build(t, mixed(t), summary.Options{Filter: summary.Filter{Class: "a.Fine"}})
		m.check(t)
		if m.Missing["waits"] == "" {
			t.Error("waits of some classes")
		}
	})
	t.Run("hostile", func(t *testing.T) {
		build(t, hostile(t), summary.Options{}).check(t)
	})
}

// TestSpread: a summary fills the slots of its interval evenly, and no others.
func TestSpread(t *testing.T) {
	m := build(t, mixed(t), summary.Options{})
	at := map[uint16]uint32{}
	for i, row := range m.Cube.Cells.Row {
		if m.Cube.Classes[m.Cube.Rows.Class[row]].Name == "a.Fine" {
			at[m.Cube.Cells.Slot[i]] += m.Cube.Cells.Count[i]
		}
	}
	for slot := range uint16(slots) {
		want := 0.0
		if slot >= 5 && slot < 50 {
			want = 1001.0 / 45
		}
		if math.Abs(float64(at[slot])-want) > 1 {
			t.Errorf("slot %d has %d, want %g", slot, at[slot], want)
		}
	}
}

// TestTimeAxis: an execution is in the slot in which it ended, and its band where it ran.
func TestTimeAxis(t *testing.T) {
	m := build(t, mixed(t), summary.Options{})
	if m.SlotNs != 2e6 || m.Bands.BucketNs != 1e6 || m.Session.DurationNs != 240e6 {
		t.Fatalf("slots of %g, buckets of %g, %g in all", m.SlotNs, m.Bands.BucketNs, m.Session.DurationNs)
	}
	for i, s := range m.Bands.Running {
		if s.Key != "a.Job" {
			continue
		}
		for n, v := range s.Values {
			want := 0.0
			if n%2 == 1 && n < 200 {
				want = 0.5
			}
			if math.Abs(float64(v)-want) > 1e-6 || float64(m.Bands.Started[i].Values[n]) != 2*want {
				t.Errorf("bucket %d: %g running, %g started", n, v, m.Bands.Started[i].Values[n])
			}
		}
	}
	if s := m.Slices; s.Start[1] != 3e6 || s.Ns[1] != 500_000 || s.Queue[1] != 250_000 || s.CPU[1] != 400_000 || m.Cube.Threads[s.Thread[1]].Name != "two#2" {
		t.Errorf("the second slice: %g for %g, queue %g, CPU %g", s.Start[1], s.Ns[1], s.Queue[1], s.CPU[1])
	}
}

func hostile(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	var names []string
	for _, name := range storetest.Attacks {
		names = append(names, name)
	}
	slices.Sort(names)
	dir, err := storetest.Hostile(root, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := storetest.Submit(root, names); err != nil {
		t.Fatal(err)
	}
	if err := storetest.Schedule(dir, names); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestActivity: of threads that ran from 0 to 50 ms at once, each lane is half full, the heights of a slot add up to its length, and
// the account of the speedup stack to N slots.
func TestActivity(t *testing.T) {
	m := build(t, hostile(t), summary.Options{})
	if m.Lanes == nil || m.Bottle == nil || m.Stack == nil || m.Waits == nil {
		t.Fatalf("missing: %v", m.Missing)
	}
	n := len(storetest.Attacks)
	if len(m.Lanes.Lanes) != n || len(m.Bottle.Threads) != n {
		t.Errorf("%d lanes and %d boxes of %d threads", len(m.Lanes.Lanes), len(m.Bottle.Threads), n)
	}
	full := 0
	for i, share := range m.Lanes.Shares {
		if i/buckets%len(laneStates) == 0 && i%buckets < buckets/2-2 && share == 255 {
			full++
		}
	}
	if want := n * (buckets/2 - 2); full != want {
		t.Errorf("%d buckets are full of running, want %d", full, want)
	}
	cpu := 0.0
	for _, s := range m.Bands.CPU {
		cpu += float64(s.Values[10])
	}
	if math.Abs(cpu-float64(n)) > 0.01 {
		t.Errorf("%g CPUs in use, want %d", cpu, n)
	}
	height, running := make([]float64, m.Slots), 0.0
	for i, slot := range m.Bottle.Slot {
		height[slot] += m.Bottle.Height[i]
		running += m.Bottle.Running[i]
	}
	if math.Abs(height[3]-m.SlotNs) > float64(n) || height[m.Slots-1] != 0 || running != float64(n)*50e6 {
		t.Errorf("heights %g and %g of %g, %g running", height[3], height[m.Slots-1], m.SlotNs, running)
	}
	k := len(m.Stack.Components)
	for slot := range m.Slots {
		sum := 0.0
		for _, v := range m.Stack.Values[slot*k : (slot+1)*k] {
			sum += v
		}
		if math.Abs(sum-float64(m.Stack.N)*m.SlotNs) > 1 {
			t.Fatalf("slot %d: %g of %d times %g", slot, sum, m.Stack.N, m.SlotNs)
		}
	}
	m.checkWaits(t)
}

// checkWaits: the parts of the wall time of each class add up to it.
func (m *made) checkWaits(t *testing.T) {
	t.Helper()
	parts, walls := 0.0, 0.0
	for _, v := range m.Waits.Parted {
		parts += v
	}
	wall := slices.IndexFunc(m.Cube.Measures, func(x Measure) bool { return x.Key == "wall" })
	for _, x := range m.totals(t) {
		walls += x.sum[wall]
	}
	if !m.Waits.BySlot || math.Abs(parts-walls) > 1 || walls == 0 {
		t.Errorf("parts of %g, wall times of %g", parts, walls)
	}
}

// TestLarge: the page of a session whose classes come from the sums of its parts has the same counts.
func TestLarge(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "l", "l")
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	w.SumsFrom = 1
	w.Manifest = store.Manifest{Session: "l", StartNs: begin, EndNs: begin + length, Ended: store.EndedExit, Metrics: []string{"wall", "cpu"}, Produced: store.Counts{Executions: n}}
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}, {ID: 2, Name: "a.Other", Kinds: "runnable"}},
		Threads: []store.Thread{{ID: 1, JavaID: 1, Name: "one"}}}
	for i := range n {
		at, wall := begin+units.MonoNs(i)*2000, units.Ns(500+i%1000)
		p.Executions = append(p.Executions, store.Execution{TaskID: uint64(i + 1), Class: uint32(1 + i%2), Thread: 1, StartNs: at, EndNs: at + units.MonoNs(wall), WallNs: wall, CPUNs: wall, SelfWallNs: wall, SelfCPUNs: wall})
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	m := build(t, w.Dir(), summary.Options{SumsAbove: 1})
	if !m.sum.FromSums {
		t.Fatal("the summary is not from sums")
	}
	m.check(t)
	if m.Cube.Classes[0].Exact[0].Error == 0 {
		t.Error("quantiles from sums are called exact")
	}
}

// TestHostileNames: the page has no element and no character that a name brought, and its data can be read.
func TestHostileNames(t *testing.T) {
	m := build(t, hostile(t), summary.Options{})
	var b bytes.Buffer
	if err := Write(&b, m.Data, m.Data); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		seen[n.Data]++
		if n.Data != "script" {
			continue
		}
		if len(n.Attr) == 0 {
			if n.FirstChild.Data != Script {
				t.Error("the script is not the page's own")
			}
			continue
		}
		var d Data
		if err := json.Unmarshal([]byte(n.FirstChild.Data), &struct {
			Session *Session
			Verdict *Verdict
		}{&d.Session, &d.Verdict}); err != nil || d.Session.Name != "h" {
			t.Errorf("the data: %q, %v", d.Session.Name, err)
		}
	}
	if seen["script"] != 3 || seen["style"] != 1 || seen["img"]+seen["iframe"]+seen["object"]+seen["form"]+seen["base"]+seen["link"] != 0 {
		t.Errorf("elements: %v", seen)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(b.String(), Script, ""), Style, "")
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' || r == 0x85 || r == 0x9b || r == 0x202e || r == 0x2028 || r == 0xfffd
	}); i >= 0 {
		t.Errorf("character %q in the page: %q", text[i], text[max(0, i-30):i+10])
	}
}

// TestPolicy: the page is run by the script and dressed by the style that its policy names.
func TestPolicy(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, build(t, generated(t, 100), summary.Options{}).Data); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{html.EscapeString(Policy()), "<style>" + Style + "</style>", "<script>" + Script + "</script>", "<noscript>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %.60q", want)
		}
	}
}

// TestSame: two makings of a page are equal byte by byte, however goroutines share the reading.
func TestSame(t *testing.T) {
	dir := generated(t, 250_000)
	write := func() []byte {
		var b bytes.Buffer
		if err := Write(&b, build(t, dir, summary.Options{}).Data); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	first := write()
	if !bytes.Equal(first, write()) {
		t.Error("two pages of a session differ")
	}
}

// TestSample: of a large session the longest of each class and a random sample are kept, and said to be.
func TestSample(t *testing.T) {
	m := build(t, generated(t, 250_000), summary.Options{})
	m.check(t)
	s := &m.Slices
	drawn, long := 0, map[uint16]int{}
	for i, d := range s.Sampled {
		if d == 1 {
			drawn++
		} else {
			long[s.Class[i]]++
		}
		if i > 0 && s.Start[i] < s.Start[i-1] {
			t.Fatal("slices are not in the order of their starts")
		}
	}
	if s.All || drawn > someSlices || drawn < someSlices-mostLongest*len(long) || len(long) != len(summarytest.Populations) {
		t.Errorf("all %v, %d drawn, long ones %v", s.All, drawn, long)
	}
	for class, n := range long {
		longest := float32(0)
		for i, d := range s.Sampled {
			if d == 0 && s.Class[i] == class {
				longest = max(longest, s.Ns[i])
			}
		}
		d := m.Cube.Classes[class].Exact
		if wall := d[slices.IndexFunc(m.Cube.Measures, func(x Measure) bool { return x.Key == "wall" })]; n != mostLongest || longest != float32(wall.Max) {
			t.Errorf("%s: %d long ones, the longest %g of %g", m.Cube.Classes[class].Name, n, longest, wall.Max)
		}
	}
}

// TestShape: the names and kinds of all fields of the JSON, without values, are those of the golden file.
func TestShape(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, build(t, mixed(t), summary.Options{}).Data); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "missing") // its keys depend on the machine
	var shape []string
	shapeOf(&shape, "", v)
	slices.Sort(shape)
	golden(t, "testdata/shape.golden", []byte(strings.Join(slices.Compact(shape), "\n")+"\n"))
}

func shapeOf(to *[]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, column := v["data"]; column {
			*to = append(*to, fmt.Sprintf("%s: column of %v", at, v["type"]))
			return
		}
		for key, x := range v {
			shapeOf(to, at+"."+key, x)
		}
	case []any:
		*to = append(*to, at+": list")
		for _, x := range v {
			shapeOf(to, at+"[]", x)
		}
	default:
		*to = append(*to, fmt.Sprintf("%s: %T", at, v))
	}
}

// BenchmarkBuild makes the page of a million executions.
func BenchmarkBuild(b *testing.B) {
	dir := generated(b, 1_000_000)
	for b.Loop() {
		m := build(b, dir, summary.Options{})
		f, err := os.Create(filepath.Join(b.TempDir(), "page.html"))
		if err != nil {
			b.Fatal(err)
		}
		if err := Write(f, m.Data); err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size()), "B/page")
		f.Close()
	}
}
