package web

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"stackagent/shadow/show/web/access"
)

const clientSecret = "geheim-geheim"

// provider is a provider of OpenID Connect with keys of its own, which signs in whoever asks.
type provider struct {
	*httptest.Server
	t      *testing.T
	key    *rsa.PrivateKey // that it publishes
	sign   *rsa.PrivateKey // that it signs with
	claims map[string]any  // of the next id_token, in place of the right ones
	refuse string          // error of the next authorisation

	asked url.Values // the last request for a code
	code  string     // of it; valid once
}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // the machine has no randomness
	}
	return key
}

var providerKey = sync.OnceValue(newKey)

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{t: t, key: providerKey(), sign: providerKey()}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		p.asked, p.code = r.URL.Query(), rand.Text()
		back := url.Values{"state": {p.asked.Get("state")}, "code": {p.code}}
		if p.refuse != "" {
			back = url.Values{"state": back["state"], "error": {p.refuse}}
		}
		http.Redirect(w, r, p.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		id, secret, basic := r.BasicAuth()
		challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !basic || id != "shadow" || secret != clientSecret || r.FormValue("code") != p.code || p.code == "" ||
			base64.RawURLEncoding.EncodeToString(challenge[:]) != p.asked.Get("code_challenge") || p.asked.Get("code_challenge_method") != "S256" {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]string{"error": "invalid_grant", "error_description": clientSecret})
			return
		}
		p.code = ""
		claims := map[string]any{"iss": p.URL, "aud": "shadow", "sub": "1", "nonce": p.asked.Get("nonce"), "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
			"email": "ann@example.com", "email_verified": true, "groups": []string{"shop", "x"}}
		maps.Copy(claims, p.claims)
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.token(claims)})
	})
	return p
}

func (p *provider) token(claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.sign, KeyID: "k"}}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := signer.Sign(data)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// signedInServer is a page behind the provider, as a browser reaches it.
func signedInServer(t *testing.T, p *provider) (s *Server, base string, notes *strings.Builder) {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	s, _ = teams(t, `
oidc: {issuer: "`+p.URL+`", client_id: shadow, redirect: "`+server.URL+access.Callback+`"}
rules:
  - {groups: [shop], services: ["shop-*"], role: admin}
  - {users: [root@example.com], services: ["*"], role: admin}
`)
	notes = new(strings.Builder)
	s.o.Note = func(format string, args ...any) {
		for _, a := range args {
			if err, ok := a.(error); ok {
				notes.WriteString(err.Error() + "\n")
			}
		}
	}
	s.signIn = newSignIn(s.o.Access.OIDC, clientSecret, func() time.Time { return s.o.Now() })
	handler = s.Handler()
	return s, server.URL, notes
}

// browser keeps cookies and follows redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// open opens an address as a user who types it.
func open(t *testing.T, c *http.Client, address string) (code int, final, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	w, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	data, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, w.Request.URL.String(), string(data)
}

func TestSignIn(t *testing.T) {
	p := newProvider(t)
	s, base, _ := signedInServer(t, p)
	c := browser(t)
	if code, _, _ := open(t, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, base+"/sessions.json?q=a"); code != 303 {
		t.Errorf("nobody is signed in: %d", code)
	}
	if w := get(s, "/sessions.json"); w.Code != 401 { // a script is not sent to a page
		t.Errorf("a script: %d", w.Code)
	}
	code, final, body := open(t, c, base+"/sessions.json?limit=9")
	if code != 200 || final != base+"/sessions.json?limit=9" || !strings.Contains(body, "shop1") || strings.Contains(body, "bank1") {
		t.Fatalf("%d at %s: %s", code, final, body)
	}
	if scope := p.asked.Get("scope"); scope != "openid email profile" {
		t.Errorf("scope %q", scope)
	}
	_, _, state := open(t, c, base+"/state.json")
	if !strings.Contains(state, `"user": "ann@example.com"`) || !strings.Contains(state, `"role": "admin"`) {
		t.Error(state)
	}
	// A browser that did not sign in is not; a cookie that was made up is none.
	for _, cookie := range []string{"", "shadow-session=x", "shadow-session="} {
		w := ask(s, "GET", "/sessions.json", func(r *http.Request) { r.Header.Set("Cookie", cookie) })
		if w.Code != 401 {
			t.Errorf("%q: %d", cookie, w.Code)
		}
	}
	// It ends: by signing out, or with time.
	r, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/oidc/logout", nil)
	r.Header.Set(csrfHeader, s.csrf)
	if w, err := c.Do(r); err != nil || w.StatusCode != 204 {
		t.Fatal(w, err)
	}
	p.refuse = "access_denied"
	if code, _, body := open(t, c, base+"/"); code != 403 || !strings.Contains(body, "signing in failed") {
		t.Errorf("signed out: %d %s", code, body)
	}
	p.refuse = ""
	if code, _, _ := open(t, c, base+"/"); code != 200 {
		t.Errorf("again: %d", code)
	}
	s.o.Now = func() time.Time { return time.Now().Add(signedInTime + time.Second) }
	p.refuse = "access_denied"
	if code, _, _ := open(t, c, base+"/"); code != 403 {
		t.Errorf("after %v: %d", signedInTime, code)
	}
}

// What a provider, or somebody in its place, gets wrong signs nobody in.
func TestWrongSignIns(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*provider)
		says  string
		code  int
	}{
		"another key":               {func(p *provider) { p.sign = newKey() }, "not valid", 403},
		"for another client":        {func(p *provider) { p.claims = map[string]any{"aud": "other"} }, "not valid", 403},
		"of another provider":       {func(p *provider) { p.claims = map[string]any{"iss": "https://evil.example"} }, "not valid", 403},
		"expired":                   {func(p *provider) { p.claims = map[string]any{"exp": time.Now().Add(-time.Hour).Unix()} }, "not valid", 403},
		"another nonce":             {func(p *provider) { p.claims = map[string]any{"nonce": "x"} }, "of another sign-in", 403},
		"no name":                   {func(p *provider) { p.claims = map[string]any{"email": ""} }, "no claim email", 403},
		"an address nobody checked": {func(p *provider) { p.claims = map[string]any{"email": "root@example.com", "email_verified": false} }, "not verified", 403},
		"refused":                   {func(p *provider) { p.refuse = "access_denied\x1b[2J" }, "the provider refuses: access_denied?", 403},
		"a name without rights":     {func(p *provider) { p.claims = map[string]any{"email": "x@example.com", "groups": "y"} }, "", 403},
		"groups of a strange kind":  {func(p *provider) { p.claims = map[string]any{"groups": map[string]any{"shop": true}} }, "", 403},
	} {
		p := newProvider(t)
		_, base, notes := signedInServer(t, p)
		c.spoil(p)
		code, _, body := open(t, browser(t), base+"/sessions.json")
		if code != c.code || strings.Contains(body, "shop1") || !strings.Contains(notes.String(), c.says) || strings.Contains(notes.String()+body, clientSecret) || strings.Contains(notes.String(), "\x1b") {
			t.Errorf("%s: %d %s, notes %q", name, code, body, notes)
		}
	}
}

// An answer that another browser asked for signs nobody in, and no address leads away from the page.
func TestForgedSignIn(t *testing.T) {
	p := newProvider(t)
	s, base, notes := signedInServer(t, p)
	stop := browser(t)
	stop.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == access.Callback {
			return http.ErrUseLastResponse
		}
		return nil
	}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", base+"/oidc/login", nil)
	w, err := stop.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	if code, _, body := open(t, browser(t), w.Header.Get("Location")); code != 403 || strings.Contains(body, "shop1") {
		t.Errorf("the victim's browser: %d", code)
	}
	if code, _, _ := open(t, stop, strings.Replace(w.Header.Get("Location"), "state=", "state=x", 1)); code != 403 {
		t.Errorf("another state: %d", code)
	}
	if len(s.signIn.sessions) != 0 || !strings.Contains(notes.String(), "no cookie") || !strings.Contains(notes.String(), "not to this browser") {
		t.Errorf("%d signed in, notes %q", len(s.signIn.sessions), notes)
	}
	for to, want := range map[string]string{"/jvm/a?x=1": "/jvm/a?x=1", "": "/", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "/\tx": "/", "/oidc/login": "/", "/" + strings.Repeat("x", maxReturn): "/"} {
		if got := localAddress(to); got != want {
			t.Errorf("%q: %q", to, got)
		}
	}
	p.Close() // the provider is away, since before the first sign-in
	s.signIn.provider = nil
	if code, _, body := open(t, browser(t), base+"/"); code != 502 || !strings.Contains(body, "cannot be asked") {
		t.Errorf("without the provider: %d %s", code, body)
	}
}

func TestSecureCookies(t *testing.T) {
	s := newSignIn(&access.OIDC{Redirect: "https://shadow.example.com" + access.Callback}, "", time.Now)
	w := httptest.NewRecorder()
	s.set(w, sessionCookie, "v", time.Hour)
	c := w.Result().Cookies()[0]
	if c.Name != "__Host-shadow-session" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("%+v", c)
	}
	for range maxSignedIn + 5 {
		s.add(access.User{Name: "x"})
	}
	if len(s.sessions) != maxSignedIn {
		t.Errorf("%d are remembered", len(s.sessions))
	}
}
