package record

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc"
	"stackagent/internal/listing/table"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
)

// scanInterval is how often new threads of a JVM are looked for; a third as often if it has begun none for two seconds.
// A thread that lives shorter may be missed by the counters from outside.
const scanInterval = 100 * time.Millisecond

// Watcher learns of JVMs from their sessions and counts in their threads, from outside.
type Watcher struct {
	env     console.Env
	off     bool // do not count
	events  []hpc.Event
	ctx     context.Context
	stop    context.CancelFunc
	scanner sync.WaitGroup

	Switches *Switches // nil: scheduling is not recorded
	Monitors *Monitors // nil: nothing is sampled
	Finder   *jvmprocess.Finder

	mu        sync.Mutex
	processes []*Counting
	sessions  map[string]counted // by the session's folder; empty when what was counted is written
	forgotten []string           // the empty ones, oldest first
}

// Counting is a process in whose threads events are counted, or why they are not.
type Counting struct {
	pid   int
	began units.MonoNs  // 0: not known
	from  units.MonoNs  // since when events are counted
	over  bool          // it has ended, or cannot be counted in
	c     *hpc.Counters // nil while being opened, or when not possible
	why   error
	open  chan struct{} // closed when the counters of its threads are open, or cannot be
}

// NewWatcher makes a watcher that counts or not, with or without the events of the caches.
func NewWatcher(env console.Env, count, caches bool) *Watcher {
	events := hpc.AllEvents()
	if caches {
		events = append(events, hpc.CacheEvents()...)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Watcher{env: env, Finder: jvmprocess.NewFinder(), off: !count, events: events, ctx: ctx, stop: stop, sessions: map[string]counted{}}
}

// Progress implements ingest.Live.
func (w *Watcher) Progress(p ingest.Progress) {
	w.Switches.Progress(p)
	w.Monitors.Progress(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, known := w.sessions[p.Folder]; known || w.off || w.ctx.Err() != nil {
		if s.Counting != nil {
			w.sessions[p.Folder] = counted{Counting: s.Counting, progress: p}
		}
		return
	}
	x := w.counts(p)
	pid, err := w.Finder.Find(p, x != nil)
	switch {
	case err != nil:
		x = &Counting{pid: p.JVM.PID, why: err}
	case x == nil:
		x = w.begin(pid)
	}
	w.sessions[p.Folder] = counted{Counting: x, progress: p}
}

// counts is the process with a session's JVM, if its counters run already: the last one of
// that number that began before the session.
func (w *Watcher) counts(p ingest.Progress) (last *Counting) {
	pid := w.Finder.Number(p)
	began, err := proc.Started(pid)
	for _, x := range w.processes {
		const tick = units.MonoNs(10 * time.Millisecond)
		other := err == nil && (x.began < began-tick || x.began > began+tick) // its number is given again
		if x.pid == pid && !other && (p.StartNs == 0 || x.began <= p.StartNs+jvmprocess.StartSlack) {
			last = x
		}
	}
	return last
}

// Problem implements ingest.Live.
func (w *Watcher) Problem(session string, err error) {
	NoteProblem(w.env, session, err)
}

// Refused implements ingest.Doorkeeper.
func (w *Watcher) Refused(subject string, n uint64, err error) { NoteRefused(w.env, subject, n, err) }

// NoteRefused notes messages that were not stored. The sender chose the subject, so it is cut and cleaned.
func NoteRefused(env console.Env, subject string, n uint64, err error) {
	env.Note("rejected %s, the last on %.200s: %.400s", text.PluralExact(n, "message", "messages"), table.Clean(subject), text.OneLine(err.Error()))
}

// NoteProblem says that storing a session stopped, or with nil that it goes on.
func NoteProblem(env console.Env, session string, err error) {
	if err != nil {
		env.Note("session %s: %s", table.Clean(session), text.OneLine(err.Error()))
	} else {
		env.Note("session %s: storing works again", table.Clean(session))
	}
}

// NoteFull says that the bus takes no batches, or that it does again.
func NoteFull(env console.Env, full bool) {
	if full {
		env.Note("the bus takes no batches: its disk is full; make space and it continues by itself")
	} else {
		env.Note("the bus takes batches again")
	}
}

// Watch starts to count in a process that this shadow started, or attaches to.
func (w *Watcher) Watch(pid int) *Counting {
	w.Monitors.Watch(pid)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off || w.ctx.Err() != nil {
		return &Counting{pid: pid}
	}
	return w.begin(pid)
}

// keptProcesses bounds the ended processes that are remembered in case their session
// shows up late. Processes with a session are kept with it.
const keptProcesses = 256

// begin needs w.mu.
func (w *Watcher) begin(pid int) *Counting {
	x := &Counting{pid: pid, from: proc.Now(), open: make(chan struct{})}
	x.began, x.why = proc.Started(pid)
	x.over = x.why != nil
	w.forget()
	w.processes = append(w.processes, x)
	if x.why == nil {
		w.scanner.Add(1)
		go w.scan(x)
	} else {
		close(x.open)
	}
	return x
}

// forget makes room: the first of too many that have ended goes. Needs w.mu.
func (w *Watcher) forget() {
	if len(w.processes) < keptProcesses {
		return
	}
	if i := slices.IndexFunc(w.processes, func(x *Counting) bool { return x.over }); i >= 0 {
		w.processes = slices.Delete(w.processes, i, i+1)
	}
}

func (w *Watcher) scan(x *Counting) {
	defer w.scanner.Done()
	c, err := hpc.Attach(x.pid, w.events, hpc.Options{})
	w.mu.Lock()
	x.c, x.why = c, err
	w.mu.Unlock()
	close(x.open)
	if err == nil {
		_ = c.Run(w.ctx, scanInterval) // an error ends the scan; the totals so far stay
		c.Close()
	}
	w.mu.Lock()
	x.over = true
	w.mu.Unlock()
}

// End stops counting.
func (w *Watcher) End() {
	w.Switches.End()
	w.Monitors.End()
	w.stop()
	w.scanner.Wait()
}

// Snapshot is what was counted in a process; nil: nothing.
func (w *Watcher) Snapshot(x *Counting) *hpc.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x == nil || x.c == nil {
		return nil
	}
	file := x.c.Snapshot()
	return &file
}

// Write stores the counters of a session, which was recorded in folder, in dir.
func (w *Watcher) Write(folder, dir string) error {
	w.mu.Lock()
	x := w.sessions[folder].Counting
	w.mu.Unlock()
	if file := w.Snapshot(x); file != nil {
		return file.Write(dir)
	}
	if x == nil || x.why == nil {
		return nil
	}
	absent := map[hpc.Event]string{} // say why there are none
	var na *hpc.NotAvailableError
	if errors.As(x.why, &na) {
		absent[na.Event] = na.Reason
	} else {
		for _, e := range w.events {
			absent[e] = text.OneLine(x.why.Error())
		}
	}
	return hpc.File{Version: hpc.FileVersion, PID: x.pid, NotAvailable: absent}.Write(dir)
}
