package web

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
)

// csrfHeader carries the token of state.json in requests that change something. Another site can neither read that nor
// send the header.
const csrfHeader = "X-CSRF-Token"

// maxBody bounds the body of a request.
const maxBody = 16 << 10

// changing admits requests that change something: from this page, or from a program that has read the token.
func (s *Server) changing(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" || !sameOrigin(r) {
			plain(w, http.StatusForbidden, "refused: this request comes from another page")
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(s.csrf)) != 1 {
			plain(w, http.StatusForbidden, "refused: the header "+csrfHeader+" must be the csrf of state.json; it changes when the shadow starts")
			return
		}
		if err := s.checkPeer(r); err != nil {
			plain(w, http.StatusForbidden, "refused: "+err.Error())
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next(w, r)
	}
}

// sameOrigin reports whether the page that sent the request, if one did, is this one. A proxy may have taken off the
// encryption, so that the scheme does not count.
func sameOrigin(r *http.Request) bool {
	given, ok := r.Header["Origin"]
	if !ok {
		return true
	}
	if len(given) != 1 {
		return false
	}
	u, err := url.Parse(given[0])
	return err == nil && u.Host != "" && u.Host == r.Host
}

// checkPeer asks who sent a request where no password says so: every user of this machine reaches a loopback address.
func (s *Server) checkPeer(r *http.Request) error {
	if s.o.Token != "" || s.o.Peer == nil || s.o.Access != nil {
		return nil
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(interface{ String() string })
	if !ok {
		return errors.New("the connection has no address")
	}
	here, err1 := netip.ParseAddrPort(local.String())
	there, err2 := netip.ParseAddrPort(r.RemoteAddr)
	if err := errors.Join(err1, err2); err != nil {
		return errors.New("the connection has no address")
	}
	return s.o.Peer(there, here)
}

// findToChange is find for who may change what it finds.
func (s *Server) findToChange(w http.ResponseWriter, r *http.Request) (Row, bool) {
	x, ok := s.find(w, r)
	if !ok {
		return Row{}, false
	}
	if rights := rightsOf(r); !rights.Changes(x.Service) {
		plain(w, http.StatusForbidden, "refused: you may look at sessions of this service, not change them")
		return Row{}, false
	}
	return x, true
}

// audited is inStore for what the audit log has.
func (s *Server) audited(r *http.Request, action string, x *Row, do func(*os.Root) error) error {
	rights := rightsOf(r)
	e := audit.Entry{Who: rights.Who, From: r.RemoteAddr, Action: action, What: x.ID, Service: x.Service}
	return s.o.Audit.Do(e, s.o.Now, func() error { return s.inStore(do) })
}

// remove deletes an ended session.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	x, ok := s.findToChange(w, r)
	if !ok {
		return
	}
	if x.Running {
		plain(w, http.StatusConflict, "this session is still being recorded; it can be deleted when it has ended")
		return
	}
	err := s.audited(r, audit.Delete, &x, func(root *os.Root) error {
		remove := func() error { return store.Delete(root, x.ID) }
		if s.o.Remove == nil {
			return remove()
		}
		return s.o.Remove(r.Context(), x.ID, remove)
	})
	s.catalog.Look()
	s.changed(w, "deleting the session "+x.ID, err)
}

// label keeps what the user calls a session.
func (s *Server) label(w http.ResponseWriter, r *http.Request) {
	x, ok := s.findToChange(w, r)
	if !ok {
		return
	}
	var l catalog.Label
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	if err := body.Decode(&l); err != nil || body.More() {
		plain(w, http.StatusBadRequest, `send JSON: {"name": "...", "note": "..."}`)
		return
	}
	err := s.audited(r, audit.Label, &x, func(root *os.Root) error { return catalog.SetLabel(root, x.ID, l) })
	s.catalog.Look()
	s.changed(w, "labelling the session "+x.ID, err)
}

// inStore calls do with the store: nothing leads out of it.
func (s *Server) inStore(do func(*os.Root) error) error {
	root, err := os.OpenRoot(s.o.Store)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// changed answers a request that changed something, or not.
func (s *Server) changed(w http.ResponseWriter, doing string, err error) {
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	case errors.Is(err, catalog.ErrLabel):
		plain(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, ingest.ErrOpen), errors.Is(err, store.ErrInUse):
		plain(w, http.StatusConflict, err.Error())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrNoSession):
		plain(w, http.StatusNotFound, "no session has this name")
	default:
		s.o.Note("%s: %v", doing, err)
		plain(w, http.StatusServiceUnavailable, "this could not be done; the shadow's log says why")
	}
}
