// Package jvmti is the agent's face towards the JVM: the only package that
// includes jvmti.h. What runs in the threads of the observed program is C
// (probe_execute.c, probe_create.c, class_load.c, life_threads.c); the Go files give the Go side the events, the
// class bytes and the records, and are never called per task.
//
// The library's main package calls Register from an init function; the JVM
// then calls Agent_OnLoad (life_load.c), which calls Handler.Load.
package jvmti

/*
#cgo CFLAGS: -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Wno-unused-parameter
#cgo LDFLAGS: -lpthread -ldl -lm
#include <stdlib.h>
#include "class.h"
#include "drain.h"
#include "life.h"
#include "state_events.h"
#include "state_news.h"
#include "state_wakeup.h"
*/
import "C"

import (
	_ "embed" // the helper class
	"sync"
	"time"
	"unsafe"

	"stackagent/internal/settings"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	_ "stackagent/jvmti/clock" // so that a change of its headers rebuilds this package
	_ "stackagent/jvmti/ring"  // and this one
)

//go:embed helper/java/lang/Stackagent.class
var helperClass []byte

//go:embed helper/java/lang/StackagentConstruction.class
var constructionClass []byte

//go:embed helper/java/lang/StackagentWait.class
var waitClass []byte

//go:embed helper/java/lang/StackagentTrace.class
var traceClass []byte

//go:embed helper/java/lang/StackagentTraceApi.class
var traceAPIClass []byte

//go:embed helper/java/lang/Stackagent$Classes.class
var lateClass []byte // for an attach to a running JVM

//go:embed helper/java/lang/Stackagent$Executor.class
var executorClass []byte // for an attach to a running JVM

//go:embed helper/java/lang/StackagentSubmission.class
var submissionClass []byte

// Config is what the options of the command line mean to the C side.
type Config struct {
	settings.Settings
	settings.Derived
	CPU      bool // measure CPU time
	Work     []Work
	Monitors MonitorRequest
}

// VM describes the JVM once it is up.
type VM struct {
	Processors int
	ClockName  string // "tsc", "cntvct" or "monotonic"
	CPUClock   string // "rseq", "user page", "clock_gettime" or "" (not measured)
	Start      wire.ClockPair
	Late       bool              // it ran before the session began
	Extra      []wire.Extra      // of Config.Work, what is measured
	Refused    map[string]string // of Config.Work, what is not -> why
}

// Outcome of Handler.Load.
type Outcome int

// The outcomes.
const (
	Profile    Outcome = C.SA_GO_OK         // profile this JVM
	Unprofiled Outcome = C.SA_GO_UNPROFILED // let the JVM run without the agent
	Refuse     Outcome = C.SA_GO_REFUSE     // do not let the JVM start
)

// Handler is the Go side of the agent. Its methods run on threads of the Go
// runtime, never on a thread of the JVM.
type Handler interface {
	Load(options string) (Config, Outcome)
	Transform(r *ClassRequest) ClassAnswer
	Named(class string) bool // is the class with this Java name named as a task?
	Ready(vm VM) bool        // the probes run; returns soon; false: nothing is recorded
	Death()                  // the JVM ends and waits until Death returns
	Detach()                 // the JVM runs on and waits until Detach returns; Load and Ready may follow
	Full()                   // a thread waits for room in its ring
}

var handler Handler

// Register sets the handler and makes the Go side ready for Agent_OnLoad; to be
// called from an init function of the main package, when all others are initialised.
func Register(h Handler) {
	handler = h
	go func() {
		boundThreads()
		controlLoop()
	}()
}

const workers = 2 // threads that weave classes

// loadFirst makes ready what every session needs.
var loadFirst = sync.OnceFunc(func() {
	C.sa_helper.probes_file = classBytes(helperClass)
	C.sa_helper.submissions_file = classBytes(submissionClass)
	C.sa_helper.constructions_file = classBytes(constructionClass)
	C.sa_helper.waits_file = classBytes(waitClass)
	C.sa_helper.traces_file = classBytes(traceClass)
	C.sa_helper.trace_api_file = classBytes(traceAPIClass)
	C.sa_helper.classes_file = classBytes(lateClass)
	C.sa_helper.executor_file = classBytes(executorClass)
	for range workers {
		go transformLoop()
	}
})

func classBytes(class []byte) C.sa_class_bytes {
	return C.sa_class_bytes{bytes: (*C.uchar)(C.CBytes(class)), len: C.uint32_t(len(class))}
}

// loadAsked takes the options that wait. There are none if the library is loaded
// without being an agent.
func loadAsked() Outcome {
	options := C.sa_new_options()
	if options == nil {
		return Unprofiled
	}
	outcome := load(C.GoString(options))
	if outcome == Profile {
		loadFirst()
	}
	return outcome
}

// load takes new options and passes on what they mean to the C side.
func load(options string) Outcome {
	config, outcome := handler.Load(options)
	if outcome != Profile {
		return outcome
	}
	configure(&config)
	C.sa.clock.cpu = C.bool(config.CPU)
	askWork(config.Work)
	askMonitors(&config.Monitors)
	return Profile
}

func controlLoop() {
	for {
		switch C.sa_wait_event() {
		case C.SA_EVENT_READY:
			ok := handler.Ready(describeVM())
			C.sa_event_done(C.int(outcomeOf(ok)))
		case C.SA_EVENT_DEATH:
			handler.Death()
			C.sa_event_done(0)
		case C.SA_EVENT_LOAD:
			C.sa_event_done(C.int(loadAsked()))
		case C.SA_EVENT_DETACH:
			handler.Detach()
			C.sa_event_done(0)
		case C.SA_EVENT_FULL:
			handler.Full()
		}
	}
}

func outcomeOf(ok bool) Outcome {
	if ok {
		return Profile
	}
	return Unprofiled
}

func describeVM() VM {
	vm := VM{Processors: int(C.sa_processors), ClockName: C.GoString(C.sa_clock_name(&C.sa.clock)), Start: Clock(), Late: bool(C.sa.late)}
	if C.sa.clock.cpu {
		vm.CPUClock = "clock_gettime"
		switch {
		case bool(C.sa.clock.rseq):
			vm.CPUClock = "rseq"
		case bool(C.sa.clock.user_page):
			vm.CPUClock = "user page"
		}
	}
	vm.Extra, vm.Refused = workFound()
	return vm
}

// ExpectObserver makes the program wait for ReleaseProgram before it starts, at most so long. It is called by Handler.Load.
func ExpectObserver(bound time.Duration) { C.sa_observer_expect(C.uint64_t(bound)) }

// ReleaseProgram ends the wait of ExpectObserver, or makes it none.
func ReleaseProgram() { C.sa_observer_release() }

// ObserverWaited is how long the program waited.
func ObserverWaited() time.Duration { return time.Duration(C.sa_observer_waited()) }

// Say writes one line on the program's standard error.
func Say(message string) {
	s := C.CString(message)
	C.sa_say(s)
	C.free(unsafe.Pointer(s))
}

// Property returns a system property as it was when the JVM came up, "" if
// there is none or the agent does not keep it (life_vm.c).
func Property(name string) string {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return text(C.sa_property(n))
}

// BuildID is what the linker wrote into this library to distinguish it from any other; empty if it did not.
func BuildID() []byte {
	id := make([]byte, 64)
	return id[:C.sa_build_id((*C.uchar)(&id[0]), C.size_t(len(id)))]
}

// LibraryPath is the file that this library was loaded from, "" if unknown.
func LibraryPath() string {
	path := C.sa_library_path()
	if path == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(path))
	return C.GoString(path)
}

// Clock reads the agent's clock and CLOCK_MONOTONIC at one moment.
func Clock() wire.ClockPair {
	var ticks, mono C.uint64_t
	C.sa_clock_pair(&C.sa.clock, &ticks, &mono)
	return wire.ClockPair{Ticks: units.Ticks(ticks), Mono: units.MonoNs(mono)}
}

// Drainer copies records out of the rings. One goroutine at a time.
type Drainer struct {
	mu       sync.Mutex
	buffer   []byte
	words    []uint64             // of summaries; made when first needed
	contexts *contextNews         // made when first needed
	virtual  []wire.VirtualThread // of the summaries, not taken yet
	waits    []wire.WaitSum       // the same
	cursor   *C.sa_os             // where the next call starts, so that no thread is always last
}

// NewDrainer makes a drainer for rings of ringBytes.
func NewDrainer(ringBytes int) *Drainer { return &Drainer{buffer: make([]byte, ringBytes)} }

// Drain goes round the threads' rings, once at most, and passes on what they
// hold, whole records (jvmti/ring/record.h), until max bytes have been seen.
// The slice is valid during the call of f only. It returns the bytes seen;
// what is left waits for the next call.
func (d *Drainer) Drain(max int, f func(ring uint32, slots []byte)) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	total, wrapped := 0, d.cursor == nil
	for total < max {
		var ring C.uint32_t
		n := int(C.sa_drain_next(&d.cursor, (*C.uint8_t)(&d.buffer[0]), C.size_t(len(d.buffer)), &ring))
		if n > 0 {
			total += n
			f(uint32(ring), d.buffer[:n])
			continue
		}
		d.cursor = nil
		for C.sa_drain_closed_ring(&ring) {
			f(uint32(ring), nil)
		}
		if wrapped {
			break
		}
		wrapped = true
	}
	return total
}

// Await waits until there is much to drain, WakeDrain is called, or max is over; after soft, any event since the last
// call ends it. Like Drain, it is for one goroutine at a time.
func (d *Drainer) Await(soft, max time.Duration) {
	C.sa_await_records(C.uint64_t(soft), C.uint64_t(max))
}

// WakeDrain ends an Await that runs, or the next one.
func WakeDrain() { C.sa_wake_drain() }

// Stop ends all recording: the probes return at once from now on.
func Stop() { C.sa_stop() }

// OSIDs are the OS threads of platform threads that have recorded something, or carried a virtual thread, by their
// ids. It is called where the rings are drained.
func OSIDs() map[uint32]int32 {
	for n := 256; ; n *= 4 {
		list := make([]C.sa_os_id, n)
		list = list[:C.sa_os_ids_now(&list[0], C.size_t(n))]
		if len(list) == n {
			continue
		}
		ids := make(map[uint32]int32, len(list))
		for _, x := range list {
			ids[uint32(x.thread)] = int32(x.os_id)
		}
		return ids
	}
}

// News is what has become known since the last call.
type News struct {
	Classes  []wire.Class
	Threads  []wire.Thread
	Refusals []wire.Refusal // single ones, not sums

	Executors []wire.Executor
	Gone      []uint32 // classes that are unloaded; perhaps of Classes
}

// ReadNews takes the news. Read it after draining records, so that no record
// names a class or thread that is still unknown in a later batch; send it
// before or with them.
func ReadNews() News {
	var news News
	for m := C.sa_news_take(); m != nil; {
		next := m.next
		news.add(m)
		C.sa_news_free(m)
		m = next
	}
	return news
}

func (n *News) add(m *C.sa_news) {
	switch m._type {
	case C.SA_NEWS_CLASS:
		n.Classes = append(n.Classes, wire.Class{ID: uint32(m.id), Name: text(m.name),
			Kinds: units.Kinds(m.kinds), Loader: text(m.group)})
	case C.SA_NEWS_THREAD:
		n.Threads = append(n.Threads, wire.Thread{ID: uint32(m.id), JavaID: int64(m.java_id), OSID: int32(m.os_id),
			Name: text(m.name), Group: text(m.group), Class: text(m.class_name), Daemon: bool(m.daemon),
			Virtual: bool(m.is_virtual), Start: units.Ticks(m.start_ticks), End: units.Ticks(m.end_ticks),
			CPU: units.Ns(m.cpu_ns), Counted: bool(m.counted), Executions: uint64(m.executions),
			Creations: uint64(m.creations), Lost: uint64(m.lost), Executor: uint32(m.executor)})
	case C.SA_NEWS_EXECUTOR:
		x := wire.Executor{ID: uint32(m.id), Class: text(m.class_name), Name: text(m.name), File: text(m.made_file), Line: int32(m.made_line),
			Core: int32(m.core), Maximum: int32(m.maximum), Queue: text(m.queue), Bound: int32(m.bound),
			RemovesCancelled: bool(m.removes_cancelled), AsyncMode: bool(m.async_mode)}
		if m.made_class != nil {
			x.MadeIn = text(m.made_class) + "." + text(m.made_method)
		}
		n.Executors = append(n.Executors, x)
	case C.SA_NEWS_UNLOADED:
		n.Gone = append(n.Gone, uint32(m.id))
	case C.SA_NEWS_REFUSAL:
		n.Refusals = append(n.Refusals, wire.Refusal{Reason: text(m.name), Count: 1, Sample: text(m.class_name)})
	}
}

func text(s *C.char) string {
	if s == nil {
		return ""
	}
	return C.GoString(s)
}
