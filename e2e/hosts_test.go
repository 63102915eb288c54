package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
	"stackagent/shadow/store"
)

// hosts are network namespaces on one switch: each has an address of its own
// and can be cut off. The test itself is one of them.
type hosts struct {
	name string // of the switch's namespace; the others have a number behind
	ip   []string
}

// newHosts makes n hosts; it needs root and ip(8).
func newHosts(t *testing.T, n int) hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip(8): apt-get install iproute2")
	}
	h := hosts{name: fmt.Sprintf("sa%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", h.name).CombinedOutput(); err != nil {
		t.Skipf("network namespaces cannot be made here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", h.name).Run() })
	h.run(t, "-n", h.name, "link", "add", "name", "switch", "type", "bridge")
	h.run(t, "-n", h.name, "link", "set", "switch", "up")
	subnet := 100 + os.Getpid()%100 // another run of the test has another one, most likely
	for i := range n {
		ns, inside, outside := h.ns(i), "eth0", h.port(i)
		h.ip = append(h.ip, fmt.Sprintf("10.213.%d.%d", subnet, i+1))
		h.run(t, "netns", "add", ns)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
		h.run(t, "-n", h.name, "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", ns)
		h.run(t, "-n", h.name, "link", "set", outside, "master", "switch", "up")
		h.run(t, "-n", ns, "addr", "add", h.ip[i]+"/24", "dev", inside)
		h.run(t, "-n", ns, "link", "set", inside, "up")
		h.run(t, "-n", ns, "link", "set", "lo", "up")
	}
	// The test's own way to the switch.
	own := h.name + "t"
	h.run(t, "link", "add", own, "type", "veth", "peer", "name", "own", "netns", h.name)
	h.run(t, "-n", h.name, "link", "set", "own", "master", "switch", "up")
	h.run(t, "addr", "add", fmt.Sprintf("10.213.%d.254/24", subnet), "dev", own)
	h.run(t, "link", "set", own, "up")
	return h
}

func (h hosts) ns(i int) string   { return fmt.Sprintf("%s-%d", h.name, i) }
func (h hosts) port(i int) string { return fmt.Sprintf("p%d", i) }

func (h hosts) run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// on is what to put before a command that runs on host i.
func (h hosts) on(i int) []string { return []string{"ip", "netns", "exec", h.ns(i)} }

func (h hosts) cut(t *testing.T, i int) { h.run(t, "-n", h.name, "link", "set", h.port(i), "down") }
func (h hosts) mend(t *testing.T, i int) {
	h.run(t, "-n", h.name, "link", "set", h.port(i), "up")
}

// Three hosts with a node each, two with a shadow each and one store, one with
// a JVM. The shadow that has the session is cut off for longer than its lease
// and comes back; then the host of the stream's leader is. Nothing is lost,
// nothing is there twice.
func TestHosts(t *testing.T) {
	testjvm.Shared(t)
	const nodes = 3
	tasks := 6_000_000
	if full() {
		tasks = 30_000_000
	}
	h := newHosts(t, nodes+3)
	o := testnats.Options{Nodes: nodes, Hosts: h.ip[:nodes], Config: "authorization { token: " + clusterToken + " }\n"}
	for i := range nodes {
		o.Prefix = append(o.Prefix, h.on(i))
	}
	c := testnats.Start(t, o)
	c.Ready(t, nats.Token(clusterToken))
	spool := privateFolder(t)
	token, dir := testnats.Secret(t, "token", clusterToken), filepath.Join(t.TempDir(), "store")
	joins := func(i int) *process {
		p := start(t, nil, append(h.on(i), testjvm.Shadow(t), "serve", "--http", "127.0.0.1:0", "--store", dir, "--nats", c.URL(), "--token-file", token)...)
		p.says(t, "page http")
		p.says(t, "without TLS") // the warning that the network can be read
		return p
	}
	first := joins(nodes)
	cmd := victim(t, testjvm.JDKs(t)[0], "run", strconv.Itoa(tasks))
	cmd.VM = []string{agentFlag(t, "bus="+strings.ReplaceAll(c.URL(), ",", ";"), "tokenfile="+token, "session=j00", "detail=all", "spool="+spool)}
	java := start(t, nil, append(h.on(nodes+2), cmd.Java()...)...)
	anyStored(t, dir)
	second := joins(nodes + 1)
	h.cut(t, nodes)
	time.Sleep(9 * time.Second)
	h.mend(t, nodes)
	leader := c.Leader(t, "STACKAGENT", nats.Token(clusterToken))
	for i, n := range c.Nodes {
		if n == leader {
			h.cut(t, i)
			time.Sleep(3 * time.Second)
			h.mend(t, i)
		}
	}
	if out, exit := java.end(t); exit != 0 || out != fmt.Sprintf("ran %d\n", tasks) {
		t.Errorf("exit %d, %q\n%s", exit, out, java.stderr.String())
	}
	team{c, token}.deliver(t, spool) // the end of a JVM waits for a bus that is silent, but not for long
	waitEnded(t, filepath.Join(dir, "j00"))
	for _, p := range []*process{first, second} {
		_ = p.Process.Signal(os.Interrupt)
		if _, exit := p.end(t); exit != 0 {
			t.Errorf("a shadow: exit %d: %s", exit, p.stderr.String())
		}
		t.Log(p.stderr.String())
	}
	exact(t, filepath.Join(dir, "j00"), int64(tasks))
	if m, err := store.ReadManifest(filepath.Join(dir, "j00")); err == nil {
		t.Logf("%d batches in %d ranges", m.Sequences.Count(), len(m.Sequences))
	}
}
