package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
)

// door is a bus with two agents who do not trust each other, and a shadow with a table.
type door struct {
	shadow       *Bus
	url          string
	victim, evil busauth.Auth
}

// doors are the ways to run a bus: a shadow's own by the default key, by a token, and by users; a server with accounts.
func doors(t *testing.T) map[string]*door {
	t.Helper()
	all := map[string]*door{}
	own := func(name string, o Options, victim, evil busauth.Auth) {
		o.Listen = "127.0.0.1:0"
		b := start(t, o)
		if o.Token == "" && o.Users == "" {
			victim.Seed, evil.Seed = b.Token(), b.Token()
		}
		all[name] = &door{shadow: b, url: b.ClientURL(), victim: victim, evil: evil}
	}
	two := func(inbox string) string {
		text := ""
		for _, user := range []string{"victim", "evil"} {
			text += fmt.Sprintf("{ user: %s, password: %s, permissions: { publish: %q, subscribe: %q } },\n", user, passwordText, Subjects, strings.ReplaceAll(inbox, "USER", user))
		}
		return text
	}
	victim, evil := busauth.Auth{User: "victim", Password: passwordText}, busauth.Auth{User: "evil", Password: passwordText}
	own("key", Options{}, busauth.Auth{}, busauth.Auth{})
	own("token", Options{Token: tokenText}, busauth.Auth{Token: tokenText}, busauth.Auth{Token: tokenText})
	own("users", Options{Users: testnats.Secret(t, "users", "authorization { users = [ "+two("_INBOX.USER.>")+" ] }")}, victim, evil)
	own("users, old permissions", Options{Users: testnats.Secret(t, "users", "authorization { users = [ "+two("_INBOX.>")+" ] }")}, victim, evil)
	for name, nodes := range map[string]int{"accounts": 1, "cluster": 3} {
		cluster := testnats.Start(t, testnats.Options{Nodes: nodes, Config: `accounts {
		  SHADOWS { jetstream: enabled, users: [ { user: shadow, password: ` + passwordText + ` } ], exports: [ { service: "` + Subjects + `", accounts: [ AGENTS ] } ] }
		  AGENTS { users: [ ` + two("_INBOX.USER.>") + ` ], imports: [ { service: { account: SHADOWS, subject: "` + Subjects + `" } } ] }
		}`})
		self := busauth.Auth{User: "shadow", Password: passwordText}
		cluster.Ready(t, nats.UserInfo(self.User, self.Password))
		b, err := Join(JoinOptions{URL: cluster.URL(), Auth: self})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		all[name] = &door{shadow: b, url: cluster.URL(), victim: victim, evil: evil}
	}
	return all
}

func (d *door) client(t *testing.T, a busauth.Auth) *nats.Conn {
	t.Helper()
	list, err := a.Options()
	if err != nil {
		t.Fatal(err)
	}
	c, err := nats.Connect(d.url, append(list, nats.Timeout(time.Minute), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// publish sends n batches of a session, each of which must be stored when it is acknowledged.
func (d *door) publish(t *testing.T, c *nats.Conn, session string, n int) {
	t.Helper()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		ack, err := js.Publish(soon(t), wire.Subject(session), fmt.Appendf(nil, "secret %d", i), jetstream.WithMsgID(fmt.Sprint(session, i)))
		if err != nil || ack.Stream != Stream || ack.Duplicate {
			t.Fatalf("publishing as an agent: %+v, %v", ack, err)
		}
	}
}

// read takes n messages of a session as a shadow does: by pulls, whose answers go to its inbox. In a cluster the
// node it is connected to may learn of the consumer after it was made: a pull before that finds nothing.
func (d *door) read(t *testing.T, session string, n int) {
	t.Helper()
	c, err := d.shadow.JetStream().CreateOrUpdateConsumer(soon(t), Stream, jetstream.ConsumerConfig{Durable: "test", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: wire.Subject(session)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, got := soon(t), 0
	for got < n && ctx.Err() == nil {
		batch, err := c.FetchNoWait(n - got)
		if err != nil {
			t.Fatal(err)
		}
		for m := range batch.Messages() {
			got++
			if err := m.DoubleAck(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := c.Info(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if got != n || info.NumPending != 0 {
		t.Errorf("the shadow has %d batches and %d to come, want %d and none", got, info.NumPending, n)
	}
}

// TestTortureAgents: what agents may not do by any door of any bus.
func TestTortureAgents(t *testing.T) {
	for name, d := range doors(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("reply subjects", d.replySubjects)
			t.Run("listening", func(t *testing.T) { d.listening(t, name) })
		})
	}
}

// listening: an agent subscribes to everything that it can while another one publishes and the shadow reads,
// acknowledges, and writes its table. It sees nothing of either.
func (d *door) listening(t *testing.T, name string) {
	kv, err := d.shadow.JetStream().CreateOrUpdateKeyValue(soon(t), jetstream.KeyValueConfig{Bucket: "STACKAGENT_SHADOWS"})
	if err != nil {
		t.Fatal(err)
	}
	evil := d.client(t, d.evil)
	seen := make(chan *nats.Msg, 1000)
	for _, subject := range []string{">", "*.>", "_INBOX.>", "_INBOX.*.>", "_INBOX.evil.>", "_INBOX.victim.>", "$JS.>", "$JS.API.>", "$JS.ACK.>", "$KV.>", "$O.>", "_R_.>", "$SYS.>", "$SRV.>", Subjects, "stackagent.>"} {
		if _, err := evil.ChanSubscribe(subject, seen); err != nil {
			t.Fatal(err)
		}
		if err := evil.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	d.publish(t, d.client(t, d.victim), "victim", 50)
	d.read(t, "victim", 50)
	if _, err := kv.Put(soon(t), "session.victim", []byte("secret row")); err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Get(soon(t), "session.victim"); err != nil {
		t.Fatal(err)
	}
	d.publish(t, evil, "evil", 1) // what it gets now, it gets after all else
	time.Sleep(100 * time.Millisecond)
	d.checkReceived(t, name, evil, seen)
}

// checkReceived checks what the agent received. Agents that have one key, or permissions without an inbox of their own, share
// their inboxes: they see each other's acknowledgements, which show how many batches there are.
func (d *door) checkReceived(t *testing.T, name string, c *nats.Conn, seen chan *nats.Msg) {
	t.Helper()
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	strict, others := name == "users" || name == "accounts" || name == "cluster", 0
	for len(seen) > 0 {
		m := <-seen
		var ack jetstream.PubAck
		switch {
		case !strings.HasPrefix(m.Subject, "_INBOX.") || m.Reply != "" || len(m.Header) > 0 || json.Unmarshal(m.Data, &ack) != nil || ack.Stream != Stream:
			t.Errorf("the agent hears %s (reply %q, %v): %.80q", m.Subject, m.Reply, m.Header, m.Data)
		case strict && !strings.HasPrefix(m.Subject, "_INBOX.evil."):
			others++
		}
	}
	if others > 0 {
		t.Errorf("the agent hears %d acknowledgements of others", others)
	}
}

// replySubjects: NATS does not hold the reply of a message against its sender's permissions, and the bus sends
// acknowledgements there. None of them arrives where the shadows or the server listen.
func (d *door) replySubjects(t *testing.T) {
	kv, err := d.shadow.JetStream().CreateOrUpdateKeyValue(soon(t), jetstream.KeyValueConfig{Bucket: "STACKAGENT_SHADOWS"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(soon(t), "session.s", []byte("honest")); err != nil {
		t.Fatal(err)
	}
	seen := make(chan *nats.Msg, 1000)
	for _, subject := range []string{"_INBOX.>", "$KV.>", "$JS.API.STREAM.PURGE.>", "$JS.ACK.>", "other.>"} {
		if _, err := d.shadow.Conn().ChanSubscribe(subject, seen); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.shadow.Conn().Flush(); err != nil {
		t.Fatal(err)
	}
	evil := d.client(t, d.evil)
	replies := []string{"$KV.STACKAGENT_SHADOWS.session.s", "$KV.STACKAGENT_SHADOWS.shadow.0011223344556677", "$JS.API.STREAM.PURGE." + Stream, "$JS.API.STREAM.DELETE." + Stream,
		"$JS.ACK." + Stream + ".test.1.1.1.1.0", d.shadow.Conn().NewRespInbox(), nats.NewInbox(), "other.x"}
	for _, reply := range replies {
		if err := evil.PublishRequest(wire.Subject("evil"), reply, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	d.publish(t, evil, "after", 1)
	time.Sleep(100 * time.Millisecond)
	s, err := d.shadow.JetStream().Stream(soon(t), Stream)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.CachedInfo().State.Msgs; n != uint64(len(replies)) { // the server itself refuses one, that of $JS.ACK
		t.Errorf("%d messages in the stream, want %d", n, len(replies))
	}
	e, err := kv.Get(soon(t), "session.s")
	if err != nil || string(e.Value()) != "honest" {
		t.Errorf("the row: %v, %v", e, err)
	}
	if keys, err := kv.Keys(soon(t)); err != nil || len(keys) != 1 {
		t.Errorf("rows %q, %v", keys, err)
	}
	for len(seen) > 0 {
		if m := <-seen; strings.Contains(string(m.Data), `"seq"`) && !strings.Contains(string(m.Data), `"type"`) && !strings.HasPrefix(m.Subject, "_INBOX.") {
			t.Errorf("an acknowledgement arrives at %s: %.80s", m.Subject, m.Data)
		}
	}
}
