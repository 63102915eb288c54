// Package deploy holds the files for systemd, containers and Kubernetes to what
// the programs take. Their syntax is checked in deploy/check.
package deploy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/crypto/bcrypt"

	"stackagent/agent/options"
	"stackagent/internal/announce"
	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
)

const (
	agentPassword  = "agents-password-1234"
	shadowPassword = "shadows-password-1234"

	observerPassword = "observers-password-1234"
)

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// startBus runs a server with the configuration of the cluster, alone.
func startBus(t *testing.T) (url, ca string) {
	t.Helper()
	t.Setenv("POD_NAME", "nats-0")
	cert, key := testnats.Certificate(t)
	dir := t.TempDir()
	hash := func(password string) string {
		b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	users := strings.NewReplacer("$2a$11$AGENT", hash(agentPassword), "$2a$11$SHADOW", hash(shadowPassword), "$2a$11$OBSERVER", hash(observerPassword)).Replace(read(t, "kubernetes/users.conf.example"))
	config := strings.NewReplacer("/etc/nats-tls/tls.crt", cert, "/etc/nats-tls/tls.key", key, "/etc/nats-tls/ca.crt", cert, "/data", dir,
		"../nats-auth/users.conf", "users.conf").Replace(read(t, "kubernetes/nats.conf"))
	for name, text := range map[string]string{"users.conf": users, "nats.conf": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if o.Cluster.Name != "stackagent" || len(o.Routes) != 3 || o.Cluster.TLSConfig == nil || o.ServerName != "nats-0" {
		t.Errorf("the cluster: %+v", o.Cluster)
	}
	o.Host, o.Port, o.HTTPPort, o.Cluster, o.Routes, o.NoSigs, o.NoLog = "127.0.0.1", -1, 0, server.ClusterOpts{}, nil, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return "tls://" + s.Addr().String(), cert
}

// TestBus: with the configuration as it is deployed a shadow can do its work,
// an agent can deliver, and an agent can do nothing else.
func TestBus(t *testing.T) {
	url, ca := startBus(t)
	b, err := bus.Join(bus.JoinOptions{URL: url, Auth: busauth.Auth{User: "shadow", Password: shadowPassword, TLSCA: ca}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	auth := busauth.Auth{User: "agent", Password: agentPassword, TLSCA: ca}
	opts, err := auth.Options()
	if err != nil {
		t.Fatal(err)
	}
	denied := make(chan error, 100)
	c, err := nats.Connect(url, append(opts, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := js.Publish(ctx, wire.Subject("job"), []byte("x")); err != nil {
		t.Errorf("an agent cannot deliver: %v", err)
	}
	// What an agent must not do: read, delete, publish elsewhere.
	if _, err := c.SubscribeSync("stackagent.v1.batch.>"); err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, subject := range []string{"_INBOX.>", "_INBOX.*.>", "_INBOX.other.>", "$JS.>", "$KV.>", ">"} {
		want++
		if _, err := c.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range []string{"$JS.API.STREAM.DELETE." + bus.Stream, "$JS.API.STREAM.PURGE." + bus.Stream, "$JS.API.STREAM.MSG.GET." + bus.Stream,
		"$JS.API.CONSUMER.CREATE." + bus.Stream, "$JS.API.DIRECT.GET." + bus.Stream, "$KV.STACKAGENT_SHADOWS.x", "other", "$SYS.REQ.SERVER.PING"} {
		want++
		if err := c.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	for range want {
		select {
		case err := <-denied:
			if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
				t.Errorf("%v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("an agent may do more than deliver")
		}
	}
	s, err := b.JetStream().Stream(ctx, bus.Stream)
	if err != nil {
		t.Fatalf("the stream: %v", err)
	}
	// The reply subject of a message is not held against permissions: what is sent there must not arrive.
	heard, err := b.Conn().SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	before := s.CachedInfo().State.Msgs
	for _, reply := range []string{"$KV.STACKAGENT_SHADOWS.x", "$JS.API.STREAM.PURGE." + bus.Stream, "other"} {
		if err := c.PublishRequest(wire.Subject("job"), reply, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.Publish(ctx, wire.Subject("job"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(ctx); err != nil || info.State.Msgs != before+4 {
		t.Errorf("%+v, %v; want %d messages", info, err, before+4)
	}
	for m, err := heard.NextMsg(100 * time.Millisecond); err == nil; m, err = heard.NextMsg(100 * time.Millisecond) {
		if strings.HasPrefix(m.Subject, "$KV.") || strings.HasPrefix(m.Subject, "$JS.API.STREAM.PURGE") || m.Subject == "other" {
			t.Errorf("an acknowledgement arrives at %s", m.Subject)
		}
	}
	for _, wrong := range []busauth.Auth{{TLSCA: ca}, {User: "agent", Password: "wrong", TLSCA: ca}, {User: "agent", Password: agentPassword}} {
		opts, err := wrong.Options()
		if err != nil {
			continue
		}
		if c, err := nats.Connect(url, opts...); err == nil {
			c.Close()
			t.Errorf("%q gets in, or the server's certificate is not checked", wrong.User)
		}
	}
}

// TestObserver: with the configuration as it is deployed an observer hears an agent and answers it, and can send what it
// saw to a shadow. It can read no batch.
func TestObserver(t *testing.T) {
	url, ca := startBus(t)
	connect := func(user, password string, o ...nats.Option) *nats.Conn {
		auth := busauth.Auth{User: user, Password: password, TLSCA: ca}
		opts, err := auth.Options()
		if err != nil {
			t.Fatal(err)
		}
		c, err := nats.Connect(url, append(opts, o...)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	denied := make(chan error, 10)
	shadow := connect("shadow", shadowPassword)
	observer := connect("observer", observerPassword, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	answer := func(m *nats.Msg) { _ = m.Respond([]byte("yes")) }
	if _, err := observer.Subscribe(announce.Subject("0"), answer); err != nil {
		t.Fatal(err)
	}
	if _, err := shadow.Subscribe(bus.Observed+">", answer); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(observer.Flush(), shadow.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := connect("agent", agentPassword).Request(announce.Subject("0"), nil, time.Minute); err != nil {
		t.Errorf("an agent is not heard: %v", err)
	}
	if _, err := observer.Request(bus.Observed+"job.a", nil, time.Minute); err != nil {
		t.Errorf("an observer cannot send: %v", err)
	}
	if _, err := observer.SubscribeSync(bus.Subjects); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(observer.Publish("$JS.API.STREAM.PURGE."+bus.Stream, nil), observer.FlushTimeout(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		select {
		case err := <-denied:
			if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
				t.Errorf("%v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("an observer may do more than observe")
		}
	}
}

// TestExample: the agent understands the options of the example, and all that
// they name is mounted.
func TestExample(t *testing.T) {
	text := read(t, "kubernetes/example-app.yaml")
	m := regexp.MustCompile(`-agentpath:(\S+?)=(\S+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no -agentpath")
	}
	o, err := options.Parse(m[2])
	if err != nil {
		t.Fatal(err)
	}
	if o.User != "agent" || !strings.HasPrefix(o.Bus, "tls://nats.stackagent.svc:4222") {
		t.Errorf("%+v", o)
	}
	for _, path := range []string{m[1], o.PasswordFile, o.Spool} {
		if !strings.Contains(text, "mountPath: "+filepath.Dir(path)) && !strings.Contains(text, "mountPath: "+path) {
			t.Errorf("%s is mounted nowhere", path)
		}
	}
}
