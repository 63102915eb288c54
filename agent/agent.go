// Package agent is the Go side of the library that the JVM loads: it reads the
// options, weaves classes, and sends the records of the probes to the bus. It
// analyses nothing. Nothing here runs on a thread of the JVM.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/agent/drain"
	"stackagent/agent/instrument"
	"stackagent/agent/options"
	"stackagent/agent/publish"
	"stackagent/internal/busauth"
	"stackagent/internal/label"
	"stackagent/internal/settings"
	"stackagent/internal/taskdef"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// Bounds of the agent's cost to the observed program.
const (
	ringBytes      = 1 << 20                // per thread that runs probes; memory is touched as it fills
	blockFor       = 20 * time.Millisecond  // longest wait of a thread for room in its ring, per second
	blockForAll    = 900 * time.Millisecond // with detail=all, which asks for every record
	firstBeat      = 100 * time.Millisecond // a program may be over soon, and its fast classes are to be sampled soon
	patience       = 800 * time.Millisecond // full rings make their threads summarise for this long
	maxExecutors   = 1 << 16                // the newest, remembered for later sessions
	startFor       = 2 * time.Second        // the JVM may need this long to start
	exitWait       = 10 * time.Second       // for the bus to take the last batches
	exitWaitAway   = 200 * time.Millisecond // if the bus is away
	noticeAfter    = 300 * time.Millisecond // of an outage
	exitPoll       = 10 * time.Millisecond
	exitNoteNormal = "exit"
	exitNoteDetach = "detach"
)

// Agent implements jvmti.Handler.
type Agent struct {
	options     options.Options
	auth        busauth.Auth
	process     string // wire.Batch.Process
	labels      label.Labels
	weaver      atomic.Pointer[weaver]
	monitors    *monitors
	source      *source
	collector   *drain.Collector
	hurry       chan struct{} // for the collector
	publisher   *publish.Publisher
	announcer   *announcer // nil: the JVM is not announced
	unconnected error      // why there is no publisher
	stop        context.CancelFunc
	stopped     chan struct{}

	// These keep their ids from session to session.
	classes   map[uint32]wire.Class // without the unloaded ones
	executors []wire.Executor
	sites     siteTable
}

var _ jvmti.Handler = (*Agent)(nil)

// Load implements jvmti.Handler.
func (a *Agent) Load(text string) (jvmti.Config, jvmti.Outcome) {
	opts, err := options.Parse(text)
	if err == nil {
		err = a.load(opts, text)
	}
	if err != nil {
		if opts.Strict {
			jvmti.Say(err.Error() + "; strict=true: the JVM does not start")
			return jvmti.Config{}, jvmti.Refuse
		}
		jvmti.Say(err.Error() + "; the program runs without profiling")
		return jvmti.Config{}, jvmti.Unprofiled
	}
	return jvmti.Config{
		Settings: opts.Settings,
		Derived:  settings.Derived{CustomTasks: len(opts.Tasks) > 0, CompilesHuge: slices.Contains(optionWords(os.Args, os.Getenv), "-XX:-DontCompileHugeMethods"), RingBytes: ringBytes, BlockFor: longestWait(opts.Detail)},
		CPU:      slices.Contains(opts.Metrics, "cpu"),
		Work:     work(&opts),
		Monitors: a.monitors.request(opts.MonitorInterval),
	}, jvmti.Profile
}

// longestWait is how long a thread may wait for room in its ring, per second. With
// detail=all the agent cannot summarise, so it slows the program instead.
func longestWait(detail settings.Detail) time.Duration {
	if detail == settings.DetailAll {
		return blockForAll
	}
	return blockFor
}

func (a *Agent) load(opts options.Options, text string) error {
	a.options = opts
	var err error
	if a.auth, err = opts.Auth(os.Getenv); err != nil {
		return err
	}
	if warning := opts.Exposed(); warning != "" {
		jvmti.Say(warning)
	}
	if a.labels, err = labelsOf(&opts, os.Getenv); err != nil {
		return err
	}
	now := time.Now()
	a.options.Session = opts.SessionName(hostName(), os.Getpid(), now)
	a.process = processName(os.Getpid(), now, rand.Uint32())
	debug.SetMemoryLimit(heapLimit)
	debug.SetGCPercent(-1) // the heap is still small: no collection competes with the JVM's start
	time.AfterFunc(startFor, func() { debug.SetGCPercent(gcPercent) })
	rules := instrument.Options{Include: opts.Include, Exclude: opts.Exclude,
		Count: slices.Contains(opts.Metrics, bytecodes), Asked: opts.Settings}
	a.monitors = newMonitors(opts.Monitors)
	rules.Monitored = a.monitors.watched
	for _, t := range opts.Tasks {
		for _, definition := range taskdef.Expand(t) {
			d, err := instrument.ParseTaskDefinition(definition)
			if err != nil {
				return err
			}
			rules.Tasks = append(rules.Tasks, d)
		}
	}
	w := newWeaver(rules, lazyImage())
	w.asked = opts.Tasks
	w.found = a.monitors.found
	w.recaller = newRecaller(&opts, text, rules.Count)
	if opts.Sites {
		w.sites = &a.sites
	}
	a.weaver.Store(w)
	a.source = newSource(ringBytes, a.weaver.Load())
	a.source.known = func(news *jvmti.News) {
		a.know(news)
	}
	a.source.sites = w.sites
	a.source.monitors = a.monitors
	if opts.Children {
		if err := exportToChildren(text); err != nil {
			return err
		}
	}
	a.unconnected = a.connect() // the session cannot begin: the JVM can
	return nil
}

// connect starts to connect to the bus, while the JVM is still starting, and announces the JVM there.
func (a *Agent) connect() error {
	a.announcer = a.announce()
	link := func(*nats.Conn) {}
	if a.announcer != nil {
		link = a.announcer.link
	}
	var err error
	a.publisher, err = publish.New(publish.Config{
		URL:      a.options.Bus,
		Session:  a.options.Session,
		Process:  a.process,
		Auth:     a.auth,
		MaxBytes: int(a.options.Buffer),
		Spool:    a.spool(),
		Grace:    noticeAfter,
		Notice:   jvmti.Say,
		Link:     link,
	})
	if err != nil {
		a.announcer.end()
	}
	return err
}

// know remembers the news for later sessions. No later record names a class that is
// unloaded, so know forgets it.
func (a *Agent) know(news *jvmti.News) {
	if a.classes == nil {
		a.classes = make(map[uint32]wire.Class)
	}
	for _, c := range news.Classes {
		a.classes[c.ID] = c
	}
	for _, id := range news.Gone {
		delete(a.classes, id)
	}
	a.executors = append(a.executors, news.Executors...)
	if over := len(a.executors) - maxExecutors; over > 0 {
		a.executors = slices.Delete(a.executors, 0, over)
	}
}

// knownClasses are the classes that know remembers, by id.
func (a *Agent) knownClasses() []wire.Class {
	return slices.SortedFunc(maps.Values(a.classes), func(x, y wire.Class) int { return cmp.Compare(x.ID, y.ID) })
}

// processName distinguishes this JVM from all others that use its session name, also
// on other machines and in containers, where every process id is 1.
func processName(pid int, start time.Time, random uint32) string {
	return fmt.Sprintf("%d-%x-%08x", pid, start.UnixNano(), random)
}

// exportToChildren makes the JVMs that this one starts load the agent too, before any
// other agent.
func exportToChildren(text string) error {
	const variable = "JAVA_TOOL_OPTIONS"
	arg := "-agentpath:" + jvmti.LibraryPath() + "=" + options.ForChildren(text)
	if old := os.Getenv(variable); old == arg || strings.HasPrefix(old, arg+" ") {
		return nil // inherited
	} else if old != "" {
		arg += " " + old
	}
	if err := os.Setenv(variable, arg); err != nil {
		return fmt.Errorf("set %s for child JVMs: %w", variable, err)
	}
	return nil
}

// Transform implements jvmti.Handler.
func (a *Agent) Transform(r *jvmti.ClassRequest) jvmti.ClassAnswer {
	return a.weaver.Load().Transform(r)
}

// Named implements jvmti.Handler.
func (a *Agent) Named(class string) bool { return a.weaver.Load().Named(class) }

// Ready implements jvmti.Handler.
func (a *Agent) Ready(vm jvmti.VM) bool {
	err := a.ready(vm)
	if err != nil {
		jvmti.Stop()
		jvmti.Say(err.Error() + "; nothing is recorded")
	}
	return err == nil
}

func (a *Agent) ready(vm jvmti.VM) error {
	if a.unconnected != nil {
		return a.unconnected
	}
	hello := describe(vm, time.Now().UnixNano(), a.options.Metrics)
	describeWork(hello, vm)
	hello.Detail, hello.Tasks = string(a.options.Detail), a.options.Tasks
	hello.HostID, hello.ObserverWait = a.announcer.waited()
	hello.Labels = a.labels
	describeTraces(hello, &a.options)
	describeWaits(hello, &a.options, jvmti.SleepsSeen())
	if vm.Late {
		hello.NotAvailable = withUnseen(hello.NotAvailable)
	}
	a.source.news.Classes, a.source.news.Executors = a.knownClasses(), slices.Clone(a.executors)
	a.hurry = make(chan struct{}, 1)
	var err error
	a.collector, err = drain.NewCollector(drain.Config{
		Session:   a.options.Session,
		Process:   a.process,
		Hello:     func() *wire.Hello { return hello },
		Patience:  patience,
		FirstBeat: firstBeat,
		Extras:    len(hello.Extra),
		Hurry:     a.hurry,
		Notice:    jvmti.Say,
		Await:     a.source.Await,
	}, a.source, a.publisher)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	a.stop, a.stopped = stop, make(chan struct{})
	go watchHeap(ctx)
	go func() {
		defer close(a.stopped)
		if err := a.collector.Run(ctx); err != nil {
			jvmti.Stop()
			jvmti.Say(err.Error() + "; recording ends here")
		}
	}()
	return nil
}

// Full implements jvmti.Handler.
func (a *Agent) Full() {
	select {
	case a.hurry <- struct{}{}:
	default: // the collector is already in a hurry, or nothing is recorded
	}
	jvmti.WakeDrain()
}

// Death implements jvmti.Handler: it sends everything recorded, within bounds.
func (a *Agent) Death() { a.finish(exitNoteNormal) }

// finish ends the session.
func (a *Agent) finish(note string) {
	defer func() {
		if p := recover(); p != nil {
			jvmti.Say(fmt.Sprintf("internal error at exit: %v; the last records are lost", p))
		}
	}()
	if a.stopped == nil {
		return
	}
	a.announcer.end()
	a.stop()
	jvmti.WakeDrain()
	<-a.stopped
	ctx, cancel := a.exitContext()
	defer cancel()
	running := a.source.ends.read()
	a.source.os.expire()
	a.source.weaver.unfitted()
	a.source.weaver.recaller.finish()
	if err := a.collector.Finish(ctx, running, note); err != nil {
		jvmti.Say(err.Error())
	}
	_, _ = a.publisher.Flush(ctx) // keep saves the rest
	a.keep()
}

// exitContext bounds the wait at exit. If the bus is known to be away, the bound is short.
func (a *Agent) exitContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), exitWait)
	publisher := a.publisher
	go func() {
		away := time.Duration(0)
		for ctx.Err() == nil {
			time.Sleep(exitPoll)
			if away += exitPoll; !publisher.Away() {
				away = 0
			}
			if away >= exitWaitAway {
				cancel()
			}
		}
	}()
	return ctx, cancel
}
