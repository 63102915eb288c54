package objectstore

import (
	"context"
	"net"
	"net/http"
	"time"
)

// newTransport makes connections that are given up after so long a silence: while connecting, waiting for an answer, or in
// the middle of a body. A transfer that goes on may take as long as it needs.
func newTransport(silence time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: min(silence, 10*time.Second)}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &watched{Conn: c, silence: silence}, nil
	}
	t.ForceAttemptHTTP2 = false // object stores do not speak it, and one slow stream would hold up the others
	t.DisableCompression = true // bytes as they are: ranges count them
	t.MaxIdleConnsPerHost = 64
	t.IdleConnTimeout = min(silence, t.IdleConnTimeout)
	return t
}

// watched is a connection on which something must move. Writing also extends the time of a read that waits: the answer to
// a long upload comes when all is sent.
type watched struct {
	net.Conn
	silence time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	if err := w.SetDeadline(time.Now().Add(w.silence)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

func (w *watched) Write(p []byte) (int, error) {
	if err := w.SetDeadline(time.Now().Add(w.silence)); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}
