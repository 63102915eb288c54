package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
)

// nobody is a user of this machine who is neither the JVM's nor root.
const nobody = 65534

// TestTortureSquatter: while the shadow is away, another user takes the bus's port and plays a NATS server. The agent
// sends it neither a secret nor a batch, says so once, and delivers everything when the shadow is back: with the key
// that the shadow makes, and with a token that its owner chose.
func TestTortureSquatter(t *testing.T) {
	testjvm.Shared(t)
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	for _, jdk := range testjvm.JDKs(t)[:roundsOf(1, len(testjvm.JDKs(t)))] {
		t.Run("until the end "+jdk.String(), func(t *testing.T) { squattedToTheEnd(t, jdk) })
		t.Run("for a while "+jdk.String(), func(t *testing.T) { squattedForAWhile(t, jdk) })
	}
}

// squattedToTheEnd: the program ends before the shadow is back; what the agent keeps is delivered.
func squattedToTheEnd(t *testing.T, jdk testjvm.JDK) {
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	serve(t, addr, store).stop(t)
	tokenFile := filepath.Join(store, "token")
	squatter := testnats.Squat(t, addr, nobody)
	o := testjvm.Example(t, "million")
	o.Args = []string{"1000000"}
	cmd := o.Command(t, jdk, agentFlag(t, "bus=nats://"+addr, "tokenfile="+tokenFile, "session=squatted"))
	java := start(t, nil, cmd.Java()...)
	java.says(t, "belongs to the user with id 65534")
	out, exit := java.end(t) // it has ended, or waits for the bus for a moment
	if exit != 0 || out != "ran 1000000\n" {
		t.Errorf("exit %d, stdout %q\n%s", exit, out, java.stderr.String())
	}
	leftEmpty(t, squatter)
	if n := strings.Count(java.stderr.String(), "gets nothing from the agent"); n > 2 { // and once more at the end, with what is kept
		t.Errorf("said %d times:\n%s", n, java.stderr.String())
	}
	s := serve(t, addr, store)
	kept := keptIn.FindStringSubmatch(java.stderr.String())
	if kept == nil {
		t.Fatalf("the agent has kept nothing:\n%s", java.stderr.String())
	}
	if e := shadow(t, "deliver", "--nats", "nats://"+addr, "--token-file", tokenFile, kept[1]); e.exit != 0 {
		t.Fatalf("shadow deliver: %+v", e)
	}
	waitEnded(t, filepath.Join(store, "squatted"))
	s.stop(t)
	checkExact(t, filepath.Join(store, "squatted"), 1_000_000)
}

// squattedForAWhile: the shadow comes back while the program runs.
func squattedForAWhile(t *testing.T, jdk testjvm.JDK) {
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	tokenFile := testnats.Secret(t, "token", "chosen-token-0123456789")
	squatter := testnats.Squat(t, addr, nobody)
	o := testjvm.Example(t, "sigterm")
	java := start(t, nil, o.Command(t, jdk, agentFlag(t, "bus=nats://"+addr, "tokenfile="+tokenFile, "session=squatted")).Java()...)
	java.waitLine(t, "ready")
	java.says(t, "belongs to the user with id 65534")
	leftEmpty(t, squatter)
	s := serveWith(t, addr, store, []string{"--listen", addr, "--token-file", tokenFile})
	java.says(t, "takes batches again")
	if err := java.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if rest, exit := java.end(t); exit != o.Exit || rest != "hook\n" {
		t.Errorf("exit %d, then %q; want %d, \"hook\"", exit, rest, o.Exit)
	}
	if n := strings.Count(java.stderr.String(), "gets nothing from the agent"); n != 1 {
		t.Errorf("said %d times:\n%s", n, java.stderr.String())
	}
	waitEnded(t, filepath.Join(store, "squatted"))
	s.stop(t)
	p := testjvm.Profile{Dir: filepath.Join(store, "squatted")}
	for _, wrong := range o.Compare(p.Hotspots(t), p.Tasks(t)) {
		t.Error(wrong)
	}
}

// leftEmpty ends a squatter that must not have been sent a byte.
func leftEmpty(t *testing.T, s *testnats.Squatter) {
	t.Helper()
	s.End()
	if got := s.Got(); len(got) > 0 {
		t.Errorf("the squatter was sent %d lines: %.200q", len(got), got)
	}
}

// checkExact checks that a session has all of its n tasks, and has lost nothing.
func checkExact(t *testing.T, dir string, n int64) {
	t.Helper()
	p := testjvm.Profile{Dir: dir}
	if lost := p.Stats(t).Lost; lost.Events != 0 || lost.Batches != 0 {
		t.Errorf("lost: %+v", lost)
	}
	checkMillion(t, p, n)
}
