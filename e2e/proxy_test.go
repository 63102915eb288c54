package e2e_test

import (
	"net"
	"sync"
	"testing"
)

// proxy stands between an agent and its bus and can spoil the connection.
type proxy struct {
	net.Listener
	to string

	mu    sync.Mutex
	moved *sync.Cond // by changes of the fields below
	stuck bool       // nothing is passed on, connections stay
	left  int64      // bytes that still pass to the bus; then every connection is cut. < 0: all
	conns map[net.Conn]bool
	heard func([]byte) // what passes to the bus, if not nil
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, left: -1, conns: map[net.Conn]bool{}}
	p.moved = sync.NewCond(&p.mu)
	t.Cleanup(func() {
		l.Close()
		p.set(func() { p.stuck = false })
		p.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.connect(c)
		}
	}()
	return p
}

// set changes the proxy's state.
func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.moved.Broadcast()
}

// cut ends every connection.
func (p *proxy) cut() {
	p.set(func() {
		for c := range p.conns {
			c.Close()
		}
		p.left = -1
	})
}

func (p *proxy) connect(from net.Conn) {
	var address string
	p.set(func() { address = p.to })
	to, err := net.Dial("tcp", address)
	if err != nil {
		from.Close()
		return
	}
	moved := false // the bus, while this connection was made: cut has not seen it
	p.set(func() {
		moved = p.to != address
		p.conns[from], p.conns[to] = true, true
	})
	if moved {
		from.Close()
		to.Close()
	}
	go p.pass(to, from, true)
	p.pass(from, to, false)
}

func (p *proxy) pass(to, from net.Conn, up bool) {
	defer p.set(func() { delete(p.conns, from); from.Close(); to.Close() })
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		n, last := p.allow(n, up)
		if up && p.heard != nil {
			p.heard(buf[:n])
		}
		if _, werr := to.Write(buf[:n]); werr != nil || err != nil {
			return
		}
		if last {
			p.cut()
			return
		}
	}
}

// allow waits while the proxy is stuck and says how many of n bytes pass.
func (p *proxy) allow(n int, up bool) (pass int, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stuck {
		p.moved.Wait()
	}
	if !up || p.left < 0 {
		return n, false
	}
	if int64(n) < p.left {
		p.left -= int64(n)
		return n, false
	}
	return int(p.left), true
}
