package busauth

import (
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// nkey proves by a signature who we are: the seed itself never travels.
func (a Auth) nkey() (nats.Option, error) {
	pair, err := a.pair()
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("%w: NKEY: %w", ErrAuth, err)
	}
	return nats.Nkey(public, pair.Sign), nil
}

// pair is the key pair of the seed. It stays in memory: the file may be gone at a reconnect.
func (a Auth) pair() (nkeys.KeyPair, error) {
	if a.Seed != "" {
		pair, err := userKey([]byte(a.Seed))
		if err != nil {
			return nil, fmt.Errorf("%w: this is no seed of an NKEY", ErrAuth)
		}
		return pair, nil
	}
	if err := readable(a.NKeyFile); err != nil {
		return nil, fmt.Errorf("%w: NKEY: %w", ErrAuth, err)
	}
	data, err := os.ReadFile(a.NKeyFile)
	if err == nil {
		var pair nkeys.KeyPair
		if pair, err = userKey(data); err == nil {
			return pair, nil
		}
	}
	return nil, fmt.Errorf("%w: %s holds no seed of an NKEY (a line that begins with SU)", ErrAuth, a.NKeyFile)
}

func userKey(data []byte) (nkeys.KeyPair, error) {
	pair, err := nkeys.ParseDecoratedNKey(data)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err == nil && !nkeys.IsValidPublicUserKey(public) {
		err = nkeys.ErrInvalidUserSeed
	}
	return pair, err
}

// IsSeed reports whether a secret is the seed of a user's NKEY.
func IsSeed(secret string) bool {
	_, err := userKey([]byte(secret))
	return err == nil && strings.HasPrefix(secret, "SU")
}

// NewSeed makes an NKEY.
func NewSeed() (string, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", fmt.Errorf("making an NKEY: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", fmt.Errorf("making an NKEY: %w", err)
	}
	return string(seed), nil
}

// Public is the public key of a seed.
func Public(seed string) (string, error) {
	pair, err := userKey([]byte(seed))
	if err != nil {
		return "", fmt.Errorf("%w: this is no seed of an NKEY", ErrAuth)
	}
	return pair.PublicKey()
}

// SetSecret sets what a token file holds: a token, or the seed of an NKEY.
func (a *Auth) SetSecret(secret string) {
	if IsSeed(secret) {
		a.Seed = secret
	} else {
		a.Token = secret
	}
}

// SetToken reads a token file. The bus may belong to the owner of the file.
func (a *Auth) SetToken(path string) error {
	secret, err := ReadSecret(path)
	if err != nil {
		return err
	}
	a.SetSecret(secret)
	a.SecretFile = path
	return nil
}

// SetPassword reads the file of the user's password.
func (a *Auth) SetPassword(path string) (err error) {
	a.Password, err = ReadSecret(path)
	a.SecretFile = path
	return err
}

// inbox is where a client's answers arrive: a prefix of its own for each user, so that permissions can keep one
// user's answers from the others. It starts with _INBOX, for servers whose permissions say _INBOX.> only.
func (a Auth) inbox() (string, error) {
	switch {
	case a.User != "":
		return Inbox(a.User), nil
	case a.NKeyFile != "" || a.Seed != "":
		pair, err := a.pair()
		if err != nil {
			return "", err
		}
		return publicInbox(pair)
	case a.CredsFile != "":
		data, err := os.ReadFile(a.CredsFile)
		if err != nil {
			return "", fmt.Errorf("%w: creds file: %w", ErrAuth, err)
		}
		pair, err := nkeys.ParseDecoratedUserNKey(data)
		if err != nil {
			return "", nil // the library says what is wrong with it when it connects
		}
		return publicInbox(pair)
	}
	return "", nil
}

func publicInbox(pair nkeys.KeyPair) (string, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return "", fmt.Errorf("%w: NKEY: %w", ErrAuth, err)
	}
	return Inbox(public), nil
}

// Inbox is the prefix of a user's inboxes: _INBOX.NAME. All but letters, digits, '_' and '-' become '_'.
func Inbox(user string) string {
	return "_INBOX." + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, user)
}
