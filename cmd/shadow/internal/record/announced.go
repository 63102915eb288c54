package record

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/hpc"
	"stackagent/internal/announce"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

const (
	openPatience  = 50 * time.Millisecond // an answer waits so long for the counters to be open
	endPatience   = 3 * time.Second       // for the process of a session that has ended
	saveEvery     = 30 * time.Second      // what is counted so far: a shadow that is killed loses no more
	maxObserved   = 16 << 10              // JVMs and sessions that are remembered
	maxUnanswered = 1024                  // announcements that wait; more are dropped, and their agents announce again
)

// An Observer observes the JVMs of this host that announce themselves, with a Watcher, from their first moment on.
type Observer struct {
	w        *Watcher
	by, host string // as sessions name it
	root     string // of the sessions' folders; "": they are elsewhere
	hostID   string
	observed func(announce.JVM, int) // hears of each JVM that is observed; may be nil
	sub      *nats.Subscription
	stop     chan struct{}
	group    sync.WaitGroup

	mu    sync.Mutex
	jvms  map[string]*seen // by wire.Batch.Process
	order []string         // of jvms, oldest first
	over  map[string]bool  // sessions whose observation is written, by folder
}

// seen is an announced JVM.
type seen struct {
	jvm  announce.JVM
	from units.MonoNs
}

// Listen begins to observe, as by ("shadow serve").
func (w *Watcher) Listen(conn *nats.Conn, by, root string, observed func(announce.JVM, int)) (*Observer, error) {
	hostID, err := announce.HostID()
	if err != nil {
		return nil, fmt.Errorf("observing the JVMs of this host: %w", err)
	}
	o := &Observer{w: w, by: by, host: w.Finder.Host, root: root, hostID: hostID, observed: observed,
		stop: make(chan struct{}), jvms: map[string]*seen{}, over: map[string]bool{}}
	if o.sub, err = conn.Subscribe(announce.Subject(hostID), o.heard); err == nil {
		err = o.sub.SetPendingLimits(maxUnanswered, -1)
	}
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("observing the JVMs of this host: %w", err)
	}
	if root != "" {
		o.group.Go(o.saveOften)
	}
	return o, nil
}

// heard answers an announcement once the JVM is observed. If it cannot be, another observer of this host may answer.
func (o *Observer) heard(m *nats.Msg) {
	jvm, err := announce.ParseJVM(m.Data)
	if err != nil || jvm.HostID != o.hostID {
		return // of an agent of another version, or of nobody who has to know
	}
	s := o.observe(jvm)
	if s == nil {
		return
	}
	answer := announce.Answer{Version: announce.Version, Observer: o.by + " on " + o.host, FromNs: s.from}
	_ = m.Respond(announce.Encode(answer)) // an agent that does not hear of it starts its program all the same
}

// observe begins to observe a JVM, once; nil: it cannot. Its session then says why.
func (o *Observer) observe(jvm announce.JVM) *seen {
	o.mu.Lock()
	s := o.jvms[jvm.Process]
	o.mu.Unlock()
	if s != nil {
		return s
	}
	pid, err := o.w.Finder.Announced(jvm)
	if err != nil {
		return nil
	}
	o.w.Switches.Watch(pid)
	x := o.w.Watch(pid)
	s = &seen{jvm, proc.Now()}
	if x.open != nil {
		select {
		case <-x.open:
		case <-time.After(openPatience):
		}
	}
	if o.observed != nil {
		o.observed(jvm, pid)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.jvms[jvm.Process] = s
	if o.order = append(o.order, jvm.Process); len(o.order) > maxObserved {
		delete(o.jvms, o.order[0])
		o.order = o.order[1:]
	}
	return s
}

// Has reports whether the JVM of a session is observed here.
func (o *Observer) Has(folder, process string) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	s := o.jvms[process]
	o.mu.Unlock()
	return s != nil || o.w.counting(folder)
}

// Progress writes what was counted of a session when it has ended.
func (o *Observer) Progress(p ingest.Progress) {
	if o == nil || p.Ended == store.EndedRunning {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over[p.Folder] {
		return
	}
	if len(o.over) >= maxObserved { // of those that are forgotten here, nothing is counted any more
		clear(o.over)
	}
	o.over[p.Folder] = true
	o.group.Go(func() {
		o.await(p.Folder)
		o.save(p, true)
		o.w.forgetSession(p.Folder)
	})
}

// await waits for the end of a session's process, which outlives its last batch for a moment.
func (o *Observer) await(folder string) {
	for end := time.Now().Add(endPatience); !o.w.ended(folder) && time.Now().Before(end); {
		select {
		case <-o.stop:
			return
		case <-time.After(pollInterval):
		}
	}
}

// saveOften saves what is counted so far of the sessions that run, until the end.
func (o *Observer) saveOften() {
	tick := timers.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-o.stop:
			return
		case <-tick.C:
			for _, p := range o.w.running() {
				o.save(p, false)
			}
		}
	}
}

// save writes the counters of a session, and who counted.
func (o *Observer) save(p ingest.Progress, complete bool) {
	dir := filepath.Join(o.root, p.Folder)
	other, err := store.ReadObserved(dir)
	if err == nil && other != nil && other.ID != "" {
		return // an observer on the JVM's host sends its own
	}
	x := o.w.session(p.Folder)
	if x == nil {
		return
	}
	is := store.Observed{Process: p.Process, By: o.by, Host: o.host, FromNs: x.from, UntilNs: max(proc.Now(), x.from), Complete: complete}
	o.mu.Lock()
	if s := o.jvms[p.Process]; s != nil {
		is.LoadedNs, is.FromNs = s.jvm.LoadedNs, min(s.from, is.UntilNs)
	}
	o.mu.Unlock()
	if x.why != nil && x.c == nil {
		is.Refused, is.FromNs, is.UntilNs = text.OneLine(x.why.Error()), 0, 0
	} else {
		err = o.w.Write(p.Folder, dir)
	}
	if err == nil {
		err = is.Write(dir, hpc.FileName)
	}
	if err != nil {
		o.w.env.Note("counters of session %s: %s", p.Folder, text.OneLine(err.Error()))
	}
}

// Close stops listening.
func (o *Observer) Close() {
	_ = o.sub.Unsubscribe()
	close(o.stop)
	o.group.Wait()
}

// End stops listening, and writes what was counted of sessions that still run.
func (o *Observer) End() {
	if o == nil {
		return
	}
	o.Close()
	for _, p := range o.w.running() {
		o.save(p, false)
	}
}
