package publish

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
)

// idOf is the message id under which the bus has batch i.
func (b *bus) idOf(t *testing.T, i int) string {
	t.Helper()
	s, err := connect(t, b.url, b.opt.Authorization).Stream(soon(t), "STACKAGENT")
	if err != nil {
		t.Fatal(err)
	}
	for n := uint64(1); n <= s.CachedInfo().State.LastSeq; n++ {
		if m, err := s.GetMsg(soon(t), n); err == nil && strings.HasPrefix(string(m.Data), seqText(i)) {
			return m.Header.Get("Nats-Msg-Id")
		}
	}
	t.Fatalf("batch %d is not stored", i)
	return ""
}

// TestTortureMessageIDs: a sender that knows the agent's ids (they cannot be guessed) sends junk under the next 40 of
// them, and the bus takes the agent's batches for duplicates. All are stored, each once, and there is a notice.
func TestTortureMessageIDs(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	p, n := publisher(t, Config{URL: b.url})
	offer(t, p, 1, 1, 1000)
	flush(t, p)
	prefix := strings.TrimSuffix(b.idOf(t, 1), seqText(1))
	attacker := connect(t, b.url, b.opt.Authorization)
	for i := 2; i <= 41; i++ {
		junk := &nats.Msg{Subject: wire.Subject("junk"), Data: []byte("junk")}
		if _, err := attacker.PublishMsg(soon(t), junk, jetstream.WithMsgID(prefix+seqText(i))); err != nil {
			t.Fatal(err)
		}
	}
	offer(t, p, 2, 200, 1000)
	flush(t, p)
	b.expect(t, 200)
	if s := p.Stats(); s.Contested == 0 || s.Contested > 40 || s.Acknowledged != 200 {
		t.Errorf("stats %+v", s)
	}
	if lines := n.all(); len(lines) == 0 || !strings.Contains(lines[0], "another sender uses the agent's ids") {
		t.Errorf("notices %q", lines)
	}
	if again := strings.TrimSuffix(b.idOf(t, 200), seqText(200)); again == prefix {
		t.Error("the ids did not change")
	}
}

// A batch that is sent again because of a late acknowledgement is a duplicate, and no reason for a notice.
func TestDuplicatesOfOnesOwn(t *testing.T) {
	known := func(first ...bool) []flight {
		var list []flight
		for i, f := range first {
			list = append(list, flight{message: message{seq: uint64(i)}, first: f})
		}
		return list
	}
	for want, cases := range map[bool][][]flight{false: {nil, known(false), known(false, false)}, true: {known(true), known(false, true)}} {
		for _, c := range cases {
			if contested(c) != want {
				t.Error(fmt.Sprint(c), "contested:", !want)
			}
		}
	}
}

// TestTortureSquatter: another user holds the bus's port and plays a server. The agent sends it nothing; without the
// check it gets a token, but not the seed of an NKEY.
func TestTortureSquatter(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to start a process of another user; run it as root")
	}
	const token = "secret-token-0123456789"
	seed, err := busauth.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		auth         Auth
		talks, leaks bool // it is sent something; the secret
	}{
		"token":            {Auth{Token: token}, false, false},
		"key":              {Auth{Seed: seed}, false, false},
		"token, unchecked": {Auth{Token: token, Owner: busauth.AnyOwner}, true, true},
		"key, unchecked":   {Auth{Seed: seed, Owner: busauth.AnyOwner}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			address := fmt.Sprintf("127.0.0.1:%d", testnats.FreePort(t))
			s := testnats.Squat(t, address, 65534)
			p, n := publisher(t, Config{URL: "nats://" + address, Auth: c.auth})
			offer(t, p, 1, 10, 1000)
			if c.talks {
				until(t, "the squatter is sent something", func() bool { return len(s.Got()) > 0 })
			} else {
				until(t, "a notice", func() bool { return len(n.all()) == 1 })
			}
			s.End()
			got := strings.Join(s.Got(), "")
			if (got != "") != c.talks || strings.Contains(got, token) != c.leaks || strings.Contains(got, seed) {
				t.Errorf("the squatter was sent %.300q", got)
			}
			if lines := n.all(); !c.talks && !strings.Contains(lines[0], "belongs to the user with id 65534") {
				t.Errorf("notices %q", lines)
			}
		})
	}
}
