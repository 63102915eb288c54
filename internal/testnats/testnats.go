// Package testnats starts NATS servers as processes for tests: one, or a
// cluster whose nodes are killed and started again. The server is built from
// the module that the shadow embeds, once, into the user's cache.
package testnats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const startTimeout = 3 * time.Minute

// Node is a server of a cluster.
type Node struct {
	Name string
	URL  string // for clients
	host string
	port int
	conf string
	log  string
	exec []string // what is put before the command: ip netns exec NAME
	cmd  *exec.Cmd
}

// Cluster is servers that know each other; one is no cluster.
type Cluster struct{ Nodes []*Node }

// Options of Start.
type Options struct {
	Nodes int
	// Config is added to each node's configuration: authorization, tls, accounts.
	Config string
	// Hosts and Prefix put each node on a host of its own: its address, and
	// what to put before the command. nil: all on 127.0.0.1.
	Hosts  []string
	Prefix [][]string
}

var (
	buildOnce sync.Once
	binary    string
	buildErr  error
)

// Binary builds the server.
func Binary(t testing.TB) string {
	t.Helper()
	buildOnce.Do(func() {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir := filepath.Join(cache, "stackagent-test")
		if buildErr = os.MkdirAll(dir, 0o755); buildErr != nil {
			return
		}
		// Tests of several packages build it at once: one writes, the others find it.
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			defer lock.Close()
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		}
		if buildErr = err; err != nil {
			return
		}
		binary = filepath.Join(dir, "nats-server")
		cmd := exec.Command("go", "build", "-o", binary, "github.com/nats-io/nats-server/v2")
		if out, err := cmd.CombinedOutput(); err != nil {
			buildErr = fmt.Errorf("building nats-server: %w: %s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return binary
}

// Start starts the nodes and waits until they serve JetStream. They end with the test.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := &Cluster{}
	var routes []string
	ports := freePorts(t, 2*o.Nodes)
	for i := range o.Nodes {
		host := "127.0.0.1"
		if o.Hosts != nil {
			host = o.Hosts[i]
		}
		n := &Node{Name: fmt.Sprintf("n%d", i+1), host: host, port: ports[2*i]}
		n.URL = fmt.Sprintf("nats://%s:%d", host, n.port)
		if o.Prefix != nil {
			n.exec = o.Prefix[i]
		}
		c.Nodes = append(c.Nodes, n)
		routes = append(routes, fmt.Sprintf("nats-route://%s:%d", host, ports[2*i+1]))
	}
	for i, n := range c.Nodes {
		n.configure(t, o, routes, ports[2*i+1])
		n.Run(t)
	}
	return c
}

func (n *Node) configure(t testing.TB, o Options, routes []string, routePort int) {
	t.Helper()
	dir := t.TempDir()
	n.conf, n.log = filepath.Join(dir, "nats.conf"), filepath.Join(dir, "log")
	text := fmt.Sprintf("server_name: %s\nlisten: \"%s:%d\"\njetstream { store_dir: %q }\n", n.Name, n.host, n.port, filepath.Join(dir, "js"))
	if len(routes) > 1 {
		text += fmt.Sprintf("cluster { name: test, listen: \"%s:%d\", routes: [ %s ] }\n", n.host, routePort, strings.Join(routes, ", "))
	}
	if err := os.WriteFile(n.conf, []byte(text+o.Config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Run starts a node that does not run.
func (n *Node) Run(t testing.TB) {
	t.Helper()
	args := append(append([]string{}, n.exec...), Binary(t), "-c", n.conf, "-l", n.log)
	n.cmd = exec.Command(args[0], args[1:]...)
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it must not outlive the test
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := n.cmd
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// Kill ends a node as a crash would.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// Log is what the node has logged.
func (n *Node) Log() string {
	b, _ := os.ReadFile(n.log)
	return string(b)
}

// URL lists the nodes for a client.
func (c *Cluster) URL() string {
	var urls []string
	for _, n := range c.Nodes {
		urls = append(urls, n.URL)
	}
	return strings.Join(urls, ",")
}

// Ready waits until the cluster serves JetStream to a client that connects so.
func (c *Cluster) Ready(t testing.TB, opts ...nats.Option) {
	t.Helper()
	var err error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = c.try(opts); err == nil {
			return
		}
	}
	t.Fatalf("the cluster does not serve JetStream: %v\n%s", err, c.Nodes[0].Log())
}

// try makes and removes a stream with a copy on each node.
func (c *Cluster) try(opts []nats.Option) error {
	conn, err := nats.Connect(c.URL(), opts...)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "READY", Replicas: len(c.Nodes)}); err != nil {
		return err
	}
	return js.DeleteStream(ctx, "READY")
}

// Leader is the node that leads a stream.
func (c *Cluster) Leader(t testing.TB, stream string, opts ...nats.Option) *Node {
	t.Helper()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if n := c.leader(stream, opts); n != nil {
			return n
		}
	}
	t.Fatalf("stream %s has no leader", stream)
	return nil
}

func (c *Cluster) leader(stream string, opts []nats.Option) *Node {
	conn, err := nats.Connect(c.URL(), opts...)
	if err != nil {
		return nil
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return nil
	}
	for _, n := range c.Nodes {
		if n.Name == s.CachedInfo().Cluster.Leader {
			return n
		}
	}
	return nil
}

// FreePort is a port on which nothing listens. It is none of those that the
// kernel gives to connections, which could take it while a server is away.
func FreePort(t testing.TB) int {
	t.Helper()
	const from, to = 12_000, 32_000
	for range 100 {
		port := from + rand.IntN(to-from)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// freePorts are n different ones.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for len(ports) < n {
		if port := FreePort(t); !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}
