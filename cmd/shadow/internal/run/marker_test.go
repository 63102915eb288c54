package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc"
	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/shadow/session/logs/marker"
)

// TestWatched: without --marker the command has the shadow's own streams.
func TestWatched(t *testing.T) {
	env := console.Env{Out: os.Stdout, Err: os.Stderr}
	out, errs, done := watched(env, (&markerFlags{}).recorder())
	done()
	if out != env.Out || errs != env.Err {
		t.Error("the command's output goes through the shadow")
	}
}

// TestMarkersOfNoRun: a file without markers of this run is refused, and why is said.
func TestMarkersOfNoRun(t *testing.T) {
	file := func(at ...units.MonoNs) *marker.File {
		f := &marker.File{Version: marker.FileVersion, End: "a test ended"}
		for _, a := range at {
			f.Markers = append(f.Markers, marker.Marker{At: a})
		}
		return f
	}
	m := markerFlags{file: filepath.Join(t.TempDir(), "m.json")}
	for _, c := range []struct {
		file *marker.File
		want string
	}{
		{file(), "has no markers"},
		{file(1, 2), "of another time"},
		{file(proc.Now(), proc.Now()+1e15), "of another time"},
		{&marker.File{Version: 9}, "version 9"},
	} {
		own := m.own()
		if err := hpc.WriteJSON(m.file, c.file); err != nil {
			t.Fatal(err)
		}
		if f, err := own.read(); f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, %v; want %s", c.file, f, err, c.want)
		}
	}
}
