package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"stackagent/internal/text"
	"stackagent/shadow/show/web/access"
)

// Limits of signing in.
const (
	signInTime    = 10 * time.Minute // from the redirect to the provider until the browser is back
	signedInTime  = 12 * time.Hour
	providerTime  = 10 * time.Second // of each request to the provider
	maxSignedIn   = 10_000
	maxUserGroups = 1000
	maxReturn     = 1024 // bytes of the address to go back to
)

// signIn lets users sign in at a provider of OpenID Connect. Who has signed in is kept in memory only.
type signIn struct {
	o      *access.OIDC
	secret string
	secure bool // cookies go over HTTPS only
	now    func() time.Time
	client *http.Client

	mu       sync.Mutex
	provider *oidc.Provider // nil: not asked yet
	sessions map[string]signedIn
}

type signedIn struct {
	user  access.User
	until time.Time
}

func newSignIn(o *access.OIDC, secret string, now func() time.Time) *signIn {
	if o == nil {
		return nil
	}
	return &signIn{o: o, secret: secret, secure: strings.HasPrefix(o.Redirect, "https:"), now: now,
		client: &http.Client{Timeout: providerTime}, sessions: map[string]signedIn{}}
}

// cookie is a name that, over HTTPS, no other host may set.
func (s *signIn) cookie(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

func (s *signIn) set(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: s.cookie(name), Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode})
}

const loginCookie, sessionCookie = "shadow-login", "shadow-session"

// session is who signed in with this browser.
func (s *signIn) session(r *http.Request) (signedIn, bool) {
	c, err := r.Cookie(s.cookie(sessionCookie))
	if err != nil {
		return signedIn{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.sessions[c.Value]
	if ok && !s.now().Before(x.until) {
		delete(s.sessions, c.Value)
		ok = false
	}
	return x, ok
}

// add keeps who signed in. If there are too many, the oldest goes.
func (s *signIn) add(u access.User) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	oldest := ""
	for id, x := range s.sessions {
		if !now.Before(x.until) {
			delete(s.sessions, id)
		} else if oldest == "" || x.until.Before(s.sessions[oldest].until) {
			oldest = id
		}
	}
	if len(s.sessions) >= maxSignedIn {
		delete(s.sessions, oldest)
	}
	id = rand.Text()
	s.sessions[id] = signedIn{u, now.Add(signedInTime)}
	return id
}

// ask finds the provider. It may be away when the shadow starts, so it is asked when somebody signs in.
func (s *signIn) ask() (*oidc.Provider, *oauth2.Config, error) {
	s.mu.Lock()
	p := s.provider
	s.mu.Unlock()
	if p == nil {
		var err error
		// The provider keeps the context for its keys.
		if p, err = oidc.NewProvider(oidc.ClientContext(context.Background(), s.client), s.o.Issuer); err != nil {
			return nil, nil, fmt.Errorf("asking the provider: %w", err)
		}
		s.mu.Lock()
		s.provider = p
		s.mu.Unlock()
	}
	return p, &oauth2.Config{ClientID: s.o.ClientID, ClientSecret: s.secret, Endpoint: p.Endpoint(), RedirectURL: s.o.Redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, s.o.Scopes...)}, nil
}

// login sends the browser to the provider. What it must bring back is in its own cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	_, config, err := s.signIn.ask()
	if err != nil {
		s.o.Note("signing in: %v", err)
		plain(w, http.StatusBadGateway, "the provider cannot be asked; the shadow's log says why")
		return
	}
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	to := base64.RawURLEncoding.EncodeToString([]byte(localAddress(r.URL.Query().Get("to"))))
	s.signIn.set(w, loginCookie, strings.Join([]string{state, nonce, verifier, to}, "."), signInTime)
	http.Redirect(w, r, config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
}

// localAddress is an address of this page; "/" if to is none.
func localAddress(to string) string {
	if len(to) > maxReturn || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") || strings.HasPrefix(to, "/oidc/") {
		return "/"
	}
	return to
}

// callback takes the browser back from the provider.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) {
	user, to, err := s.signIn.verify(r)
	s.signIn.set(w, loginCookie, "", -time.Second)
	if err != nil {
		if s.logged.AllowN(s.o.Now(), 1) {
			s.o.Note("signing in from %s: %v", source(r.RemoteAddr), err)
		}
		plain(w, http.StatusForbidden, "signing in failed; open the page again. If that does not help, the shadow's log says why")
		return
	}
	s.signIn.set(w, sessionCookie, s.signIn.add(user), signedInTime)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// verify checks what the provider says.
func (s *signIn) verify(r *http.Request) (u access.User, to string, err error) {
	c, err := r.Cookie(s.cookie(loginCookie))
	if err != nil {
		return u, "", errors.New("the browser has no cookie of a sign-in that it began")
	}
	part := strings.Split(c.Value, ".")
	q := r.URL.Query()
	if len(part) != 4 || subtle.ConstantTimeCompare([]byte(part[0]), []byte(q.Get("state"))) != 1 {
		return u, "", errors.New("the answer is not to this browser's question")
	}
	if code := q.Get("error"); code != "" {
		return u, "", fmt.Errorf("the provider refuses: %s", text.Cut(text.Clean(code, '?'), 100))
	}
	back, err := base64.RawURLEncoding.DecodeString(part[3])
	if err != nil {
		return u, "", errors.New("the cookie is damaged")
	}
	provider, config, err := s.ask()
	if err != nil {
		return u, "", err
	}
	ctx := oidc.ClientContext(r.Context(), s.client)
	token, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(part[2]))
	if err != nil {
		return u, "", fmt.Errorf("the provider does not take the code: %w", scrubbed(err))
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return u, "", errors.New("the provider sent no id_token")
	}
	id, err := provider.Verifier(&oidc.Config{ClientID: s.o.ClientID, Now: s.now}).Verify(ctx, raw)
	if err != nil {
		return u, "", fmt.Errorf("the id_token is not valid: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(part[1])) != 1 {
		return u, "", errors.New("the id_token is of another sign-in")
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return u, "", fmt.Errorf("the claims cannot be read: %w", err)
	}
	u, err = s.userOf(claims)
	return u, localAddress(string(back)), err
}

// scrubbed leaves the provider's answer out of an error: it may repeat secrets.
func scrubbed(err error) error {
	var e *oauth2.RetrieveError
	if errors.As(err, &e) {
		return fmt.Errorf("status %d, %s", e.Response.StatusCode, text.Cut(text.Clean(e.ErrorCode, '?'), 100))
	}
	return err
}

// userOf reads the claims.
func (s *signIn) userOf(claims map[string]any) (u access.User, err error) {
	u.Name, _ = claims[s.o.UserClaim].(string)
	if u.Name == "" || len(u.Name) > maxIdentity {
		return u, fmt.Errorf("the id_token has no claim %s", s.o.UserClaim)
	}
	if v, given := claims["email_verified"]; given && s.o.UserClaim == "email" && v != true && v != "true" {
		return u, errors.New("the provider has not verified the address")
	}
	switch groups := claims[s.o.GroupsClaim].(type) {
	case string:
		u.Groups = []string{groups}
	case []any:
		for _, g := range groups[:min(len(groups), maxUserGroups)] {
			if name, ok := g.(string); ok {
				u.Groups = append(u.Groups, name)
			}
		}
	}
	return u, nil
}

// logout forgets who signed in with this browser.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if s.signIn != nil {
		if c, err := r.Cookie(s.signIn.cookie(sessionCookie)); err == nil {
			s.signIn.mu.Lock()
			delete(s.signIn.sessions, c.Value)
			s.signIn.mu.Unlock()
		}
		s.signIn.set(w, sessionCookie, "", -time.Second)
	}
	w.WriteHeader(http.StatusNoContent)
}
