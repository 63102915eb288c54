package monitor

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
)

var groups = []Group{
	{Name: "jvm", Prefixes: []string{"vm."}},
	{Name: "proc", Prefixes: []string{"os.cpu.", "os.memory."}},
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		list   string
		groups string // that are read
		has    []string
		hasNot []string
	}{
		{list: "none"},
		{list: ""},
		{list: "all", groups: "jvm proc", has: []string{"vm.x", "os.y"}},
		{list: "jvm", groups: "jvm", has: []string{"vm.x"}},
		{list: "vm.gc.*", groups: "jvm", has: []string{"vm.gc.time_ns", `vm.gc.time_ns{collector="a"}`}, hasNot: []string{"vm.jit.time_ns"}},
		{list: "vm.*, os.memory.rss_bytes", groups: "jvm proc", has: []string{"vm.x", "os.memory.rss_bytes"}, hasNot: []string{"os.memory.free_bytes"}},
		{list: `vm.gc.time_ns{collector="a,b"}`, groups: "jvm", has: []string{`vm.gc.time_ns{collector="a,b"}`}, hasNot: []string{"vm.gc.time_ns", `vm.gc.time_ns{collector="c"}`}},
		{list: "*", groups: "jvm proc", has: []string{"vm.x"}},
	} {
		s, err := ParseSelection(c.list, groups)
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
			continue
		}
		var read []string
		for _, g := range groups {
			if s.Group(g) {
				read = append(read, g.Name)
			}
		}
		if got := strings.Join(read, " "); got != c.groups || s.Empty() != (c.groups == "") {
			t.Errorf("%s reads %q, want %q", c.list, got, c.groups)
		}
		group := func(name string) string {
			if strings.HasPrefix(name, "vm.") {
				return "jvm"
			}
			return "proc"
		}
		for _, name := range c.has {
			if !s.Monitor(group(name), name) {
				t.Errorf("%s has no %s", c.list, name)
			}
		}
		for _, name := range c.hasNot {
			if s.Monitor(group(name), name) {
				t.Errorf("%s has %s", c.list, name)
			}
		}
	}
	for _, list := range []string{"jvmm", "hw.cycles", "vm.x,,", "all,nothing", strings.Repeat("vm.", 400)} {
		if s, err := ParseSelection(list, groups); err == nil {
			t.Errorf("%.20s: no error, %v", list, s)
		}
	}
}

// scripted is a source whose readings are given.
type scripted struct {
	reads  []func(Sink)
	at     int
	closed bool
}

func (s *scripted) Read(_ units.MonoNs, to Sink) error {
	if s.at == len(s.reads) {
		return errors.New("it has ended")
	}
	s.reads[s.at](to)
	s.at++
	return nil
}

func (s *scripted) Close() error { s.closed = true; return nil }

var (
	faults = Declaration{Name: "os.faults", Layer: OS, Kind: Counter, PerThread: true}
	memory = Declaration{Name: "os.memory", Layer: OS, Kind: Gauge, Unit: "bytes"}
)

// rowsOf are the rows of a session by monitor, without times and without the ticks.
func rowsOf(t *testing.T, session string) (rows map[string][]Row, ticks int, r *Reader) {
	t.Helper()
	r, err := Open(session)
	if err != nil || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	rows = map[string][]Row{}
	err = r.Each(func(row *Row) error {
		if row.Monitor == TickMonitor {
			ticks++
			return nil
		}
		rows[row.Monitor] = append(rows[row.Monitor], *row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, ticks, r
}

// A source that is not there at first is opened later. Samples of a process whose session comes after its end are kept.
func TestLate(t *testing.T) {
	source := &scripted{reads: []func(Sink){func(to Sink) { to.Grew(to.Declare(faults), 9, 3) }}}
	attempts := 0
	group := Group{Name: "proc", Prefixes: []string{"os."}, Open: func(o Target) (Source, error) {
		if attempts++; o.PID != os.Getpid() || o.Interval != time.Millisecond {
			t.Errorf("opened for %+v", o)
		}
		if attempts < 3 {
			return nil, ErrNotYet
		}
		return source, nil
	}}
	selection, err := ParseSelection("all", []Group{group})
	if err != nil {
		t.Fatal(err)
	}
	session := t.TempDir()
	s, err := Start(Options{Target: Target{PID: os.Getpid(), Interval: time.Millisecond}, Groups: []Group{group}, Selection: selection})
	if err != nil {
		t.Fatal(err)
	}
	<-s.done // the source ends, and no other is left
	s.Keep(filepath.Join(session, Folder))
	if err := errors.Join(s.Stop(), s.Stop()); err != nil {
		t.Fatal(err)
	}
	rows, _, _ := rowsOf(t, session)
	if got := rows["os.faults"]; !source.closed || attempts != 3 || len(got) != 1 || got[0].Value != 3 || got[0].Thread != 9 {
		t.Errorf("closed: %v, %d attempts, %v", source.closed, attempts, got)
	}
}

// The samples hold growth and changes, and what became of a source.
func TestSamples(t *testing.T) {
	source := &scripted{}
	for i := range 5 {
		source.reads = append(source.reads, func(to Sink) {
			id := to.Declare(faults)
			to.Total(id, 7, []int64{100, 130, 130, 4, 5}[i]) // it begins anew in the fourth
			if i > 0 {
				to.Total(id, 8, int64(50+i))
			}
			to.Value(to.Declare(memory), 0, []float64{5, 5, math.NaN(), 6, math.Inf(1)}[i])
			to.Total(to.Declare(Declaration{Name: "os.unwanted", Kind: Counter}), 0, int64(i))
			to.Absent("os.rest", "there is none")
		})
	}
	proceed := make(chan bool)
	wait := func(to Sink) { <-proceed }
	source.reads = append([]func(Sink){wait}, source.reads...)
	group := Group{Name: "proc", Prefixes: []string{"os."}, Open: func(Target) (Source, error) { return source, nil }}
	broken := Group{Name: "hw", Prefixes: []string{"hw."}, Open: func(Target) (Source, error) { return nil, errors.New("no PMU") }}
	selection, err := ParseSelection("os.faults,os.memory,hw", []Group{group, broken})
	if err != nil {
		t.Fatal(err)
	}
	session := t.TempDir()
	s, err := Start(Options{Target: Target{PID: os.Getpid(), Interval: time.Millisecond}, Groups: []Group{group, broken}, Selection: selection})
	if err != nil {
		t.Fatal(err)
	}
	s.Keep(filepath.Join(session, Folder))
	proceed <- true
	<-s.done
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	rows, ticks, r := rowsOf(t, session)
	var got []float64
	for _, row := range rows["os.faults"] {
		got = append(got, float64(row.Thread)*1000+row.Value)
	}
	if want := []float64{7030, 8001, 8001, 7001, 8001}; !slices.Equal(got, want) {
		t.Errorf("faults (thread * 1000 + growth): %v, want %v", got, want)
	}
	got = nil
	for _, row := range rows["os.memory"] {
		got = append(got, row.Value)
	}
	if want := []float64{5, 6}; !slices.Equal(got, want) {
		t.Errorf("memory: %v, want %v", got, want)
	}
	h := r.Head()
	if len(rows) != 2 || ticks < 7 || h.Samples != int64(ticks) || !h.Complete { // some while the source was being opened
		t.Errorf("monitors %v, %d ticks, head %+v", slices.Collect(maps.Keys(rows)), ticks, h)
	}
	var names []string
	for _, d := range h.Monitors {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != TickMonitor+" os.faults os.memory" {
		t.Errorf("declared: %s", got)
	}
	if h.NotAvailable["hw"] != "no PMU" || h.NotAvailable["os.rest"] != "there is none" {
		t.Errorf("not available: %v", h.NotAvailable)
	}
	ended := slices.ContainsFunc(slices.Collect(maps.Keys(h.NotAvailable)), func(s string) bool { return s == "proc" })
	if !ended {
		t.Errorf("that the source ended is not said: %v", h.NotAvailable)
	}
}

// A part that was damaged, exchanged or removed is left out and reported; the others are read.
func TestDamage(t *testing.T) {
	made := func() (session string, w *writer) {
		session = t.TempDir()
		w = newWriter(Head{PID: 1, IntervalNs: 1000})
		if err := w.open(filepath.Join(session, Folder)); err != nil {
			t.Fatal(err)
		}
		for part := range 3 {
			for i := range 10 {
				at := units.MonoNs(part*10 + i)
				w.add(at, "a", 0, 1)
				w.add(at, TickMonitor, 0, 1)
			}
			w.flush()
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		return session, w
	}
	for name, harm := range map[string]func(part string) error{
		"removed": os.Remove,
		"cut":     func(part string) error { return os.Truncate(part, 100) },
		"exchanged": func(part string) error {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(part), partName(2)))
			return errors.Join(err, os.WriteFile(part, b, 0o600))
		},
		"a link": func(part string) error { return errors.Join(os.Remove(part), os.Symlink("/dev/zero", part)) },
	} {
		session, _ := made()
		if err := harm(filepath.Join(session, Folder, partName(1))); err != nil {
			t.Fatal(err)
		}
		rows, ticks, r := rowsOf(t, session)
		if len(rows["a"]) != 20 || ticks != 20 || len(r.Damage()) != 1 {
			t.Errorf("%s: %d rows, %d ticks, damage %v", name, len(rows["a"]), ticks, r.Damage())
		}
	}
	session, w := made()
	other := newWriter(Head{PID: 2, IntervalNs: 1000})
	if err := other.open(w.dir); err == nil {
		t.Error("samples of another process were continued")
	}
	again := newWriter(Head{PID: 1, IntervalNs: 1000, Samples: 5, Monitors: []Declaration{{Name: "b"}}})
	if err := again.open(w.dir); err != nil {
		t.Fatal(err)
	}
	again.add(100, "b", 0, 2)
	again.add(100, TickMonitor, 0, 1)
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
	if rows, ticks, r := rowsOf(t, session); len(rows["a"]) != 30 || len(rows["b"]) != 1 || ticks != 31 || len(r.Damage()) > 0 || r.Head().Samples != 5 || len(r.Head().Files) != 4 {
		t.Errorf("continued: %d and %d rows, %d ticks, %+v", len(rows["a"]), len(rows["b"]), ticks, r.Head())
	}
	head := filepath.Join(session, Folder, headName)
	b, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(head, []byte(strings.Replace(string(b), `"samples": 5`, `"samples": 9`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(session); !errors.Is(err, ErrDamaged) {
		t.Errorf("a changed head: %v", err)
	}
	if r, err := Open(t.TempDir()); r != nil || err != nil {
		t.Errorf("a session without samples: %v, %v", r, err)
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"version": 1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHead(b)
		if err == nil && (h.IntervalNs <= 0 || len(h.Monitors) > maxMonitors) {
			t.Errorf("accepted %+v", h)
		}
	})
}
