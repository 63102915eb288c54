package ingest

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Everything that goes wrong on the way at once: batches out of order, some
// twice, one missing, garbage, foreign subjects.
func TestDisorder(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 20 * time.Millisecond})
	all := fakeBatches("job", 60, 7)
	const missing = 31
	sent := slices.Clone(all)
	sent = slices.DeleteFunc(sent, func(x *wire.Batch) bool { return x.Seq == missing })
	rng := rand.New(rand.NewSource(2))
	for i := 0; i+5 < len(sent); i += 5 { // shuffled within windows
		rng.Shuffle(5, func(a, b int) { sent[i+a], sent[i+b] = sent[i+b], sent[i+a] })
	}
	for i, x := range sent {
		publishAll(t, b, x)
		if i%7 == 0 {
			publishAll(t, b, x, sent[i/2])
		}
		if i == 20 {
			publish(t, b, wire.Subject("job"), []byte("not a batch"), "")
			publish(t, b, wire.Subject("/etc/passwd"), encode(t, x), "")
			publish(t, b, wire.Subject("manifest.json"), encode(t, x), "")
			publish(t, b, wire.Subject("other"), encode(t, x), "") // says it is of "job"
		}
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))

	want := slices.DeleteFunc(slices.Clone(all), func(x *wire.Batch) bool { return x.Seq == missing })
	s := checkRows(t, filepath.Join(root, "job"), want)
	m := s.Manifest
	if m.Lost.Batches != 1 || m.Lost.Events != 2*perBatch || m.Lost.InGaps != 2*perBatch || m.Lost.Unaccounted != 0 {
		t.Errorf("lost: %+v, want one batch of %d events", m.Lost, 2*perBatch)
	}
	if m.Produced.Sum() != m.Stored.Sum()+m.Lost.Events {
		t.Errorf("produced %+v is not stored %+v + lost %+v", m.Produced, m.Stored, m.Lost)
	}
	if m.Ended != store.EndedExit || m.BadMessages != 1 || in.BadMessages() != 4 {
		t.Errorf("ended %q, %d bad messages in the session, %d in all; want %q, 1, 4", m.Ended, m.BadMessages, in.BadMessages(), store.EndedExit)
	}
	if folders := foldersOf(t, root); len(folders) != 1 {
		t.Errorf("folders in the store: %v, want only job", folders)
	}
	if m.DurationNs != 600_000_000 || m.JVM.PID != 7 {
		t.Errorf("duration %d, JVM %+v", m.DurationNs, m.JVM)
	}
}

// A shadow that dies in mid-run and a new one: nothing twice, nothing lost.
func TestKillAndRestart(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	all := fakeBatches("job", 80, 7)
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond}
	for from := 0; from < len(all); from += 20 {
		in := startIngest(t, o)
		for _, x := range all[from : from+20] {
			publishAll(t, b, x)
			time.Sleep(time.Millisecond)
		}
		in.Kill()
	}
	in := startIngest(t, o)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	s := checkRows(t, filepath.Join(root, "job"), all)
	if l := s.Manifest.Lost; l.Events != 0 || l.Batches != 0 || l.Unaccounted != 0 {
		t.Errorf("lost: %+v", l)
	}
	if len(s.Warnings) != 0 {
		t.Errorf("warnings: %q", s.Warnings)
	}
}

func TestManySessionsAndNamesakes(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() { publishAll(t, b, fakeBatches(fmt.Sprintf("jvm%d.x", i), 10, 100+i)...) })
	}
	wg.Wait()
	publishAll(t, b, fakeBatches("same", 10, 1)...)
	publishAll(t, b, fakeBatches("same", 10, 2)...)
	publishAll(t, b, fakeBatches("same", 10, 3)[:4]...)
	drain(t, in)
	must(t, in.Close(store.EndedLostContact))
	for i := range 6 {
		checkRows(t, filepath.Join(root, fmt.Sprintf("jvm%d.x", i)), fakeBatches("x", 10, 0))
	}
	for i, folder := range []string{"same", "same-2", "same-3"} {
		n, ended := 10, store.EndedExit
		if i == 2 {
			n, ended = 4, store.EndedLostContact
		}
		s := checkRows(t, filepath.Join(root, folder), fakeBatches("same", 10, 0)[:n])
		if s.Manifest.JVM.PID != i+1 || s.Manifest.Ended != ended {
			t.Errorf("%s: pid %d ended %q", folder, s.Manifest.JVM.PID, s.Manifest.Ended)
		}
	}
	if got := len(in.Sessions()); got != 9 {
		t.Errorf("%d sessions listed, want 9", got)
	}
}

func TestLostContactAndReturn(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, LostContact: 100 * time.Millisecond})
	all := fakeBatches("job", 10, 7)
	publishAll(t, b, all[:6]...)
	waitFor(t, func() bool {
		m, err := store.ReadManifest(filepath.Join(root, "job"))
		return err == nil && m.Ended == store.EndedLostContact
	})
	publishAll(t, b, all[6:]...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	if s := checkRows(t, filepath.Join(root, "job"), all); s.Manifest.Ended != store.EndedExit {
		t.Errorf("ended %q after it came back", s.Manifest.Ended)
	}
}

// A session left open by a shadow that died, whose JVM is gone too, is closed
// by the next shadow; one that goes on is not.
func TestStaleSessionIsClosed(t *testing.T) {
	testjvm.OneGood(t, func(a *testjvm.Attempt) { staleIsClosed(t, a) })
}

func staleIsClosed(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	b, root := startBus(t), t.TempDir()
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, LostContact: 500 * time.Millisecond * a.Scale}
	gone, alive := fakeBatches("gone", 3, 7)[:2], fakeBatches("alive", 2000, 8)
	in := startIngest(t, o)
	publishAll(t, b, gone...)
	publishAll(t, b, alive[:2]...)
	drain(t, in)
	in.Kill()
	in = startIngest(t, o)
	defer in.Kill()
	for next := 2; ; next++ {
		publishAll(t, b, alive[next])
		m, err := store.ReadManifest(filepath.Join(root, "gone"))
		must(t, err)
		if m.Ended != store.EndedRunning {
			break
		}
		if next == len(alive)-2 {
			t.Fatal("the dead session is not closed")
		}
		time.Sleep(25 * time.Millisecond)
	}
	m, err := store.ReadManifest(filepath.Join(root, "alive"))
	must(t, err)
	if m.Ended != store.EndedRunning {
		a.Errorf("the living session ended %q", m.Ended)
	}
	if s := checkRows(t, filepath.Join(root, "gone"), gone); s.Manifest.Ended != store.EndedLostContact {
		t.Errorf("the dead session ended %q", s.Manifest.Ended)
	}
}

// foldersOf lists the sessions' folders.
func foldersOf(t testing.TB, root string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, "[^.]*"))
	must(t, err)
	return all
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	const patience = 2 * time.Minute
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not happen within %v", patience)
		}
	}
}

type problems struct {
	mu   sync.Mutex
	errs []error
}

func (p *problems) Progress(Progress) {}
func (p *problems) Problem(_ string, err error) {
	p.mu.Lock()
	p.errs = append(p.errs, err)
	p.mu.Unlock()
}

func (p *problems) list() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errs)
}

// A full disk: said once, nothing acknowledged, all there when space is back.
func TestDiskFullRecovers(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full to play a full disk:", err)
	}
	b, root := startBus(t), t.TempDir()
	var live problems
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, Live: &live})
	all := fakeBatches("job", 20, 7)
	publishAll(t, b, all[:5]...)
	drain(t, in)
	// The next manifest's temporary file is a full device; the failed write removes it.
	const full = 1<<8 | 7 // the device number of /dev/full
	if err := syscall.Mknod(filepath.Join(root, "job", ".tmp-manifest.json"), syscall.S_IFCHR|0o600, full); err != nil {
		t.Skip("playing a full disk needs the right to make a device:", err)
	}
	publishAll(t, b, all[5:]...)
	waitFor(t, func() bool { return len(live.list()) > 0 })
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	errs := live.list()
	if len(errs) != 2 || !errors.Is(errs[0], store.ErrDiskFull) || errs[1] != nil {
		t.Errorf("problems reported: %v; want the full disk, then nil", errs)
	}
	checkRows(t, filepath.Join(root, "job"), all)
}

func TestUnaccountedIsReported(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root})
	all := fakeBatches("job", 3, 7)
	all[2].Totals.Executions += 5
	all[2].Totals.Lost = []wire.Loss{{Reason: "ring full", Events: 2}}
	publishAll(t, b, all...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	m := checkRows(t, filepath.Join(root, "job"), all).Manifest
	if m.Lost.Events != 2 || m.Lost.Unaccounted != 3 || m.Lost.ByReason["ring full"] != 2 {
		t.Errorf("lost: %+v; want 2 reported, 3 unaccounted", m.Lost)
	}
	if data, _ := os.ReadFile(filepath.Join(root, "job", store.ManifestName)); !strings.Contains(string(data), `"unaccounted": 3`) {
		t.Errorf("manifest does not show it: %s", data)
	}
}

// keeper keeps refused messages.
type keeper struct {
	problems
	lines []uint64
	why   error
}

func (k *keeper) Refused(_ string, n uint64, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines, k.why = append(k.lines, n), why
}

// Messages that are no batches are reported and counted: a flood of them in a few lines.
func TestRefusedAreTold(t *testing.T) {
	b, root, live := startBus(t), t.TempDir(), &keeper{}
	in := startIngest(t, Options{Bus: b, Root: root, Live: live})
	good := fakeBatches("job", 2, 7)
	publishAll(t, b, good[0])
	for i := range 40 {
		data := slices.Clone(encode(t, good[1]))
		data[i] ^= 0xff
		publish(t, b, wire.Subject("job"), append(data, 0xc1), "")
	}
	publishAll(t, b, good[1])
	drain(t, in)
	refused := in.Totals().Refused
	must(t, in.Close(store.EndedClosed))
	live.mu.Lock()
	defer live.mu.Unlock()
	sum := uint64(0)
	for _, n := range live.lines {
		sum += n
	}
	if refused != 40 || sum != 40 || len(live.lines) > 3 || live.why == nil {
		t.Errorf("%d refused, reported %v: %v", refused, live.lines, live.why)
	}
}
