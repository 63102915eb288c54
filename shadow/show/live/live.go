package live

import (
	"cmp"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

var nan = float32(math.NaN())

// Options of New.
type Options struct {
	Now    func() time.Time                 // nil: time.Now
	Root   string                           // folder in which the sessions are stored; "": findings are not looked for
	Labels func(folder string) []string     // of a session, given by the user; nil: none
	Note   func(format string, args ...any) // of a fault of the live view; nil: nobody is told
}

// Live is the live view of all JVMs whose sessions this shadow stores. It implements
// ingest.Follower: batches come from the goroutines that store the sessions.
type Live struct {
	o     Options
	flows budget
	slots budget

	mu   sync.RWMutex
	jvms map[string]*jvm // by folder
	more atomic.Uint64   // sessions that found no room
	late atomic.Int64    // how late batches may be because sessions take turns, ns
	look func(dir string, from uint64) (*look, error)
}

const (
	// maxJVMs bounds the JVMs that are followed, those included that ended lately.
	maxJVMs = 1024
	// keepEnded is how long a JVM that has ended stays.
	keepEnded = 5 * time.Minute
	// silentAfter is the time without a batch from which a JVM is silent: an agent that has
	// nothing to report sends one every four seconds.
	silentAfter = 10 * time.Second
	// watchedFor is how long somebody looks at a JVM after asking for what its page shows, which a page does each second.
	watchedFor = 5 * time.Second
)

// New makes a live view of nothing.
func New(o Options) *Live {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Live{o: o, jvms: map[string]*jvm{}, look: lookAt}
	l.flows.left.Store(maxFlows)
	l.slots.left.Store(maxSlots)
	return l
}

// Begin implements ingest.Follower: the session in folder is about to be stored, or goes on. What is
// stored of it already is in f, nil if there is nothing.
func (l *Live) Begin(folder string, m *store.Manifest, f *store.Folder) {
	defer l.survive(folder)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(l.o.Now())
	if l.jvms[folder] != nil {
		l.jvms[folder].release()
		delete(l.jvms, folder)
	}
	if len(l.jvms) >= maxJVMs && !l.evict() {
		l.more.Add(1)
		return
	}
	j := newJVM(l, folder)
	j.session, j.start, j.wallUnix = m.Session, m.StartNs, m.WallUnixNs
	j.born = l.o.Now()
	j.came = j.born
	if f != nil {
		pairs := f.Clock()
		for _, p := range pairs[max(0, len(pairs)-2):] {
			j.clock.add(p)
		}
		j.recall(f)
	}
	if m.Stored.Sum() > 0 {
		j.since = max(1, int64(m.EndNs-m.StartNs))
	}
	l.jvms[folder] = j
}

// survive is deferred around what the goroutine that stores a session calls: a fault here costs the live view of
// that JVM, not its session.
func (l *Live) survive(folder string) {
	p := recover()
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.jvms[folder]; j != nil {
		j.release()
		delete(l.jvms, folder)
	}
	l.more.Add(1)
	if l.o.Note != nil {
		l.o.Note("the live view of %s failed and is gone; its session is stored all the same: %v\n%s", folder, p, debug.Stack())
	}
}

// evict makes room: the JVM that ended first goes. It reports whether there was one.
func (l *Live) evict() bool {
	oldest := ""
	for folder, j := range l.jvms {
		if at := j.ended.Load(); at != 0 && (oldest == "" || at < l.jvms[oldest].ended.Load()) {
			oldest = folder
		}
	}
	if oldest == "" {
		return false
	}
	l.jvms[oldest].release()
	delete(l.jvms, oldest)
	return true
}

// sweep removes the JVMs that ended long ago.
func (l *Live) sweep(now time.Time) {
	for folder, j := range l.jvms {
		if at := j.ended.Load(); at != 0 && now.Sub(time.Unix(0, at)) > keepEnded {
			j.release()
			delete(l.jvms, folder)
		}
	}
}

// Turns implements ingest.Watcher.
func (l *Live) Turns(late time.Duration) (watched map[string]bool) {
	l.late.Store(int64(late))
	watched = map[string]bool{}
	l.mu.RLock()
	defer l.mu.RUnlock()
	since := l.o.Now().Add(-watchedFor).UnixNano()
	for _, j := range l.jvms {
		if j.watched.Load() >= since {
			watched[j.session] = true
		}
	}
	return watched
}

func (l *Live) jvm(folder string) *jvm {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.jvms[folder]
}

// Storing comes first: if batches wait for it, the live view takes at most a quarter of the time.
const (
	mostShare = 4
	shareOver = time.Second
)

// Batch implements ingest.Follower. pressed: others wait.
func (l *Live) Batch(folder string, b *wire.Batch, pressed bool) {
	j := l.jvm(folder)
	if j == nil {
		return
	}
	defer l.survive(folder)
	j.mu.Lock()
	defer j.mu.Unlock()
	begin := time.Now()
	if begin.Sub(j.spentFrom) > shareOver {
		j.spent, j.spentFrom = j.spent/2, begin.Add(-shareOver/2)
	}
	j.came = l.o.Now()
	j.batch(b, pressed && j.spent*mostShare > begin.Sub(j.spentFrom))
	j.spent += time.Since(begin)
}

// batch takes a batch, or if there is no time for its events, only the names in it.
func (j *jvm) batch(b *wire.Batch, skip bool) {
	if b.Seq <= j.seq {
		j.notShown += events(b)
		return // one that was given up as lost: its time is over
	}
	if j.seq != 0 && b.Seq != j.seq+1 {
		j.forget() // what is missing has ended some of what is open
	}
	j.seq = b.Seq
	if h := b.Hello; h != nil && h.StartClock.Mono != 0 {
		j.start, j.wallUnix = h.StartClock.Mono, h.WallUnixNs
		j.clock.add(h.StartClock)
	}
	if j.start == 0 {
		j.start = b.Clock.Mono
	}
	j.clock.add(b.Clock)
	j.describeThreads(b, false)
	if skip || !j.clock.known() {
		j.describe(b)
		j.notShown += events(b)
		j.forget()
	} else {
		j.feed(b)
	}
	j.describeThreads(b, true)
	if at := j.at(j.head); at != nil && at.seq == 0 {
		at.seq = b.Seq
	}
}

// forget drops what waits and runs: its end was not seen.
func (j *jvm) forget() {
	j.pending.reset()
	j.alone = 0
	clear(j.early)
	for _, f := range j.classFlows {
		f.waiting, f.alone, f.counted = 0, 0, 0
	}
	if f := j.restOfClasses; f != nil {
		f.waiting, f.alone, f.counted = 0, 0, 0
	}
	for _, f := range j.executorFlows {
		f.waiting, f.alone = 0, 0
	}
	for _, t := range j.threads {
		t.held, t.open = held{}, opened{}
	}
	clear(j.virtual)
}

func events(b *wire.Batch) uint64 {
	n := uint64(len(b.Executions) + len(b.Creations) + len(b.Submissions))
	for i := range b.Summaries {
		n += b.Summaries[i].Executions
	}
	return n
}

// Progress takes where a session stands, from ingest.
func (l *Live) Progress(p ingest.Progress) {
	j := l.jvm(p.Folder)
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress = p
	if p.StartNs != 0 && j.start == 0 {
		j.start = p.StartNs
	}
	switch {
	case p.Ended == store.EndedRunning:
		j.ended.Store(0)
	case j.ended.Load() == 0:
		j.ended.Store(l.o.Now().UnixNano())
	}
}

// all lists the JVMs: those that run by when they began, then those that ended, the latest first.
func (l *Live) all() []*jvm {
	l.mu.Lock()
	l.sweep(l.o.Now())
	list := make([]*jvm, 0, len(l.jvms))
	for _, j := range l.jvms {
		list = append(list, j)
	}
	l.mu.Unlock()
	type key struct {
		*jvm
		ended, start int64
	}
	keys := make([]key, len(list))
	for i, j := range list {
		j.mu.Lock()
		keys[i] = key{jvm: j, start: j.wallUnix, ended: j.ended.Load()}
		j.mu.Unlock()
	}
	slices.SortFunc(keys, func(a, b key) int {
		if (a.ended == 0) != (b.ended == 0) {
			return cmp.Compare(a.ended, b.ended)
		}
		return cmp.Or(cmp.Compare(b.ended, a.ended), cmp.Compare(a.start, b.start), cmp.Compare(a.folder, b.folder))
	})
	for i := range keys {
		list[i] = keys[i].jvm
	}
	return list
}
