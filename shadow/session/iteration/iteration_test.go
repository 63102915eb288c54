package iteration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/store"
)

const (
	ms   = units.MonoNs(1e6)
	zero = 1000 * ms
)

// made writes a session of 600 ms with executions of a named method, 100-300 and 300-500, of a job, 100-290, and of a fast
// class that is summarised; and with these markers, if any.
func made(t *testing.T, file *marker.File) *session.Session {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", StartNs: zero, EndNs: zero + 600*ms, JVM: store.JVM{PID: 7, CPUs: 2}, Metrics: []string{"wall"}, Ended: store.EndedExit}
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "com.acme.Main#round", Kinds: "custom"}, {ID: 2, Name: "com.acme.Job", Kinds: "runnable"}, {ID: 3, Name: "com.acme.Tiny", Kinds: "runnable"}},
		Threads: []store.Thread{{ID: 1, JavaID: 1, OSID: 70, Name: "main", Group: "main"}, {ID: 2, JavaID: 2, OSID: 71, Name: "worker", Group: "main"}},
		Executions: []store.Execution{executed(1, 1, 300, 500), executed(1, 1, 100, 300), executed(2, 2, 100, 290),
			{TaskID: 9, Class: 1, Thread: 1, Flags: 2, StartNs: zero + 550*ms, WallNs: units.NotMeasured, SelfWallNs: units.NotMeasured, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured}}, // still running
		Summaries: []store.Summary{{Class: 3, Thread: 2, FromNs: zero, ToNs: zero + 600*ms, Executions: 5}},
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	if file != nil {
		if err := file.Write(w.Dir()); err != nil {
			t.Fatal(err)
		}
		if err := store.SealBeside(w.Dir(), store.BesideFiles()...); err != nil {
			t.Fatal(err)
		}
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func executed(thread, class uint32, from, to units.MonoNs) store.Execution {
	d := units.Ns((to - from) * ms)
	return store.Execution{TaskID: uint64(from)*100 + uint64(class), Class: class, Thread: thread, StartNs: zero + from*ms, EndNs: zero + to*ms,
		WallNs: d, SelfWallNs: d, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured}
}

func marks(at ...int) *marker.File {
	f := &marker.File{Version: marker.FileVersion, End: "done", Begin: "start"}
	for _, n := range at {
		m := marker.Marker{Begin: n < 0, Line: fmt.Sprint("line ", n)}
		m.At = zero + units.MonoNs(max(n, -n))*ms
		f.Markers = append(f.Markers, m)
	}
	return f
}

// spans is "1:0-100 2:..." in milliseconds since the start of the session.
func spans(all []Iteration) string {
	var out []string
	for _, i := range all {
		out = append(out, fmt.Sprintf("%d:%d-%d", i.Index, (i.From-zero)/ms, (i.To-zero)/ms))
	}
	return strings.Join(out, " ")
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, glob string
		file       *marker.File
		want       string
	}{
		{"named methods", "", nil, "1:100-300 2:300-500"},
		{"a class", "com.acme.J*", nil, "1:100-290"},
		{"a class although there are markers", "com.acme.Main#round", marks(50, 60), "1:100-300 2:300-500"},
		{"ends", "", marks(100, 250, 600), "1:0-100 2:100-250 3:250-600"},
		{"begins and ends", "", marks(-50, 100, -150, 250), "1:50-100 2:150-250"},
		{"the last begin before an end counts", "", marks(-50, -80, 100, 250), "1:80-100 2:100-250"},
		{"a begin without an end", "", marks(100, -150), "1:0-100"},
		{"an end after the agent's", "", marks(100, 601), "1:0-100 2:100-600"},
		{"of another JVM, after", "", marks(100, 600, 700), "1:0-100 2:100-600"},
	} {
		set, err := Find(made(t, c.file), c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := spans(set.All); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	before := marks(100)
	before.Markers[0].At = zero - 5*ms // of a JVM that ran before
	for _, c := range []struct {
		glob string
		file *marker.File
		want string
	}{
		{"com.other.*", nil, "nothing marks its iterations"},
		{"[", nil, "syntax error"},
		{"com.acme.Tiny", nil, "were summarised"},
		{"", marks(), `no line of the output matched --marker "done"`},
		{"", before, `no line of the output matched --marker "done"`},
	} {
		if set, err := Find(made(t, c.file), c.glob); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want %s", c.glob, set, err, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	set := &Set{Source: "lines"}
	for i, took := range []units.MonoNs{300, 110, 100, 101} {
		set.All = append(set.All, Iteration{Index: i + 1, From: zero, To: zero + took*ms})
	}
	never := &Set{All: set.All[:2:2]}
	never.All = append(never.All, Iteration{Index: 3, From: zero, To: zero + 200*ms})
	dropped := &Set{All: set.All, Dropped: 1}
	for _, c := range []struct {
		set        *Set
		word, want string
	}{
		{set, "1", "1"}, {set, "4", "4"}, {set, "last", "4"}, {set, "last:2", "3 4"}, {set, "warm", "3 4"}, {set, "4,1,4", "1 4"}, {set, "1,5", "iteration 1,5: it has 4 iterations"},
		{set, "5", "it has 4 iterations (lines)"}, {set, "last:5", "it has 4 iterations"},
		{never, "warm", "never got warm"}, {dropped, "2", "2"}, {dropped, "last", "1 marker after number 4 dropped"}, {dropped, "warm", "not known"},
	} {
		choice, err := ParseChoice(c.word)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := c.set.Choose(choice)
		got := []string{}
		for _, i := range chosen {
			got = append(got, fmt.Sprint(i.Index))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if have := strings.Join(got, " "); have != c.want && (err == nil || !strings.Contains(have, c.want)) {
			t.Errorf("%s: %s, want %s", c.word, have, c.want)
		}
	}
	for _, word := range []string{"", "0", "-1", "first", "last:", "last:0", "last:x", "last:1,2", "1,", "1,x", "warm:2", "99999999999999999999"} {
		if c, err := ParseChoice(word); !errors.Is(err, ErrChoice) {
			t.Errorf("%q: %v, %v", word, c, err)
		}
	}
}
