package jfrimport

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/jfrfile"
	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// handler takes an event.
type handler func(*builder, jfrfile.Value) error

// handlers are those of the types that a session has a place for.
var handlers = map[string]handler{
	"jdk.MethodTrace":                (*builder).methodTrace,
	"jdk.VirtualThreadStart":         (*builder).virtualStart,
	"jdk.VirtualThreadEnd":           (*builder).virtualEnd,
	"jdk.VirtualThreadSubmitFailed":  (*builder).submitFailed,
	"jdk.GarbageCollection":          (*builder).collection,
	"jdk.GCPhasePause":               (*builder).pause,
	"jdk.ThreadStart":                (*builder).threadStart,
	"jdk.ThreadEnd":                  (*builder).threadEnd,
	"jdk.DataLoss":                   (*builder).dataLoss,
	"jdk.ActiveSetting":              (*builder).setting,
	"jdk.JVMInformation":             (*builder).jvm,
	"jdk.CPUInformation":             (*builder).cpus,
	"jdk.InitialSystemProperty":      (*builder).property,
	"jdk.InitialEnvironmentVariable": (*builder).variable,
	"jdk.GCConfiguration":            (*builder).collector,
	"jdk.GCHeapConfiguration":        (*builder).heap,
	"stackagent.Task":                (*builder).ourTask,
	"stackagent.Submission":          (*builder).ourSubmission,
	ourWaitType:                      (*builder).ourWait,
	"stackagent.WaitSum":             (*builder).ourWaitSum,
	"stackagent.Queue":               func(*builder, jfrfile.Value) error { return nil }, // the task has it, too
	"stackagent.Summary":             (*builder).ourSummary,
	"stackagent.Note":                (*builder).ourNote,
}

func init() {
	for name := range waitTypes {
		handlers[name] = (*builder).wait
	}
}

// facts are what is known of the recording beside its rows.
type facts struct {
	jvm          store.JVM
	labels       label.Labels      // of a session that we exported
	environment  map[string]string // the variables that set labels
	jvmStart     int64             // of the JVM, to tell two apart
	traced       int64             // executions of methods
	otherMethods int64             // executions of traced methods that are no tasks
	lives        int64             // of virtual threads
	submitFailed int64             // virtual threads that could not be scheduled
	ours         int64             // executions that we exported
	summarised   int64             // executions that our recording only counts
	submissions  int64
	traces       int64 // ids of traces of our executions
	badTraces    int64 // the same, that are none
	ourNotes     []string
	partOf       []string // notes that say that the recording is a part of a session
	collection   string   // name of the latest collection
	repeated     int64    // chunks that stand in the file once more
	bad          int64    // events that make no sense
	losses       int64    // events of jdk.DataLoss
	lostBytes    int64
	waitTypes    map[string]bool
}

func (b *builder) threadStart(e jfrfile.Value) error { return b.threadAt(e, true) }
func (b *builder) threadEnd(e jfrfile.Value) error   { return b.threadAt(e, false) }

func (b *builder) threadAt(e jfrfile.Value, begins bool) error {
	at, _, ok := b.clock.span(e)
	id, err := b.thread(e, "thread")
	if err != nil || !ok || id == 0 {
		return err
	}
	if t := &b.threads[id-1]; begins {
		t.StartNs = &at
	} else {
		t.EndNs = &at
	}
	return nil
}

func (b *builder) dataLoss(e jfrfile.Value) error {
	b.facts.losses++
	b.facts.lostBytes += min(max(e.Get("amount").Int(), 0), math.MaxInt64/2-b.facts.lostBytes)
	return nil
}

// jvm is jdk.JVMInformation.
func (b *builder) jvm(e jfrfile.Value) error {
	j, pid, start := &b.facts.jvm, e.Get("pid").Int(), e.Get("jvmStartTime").Int()
	if b.facts.jvmStart != 0 && (int(pid) != j.PID || start != b.facts.jvmStart) {
		return fmt.Errorf("the recording has events of two JVMs, of the processes %d and %d: split it (jfr disassemble) and import each by itself", j.PID, pid)
	}
	j.PID, b.facts.jvmStart = int(pid), start
	j.Name = short(e.Get("jvmName").Text())
	j.Version = version(short(e.Get("jvmVersion").Text()))
	j.MainClass, _, _ = strings.Cut(short(e.Get("javaArguments").Text()), " ")
	return nil
}

// property is jdk.InitialSystemProperty.
func (b *builder) property(e jfrfile.Value) error {
	if name, ok := strings.CutPrefix(e.Get("key").Text(), label.Property); ok {
		b.facts.labels.SetNamed(name, e.Get("value").Text()) // one that does not fit is not ours
	}
	return nil
}

// variable is jdk.InitialEnvironmentVariable.
func (b *builder) variable(e jfrfile.Value) error {
	if key := e.Get("key").Text(); slices.Contains(label.Variables, key) {
		if b.facts.environment == nil {
			b.facts.environment = map[string]string{}
		}
		b.facts.environment[key] = e.Get("value").Text()
	}
	return nil
}

// labels are those that the recording's JVM had.
func (b *builder) labels() label.Labels {
	found, _, _ := label.FromEnvironment(func(k string) string { return b.facts.environment[k] })
	return b.facts.labels.Or(found)
}

// version finds 25.0.1+8 in "OpenJDK 64-Bit Server VM (25.0.1+8-LTS) for linux-amd64 JRE (25.0.1+8-LTS), built on ...".
func version(s string) string {
	if _, after, ok := strings.Cut(s, "("); ok {
		v, _, _ := strings.Cut(after, ")")
		return v
	}
	return s
}

func (b *builder) cpus(e jfrfile.Value) error {
	b.facts.jvm.CPUs = int(max(e.Get("hwThreads").Int(), 0))
	return nil
}

// collectors are the JVM's collectors by the names of their old generations.
var collectors = map[string]string{"G1Old": "G1", "SerialOld": "Serial", "ParallelOld": "Parallel", "ZGC": "Z", "Z": "Z", "ZOld": "Z", "Shenandoah": "Shenandoah", "N/A": ""}

func (b *builder) collector(e jfrfile.Value) error {
	old := short(e.Get("oldCollector").Text())
	name, known := collectors[old]
	if !known {
		name = old
	}
	b.facts.jvm.GC = name
	return nil
}

func (b *builder) heap(e jfrfile.Value) error {
	b.facts.jvm.MaxHeapBytes = max(e.Get("maxSize").Int(), 0)
	return nil
}

// collections are pauses, and the causes of the collections that they are of.
type collections struct {
	pauses []pause
	causes map[int64]string
}

type pause struct {
	start, end, gc int64
}

func (g *collections) init() { g.causes = map[int64]string{} }

func (b *builder) pause(e jfrfile.Value) error {
	start, end, ok := b.clock.span(e)
	if !ok {
		b.facts.bad++
		return nil
	}
	if len(b.gc.pauses) == maxPauses {
		return fmt.Errorf("more than %d pauses: %w", maxPauses, ErrTooLarge)
	}
	b.gc.pauses = append(b.gc.pauses, pause{start, end, e.Get("gcId").Int()})
	return nil
}

func (b *builder) collection(e jfrfile.Value) error {
	if len(b.gc.causes) == maxPauses {
		return fmt.Errorf("more than %d collections: %w", maxPauses, ErrTooLarge)
	}
	if b.facts.ours > 0 || b.facts.jvm.GC == "" { // our own recordings have no jdk.GCConfiguration
		b.facts.collection = short(e.Get("name").Text())
	}
	b.gc.causes[e.Get("gcId").Int()] = short(e.Get("cause").Text())
	return nil
}

// settings are those of the recording's types of events.
type settings struct {
	types     map[int64]string
	enabled   map[string]bool
	threshold map[string]units.Ns
	filter    string // of jdk.MethodTrace
	kinds     string // of stackagent.Wait
}

func (s *settings) init() {
	s.types, s.enabled, s.threshold = map[int64]string{}, map[string]bool{}, map[string]units.Ns{}
}

func (s *settings) name(id int64, name string) { s.types[id] = name }

// setting is jdk.ActiveSetting.
func (b *builder) setting(e jfrfile.Value) error {
	s, name, value := &b.settings, b.settings.types[e.Get("id").Int()], e.Get("value").Text()
	switch e.Get("name").Text() {
	case "enabled":
		s.enabled[name] = s.enabled[name] || value == "true"
	case "threshold":
		if d, ok := duration(value); ok {
			s.threshold[name] = max(s.threshold[name], d)
		}
	case "kinds":
		if name == ourWaitType {
			s.kinds = short(value)
		}
	case "filter":
		if name == "jdk.MethodTrace" {
			s.filter = short(value)
		}
	}
	return nil
}

// duration reads "20 ms".
func duration(s string) (units.Ns, bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(s), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	per := map[string]time.Duration{"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[unit]
	if err != nil || per == 0 || n < 0 || n > math.MaxInt64/int64(per) {
		return 0, false
	}
	return units.Ns(n * int64(per)), true
}
