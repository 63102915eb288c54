package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// contextSession is a session in which one event in ten was looked at: an
// execution and a submission, one of them with a frame that is not known.
func contextSession(t *testing.T) string {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.Contexts = &store.ContextSampling{Every: 10, Taken: 5}
	err = w.Commit(&store.Part{
		Range:    store.Range{From: 1, To: 1},
		Classes:  []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}, {ID: 2, Name: "java.util.X", Kinds: "runnable,jdk"}},
		Frames:   []store.Frame{{ID: 1, Class: "a.Main", Method: "main", File: "Main.java", Line: 3}, {ID: 2, Class: "a.Job", Method: "run"}},
		Contexts: []store.Context{{ID: 1, Kind: store.ContextExecution, Class: 1, Frames: []uint32{2, 7, 1}}, {ID: 2, Kind: store.ContextSubmission, Class: 2, Cut: true, Frames: []uint32{1}}},
		ContextSums: []store.ContextSum{{ID: 1, Count: 2, SelfWallNs: 7000, Measured: 2, SelfCPUNs: 5000},
			{ID: 2, Count: 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func TestContextListing(t *testing.T) {
	dir := contextSession(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--by", "context"}, []string{"~50.0 µs", "~70.0 µs", "~20", "a.Job < a.Job.run < (frame unknown) < a.Main.main:3", "~30", "java.util.X < a.Main.main:3 < (deeper frames not recorded)"}},
		{[]string{"--by", "context", "--format", "json", "--app"}, []string{`"sampled": 2`, `"estimated": true`, `"count": 20`, `"self_wall_ns": 70000`, "null"}},
		{[]string{"--by", "context", "--format", "csv"}, []string{"execution,a.Job,20,2,true,70000,50000,false,a.Main.main;(frame unknown);a.Job.run;a.Job", "submission,java.util.X,30,3,true,,,true,"}},
		{[]string{"--format", "collapsed"}, []string{"a.Main.main;(frame unknown);a.Job.run;a.Job 50\n"}},
	} {
		code, out, errs := shadow(t, nil, append([]string{"hotspots", dir}, c.args...)...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: exit %d, %s\n%s\ndoes not hold %q", c.args, code, errs, out, want)
			}
		}
	}
	_, out, _ := shadow(t, nil, "hotspots", dir, "--by", "context", "--app")
	if strings.Contains(out, "java.util.X") {
		t.Errorf("--app shows a class of the JDK:\n%s", out)
	}
	for _, wrong := range [][]string{{"--sort", "p99"}, {"--units"}} {
		if code, _, errs := shadow(t, nil, append([]string{"hotspots", dir, "--by", "context"}, wrong...)...); code != 2 {
			t.Errorf("%v: exit %d, %s", wrong, code, errs)
		}
	}
}

func TestContextProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	if code, _, errs := shadow(t, nil, "hotspots", contextSession(t), "--format", "pprof", "-o", file); code != 0 || !strings.Contains(errs, "estimates") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if p.DefaultSampleType != "self_cpu" || len(p.Comments) != 2 || !strings.Contains(p.Comments[1], "one event in 10") {
		t.Errorf("default %s, comments %q", p.DefaultSampleType, p.Comments)
	}
	values := map[string][]int64{} // creations, submissions, executions, wall, CPU
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		values[strings.Join(names, " < ")] = s.Value
	}
	for stack, want := range map[string][]int64{
		"a.Job < a.Job.run < (frame unknown) < a.Main.main":        {0, 0, 20, 70000, 50000},
		"java.util.X < a.Main.main < (deeper frames not recorded)": {0, 30, 0, 0, 0},
	} {
		if !slices.Equal(values[stack], want) {
			t.Errorf("%s: %v, want %v; there are %v", stack, values[stack], want, values)
		}
	}
}

func TestNoContextsRecorded(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(&store.Part{Range: store.Range{From: 1, To: 1}}); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := shadow(t, nil, "hotspots", w.Dir(), "--by", "context"); code != 1 || !strings.Contains(errs, "--contexts") {
		t.Errorf("exit %d: %s", code, errs)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Contexts(); !errors.Is(err, session.ErrNoContexts) {
		t.Error(err)
	}
}
