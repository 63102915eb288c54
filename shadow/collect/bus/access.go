package bus

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
)

// TLS of an embedded server; the zero value is none.
type TLS struct {
	Cert, Key string // PEM files of the server's certificate and key
	ClientCA  string // PEM file: clients must have a certificate of these authorities
}

// ErrUsers is a file of users that cannot be used.
var ErrUsers = errors.New("bus: users")

// access is who may connect to an embedded server, and how.
type access struct {
	secret string // what agents present: a token, or the seed of an NKEY; "" with users, or when everybody may
	keys   *keys  // nil with users
	users  []*server.User
	nkeys  []*server.NkeyUser
	self   busauth.Auth // of the shadow itself
	tls    *tls.Config
}

// chooseAccess decides who may connect. Beyond loopback, clients must authenticate.
func chooseAccess(o Options, host string) (access, error) {
	var a access
	var err error
	if a.tls, err = o.TLS.config(); err != nil {
		return a, err
	}
	switch {
	case o.Users != "" && o.Token != "":
		return a, fmt.Errorf("%w: %s and a token exclude each other", ErrUsers, o.Users)
	case o.Users != "":
		err = a.readUsers(o.Users)
	case o.Token != "":
		err = a.makeKeys(o, o.Token)
	case !busauth.Loopback(host) && o.TLS.ClientCA == "":
		return a, fmt.Errorf("%w (listen address %s)", ErrUnprotected, host)
	case o.NoAuth || o.TLS.ClientCA != "":
		err = a.makeKeys(o, "")
	default:
		var seed string
		if seed, err = busauth.NewSeed(); err == nil {
			err = a.makeKeys(o, seed)
		}
	}
	return a, err
}

// makeKeys lets agents in with the secret, or, without one, everybody as an agent.
func (a *access) makeKeys(o Options, secret string) error {
	self, err := randomSecret()
	if err != nil {
		return err
	}
	a.secret, a.self = secret, busauth.Auth{User: "shadow-" + self[:8], Password: self[8:]}
	a.keys = &keys{self: a.self, open: secret == "", tokens: o.OldTokens, nkeys: map[string]role{}, arrivals: make(chan struct{}, 1)}
	switch {
	case busauth.IsSeed(secret):
		err = a.keys.add(secret, anAgent)
	case secret != "":
		a.keys.tokens = append([]string{secret}, o.OldTokens...)
	}
	if err == nil && o.ShadowSeed != "" {
		err = a.keys.add(o.ShadowSeed, aShadow)
	}
	if err == nil && o.ObserverSeed != "" {
		err = a.keys.add(o.ObserverSeed, anObserver)
	}
	return err
}

// own is how the shadow itself connects.
func (a access) own() nats.Option { return nats.UserInfo(a.self.User, a.self.Password) }

func (a access) apply(o *server.Options) {
	o.Users, o.Nkeys = a.users, a.nkeys
	if a.keys != nil {
		o.CustomClientAuthentication, o.AlwaysEnableNonce = a.keys, true
	}
	separate(o)
	if a.tls != nil {
		o.TLS, o.TLSConfig, o.TLSTimeout = true, a.tls, 5
		o.TLSVerify = a.tls.ClientAuth == tls.RequireAndVerifyClientCert
	}
}

// clientURL is the server's, with the scheme that says whether TLS is wanted.
func clientURL(srv *server.Server, a access) string {
	if a.tls != nil {
		return "tls://" + strings.TrimPrefix(strings.TrimPrefix(srv.ClientURL(), "nats://"), "tls://")
	}
	return srv.ClientURL()
}

func randomSecret() (string, error) {
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("bus: random token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// position extracts the line from an error of the server's parser. The rest of the
// text may repeat passwords from the file.
var position = regexp.MustCompile(`:(\d+):\d+`)

// readUsers reads the file of users, and adds the shadow itself.
func (a *access) readUsers(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %w", ErrUsers, err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		where := ""
		if m := position.FindStringSubmatch(err.Error()); m != nil {
			where = ", line " + m[1]
		}
		return fmt.Errorf("%w: %s%s cannot be parsed; want authorization { users = [ {user: NAME, password: BCRYPT}, {nkey: U...} ] } as in a NATS server's configuration", ErrUsers, path, where)
	}
	a.users, a.nkeys = o.Users, o.Nkeys
	if o.Username != "" {
		a.users = append(a.users, &server.User{Username: o.Username, Password: o.Password})
	}
	switch {
	case len(o.Accounts) > 0 || len(o.TrustedOperators) > 0:
		return fmt.Errorf("%w: %s names accounts or operators; run a NATS server with it and join that (--nats)", ErrUsers, path)
	case o.Authorization != "":
		return fmt.Errorf("%w: %s holds a token; give it by --token-file", ErrUsers, path)
	case len(a.users)+len(a.nkeys) == 0:
		return fmt.Errorf("%w: %s names no users; add one, or give a token", ErrUsers, path)
	}
	a.assign()
	secret, err := randomSecret()
	if err != nil {
		return err
	}
	a.self = busauth.Auth{User: "shadow-" + secret[:8], Password: secret[8:]}
	a.users = append(a.users, &server.User{Username: a.self.User, Password: a.self.Password})
	return nil
}

// config reads the files; nil: no TLS.
func (t TLS) config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	if t.Cert == "" || t.Key == "" {
		return nil, fmt.Errorf("bus: TLS: the server's certificate and its key are both needed")
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("bus: the server's certificate %s: %w", t.Cert, err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if t.ClientCA == "" {
		return c, nil
	}
	pem, err := os.ReadFile(t.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("bus: authorities of the clients' certificates: %w", err)
	}
	c.ClientCAs = x509.NewCertPool()
	if !c.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("bus: %s holds no certificate of an authority", t.ClientCA)
	}
	c.ClientAuth = tls.RequireAndVerifyClientCert
	return c, nil
}
