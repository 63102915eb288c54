package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc"
	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/store"
)

// mark puts output markers into a session, at these milliseconds since its start.
func mark(t *testing.T, dir string, at ...units.MonoNs) {
	t.Helper()
	f := marker.File{Version: marker.FileVersion, End: "done"}
	for _, n := range at {
		f.Markers = append(f.Markers, marker.Marker{At: 1_000*ms + n*ms, Stream: "stdout", Line: "done"})
	}
	if err := errors.Join(f.Write(dir), store.SealBeside(dir, store.BesideFiles()...)); err != nil {
		t.Fatal(err)
	}
}

// TestRunMarker: the output stays as it is, and each JVM's session has the markers, sealed.
func TestRunMarker(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	program := fakeJava(t, "jvm")
	script := program + ` a; printf 'round 1\nerr round 2' >&2; printf 'round\0\377 3\r\n'; ` + program + " round; printf 'no round 4'; exit 7"
	code, out, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "--agent", agentLibrary(t), "-q", "-o", dir,
		"--marker", `^(err )?round`, "--marker-begin", "^args", "--", "sh", "-c", script)
	if want := "args a\nround\x00\xff 3\r\nargs round\nno round 4"; code != 7 || out != want || errs != "round 1\nerr round 2" {
		t.Fatalf("exit %d, stdout %q, want %q, stderr %q", code, out, want, errs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, want 2 sessions: %v", len(entries), err)
	}
	for _, e := range entries {
		one := filepath.Join(dir, e.Name())
		f, err := marker.Read(one)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, m := range f.Markers {
			if m.Begin {
				m.Line = "+" + m.Line
			}
			got[m.Stream+" "+m.Line]++
		}
		for _, want := range []string{"stdout +args a", "stderr round 1", "stdout round\x00? 3", "stderr err round 2", "stdout +args round"} {
			if got[want] != 1 {
				t.Errorf("no marker %q in %v", want, got)
			}
		}
		if len(f.Markers) != 5 {
			t.Errorf("%d markers, want 5: %v", len(f.Markers), got)
		}
		if err := os.Remove(filepath.Join(one, marker.FileName)); err != nil {
			t.Fatal(err)
		}
		if _, err := session.Open(one); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("without its markers: %v", err)
		}
	}
}

// TestNoMarker: a text that is not an expression, or one that begins iterations that nothing ends, is wrong usage.
func TestNoMarker(t *testing.T) {
	for _, args := range [][]string{{"--marker", "("}, {"--marker-begin", "x"}, {"--marker", "x", "--marker-begin", "["}} {
		code, _, errs := shadow(t, nil, append(append([]string{"run"}, args...), "--", "true")...)
		if code != console.ExitUsage || !strings.Contains(errs, "--marker") {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}

// TestMarkerFile: the session has the markers that the program wrote during the run; what else is there is said, and not taken.
func TestMarkerFile(t *testing.T) {
	file := func(at ...units.MonoNs) *marker.File {
		f := &marker.File{Version: marker.FileVersion, End: "a test ended"}
		for _, a := range at {
			f.Markers = append(f.Markers, marker.Marker{At: a})
		}
		return f
	}
	for _, c := range []struct {
		name, note string
		before     *marker.File
		writes     bool
	}{
		{"written", "", nil, true},
		{"written anew", "", file(5), true},
		{"left over", "is older than this run", file(proc.Now()), false},
		{"missing", "the program did not write", nil, false},
	} {
		dir := t.TempDir()
		path, environ := filepath.Join(dir, "m.json"), []string{fakeVariable + "=exit 0"}
		if c.before != nil {
			if err := hpc.WriteJSON(path, c.before); err != nil {
				t.Fatal(err)
			}
		}
		if c.writes {
			environ = append(environ, fakeMarkers+"="+path)
		}
		code, _, errs := shadow(t, environ, "run", "--agent", agentLibrary(t), "-q", "-o", filepath.Join(dir, "s"), "--marker-file", path, "--", fakeJava(t, "java"))
		if code != 0 || c.note == "" && strings.Contains(errs, "iterations") || !strings.Contains(errs, c.note) {
			t.Errorf("%s: exit %d: %s", c.name, code, errs)
		}
		if f, err := marker.Read(filepath.Join(dir, "s")); err != nil || (f != nil) != c.writes {
			t.Errorf("%s: the session has %v, %v", c.name, f, err)
		}
	}
	folder := t.TempDir()
	fifo := filepath.Join(folder, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/null", folder, fifo} {
		code, _, errs := shadow(t, nil, "run", "--marker-file", path, "--", "true")
		if code != console.ExitUsage || !strings.Contains(errs, path+" is no regular file") {
			t.Errorf("%s: exit %d: %s", path, code, errs)
		}
	}
}

// TestIterationFlags: the window is that of the iterations, each graph that of one.
func TestIterationFlags(t *testing.T) {
	dir := recorded(t)
	mark(t, dir, 20, 40, 60)
	type graph struct {
		Iteration int
		FromNs    units.MonoNs `json:"from_ns"`
		ToNs      units.MonoNs `json:"to_ns"`
		BusyNs    units.Ns     `json:"busy_ns"`
		Threads   []struct {
			Kind  string
			Width float64
		}
	}
	graphs := func(into any, args ...string) {
		t.Helper()
		code, out, errs := shadow(t, nil, append([]string{"bottle", dir, "--format", "json"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	var one graph
	graphs(&one, "--iteration", "last:2")
	if one.FromNs != 1_020*ms || one.ToNs != 1_060*ms || one.BusyNs != 25*ms || one.Iteration != 0 {
		t.Errorf("the last two: %+v", one)
	}
	var each []graph
	graphs(&each, "--each-iteration")
	if len(each) != 3 {
		t.Fatalf("%d graphs, want 3", len(each))
	}
	for i, busy := range []units.Ns{20 * ms, 20 * ms, 5 * ms} {
		g := each[i]
		if g.Iteration != i+1 || g.FromNs != 1_000*ms+units.MonoNs(i)*20*ms || g.ToNs != g.FromNs+20*ms || g.BusyNs != busy {
			t.Errorf("graph %d: %+v, want %d busy", i+1, g, busy)
		}
		for _, b := range g.Threads { // in the first iteration each thread runs alone, in the second both
			if want := []float64{1, 2, 1}[i]; b.Width != want {
				t.Errorf("in iteration %d a thread of kind %s has width %g, want %g", i+1, b.Kind, b.Width, want)
			}
		}
	}
	graphs(&each, "--each-iteration", "--iteration", "1,3")
	if len(each) != 2 || each[1].Iteration != 3 || each[1].FromNs != 1_040*ms {
		t.Errorf("of iterations 1 and 3: %+v", each)
	}
	graphs(&each, "--each-iteration", "--iteration", "2")
	if len(each) != 1 || each[0].Iteration != 2 {
		t.Errorf("of iteration 2: %+v", each)
	}
	// Of the jobs three start in the first 20 ms, after 2, 13 and 19, and two in the next.
	for choice, want := range map[string]string{"1": ",simple,,3,", "2": ",simple,,2,", "last:3": ",simple,,5,"} {
		code, out, errs := shadow(t, nil, "latency", dir, "--class", "com.acme.Job", "--iteration", choice, "--format", "csv")
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("latency in iteration %s: exit %d: %s%s", choice, code, out, errs)
		}
	}
	// All three iterations of dir are equally long; the first of other is twice as long as the second.
	other := recorded(t)
	mark(t, other, 40, 60)
	code, _, errs := shadow(t, nil, "stack", dir, other, "--iteration", "warm")
	if code != 0 || !strings.Contains(errs, "compares the last iteration of each session") {
		t.Errorf("warm iterations of two sessions: exit %d: %s", code, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"latency", dir, "--class", "com.acme.Job", "--iteration", "3"}, 1, "starts in --iteration 3"},
		{[]string{"gc", dir, "--iteration", "1,3"}, 1, "other iterations lie between"},
		{[]string{"stack", dir, other, "--region", "markers"}, 1, "choose as many of each"},
		{[]string{"lbo", "--iteration", "warm", "--", "java", "x"}, console.ExitUsage, "use last:N"},
		{[]string{"scale", "--threads", "1", "--iteration", "warm", "--", "java", "{threads}"}, console.ExitUsage, "use last:N"},
		{[]string{"bottle", dir, "--iteration", "4"}, 1, "it has 3 iterations"},
		{[]string{"gc", dir, "--iteration", "0"}, console.ExitUsage, "use numbers from 1"},
		{[]string{"gc", dir, "--iteration", "1", "--to", "5ms"}, console.ExitUsage, "without --from and --to"},
		{[]string{"stack", dir, "--iteration", "1", "--region", "last:1"}, console.ExitUsage, "without --region"},
		{[]string{"stack", dir, "--iterations-of", "["}, console.ExitUsage, "syntax error"},
		{[]string{"bottle", dir, "--each-iteration", "--every", "5ms"}, console.ExitUsage, "use one of them"},
		{[]string{"bottle", recorded(t), "--iteration", "1"}, 1, "shadow run --marker"},
		{[]string{"bottle", dir, "--each-iteration", "--iterations-of", "*"}, 1, "at the same time"},
	} {
		if code, _, errs := shadow(t, nil, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, want %d: %s", c.args, code, c.code, errs)
		}
	}
}
