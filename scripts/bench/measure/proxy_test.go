package measure

import (
	"io"
	"net"
	"testing"
)

func TestProxyCounts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 5)
		if _, err := io.ReadFull(c, b); err == nil {
			c.Write([]byte("thank you"))
		}
	}()
	p, err := NewProxy(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || string(answer) != "thank you" {
		t.Errorf("%q, %v", answer, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if p.Sent.Load() != 5 || p.Received.Load() != 9 {
		t.Errorf("%d bytes sent, %d received; want 5 and 9", p.Sent.Load(), p.Received.Load())
	}
	if c, err := net.Dial("tcp", p.Addr); err == nil {
		c.Close()
		t.Error("a closed proxy listens")
	}
}
