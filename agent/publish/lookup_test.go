package publish

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A name server that does not answer blocks one thread, however many look-ups there are.
func TestLookupsBounded(t *testing.T) {
	answer := make(chan struct{})
	var now, most atomic.Int32
	before := resolve
	resolve = func(context.Context, string) ([]string, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		<-answer
		return []string{"127.0.0.1"}, nil
	}
	t.Cleanup(func() { resolve = before })
	until(t, "the first look-up", func() bool {
		_, err := lookup("bus.example", time.Millisecond)
		return err != nil && most.Load() > 0
	})
	for i := range 20 {
		if _, err := lookup("bus.example", time.Millisecond); !errors.Is(err, errLookups) {
			t.Fatalf("look-up %d: %v", i, err)
		}
	}
	if n := most.Load(); n != mostLookups {
		t.Errorf("%d look-ups at the same time, want %d", n, mostLookups)
	}
	close(answer)
	if addresses, err := lookup("bus.example", time.Minute); err != nil || len(addresses) != 1 {
		t.Errorf("once the server answers: %q, %v", addresses, err)
	}
}

// An answer that arrives after the time-out is still used.
func TestLateLookup(t *testing.T) {
	before := resolve
	answer := make(chan struct{})
	var asked atomic.Int32
	resolve = func(context.Context, string) ([]string, error) {
		asked.Add(1)
		<-answer
		return []string{"127.0.0.1"}, nil
	}
	t.Cleanup(func() { resolve = before })
	if addresses, err := lookup("slow.example", time.Millisecond); err == nil {
		t.Fatalf("an answer before there was one: %q", addresses)
	}
	close(answer)
	if addresses, err := lookup("slow.example", time.Minute); err != nil || len(addresses) != 1 {
		t.Errorf("after the answer: %q, %v", addresses, err)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d look-ups, want 1 whose answer is kept", n)
	}
}

// Each address of a host is tried.
func TestDialEachAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := resolve
	resolve = func(_ context.Context, host string) ([]string, error) {
		if host != "bus.example" {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return []string{"127.0.0.3", "127.0.0.1", "127.0.0.2"}, nil
	}
	t.Cleanup(func() { resolve = before })
	d := boundedDialer{&net.Dialer{Timeout: connectTimeout}}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c, err := d.Dial("tcp", net.JoinHostPort("bus.example", port))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := d.Dial("tcp", net.JoinHostPort("nowhere.example", port)); err == nil || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("a name that is not known: %v", err)
	}
}

// Sessions whose disk does not answer block a bounded number of threads; later sessions have no spool file, and say so.
func TestDisksBounded(t *testing.T) {
	for range mostDisks {
		disks <- struct{}{}
	}
	var said []string
	config := Config{URL: "nats://127.0.0.1:1", Session: "s", Process: "1-2-3", Spool: Spool{Folder: t.TempDir(), MaxBytes: 1 << 20},
		Notice: func(s string) { said = append(said, s) }}
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.spooler != nil || len(said) != 1 || !strings.Contains(said[0], "no spool file") {
		t.Errorf("spooler %v, said %q", p.spooler, said)
	}
	for range mostDisks {
		<-disks
	}
	if p, err = New(config); err != nil || p.spooler == nil {
		t.Fatalf("once the disks answer: %v, spooler %v", err, p.spooler)
	}
	if _, err := p.Keep(); err != nil {
		t.Error(err)
	}
	if len(disks) != 0 {
		t.Errorf("%d disks are waited for", len(disks))
	}
}
