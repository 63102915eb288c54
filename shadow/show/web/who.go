package web

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"stackagent/internal/text"
	"stackagent/shadow/show/web/access"
)

// Words of the audit log for who has no name.
const (
	whoPassword = "page password"
	whoLocal    = "local user"
)

type rightsKey struct{}

// rightsOf are those of who sent the request: nothing, if no guard admitted it.
func rightsOf(r *http.Request) access.Rights {
	rights, _ := r.Context().Value(rightsKey{}).(access.Rights)
	return rights
}

func withRights(r *http.Request, rights access.Rights) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), rightsKey{}, rights))
}

// filtered are the patterns that show only what the rights allow. Who may not see everything reaches no others: an
// address that is added later is closed until it stands here.
var filtered = map[string]bool{
	"GET /{$}": true, "GET /jvm/{folder}": true, "GET /assets/icon.svg": true, "GET /assets/page.js": true, "GET /assets/page.css": true,
	"GET /state.json": true, "GET /sessions.json": true, "GET /metrics": true, "GET /events": true, "GET /live.json": true, "GET /live/{file}": true,
	"GET /sessions/{folder}/report": true, "GET /sessions/{folder}/report.html": true, "GET /sessions/{folder}/data.json": true,
	"GET /sessions/{folder}/progress.json": true, "GET /sessions/{folder}/download": true,
	"GET /services": true, "GET /services.json": true, "GET /services/findings.json": true, "GET /services/outliers.json": true,
	"GET /services/trends.json": true, "GET /services/versions.json": true, "GET /services/sessions.json": true, "GET /stored": true,
	"GET /stored/{date}/{service}/{session}/report": true, "GET /stored/{date}/{service}/{session}/report.html": true,
	"GET /stored/{date}/{service}/{session}/data.json": true, "GET /stored/{date}/{service}/{session}/progress.json": true,
	"POST /sessions/{folder}/label": true, "DELETE /sessions/{folder}": true,
}

// guardPolicy admits who may see anything, with what the policy allows.
func (s *Server) guardPolicy(w http.ResponseWriter, r *http.Request, all, limited http.Handler) {
	rights, ok := s.identify(w, r)
	if !ok {
		return
	}
	if rights.None() {
		plain(w, http.StatusForbidden, text.Clean("refused: "+rights.Who+" may see no service here; ask whoever keeps the file of --access", '?'))
		return
	}
	next := limited
	if rights.All() {
		next = all
	}
	next.ServeHTTP(w, withRights(r, rights))
}

// identify finds out who asks, or answers.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (access.Rights, bool) {
	if _, _, given := r.BasicAuth(); given && s.o.Token != "" {
		return access.Everything(whoPassword), s.admit(w, r)
	}
	if u, from := s.proxied(r); from {
		return s.o.Access.Of(u), true
	}
	plain(w, http.StatusUnauthorized, "nobody is signed in: open the page through its proxy")
	return access.Rights{}, false
}

// maxIdentity bounds what a header says of a user, bytes.
const maxIdentity = 4096

// proxied is the user that a trusted proxy names; false: none does.
func (s *Server) proxied(r *http.Request) (access.User, bool) {
	p := s.o.Access.Proxy
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if p == nil || err != nil || !p.Trusts(from.Addr()) {
		return access.User{}, false
	}
	// Two headers of one name come from a client and a proxy that does not replace them.
	names := r.Header.Values(p.Header)
	if len(names) != 1 || strings.TrimSpace(names[0]) == "" || len(names[0]) > maxIdentity {
		return access.User{}, false
	}
	u := access.User{Name: strings.TrimSpace(names[0])}
	if p.GroupsHeader == "" {
		return u, true
	}
	groups := r.Header.Values(p.GroupsHeader)
	if len(groups) > 1 || len(groups) == 1 && len(groups[0]) > maxIdentity {
		return access.User{}, false
	}
	for _, g := range strings.Split(strings.Join(groups, ","), ",") {
		if g = strings.TrimSpace(g); g != "" {
			u.Groups = append(u.Groups, g)
		}
	}
	return u, true
}
