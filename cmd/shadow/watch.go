package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"stackagent/hpc"
	"stackagent/shadow/ingest"
)

// scanInterval is how often new threads of a JVM are looked for. A thread that
// lives shorter may be missed by the counters from outside.
const scanInterval = 100 * time.Millisecond

// watcher hears of JVMs and counts in their threads, from outside.
type watcher struct {
	env     Env
	host    string
	off     bool // do not count
	ctx     context.Context
	stop    context.CancelFunc
	scanner sync.WaitGroup

	switches *switches // nil: scheduling is not recorded

	mu     sync.Mutex
	byPID  map[int]*hpc.Counters // nil while being opened, or when not possible
	reason error                 // why counting is not possible
}

func newWatcher(env Env, count bool) *watcher {
	host, _ := os.Hostname() // without a name no JVM matches, and none is counted
	ctx, stop := context.WithCancel(context.Background())
	return &watcher{env: env, host: host, off: !count, ctx: ctx, stop: stop, byPID: map[int]*hpc.Counters{}}
}

// Progress implements ingest.Live.
func (w *watcher) Progress(p ingest.Progress) {
	w.switches.progress(p)
	if p.JVM.Host == w.host && alive(p.JVM.PID) {
		w.watch(p.JVM.PID)
	}
}

// Problem implements ingest.Live.
func (w *watcher) Problem(session string, err error) {
	noteProblem(w.env, session, err)
}

// noteProblem says that storing a session stopped, or with nil that it goes on.
func noteProblem(env Env, session string, err error) {
	if err != nil {
		env.note("session %s: %s", clean(session), oneLine(err))
	} else {
		env.note("session %s: storing works again", clean(session))
	}
}

// watch starts to count in a process, once.
func (w *watcher) watch(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.byPID[pid]; known || w.off || w.ctx.Err() != nil {
		return
	}
	w.byPID[pid] = nil
	w.scanner.Add(1)
	go w.scan(pid)
}

func (w *watcher) scan(pid int) {
	defer w.scanner.Done()
	c, err := hpc.Attach(pid, hpc.AllEvents(), hpc.Options{})
	w.mu.Lock()
	if err != nil {
		w.reason = err
	} else {
		w.byPID[pid] = c
	}
	w.mu.Unlock()
	if err == nil {
		_ = c.Run(w.ctx, scanInterval) // an error ends the scan; the totals so far stay
	}
}

// end stops counting.
func (w *watcher) end() {
	w.switches.end()
	w.stop()
	w.scanner.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.byPID {
		if c != nil {
			c.Close()
		}
	}
}

// write stores the counters of a process in its session's folder.
func (w *watcher) write(pid int, dir string) error {
	w.mu.Lock()
	c, reason := w.byPID[pid], w.reason
	w.mu.Unlock()
	if c != nil {
		return c.Snapshot().Write(dir)
	}
	var na *hpc.NotAvailableError
	if errors.As(reason, &na) { // say why there are none
		return hpc.File{Version: hpc.FileVersion, PID: pid, NotAvailable: map[hpc.Event]string{na.Event: na.Reason}}.Write(dir)
	}
	return nil
}
