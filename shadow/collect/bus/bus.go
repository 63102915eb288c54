// Package bus is the shadow's own message bus: an embedded NATS server with
// JetStream, or a connection to an existing server.
//
// Batches wait in the stream until they are stored: the stream is a work
// queue, so that a message leaves it when ingest acknowledges it, and it
// refuses new messages when it is full (the agent then spools or drops, and
// counts) instead of discarding what nobody has stored yet.
package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/timers"
)

// Names on the bus; agents publish to wire.Subject(session).
const (
	Stream   = "STACKAGENT"
	Subjects = "stackagent.v1.batch.>"
	Observed = "stackagent.v1.observed." // before a session's name: what an observer saw of it
)

// Defaults of Options.
const (
	DefaultListen   = "127.0.0.1:4222"
	DefaultMaxBytes = 8 << 30            // bytes of batches not yet stored
	DefaultMaxAge   = 7 * 24 * time.Hour // of a batch not yet stored
	leastMaxBytes   = 16 << 20
	streamMemory    = 64 << 20 // bound of what the server may use for streams in memory; there are none
	duplicateWindow = 2 * time.Minute
	syncInterval    = time.Second // a crash of the machine loses at most this much of the stream
)

// ErrUnprotected is returned if a server would listen beyond loopback, or is joined there, without authentication that
// its owner chose.
var ErrUnprotected = errors.New("bus: refusing to go beyond loopback without authentication; give a token, users, or client certificates")

// Options of Start.
type Options struct {
	Listen   string // HOST:PORT; "" is DefaultListen, port 0 or -1 a free one
	StoreDir string // where JetStream keeps its files; created with mode 0700
	// Token is the secret of the agents: a token, or the seed of an NKEY, which never travels. "": a random NKEY
	// on loopback.
	Token string
	// ShadowSeed is the seed of the NKEY of shadows that join; "": none may.
	ShadowSeed string
	// ObserverSeed is the seed of the NKEY of observers; "": none may connect.
	ObserverSeed string
	OldTokens    []string // that still let agents in
	NoAuth       bool     // agents need no secret; only on loopback
	// Users is a file in the syntax of NATS with the users and NKEYs that may connect, in place of a token:
	// authorization { users = [...] }.
	Users    string
	TLS      TLS
	MaxBytes int64 // bound of the stream, bytes; 0: DefaultMaxBytes, or half of the free disk if that is less
	MaxAge   time.Duration
	// SyncAlways makes the server fsync every message before it answers the
	// agent. Slower; only needed to survive a crash of the machine itself.
	SyncAlways bool
	Logger     *slog.Logger // nil: slog.Default()
	// Full, if not nil, is called with true when the stream takes nothing because the disk is full, and with false
	// when it does again.
	Full func(full bool)
}

// Bus is a running server, or a connection to one.
type Bus struct {
	srv     *server.Server // nil when joined
	conn    *nats.Conn
	js      jetstream.JetStream
	url     string
	token   string
	warning string          // see Warning
	streams *server.Account // see Activity; nil when joined

	revived  chan struct{} // see Revived
	arrivals chan struct{} // see Arrivals
	quit     chan struct{} // ends the keeper; nil when joined
	kept     chan struct{} // the keeper has ended
}

// Start runs an embedded server and creates the stream.
func Start(o Options) (*Bus, error) {
	host, port, err := listenAddress(o.Listen)
	if err != nil {
		return nil, err
	}
	if o.StoreDir == "" {
		return nil, errors.New("bus: no folder for the stream (Options.StoreDir)")
	}
	access, err := chooseAccess(o, host)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.StoreDir, 0o700); err != nil {
		return nil, fmt.Errorf("bus: folder for the stream: %w", err)
	}
	if free, err := freeBytes(o.StoreDir); o.MaxBytes <= 0 && err == nil {
		o.MaxBytes = fitting(free)
	}
	log := &serverLog{log: o.Logger, breaks: make(chan struct{}, 1)}
	srv, err := startServer(o, host, port, access, log)
	if err != nil {
		return nil, err
	}
	b := &Bus{srv: srv, streams: streamsOf(srv), token: access.secret, url: clientURL(srv, access), revived: make(chan struct{}, 1)}
	if access.keys != nil {
		b.arrivals = access.keys.arrivals
	}
	if !busauth.Loopback(host) && access.tls == nil {
		b.warning = "the bus is beyond loopback without TLS: who can listen on the network reads the batches and the secrets of the bus"
	}
	own := []nats.Option{access.own(), nats.InProcessServer(srv), nats.Name("shadow"), nats.Timeout(startTimeout)}
	err = Patiently(func() (err error) {
		b.conn, err = nats.Connect("nats://"+DefaultListen, own...) // the URL is ignored
		return err
	})
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("bus: connecting to the embedded server: %w", err)
	}
	if err := b.prepareStream(streamOptions{MaxBytes: maxBytes(o), MaxAge: o.MaxAge, Update: true}); err != nil {
		b.Close()
		return nil, err
	}
	timers.Set(time.Unix(0, ats.AccessTime()))
	b.quit, b.kept = make(chan struct{}), make(chan struct{})
	go b.keep(o, log)
	return b, nil
}

func startServer(o Options, host string, port int, access access, log *serverLog) (*server.Server, error) {
	if port > 0 { // the server only logs a port in use; ask first for a clear error
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("bus: cannot listen (is another shadow running? choose another --listen): %w", err)
		}
		l.Close()
	}
	options := &server.Options{
		ServerName: "shadow", Host: host, Port: port,
		JetStream: true, StoreDir: o.StoreDir, JetStreamMaxStore: o.storeBytes(), JetStreamMaxMemory: streamMemory,
		SyncInterval: syncInterval, SyncAlways: o.SyncAlways, NoSigs: true, DisableShortFirstPing: true,
	}
	access.apply(options)
	srv, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("bus: embedded server: %w", err)
	}
	access.keys.serve(srv)
	srv.SetLogger(log, false, false)
	srv.Start()
	if !ready(srv, log) {
		srv.Shutdown()
		return nil, fmt.Errorf("bus: embedded server did not start: %s", log.last())
	}
	if err := giveStreams(srv); err != nil {
		srv.Shutdown()
		return nil, fmt.Errorf("bus: the stream in %s cannot be opened: %w: %s", o.StoreDir, err, log.last())
	}
	return srv, nil
}

// Conn is the shadow's own connection.
func (b *Bus) Conn() *nats.Conn { return b.conn }

// JetStream is the stream's interface on that connection.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// ClientURL is where agents connect; it does not hold the token.
func (b *Bus) ClientURL() string { return b.url }

// Joined reports whether the server is another's.
func (b *Bus) Joined() bool { return b.srv == nil }

// Warning is what the owner of the bus should know about its protection, or "".
func (b *Bus) Warning() string { return b.warning }

// Token is what agents have in their token file: a token, or the seed of an NKEY; "" when none is needed or there are
// users.
func (b *Bus) Token() string { return b.token }

// Close ends the connection and, when it is ours, the server.
func (b *Bus) Close() {
	if b.quit != nil {
		close(b.quit)
		<-b.kept
		b.quit = nil
	}
	if b.conn != nil {
		b.conn.Close()
	}
	if b.srv != nil {
		b.srv.Shutdown()
		b.srv.WaitForShutdown()
	}
}

// tableBytes is room for the tables of package ownership, which reserve theirs.
const tableBytes = 256 << 20

// storeBytes is what the server may use on the disk in all.
func (o Options) storeBytes() int64 { return maxBytes(o) + maxBytes(o)/8 + tableBytes }

// fitting is the default bound of the stream on a disk with this much free, all in bytes: the other half is for the sessions.
func fitting(free int64) int64 { return min(DefaultMaxBytes, max(free/2, leastMaxBytes)) }

func maxBytes(o Options) int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return DefaultMaxBytes
}

func listenAddress(s string) (host string, port int, err error) {
	if s == "" {
		s = DefaultListen
	}
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("bus: listen address %q (want HOST:PORT): %w", s, err)
	}
	port, err = strconv.Atoi(p)
	if err != nil || port < -1 || port > 65535 {
		return "", 0, fmt.Errorf("bus: listen address %q: port %q is not a number from 0 to 65535", s, p)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if host == "" {
		host = "0.0.0.0" // ":4222" means every interface, here as everywhere
	}
	return host, port, nil
}
