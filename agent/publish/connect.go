package publish

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Auth is how the agent shows who it is; a user and password, or a token, may
// also be part of the URL.
type Auth struct {
	Token     string
	CredsFile string // NATS credentials (JWT and seed)
	TLSCA     string // PEM file of the authorities that the server's certificate is checked against
	TLSCert   string // PEM files of the client's certificate and key
	TLSKey    string
}

// configure turns Config into options of the client library and finds what is
// wrong with them now, not in the background.
func (p *Publisher) configure() error {
	list := []nats.Option{
		nats.Name("stackagent " + p.cfg.Session),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // a token may become valid when the shadow is restarted
		nats.CustomReconnectDelay(reconnectDelay),
		nats.ReconnectBufSize(-1), // the buffer is ours
		nats.Timeout(2 * time.Second),
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(2),
		// The library's own handler would write to the program's stderr.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	auth, err := p.cfg.Auth.options()
	if err != nil {
		return err
	}
	p.opts = nats.GetDefaultOptions()
	for _, o := range append(list, auth...) {
		if err := o(&p.opts); err != nil {
			return fmt.Errorf("publish: bus options: %w", err)
		}
	}
	return p.servers()
}

// servers checks the URLs and makes the text that is shown for them.
func (p *Publisher) servers() error {
	var names []string
	for _, s := range strings.Split(p.cfg.URL, ",") {
		s = strings.TrimSpace(s)
		if !strings.Contains(s, "://") {
			s = "nats://" + s
		}
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			return fmt.Errorf("publish: bus URL %q: want nats://HOST:PORT or tls://HOST:PORT", withoutUser(s))
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return fmt.Errorf("publish: bus URL with scheme %q: want nats, tls, ws or wss", u.Scheme)
		}
		p.opts.Servers = append(p.opts.Servers, s)
		u.User = nil // credentials are not shown
		names = append(names, u.String())
	}
	p.shown = strings.Join(names, ",")
	return nil
}

// withoutUser cuts the credentials off a URL that can not be parsed.
func withoutUser(s string) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return s[at+1:]
	}
	return s
}

func (a Auth) options() ([]nats.Option, error) {
	var list []nats.Option
	if a.Token != "" {
		list = append(list, nats.Token(a.Token))
	}
	if a.CredsFile != "" {
		if err := readable(a.CredsFile); err != nil {
			return nil, fmt.Errorf("publish: creds: %w", err)
		}
		list = append(list, nats.UserCredentials(a.CredsFile))
	}
	if a.TLSCA != "" {
		list = append(list, nats.RootCAs(a.TLSCA))
	}
	if (a.TLSCert == "") != (a.TLSKey == "") {
		return nil, fmt.Errorf("publish: tlscert and tlskey go together; only one of them is given")
	}
	if a.TLSCert != "" {
		list = append(list, nats.ClientCert(a.TLSCert, a.TLSKey))
	}
	return list, nil
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
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

// connect makes the connection, which then looks after itself. Its handlers
// only poke the goroutine. It tries again when the library gives up at once.
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
