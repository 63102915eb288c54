package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"stackagent/shadow/show/web/access"
)

// guard admits requests that may see the page. Without a token the requested host
// must be a loopback name: otherwise another site could point its own name here and
// read the page (DNS rebinding).
//
// With a policy, who asks sees what it allows: limited has the addresses that look at the rights.
func (s *Server) guard(next, limited http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := whoPassword
		if s.o.Token == "" {
			who = whoLocal
		}
		switch {
		case foreign(r):
			plain(w, http.StatusForbidden, "refused: another site's page requested this one; open its address yourself")
		case s.o.Access != nil:
			s.guardPolicy(w, r, next, limited)
		case s.o.Token == "" && !loopbackHost(r.Host):
			plain(w, http.StatusForbidden, "refused: this page has no password; open it as 127.0.0.1 or localhost")
		case s.o.Token != "" && !s.admit(w, r):
		default:
			next.ServeHTTP(w, withRights(r, access.Everything(who)))
		}
	})
}

// foreign reports whether another site's page fetches this one without the user's
// doing. Following a link from there is allowed: it changes nothing.
func foreign(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// admit checks the password and limits the tries of an address.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	from := r.RemoteAddr
	if wait := s.failures.wait(from); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		plain(w, http.StatusTooManyRequests, "too many wrong passwords from this address; wait a moment")
		return false
	}
	_, password, given := r.BasicAuth()
	// Sums have one length, so that the time reveals nothing about the token's.
	got, want := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(s.o.Token))
	if given && subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		return true
	}
	if given { // a browser first asks without one
		if s.failures.failed(from) && s.logged.AllowN(s.o.Now(), 1) {
			s.o.Note("the live page refuses %s: too many wrong passwords", source(from))
		}
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="shadow", charset="UTF-8"`)
	plain(w, http.StatusUnauthorized, "password required: it is the token of the bus")
	return false
}

func loopbackHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	} else if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Wrong passwords that an address may send: a burst, then one at a time.
const (
	failureBurst    = 10
	failureInterval = 10 * time.Second
	maxSources      = 4096 // remembered at once
	// How often the log says that an address is refused.
	logBurst    = 10
	logInterval = time.Minute
)

// failures counts wrong passwords by address.
type failures struct {
	now func() time.Time

	mu      sync.Mutex
	sources map[string]*rate.Limiter
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, sources: map[string]*rate.Limiter{}}
}

// source is the address of a connection without the port. For IPv6 it is the
// network: whoever has one address there has them all.
func source(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "?"
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64) // an IPv6 address has 128 bits
		return p.String()
	}
	return ip.String()
}

// wait is how long an address has to wait before its next password is checked.
func (f *failures) wait(remote string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.sources[source(remote)]
	if l == nil {
		return 0
	}
	left := l.TokensAt(f.now())
	if left >= 1 {
		return 0
	}
	return time.Duration((1 - left) * float64(failureInterval))
}

// failed counts a wrong password and reports whether it used up the burst.
func (f *failures) failed(remote string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, from := f.now(), source(remote)
	l := f.sources[from]
	if l == nil {
		f.makeRoom(now)
		l = rate.NewLimiter(rate.Every(failureInterval), failureBurst)
		f.sources[from] = l
	}
	l.AllowN(now, 1)
	return l.TokensAt(now) < 1
}

// makeRoom forgets addresses that have waited long enough and, if these are few,
// others: enough at once that the search is rare.
func (f *failures) makeRoom(now time.Time) {
	if len(f.sources) < maxSources {
		return
	}
	for from, l := range f.sources {
		if l.TokensAt(now) >= failureBurst {
			delete(f.sources, from)
		}
	}
	for from := range f.sources {
		if len(f.sources) < maxSources-maxSources/8 {
			return
		}
		delete(f.sources, from)
	}
}
