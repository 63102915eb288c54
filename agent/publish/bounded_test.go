package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// played is a connection on which the other side has sent text.
type played struct {
	net.Conn
	io.Reader
}

func (p played) Read(b []byte) (int, error) { return p.Reader.Read(b) }
func (p played) Close() error               { return nil }

func TestBoundedConn(t *testing.T) {
	info := "INFO {}\r\n"
	noise := "\x16\x03\x01" + strings.Repeat("\xff", 2*maxLine)
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"a session", info + "PING\r\nMSG a 1 5\r\nhello\r\nHMSG a 1 b 12 17\r\nNATS/1.0\r\n\r\nhello\r\n+OK\r\n", true},
		{"a message with long lines", info + "MSG a 1 200000\r\n" + strings.Repeat("x", 200000) + "\r\nPING\r\n", true},
		{"encrypted after INFO", info + noise, true},
		{"encrypted from the start", noise, true},
		{"encrypted in the middle", info + "PING\r\n" + noise, false},
		{"an endless INFO", "INFO " + strings.Repeat("x", 2*maxLine), false},
		{"an endless error", info + "-ERR " + strings.Repeat("x", 2*maxLine), false},
		{"a huge message", info + "MSG a 1 9999999999999\r\n", false},
		{"one after a message without its line end", info + "MSG a 1 1\r\nx\nMSG a 1 99999999\r\n", false},
		{"one with tabs", info + "msg\ta\t1\t99999999\r\n", false},
		{"one with a header", info + "HMSG a 1 12 99999999\r\n", false},
		{"a message without a number", info + "MSG a 1 x\r\n", false},
	} {
		for how, in := range map[string]io.Reader{"whole": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := io.ReadAll(&boundedConn{Conn: played{Reader: in}})
			if c.ok != (err == nil) || c.ok && string(got) != c.text || !c.ok && !errors.Is(err, errNoBus) {
				t.Errorf("%s, %s: %d bytes of %d, %v", c.name, how, len(got), len(c.text), err)
			}
		}
	}
}

// squat answers every connection with write, until that fails.
func squat(t *testing.T, write func(net.Conn) error) (url string, sent *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	sent = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for write(c) == nil {
					sent.Add(1)
				}
			}()
		}
	}()
	return "nats://" + l.Addr().String(), sent
}

// TestSquatters: a program on the bus's port that sends an endless line, or announces a
// huge message, costs no memory and does not end the process.
func TestSquatters(t *testing.T) {
	const piece = 1 << 20
	endless := bytes.Repeat([]byte("x"), piece)
	info := `INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"proto":1}` + "\r\n"
	for name, write := range map[string]func(net.Conn) error{
		"endless INFO": func(c net.Conn) error { _, err := c.Write(endless); return err },
		"huge message": func(c net.Conn) error {
			fmt.Fprintf(c, "%sPONG\r\nMSG a 1 9999999999999\r\n", info)
			_, err := c.Write(endless)
			return err
		},
	} {
		url, pieces := squat(t, write)
		p, err := New(Config{URL: url, Session: "s", Process: "1-a"})
		if err != nil {
			t.Fatal(err)
		}
		var most, now runtime.MemStats
		runtime.ReadMemStats(&most)
		before := most.Sys
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			runtime.ReadMemStats(&now)
			most.Sys = max(most.Sys, now.Sys)
		}
		if grown := most.Sys - before; grown > 32<<20 {
			t.Errorf("%s: %d MiB of memory, after %d MiB were sent", name, grown>>20, pieces.Load()*piece>>20)
		}
		p.Close()
	}
	b := startBus(t, server.Options{}) // an honest bus still works
	b.stream(t)
	p, _ := publisher(t, Config{URL: b.url})
	offer(t, p, 1, 50, 1000)
	flush(t, p)
	b.expect(t, 50)
}
