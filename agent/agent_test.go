package agent

import (
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/agent/instrument"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

func TestCollectorByThreadNames(t *testing.T) {
	tests := []struct {
		want    string
		threads []string
		args    []string
	}{
		{"G1", []string{"java", "GC Thread#0", "G1 Main Marker", "G1 Conc#0", "VM Thread"}, nil},
		{"Parallel", []string{"java", "GC Thread#0", "VM Thread"}, nil},
		{"ZGC", []string{"ZDirector", "ZDriver", "ZWorker#0"}, nil},
		{"ZGC", []string{"XDriver", "XWorker#0"}, nil},
		{"Shenandoah", []string{"Shenandoah Cont", "Shenandoah GC T"}, nil},
		{"Epsilon", []string{"java", "VM Thread"}, []string{"java", "-XX:+UseEpsilonGC"}},
		{"Serial", []string{"java", "VM Thread"}, []string{"java", "-cp", "x"}},
	}
	for _, tt := range tests {
		if got := collector(tt.threads, tt.args, ""); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.threads, got, tt.want)
		}
	}
	if got := collector(nil, nil, "-Xmx1g -XX:+UseEpsilonGC"); got != "Epsilon" {
		t.Errorf("by JAVA_TOOL_OPTIONS: %s", got)
	}
}

// The last option that says the largest heap counts; what belongs to the program does not.
func TestMaxHeap(t *testing.T) {
	for _, tt := range []struct {
		args string
		env  map[string]string
		want int64
	}{
		{"java -Xmx64m Main", nil, 64 << 20},
		{"java -Xms1g -XX:MaxHeapSize=3G -cp a:b Main -Xmx1m", nil, 3 << 30},
		{"java -jar app.jar -Xmx1m", nil, 0},
		{"java -Xmx1g -Xmx536870912 Main", nil, 512 << 20},
		{"java -Xmx2g Main", map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g", "JDK_JAVA_OPTIONS": "-Xmx5g"}, 2 << 30},
		{"java Main", map[string]string{"JAVA_TOOL_OPTIONS": "-agentpath:x -Xmx100K"}, 100 << 10},
		{"java -Xmx2g Main", map[string]string{"_JAVA_OPTIONS": "-Xmx3g"}, 3 << 30},
		{"java --add-opens a/b=c -Xmx7m Main", nil, 7 << 20},
		{"java -Xmx Main", nil, 0}, {"java -Xmx-5m Main", nil, 0}, {"java -Xmx9999999999999t Main", nil, 0}, {"", nil, 0},
	} {
		if got := maxHeap(optionWords(strings.Fields(tt.args), func(name string) string { return tt.env[name] })); got != tt.want {
			t.Errorf("%s with %v: %d, want %d", tt.args, tt.env, got, tt.want)
		}
	}
}

// The snapshot has this process's own main thread, by the kernel's name, and is not
// repeated at once.
func TestOSThreads(t *testing.T) {
	var o osThreads
	found := false
	for _, thread := range o.snapshot() {
		if strconv.Itoa(int(thread.OSID)) == strconv.Itoa(os.Getpid()) {
			found = thread.Name != "" && thread.CPU > 0
		}
	}
	if !found {
		t.Error("the main thread is missing, nameless or without CPU time")
	}
	o.last = time.Now().Add(time.Minute) // as if no time had passed since the first
	if o.snapshot() != nil {
		t.Error("a second snapshot at once")
	}
	o.last = time.Now().Add(-2 * time.Second)
	if o.snapshot() == nil {
		t.Error("no snapshot after two seconds")
	}
}

// A thread that has ended has no group any more; the known one stays.
func TestMergeThreads(t *testing.T) {
	s := newSource(1<<12, nil)
	start := wire.Thread{ID: 7, JavaID: 20, OSID: 99, Name: "pool-1", Group: "main", Class: "java.lang.Thread", Start: 5}
	s.merge(start)
	end := s.merge(wire.Thread{ID: 7, JavaID: 20, Name: "renamed", End: 9, CPU: 3})
	want := start
	want.Name, want.End, want.CPU = "renamed", 9, 3
	if end != want {
		t.Errorf("merged %+v, want %+v", end, want)
	}
	if len(s.threads) != 0 {
		t.Error("an ended thread is remembered")
	}
	s.merge(wire.Thread{ID: 8, Virtual: true})
	if len(s.threads) != 0 {
		t.Error("a virtual thread is remembered")
	}
}

// Java threads that were there before the agent are found by what the probes have seen, then by their names in the
// kernel, if these are unique on both sides.
func TestFindOSThreads(t *testing.T) {
	s := newSource(1<<12, nil)
	for i, name := range []string{"Reference Handler", "Finalizer", "worker", "elsewhere", "ForkJoinPool-1-worker-1", "ForkJoinPool-1-worker-2",
		"ForkJoinPool-2-worker-1", "ForkJoinPool-2-worker-2", "http-nio-8080-exec-1", "http-nio-8080-exec-2", "main"} {
		s.merge(wire.Thread{ID: uint32(i + 1), Name: name, Group: "main"})
	}
	s.merge(wire.Thread{ID: 99, Name: "known", OSID: 30})
	pid := int32(os.Getpid())
	snapshot := []wire.OSThread{{OSID: pid, Name: "java"}, {OSID: pid + 1, Name: "java"}, {OSID: 10, Name: "Reference Handl"}, {OSID: 11, Name: "Finalizer"},
		{OSID: 12, Name: "worker"}, {OSID: 13, Name: "worker"}, {OSID: 14, Name: "ForkJoinPool-1-"}, {OSID: 15, Name: "ForkJoinPool-1-"},
		{OSID: 16, Name: "ForkJoinPool-2-"}, {OSID: 17, Name: "ForkJoinPool-2-"}, {OSID: 18, Name: "http-nio-8080-e"}, {OSID: 30, Name: "elsewhere"}}
	seen := map[uint32]int32{5: 15, 6: 14, 7: 17} // the last one of its pool is then unique
	want := map[string]int32{"Reference Handler": 10, "Finalizer": 11, "ForkJoinPool-1-worker-1": 15, "ForkJoinPool-1-worker-2": 14,
		"ForkJoinPool-2-worker-1": 17, "ForkJoinPool-2-worker-2": 16, "main": pid + 1}
	got := map[string]int32{}
	for _, thread := range s.findOSThreads(snapshot, seen) {
		got[thread.Name] = thread.OSID
	}
	if !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if again := s.findOSThreads(snapshot, seen); again != nil {
		t.Errorf("found again: %v", again)
	}
	if !s.unseen() {
		t.Error("two threads are not known, and none is said to be")
	}
}

// A later session gets the classes that are still loaded and the newest executors.
func TestKnow(t *testing.T) {
	var a Agent
	a.know(&jvmti.News{Classes: []wire.Class{{ID: 3, Name: "C"}, {ID: 1, Name: "A"}, {ID: 2, Name: "B"}}})
	a.know(&jvmti.News{Classes: []wire.Class{{ID: 4, Name: "D"}}, Gone: []uint32{2, 4, 9}})
	if got := a.knownClasses(); len(got) != 2 || got[0].Name != "A" || got[1].Name != "C" {
		t.Errorf("classes %+v, want A and C", got)
	}
	for i := range uint32(maxExecutors + 10) {
		a.know(&jvmti.News{Executors: []wire.Executor{{ID: i}}})
	}
	if n := len(a.executors); n != maxExecutors || a.executors[n-1].ID != maxExecutors+9 {
		t.Errorf("%d executors, the last %+v", n, a.executors[n-1])
	}
}

// What the JVM knows of a supertype wins; the rest is looked up in the image.
func TestSupertypes(t *testing.T) {
	image := instrument.NewImageHierarchy(func(string) ([]byte, error) { return nil, os.ErrNotExist }, instrument.Options{})
	r := &jvmti.ClassRequest{Supertypes: []jvmti.Supertype{
		{Name: "com/acme/Base", Kinds: units.KindRunnable, Known: true},
		{Name: "com/acme/Unknown"},
	}}
	s := supertypes{r, image, func(string) units.Kinds { return 0 }}
	if k, ok := s.Kinds("com/acme/Base"); !ok || k != units.KindRunnable {
		t.Errorf("Base: %v %v", k, ok)
	}
	if _, ok := s.Kinds("com/acme/Unknown"); ok || r.Supertypes[1].Known {
		t.Error("Unknown became known")
	}
}

// A class that cannot be parsed keeps its bytes, and is counted by reason.
func TestTransformRefuses(t *testing.T) {
	image := instrument.NewImageHierarchy(func(string) ([]byte, error) { return nil, os.ErrNotExist }, instrument.Options{})
	w := &weaver{hierarchy: image, refusals: map[string]*wire.Refusal{}}
	for range 3 {
		a := w.Transform(&jvmti.ClassRequest{Name: "com/acme/Bad", Bytes: []byte{1, 2, 3}, Mode: jvmti.ModeFull})
		if a.Woven != nil || a.Label != "" {
			t.Errorf("an answer for garbage: %+v", a)
		}
	}
	got := w.takeRefusals()
	if len(got) != 1 || got[0].Count != 3 || got[0].Sample != "com.acme.Bad" || got[0].Reason != string(instrument.ReasonBadClass) {
		t.Errorf("refusals %+v", got)
	}
	if w.takeRefusals() != nil {
		t.Error("refusals are reported twice")
	}
}
