package timeseries

import (
	"fmt"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// TestManyPools: of very many pools with a thread each, few have series while these are filled, among them those whose tasks were queued longest.
func TestManyPools(t *testing.T) {
	const n = 10 * mostClasses
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	const end = 1_000_000
	w.Manifest = store.Manifest{Session: "s", StartNs: 1, EndNs: end, DurationNs: end, Ended: store.EndedExit, Metrics: []string{"wall"}}
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "app.Task", Kinds: "runnable"}}}
	for i := range uint32(n) {
		id := i + 1
		p.Executors = append(p.Executors, store.Executor{ID: id, Class: "app.Pool", MadeIn: "app.Main.call"})
		p.Threads = append(p.Threads, store.Thread{ID: id, JavaID: int64(id), Name: fmt.Sprint("t", id), Executor: id})
		start := units.MonoNs(end / 2)
		p.Executions = append(p.Executions, store.Execution{TaskID: uint64(id), Class: 1, Thread: id, Flags: uint16(wire.First), StartNs: start, EndNs: start + 10,
			WallNs: 10, SelfWallNs: 10, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured, SubmittedNs: start - units.MonoNs(100+id)})
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder([]units.MonoNs{1, end / 4, end / 2, end})
	if err := b.tasks(s); err != nil {
		t.Fatal(err)
	}
	made := 0
	for name := range b.index {
		if strings.HasPrefix(name, "app.tasks.queued{executor=") {
			made++
		}
	}
	if made != mostClasses {
		t.Errorf("%d series of executors were made of %d, want %d", made, n, mostClasses)
	}
	left := 0
	for _, x := range b.series {
		if strings.HasPrefix(x.Name, "app.tasks.queued{executor=") {
			left++
		}
	}
	if longest := fmt.Sprintf(`app.tasks.queued{executor="app.Main.call#%d"}`, n); left != mostLabels || b.index[longest] == nil {
		t.Errorf("%d series are left, want %d, %s among them", left, mostLabels, longest)
	}
}
