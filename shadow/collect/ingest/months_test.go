package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// holding is what a shadow has of the machine.
type holding struct {
	goroutines, files, consumers, sources int
	waiting                               uint64 // messages on the bus
	heap                                  int64  // bytes
}

func holds(t *testing.T, in *Ingest) (h holding) {
	t.Helper()
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	info, err := in.stream.Info(t.Context())
	must(t, err)
	return holding{runtime.NumGoroutine(), len(files), info.State.Consumers, len(in.all()), info.State.Msgs, int64(m.HeapAlloc)}
}

// A shadow runs for months: of the sessions that have come and gone it keeps
// nothing but the latest, which the page shows. A hundred and more come, and what it
// has of the machine at the end is what it had after the first of them.
func TestHundredsComeAndGo(t *testing.T) {
	const rounds, keep = 3, 20
	each := 40
	if os.Getenv("STACKAGENT_TORTURE") == "full" {
		each = 80
	}
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, LostContact: 200 * time.Millisecond, KeepEnded: keep})
	// Of a session there is a row in the shared table for a day: less than 1 KiB, in our copy and in the bus's own lists.
	mayGrow := int64(rounds-1) * int64(each) << 12
	var after [rounds]holding
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("held after each %d sessions: %+v", each, after)
		}
	})
	for r := range after {
		for i := range each {
			publishAll(t, b, asProcess(fmt.Sprint(r, "-", i), fakeBatches(fmt.Sprintf("s%d-%d", r, i), 3, 7))...)
		}
		// A consumer that was deleted ends on the server's side a little later; what the bus
		// keeps for being quick comes and goes. What leaks does not go.
		waitFor(t, func() bool {
			if len(foldersOf(t, root)) != (r+1)*each || in.active.Load() != 0 {
				return false // before it is asked what is held, which collects garbage
			}
			after[r] = holds(t, in)
			return after[r].waiting == 0 && after[r].sources == 0 && after[r].consumers == 0 &&
				in.active.Load() == 0 && (r == 0 || after[r].goroutines <= after[0].goroutines && after[r].files <= after[0].files && after[r].heap <= after[0].heap+mayGrow)
		})
	}
	first, last := after[0], after[rounds-1]
	t.Logf("after %d sessions %+v, after %d %+v", each, first, rounds*each, last)
	if last.files > first.files {
		t.Errorf("%d files are open, %d after the first %d sessions", last.files, first.files, each)
	}
	if n := len(in.Sessions()); n > keep+keep/10 {
		t.Errorf("%d sessions are listed, more than the latest %d", n, keep)
	}
}

// A session that goes on after it was closed takes nothing from what was counted.
func TestCountersOnlyRise(t *testing.T) {
	k := newKnown(10)
	k.report(Progress{Folder: "f", Batches: 7, Repeated: 2})
	k.left("f")
	k.report(Progress{Folder: "f", Batches: 1})
	if got := k.totals(); got.Batches != 8 || got.Repeated != 2 || got.Sessions != 1 {
		t.Errorf("7 and then 1 batches of one session are reported as %+v", got)
	}
}

// The folders that are there are not read again and again; one that has changed is.
func TestStoreOfMonths(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, LostContact: time.Hour})
	close(in.stop) // the dispatcher's work is done here
	<-in.done
	path := filepath.Join(root, "old", store.ManifestName)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	write := func(ended string, at time.Time) {
		must(t, os.WriteFile(path, fmt.Appendf(nil, `{"format":%q,"version":%d,"session":"old","ended":%q}`, store.Format, 2, ended), 0o600))
		must(t, os.Chtimes(path, at, at))
	}
	ended := func() string {
		m, err := store.ReadManifest(filepath.Dir(path))
		must(t, err)
		return m.Ended
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	write(store.EndedExit, yesterday)
	in.endStale()
	write(store.EndedRunning, yesterday) // by the clock the same manifest
	in.endStale()
	if ended() != store.EndedRunning {
		t.Error("a manifest that needed nothing and has not changed was read again")
	}
	write(store.EndedRunning, yesterday.Add(time.Hour))
	in.endStale()
	if ended() != store.EndedLostContact {
		t.Error("a session left open is not closed")
	}
}

// givenUp remembers how a problem ended.
type givenUp struct {
	problems
	over chan error
}

func (g *givenUp) Problem(session string, err error) {
	g.problems.Problem(session, err)
	if err == nil || errors.Is(err, ErrGivenUp) {
		g.over <- err
	}
}

// A session whose folder cannot be made is let go when nothing comes of it any
// more; names that are taken in the store are no session's folder.
func TestFolderThatCanNotBe(t *testing.T) {
	t.Parallel()
	b, root := startBus(t), t.TempDir()
	elsewhere := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "token"), []byte("secret"), 0o600))
	must(t, os.Symlink(elsewhere, filepath.Join(root, "link")))
	live := &givenUp{over: make(chan error, 1)}
	in := startIngest(t, Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond, LostContact: 300 * time.Millisecond, Live: live})
	for _, name := range []string{"token", "link"} {
		publishAll(t, b, fakeBatches(name, 3, 7)...)
	}
	drain(t, in)
	for _, name := range []string{"token-2", "link-2"} {
		checkRows(t, filepath.Join(root, name), fakeBatches("x", 3, 0))
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("behind the link there is %v (%v)", left, err)
	}
	if errs := live.list(); len(errs) != 0 {
		t.Fatalf("problems: %v", errs)
	}

	// A fence that is a folder cannot be locked, so that nothing is ever opened.
	must(t, os.MkdirAll(filepath.Join(root, ownership.HomeName, "owners", "never"), 0o700))
	publishAll(t, b, fakeBatches("never", 3, 7)...)
	waitFor(t, func() bool { return len(live.list()) > 0 })
	must(t, in.stream.Purge(t.Context())) // as too old
	select {
	case err := <-live.over:
		if !errors.Is(err, ErrGivenUp) {
			t.Errorf("it is reported as %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a session of which nothing comes any more is kept")
	}
	waitFor(t, func() bool { return in.active.Load() == 0 })
}

// A service that is started again every hour has a thousand folders in six weeks.
// The next JVM's has another kind of name, and is found again.
func TestThousandNamesakes(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	for n := 1; n < maxNamesakes; n++ {
		dir := filepath.Join(root, "app")
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		must(t, os.Mkdir(dir, 0o700))
		manifest := fmt.Appendf(nil, `{"format":%q,"version":%d,"session":"app","process":"p%d","ended":"exit"}`, store.Format, 2, n)
		must(t, os.WriteFile(filepath.Join(dir, store.ManifestName), manifest, 0o600))
	}
	in := startIngest(t, Options{Bus: b, Root: root})
	one, two := asProcess("new-1", fakeBatches("app", 4, 1)), asProcess("new-2", fakeBatches("app", 4, 2))
	publishAll(t, b, one[:2]...)
	publishAll(t, b, two...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	in = startIngest(t, Options{Bus: b, Root: root})
	publishAll(t, b, one[2:]...)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	folders := foldersOf(t, root)
	if len(folders) != maxNamesakes+1 {
		t.Fatalf("%d folders, want %d and one for each of two JVMs", len(folders), maxNamesakes-1)
	}
	for _, folder := range folders {
		if m, err := store.ReadManifest(folder); err != nil {
			t.Error(err)
		} else if m.Process == "new-1" || m.Process == "new-2" {
			checkRows(t, folder, fakeBatches("app", 4, 0))
		}
	}
}

// What a session of weeks keeps of its clock: of one that sends twenty batches a
// second as much as of one that sends one, and no time goes back.
func TestClockOfWeeks(t *testing.T) {
	var c clock
	const day = 24 * 3600 * int64(time.Second)
	before := units.MonoNs(0)
	add := func(at int64) {
		// Ten pairs to a part, so that the last, which is always kept, is one of ten.
		var pairs []wire.ClockPair
		for i := range int64(10) {
			pairs = append(pairs, wire.ClockPair{Ticks: units.Ticks(3 * (at + i*50e6)), Mono: units.MonoNs(at + i*50e6)})
		}
		c.extend(pairs)
		for _, p := range pairs {
			if got := c.mono(p.Ticks); got < before || got < p.Mono-1 || got > p.Mono+1 {
				t.Fatalf("%d ns becomes %d, after %d", p.Mono, got, before)
			}
			before = p.Mono
		}
	}
	for at := int64(0); at < day/24; at += 500e6 {
		add(at)
	}
	hour := len(c.knots)
	if hour < 70_000 {
		t.Errorf("%d knots in the first hour, want one each 50 ms", hour)
	}
	for at := 7 * day; at < 7*day+day/24; at += 500e6 {
		add(at)
	}
	if n := len(c.knots) - hour; n > 7300 {
		t.Errorf("%d knots in an hour after a week, want those at the ends of parts only", n)
	}
}

// A session with much data at its start does not keep the room for it.
func TestRoomGoes(t *testing.T) {
	var w worker
	w.p.Executions = make([]store.Execution, 100_000)
	w.slim()
	for range slimAfter - 1 {
		w.p.Executions = w.p.Executions[:20_000] // it is still used
		w.slim()
	}
	if cap(w.p.Executions) != 100_000 {
		t.Error("room that is used is given away")
	}
	for range slimAfter {
		w.p.Executions = w.p.Executions[:100]
		w.slim()
	}
	if n := cap(w.p.Executions); n != 0 {
		t.Errorf("room for %d rows is kept for parts of 100", n)
	}
}

// What guarded a session's folder goes when somebody has taken the folder away.
func TestFencesGo(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root, LostContact: 300 * time.Millisecond, PartInterval: 5 * time.Millisecond})
	publishAll(t, b, fakeBatches("stays", 3, 1)...)
	publishAll(t, b, fakeBatches("goes", 3, 2)...)
	drain(t, in)
	fence := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, ownership.HomeName, "owners", name))
		return err == nil
	}
	waitFor(t, func() bool { return len(in.all()) == 0 })
	if !fence("stays") || !fence("goes") {
		t.Fatal("a session's folder has no fence")
	}
	must(t, os.RemoveAll(filepath.Join(root, "goes")))
	waitFor(t, func() bool { return !fence("goes") })
	if !fence("stays") {
		t.Error("the fence of a session that is there is gone")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	publishAll(t, b, asProcess("again", fakeBatches("goes", 3, 3))...)
	must(t, in.Drain(ctx))
	checkRows(t, filepath.Join(root, "goes"), fakeBatches("x", 3, 0))
}
