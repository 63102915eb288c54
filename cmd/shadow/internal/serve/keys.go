package serve

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/busauth"
)

// Files of secrets in a store.
const (
	TokenName = "token" // of the agents: the seed of an NKEY
	// The leading dot keeps the others apart from session folders, whose names never begin with one.
	OldTokenName    = ".keys/token.old"   // a token that an earlier version made; it still lets agents in
	ShadowKeyName   = ".keys/shadow.nk"   // the seed of the NKEY of shadows that join
	ObserverKeyName = ".keys/observer.nk" // the seed of the NKEY of observers
	PageTokenName   = ".keys/page"
)

// busKeys are the secrets of a bus and of the page, and what a JVM gives to get in.
type busKeys struct {
	page string // the page's password; "": none
	hint string // options of the agent
}

// token is the bus's secret: one that the user chose, or an NKEY that is made once and kept in the store.
func (f serveFlags) token(env console.Env) (token string, chosen bool, err error) {
	if f.tokenFile != "" {
		token, err := ReadToken(f.tokenFile)
		return token, true, err
	}
	if token := env.Getenv(record.TokenVariable); token != "" {
		return token, true, nil
	}
	path := filepath.Join(f.store, TokenName)
	if err := f.setAside(path); err != nil {
		return "", false, fmt.Errorf("putting the token of an earlier version aside: %w", err)
	}
	token, err = keepSeed(path)
	return token, false, err
}

// setAside moves the token of an earlier version out of the way.
func (f serveFlags) setAside(path string) error {
	old, err := ReadToken(path)
	if err != nil || busauth.IsSeed(old) {
		return nil // keepSeed says what is wrong with it
	}
	if err := writeSecret(filepath.Join(f.store, OldTokenName), old); err != nil {
		return err
	}
	return os.Remove(path)
}

// oldTokens still let agents in: JVMs that run were given them by an earlier version.
func (f serveFlags) oldTokens(env console.Env) ([]string, error) {
	path := filepath.Join(f.store, OldTokenName)
	token, err := ReadToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		env.Note("JVMs can still connect with %s, which they send in plain text. Remove it once the JVMs started with it have ended", path)
	}
	return []string{token}, err
}

// keepSeed reads the seed of an NKEY, or makes one.
func keepSeed(path string) (string, error) {
	seed, err := ReadToken(path)
	switch {
	case err == nil && !busauth.IsSeed(seed):
		return "", fmt.Errorf("%s holds no seed of an NKEY; remove it", path)
	case !errors.Is(err, fs.ErrNotExist):
		return seed, err
	}
	if seed, err = busauth.NewSeed(); err != nil {
		return "", err
	}
	return seed, writeSecret(path, seed)
}

// pageToken is the page's password where the bus's secret was chosen: the same token, or, as a seed must not travel,
// one that is made once and kept in the store.
func (f serveFlags) pageToken(token string) (string, error) {
	if !busauth.IsSeed(token) {
		return token, nil
	}
	path := filepath.Join(f.store, PageTokenName)
	page, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return page, err
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("making the page's password: %w", err)
	}
	page = hex.EncodeToString(b[:])
	return page, writeSecret(path, page)
}

func writeSecret(path, secret string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(secret), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing a secret of the store: %w", err)
	}
	return nil
}

// leastToken is the length below which a token is refused: it could be guessed.
const leastToken = 16

// ReadToken reads a token, or the seed of an NKEY, from a file.
func ReadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the bus's token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s holds no token; want one word of at least %d characters", path, leastToken)
	}
	return token, nil
}
