package bus

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"stackagent/internal/busauth"
)

// keys identify clients of the embedded server: an agent, by an NKEY, a token or without either; a shadow or an observer,
// by its own NKEY; or this shadow itself. They implement server.Authentication.
type keys struct {
	self     busauth.Auth
	open     bool // a client without credentials is an agent
	tokens   []string
	nkeys    map[string]role // by public key
	srv      *server.Server
	arrivals chan struct{} // see Bus.Arrivals
}

// role is what a client may do.
type role int

const (
	anAgent role = iota
	anObserver
	aShadow
)

func (k *keys) serve(srv *server.Server) {
	if k != nil {
		k.srv = srv
	}
}

func (k *keys) add(seed string, r role) error {
	public, err := busauth.Public(seed)
	if err == nil {
		k.nkeys[public] = r
	}
	return err
}

// Check implements server.Authentication.
func (k *keys) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	switch r, known := k.nkeys[o.Nkey]; {
	case c.Kind() != server.CLIENT, o.JWT != "":
		return false
	case o.Nkey != "":
		return known && signed(o.Nkey, o.Sig, c.GetNonce()) && k.admit(c, o.Nkey, r)
	case o.Username != "":
		return same(o.Username, k.self.User) && same(o.Password, k.self.Password) && k.admit(c, o.Username, aShadow)
	case o.Token != "":
		for _, token := range k.tokens {
			if same(o.Token, token) {
				return k.admit(c, "agent", anAgent)
			}
		}
		return false
	}
	return k.open && k.admit(c, "agent", anAgent)
}

// admit lets a client into its account.
func (k *keys) admit(c server.ClientAuthentication, name string, r role) bool {
	account := Agents
	u := &server.User{Username: name, Permissions: agentPermissions()}
	switch r {
	case aShadow:
		account, u.Permissions = globalAccount, nil
	case anObserver:
		account, u.Permissions = globalAccount, observerPermissions(name)
	}
	var err error
	if u.Account, err = k.srv.LookupAccount(account); err != nil {
		return false
	}
	c.RegisterUser(u)
	select {
	case k.arrivals <- struct{}{}:
	default: // the one before is not looked at yet
	}
	return true
}

// signed reports whether the holder of a public key's seed has signed the server's nonce.
func signed(public, signature string, nonce []byte) bool {
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(nonce) == 0 {
		return false
	}
	key, err := nkeys.FromPublicKey(public)
	return err == nil && key.Verify(nonce, sig) == nil
}

// same compares secrets in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
