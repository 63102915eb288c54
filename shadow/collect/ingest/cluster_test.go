package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/testnats"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/store"
)

// publisher is what an agent's publisher is to the bus: message ids, and a batch is sent until it is acknowledged.
type publisher struct {
	js jetstream.JetStream
}

func newPublisher(t *testing.T, url string) publisher {
	t.Helper()
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.Timeout(time.Second), nats.ReconnectBufSize(-1))
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	return publisher{js}
}

// send publishes the batches in order; it gives up with ctx.
func (p publisher) send(ctx context.Context, batches []*wire.Batch, pause time.Duration) error {
	for _, b := range batches {
		msg := nats.NewMsg(wire.Subject(b.Session))
		var err error
		if msg.Data, err = wire.Encode(b, nil); err != nil {
			return err
		}
		msg.Header.Set(wire.ProcessHeader, b.Process)
		for {
			try, cancel := context.WithTimeout(ctx, 2*time.Second)
			_, err = p.js.PublishMsg(try, msg, jetstream.WithMsgID(fmt.Sprint(b.Session, "-", b.Process, "-", b.Seq)))
			cancel()
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("batch %d of %s: %w", b.Seq, b.Session, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(pause)
	}
	return nil
}

func joinBus(t *testing.T, url string) *bus.Bus {
	t.Helper()
	b, err := bus.Join(bus.JoinOptions{URL: url})
	must(t, err)
	t.Cleanup(b.Close)
	return b
}

// wholeIn waits until every session is whole in root and checks it.
func (s shares) wholeIn(t *testing.T, root string, patience time.Duration) {
	t.Helper()
	for i, batches := range s.all {
		dir := filepath.Join(root, fmt.Sprintf("s%02d", i))
		end := time.Now().Add(patience)
		for {
			m, err := store.ReadManifest(dir)
			if err == nil && m.Ended == store.EndedExit && int(m.Sequences.Count()) == len(batches) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s is not whole after %v: %v %+v", dir, patience, err, m)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if m := checkRows(t, dir, batches).Manifest; m.Lost.Events+m.Lost.Batches != 0 || m.Lost.Unaccounted != 0 {
			t.Errorf("%s: lost %+v", dir, m.Lost)
		}
	}
}

// A cluster of three nodes under load: a node is killed, then the leader of
// the stream, and both come back. Nothing is lost, nothing is there twice, whether
// sessions have consumers or take turns, in which any node may answer what they read.
func TestClusterLosesNodes(t *testing.T) {
	for name, dense := range map[string]int{"consumers": 0, "turns": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testClusterLosesNodes(t, dense)
		})
	}
}

func testClusterLosesNodes(t *testing.T, dense int) {
	sessions, batches, rounds := 4, 60, 1
	if os.Getenv("STACKAGENT_E2E") == "full" {
		sessions, batches, rounds = 20, 300, 4
	}
	c := testnats.Start(t, testnats.Options{Nodes: 3})
	c.Ready(t)
	root := t.TempDir()
	o := Options{Root: root, PartInterval: 50 * time.Millisecond, dense: dense}
	for range 2 {
		o.Bus = joinBus(t, c.URL())
		startIngest(t, o)
	}
	info, err := o.Bus.JetStream().Stream(t.Context(), bus.Stream)
	must(t, err)
	if n := info.CachedInfo().Config.Replicas; n != 3 {
		t.Fatalf("the stream has %d copies, want 3", n)
	}
	s := newShares(sessions, batches)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for _, x := range s.all {
		p := newPublisher(t, c.URL())
		wg.Go(func() {
			if err := p.send(ctx, x, time.Duration(rounds)*50*time.Millisecond); err != nil {
				t.Error(err)
			}
		})
	}
	for range rounds {
		time.Sleep(500 * time.Millisecond)
		other := c.Nodes[0]
		if other == c.Leader(t, bus.Stream) {
			other = c.Nodes[1]
		}
		other.Kill()
		time.Sleep(500 * time.Millisecond)
		other.Run(t)
		time.Sleep(2 * time.Second) // the cluster must have a majority of nodes that have all
		leader := c.Leader(t, bus.Stream)
		leader.Kill()
		time.Sleep(time.Second)
		leader.Run(t)
		time.Sleep(time.Second)
	}
	wg.Wait()
	s.wholeIn(t, root, 5*time.Minute)
}
