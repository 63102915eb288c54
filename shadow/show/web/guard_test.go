package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestHeaders(t *testing.T) {
	s := newServer()
	s.o.Token = token
	for _, target := range []string{"/", "/assets/page.css", "/assets/page.js", "/sessions.json", "/state.json", "/metrics", "/healthz", "/livez", "/nothing", "/sessions/x/report",
		"/sessions/x", "/sessions/x/label", "/sessions/x/download", "/sessions/x/data.json", "/jvm/x"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"} {
			w := ask(s, method, target, func(r *http.Request) { r.SetBasicAuth("x", token) })
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if !strings.Contains(w.Header().Get(name), want) {
					t.Errorf("%s %s: %s is %q", method, target, name, w.Header().Get(name))
				}
			}
			if strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe") {
				t.Errorf("%s: unsafe policy", target)
			}
			changing := map[string]string{"POST": "/sessions/x/label", "DELETE": "/sessions/x"}[method] == target
			want := http.StatusMethodNotAllowed
			switch {
			case changing:
				want = http.StatusForbidden // without the token
			case (target == "/nothing" || strings.HasSuffix(target, "z")) && (method == "POST" || method == "DELETE"):
				want = http.StatusNotFound
			}
			if method != "GET" && method != "HEAD" && (w.Code != want || want == 405 && w.Header().Get("Allow") == "") {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
			if method == "HEAD" && target == "/" && w.Code != 200 {
				t.Errorf("HEAD: %d", w.Code)
			}
		}
	}
	checkShell(t, get(newServer(), "/").Body.String())
}

func TestLoopbackNames(t *testing.T) {
	s := newServer()
	for host, want := range map[string]int{
		"127.0.0.1:7077": 200, "localhost:1": 200, "localhost": 200, "[::1]:7077": 200, "[::1]": 200, "127.8.8.8": 200,
		"evil.example": 403, "evil.example:7077": 403, "10.0.0.1": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example:7077": 403,
		"": 403, "0.0.0.0:7077": 403, "[::]:1": 403, "2130706433": 403, "localhost:1:2": 403, "127.0.0.1@evil.example": 403,
		"[fe80::1%25lo]:1": 403, "[::ffff:127.0.0.1]:1": 200, "[localhost]": 200,
	} {
		for _, target := range []string{"/", "/sessions.json", "/metrics"} {
			if got := ask(s, "GET", target, func(r *http.Request) { r.Host = host }).Code; got != want {
				t.Errorf("%q %s: %d, want %d", host, target, got, want)
			}
		}
	}
}

func TestOtherSites(t *testing.T) {
	s := newServer()
	for _, c := range []struct {
		site, mode string
		want       int
	}{{"cross-site", "no-cors", 403}, {"cross-site", "cors", 403}, {"cross-site", "navigate", 200}, {"same-origin", "cors", 200}, {"none", "navigate", 200}, {"", "", 200}} {
		w := ask(s, "GET", "/sessions.json", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", c.site)
			r.Header.Set("Sec-Fetch-Mode", c.mode)
		})
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.site, c.mode, w.Code, c.want)
		}
	}
}

func TestPassword(t *testing.T) {
	s := newServer()
	now, notes := time.Unix(100, 0), 0
	s.o.Token, s.o.Now, s.failures.now = token, func() time.Time { return now }, func() time.Time { return now }
	s.o.Note = func(string, ...any) { notes++ }
	from := func(address, password string) int {
		return ask(s, "GET", "/", func(r *http.Request) {
			r.RemoteAddr, r.Host = address, "box.example"
			if password != "" {
				r.SetBasicAuth("any", password)
			}
		}).Code
	}
	for _, target := range []string{"/", "/sessions.json", "/metrics", "/assets/page.css", "/state.json", "/sessions/x/data.json", "/nothing", "/sessions/x/report", "/?token=" + token, "/healthz/.."} {
		if w := get(s, target); w.Code != 401 && w.Code != 307 || w.Header().Get("WWW-Authenticate") == "" && w.Code == 401 {
			t.Errorf("%s without a password: %d", target, w.Code)
		}
	}
	if w := ask(s, "GET", "/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); w.Code != 401 {
		t.Errorf("as a bearer: %d", w.Code)
	}
	const a, b, neighbour = "192.0.2.1:1000", "192.0.2.2:1000", "192.0.2.1:2000"
	for i := range failureBurst {
		if code := from(a, fmt.Sprintf("wrong%d", i)); code != 401 {
			t.Fatalf("failure %d: %d", i, code)
		}
	}
	if notes != 1 {
		t.Errorf("%d notes of it", notes)
	}
	for address, want := range map[string]int{a: 429, neighbour: 429, b: 200} {
		if code := from(address, token); code != want {
			t.Errorf("%s after the failures of %s: %d, want %d", address, a, code, want)
		}
	}
	now = now.Add(failureInterval)
	if code := from(a, token); code != 200 {
		t.Errorf("after the wait: %d", code)
	}
	for i := range 3 * maxSources {
		from(fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>8, i&255), "wrong")
	}
	if n := len(s.failures.sources); n > maxSources {
		t.Errorf("%d addresses are remembered", n)
	}
	for range 2 * failureBurst {
		from("[2001:db8:ffff:1::1]:1", "wrong")
	}
	if code := from("[2001:db8:ffff:1::2]:1", token); code != 429 {
		t.Errorf("another address of the same network: %d", code)
	}
}
