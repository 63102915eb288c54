// Package bus is the shadow's own message bus: an embedded NATS server with
// JetStream, or a connection to a server that is already there.
//
// Batches wait in the stream until they are stored: the stream is a work
// queue, so that a message leaves it when ingest acknowledges it, and it
// refuses new messages when it is full (the agent then spools or drops, and
// counts) rather than throw away what nobody has stored yet.
package bus

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names on the bus; agents publish to wire.Subject(session).
const (
	Stream   = "STACKAGENT"
	Subjects = "stackagent.v1.batch.>"
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
	startTimeout    = 10 * time.Second
)

// ErrUnprotected is returned when a server would listen beyond loopback
// without a token that its owner chose.
var ErrUnprotected = errors.New("bus: refusing to listen beyond loopback without authentication; give a token")

// Options of Start.
type Options struct {
	Listen   string // HOST:PORT; "" is DefaultListen, port 0 or -1 a free one
	StoreDir string // where JetStream keeps its files; created with mode 0700
	Token    string // "": a random one on loopback
	NoAuth   bool   // no token at all; only on loopback
	MaxBytes int64  // bound of the stream, bytes; 0: DefaultMaxBytes, or half of the free disk if that is less
	MaxAge   time.Duration
	// SyncAlways makes the server fsync every message before it answers the
	// agent. Slower; only needed to survive a crash of the machine itself.
	SyncAlways bool
	Logger     *slog.Logger // nil: slog.Default()
}

// Bus is a running server, or a connection to one.
type Bus struct {
	srv   *server.Server // nil when joined
	conn  *nats.Conn
	js    jetstream.JetStream
	url   string
	token string

	revived chan struct{} // see Revived
	quit    chan struct{} // ends the keeper; nil when joined
	kept    chan struct{} // the keeper has ended
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
	token, err := chooseToken(o, host)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.StoreDir, 0o700); err != nil {
		return nil, fmt.Errorf("bus: folder for the stream: %w", err)
	}
	if free, err := freeBytes(o.StoreDir); o.MaxBytes <= 0 && err == nil {
		o.MaxBytes = min(DefaultMaxBytes, max(free/2, leastMaxBytes)) // the other half is for the sessions
	}
	log := &serverLog{log: o.Logger}
	srv, err := startServer(o, host, port, token, log)
	if err != nil {
		return nil, err
	}
	b := &Bus{srv: srv, token: token, url: srv.ClientURL(), revived: make(chan struct{}, 1)}
	b.conn, err = nats.Connect(b.url, nats.InProcessServer(srv), nats.Token(token), nats.Name("shadow"))
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("bus: connecting to the embedded server: %w", err)
	}
	if err := b.prepareStream(o); err != nil {
		b.Close()
		return nil, err
	}
	b.quit, b.kept = make(chan struct{}), make(chan struct{})
	go b.keep(o, log)
	return b, nil
}

func startServer(o Options, host string, port int, token string, log *serverLog) (*server.Server, error) {
	if port > 0 { // the server only logs a port in use; ask first for a clear error
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("bus: cannot listen (is another shadow running? choose another --listen): %w", err)
		}
		l.Close()
	}
	srv, err := server.NewServer(&server.Options{
		ServerName: "shadow", Host: host, Port: port, Authorization: token,
		JetStream: true, StoreDir: o.StoreDir, JetStreamMaxStore: o.storeBytes(), JetStreamMaxMemory: streamMemory,
		SyncInterval: syncInterval, SyncAlways: o.SyncAlways, NoSigs: true, DisableShortFirstPing: true,
	})
	if err != nil {
		return nil, fmt.Errorf("bus: embedded server: %w", err)
	}
	srv.SetLogger(log, false, false)
	srv.Start()
	if !srv.ReadyForConnections(startTimeout) {
		srv.Shutdown()
		return nil, fmt.Errorf("bus: embedded server did not start within %v: %s", startTimeout, log.last())
	}
	if !srv.JetStreamEnabled() {
		srv.Shutdown()
		return nil, fmt.Errorf("bus: the stream in %s cannot be opened: %s", o.StoreDir, log.last())
	}
	return srv, nil
}

// Join connects to a server that already runs; auth is its token, or "" when
// the URL carries the credentials or none are needed. The stream is created
// when it is not there; one that is there is left as its owner made it.
func Join(url, auth string) (*Bus, error) {
	opts := []nats.Option{nats.Name("shadow"), nats.MaxReconnects(-1)}
	if auth != "" {
		opts = append(opts, nats.Token(auth))
	}
	conn, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("bus: cannot join the server (is it up, is the token right?): %w", err)
	}
	b := &Bus{conn: conn, url: conn.ConnectedUrlRedacted(), token: auth}
	if err := b.prepareStream(Options{}); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Bus) prepareStream(o Options) error {
	js, err := jetstream.New(b.conn)
	if err != nil {
		return fmt.Errorf("bus: JetStream: %w", err)
	}
	b.js = js
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if b.srv == nil {
		if _, err := js.Stream(ctx, Stream); err == nil {
			return nil
		}
	}
	maxAge := o.MaxAge
	if maxAge == 0 {
		maxAge = DefaultMaxAge
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Subjects: []string{Subjects},
		Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
		MaxBytes: maxBytes(o), MaxAge: maxAge, Duplicates: min(duplicateWindow, maxAge),
	})
	if err != nil {
		return fmt.Errorf("bus: stream %s (does the server have JetStream?): %w", Stream, err)
	}
	return nil
}

// Conn is the shadow's own connection.
func (b *Bus) Conn() *nats.Conn { return b.conn }

// JetStream is the stream's interface on that connection.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// ClientURL is where agents connect; it does not hold the token.
func (b *Bus) ClientURL() string { return b.url }

// Token is the secret that agents present, "" when none is needed.
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

// tableBytes is room for the tables of package share, which reserve theirs.
const tableBytes = 256 << 20

// storeBytes is what the server may use on the disk in all.
func (o Options) storeBytes() int64 { return maxBytes(o) + maxBytes(o)/8 + tableBytes }

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

func chooseToken(o Options, host string) (string, error) {
	switch {
	case o.Token != "":
		return o.Token, nil
	case !loopback(host):
		return "", fmt.Errorf("%w (listen address %s)", ErrUnprotected, host)
	case o.NoAuth:
		return "", nil
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("bus: random token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
