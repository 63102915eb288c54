// Package web serves the shadow's live page: the sessions with their state and losses,
// and the reports of ended ones. It serves the same data as JSON and to Prometheus.
//
// The page only shows. It answers GET and HEAD, carries no script, and takes
// nothing from a request but the name of a session that it knows.
package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"stackagent/internal/beat"
	"stackagent/shadow/ingest"
)

// Limits of the server.
const (
	headerTimeout  = 5 * time.Second // for a whole request header
	requestTimeout = 10 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 16 << 10
	maxConnections = 128
	shutdownTime   = 2 * time.Second
)

// Options of New.
type Options struct {
	Sessions func() []ingest.Progress
	Totals   func() ingest.Totals // over all sessions since the start
	// Healthy returns what keeps the shadow from storing; nil: nothing does.
	Healthy func() error
	// Report writes the report of the session in the folder dir to the file
	// ReportName in it. nil: the page has no reports.
	Report func(ctx context.Context, dir string) error
	Store  string // folder of the sessions
	Bus    string // where JVMs connect
	Token  string // the password of the page; "": none, and only loopback names are answered
	TLS    *tls.Config
	Note   func(format string, args ...any) // messages for its owner
	Now    func() time.Time
}

// Server shows the page.
type Server struct {
	o        Options
	rates    *rates
	failures *failures
	logged   *rate.Limiter // of refused addresses
	building chan struct{} // one report at a time
}

// New makes a server.
func New(o Options) *Server {
	return &Server{o: o, rates: newRates(), failures: newFailures(o.Now), logged: rate.NewLimiter(rate.Every(logInterval), logBurst),
		building: make(chan struct{}, 1)}
}

// Serve answers on l until ctx ends, and closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:    log.New(io.Discard, "", 0), // bad requests are no news; the handler notes panics
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	l = netutil.LimitListener(l, maxConnections)
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	tick := beat.NewTicker(sampleInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the live page: %w", err)
		case <-tick.C:
			s.rates.observe(s.o.Now(), s.o.Sessions())
			continue
		case <-ctx.Done():
		}
		break
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ending the live page: %w", err)
	}
	return nil
}

// Handler answers requests; Serve puts it behind a server with limits.
func (s *Server) Handler() http.Handler {
	closed := http.NewServeMux()
	closed.HandleFunc("GET /{$}", s.page)
	closed.HandleFunc("GET /page.css", s.css)
	closed.HandleFunc("GET /sessions.json", s.json)
	closed.HandleFunc("GET /sessions/{folder}/report", s.report)
	closed.HandleFunc("GET /metrics", s.metrics)

	// Probes carry no password and ask by address; the answers reveal nothing about
	// the sessions.
	open := http.NewServeMux()
	open.Handle("/", s.guard(closed))
	open.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	open.HandleFunc("GET /healthz", s.health)
	return s.safe(open)
}

// safe adds the headers of every answer to next, and notes its panics.
func (s *Server) safe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.o.Note("the live page failed over a request: %v\n%s", p, debug.Stack())
				plain(w, http.StatusInternalServerError, "this request failed; the shadow's log says more")
			}
		}()
		setHeaders(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			plain(w, http.StatusMethodNotAllowed, "this page is read-only: use GET or HEAD")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// setHeaders forbids browsers everything that the page does not need.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.o.Healthy != nil && s.o.Healthy() != nil { // the reason is for those who may see the page
		plain(w, http.StatusServiceUnavailable, "not storing")
		return
	}
	plain(w, http.StatusOK, "ok")
}

// plain answers with one line of text.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the client has gone; nothing to do
}
