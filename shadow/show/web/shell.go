package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"stackagent/internal/text"
	"stackagent/shadow/show/page"
)

// Pages of the shell, in the attribute data-page of the root element.
const (
	fleetPage   = "fleet"   // the running JVMs and the stored sessions
	jvmPage     = "jvm"     // a running JVM
	sessionPage = "session" // the report of a session

	servicesShell = "services" // the services of a fleet
)

//go:embed shell.html
var shellHTML string

// asset is a file of the front end. Its address changes with its content, so that browsers may keep it.
type asset struct {
	kind, content string
	hash          func() string // of the content
}

func newAsset(kind, content string) asset {
	return asset{kind, content, sync.OnceValue(func() string {
		sum := sha256.Sum256([]byte(content))
		return hex.EncodeToString(sum[:8])
	})}
}

//go:embed icon.svg
var iconSVG string

var (
	icon   = newAsset("image/svg+xml", iconSVG)
	script = newAsset("text/javascript; charset=utf-8", page.Script)
	style  = newAsset("text/css; charset=utf-8", page.Style)
)

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("ETag", `"`+a.hash()+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == a.hash() {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(a.content))
}

// fleet shows the running JVMs and the stored sessions.
func (s *Server) fleet(w http.ResponseWriter, _ *http.Request) {
	s.shell(w, fleetPage, "", "shadow")
}

// jvm shows a running JVM.
func (s *Server) jvm(w http.ResponseWriter, r *http.Request) {
	if x, ok := s.find(w, r); ok {
		s.shell(w, jvmPage, x.ID, x.title())
	}
}

// report shows the report of a session: one that runs, up to now.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	x, ok := s.findAny(w, r)
	switch {
	case !ok:
	case x.key != "":
		s.shellOf(w, sessionPage, "", storedAddress(x.key), x.title())
	default:
		s.shellOf(w, sessionPage, x.ID, addressOf(x.ID), x.title())
	}
}

func (s *Server) shell(w http.ResponseWriter, kind, folder, title string) {
	s.shellOf(w, kind, folder, "", title)
}

// shellOf is the shell of a page, with the address of the session whose report it shows; "": of none.
func (s *Server) shellOf(w http.ResponseWriter, kind, folder, address, title string) {
	session := ""
	if folder != "" {
		session += ` data-folder="` + html.EscapeString(folder) + `"`
	}
	if address != "" {
		address = html.EscapeString(address)
		session += ` data-source="` + address + `/data.json" data-progress="` + address + `/progress.json"`
	}
	values := map[string]string{"page": html.EscapeString(kind), "session": session, "title": html.EscapeString(text.Clean(title, utf8.RuneError)),
		"style": style.hash(), "script": script.hash()}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, os.Expand(shellHTML, func(place string) string { return values[place] })) // the client has gone; nothing to do
}

// addressOf is where the page has a session.
func addressOf(folder string) string { return "/sessions/" + url.PathEscape(folder) }
