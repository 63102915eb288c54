package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/session"
)

const perBatch = 20

// fakeBatches makes a whole session of n batches. Task ids are 1..n*perBatch in
// order; the clock is the bent one; each task runs 1 us.
func fakeBatches(name string, n, pid int) []*wire.Batch {
	all := make([]*wire.Batch, n)
	id := uint64(0)
	for i := range all {
		at := int64(i+1) * 10_000_000
		b := &wire.Batch{Version: wire.Version, Session: name, Seq: uint64(i + 1), Clock: pairAt(at)}
		for k := range perBatch {
			id++
			start := at - 9_000_000 + int64(k)*10_000
			b.Creations = append(b.Creations, wire.Creation{TaskID: id, Class: 1, Thread: 1, At: bentClock(start - 5000)})
			b.Executions = append(b.Executions, wire.Execution{
				TaskID: id, Class: 1, Thread: 1, Start: bentClock(start), End: bentClock(start + 1000),
				CPU: 900, ChildCPU: 0,
			})
		}
		b.Totals = wire.Totals{Executions: id, Creations: id, Classes: 1}
		all[i] = b
	}
	first, last := all[0], all[n-1]
	first.Hello = &wire.Hello{PID: pid, Host: "host", GC: "G1", CPUs: 2, ClockName: "tsc", StartClock: pairAt(0), Metrics: []string{"wall", "cpu"}}
	first.Classes = []wire.Class{{ID: 1, Name: "com.acme.Job", Kinds: units.KindRunnable}}
	first.Threads = []wire.Thread{{ID: 1, JavaID: 1, OSID: 77, Name: "main", Group: "main", CPU: units.NotMeasured}}
	last.Last = true
	return all
}

func encode(t testing.TB, b *wire.Batch) []byte {
	t.Helper()
	data, err := wire.Encode(b, nil)
	if err != nil {
		t.Fatalf("encoding batch %d: %v", b.Seq, err)
	}
	return data
}

func startBus(t testing.TB) *bus.Bus {
	t.Helper()
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func startIngest(t testing.TB, o Options) *Ingest {
	t.Helper()
	in, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Kill)
	return in
}

func publish(t testing.TB, b *bus.Bus, subject string, data []byte, id string) {
	t.Helper()
	var opts []jetstream.PublishOpt
	if id != "" {
		opts = append(opts, jetstream.WithMsgID(id))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := b.JetStream().Publish(ctx, subject, data, opts...); err != nil {
		t.Fatalf("publishing to %s: %v", subject, err)
	}
}

func publishAll(t testing.TB, b *bus.Bus, batches ...*wire.Batch) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, x := range batches {
		msg := nats.NewMsg(wire.Subject(x.Session))
		msg.Data = encode(t, x)
		if x.Process != "" {
			msg.Header.Set(wire.ProcessHeader, x.Process)
		}
		if _, err := b.JetStream().PublishMsg(ctx, msg); err != nil {
			t.Fatalf("publishing batch %d: %v", x.Seq, err)
		}
	}
}

func drain(t testing.TB, in *Ingest) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := in.Drain(ctx); err != nil {
		t.Fatal(err)
	}
}

// checkRows opens the session in dir and checks that it holds each task of the
// given batches exactly once, with its times, and nothing else.
func checkRows(t testing.TB, dir string, want []*wire.Batch) *session.Session {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	starts := map[uint64]units.Ticks{}
	for _, b := range want {
		for _, x := range b.Executions {
			starts[x.TaskID] = x.Start
		}
	}
	made, ran := map[uint64]int{}, map[uint64]int{}
	must(t, s.Creations(func(c *session.CreationChunk) error {
		for _, id := range c.TaskID {
			made[id]++
		}
		return nil
	}))
	must(t, s.Executions(func(c *session.Chunk) error {
		for i, id := range c.TaskID {
			ran[id]++
			if bentClock(int64(c.StartNs[i])-monoBase+3000) < starts[id] || bentClock(int64(c.StartNs[i])-monoBase-3000) > starts[id] {
				return fmt.Errorf("task %d starts at %d ns, far from its ticks", id, c.StartNs[i])
			}
			if c.WallNs[i] < 995 || c.WallNs[i] > 1005 || c.SelfWallNs[i] != c.WallNs[i] || c.CPUNs[i] != 900 || c.SelfCPUNs[i] != 900 {
				return fmt.Errorf("task %d: wall %d self %d cpu %d self %d", id, c.WallNs[i], c.SelfWallNs[i], c.CPUNs[i], c.SelfCPUNs[i])
			}
		}
		return nil
	}))
	for id := range starts {
		if made[id] != 1 || ran[id] != 1 {
			t.Fatalf("task %d: %d creations, %d executions; want one of each", id, made[id], ran[id])
		}
	}
	if len(made) != len(starts) || len(ran) != len(starts) {
		t.Fatalf("%d tasks created, %d executed; want %d", len(made), len(ran), len(starts))
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
