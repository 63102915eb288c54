package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"stackagent/internal/spool"
	"stackagent/shadow/bus"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

// Defaults of shadow serve.
const (
	defaultHTTP  = "127.0.0.1:7077"
	defaultStore = "shadow-store"
	tokenName    = "token"
	lockName     = ".lock"
	// servePatience bounds how long the end waits for batches that are on the bus.
	servePatience = 3 * time.Second
)

type serveFlags struct {
	listen, http, nats, store, tokenFile string
}

func newServe(env Env) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Collect from many JVMs at once, with a live page",
		Long: `Runs the bus, stores each JVM's session as a folder in the store, and shows a
live page. JVMs connect with the token in the file "token" of the store:

  java -agentpath:/path/libstackagent.so=tokenfile=STORE/token ...

Ends in order on SIGINT and SIGTERM. Beyond loopback a token must be given, by
--token-file or $` + tokenVariable + `; the page then asks for it as a password
(any user name).`,
		Example: `  shadow serve --store /var/lib/shadow
  shadow serve --listen 0.0.0.0:4222 --token-file /etc/shadow.token
  shadow serve --nats nats://bus.example:4222 --token-file /etc/shadow.token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.nats != "" && cmd.Flags().Changed("listen") {
				return usagef("--nats joins a bus, --listen starts one: give one of them")
			}
			for name, address := range map[string]string{"listen": f.listen, "http": f.http} {
				if _, _, err := net.SplitHostPort(address); err != nil {
					return usagef("--%s %s: want HOST:PORT", name, address)
				}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
			defer stop()
			return serve(ctx, env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", bus.DefaultListen, "address of the bus; port 0: a free one")
	flags.StringVar(&f.http, "http", defaultHTTP, "address of the live page; port 0: a free one")
	flags.StringVar(&f.nats, "nats", "", "join this NATS server in place of starting one")
	flags.StringVar(&f.store, "store", defaultStore, "folder of the sessions")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bus's token (default: made in the store)")
	return cmd
}

// serve runs until ctx ends.
func serve(ctx context.Context, env Env, f serveFlags) error {
	if err := os.MkdirAll(f.store, 0o700); err != nil {
		return fmt.Errorf("making the store: %w; choose another --store", err)
	}
	unlock, err := lockStore(f.store)
	if err != nil {
		return err
	}
	defer unlock()
	token, chosen, err := f.token(env)
	if err != nil {
		return err
	}
	if !chosen && !loopbackAddress(f.http) {
		return fmt.Errorf("--http %s is beyond loopback and there is no token: give one with --token-file", f.http)
	}
	b, err := f.startBus(token, chosen)
	if err != nil {
		return err
	}
	defer b.Close()
	in, err := ingest.Start(context.WithoutCancel(ctx), ingest.Options{Bus: b, Root: f.store, Live: serveLive{env}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("starting to collect in %s: %w", f.store, err)
	}
	go deliverLeft(ctx, env, b, spool.DefaultFolder())
	pageErr := f.servePage(ctx, env, in, b, token, chosen)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), servePatience)
	_ = in.Drain(last) // what is not stored by then waits on the bus for the next shadow
	cancel()
	if err := in.Close(store.EndedClosed); err != nil {
		return errors.Join(pageErr, fmt.Errorf("storing the last of what was received: %w", err))
	}
	if pageErr == nil {
		env.note("ended; sessions are in %s", f.store)
	}
	return pageErr
}

// servePage says where everything is and shows the page until ctx ends.
func (f serveFlags) servePage(ctx context.Context, env Env, in *ingest.Ingest, b *bus.Bus, token string, chosen bool) error {
	l, err := net.Listen("tcp", f.http)
	if err != nil {
		return fmt.Errorf("--http %s: %w (is another shadow running?)", f.http, err)
	}
	tokenFile := f.tokenFile
	if tokenFile == "" {
		tokenFile = filepath.Join(f.store, tokenName)
	}
	if abs, err := filepath.Abs(tokenFile); err == nil {
		tokenFile = abs
	}
	env.note("bus %s, page http://%s/, store %s", b.ClientURL(), l.Addr(), f.store)
	if f.nats == "" && env.Getenv(tokenVariable) == "" {
		env.note("JVMs: java -agentpath:/path/libstackagent.so=bus=%s,tokenfile=%s ...", b.ClientURL(), tokenFile)
	}
	p := page{sessions: in.Sessions, store: f.store, bus: b.ClientURL(), now: env.Now}
	if chosen {
		p.token = token
	}
	return p.serve(ctx, l)
}

func (f serveFlags) startBus(token string, chosen bool) (*bus.Bus, error) {
	if f.nats != "" {
		if !chosen {
			token = ""
		}
		return bus.Join(f.nats, token)
	}
	if !chosen && !loopbackAddress(f.listen) {
		return nil, fmt.Errorf("--listen %s is beyond loopback and there is no token: give one with --token-file", f.listen)
	}
	return bus.Start(bus.Options{Listen: f.listen, StoreDir: filepath.Join(f.store, busFolder), Token: token, Logger: slog.New(slog.DiscardHandler)})
}

// token is the bus's secret: one that the user chose, or one that is made once
// and kept in the store.
func (f serveFlags) token(env Env) (token string, chosen bool, err error) {
	if f.tokenFile != "" {
		token, err := readToken(f.tokenFile)
		return token, true, err
	}
	if token := env.Getenv(tokenVariable); token != "" {
		return token, true, nil
	}
	path := filepath.Join(f.store, tokenName)
	token, err = readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, false, err
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", false, fmt.Errorf("making a token: %w", err)
	}
	token = hex.EncodeToString(b[:])
	if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
		return "", false, fmt.Errorf("writing the bus's token: %w", err)
	}
	return token, false, nil
}

// leastToken is the length below which a token is refused: it could be guessed.
const leastToken = 16

func readToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the bus's token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s holds no token: one word of at least %d characters is wanted", path, leastToken)
	}
	return token, nil
}

// lockStore keeps a second shadow out of the store.
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
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// serveLive tells of trouble on stderr.
type serveLive struct{ env Env }

func (s serveLive) Progress(p ingest.Progress) {}

func (s serveLive) Problem(session string, err error) {
	if err != nil {
		s.env.note("session %s: %s", clean(session), oneLine(err))
	} else {
		s.env.note("session %s: storing works again", clean(session))
	}
}
