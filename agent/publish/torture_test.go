package publish

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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

// TestTortureMessageIDs: somebody who knows the agent's ids (which nobody can guess) sends junk under the next 40 of
// them, and the bus takes the agent's batches for known ones. All are stored all the same, each once, and it is said.
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
	if lines := n.all(); len(lines) == 0 || !strings.Contains(lines[0], "somebody else sends under the agent's ids") {
		t.Errorf("notices %q", lines)
	}
	if again := strings.TrimSuffix(b.idOf(t, 200), seqText(200)); again == prefix {
		t.Error("the ids are the same as before")
	}
}

// What is sent again because an acknowledgement was late is known to the bus, and that is no reason to say anything.
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
