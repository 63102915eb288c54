package measure

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Proxy forwards TCP connections to another address and counts the bytes of each
// direction.
type Proxy struct {
	Addr           string       // where it listens, host:port
	Sent, Received atomic.Int64 // by the clients
	listener       net.Listener
	target         string
	mu             sync.Mutex
	open           map[net.Conn]bool // guarded by mu; nil when closed
	connections    sync.WaitGroup
}

// NewProxy listens on a free port of loopback.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for a proxy: %w", err)
	}
	p := &Proxy{Addr: l.Addr().String(), listener: l, target: target, open: map[net.Conn]bool{}}
	p.connections.Go(p.accept)
	return p, nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close() // it sees that the server is away
			continue
		}
		if !p.keep(client, server) {
			return
		}
		p.connections.Go(func() { pass(server, client, &p.Sent) })
		p.connections.Go(func() { pass(client, server, &p.Received) })
	}
}

// keep registers what Close must close; false: the proxy is closed already.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.open == nil {
			c.Close()
			continue
		}
		p.open[c] = true
	}
	return p.open != nil
}

func pass(to, from net.Conn, count *atomic.Int64) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(counter{to, count}, from) // the reason of the end does not matter
}

type counter struct {
	w io.Writer
	n *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// Close ends all connections and waits for the last byte.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		c.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.connections.Wait()
	return err
}
