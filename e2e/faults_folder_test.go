package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"stackagent/internal/testjvm"
)

// edit changes a file of a session.
var versionRE = regexp.MustCompile(`"version": \d+,`)

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// part is the only part of a table.
func part(t *testing.T, dir, table string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(dir, table+"-*.parquet"))
	if len(found) == 0 {
		t.Fatalf("no part of %s in %s", table, dir)
	}
	largest, size := "", int64(-1)
	for _, f := range found {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = f, info.Size()
		}
	}
	return largest
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Folders that cannot be read as a session: one line, exit code 1.
func TestFaultNoSession(t *testing.T) {
	testjvm.Shared(t)
	good := victim(t, testjvm.JDKs(t)[0], "run", "5000").Profile(t).Dir
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	cases := []struct {
		name   string
		damage func(dir string)
		wants  []string
	}{
		{"no manifest", func(dir string) { os.Remove(filepath.Join(dir, "manifest.json")) }, []string{"not a session folder", "there is no manifest.json"}},
		{"newer", func(dir string) {
			edit(t, filepath.Join(dir, "manifest.json"), func(b []byte) []byte { return versionRE.ReplaceAll(b, []byte(`"version": 99,`)) })
		}, []string{"newer version", "99", "update"}},
		{"truncated manifest", func(dir string) { edit(t, filepath.Join(dir, "manifest.json"), cut) }, []string{"manifest is damaged", "restore it"}},
		{"empty manifest", func(dir string) { edit(t, filepath.Join(dir, "manifest.json"), func([]byte) []byte { return nil }) }, []string{"manifest is damaged"}},
		{"another program's", func(dir string) {
			edit(t, filepath.Join(dir, "manifest.json"), func([]byte) []byte { return []byte(`{"manifest_version": 3}`) })
		}, []string{"not a session folder"}},
		{"gone", func(dir string) { os.RemoveAll(dir) }, []string{"there is no", "name the folder"}},
	}
	for _, c := range cases {
		dir := copyOf(t, good)
		c.damage(dir)
		for _, verb := range []string{"stats", "hotspots", "tasks", "threads", "report"} {
			e := shadow(t, verb, dir)
			e.oneLine(t, 1, append(c.wants, filepath.Base(dir))...)
			if t.Failed() || e.out != "" {
				t.Fatalf("%s, shadow %s: %+v", c.name, verb, e)
			}
		}
	}
	shadow(t, "stats", filepath.Join(good, "manifest.json")).oneLine(t, 1, "it is a file")
	if e := shadow(t, "stats"); e.exit != 2 {
		t.Errorf("no folder named: exit %d", e.exit)
	}
}

// Another user's session: one line that names the folder.
func TestFaultUnreadable(t *testing.T) {
	testjvm.Shared(t)
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	const nobody = 65534
	good := victim(t, testjvm.JDKs(t)[0], "run", "1000").Profile(t).Dir
	public, err := os.MkdirTemp("", "faults-") // not below a folder of this user alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(public)
	if err := os.Chmod(public, 0o755); err != nil {
		t.Fatal(err)
	}
	bin, dir := filepath.Join(public, "shadow"), filepath.Join(public, "session")
	b, err := os.ReadFile(testjvm.Shadow(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "stats", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	finish(t, cmd).oneLine(t, 1, dir, "permission denied")
}

// Damaged and missing parts: one line and exit code 1. With --damaged the rest is
// read, what is missing is reported and counted as lost, never as zero.
func TestFaultDamagedParts(t *testing.T) {
	testjvm.Shared(t)
	good := victim(t, testjvm.JDKs(t)[0], "run", "20000").Profile(t).Dir
	executions := readManifest(t, good).Stored.Executions
	cases := []struct {
		name, table string
		damage      func(path string)
		events      bool   // executions or creations are lost
		wants       string // of what --damaged says
	}{
		{"missing", "executions", func(p string) { os.Remove(p) }, true, "rows of executions are missing"},
		{"truncated", "executions", func(p string) { edit(t, p, func(b []byte) []byte { return b[:len(b)/2] }) }, true, "is damaged"},
		{"corrupted", "executions", func(p string) { edit(t, p, scramble) }, true, "is damaged"},
		{"empty", "creations", func(p string) { edit(t, p, func([]byte) []byte { return nil }) }, true, "is damaged"},
		{"missing", "creations", func(p string) { os.Remove(p) }, true, "rows of creations are missing"},
		{"missing", "classes", func(p string) { os.Remove(p) }, false, "rows of classes are missing"},
		{"missing", "threads", func(p string) { os.Remove(p) }, false, "rows of threads are missing"},
		{"corrupted", "threads", func(p string) { edit(t, p, func(b []byte) []byte { return b[:10] }) }, false, "is damaged"},
	}
	for _, c := range cases {
		t.Run(c.name+" "+c.table, func(t *testing.T) {
			dir := copyOf(t, good)
			part := part(t, dir, c.table)
			c.damage(part)
			for _, line := range [][]string{{"stats", dir}, {"hotspots", dir}, {"tasks", dir, "--format", "csv"}, {"threads", dir}, {"report", dir, "-o", filepath.Join(dir, "r.html")}} {
				shadow(t, line...).oneLine(t, 1, filepath.Base(part), "--damaged")
				e := shadow(t, append(line, "--damaged")...)
				if e.exit != 0 || !strings.Contains(e.err, c.wants) {
					t.Errorf("shadow %s: exit %d, stderr %q, want %q", line[0], e.exit, e.err, c.wants)
				}
			}
			s := statsOfDamaged(t, dir)
			if s.NotAvailable["totals"] == "" {
				t.Error("the totals are not marked")
			}
			if c.events != (s.Lost.Events > 0) {
				t.Errorf("%d events lost", s.Lost.Events)
			}
			if c.table == "executions" && s.Tasks.Executions+s.Lost.Events != executions {
				t.Errorf("%d executions and %d lost of %d", s.Tasks.Executions, s.Lost.Events, executions)
			}
		})
	}
}

// statsOfDamaged is what is left of a session.
func statsOfDamaged(t *testing.T, dir string) (s testjvm.Stats) {
	t.Helper()
	e := shadow(t, "stats", dir, "--format", "json", "--damaged")
	if err := json.Unmarshal([]byte(e.out), &s); e.exit != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", e.exit, err, e.err)
	}
	return s
}

// scramble overwrites the middle of a file and leaves its footer whole.
func scramble(b []byte) []byte {
	for i := len(b) / 4; i < len(b)/2; i++ {
		b[i] ^= byte(i*7 + 1)
	}
	return b
}
