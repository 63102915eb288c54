package ingest

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/label"
	"stackagent/internal/testnats"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// A shadow with a store of its own takes a session over: what the agent said before is in its piece, also while the JVM
// still runs, and so in the roll-ups. When the session has ended, nothing of it is left on the bus.
func TestNamesOfPieces(t *testing.T) {
	t.Parallel()
	c := testnats.Start(t, testnats.Options{Nodes: 1})
	c.Ready(t)
	roots := []string{t.TempDir(), t.TempDir()}
	heard := &heard{}
	shadow := func(root string) *Ingest {
		return startIngest(t, Options{Follower: heard, Bus: joinBus(t, c.URL()), Root: root, PartInterval: 5 * time.Millisecond, TTL: testTTL, LostContact: testTTL})
	}
	all := asProcess("1-a", fakeBatches("job", 12, 1))
	all[0].Hello.Labels, all[0].Hello.WallUnixNs = label.Labels{Service: "orders"}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	all[2].Threads = []wire.Thread{{ID: 2, JavaID: 9, Name: "pool-1-thread-1", CPU: units.NotMeasured}, {ID: 3, JavaID: 10, Virtual: true, CPU: units.NotMeasured}}
	all[3].Executors = []wire.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor"}}
	all[3].Sites = []wire.Site{{ID: 7, Class: "com.acme.Main", Method: "run", Line: 42}}
	all[4].Threads = []wire.Thread{{ID: 2, JavaID: 9, Name: "pool-1-thread-1", End: all[4].Clock.Ticks, CPU: units.NotMeasured}}
	send := func(batches ...*wire.Batch) { must(t, newPublisher(t, c.URL()).send(t.Context(), batches, 0)) }

	one := shadow(roots[0])
	send(all[:6]...)
	drain(t, one)
	one.Kill()
	two := shadow(roots[1])
	send(all[6:9]...)
	waitFor(t, func() bool { return len(two.Sessions()) == 1 }) // when the first is dead to it
	drain(t, two)

	piece := filepath.Join(roots[1], "job")
	s, err := session.Open(piece)
	must(t, err)
	m := &s.Manifest
	if m.Labels.Service != "orders" || m.JVM.PID != 1 || m.WallUnixNs == 0 || m.Ended != store.EndedRunning || !slices.Equal(m.Sequences, store.Ranges{{7, 9}}) {
		t.Errorf("labels %+v, JVM %+v, begin %d, ended %q, batches %v", m.Labels, m.JVM, m.WallUnixNs, m.Ended, m.Sequences)
	}
	if c := s.ClassByID(1); c == nil || c.Name != "com.acme.Job" {
		t.Errorf("class %+v", c)
	}
	if x := s.ThreadByID(2); x == nil || x.Name != "pool-1-thread-1" || x.EndNs == 0 {
		t.Errorf("thread %+v", x)
	}
	if x := s.ThreadByID(3); x != nil {
		t.Errorf("a virtual thread was kept: %+v", x)
	}
	if e, site := s.ExecutorByID(1), s.SiteByID(7); e == nil || site == nil || site.Line != 42 {
		t.Errorf("executor %+v, site %+v", e, site)
	}
	names, batch := "6: 1 classes, 3 threads", "%d: 0 classes, 0 threads"
	if got := heard.of(); !slices.Equal(got, []string{"begins with orders", names, fmt.Sprintf(batch, 7), fmt.Sprintf(batch, 8), fmt.Sprintf(batch, 9)}) {
		t.Errorf("the live view heard %q", got)
	}
	begins := s.Begins()
	s.Close()
	if begins <= m.StartNs || begins > m.EndNs {
		t.Errorf("the piece begins at %d, the session lasted from %d to %d", begins, m.StartNs, m.EndNs)
	}

	to, err := objectstore.Open(t.Context(), t.TempDir())
	must(t, err)
	must(t, rollup.RollUp(t.Context(), to, piece, "job-2", false))
	executions, uptime := map[string]int64{}, int64(0)
	_, err = rollup.Open(to).Read(t.Context(), rollup.Query{}, func(rows []rollup.Row) error {
		for _, r := range rows {
			switch r.Metric {
			case rollup.Executions:
				executions[r.Service+" "+r.Class] += r.Count
			case rollup.Uptime:
				uptime += r.Sum
			}
		}
		return nil
	})
	must(t, err)
	if want := int64(3 * perBatch); len(executions) != 1 || executions["orders com.acme.Job"] != want {
		t.Errorf("the roll-up has %v, want %d of com.acme.Job", executions, want)
	}
	if uptime > int64(m.EndNs-begins) {
		t.Errorf("the JVM was observed for %d ns by the roll-up of a piece of %d", uptime, m.EndNs-begins)
	}

	send(all[9:]...)
	drain(t, two)
	waitFor(t, func() bool {
		m, err := store.ReadManifest(piece)
		return err == nil && m.Ended == store.EndedExit
	})
	waitFor(t, func() bool {
		info, err := two.names.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	must(t, two.Close(store.EndedClosed))
	out := filepath.Join(t.TempDir(), "whole")
	whole, err := store.Join(out, []string{filepath.Join(roots[0], "job"), piece})
	must(t, err)
	if whole.Lost.Events+whole.Lost.Batches != 0 || whole.Ended != store.EndedExit {
		t.Errorf("the whole: lost %+v, ended %q", whole.Lost, whole.Ended)
	}
	checkRows(t, out, all)
}

// heard is a Follower that notes what it hears of the newest shadow.
type heard struct {
	mu  sync.Mutex
	got []string
}

func (h *heard) Begin(_ string, m *store.Manifest, _ *store.Folder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = []string{"begins with " + m.Labels.Service}
}

func (h *heard) Batch(_ string, b *wire.Batch, _ bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, fmt.Sprintf("%d: %d classes, %d threads", b.Seq, len(b.Classes), len(b.Threads)))
}

func (h *heard) of() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// A JVM that starts threads all the time fills no bus: beyond the bound none of its threads is kept.
func TestNamesOfManyThreads(t *testing.T) {
	t.Parallel()
	c := testnats.Start(t, testnats.Options{Nodes: 1})
	c.Ready(t)
	in := startIngest(t, Options{Bus: joinBus(t, c.URL()), Root: t.TempDir(), PartInterval: 5 * time.Millisecond})
	all := asProcess("1-a", fakeBatches("job", 30, 1))
	for i, b := range all[:20] {
		for k := range 1000 {
			b.Threads = append(b.Threads, wire.Thread{ID: uint32(2 + 1000*i + k), Name: fmt.Sprint("t", k), CPU: units.NotMeasured})
		}
	}
	p := newPublisher(t, c.URL())
	kept := func() map[string]uint64 {
		info, err := in.names.Info(t.Context(), jetstream.WithSubjectFilter(namesSubject+">"))
		must(t, err)
		return info.State.Subjects
	}
	must(t, p.send(t.Context(), all[:9], 0))
	drain(t, in)
	if n := kept(); n["stackagent.v1.names.1-a.threads.job"] != 9 || n["stackagent.v1.names.1-a.rest.job"] != 1 {
		t.Errorf("the bus has %v", n)
	}
	must(t, p.send(t.Context(), all[9:29], 0))
	drain(t, in)
	if n := kept(); len(n) != 1 || n["stackagent.v1.names.1-a.rest.job"] != 1 {
		t.Errorf("the bus has %v", n)
	}
}
