package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const committed = "../../../suite"

// The suites of this tree can be read, what they name is there, and their scripts are well formed.
func TestCommittedSuites(t *testing.T) {
	names := map[string]string{}
	for _, file := range []string{"programs.yaml", "frameworks.yaml"} {
		s, err := Read(filepath.Join(committed, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Programs {
			if other := names[p.Name]; other != "" {
				t.Errorf("%s and %s have a program %s: they would share a folder", other, file, p.Name)
			}
			names[p.Name] = file
			if p.What == "" || len(p.Prepare) == 0 || p.Small == p.Size {
				t.Errorf("%s: needs what:, prepare: and a small: that differs from size:", p.Name)
			}
			if s, err := os.Stat(filepath.Join(p.Dir, p.Prepare[0])); err != nil || s.Mode()&0o111 == 0 {
				t.Errorf("%s: %s is not a script that can run (%v)", p.Name, p.Prepare[0], err)
			}
		}
	}
}

// Programs of the evaluation have iterations, a result that is checked and a licence.
func TestCommittedPrograms(t *testing.T) {
	s, err := Read(filepath.Join(committed, "programs.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Programs) < 12 {
		t.Errorf("%d programs, want at least 12", len(s.Programs))
	}
	for _, p := range s.Programs {
		if !p.Uses("iterations") || p.Iterations < 2 || p.Marker.Kind != OutputMarker || !p.Marker.Line.MatchString("iteration 3 took 40 ms") {
			t.Errorf("%s: its command needs {iterations}, more than one, and a marker for the lines that its driver prints", p.Name)
		}
		if p.Check == nil || p.Check.MatchString("") || p.Licence == "" {
			t.Errorf("%s: needs check: and licence:", p.Name)
		}
		if _, err := os.Stat(filepath.Join(p.Dir, p.Name, "Main.java")); err != nil {
			t.Errorf("%s has no driver: %v", p.Name, err)
		}
	}
}

func TestCommittedScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(committed, "*", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 10 {
		t.Fatalf("found the scripts %q", scripts)
	}
	for _, s := range scripts {
		if out, err := exec.Command("sh", "-n", s).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s, err, out)
		}
		text, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(s) != "lib.sh" && !strings.HasPrefix(string(text), "#!/bin/sh\n# "+filepath.Base(s)) {
			t.Errorf("%s does not begin with a line that says what it does", s)
		}
	}
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		return // sh -n has checked the syntax
	}
	for _, s := range scripts { // in the suite's folder: the scripts source common/lib.sh
		cmd := exec.Command(shellcheck, "-x", "-s", "sh", "-S", "warning", strings.TrimPrefix(s, committed+"/"))
		cmd.Dir = committed
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%s", s, out)
		}
	}
}
