package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// testTTL is longer than a slow machine keeps a heartbeat back.
const testTTL = 5 * time.Second

// shares publishes n sessions, the batches of all mixed, in two halves.
type shares struct {
	all [][]*wire.Batch
}

func newShares(n, batches int) shares {
	var s shares
	for i := range n {
		s.all = append(s.all, asProcess(fmt.Sprintf("%d-a", i+1), fakeBatches(fmt.Sprintf("s%02d", i), batches, i+1)))
	}
	return s
}

func (s shares) publish(t *testing.T, publish func(...*wire.Batch), from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		for _, batches := range s.all {
			publish(batches[n])
		}
	}
}

// Two shadows with one store share 20 sessions; one dies like by SIGKILL in the midst, the other goes on
// in the same folders: each batch is stored once.
func TestTwoShadowsOneStore(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, TTL: testTTL}
	one, two := startIngest(t, o), startIngest(t, o)
	s := newShares(20, 12)
	send := func(x ...*wire.Batch) { publishAll(t, b, x...) }
	s.publish(t, send, 0, 6)
	waitFor(t, func() bool { return len(one.Sessions())+len(two.Sessions()) == 20 })
	if a, b := len(one.Sessions()), len(two.Sessions()); a < 5 || b < 5 {
		t.Errorf("the shadows have %d and %d of 20 sessions", a, b)
	}
	one.Kill()
	s.publish(t, send, 6, 12)
	drain(t, two)
	waitFor(t, func() bool { return len(two.Sessions()) == 20 })
	drain(t, two)
	must(t, two.Close(store.EndedClosed))
	if folders := foldersOf(t, root); len(folders) != 20 {
		t.Errorf("%d folders, want 20: %v", len(folders), folders)
	}
	for i, batches := range s.all {
		m := checkRows(t, filepath.Join(root, fmt.Sprintf("s%02d", i)), batches).Manifest
		if m.Lost.Events+m.Lost.Batches != 0 || m.Lost.Unaccounted != 0 || m.Ended != store.EndedExit || len(m.Pieces) != 0 {
			t.Errorf("%s: lost %+v, ended %q, pieces %v", m.Session, m.Lost, m.Ended, m.Pieces)
		}
	}
}

// The same with a store each: two folders, of which Join makes the whole.
func TestTwoShadowsTwoStores(t *testing.T) {
	t.Parallel()
	b, roots := startBus(t), []string{t.TempDir(), t.TempDir()}
	o := Options{Bus: b, Root: roots[0], PartInterval: 5 * time.Millisecond, TTL: testTTL}
	one := startIngest(t, o)
	o.Root = roots[1]
	two := startIngest(t, o)
	s := newShares(6, 40)
	send := func(x ...*wire.Batch) { publishAll(t, b, x...); time.Sleep(time.Millisecond) }
	s.publish(t, send, 0, 20)
	waitFor(t, func() bool { return len(one.Sessions())+len(two.Sessions()) == 6 })
	if len(one.Sessions()) < len(two.Sessions()) { // the first to see a session has it, so one may have none
		one, two, roots = two, one, []string{roots[1], roots[0]}
	}
	waitFor(t, func() bool { // it has stored and acknowledged some, else the other one gets all of them again
		m, err := store.ReadManifest(filepath.Join(roots[0], one.Sessions()[0].Session))
		return err == nil && m.Sequences.Count() >= 10
	})
	s.publish(t, send, 20, 24)
	one.Kill() // with batches in memory, on the disk and not acknowledged, and on the bus
	s.publish(t, send, 24, 40)
	drain(t, two)
	waitFor(t, func() bool { return len(two.Sessions()) == 6 })
	drain(t, two)
	must(t, two.Close(store.EndedClosed))
	pieces := 0
	for i, batches := range s.all {
		name := fmt.Sprintf("s%02d", i)
		var dirs []string
		for _, root := range roots {
			if m, err := store.ReadManifest(filepath.Join(root, name)); err == nil {
				dirs = append(dirs, filepath.Join(root, name))
				if root == roots[1] && m.Sequences.Count() < 40 {
					pieces++
					if len(m.Pieces) != 1 || m.Lost.Batches != 0 || m.Balance == nil || m.Balance.State != store.BalanceUnknown {
						t.Errorf("%s: the piece says %v, lost %+v, balance %+v", name, m.Pieces, m.Lost, m.Balance)
					}
				}
			}
		}
		out := filepath.Join(t.TempDir(), "whole")
		m, err := store.Join(out, dirs)
		must(t, err)
		if m.Lost.Events+m.Lost.Batches != 0 || m.Lost.Unaccounted != 0 || m.Ended != store.EndedExit || m.JVM.PID != i+1 {
			t.Errorf("%s of %v: lost %+v, ended %q, JVM %+v", name, dirs, m.Lost, m.Ended, m.JVM)
		}
		checkRows(t, out, batches)
	}
	if pieces == 0 {
		t.Error("no session went from one shadow to the other")
	}
}

// A shadow that was stopped, not killed, has lost its sessions when it wakes: it stores nothing more.
func TestFrozenShadowIsFenced(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: time.Hour, TTL: testTTL} // it holds all in memory
	one := startIngest(t, o)
	all := asProcess("1-a", fakeBatches("job", 10, 1))
	publishAll(t, b, all[:5]...)
	waitFor(t, func() bool { return len(one.Sessions()) == 1 })
	one.member.End() // no more heartbeats, as if it slept
	time.Sleep(testTTL)
	o.PartInterval = 5 * time.Millisecond
	two := startIngest(t, o)
	publishAll(t, b, all[5:]...)
	waitFor(t, func() bool {
		m, err := store.ReadManifest(filepath.Join(root, "job"))
		return err == nil && m.Ended == store.EndedExit
	})
	if n := len(two.Sessions()); n != 1 {
		t.Errorf("the shadow that is awake has %d sessions, want 1", n)
	}
	_ = one.Close(store.EndedClosed) // would store what it holds
	must(t, two.Close(store.EndedClosed))
	if m := checkRows(t, filepath.Join(root, "job"), all).Manifest; m.Ended != store.EndedExit || m.Lost.Events != 0 {
		t.Errorf("ended %q, lost %+v", m.Ended, m.Lost)
	}
}

// A shadow that ends, and starts again in its store, goes on at once.
func TestRestartDoesNotWait(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, TTL: time.Hour}
	in := startIngest(t, o)
	all := fakeBatches("job", 10, 1)
	publishAll(t, b, all[:5]...)
	waitFor(t, func() bool { return len(in.Sessions()) == 1 })
	in.Kill()
	in = startIngest(t, o)
	publishAll(t, b, all[5:]...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	checkRows(t, filepath.Join(root, "job"), all)
	if entries, err := os.ReadDir(filepath.Join(root, ".shadows")); err != nil || len(entries) != 5 {
		t.Errorf("%v %v: want one id, the store's, the folders' lock, the owners and the stems", entries, err)
	}
}

// Fifty JVMs at once: each session whole, and none waits for another.
func TestFiftySessionsAtOnce(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	startIngest(t, Options{Bus: b, Root: root})
	s := newShares(50, 10)
	var wg sync.WaitGroup
	for _, x := range s.all {
		wg.Go(func() { publishAll(t, b, x...) })
	}
	wg.Wait()
	s.wholeIn(t, root, 2*time.Minute)
}

// A shadow that comes back to its store finds that its session went on in another one's: its folder says so.
func TestPieceLeftBehind(t *testing.T) {
	t.Parallel()
	b, roots := startBus(t), []string{t.TempDir(), t.TempDir()}
	o := Options{Bus: b, Root: roots[0], PartInterval: 5 * time.Millisecond, TTL: testTTL, LostContact: 2 * time.Second}
	one := startIngest(t, o)
	all := asProcess("1-a", fakeBatches("job", 10, 1))
	publishAll(t, b, all[:5]...)
	drain(t, one)
	one.Kill()
	o.Root = roots[1]
	two := startIngest(t, o)
	publishAll(t, b, all[5:]...)
	waitFor(t, func() bool { return len(two.Sessions()) == 1 })
	o.Root = roots[0]
	startIngest(t, o)
	left := filepath.Join(roots[0], "job")
	waitFor(t, func() bool {
		m, err := store.ReadManifest(left)
		return err == nil && m.Ended == store.EndedElsewhere && len(m.Pieces) == 1
	})
	drain(t, two)
	must(t, two.Close(store.EndedClosed))
	out := filepath.Join(t.TempDir(), "whole")
	m, err := store.Join(out, []string{left, filepath.Join(roots[1], "job")})
	must(t, err)
	if m.Ended != store.EndedExit || m.Lost.Batches != 0 {
		t.Errorf("ended %q, lost %+v", m.Ended, m.Lost)
	}
	checkRows(t, out, all)
}

// A session whose row on the bus names another owner is let go at once, and the page shows it.
func TestLeaseTakenAway(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond})
	all := asProcess("1-a", fakeBatches("job", 10, 1))
	publishAll(t, b, all[:5]...)
	drain(t, in)
	kv, err := b.JetStream().KeyValue(t.Context(), ownership.Bucket)
	must(t, err)
	_, err = kv.Put(t.Context(), "session.job", []byte(`{"owner":"0123456789abcdef","pieces":[{"store":"fedcba9876543210","host":"h","path":"/p"}]}`))
	must(t, err)
	waitFor(t, func() bool { return in.Sessions()[0].Ended == store.EndedElsewhere })
	// Nobody answers to that name: the session comes back, and knows of the other store.
	publishAll(t, b, all[5:]...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	if m := checkRows(t, filepath.Join(root, "job"), all).Manifest; len(m.Pieces) != 1 || m.Pieces[0].Path != "/p" {
		t.Errorf("pieces %v", m.Pieces)
	}
}

// A shadow that ends while the bus is silent stores nothing more, as the session may be another's: it says that
// the batches wait on the bus, and the next shadow stores them, each once.
func TestEndsWhileBusIsSilent(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, TTL: 300 * time.Millisecond}
	one := startIngest(t, o)
	s := newShares(1, 12)
	send := func(x ...*wire.Batch) { publishAll(t, b, x...) }
	s.publish(t, send, 0, 6)
	waitFor(t, func() bool { p := one.Sessions(); return len(p) == 1 && p[0].Stored.Sum() > 0 })
	one.member.End() // no heartbeats from here on
	time.Sleep(o.TTL)
	s.publish(t, send, 6, 9)
	waitFor(t, func() bool { return one.routed.Load() == 9 })
	if err := one.Close(store.EndedClosed); !errors.Is(err, ErrOnBus) || !errors.Is(err, ownership.ErrUncertain) {
		t.Fatalf("ended with %v, want ErrOnBus", err)
	}
	two := startIngest(t, o)
	s.publish(t, send, 9, 12)
	drain(t, two)
	must(t, two.Close(store.EndedClosed))
	m := checkRows(t, filepath.Join(root, "s00"), s.all[0]).Manifest
	if m.Lost.Events+m.Lost.Batches != 0 || m.Lost.Unaccounted != 0 || m.Ended != store.EndedExit {
		t.Errorf("lost %+v, ended %q", m.Lost, m.Ended)
	}
}
