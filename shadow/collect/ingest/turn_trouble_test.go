package ingest

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// tap keeps the connection, so that a test can write what no client library would.
type tap struct{ net.Conn }

func (d *tap) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	d.Conn = c
	return c, err
}

// Who may publish can give a message headers that nobody can read. It keeps back none of the session's other messages.
func TestUnreadableHeaders(t *testing.T) {
	t.Parallel()
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir(), NoAuth: true})
	must(t, err)
	t.Cleanup(b.Close)
	root := t.TempDir()
	var line tap
	conn, err := nats.Connect(b.ClientURL(), nats.SetCustomDialer(&line))
	must(t, err)
	defer conn.Close()
	must(t, conn.Flush())
	const sessions = 3
	var all [][]*wire.Batch
	for i := range sessions {
		all = append(all, asProcess("p", fakeBatches(fmt.Sprintf("s%d", i), 4, i+1)))
		publishAll(t, b, all[i][:2]...)
	}
	bad := []string{"NATS/1.0\r\nno colon\r\n\r\n", "NATS/1.0\r\n: x\r\n\r\n", "neither"}
	for _, header := range bad {
		_, err = fmt.Fprintf(line.Conn, "HPUB %s %d %d\r\n%s\r\n", wire.Subject("s0"), len(header), len(header), header)
		must(t, err)
	}
	must(t, conn.Flush())
	for i := range sessions {
		publishAll(t, b, all[i][2:]...)
	}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 1})
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range sessions {
		checkRows(t, filepath.Join(root, fmt.Sprintf("s%d", i)), fakeBatches("x", 4, 0))
	}
	if n := in.BadMessages(); n != uint64(len(bad)) {
		t.Errorf("%d messages refused, want %d", n, len(bad))
	}
}

// A session of which one batch has come, and not the first, holds it until another gives the rate of its clock. Drain waits
// for none of them, although they have no turn at the same time.
func TestDrainOfLoneBatches(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	const sessions = 3
	for i := range sessions {
		publishAll(t, b, asProcess("p", fakeBatches(fmt.Sprintf("s%d", i), 4, i+1)[1:2])...)
	}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 1})
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range sessions {
		m, err := store.ReadManifest(filepath.Join(root, fmt.Sprintf("s%d", i)))
		must(t, err)
		if n := m.Sequences.Count(); n != 1 {
			t.Errorf("%s: %d batches stored, want 1", m.Session, n)
		}
	}
}

// A session whose folder takes nothing, with more waiting than its worker takes, does not keep its turn for ever.
func TestStuckSessionEndsItsTurn(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	const batches = 40
	names, all := []string{"stuck", "b", "c"}, map[string][]*wire.Batch{}
	for i, name := range names {
		all[name] = asProcess("p", fakeBatches(name, batches, i+1))
		publishAll(t, b, all[name][:2]...)
	}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 1})
	drain(t, in)
	obstacle := filepath.Join(root, "stuck", ".tmp-manifest.json")
	must(t, os.MkdirAll(filepath.Join(obstacle, "x"), 0o700))
	for _, x := range all["stuck"][2:] {
		publishAll(t, b, x)
		time.Sleep(20 * time.Millisecond) // the worker has begun to store before all is there
	}
	for _, name := range names[1:] {
		publishAll(t, b, all[name][2:]...)
	}
	waitFor(t, func() bool {
		n := 0
		for _, p := range in.Sessions() {
			if p.Session != "stuck" && p.Ended == store.EndedExit {
				n++
			}
		}
		return n == len(names)-1
	})
	must(t, os.RemoveAll(obstacle))
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for _, name := range names {
		if m := checkRows(t, filepath.Join(root, name), all[name]).Manifest; m.Lost.Batches != 0 {
			t.Errorf("%s lost %+v", name, m.Lost)
		}
	}
}

// On a joined bus the shadow's user may have no right to read or delete messages directly, and the stream may allow neither:
// sessions in turns have consumers then.
func TestTurnsWithoutRights(t *testing.T) {
	for name, c := range map[string]struct {
		denied string
		keeps  bool
	}{"reading": {denied: directGet}, "deleting": {denied: deleteMsg}, "stream": {keeps: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const user, password = "shadow", "of the test"
			cluster := testnats.Start(t, testnats.Options{Nodes: 1, Config: fmt.Sprintf(
				`authorization { users = [ { user: %s, password: %q, permissions: { publish: { deny: [ "%s" ] } } } ] }`, user, password, cmp.Or(c.denied, "none"))})
			cluster.Ready(t, nats.UserInfo(user, password))
			b, err := bus.Join(bus.JoinOptions{URL: cluster.URL(), Auth: busauth.Auth{User: user, Password: password}})
			must(t, err)
			t.Cleanup(b.Close)
			if c.keeps {
				s, err := b.JetStream().Stream(t.Context(), bus.Stream)
				must(t, err)
				config := s.CachedInfo().Config
				config.DenyDelete = true
				_, err = b.JetStream().UpdateStream(t.Context(), config)
				must(t, err)
			}
			root := t.TempDir()
			const sessions = 4
			for i := range sessions {
				publishAll(t, b, asProcess("p", fakeBatches(fmt.Sprintf("s%d", i), 4, i+1))...)
			}
			in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 1})
			drain(t, in)
			must(t, in.Close(store.EndedClosed))
			for i := range sessions {
				checkRows(t, filepath.Join(root, fmt.Sprintf("s%d", i)), fakeBatches("x", 4, 0))
			}
		})
	}
}

// A stream that no longer allows direct reading is read by consumers, in turns.
func TestDirectReadingEnds(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	const batches = 4
	s := newShares(4, batches)
	send := func(x ...*wire.Batch) { publishAll(t, b, x...) }
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, dense: 2})
	s.publish(t, send, 0, 2)
	drain(t, in)
	noDirect(t, b)
	s.publish(t, send, 2, batches)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	for i := range s.all {
		checkRows(t, filepath.Join(root, fmt.Sprintf("s%02d", i)), fakeBatches("x", batches, 0))
	}
}
