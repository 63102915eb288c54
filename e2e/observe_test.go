package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// waitObserved waits until a session says that it is observed, or that this is over.
func waitObserved(t *testing.T, dir string, complete bool) (o *store.Observed) {
	t.Helper()
	waitFor(t, "an observation of "+dir, func() bool {
		var err error
		if o, err = store.ReadObserved(dir); err != nil {
			t.Fatal(err)
		}
		return o != nil && (o.Complete || !complete)
	})
	return o
}

func sessionManifest(t *testing.T, dir string) *store.Manifest {
	t.Helper()
	m, err := store.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkObserved checks that a session has what shadow run would have recorded, without damage.
func checkObserved(t *testing.T, dir string) *session.Session {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := store.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Damage) > 0 {
		t.Errorf("damaged: %v", f.Damage)
	}
	c, err := hpc.ReadFile(dir)
	if err != nil || c == nil {
		t.Fatalf("counters: %v, %v", c, err)
	}
	if len(c.Threads) < 5 || c.PID == 0 {
		t.Errorf("counters of %d threads of process %d", len(c.Threads), c.PID)
	}
	r, err := sched.Open(dir)
	if err != nil || r == nil {
		t.Errorf("scheduling record: %v, %v", r, err)
	}
	return s
}

// shadow serve observes a JVM that lives for less than a second from before the program's start: it has counters,
// scheduling, and the cause of each collection.
func TestServeObserves(t *testing.T) {
	testjvm.Shared(t)
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "Main.java"), []byte(collecting), 0o600); err != nil {
		t.Fatal(err)
	}
	jdk := testjvm.JDKsInTurn(t)[0]
	addr, dir := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, dir)
	s.says(t, "page http") // it listens by then
	c := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, source), Main: "Main", VM: []string{"-XX:+UseSerialGC",
		agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(dir, "token"), "session=short", "observer=10s")}}
	if _, exit := start(t, nil, c.Java()...).end(t); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	short := filepath.Join(dir, "short")
	waitEnded(t, short)
	o, m := waitObserved(t, short, true), sessionManifest(t, short)
	s.stop(t)
	if o.By != "shadow serve" || o.Refused != "" || o.FromNs < o.LoadedNs || o.FromNs > m.StartNs {
		t.Errorf("observed %+v; the session began at %d", o, m.StartNs)
	}
	if m.JVM.ObserverWaitNs == nil {
		t.Error("the session does not say how long the program waited")
	}
	pauses := checkObserved(t, short).Pauses
	if len(pauses) != 33 {
		t.Errorf("%d pauses, want 33", len(pauses))
	}
	for i, p := range pauses {
		if p.Cause != "System.gc()" {
			t.Errorf("pause %d: cause %q", i, p.Cause)
		}
	}
	if e := shadow(t, "stats", short); !strings.Contains(e.out, "Observed from outside by shadow serve on ") {
		t.Errorf("stats: %+v", e)
	}
}

// Without an observer no program waits, and nothing makes a later one wait.
func TestNoObserver(t *testing.T) {
	testjvm.Shared(t)
	addr, dir, spool := freeAddr(t), filepath.Join(t.TempDir(), "store"), privateFolder(t)
	s := serveWith(t, addr, dir, []string{"--listen", addr, "--counters=false", "--switches", "off"})
	c := victim(t, testjvm.JDKsInTurn(t)[0], "exit", "0")
	c.VM = []string{agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(dir, "token"), "session=alone", "spool="+spool)}
	if _, exit := start(t, nil, c.Java()...).end(t); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	waitEnded(t, filepath.Join(dir, "alone"))
	m := sessionManifest(t, filepath.Join(dir, "alone"))
	s.stop(t)
	if m.JVM.ObserverWaitNs == nil || *m.JVM.ObserverWaitNs != 0 {
		t.Errorf("waited %v, want 0", m.JVM.ObserverWaitNs)
	}
	if left, _ := filepath.Glob(filepath.Join(spool, "observer-*")); len(left) > 0 {
		t.Errorf("%v says that an observer answered", left)
	}
	if o, err := store.ReadObserved(filepath.Join(dir, "alone")); o != nil || err != nil {
		t.Errorf("observed: %+v, %v", o, err)
	}
}

// shadow observe records JVMs whose processes have other numbers, in a namespace of their own, and sends that to the
// shadow with their sessions. When it is killed the program and its session go on.
func TestObserve(t *testing.T) {
	testjvm.Shared(t)
	own := []string{"unshare", "--pid", "--fork", "--mount-proc"}
	if out, err := exec.Command(own[0], append(own[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("namespaces of process ids cannot be made here: %v: %s", err, out)
	}
	addr, dir := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serveWith(t, addr, dir, []string{"--listen", addr, "--counters=false", "--switches", "off"})
	s.says(t, "page http") // the key is there
	observer := start(t, nil, testjvm.Shadow(t), "observe", "--nats", "nats://"+addr, "--nkey", filepath.Join(dir, ".keys", "observer.nk"), "--work", privateFolder(t))
	observer.says(t, "observing the JVMs of host")
	java := func(session string, args ...string) *process {
		c := victim(t, testjvm.JDKsInTurn(t)[0], args...)
		c.Wrap, c.VM = own, []string{agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(dir, "token"), "session="+session, "observer=10s")}
		return start(t, nil, c.Java()...)
	}
	if _, exit := java("whole", "exit", "0").end(t); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	whole := filepath.Join(dir, "whole")
	waitEnded(t, whole)
	o, m := waitObserved(t, whole, true), sessionManifest(t, whole)
	if o.By != "shadow observe" || o.FromNs > m.StartNs || m.JVM.PID != 1 {
		t.Errorf("observed %+v; process %d, the session began at %d", o, m.JVM.PID, m.StartNs)
	}
	checkObserved(t, whole)

	gate := filepath.Join(t.TempDir(), "gate")
	torn := filepath.Join(dir, "torn")
	p := java("torn", "run", "2000", gate)
	waitFor(t, "a scheduling record of "+torn, func() bool { // the counters are sent before it
		r, err := sched.Open(torn)
		return err == nil && r != nil
	})
	if err := observer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = observer.Wait() // killed
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, exit := p.end(t); exit != 0 || out != "ran 2000\n" {
		t.Errorf("exit %d, %q", exit, out)
	}
	waitEnded(t, torn)
	s.stop(t)
	o, m = waitObserved(t, torn, false), sessionManifest(t, torn)
	if o.Complete || o.UntilNs > m.EndNs {
		t.Errorf("observed %+v; the session ended at %d", o, m.EndNs)
	}
	checkObserved(t, torn)
	if e := shadow(t, "stats", torn); !strings.Contains(e.out, "The observer stopped ") {
		t.Errorf("stats: %+v", e)
	}
}
