package ingest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/label"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// The accounts of docs/access.md keep teams apart: the same session name in two teams is two sessions, and a JVM reaches
// nothing of another team.
func TestTeams(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "access.md"))
	must(t, err)
	config := regexp.MustCompile("(?s)```\n(accounts \\{.*?)```").FindSubmatch(page)
	if config == nil {
		t.Fatal("docs/access.md has no accounts")
	}
	secret := func(of string) string { return "SECRET-OF-" + of }
	cluster := testnats.Start(t, testnats.Options{Nodes: 1, Config: string(config[1])})
	roots := map[string]string{}
	for team, service := range map[string]string{"shop": "shop-*", "bank": "bank"} {
		self := busauth.Auth{User: team + "-shadow", Password: secret(strings.ToUpper(team) + "-SHADOW")}
		cluster.Ready(t, nats.UserInfo(self.User, self.Password))
		b, err := bus.Join(bus.JoinOptions{URL: cluster.URL(), Auth: self})
		must(t, err)
		t.Cleanup(b.Close)
		roots[team] = t.TempDir()
		startIngest(t, Options{Bus: b, Root: roots[team], PartInterval: 50 * time.Millisecond, Services: func(s string) bool { return label.Glob(service, s) }})
	}
	jvm := func(team string) publisher {
		conn, err := nats.Connect(cluster.URL(), nats.UserInfo(team, secret(strings.ToUpper(team))), nats.CustomInboxPrefix("_INBOX."+team), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		must(t, err)
		t.Cleanup(conn.Close)
		js, err := jetstream.New(conn)
		must(t, err)
		return publisher{js}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shop, bank := jvm("shop"), jvm("bank")
	heard := make(chan *nats.Msg, 16)
	for _, subject := range []string{">", wire.Subject("*"), "_INBOX.shop.>"} {
		_, err := bank.js.Conn().ChanSubscribe(subject, heard)
		must(t, err)
	}
	must(t, bank.js.Conn().FlushWithContext(ctx))
	session := func(pid, n int, service string) []*wire.Batch {
		all := fakeBatches("web", n, pid)
		for _, b := range all {
			if b.Hello != nil {
				b.Hello.Labels = label.Labels{Service: service, Env: "prod"}
			}
		}
		return all
	}
	must(t, shop.send(ctx, session(1, 10, "shop-web"), 0))
	must(t, bank.send(ctx, session(2, 4, "shop-web"), 0)) // it claims to be the other team's
	manifest := func(team string, executions uint64) (m *store.Manifest) {
		waitFor(t, func() bool {
			var err error
			m, err = store.ReadManifest(filepath.Join(roots[team], "web"))
			return err == nil && m.Ended == store.EndedExit && m.Stored.Executions == executions
		})
		return m
	}
	m := manifest("shop", 10*perBatch)
	if m.Labels.Service != "shop-web" || m.Labels.Env != "prod" || m.NotAvailable["service"] != "" || m.JVM.PID != 1 {
		t.Errorf("shop: %+v, %v", m.Labels, m.NotAvailable)
	}
	m = manifest("bank", 4*perBatch)
	if m.Labels.Service != "" || m.Labels.Env != "prod" || !strings.Contains(m.NotAvailable["service"], `"shop-web"`) || m.JVM.PID != 2 {
		t.Errorf("bank: %+v, %v", m.Labels, m.NotAvailable)
	}
	for team, root := range roots {
		if found, _ := filepath.Glob(filepath.Join(root, "*", store.ManifestName)); len(found) != 1 {
			t.Errorf("%s has %v", team, found)
		}
	}
	for len(heard) > 0 {
		if m := <-heard; !strings.HasPrefix(m.Subject, "_INBOX.bank.") {
			t.Errorf("a JVM of bank hears %s", m.Subject)
		}
	}
	// Nor can it ask for the other's stream, or its own team's.
	short, end := context.WithTimeout(ctx, time.Second)
	defer end()
	if s, err := bank.js.Stream(short, "STACKAGENT"); err == nil {
		t.Errorf("a JVM reads the stream: %+v", s.CachedInfo())
	}
}
