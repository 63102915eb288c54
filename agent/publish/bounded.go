package publish

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/nats-io/nats.go"
)

// What listens on the bus's port may not be a bus. The client library trusts its
// peer: it buffers a line of any length, and allocates as much as a message
// announces. So the connection ends when the peer sends more than a bus would.
const (
	maxLine    = 64 << 10 // INFO with the addresses of a large cluster is a few KiB
	maxMessage = 1 << 20  // acknowledgements, the only messages for an agent, take a few hundred bytes
)

var errNoBus = errors.New("what answers there is not a bus")

// boundedDialer dials connections that end when the other side sends more than a bus would.
type boundedDialer struct{ nats.CustomDialer }

func (d boundedDialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.dial(network, address)
	if err != nil {
		return nil, err
	}
	return &boundedConn{Conn: c}, nil
}

// boundedConn watches what the client reads. The library reads from one goroutine
// at a time.
type boundedConn struct {
	net.Conn
	line  []byte // so far
	skip  int64  // bytes of a message still to be read
	tail  bool   // the rest of the line belongs to the message
	lines int
	free  bool // encrypted from here on, by a server that has identified itself
	bad   error
}

func (c *boundedConn) Read(b []byte) (int, error) {
	if c.bad != nil {
		return 0, c.bad
	}
	n, err := c.Conn.Read(b)
	if c.follow(b[:n]); c.bad != nil {
		c.Conn.Close()
		return 0, c.bad
	}
	return n, err
}

// tlsHandshake is the first byte of an encrypted connection. No line of the protocol begins with it.
const tlsHandshake = 0x16

// follow checks what was read.
func (c *boundedConn) follow(b []byte) {
	for len(b) > 0 && c.bad == nil && !c.free {
		switch {
		case c.skip > 0:
			n := min(c.skip, int64(len(b)))
			b, c.skip = b[n:], c.skip-n
		case len(c.line) == 0 && c.lines <= 1 && b[0] == tlsHandshake:
			c.free = true
		default:
			b = c.read(b)
		}
	}
}

// read takes the rest of a line, or as much of it as there is.
func (c *boundedConn) read(b []byte) (rest []byte) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		end = len(b) - 1
	}
	part := b[:end+1]
	if len(c.line)+len(part) > maxLine {
		c.bad = fmt.Errorf("%w: a line of more than %d bytes", errNoBus, maxLine)
		return nil
	}
	c.line = append(c.line, part...)
	if part[len(part)-1] == '\n' {
		if !c.tail {
			c.announced()
		} else {
			c.tail = false
		}
		c.line, c.lines = c.line[:0], c.lines+1
	}
	return b[end+1:]
}

// announced reports whether a message follows a line, and how long it is.
func (c *boundedConn) announced() {
	words := bytes.Fields(c.line)
	if len(words) == 0 || !bytes.EqualFold(words[0], []byte("MSG")) && !bytes.EqualFold(words[0], []byte("HMSG")) {
		return
	}
	n, err := strconv.ParseInt(string(words[len(words)-1]), 10, 64)
	if err != nil || n < 0 || n > maxMessage {
		c.bad = fmt.Errorf("%w: a message of %.20s bytes", errNoBus, words[len(words)-1])
		return
	}
	c.skip, c.tail = n, true
}
