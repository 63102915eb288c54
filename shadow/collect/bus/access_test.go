package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/crypto/bcrypt"

	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
)

const (
	tokenText    = "geheimes-wort-0123456789"
	passwordText = "geheimes-kennwort-98765"
)

// connect connects like an agent and publishes.
func connect(url string, a busauth.Auth) error {
	options, err := a.Options()
	if err != nil {
		return err
	}
	c, err := nats.Connect(url, append(options, nats.Timeout(time.Minute))...)
	if err != nil {
		return err
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = js.Publish(ctx, wire.Subject("s"), []byte("x"))
	return err
}

// silent fails if an error contains a secret.
func silent(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), tokenText) || strings.Contains(err.Error(), passwordText) || strings.Contains(err.Error(), "geheim")) {
		t.Errorf("an error contains a secret: %v", err)
	}
}

// The shadow's own bus, protected in each way: who has the key gets in, who has none does not, and the shadow
// itself can always use it.
func TestOwnBusAuthentication(t *testing.T) {
	cert, key := testnats.Certificate(t)
	foreignCert, foreignKey := testnats.Certificate(t)
	seed, public := testnats.NKey(t)
	otherSeed, _ := testnats.NKey(t)
	hash, err := bcrypt.GenerateFromPassword([]byte(passwordText), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := testnats.Secret(t, "users", fmt.Sprintf(`authorization {
	  AGENT = { publish: "stackagent.v1.batch.>", subscribe: "_INBOX.>" }
	  users = [ { user: agent, password: "%s", permissions: $AGENT }, { nkey: %s, permissions: $AGENT } ]
	}`, hash, public))
	type auth = busauth.Auth
	server := TLS{Cert: cert, Key: key}
	for name, c := range map[string]struct {
		o       Options
		in, out []auth
	}{
		"token":    {Options{Token: tokenText}, []auth{{Token: tokenText}}, []auth{{}, {Token: "x"}, {User: "a", Password: "b"}}},
		"password": {Options{Users: users}, []auth{{User: "agent", Password: passwordText}}, []auth{{}, {Token: "x"}, {User: "agent", Password: "b"}}},
		"nkey":     {Options{Users: users}, []auth{{NKeyFile: seed}}, []auth{{NKeyFile: otherSeed}}},
		"tls":      {Options{Token: tokenText, TLS: server}, []auth{{Token: tokenText, TLSCA: cert}}, []auth{{Token: tokenText}, {TLSCA: cert}, {Token: tokenText, TLSCA: foreignCert}}},
		"client certificate": {Options{Listen: "0.0.0.0:0", TLS: TLS{Cert: cert, Key: key, ClientCA: cert}}, []auth{{TLSCA: cert, TLSCert: cert, TLSKey: key}},
			[]auth{{TLSCA: cert}, {TLSCA: cert, TLSCert: foreignCert, TLSKey: foreignKey}}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.o.Listen == "" {
				c.o.Listen = "127.0.0.1:0"
			}
			b := start(t, c.o)
			url := strings.Replace(b.ClientURL(), "0.0.0.0", "127.0.0.1", 1)
			for _, a := range c.in {
				if err := connect(url, a); err != nil {
					t.Errorf("with the key: %v", err)
				}
			}
			for i, a := range c.out {
				err := connect(url, a)
				if err == nil {
					t.Errorf("case %d gets in", i)
				}
				silent(t, err)
			}
			if _, err := b.JetStream().Stream(t.Context(), Stream); err != nil {
				t.Errorf("the shadow itself: %v", err)
			}
		})
	}
}

// An agent's permissions let it publish batches and nothing else.
func TestAgentPermissions(t *testing.T) {
	users := testnats.Secret(t, "users", `authorization { users = [ { user: agent, password: `+passwordText+`,
	  permissions: { publish: "stackagent.v1.batch.>", subscribe: "_INBOX.>" } } ] }`)
	b := start(t, Options{Listen: "127.0.0.1:0", Users: users})
	a := busauth.Auth{User: "agent", Password: passwordText}
	if err := connect(b.ClientURL(), a); err != nil {
		t.Fatal(err)
	}
	options, _ := a.Options()
	c, err := nats.Connect(b.ClientURL(), append(options, nats.Timeout(time.Minute))...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := js.DeleteStream(ctx, Stream); err == nil {
		t.Error("an agent may delete the stream")
	}
	if sub, err := c.SubscribeSync(Subjects); err == nil {
		if err := connect(b.ClientURL(), a); err != nil {
			t.Fatal(err)
		}
		if _, err := sub.NextMsg(300 * time.Millisecond); err == nil {
			t.Error("an agent reads the batches of others")
		}
	}
}

// A server that is there, protected in each way.
func TestJoinAuthentication(t *testing.T) {
	cert, key := testnats.Certificate(t)
	seed, public := testnats.NKey(t)
	operator, creds := testnats.JWT(t)
	type auth = busauth.Auth
	for name, c := range map[string]struct {
		config    string
		good, bad auth
	}{
		"token":    {"authorization { token: " + tokenText + " }", auth{Token: tokenText}, auth{Token: "x"}},
		"password": {"authorization { user: u, password: " + passwordText + " }", auth{User: "u", Password: passwordText}, auth{User: "u", Password: "p"}},
		"nkey":     {"authorization { users: [ { nkey: " + public + " } ] }", auth{NKeyFile: seed}, auth{}},
		"creds":    {operator, auth{CredsFile: creds}, auth{Token: "x"}},
		"tls": {fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true, timeout: 5 }", cert, key, cert),
			auth{TLSCA: cert, TLSCert: cert, TLSKey: key}, auth{TLSCA: cert}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := testnats.Start(t, testnats.Options{Nodes: 1, Config: c.config})
			good, err := c.good.Options()
			if err != nil {
				t.Fatal(err)
			}
			cluster.Ready(t, good...)
			b, err := Join(JoinOptions{URL: cluster.URL(), Auth: c.good})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if err := connect(cluster.URL(), c.good); err != nil {
				t.Errorf("publishing: %v", err)
			}
			other, err := Join(JoinOptions{URL: cluster.URL(), Auth: c.bad})
			if err == nil {
				other.Close()
				t.Error("joined with the wrong key")
			}
			silent(t, err)
		})
	}
}

func TestAuthErrors(t *testing.T) {
	none, junk := "/nonexistent", testnats.Secret(t, "junk", "geheim { password: geheim")
	cert, key := testnats.Certificate(t)
	for name, c := range map[string]struct {
		start func() error
		want  string
	}{
		"users missing": {func() error { return startOnce(t, Options{Users: none}) }, "nonexistent"},
		"users junk":    {func() error { return startOnce(t, Options{Users: junk}) }, "cannot be parsed"},
		"users empty":   {func() error { return startOnce(t, Options{Users: testnats.Secret(t, "e", "debug: false")}) }, "names no users"},
		"users token": {func() error {
			return startOnce(t, Options{Users: testnats.Secret(t, "t", "authorization { token: geheim }")})
		}, "--token-file"},
		"accounts": {func() error {
			return startOnce(t, Options{Users: testnats.Secret(t, "a", "accounts { A: { users: [ { user: a, password: geheim } ] } }")})
		}, "accounts or operators"},
		"both":         {func() error { return startOnce(t, Options{Users: junk, Token: tokenText}) }, "exclude each other"},
		"no key":       {func() error { return startOnce(t, Options{TLS: TLS{Cert: cert}}) }, "both needed"},
		"wrong key":    {func() error { return startOnce(t, Options{TLS: TLS{Cert: cert, Key: junk}}) }, "certificate"},
		"no authority": {func() error { return startOnce(t, Options{TLS: TLS{Cert: cert, Key: key, ClientCA: junk}}) }, "no certificate of an authority"},
		"beyond":       {func() error { return startOnce(t, Options{Listen: "0.0.0.0:0", TLS: TLS{Cert: cert, Key: key}}) }, "beyond loopback"},
		"join url":     {func() error { return joinOnce(JoinOptions{URL: "http://u:geheim@h"}) }, "scheme"},
		"join nowhere": {func() error { return joinOnce(JoinOptions{URL: "nats://u:geheim@127.0.0.1:1"}) }, "is it up"},
		"join creds":   {func() error { return joinOnce(JoinOptions{URL: "nats://h", Auth: busauth.Auth{CredsFile: none}}) }, "creds"},
		"join nkey":    {func() error { return joinOnce(JoinOptions{URL: "nats://h", Auth: busauth.Auth{NKeyFile: junk}}) }, "no seed"},
		"join two": {func() error {
			return joinOnce(JoinOptions{URL: "nats://h", Auth: busauth.Auth{Token: tokenText, CredsFile: none}})
		}, "exclude each other"},
	} {
		err := c.start()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.want)
		}
		silent(t, err)
	}
}

func startOnce(t *testing.T, o Options) error {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	o.StoreDir = t.TempDir()
	b, err := Start(o)
	if err == nil {
		b.Close()
	}
	return err
}

func joinOnce(o JoinOptions) error {
	b, err := Join(o)
	if err == nil {
		b.Close()
	}
	return err
}

// A server beyond loopback that lets everybody in is not joined.
func TestJoinUnprotected(t *testing.T) {
	host := ownAddress()
	if host == "" {
		t.Skip("this machine has no address beyond loopback")
	}
	cluster := testnats.Start(t, testnats.Options{Nodes: 1, Hosts: []string{host}})
	cluster.Ready(t)
	if err := joinOnce(JoinOptions{URL: cluster.URL()}); !errors.Is(err, ErrUnprotected) {
		t.Errorf("joined %s: %v, want ErrUnprotected", cluster.URL(), err)
	}
	protected := testnats.Start(t, testnats.Options{Nodes: 1, Hosts: []string{host}, Config: "authorization { token: " + tokenText + " }"})
	protected.Ready(t, nats.Token(tokenText))
	b, err := Join(JoinOptions{URL: protected.URL(), Auth: busauth.Auth{Token: tokenText}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !strings.Contains(b.Warning(), "without TLS") {
		t.Errorf("warning %q, want one about TLS", b.Warning())
	}
}

// A stream of our name made otherwise is refused, not used wrongly.
func TestForeignStream(t *testing.T) {
	cluster := testnats.Start(t, testnats.Options{Nodes: 1})
	cluster.Ready(t)
	c, err := nats.Connect(cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: Stream, Subjects: []string{Subjects}}); err != nil {
		t.Fatal(err)
	}
	if err := joinOnce(JoinOptions{URL: cluster.URL()}); !errors.Is(err, ErrForeignStream) {
		t.Errorf("%v, want ErrForeignStream", err)
	}
}

// What is asked for is what the stream has, also when it is there already.
func TestStreamBounds(t *testing.T) {
	cluster := testnats.Start(t, testnats.Options{Nodes: 1})
	cluster.Ready(t)
	for _, o := range []JoinOptions{{}, {MaxBytes: 64 << 20, MaxAge: time.Hour}, {}} {
		o.URL = cluster.URL()
		b, err := Join(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.JetStream().Stream(t.Context(), Stream)
		if err != nil {
			t.Fatal(err)
		}
		c := s.CachedInfo().Config
		if o.MaxBytes > 0 && (c.MaxBytes != o.MaxBytes || c.MaxAge != o.MaxAge) {
			t.Errorf("asked for %d bytes, %v; has %d, %v", o.MaxBytes, o.MaxAge, c.MaxBytes, c.MaxAge)
		}
		b.Close()
	}
	if err := joinOnce(JoinOptions{URL: cluster.URL(), Replicas: 3}); err == nil || !strings.Contains(err.Error(), "copies") {
		t.Errorf("three copies on one server: %v", err)
	}
}
