package e2e_test

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/proc"
	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
	"stackagent/shadow/store"
)

const clusterToken = "geheimes-wort-0123456789"

// team is shadows that share a server, or a cluster, with a token.
type team struct {
	cluster *testnats.Cluster
	token   string // file
}

func newTeam(t *testing.T, nodes int) team {
	t.Helper()
	c := testnats.Start(t, testnats.Options{Nodes: nodes, Config: "authorization { token: " + clusterToken + " }\n"})
	c.Ready(t, nats.Token(clusterToken))
	return team{c, testnats.Secret(t, "token", clusterToken)}
}

// shadow starts one that joins; when it returns, it stores.
func (m team) shadow(t *testing.T, dir string, flags ...string) *server {
	t.Helper()
	u, err := url.Parse(m.cluster.Nodes[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	s := serveWith(t, u.Host, dir, append([]string{"--nats", m.cluster.URL(), "--token-file", m.token}, flags...))
	s.says(t, "page http")
	return s
}

// jvms starts n small JVMs at once; wait waits for their ends, and delivers what they could not in the time that
// they give the bus at the end: fifty on two processors are a crowd.
// They have half of their tasks left when wait is called.
func (m team) jvms(t *testing.T, n int, tasks int64) (wait func()) {
	t.Helper()
	gate, open := newGate(t)
	jdk := testjvm.JDKs(t)[0]
	var all []*process
	bus, spool := strings.ReplaceAll(m.cluster.URL(), ",", ";"), privateFolder(t)
	for i := range n {
		cmd := victim(t, jdk, "run", strconv.FormatInt(tasks, 10), gate)
		cmd.VM = []string{"-Xmx48m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", agentFlag(t, "bus="+bus, "tokenfile="+m.token, "spool="+spool, fmt.Sprintf("session=j%02d", i))}
		all = append(all, start(t, nil, cmd.Java()...))
	}
	return func() {
		open()
		var wg sync.WaitGroup
		for i, p := range all {
			wg.Go(func() {
				if out, exit := p.end(t); exit != 0 || out != fmt.Sprintf("ran %d\n", tasks) {
					t.Errorf("JVM %d: exit %d, %q\n%s", i, exit, out, p.stderr.String())
				}
			})
		}
		wg.Wait()
		m.deliver(t, spool)
	}
}

// deliver brings what JVMs have left in spool to the bus.
func (m team) deliver(t *testing.T, spool string) {
	t.Helper()
	if e := shadow(t, "deliver", "--nats", m.cluster.URL(), "--token-file", m.token, spool); e.exit != 0 {
		t.Errorf("delivering what is left: exit %d: %s", e.exit, e.err)
	} else if !strings.Contains(e.err, "nothing to deliver") {
		t.Logf("left by the JVMs: %s", e.err)
	}
}

// anyStored waits until one of the sessions has more than a thousand executions.
func anyStored(t *testing.T, dir string) {
	t.Helper()
	waitFor(t, "something is stored in "+dir, func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "j*", store.ManifestName))
		return slices.ContainsFunc(found, func(path string) bool {
			m, err := store.ReadManifest(filepath.Dir(path))
			return err == nil && m.Stored.Executions > 1000
		})
	})
}

// exact checks that the session in dir has every task once.
func exact(t *testing.T, dir string, tasks int64) {
	t.Helper()
	m, err := store.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Lost.Events+m.Lost.Batches != 0 || m.Lost.Unaccounted != 0 || m.Balance == nil || m.Balance.State != store.BalanceExact {
		t.Errorf("%s: lost %+v, balance %+v", dir, m.Lost, m.Balance)
	}
	whole(t, dir, tasks)
}

// holdsNoSecret looks for the token in everything a shadow has stored.
func holdsNoSecret(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("grep", "-rl", clusterToken, dir).Output()
	if len(out) > 0 {
		t.Errorf("the token is in %s (%v)", out, err)
	}
}

// Several JVMs, two shadows with one store; one is killed meanwhile.
func TestTeamSharedStore(t *testing.T) {
	testjvm.Shared(t)
	const tasks = 200_000
	n := 4
	if full() {
		n = 50
	}
	m, dir := newTeam(t, 1), filepath.Join(t.TempDir(), "store")
	shadows := []*server{m.shadow(t, dir), m.shadow(t, dir)}
	began := time.Now()
	wait := m.jvms(t, n, tasks)
	anyStored(t, dir)
	shadows[0].kill(t)
	wait()
	t.Logf("%d JVMs of %d tasks ended after %v", n, tasks, time.Since(began))
	for i := range n {
		waitEnded(t, filepath.Join(dir, fmt.Sprintf("j%02d", i)))
	}
	t.Logf("all stored after %v; the shadow that is left: %s", time.Since(began), peak(shadows[1].Process.Pid))
	shadows[1].stop(t)
	for i := range n {
		exact(t, filepath.Join(dir, fmt.Sprintf("j%02d", i)), tasks)
	}
	holdsNoSecret(t, dir)
}

// peak is the largest resident size that a process has had.
func peak(pid int) string {
	status, err := proc.Process(pid).Status()
	if err != nil {
		return err.Error()
	}
	bytes, err := status.PeakBytes()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d kB", bytes>>10)
}

// Two shadows with a store each: the one that had a session is killed, the
// other continues, and join makes the whole.
func TestTeamJoin(t *testing.T) {
	testjvm.Shared(t)
	const tasks = 1_000_000
	m, base := newTeam(t, 1), t.TempDir()
	one, two := filepath.Join(base, "one"), filepath.Join(base, "two")
	first := m.shadow(t, one)
	wait := m.jvms(t, 1, tasks)
	anyStored(t, one)
	second := m.shadow(t, two)
	first.kill(t)
	wait()
	waitEnded(t, filepath.Join(two, "j00"))
	second.stop(t)
	if e := shadow(t, "stats", filepath.Join(two, "j00")); e.exit != 0 || !strings.Contains(e.out+e.err, "only a part of the session") {
		t.Errorf("stats of a piece, exit %d: %s%s", e.exit, e.out, e.err)
	}
	out := filepath.Join(base, "whole")
	if e := shadow(t, "join", filepath.Join(one, "j00"), filepath.Join(two, "j00"), "-o", out); e.exit != 0 || !strings.Contains(e.err, "0 missing") {
		t.Fatalf("join: exit %d: %s", e.exit, e.err)
	}
	exact(t, out, tasks)
}

// A shadow that is frozen for longer than its lease, with batches in its
// memory, spoils nothing when it wakes.
func TestTeamFrozenShadow(t *testing.T) {
	testjvm.Shared(t)
	if !full() {
		t.Skip("set STACKAGENT_E2E=full; a test of shadow/collect/ingest does the same in one process")
	}
	const tasks = 1_000_000
	m, dir := newTeam(t, 1), filepath.Join(t.TempDir(), "store")
	first := m.shadow(t, dir)
	wait := m.jvms(t, 2, tasks)
	anyStored(t, dir)
	second := m.shadow(t, dir)
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	wait()
	for i := range 2 {
		waitEnded(t, filepath.Join(dir, fmt.Sprintf("j%02d", i)))
	}
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // it finds that its sessions are gone
	first.stop(t)
	second.stop(t)
	for i := range 2 {
		exact(t, filepath.Join(dir, fmt.Sprintf("j%02d", i)), tasks)
	}
}
