package publish

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
)

const connectTimeout = 2 * time.Second

// Auth is how the agent identifies itself.
type Auth = busauth.Auth

// configure turns Config into options of the client library and reports what is
// wrong with them now, not later in the background.
func (p *Publisher) configure() error {
	list := []nats.Option{
		nats.Name("stackagent " + p.cfg.Session),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a token may become valid when the shadow is restarted
		nats.CustomReconnectDelay(reconnectDelay),
		nats.ReconnectBufSize(-1), // the buffer is ours
		nats.SkipHostLookup(),     // boundedDialer resolves names
		nats.Timeout(connectTimeout),
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(2),
		// The library's own handler would write to the program's stderr.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	auth, err := p.cfg.Auth.Options()
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.opts = nats.GetDefaultOptions()
	for _, o := range append(list, auth...) {
		if err := o(&p.opts); err != nil {
			return fmt.Errorf("publish: bus options: %w", err)
		}
	}
	servers, err := busauth.ParseServers(p.cfg.URL)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	p.opts.Servers, p.shown = servers.URLs, servers.Shown
	if servers.User != "" {
		p.opts.InboxPrefix = busauth.Inbox(servers.User)
	}
	p.dialer, _ = p.opts.CustomDialer.(*busauth.Dialer)
	if p.opts.CustomDialer == nil {
		p.opts.CustomDialer = &net.Dialer{Timeout: connectTimeout}
	}
	p.opts.CustomDialer = boundedDialer{p.opts.CustomDialer} // around the one that the options chose
	return nil
}

func reconnectDelay(attempts int) time.Duration { return backoff(attempts) }

// backoff doubles from firstBackoff to lastBackoff.
func backoff(failures int) time.Duration {
	d := firstBackoff
	for i := 1; i < failures && d < lastBackoff; i++ {
		d *= 2
	}
	return min(d, lastBackoff)
}

// connect makes the connection. The library reconnects by itself; its handlers only
// poke the goroutine. connect retries if the library gives up at once.
func (p *Publisher) connect(ctx context.Context, failed func(error)) *nats.Conn {
	p.opts.ConnectedCB = func(*nats.Conn) { p.poke() }
	p.opts.ReconnectedCB = func(*nats.Conn) { p.poke() }
	p.opts.DisconnectedErrCB = func(*nats.Conn, error) { p.poke() }
	for i := 1; ; i++ {
		conn, err := p.opts.Connect()
		if err == nil {
			return conn
		}
		failed(err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(backoff(i)):
		}
	}
}
