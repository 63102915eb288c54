package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"stackagent/internal/units"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

// Limits of the page's server.
const (
	pageTimeout  = 10 * time.Second
	pageHeader   = 16 << 10
	shutdownTime = 2 * time.Second
)

// page is the live page: the sessions with their counts.
type page struct {
	sessions   func() []ingest.Progress
	store, bus string
	token      string // "": none is asked for, and only loopback names are answered
	now        func() time.Time
}

// serve answers on l until ctx ends.
func (p page) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: p.handler(), ReadTimeout: pageTimeout, WriteTimeout: pageTimeout, MaxHeaderBytes: pageHeader}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("the live page: %w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ending the live page: %w", err)
	}
	return nil
}

func (p page) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.html)
	mux.HandleFunc("GET /sessions.json", p.json)
	return p.guard(mux)
}

// guard lets in who may see the page. Without a token the name asked for must
// be a loopback one: otherwise a page elsewhere could have its own name point
// here and read along (DNS rebinding).
func (p page) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if p.token != "" {
			_, password, _ := r.BasicAuth()
			if subtle.ConstantTimeCompare([]byte(password), []byte(p.token)) != 1 {
				h.Set("WWW-Authenticate", `Basic realm="shadow"`)
				http.Error(w, "the token of the bus is the password", http.StatusUnauthorized)
				return
			}
		} else if !loopbackHost(r.Host) {
			http.Error(w, "ask for this page as 127.0.0.1 or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopbackHost(host string) bool {
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "80")
	}
	return loopbackAddress(host)
}

// pageRow is a session on the page.
type pageRow struct {
	Session    string `json:"session"`
	Program    string `json:"program"`
	PID        int    `json:"pid"`
	Executions uint64 `json:"executions"`
	Creations  uint64 `json:"creations"`
	Stored     uint64 `json:"stored"`
	Lost       uint64 `json:"lost"`
	State      string `json:"state"`
	Folder     string `json:"folder"`
}

func (p page) rows() []pageRow {
	sessions := p.sessions()
	rows := make([]pageRow, 0, len(sessions))
	for i := len(sessions) - 1; i >= 0; i-- { // the newest first
		s := sessions[i]
		state := s.Ended
		if state == store.EndedRunning {
			state = "running, last heard of " + units.FormatNs(units.Ns(p.now().Sub(s.LastBatch))) + " ago"
		}
		rows = append(rows, pageRow{
			Session: s.Session, Program: s.JVM.MainClass, PID: s.JVM.PID, Executions: s.Received.Executions,
			Creations: s.Received.Creations, Stored: s.Stored.Sum(), Lost: s.Lost.Events, State: state, Folder: filepath.Join(p.store, s.Folder),
		})
	}
	return rows
}

func (p page) json(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, p.rows()) // the browser has gone; nothing to do
}

func (p page) html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, map[string]any{"Rows": p.rows(), "Store": p.store, "Bus": p.bus})
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"exact": func(n uint64) string { return units.FormatExact(int64(n)) }, "clean": clean,
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width"><title>shadow</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35em .7em; text-align: left; border-bottom: 1px solid #8885; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.name { overflow-wrap: anywhere; }
p { opacity: .75; }
</style></head><body>
<h1>shadow</h1>
{{if .Rows}}<table><thead><tr><th>session<th>program<th class="n">process<th class="n">executions<th class="n">creations<th class="n">lost<th>state</tr></thead><tbody>
{{range .Rows}}<tr><td class="name" title="{{.Folder}}">{{clean .Session}}<td class="name">{{clean .Program}}<td class="n">{{.PID}}<td class="n">{{exact .Executions}}<td class="n">{{exact .Creations}}<td class="n">{{exact .Lost}}<td>{{.State}}</tr>
{{end}}</tbody></table>{{else}}<p>No JVM has connected yet.</p>{{end}}
<p>Bus {{.Bus}}. Sessions are stored in {{.Store}}; look at one with <code>shadow stats</code>.</p>
</body></html>
`))
