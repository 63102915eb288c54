package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
)

// JoinOptions of Join.
type JoinOptions struct {
	URL  string // of servers of one cluster, joined with ','
	Auth busauth.Auth

	Replicas int           // copies that a cluster keeps of a batch; 0: 3 if it can
	MaxBytes int64         // bound of the stream; 0: as it is, or DefaultMaxBytes
	MaxAge   time.Duration // of a batch; 0: as it is, or DefaultMaxAge
	Logger   *slog.Logger  // nil: slog.Default()
}

// Join connects to a running server or cluster. It creates the stream if there is
// none, and changes an existing one only as far as the options ask.
func Join(o JoinOptions) (*Bus, error) {
	b, err := openServer(o)
	if err != nil {
		return nil, err
	}
	if err := b.prepareStream(o.stream()); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Reach is Join for a client that only publishes batches. An agent's key suffices; the stream must exist.
func Reach(o JoinOptions) (*Bus, error) {
	b, err := openServer(o)
	if err != nil {
		return nil, err
	}
	if err := b.prepareStream(o.stream()); err != nil && !errors.Is(err, nats.ErrPermissionViolation) {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Connect is Join for a client that uses no stream: an observer.
func Connect(o JoinOptions) (*Bus, error) { return openServer(o) }

func (o JoinOptions) stream() streamOptions {
	return streamOptions{MaxBytes: o.MaxBytes, MaxAge: o.MaxAge, Replicas: o.Replicas}
}

func openServer(o JoinOptions) (*Bus, error) {
	servers, err := busauth.ParseServers(o.URL)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	auth, err := o.Auth.Options()
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	options := nats.GetDefaultOptions()
	for _, set := range append(auth, o.connection()...) {
		if err := set(&options); err != nil {
			return nil, fmt.Errorf("bus: %w", err)
		}
	}
	options.Servers = servers.URLs
	var conn *nats.Conn
	err = Patiently(func() (err error) {
		conn, err = options.Connect()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bus: cannot join the server at %s (is it up, is the authentication right?): %w", servers.Shown, err)
	}
	b := &Bus{conn: conn, url: servers.Shown, token: o.Auth.Token}
	if err := b.protected(servers, o.Auth); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (o JoinOptions) connection() []nats.Option {
	return []nats.Option{
		nats.Name("shadow"), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.ReconnectWait(250 * time.Millisecond), nats.Timeout(3 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Logger.Warn("bus: the connection is gone; trying again", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Logger.Debug("bus", "error", err) }),
	}
}

// protected refuses a server beyond loopback without authentication.
func (b *Bus) protected(servers busauth.Servers, a busauth.Auth) error {
	if !servers.Beyond {
		return nil
	}
	_, err := b.conn.TLSConnectionState()
	encrypted := err == nil
	if !b.conn.AuthRequired() && !(encrypted && a.TLSCert != "") {
		return fmt.Errorf("%w (the server at %s asks for none)", ErrUnprotected, servers.Shown)
	}
	if !encrypted {
		b.warning = "the bus is beyond loopback without TLS: who can listen on the network reads the batches and the secrets of the bus"
	}
	return nil
}
