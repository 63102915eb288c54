package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stackagent/hpc"
	"stackagent/internal/testjvm"
)

func init() { testjvm.BecomeRefused() }

// stranger is an ordinary user's folder with the command in it, which need not
// be able to read the source tree.
type stranger struct {
	dir     string
	refused bool // the kernel refuses it perf, too
}

func newStranger(t *testing.T, refused bool) *stranger {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	s := &stranger{dir: testjvm.OpenFolder(t), refused: refused}
	s.copy(t, testjvm.Shadow(t), "shadow")
	s.copy(t, testjvm.Library(t), "libstackagent.so")
	s.copy(t, "/proc/self/exe", "test")
	return s
}

func (s *stranger) copy(t *testing.T, from, name string) {
	t.Helper()
	testjvm.CopyProgram(t, from, filepath.Join(s.dir, name))
}

// shadow runs the command as nobody.
func (s *stranger) shadow(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	line := append([]string{filepath.Join(s.dir, "shadow")}, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "TMPDIR="+s.dir)
	if s.refused {
		cmd = exec.Command(filepath.Join(s.dir, "test"), line...)
		cmd.Env = append(os.Environ(), "HOME="+s.dir, "TMPDIR="+s.dir, testjvm.RefusedVariable+"=1")
	}
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), testjvm.ExitCode(cmd.ProcessState)
}

// TestOrdinaryUser: who is not root records all tasks. What the kernel does not
// let one see is named with its remedy, by `run`'s session and by `doctor`; the
// verbs that need it say so and fail, the others do without.
func TestOrdinaryUser(t *testing.T) {
	testjvm.Shared(t)
	for name, refused := range map[string]bool{"nobody": false, "nobody, perf_event_paranoid 4": true} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t, refused)
			jdk := testjvm.JDKs(t)[0]
			s.needs(t, jdk.Tool("java"), "-version")
			classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "scale"))
			found, err := filepath.Glob(filepath.Join(classes, "*.class"))
			if err != nil || len(found) == 0 {
				t.Fatalf("%v, %v", found, err)
			}
			for _, path := range found {
				s.copy(t, path, filepath.Base(path))
			}
			dir := filepath.Join(s.dir, "session")
			_, errs, exit := s.shadow(t, "run", "-o", dir, "--", jdk.Tool("java"), "-Xmx64m", "-cp", s.dir, "Main", "2", "sleep", "20")
			if exit != 0 {
				t.Fatalf("shadow run: exit %d\n%s", exit, errs)
			}
			s.checkTasks(t, dir)
			s.checkThreads(t, dir, s.sight(t))
		})
	}
}

// needs skips the test where a program is closed to ordinary users.
func (s *stranger) needs(t *testing.T, line ...string) {
	t.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("not for an ordinary user on this machine: %v: %v\n%s", line, err, out)
	}
}

func (s *stranger) checkTasks(t *testing.T, dir string) {
	t.Helper()
	out, errs, exit := s.shadow(t, "stats", dir, "--format", "json")
	var stats testjvm.Stats
	if err := json.Unmarshal([]byte(out), &stats); err != nil || exit != 0 {
		t.Fatalf("shadow stats: exit %d, %v\n%s", exit, err, errs)
	}
	const workers = 2 // beside them there are the JDK's own threads, which may have no end
	if stats.Tasks.Executions < workers || stats.Lost.Events != 0 || stats.Metrics["cpu_ns"].Count < workers {
		t.Errorf("%+v lost %+v, CPU times of %d", stats.Tasks, stats.Lost, stats.Metrics["cpu_ns"].Count)
	}
}

// sight is whether perf shows the scheduler to this user, as doctor says; what it
// refuses must have a reason and a remedy.
func (s *stranger) sight(t *testing.T) (perf bool) {
	t.Helper()
	out, errs, _ := s.shadow(t, "doctor", "--format", "json") // it fails where it finds no JVM
	var all []hpc.Facility
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("shadow doctor: %v\n%s%s", err, out, errs)
	}
	seen := map[string]hpc.Facility{}
	for _, f := range all {
		seen[f.Name] = f
		if strings.HasPrefix(f.Name, "scheduling by") && f.Available != hpc.Yes && (f.Detail == "" || f.Remedy == "") {
			t.Errorf("without a reason or a remedy: %+v", f)
		}
	}
	if f := seen["scheduling by eBPF"]; f.Available != hpc.No {
		t.Errorf("eBPF for an ordinary user: %+v", f)
	}
	f := seen["scheduling by perf"]
	if s.refused && f.Available != hpc.No {
		t.Errorf("perf where the kernel refuses it: %+v", f)
	}
	return f.Available == hpc.Yes
}

// checkThreads: threads are listed in any case, with times if perf is there.
func (s *stranger) checkThreads(t *testing.T, dir string, perf bool) {
	t.Helper()
	out, errs, exit := s.shadow(t, "threads", dir)
	if exit != 0 || !strings.Contains(out, "worker-0") {
		t.Errorf("shadow threads: exit %d\n%s%s", exit, out, errs)
	}
	_, why, exit := s.shadow(t, "bottle", dir)
	if perf {
		if exit != 0 || !strings.Contains(errs, "times by perf") {
			t.Errorf("shadow bottle: exit %d: %s\nshadow threads: %s", exit, why, errs)
		}
		return
	}
	for verb, text := range map[string]string{"threads": errs, "bottle": why} {
		if !strings.Contains(text, "scheduling record") || !strings.Contains(text, "as root") {
			t.Errorf("shadow %s does not say why there is no scheduling record, and what to do: %s", verb, text)
		}
	}
	if exit != 1 {
		t.Errorf("shadow bottle without a record: exit %d: %s", exit, why)
	}
}
