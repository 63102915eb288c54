package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/spool"
	"stackagent/internal/testjvm"
)

// withoutBus runs n jobs to the end with no bus; the agent's default folder is
// in the temporary folder tmp.
func withoutBus(t *testing.T, jdk testjvm.JDK, tmp string, n string, settings ...string) {
	t.Helper()
	cmd := victim(t, jdk, "run", n)
	cmd.VM = []string{"-agentpath:" + testjvm.Library(t) + "=" + strings.Join(settings, ",")}
	cmd.Env = []string{tmpEnv + tmp}
	res := cmd.Plain(t)
	if res.Exit != 0 || res.Stdout != "ran "+n+"\n" {
		t.Fatalf("exit %d, stdout %q\n%s", res.Exit, res.Stdout, res.Stderr)
	}
	if !strings.Contains(res.Stderr, "are kept in "+tmp) || !strings.Contains(res.Stderr, "shadow deliver") {
		t.Errorf("stderr does not say where batches are kept: %q", res.Stderr)
	}
	if !strings.Contains(res.Stderr, "and so does a `shadow serve` on this machine") {
		t.Errorf("stderr does not say that a shadow finds them: %q", res.Stderr)
	}
}

func spoolFolder(tmp string) string {
	return filepath.Join(tmp, filepath.Base(spool.DefaultFolder()))
}

// A JVM ends without a bus; its tasks are stored later, all of them, by shadow
// deliver without a bus, and nothing is left.
func TestDeliverToStore(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		tmp, store := t.TempDir(), filepath.Join(t.TempDir(), "store")
		withoutBus(t, jdk, tmp, "20000", "bus=nats://"+freeAddr(t), "session=late")
		files := spool.Files(spoolFolder(tmp))
		if len(files) != 1 {
			t.Fatalf("spool files %v", files)
		}
		if e := shadow(t, "deliver", "--store", store, files[0]); e.exit != 0 || !strings.Contains(e.err, "delivered from") {
			t.Fatalf("shadow deliver: %+v", e)
		}
		whole(t, filepath.Join(store, "late"), 20000)
		if left := spool.Files(spoolFolder(tmp)); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		if e := shadow(t, "deliver", "--store", store, spoolFolder(tmp)); e.exit != 0 || !strings.Contains(e.err, "nothing to deliver") {
			t.Errorf("again: %+v", e)
		}
	})
}

// A shadow serve stores by itself what JVMs of its address have left, and leaves alone
// what was to go elsewhere.
func TestServeDelivers(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	tmp, store, addr := t.TempDir(), filepath.Join(t.TempDir(), "store"), freeAddr(t)
	withoutBus(t, jdk, tmp, "3000", "bus=nats://"+addr, "session=mine")
	withoutBus(t, jdk, tmp, "3000", "bus=nats://127.0.0.1:1", "session=foreign")
	s := serve(t, addr, store, tmpEnv+tmp)
	waitEnded(t, filepath.Join(store, "mine"))
	waitFor(t, "the file goes after its last batch", func() bool { return len(spool.Files(spoolFolder(tmp))) < 2 })
	s.stop(t)
	whole(t, filepath.Join(store, "mine"), 3000)
	if left := spool.Files(spoolFolder(tmp)); len(left) != 1 || !strings.Contains(left[0], "foreign") {
		t.Errorf("left: %v, want the one for another bus", left)
	}
	if _, err := os.Stat(filepath.Join(store, "foreign")); err == nil {
		t.Error("a session for another bus is stored")
	}
}

// The bus is away for so long that memory and file are full: what is dropped is
// counted, and the account is exact.
func TestFaultEverythingFull(t *testing.T) {
	testjvm.Shared(t)
	for _, overflow := range []string{"block", "drop"} {
		t.Run(overflow, func(t *testing.T) {
			testjvm.Shared(t)
			eachRound(t, 1, func(r *round) {
				r.untilStopped(600_000, 5*time.Second)
				r.detail = "all"
				r.settings = []string{"buffer=1M", "spoolsize=1M", "overflow=" + overflow}
				r.begin()
				waitStored(r.T, r.session)
				to := r.proxy.to
				r.proxy.set(func() { r.proxy.to = "127.0.0.1:1" })
				r.proxy.cut()
				r.java.says(r.T, "is full")
				time.Sleep(2 * time.Second) // longer than the agent keeps what has no room
				r.proxy.set(func() { r.proxy.to = to })
				r.stopFlood()
				r.finish()
				if m := readStoreManifest(r.T, r.session); m.Lost.Events == 0 {
					r.Errorf("nothing was dropped: %+v", m.Lost)
				}
			})
		})
	}
}

// A JVM is killed while its bus is away and its spool file is in use: what the
// file holds is delivered, and nothing that did not happen.
func TestFaultKilledWithSpool(t *testing.T) {
	testjvm.Shared(t)
	eachRound(t, 1, func(r *round) {
		r.tasks, r.detail, r.millis = 0, "all", floodForever
		r.begin()
		waitStored(r.T, r.session)
		r.proxy.set(func() { r.proxy.to = "127.0.0.1:1" })
		r.proxy.cut()
		before := readManifest(r.T, r.session).Stored.Executions
		left := waitSpool(r, 4<<20)
		if err := syscall.Kill(r.java.Process.Pid, syscall.SIGKILL); err != nil {
			r.Fatal(err)
		}
		r.java.end(r.T)
		r.deliver()
		r.server.stop(r.T)
		a := readAccount(r.T, r.session, false)
		a.check(r.T, readCounts(r.T, r.counts()), false)
		if a.manifest.Lost.Batches == 0 || int64(a.manifest.Stored.Executions) < before+100_000 {
			r.Errorf("%d stored before, %v; the file had %d bytes", before, a, left)
		}
		r.Logf("%v", a)
	})
}

// waitSpool waits until the agent's spool file holds so many bytes.
func waitSpool(r *round, bytes int64) int64 {
	r.Helper()
	var size int64
	waitFor(r.T, "the spool file is used", func() bool {
		for _, path := range spool.Files(filepath.Join(r.base, "spool")) {
			if info, err := os.Stat(path); err == nil {
				size = info.Size()
			}
		}
		return size > bytes
	})
	return size
}
