package busauth

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrStranger is returned if an untrusted user's process holds the bus's port on this machine.
var ErrStranger = errors.New("the bus's port is not held by a user who may hold it")

// ErrOtherUser is returned for a connection from another user's process.
var ErrOtherUser = errors.New("not a process of this user")

const (
	dialTimeout   = 2 * time.Second
	acceptTimeout = time.Second // for the other side to accept; before that its user is unknown
	acceptLook    = 5 * time.Millisecond
)

// Dialer connects to the bus. On this machine it checks, before it sends a byte, which user owns the other end: while
// the shadow is away anybody may listen on its port. It implements nats.CustomDialer.
type Dialer struct {
	owners []uint32
	any    bool
	tables []string // of sockets

	mu      sync.Mutex
	refused error
}

// Dialer is how a client with this authentication connects.
func (a Auth) Dialer() (*Dialer, error) {
	d := &Dialer{owners: []uint32{0, uint32(os.Geteuid())}, any: a.Owner == AnyOwner,
		tables: []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"}}
	for _, path := range []string{a.SecretFile, a.NKeyFile, a.CredsFile} {
		if uid, ok := ownerOf(path); ok {
			d.owners = append(d.owners, uid)
		}
	}
	if a.Owner != "" && !d.any {
		uid, err := strconv.ParseUint(a.Owner, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: %q is no user's id", ErrAuth, a.Owner)
		}
		d.owners = append(d.owners, uint32(uid))
	}
	return d, nil
}

func ownerOf(path string) (uint32, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}

// CheckUser returns why the process at other, which has connected to own on this machine, may not act for this user: it
// is neither this user's nor root's.
func CheckUser(other, own netip.AddrPort) error {
	d, err := Auth{}.Dialer()
	if err != nil {
		return err
	}
	s, err := d.find(unmapped(other), unmapped(own))
	switch {
	case err != nil:
		return fmt.Errorf("%w: the kernel does not say who asks: %w", ErrOtherUser, err)
	case !s.there:
		return fmt.Errorf("%w: the process that asks cannot be seen from here", ErrOtherUser)
	case !slices.Contains(d.owners, s.uid):
		return fmt.Errorf("%w: the user with id %d asks", ErrOtherUser, s.uid)
	}
	return nil
}

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// Refused is why the latest connection was not used, nil if it was.
func (d *Dialer) Refused() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// Dial implements nats.CustomDialer.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, dialTimeout)
	if err == nil && !d.any {
		err = d.check(c, address)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = nil
	if errors.Is(err, ErrStranger) {
		d.refused = err
	}
	if err != nil {
		if c != nil {
			c.Close()
		}
		return nil, err
	}
	return c, nil
}

// check checks who owns the other end if it is on this machine.
func (d *Dialer) check(c net.Conn, address string) error {
	local, remote := addrOf(c.LocalAddr()), addrOf(c.RemoteAddr())
	if !remote.Addr().IsLoopback() && remote.Addr() != local.Addr() {
		return nil
	}
	for end := time.Now().Add(acceptTimeout); ; time.Sleep(acceptLook) {
		s, err := d.find(remote, local)
		switch {
		case err != nil:
			return fmt.Errorf("%w: it cannot be found out who holds %s: %w", ErrStranger, address, err)
		case s.accepted && slices.Contains(d.owners, s.uid):
			return nil
		case s.accepted:
			return fmt.Errorf("%w: %s belongs to the user with id %d", ErrStranger, address, s.uid)
		case time.Now().After(end) && s.there:
			return fmt.Errorf("the process that listens on %s does not take connections: %w", address, os.ErrDeadlineExceeded)
		case time.Now().After(end):
			return fmt.Errorf("%w: who holds %s is not among the processes that can be seen here", ErrStranger, address)
		}
	}
}

func addrOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return unmapped(t.AddrPort())
}

// socket is one end of a connection. Before its owner accepts it, it has no inode, and its user means nothing.
type socket struct {
	uid             uint32
	there, accepted bool
}

// find looks in the kernel's tables for the socket at local that is connected to remote. A socket that is not there
// (yet) is not an error.
func (d *Dialer) find(local, remote netip.AddrPort) (socket, error) {
	var failed error
	read := 0
	for _, table := range d.tables {
		f, err := os.Open(table)
		if err != nil { // a machine without IPv6 has no tcp6
			failed = err
			continue
		}
		s := scan(f, local, remote)
		f.Close()
		if read++; s.there {
			return s, nil
		}
	}
	if read > 0 {
		failed = nil
	}
	return socket{}, failed
}

// Columns of the kernel's tables of sockets.
const (
	columnLocal, columnRemote, columnUID, columnInode = 1, 2, 7, 9
)

func scan(r io.Reader, local, remote netip.AddrPort) socket {
	port := fmt.Sprintf(":%04X", local.Port())
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if !strings.Contains(lines.Text(), port) { // tables may be long
			continue
		}
		f := strings.Fields(lines.Text())
		if len(f) <= columnInode || tableAddr(f[columnLocal]) != local || tableAddr(f[columnRemote]) != remote {
			continue
		}
		uid, err := strconv.ParseUint(f[columnUID], 10, 32)
		return socket{uid: uint32(uid), there: true, accepted: err == nil && f[columnInode] != "0"}
	}
	return socket{}
}

// tableAddr reads an address of a table: words of 32 bits as the machine stores them, in hexadecimal.
func tableAddr(text string) netip.AddrPort {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}
