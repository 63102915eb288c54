package serve

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/busauth"
	"stackagent/shadow/collect/bus"
)

const lockName = ".lock"

// openBus starts the bus in the store, or joins that of --nats. unlock also closes it.
func (f serveFlags) openBus(env console.Env) (b *bus.Bus, keys busKeys, unlock func(), err error) {
	if f.pageTokenFile != "" {
		if keys.page, err = ReadToken(f.pageTokenFile); err != nil {
			return nil, keys, nil, err
		}
	}
	if f.nats != "" {
		b, err = f.join(env, bus.JoinOptions{Replicas: f.replicas, MaxBytes: f.size << 20, MaxAge: f.age})
		if err != nil {
			return nil, keys, nil, err
		}
		if keys.page == "" {
			keys.page = b.Token()
		}
		return b, keys, b.Close, f.protectPage(keys, b.Close)
	}
	release, err := lockStore(f.store)
	if err != nil {
		return nil, keys, nil, err
	}
	if b, err = f.hostBus(env, &keys); err != nil {
		release()
		return nil, keys, nil, err
	}
	end := func() { b.Close(); release() }
	return b, keys, end, f.protectPage(keys, end)
}

// protectPage refuses a page beyond loopback without a password.
func (f serveFlags) protectPage(keys busKeys, undo func()) error {
	if keys.page != "" || f.accessPolicy != nil || loopbackAddress(f.http) {
		return nil
	}
	undo()
	return fmt.Errorf("--http %s is beyond loopback and there is no token: give one with --page-token-file", f.http)
}

// hostBus starts the bus in the store.
func (f serveFlags) hostBus(env console.Env, keys *busKeys) (*bus.Bus, error) {
	o := bus.Options{
		Listen: f.hostFlags.listen, StoreDir: filepath.Join(f.store, record.BusFolder), MaxBytes: f.size << 20, MaxAge: f.age,
		TLS: bus.TLS{Cert: f.tlsCert, Key: f.tlsKey, ClientCA: f.tlsCA}, Logger: env.Logger(),
		Full: func(full bool) { record.NoteFull(env, full) },
	}
	switch {
	case f.users != "" && f.tokenFile != "":
		return nil, console.Usagef("--users and --token-file exclude each other")
	case f.users != "":
		o.Users, keys.hint = f.users, "user=NAME,passwordfile=FILE"
	default:
		token, chosen, err := f.token(env)
		if err == nil {
			o.ShadowSeed, err = keepSeed(filepath.Join(f.store, ShadowKeyName))
		}
		if err == nil {
			o.ObserverSeed, err = keepSeed(filepath.Join(f.store, ObserverKeyName))
		}
		if err == nil {
			o.OldTokens, err = f.oldTokens(env)
		}
		if err != nil {
			return nil, err
		}
		if !chosen && !loopbackAddress(f.hostFlags.listen) {
			if f.tlsCA == "" {
				return nil, fmt.Errorf("--listen %s is beyond loopback and there is no token: give one with --token-file, or --users", f.hostFlags.listen)
			}
			token = "" // clients authenticate by certificates
		}
		if chosen && keys.page == "" {
			if keys.page, err = f.pageToken(token); err != nil {
				return nil, err
			}
		}
		o.Token = token
		if token != "" && env.Getenv(record.TokenVariable) == "" {
			keys.hint = "tokenfile=" + f.tokenPath()
		}
	}
	if f.tlsCert != "" {
		keys.hint += ",tlsca=FILE"
	}
	if f.tlsCA != "" {
		keys.hint += ",tlscert=FILE,tlskey=FILE"
	}
	keys.hint = strings.TrimPrefix(keys.hint, ",")
	return bus.Start(o)
}

func (f serveFlags) tokenPath() string {
	path := f.tokenFile
	if path == "" {
		path = filepath.Join(f.store, TokenName)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// lockStore locks the store against a second shadow.
func lockStore(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the store: %w; choose another --store", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is in use by another shadow: %w; choose another --store", dir, err)
	}
	return func() { f.Close() }, nil
}

func loopbackAddress(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && busauth.Loopback(host)
}
