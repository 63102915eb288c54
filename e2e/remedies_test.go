package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/spool"
	"stackagent/internal/testjvm"
)

// What a message names as the next command works as it is printed, in a shell.

// asPrinted runs a command line in folder, where shadow is on the PATH.
func asPrinted(t *testing.T, folder, line string, env ...string) ended {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), append(env, "PATH="+filepath.Dir(testjvm.Shadow(t))+":"+os.Getenv("PATH"))...)
	return finish(t, cmd)
}

// awkward is a folder whose name a shell does not take as it is.
func awkward(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's here")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

var printedDeliver = regexp.MustCompile("`(shadow deliver [^`]*)` stores them")

// deliverLine is the command that an agent prints for what it could not deliver.
func deliverLine(t *testing.T, errs string) string {
	t.Helper()
	m := printedDeliver.FindAllStringSubmatch(errs, -1)
	if len(m) != 1 {
		t.Fatalf("no command, or several, to deliver what is left: %q", errs)
	}
	return m[0][1]
}

// shadow run is killed. The program ends by itself, and the command that its agent prints completes the session
// in the folder that run was given. Nothing else is left.
func TestRemedyRunKilled(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		tmp, gate := awkward(t), filepath.Join(t.TempDir(), "gate")
		dir := filepath.Join(t.TempDir(), "session")
		line := append([]string{testjvm.Shadow(t), "run", "-o", dir, "--"}, victim(t, jdk, "run", "20000", gate).Java()...)
		p := start(t, []string{tmpEnv + tmp}, line...)
		waitStoredMany(t, filepath.Join(dir, "*"), 1000)
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.says(t, "cannot be reached")
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, exit := p.end(t); exit != 128+9 || out != "ran 20000\n" {
			t.Errorf("exit %d, stdout %q", exit, out)
		}
		e := asPrinted(t, t.TempDir(), deliverLine(t, p.stderr.String()))
		if e.exit != 0 || !strings.Contains(e.err, " in "+dir) {
			t.Fatalf("%+v", e)
		}
		if e := shadow(t, "stats", dir); e.exit != 0 || strings.Contains(e.out+e.err, "incomplete") || !strings.Contains(e.out, "ended: cleanly") {
			t.Errorf("the session is incomplete: %+v", e)
		}
		sessions, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
		if len(sessions) != 1 {
			t.Fatalf("sessions: %v", sessions)
		}
		whole(t, filepath.Dir(sessions[0]), 20000)
		left, _ := os.ReadDir(tmp)
		for _, f := range left {
			if f.Name() != keptPlans {
				t.Errorf("left behind in %s: %s", tmp, f.Name())
			}
		}
	})
}

// A JVM has never found its bus. The command as printed stores its session in the folder that shadow serve has by
// default, and so does the command without a file.
func TestRemedyNoBus(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	for _, named := range []bool{true, false} {
		tmp, folder := awkward(t), t.TempDir()
		cmd := victim(t, jdk, "run", "3000")
		cmd.VM = []string{"-agentpath:" + testjvm.Library(t) + "=session=late,bus=nats://" + freeAddr(t)}
		cmd.Env = []string{tmpEnv + tmp}
		res := cmd.Plain(t)
		line := "shadow deliver"
		if named {
			line = deliverLine(t, res.Stderr)
		}
		if e := asPrinted(t, folder, line, tmpEnv+tmp); e.exit != 0 || !strings.Contains(e.err, "session late in shadow-store/late") {
			t.Fatalf("%s: %+v", line, e)
		}
		whole(t, filepath.Join(folder, "shadow-store", "late"), 3000)
		if left := spool.Files(spoolFolder(tmp)); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A file of a recording that still runs is not taken from it.
func TestRemedyStillRuns(t *testing.T) {
	testjvm.Shared(t)
	tmp, gate := awkward(t), filepath.Join(t.TempDir(), "gate")
	dir := filepath.Join(t.TempDir(), "session")
	line := append([]string{testjvm.Shadow(t), "run", "-o", dir, "--"}, victim(t, testjvm.JDKs(t)[0], "run", "3000", gate).Java()...)
	p := start(t, []string{tmpEnv + tmp}, line...)
	waitStoredMany(t, filepath.Join(dir, "*"), 1000)
	folders, _ := filepath.Glob(filepath.Join(tmp, "stackagent-*"))
	folders = slices.DeleteFunc(folders, func(f string) bool { return filepath.Base(f) == keptPlans })
	if len(folders) != 1 {
		t.Fatalf("folders of the recording: %v", folders)
	}
	file := filepath.Join(folders[0], "spool", "x.spool")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shadow(t, "deliver", file).oneLine(t, 1, "x.spool", "its shadow still runs")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, exit := p.end(t); exit != 0 {
		t.Errorf("exit %d: %s", exit, p.stderr.String())
	}
	whole(t, dir, 3000)
}

var printedNext = regexp.MustCompile(`(?m)^shadow: next: (shadow hotspots .*), or (shadow report .*)$`)

// What shadow run names as next works, whatever the folder is called.
func TestRemedyNext(t *testing.T) {
	testjvm.Shared(t)
	dir := filepath.Join(awkward(t), "a $HOME `session`")
	line := append([]string{testjvm.Shadow(t), "run", "-o", dir, "--"}, victim(t, testjvm.JDKs(t)[0], "run", "1000").Java()...)
	p := start(t, nil, line...)
	if _, exit := p.end(t); exit != 0 {
		t.Fatalf("exit %d: %s", exit, p.stderr.String())
	}
	m := printedNext.FindStringSubmatch(p.stderr.String())
	if m == nil {
		t.Fatalf("nothing is next: %s", p.stderr.String())
	}
	folder := t.TempDir()
	if e := asPrinted(t, folder, m[1]); e.exit != 0 || !strings.Contains(e.out, "Main$Job") {
		t.Errorf("%s: %+v", m[1], e)
	}
	if e := asPrinted(t, folder, m[2]); e.exit != 0 {
		t.Errorf("%s: %+v", m[2], e)
	}
	if _, err := os.Stat(filepath.Join(folder, "report.html")); err != nil {
		t.Error(err)
	}
}
