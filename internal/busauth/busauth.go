// Package busauth lets agents and shadows find the bus and authenticate: by a token, a user and password, an NKEY, a credentials file (JWT), a
// client's certificate, or several of them. Secrets come from files and stay out
// of error texts.
package busauth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"stackagent/internal/bounded"
)

// Auth is how a client authenticates. A user and password, or a token, may also be
// part of the URL. At most one of Token, User, CredsFile,
// NKeyFile and Seed is given.
type Auth struct {
	Token     string
	User      string
	Password  string
	CredsFile string // NATS credentials (JWT and seed)
	NKeyFile  string // seed of an NKEY
	Seed      string // of an NKEY, in place of NKeyFile
	TLSCA     string // PEM file of the authorities that the server's certificate is checked against
	TLSCert   string // PEM files of the client's certificate and key
	TLSKey    string

	// SecretFile is the file from which the token, seed or password comes. Its owner may hold the bus's port on this
	// machine, beside root and our own user.
	SecretFile string
	// Owner is one more user who may: an id, or AnyOwner.
	Owner string
}

// AnyOwner as Auth.Owner skips the check of who owns the bus's port on this machine.
const AnyOwner = "any"

// ErrAuth is returned for an unusable authentication.
var ErrAuth = errors.New("authentication for the bus")

// Options returns the options of the client library. Problems of the files show now,
// not in the background.
func (a Auth) Options() ([]nats.Option, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	dialer, err := a.Dialer()
	if err != nil {
		return nil, err
	}
	list := []nats.Option{nats.SetCustomDialer(dialer)}
	switch {
	case a.Token != "":
		list = append(list, nats.Token(a.Token))
	case a.User != "":
		list = append(list, nats.UserInfo(a.User, a.Password))
	case a.CredsFile != "":
		if err := readable(a.CredsFile); err != nil {
			return nil, fmt.Errorf("%w: creds file: %w", ErrAuth, err)
		}
		list = append(list, nats.UserCredentials(a.CredsFile))
	case a.NKeyFile != "" || a.Seed != "":
		option, err := a.nkey()
		if err != nil {
			return nil, err
		}
		list = append(list, option)
	}
	prefix, err := a.inbox()
	if err != nil {
		return nil, err
	}
	if prefix != "" {
		list = append(list, nats.CustomInboxPrefix(prefix))
	}
	if a.TLSCA != "" {
		if err := readable(a.TLSCA); err != nil {
			return nil, fmt.Errorf("%w: authorities: %w", ErrAuth, err)
		}
		list = append(list, nats.RootCAs(a.TLSCA))
	}
	if a.TLSCert != "" {
		list = append(list, nats.ClientCert(a.TLSCert, a.TLSKey))
	}
	return list, nil
}

func (a Auth) check() error {
	given := 0
	for _, s := range []string{a.Token, a.User, a.CredsFile, a.NKeyFile, a.Seed} {
		if s != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return fmt.Errorf("%w: a token, a user, a credentials file and an NKEY exclude each other", ErrAuth)
	case (a.User == "") != (a.Password == ""):
		return fmt.Errorf("%w: a user and a password go together; only one of them is given", ErrAuth)
	case (a.TLSCert == "") != (a.TLSKey == ""):
		return fmt.Errorf("%w: a client's certificate and its key go together; only one of them is given", ErrAuth)
	}
	return nil
}

// longestSecret bounds the file of a secret, which may not be ours.
const longestSecret = 4096

// ReadSecret reads a file of one line: a token, a password.
func ReadSecret(path string) (string, error) {
	data, err := bounded.ReadFile(path, longestSecret+2)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrAuth, err)
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" || len(secret) > longestSecret || strings.ContainsAny(secret, "\n\r") {
		return "", fmt.Errorf("%w: %s does not hold one line of 1 to %d bytes", ErrAuth, path, longestSecret)
	}
	return secret, nil
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// Servers are the URLs of a bus.
type Servers struct {
	URLs  []string // for the client library
	Shown string   // for people: without credentials
	// Secret says that a URL holds credentials, User is the user in them.
	Secret bool
	User   string
	// Beyond says that a server is not on this machine's loopback.
	Beyond bool
}

// ParseServers checks URLs joined with ','.
func ParseServers(list string) (Servers, error) {
	var s Servers
	var names []string
	for _, one := range strings.Split(list, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" {
			return Servers{}, fmt.Errorf("bus URL %q: want nats://HOST:PORT or tls://HOST:PORT", withoutUser(one))
		}
		if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return Servers{}, fmt.Errorf("bus URL with scheme %q: want nats, tls, ws or wss", u.Scheme)
		}
		s.URLs = append(s.URLs, one)
		s.Secret = s.Secret || u.User != nil
		if _, hasPassword := u.User.Password(); hasPassword {
			s.User = u.User.Username()
		}
		s.Beyond = s.Beyond || !Loopback(u.Hostname())
		u.User = nil // credentials are not shown
		names = append(names, u.String())
	}
	s.Shown = strings.Join(names, ",")
	return s, nil
}

// Loopback reports whether a host is this machine and unreachable for others.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// withoutUser cuts the credentials off a URL that cannot be parsed.
func withoutUser(s string) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return s[at+1:]
	}
	return s
}
