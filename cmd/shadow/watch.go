package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/ingest"
)

// scanInterval is how often new threads of a JVM are looked for. A thread that
// lives shorter may be missed by the counters from outside.
const scanInterval = 100 * time.Millisecond

// watcher hears of JVMs and counts in their threads, from outside.
type watcher struct {
	env     Env
	off     bool // do not count
	ctx     context.Context
	stop    context.CancelFunc
	scanner sync.WaitGroup

	switches *switches // nil: scheduling is not recorded
	finder   *jvmprocess.Finder

	mu        sync.Mutex
	processes []*counting
	sessions  map[string]*counting // by the session's folder
}

// counting is a process in whose threads events are counted, or why they are not.
type counting struct {
	pid   int
	began units.MonoNs  // 0: not known
	over  bool          // it has ended, or cannot be counted in
	c     *hpc.Counters // nil while being opened, or when not possible
	why   error
}

func newWatcher(env Env, count bool) *watcher {
	ctx, stop := context.WithCancel(context.Background())
	return &watcher{env: env, finder: jvmprocess.NewFinder(), off: !count, ctx: ctx, stop: stop, sessions: map[string]*counting{}}
}

// Progress implements ingest.Live.
func (w *watcher) Progress(p ingest.Progress) {
	w.switches.progress(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.sessions[p.Folder]; known || w.off || w.ctx.Err() != nil {
		return
	}
	x := w.counts(p)
	pid, err := w.finder.Find(p, x != nil)
	switch {
	case err != nil:
		x = &counting{pid: p.JVM.PID, why: err}
	case x == nil:
		x = w.begin(pid)
	}
	w.sessions[p.Folder] = x
}

// counts is the process, of those in which is counted already, that is a
// session's JVM: the last one of its number that began before the session.
func (w *watcher) counts(p ingest.Progress) (last *counting) {
	pid := w.finder.Number(p)
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
func (w *watcher) Problem(session string, err error) {
	noteProblem(w.env, session, err)
}

// Refused implements ingest.Doorkeeper.
func (w *watcher) Refused(subject string, n uint64, err error) { noteRefused(w.env, subject, n, err) }

// noteRefused notes what was not stored. The sender chose the subject, which is cut and cleaned.
func noteRefused(env Env, subject string, n uint64, err error) {
	env.note("rejected %s, the last on %.200s: %.400s", text.PluralExact(n, "message", "messages"), clean(subject), text.OneLine(err.Error()))
}

// noteProblem says that storing a session stopped, or with nil that it goes on.
func noteProblem(env Env, session string, err error) {
	if err != nil {
		env.note("session %s: %s", clean(session), text.OneLine(err.Error()))
	} else {
		env.note("session %s: storing works again", clean(session))
	}
}

// noteFull says that the bus takes no batches, or that it does again.
func noteFull(env Env, full bool) {
	if full {
		env.note("the bus takes no batches: its disk is full; make space and it continues by itself")
	} else {
		env.note("the bus takes batches again")
	}
}

// watch starts to count in a process that this shadow started, or attaches to.
func (w *watcher) watch(pid int) *counting {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off || w.ctx.Err() != nil {
		return &counting{pid: pid}
	}
	return w.begin(pid)
}

// keptProcesses is how many processes are remembered that have ended, for
// sessions that are heard of late. Those of sessions are kept with them.
const keptProcesses = 256

// begin needs w.mu.
func (w *watcher) begin(pid int) *counting {
	x := &counting{pid: pid}
	x.began, x.why = proc.Started(pid)
	x.over = x.why != nil
	w.forget()
	w.processes = append(w.processes, x)
	if x.why == nil {
		w.scanner.Add(1)
		go w.scan(x)
	}
	return x
}

// forget makes room: the first of too many that have ended goes. Needs w.mu.
func (w *watcher) forget() {
	if len(w.processes) < keptProcesses {
		return
	}
	if i := slices.IndexFunc(w.processes, func(x *counting) bool { return x.over }); i >= 0 {
		w.processes = slices.Delete(w.processes, i, i+1)
	}
}

func (w *watcher) scan(x *counting) {
	defer w.scanner.Done()
	c, err := hpc.Attach(x.pid, hpc.AllEvents(), hpc.Options{})
	w.mu.Lock()
	x.c, x.why = c, err
	w.mu.Unlock()
	if err == nil {
		_ = c.Run(w.ctx, scanInterval) // an error ends the scan; the totals so far stay
		c.Close()
	}
	w.mu.Lock()
	x.over = true
	w.mu.Unlock()
}

// end stops counting.
func (w *watcher) end() {
	w.switches.end()
	w.stop()
	w.scanner.Wait()
}

// snapshot is what was counted in a process; nil: nothing.
func (w *watcher) snapshot(x *counting) *hpc.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x == nil || x.c == nil {
		return nil
	}
	file := x.c.Snapshot()
	return &file
}

// write stores the counters of a session, which was recorded in folder, in dir.
func (w *watcher) write(folder, dir string) error {
	w.mu.Lock()
	x := w.sessions[folder]
	w.mu.Unlock()
	if file := w.snapshot(x); file != nil {
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
		for _, e := range hpc.AllEvents() {
			absent[e] = text.OneLine(x.why.Error())
		}
	}
	return hpc.File{Version: hpc.FileVersion, PID: x.pid, NotAvailable: absent}.Write(dir)
}
