// Package web serves the shadow's live page: the JVMs that run, every session of the store with its report, and what a
// user does with them. It serves the same data as JSON and to Prometheus.
//
// Addresses (docs/internals/live-page.md describes them) take from a request only the name of a session, which is
// compared with those that are there, and what changes something needs a token as well.
package web

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"stackagent/internal/timers"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
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
	Totals   func() ingest.Totals       // over all sessions since the start
	Quotas   func() []ingest.QuotaState // of services that have one; nil: there are none
	Live     LiveView                   // nil: there are no live figures
	Pushed   func() []*live.Family      // metrics of pushing metrics elsewhere; nil: that is not done
	// Healthy returns what keeps the shadow from storing; nil: nothing does.
	Healthy func() error
	// Troubles are sentences on what does not work though sessions are stored; nil: nothing is looked at.
	Troubles func() []string
	// Data writes what the page shows of a session, File the page as one file. nil: there are no reports.
	Data, File Maker
	Version    string // of Data and File: other versions' are made again
	// Flush stores what has been received of a running session; nil: it is stored when it is.
	Flush func(ctx context.Context, folder string) error
	// Remove calls remove, which deletes the session in a folder, while nobody writes to it; nil: nobody does.
	Remove func(ctx context.Context, folder string, remove func() error) error
	// Peer returns why the other end of a connection on this machine may not change anything. It is asked where there
	// is no Token; nil: everybody may.
	Peer func(other, own netip.AddrPort) error

	// Access says who may see and change what; nil: who is admitted, everything.
	Access *access.Policy
	Audit  *audit.Log // of deletes and labels; nil: none

	Fleet *Fleet // nil: sessions stay in Store

	Store string // folder of the sessions
	Bus   string // where JVMs connect
	Token string // the password of the page; "": none, and only loopback names are answered
	TLS   *tls.Config
	Note  func(format string, args ...any) // messages for its owner
	Now   func() time.Time
}

// Server shows the page.
type Server struct {
	o         Options
	catalog   *catalog.Catalog
	rates     *rates
	failures  *failures
	logged    *rate.Limiter // of refused addresses
	csrf      string
	hub       *hub // nil: there are no live figures
	answers   *answers
	known     map[string]known // by key
	streams   chan struct{}
	downloads chan struct{}

	mu      sync.Mutex
	job     *job // one at a time
	failure failure
	trouble string // with the store, that is in the log
}

// New makes a server.
func New(o Options) *Server {
	s := &Server{o: o, catalog: catalog.New(o.Store), rates: newRates(), failures: newFailures(o.Now),
		logged: rate.NewLimiter(rate.Every(logInterval), logBurst), csrf: rand.Text(), answers: newAnswers(), known: map[string]known{},
		streams: make(chan struct{}, maxStreams), downloads: make(chan struct{}, maxDownloads)}
	if o.Live != nil {
		s.hub = newHub(o.Live, o.Now())
	}
	return s
}

// Serve answers on l until ctx ends, and closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := newHTTPServer(s.Handler())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	l = netutil.LimitListener(l, maxConnections)
	if s.o.TLS != nil {
		l = tls.NewListener(l, s.o.TLS)
	}
	if s.o.Fleet != nil {
		if err := s.inStore(func(root *os.Root) error { return root.RemoveAll(madeFolder) }); err != nil {
			s.o.Note("removing old reports: %v", err)
		}
	}
	if err := s.inStore(store.Sweep); err != nil {
		s.o.Note("removing what is left of deleted sessions: %v", err)
	}
	go s.rows(access.Rights{}, nil) // the first look at a store of thousands takes a while
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	tick := timers.NewTicker(sampleInterval)
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

// newHTTPServer is a server with limits.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: log.New(io.Discard, "", 0), // bad requests are no news; the handler notes panics
	}
}

// Handler answers requests; Serve puts it behind a server with limits.
func (s *Server) Handler() http.Handler {
	closed, limited := http.NewServeMux(), http.NewServeMux()
	for pattern, handler := range map[string]http.HandlerFunc{
		"GET /{$}":             s.fleet,
		"GET /jvm/{folder}":    s.jvm,
		"GET /assets/icon.svg": icon.serve,
		"GET /assets/page.js":  script.serve,
		"GET /assets/page.css": style.serve,
		"GET /state.json":      s.state,
		"GET /sessions.json":   s.json,
		"GET /metrics":         s.metrics,
		"GET /events":          s.events,
		"GET /live.json":       s.liveJSON,
		"GET /live/{file}":     s.liveJVM,

		"GET /sessions/{folder}/report":        s.report,
		"GET /sessions/{folder}/report.html":   s.file,
		"GET /sessions/{folder}/data.json":     s.data,
		"GET /sessions/{folder}/progress.json": s.progress,
		"GET /sessions/{folder}/download":      s.download,
		"GET /services":                        s.servicesPage,
		"GET /services.json":                   s.question,
		"GET /services/findings.json":          s.question,
		"GET /services/outliers.json":          s.question,
		"GET /services/trends.json":            s.question,
		"GET /services/versions.json":          s.question,
		"GET /services/sessions.json":          s.storedSessions,
		"GET /stored":                          s.storedNamed,

		"GET /stored/{date}/{service}/{session}/report":        s.report,
		"GET /stored/{date}/{service}/{session}/report.html":   s.file,
		"GET /stored/{date}/{service}/{session}/data.json":     s.data,
		"GET /stored/{date}/{service}/{session}/progress.json": s.progress,

		"POST /sessions/{folder}/label": s.changing(s.label),
		"DELETE /sessions/{folder}":     s.changing(s.remove),
	} {
		closed.HandleFunc(pattern, handler)
		if filtered[pattern] {
			limited.HandleFunc(pattern, handler)
		}
	}

	// Probes carry no password and ask by address; the answers reveal nothing about
	// the sessions.
	open := http.NewServeMux()
	open.Handle("/", s.guard(closed, limited))
	open.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	open.HandleFunc("GET /healthz", s.health)
	return s.safe(open)
}

// safe adds the headers of every answer to next, and notes its panics.
func (s *Server) safe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == http.ErrAbortHandler { //nolint:errorlint // the value itself asks the server to cut the connection
				panic(p)
			}
			if p != nil {
				s.o.Note("the live page failed over a request: %v\n%s", p, debug.Stack())
				plain(w, http.StatusInternalServerError, "this request failed; the shadow's log says more")
			}
		}()
		setHeaders(w.Header())
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete: // the routes say which of them
		default:
			w.Header().Set("Allow", "GET, HEAD, POST, DELETE")
			plain(w, http.StatusMethodNotAllowed, "no address of this page takes this method")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// setHeaders forbids browsers everything that the page does not need.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
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

// storeTrouble notes why the store cannot be listed, once.
func (s *Server) storeTrouble(err error) {
	said := ""
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		said = err.Error()
	}
	s.mu.Lock()
	news := said != s.trouble
	s.trouble = said
	s.mu.Unlock()
	if news && said != "" {
		s.o.Note("the live page: %s", said)
	}
}
