package ingest

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// asProcess makes the batches those of one JVM.
func asProcess(process string, batches []*wire.Batch) []*wire.Batch {
	for _, b := range batches {
		b.Process = process
	}
	return batches
}

// Several JVMs use one name at the same time; the shadow dies in the midst of
// it. Each JVM's batches come together in one folder, mixed with no other's.
func TestNamesakesAtOnce(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	names := []string{"10-a", "11-b", "12-c"}
	var all [][]*wire.Batch
	for i, p := range names {
		all = append(all, asProcess(p, fakeBatches("same", 40+10*i, 10+i)))
	}
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond}
	in := startIngest(t, o)
	for n := range 60 {
		for _, batches := range all {
			if n < len(batches) {
				publishAll(t, b, batches[n])
			}
		}
		if n%20 == 19 {
			in.Kill()
			in = startIngest(t, o)
		}
	}
	drain(t, in)
	must(t, in.Close(store.EndedClosed))

	folders := foldersOf(t, root)
	if len(folders) != len(names) {
		t.Fatalf("folders %v, want one for each of %v", folders, names)
	}
	found := map[string]string{}
	for _, folder := range folders {
		m, err := store.ReadManifest(folder)
		must(t, err)
		found[m.Process] = filepath.Base(folder)
	}
	for i, p := range names {
		s := checkRows(t, filepath.Join(root, found[p]), all[i])
		if m := s.Manifest; m.Session != "same" || m.JVM.PID != 10+i || m.Ended != store.EndedExit || m.Lost.Events+m.Lost.Batches != 0 {
			t.Errorf("%s: session %q of process %d, ended %q, lost %+v", p, m.Session, m.JVM.PID, m.Ended, m.Lost)
		}
	}
}

// A batch that says it is of another process than its header is kept out.
func TestForeignProcess(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	in := startIngest(t, Options{Bus: b, Root: root})
	batches := asProcess("1-a", fakeBatches("job", 4, 1))
	publishAll(t, b, batches...)
	publish(t, b, wire.Subject("job"), encode(t, batches[2]), "") // no header
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	if n := in.BadMessages(); n != 1 {
		t.Errorf("%d messages kept out, want 1", n)
	}
	checkRows(t, filepath.Join(root, "job"), batches)
}

// All names that a session's folder may get have the session's stem, so that one lock guards the choice.
func TestStem(t *testing.T) {
	for _, x := range []struct{ session, want string }{
		{"job", "job"}, {"job-2", "job"}, {"job-999", "job"}, {"job-2-7", "job"}, {"job-0123456789abcde-3", "job"},
		{"job-0", "job-0"}, {"job-1000", "job-1000"}, {"svc-000123", "svc-000123"}, {"pod-7d9f8b6c5-x2x4k", "pod-7d9f8b6c5-x2x4k"}, {"-2", ""},
	} {
		if got := stem(x.session); got != x.want {
			t.Errorf("stem of %s: %q, want %q", x.session, got, x.want)
		}
		for _, folder := range []string{"", "-2", "-10", fmt.Sprintf("-%d", maxNamesakes-1), fmt.Sprintf("-%015x", uint64(0xfedcba987654321)), fmt.Sprintf("-%015x", 1)} {
			if got := stem(x.session + folder); got != x.want {
				t.Errorf("stem of %s: %q, want %q as of %s", x.session+folder, got, x.want, x.session)
			}
		}
	}
}
