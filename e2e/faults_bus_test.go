package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// lines counts and checks what the agent said.
func agentLines(t *testing.T, stderr string, most int, wants ...string) {
	t.Helper()
	n := strings.Count(stderr, "\n")
	if n < 1 || n > most || strings.Count(stderr, "stackagent: ") != n {
		t.Errorf("%d lines on stderr, want 1 to %d of the agent: %q", n, most, stderr)
	}
	for _, want := range wants {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q: %q", want, stderr)
		}
	}
}

// No bus at all: the program's output and exit code are its own, one or two
// lines say what is missing and what to do, and its exit is hardly later.
func TestFaultNoBus(t *testing.T) {
	testjvm.Alone(t, "it compares run times")
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		cmd := victim(t, jdk, "exit", "7")
		with := cmd
		with.VM = []string{agentFlag(t, "bus=nats://"+freeAddr(t))}
		testjvm.OneGood(t, func(a *testjvm.Attempt) {
			plain, res := cmd.Plain(t), with.Plain(t)
			if res.Exit != 7 || res.Stdout != "ran 100\n" {
				t.Errorf("exit %d, stdout %q", res.Exit, res.Stdout)
			}
			agentLines(t, res.Stderr, 2, "cannot be reached", "are kept in", "shadow deliver")
			t.Logf("%v without the agent, %v with it and no bus", plain.Wall, res.Wall)
			if res.Wall > plain.Wall+2*time.Second {
				a.Errorf("%v without a bus, %v without the agent", res.Wall, plain.Wall)
			}
		})
	})
}

// served starts a program with n jobs on a new shadow serve. Each is recorded,
// so that there is much to store. The second half of the jobs waits for open.
func served(t *testing.T, jdk testjvm.JDK, store string, n int64) (s *server, java *process, open func()) {
	t.Helper()
	s = serve(t, freeAddr(t), store)
	gate, open := newGate(t)
	cmd := victim(t, jdk, "run", strconv.FormatInt(n, 10), gate)
	cmd.VM = []string{agentFlag(t, "bus=nats://"+s.addr, "tokenfile="+filepath.Join(store, "token"), "session=job", "detail=all")}
	return s, start(t, nil, cmd.Java()...), open
}

// newGate is a file for which a program waits, so that it is at
// work when something happens to it, however slow the machine; open makes it.
func newGate(t *testing.T) (path string, open func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "gate")
	return path, func() {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// waitStored waits until 5,000 executions of the session, whose folder
// fits the pattern, are stored.
func waitStored(t *testing.T, pattern string) {
	t.Helper()
	waitStoredMany(t, pattern, 5000)
}

func waitStoredMany(t *testing.T, pattern string, executions int64) {
	t.Helper()
	waitFor(t, "something is stored in "+pattern, func() bool {
		found, _ := filepath.Glob(filepath.Join(pattern, "manifest.json"))
		return len(found) > 0 && readManifest(t, filepath.Dir(found[0])).Stored.Executions >= executions
	})
}

// The shadow is killed in mid-run and does not come back: the program runs to
// its end, and what had been stored or taken by the bus can be read.
func TestFaultBusDies(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		store := filepath.Join(t.TempDir(), "store")
		dir := filepath.Join(store, "job")
		s, java, open := served(t, jdk, store, 1_000_000)
		waitStored(t, dir)
		s.kill(t)
		open()
		began := time.Now()
		if out, exit := java.end(t); exit != 0 || out != "ran 1000000\n" {
			t.Errorf("exit %d, stdout %q", exit, out)
		}
		t.Logf("ended %v after the shadow", time.Since(began))
		agentLines(t, java.stderr.String(), 2, "cannot be reached", "are kept in", "shadow deliver")
		if r := readable(t, dir); r.Executions < 1 {
			t.Error("nothing of what had been stored can be read")
		}
		// A later shadow on the same store stores what the dead one's bus had.
		before := readable(t, dir).Executions
		s = serve(t, s.addr, store)
		s.says(t, "page http")
		s.stop(t)
		if r := readable(t, dir); r.Executions < before || r.Executions > 1_000_000 {
			t.Errorf("%d executions, %d before", r.Executions, before)
		}
		if m := readManifest(t, dir); m.Ended == "exit" {
			t.Error("a session without its end claims to be whole")
		}
	})
}

// The shadow is killed in mid-run and comes back on the same port and store:
// everything is there or counted.
func TestFaultBusRestarts(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		const n = 600_000
		store := filepath.Join(t.TempDir(), "store")
		dir := filepath.Join(store, "job")
		s, java, open := served(t, jdk, store, n)
		waitStored(t, dir)
		s.kill(t)
		open()
		time.Sleep(300 * time.Millisecond)
		s = serve(t, s.addr, store)
		if out, exit := java.end(t); exit != 0 || out != fmt.Sprintf("ran %d\n", n) {
			t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
		}
		deliverKept(t, s, java.stderr.String())
		waitEnded(t, dir)
		s.stop(t)
		whole(t, dir, n)
		if m := readManifest(t, dir); m.Lost.Events != 0 {
			t.Logf("%d events lost, counted", m.Lost.Events)
		}
	})
}

// smallDisk mounts a file system of mib MiB.
func smallDisk(t *testing.T, mib int, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(mib)+"m"+options); err != nil {
		t.Skipf("mounting a small file system (needs root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill takes all the space that is left; it returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// The disk is full for a while: the shadow says so, continues by itself when
// there is space, and nothing is lost that is not counted.
func TestFaultDiskFull(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		const n = 2_000_000
		disk := smallDisk(t, 100, "")
		dir := filepath.Join(disk, "s")
		gate, open := newGate(t)
		line := append([]string{testjvm.Shadow(t), "run", "--detail", "all", "-o", dir, "--"}, victim(t, jdk, "run", strconv.Itoa(n), gate).Java()...)
		p := start(t, nil, line...)
		waitStored(t, filepath.Join(dir, "*"))
		free := fill(t, disk)
		open()
		p.says(t, "disk is full; make space")
		free()
		if out, exit := p.end(t); exit != 0 || out != "ran 2000000\n" {
			t.Errorf("exit %d, stdout %q", exit, out)
		}
		saysFullOnce(t, p.stderr.String())
		whole(t, dir, n)
	})
}

// saysFullOnce checks that each of the two who need the disk has said at most once that it is full: who stores the
// session, if there was something to store then, and the bus, if it was given something.
func saysFullOnce(t *testing.T, errs string) {
	t.Helper()
	store, again := strings.Count(errs, ": the disk is full; make space"), strings.Count(errs, "storing works again")
	bus := strings.Count(errs, "the bus takes no batches: its disk is full; make space")
	if store > 1 || again != store || bus > 1 || store+bus == 0 {
		t.Errorf("a full disk is said %d times by the store (%d times that it has space again) and %d times by the bus:\n%s", store, again, bus, errs)
	}
}

// The same in shadow serve, and the disk stays full until after the program's
// end: the program is unharmed, what had been stored can be read, and with
// space again the shadow stores the rest.
func TestFaultDiskStaysFull(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	disk := smallDisk(t, 100, "")
	dir := filepath.Join(disk, "store", "job")
	s, java, open := served(t, jdk, filepath.Join(disk, "store"), 1_000_000)
	waitStored(t, dir)
	free := fill(t, disk)
	open()
	if out, exit := java.end(t); exit != 0 || out != "ran 1000000\n" {
		t.Errorf("exit %d, stdout %q", exit, out)
	}
	before := readable(t, dir).Executions
	if before < 1 {
		t.Error("nothing of what had been stored can be read")
	}
	s.says(t, "disk is full; make space")
	free()
	s.says(t, " again\n")
	waitFor(t, "all who said that the disk is full say that it is not", func() bool {
		errs := s.stderr.String()
		return strings.Count(errs, "disk is full") == strings.Count(errs, " again\n")
	})
	s.stop(t)
	saysFullOnce(t, s.stderr.String())
	if r := readable(t, dir); r.Executions < before {
		t.Errorf("%d executions, %d before", r.Executions, before)
	}
}

// shadow run with too little space, or a folder that cannot be written to,
// says so at once and does not start the program.
func TestFaultFolder(t *testing.T) {
	testjvm.Shared(t)
	java := javaHome(t, "echo started", "")
	shadow(t, "run", "-o", filepath.Join(smallDisk(t, 8, ""), "s"), "--", java).
		oneLine(t, 1, "no space for a session", "choose another folder with -o")
	disk := smallDisk(t, 100, "")
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{disk, filepath.Join(disk, "s")} {
		e := shadow(t, "run", "-o", dir, "--", java)
		e.oneLine(t, 1, "read-only file system", "choose another")
		if e.out != "" {
			t.Errorf("the program was started: %q", e.out)
		}
	}
	shadow(t, "serve", "--store", filepath.Join(disk, "store"), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0").
		oneLine(t, 1, "read-only file system", "--store")
}
