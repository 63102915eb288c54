package e2e_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
)

// tap reads the ids of the batches off a wire.
type tap struct {
	mu     sync.Mutex
	rest   string // of what has passed, as an id may come in two pieces
	prefix string
	last   uint64
}

var sentID = regexp.MustCompile(`Nats-Msg-Id: ?([0-9a-f]{32})-([0-9]+)\r`)

func (x *tap) heard(b []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	text := x.rest + string(b)
	for _, m := range sentID.FindAllStringSubmatch(text, -1) {
		x.prefix = m[1]
		x.last, _ = strconv.ParseUint(m[2], 10, 64)
	}
	x.rest = text[max(0, len(text)-80):]
}

func (x *tap) latest() (prefix string, last uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.prefix, x.last
}

// TestTortureSwallowedSession: an agent's user knows the ids under which another JVM sends its batches, which it cannot
// hear or guess, and publishes junk under the next ones. The bus takes the JVM's batches for known ones, and the session
// has every task all the same. Both are users of a shadow's bus with the documented permissions.
func TestTortureSwallowedSession(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) { swallowedSession(t, jdk, int64(roundsOf(300_000, 3_000_000))) })
	}
}

func swallowedSession(t *testing.T, jdk testjvm.JDK, n int64) {
	t.Helper()
	const password = "password-of-this-test-0123456789"
	list := ""
	for _, user := range []string{"honest", "evil"} {
		list += fmt.Sprintf("{ user: %s, password: %s, permissions: { publish: %q, subscribe: %q } }\n", user, password, bus.Subjects, "_INBOX."+user+".>")
	}
	users := testnats.Secret(t, "users", "authorization { users = [ "+list+" ] }")
	addr, dir := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serveWith(t, addr, dir, []string{"--listen", addr, "--users", users})
	known := &tap{}
	between := newProxy(t, addr)
	between.heard = known.heard
	gate, open := newGate(t)
	cmd := victim(t, jdk, "run", strconv.FormatInt(n, 10), gate)
	passwordFile := testnats.Secret(t, "password", password)
	cmd.VM = []string{agentFlag(t, "bus=nats://"+between.Addr().String(), "user=honest", "passwordfile="+passwordFile, "session=job", "detail=all")}
	java := start(t, nil, cmd.Java()...)
	session := filepath.Join(dir, "job")
	waitStoredMany(t, session, n/4)
	overheard := swallow(t, addr, password, known)
	open()
	if out, exit := java.end(t); exit != 0 || out != fmt.Sprintf("ran %d\n", n) {
		t.Errorf("exit %d, stdout %q", exit, out)
	}
	if said := java.stderr.String(); strings.Count(said, "another sender uses the agent's ids") != 1 {
		t.Errorf("the agent does not say once that somebody uses its ids:\n%s", said)
	}
	waitEnded(t, session)
	s.says(t, "rejected ")
	if list := overheard(); len(list) > 0 {
		t.Errorf("the other user hears %d messages that are not for it, the first on %s", len(list), list[0])
	}
	s.stop(t)
	whole(t, session, n)
	if m := readManifest(t, session); m.Lost.Events != 0 || m.Lost.Batches != 0 {
		t.Errorf("lost %+v", m.Lost)
	}
	if row := readable(t, session); row.Executions != n || row.Created != n {
		t.Errorf("%d executed, %d created, the program says %d", row.Executions, row.Created, n)
	}
}

// swallow publishes junk under the next 300 ids, and listens for all that it can.
func swallow(t *testing.T, addr, password string, known *tap) (overheard func() []string) {
	t.Helper()
	c, err := nats.Connect("nats://"+addr, nats.UserInfo("evil", password), nats.CustomInboxPrefix("_INBOX.evil"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	seen := make(chan *nats.Msg, 10_000)
	for _, subject := range []string{">", "_INBOX.>", "_INBOX.honest.>", "$JS.>", "$KV.>", bus.Subjects} {
		if _, err := c.ChanSubscribe(subject, seen); err != nil {
			t.Fatal(err)
		}
	}
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	prefix, last := known.latest()
	if prefix == "" {
		t.Fatal("no id was seen on the wire")
	}
	for i := range uint64(300) {
		junk := &nats.Msg{Subject: wire.Subject("job"), Data: []byte("junk")}
		if _, err := js.PublishMsg(t.Context(), junk, jetstream.WithMsgID(fmt.Sprintf("%s-%d", prefix, last+1+i))); err != nil {
			t.Fatal(err)
		}
	}
	return func() (list []string) {
		if err := c.FlushTimeout(time.Minute); err != nil {
			t.Fatal(err)
		}
		for len(seen) > 0 {
			if m := <-seen; !strings.HasPrefix(m.Subject, "_INBOX.evil.") {
				list = append(list, m.Subject)
			}
		}
		return list
	}
}
