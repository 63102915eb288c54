package ingest

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"time"

	"stackagent/internal/timers"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// rowsOf counts the rows that a batch becomes.
func rowsOf(b *wire.Batch) int {
	n := b.Records()
	for i := range b.Summaries {
		for k := range b.Summaries[i].Measures {
			n += 1 + len(b.Summaries[i].Measures[k].Buckets)
		}
	}
	return n
}

// received is what the batch brings of the events of the session.
func received(b *wire.Batch) store.Counts {
	n := store.Counts{Executions: uint64(len(b.Executions)), Creations: uint64(len(b.Creations))}
	for i := range b.Summaries {
		n.Executions += b.Summaries[i].Executions
		n.Creations += b.Summaries[i].CreationEvents()
	}
	return n
}

// worker stores one session. All its fields but the channels and atomics
// belong to its own goroutine.
type worker struct {
	ingest *Ingest
	source *source
	fence  *ownership.Fence // of the folder
	name   string           // of the session
	from   sender
	in     chan message
	flush  chan struct{}
	asks   chan func() // run by the worker; see Ingest.ask
	done   chan struct{}
	err    error // why the last part could not be stored; read after done

	lastBatch atomic.Int64 // Unix nanoseconds
	stuck     atomic.Bool  // storing does not work at the moment
	holds     atomic.Bool  // it has a folder, and maybe batches
	finished  atomic.Bool  // its session has ended and its account is drawn up

	out   *store.Writer // nil until the first good batch
	clock clock

	pending    map[uint64]*held // all that is held, by sequence
	waiting    map[uint64]*held // those of them behind a gap
	gap        time.Time        // since when; zero: no gap
	part       []*held          // in order, ready to be stored
	mergeAfter time.Time        // no sooner
	merging    *store.Merging   // on its way; nil: none is
	merged     chan struct{}    // closed when its parts are written; nil: none is on its way
	ended      time.Time        // when the last part of a session that has ended was stored; zero: its account is drawn up, or it has not ended
	since      time.Time        // when part's first batch came
	rows       int              // in part
	behind     int              // rows in waiting
	ahead      wire.ClockPair   // of the batch behind the part, if it has come
	next       uint64           // the sequence number expected

	said        *wire.Batch // names from before the session was taken over, for the first part; nil: none
	threadNames int         // descriptions of threads that were kept on the bus

	p         store.Part // its slices are used again
	roomy     int        // parts in a row that left most of it unused
	pro       Progress
	opened    time.Time
	published time.Time // when pro was last published
}

// publishInterval is how old a published progress gets at most.
const publishInterval = time.Second

func newWorker(s *source, from sender) *worker {
	w := &worker{
		ingest: s.in, source: s, name: from.session, from: from,
		in: make(chan message, queueLength), flush: make(chan struct{}), asks: make(chan func()), done: make(chan struct{}),
		pending: map[uint64]*held{}, waiting: map[uint64]*held{},
	}
	w.lastBatch.Store(time.Now().UnixNano())
	go w.run()
	return w
}

func (w *worker) run() {
	defer close(w.done)
	defer w.leave()
	pace := w.pace(time.Now())
	tick := timers.NewTicker(pace)
	defer tick.Stop()
	for {
		if p := w.pace(time.Now()); p < pace { // a longer one begins with the next tick, so that messages do not put it off
			pace = p
			tick.Reset(pace)
		}
		select {
		case m, ok := <-w.in:
			if !ok {
				w.end()
				return
			}
			if w.dropped() {
				continue
			}
			w.take(m)
		case <-w.flush:
			w.skipGaps(true)
			w.store()
		case do := <-w.asks:
			do()
		case now := <-tick.C:
			if p := w.pace(now); p > pace {
				pace = p
				tick.Reset(pace)
			}
			w.skipGaps(false)
			switch {
			case w.due(now):
				w.store()
			case !w.ended.IsZero() && len(w.pending) == 0 && now.Sub(w.ended) >= closeDelay:
				w.close()
			case w.out != nil && now.Sub(w.published) >= publishInterval && w.pro.LastBatch.UnixNano() != w.lastBatch.Load():
				w.publish()
			case w.out != nil && len(w.in) == 0:
				w.merge()
			}
		case <-w.merged:
			w.finishMerge()
		}
	}
}

// pace is the time until the worker looks what is due. While it waits for nothing but the time of a part that has
// long to wait, or for nothing at all, it looks seldom.
func (w *worker) pace(now time.Time) time.Duration {
	least := max(w.ingest.o.PartInterval/4, time.Millisecond)
	if len(w.waiting) > 0 || !w.ended.IsZero() || w.out == nil {
		return least
	}
	if len(w.part) > 0 && w.interval(now)-now.Sub(w.since) < publishInterval/2 {
		return least
	}
	return max(least, w.ingest.quietPace())
}

// slimAfter is how many parts in a row leave most of a session's room for rows
// unused before it goes: that of its largest part takes tens of MiB, which dozens
// of JVMs need not hold that had much to send when they started.
const slimAfter = 8

// slim lets the room of w.p go if it is far too large.
func (w *worker) slim() {
	p := &w.p
	used := len(p.Executions) + len(p.Creations) + len(p.Submissions) + len(p.Constructions) + len(p.Measures) + len(p.Buckets)
	room := cap(p.Executions) + cap(p.Creations) + cap(p.Submissions) + cap(p.Constructions) + cap(p.Measures) + cap(p.Buckets)
	if w.roomy++; 8*used >= room {
		w.roomy = 0
	}
	if w.roomy >= slimAfter {
		w.p, w.roomy = store.Part{}, 0
	}
}

// due reports whether the part has waited long enough. While one clock pair is
// all that is known, there is no rate to convert by; the next batch brings it.
func (w *worker) due(now time.Time) bool {
	if len(w.part) == 0 || now.Sub(w.since) < w.interval(now) {
		return false
	}
	return w.convertible()
}

// convertible reports whether two readings of the agent's clock are known.
func (w *worker) convertible() bool {
	return len(w.clock.knots) > 1 || len(w.part) > 1 || w.part[0].batch.Hello != nil
}

// A part takes milliseconds of CPU time whatever is in it, and its rows are written once more when it is merged. So a
// part of fewer rows than partWorth stays open as long as any may. All sessions together hold about openRows for that.
const (
	partWorth = 48 << 10
	openRows  = 512 << 10
)

// interval is how long a part may stay open: the longer the session, the
// longer, so that a session of hours is hundreds of files and not tens of
// thousands. What is not stored yet is safe on the bus, for less than ackWait.
func (w *worker) interval(now time.Time) time.Duration {
	least := w.ingest.o.PartInterval
	if w.rows < min(partWorth, openRows/int(max(w.ingest.active.Load(), 1))) {
		return 5 * least
	}
	return max(least, min(now.Sub(w.opened)/12, 5*least))
}

// take decodes a message and puts its batch in its place.
func (w *worker) take(m message) {
	b, err := wire.Decode(m.Data(), wire.DefaultLimits())
	if err == nil {
		err = check(b, w.from)
	}
	if err != nil {
		w.refuse(m, err)
		return
	}
	w.ingest.o.checkService(b.Hello)
	if err := w.open(b); err != nil {
		if w.out == nil {
			w.lastBatch.Store(time.Now().UnixNano()) // it holds nothing; when nothing comes any more, it ends
		}
		w.ingest.log.Error("ingest: cannot open the session's folder", "session", w.name, "error", err)
		w.problem(err)
		if err := m.NakWithDelay(time.Second); err != nil {
			w.ingest.log.Warn("ingest: putting a message back", "error", err)
		}
		return
	}
	w.lastBatch.Store(time.Now().UnixNano())
	w.finished.Store(false)
	h := hold(b)
	h.keepReply(m)
	h.alone = w.source.storedBefore(m)
	switch old := w.pending[b.Seq]; {
	case w.out.Has(b.Seq):
		w.pro.Repeated++
		w.ack(h)
		return
	case old != nil:
		w.pro.Repeated++
		old.keepReply(m)
		return
	}
	w.pending[b.Seq] = h
	w.pro.Batches++
	w.pro.Received.Add(received(b))
	w.place(h)
}

func (w *worker) refuse(m message, err error) {
	w.ingest.refuse(m, err)
	if w.out != nil {
		w.out.Manifest.BadMessages++
		w.out.Note("rejected a message: " + err.Error())
	}
}

// open finds or makes the session's folder for b, if it is not open already.
func (w *worker) open(b *wire.Batch) error {
	if w.out != nil {
		if !w.another(b) {
			return nil
		}
		w.skipGaps(true)
		if !w.store() {
			return w.err
		}
		w.finishMerge()
		if !w.ended.IsZero() {
			w.close()
		}
		w.leave()
	}
	out, folder, err := w.claimFolder(b)
	if err != nil {
		return err
	}
	w.recall(out, b.Seq)
	w.begin(out, folder)
	w.publish()
	return nil
}

// claimFolder opens the folder for b's session. It has a manifest from the
// beginning: whatever happens, it says whose it is, also to a worker that
// looks for a folder of the same name for another JVM.
func (w *worker) claimFolder(b *wire.Batch) (*store.Writer, string, error) {
	unlock, err := w.ingest.home.LockFoldersOf(stem(w.name))
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	folder := w.chooseFolder(b)
	w.fence = w.ingest.home.Fence(folder, w.source.lease.Epoch())
	var out *store.Writer
	err = w.guarded(func() (err error) {
		if out, err = store.OpenWriter(w.ingest.o.Root, folder, w.name); err != nil {
			return err
		}
		out.Manifest.Process = b.Process
		if out.Manifest.JVM.PID == 0 && b.Hello != nil {
			describeJVM(&out.Manifest, b.Hello)
		}
		addPieces(&out.Manifest, w.source.lease.Elsewhere)
		return out.CommitManifest()
	})
	return out, folder, err
}

// another reports whether b is the first batch of another JVM than the one whose
// session is open.
func (w *worker) another(b *wire.Batch) bool {
	m := &w.out.Manifest
	return b.Process == "" && b.Seq == 1 && b.Hello != nil && m.JVM.PID != 0 && !sameJVM(m, b.Hello)
}

// maxNamesakes bounds the folders of one name that are looked through for the next JVM's.
const maxNamesakes = 1000

// chooseFolder gives each JVM its own folder although several may use one name,
// at once or one after another: NAME, NAME-2, NAME-3, and after a thousand, as a
// service that is started again every hour comes to have, NAME-HASH. Of batches
// that do not say which JVM they come from, the first does by its Hello, and the
// others belong to the newest.
func (w *worker) chooseFolder(b *wire.Batch) string {
	first := b.Process != "" || b.Seq == 1 && b.Hello != nil
	newest := ""
	for n := 1; n < maxNamesakes; n++ {
		folder := w.name
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", w.name, n)
		}
		m, err := store.ReadManifest(filepath.Join(w.ingest.o.Root, folder))
		if err != nil {
			if w.taken(folder) {
				continue
			}
			if first || newest == "" {
				return folder
			}
			return newest
		}
		if m.Session != w.name || m.Process != b.Process {
			continue
		}
		newest = folder
		if b.Process != "" {
			return folder
		}
		if first && (m.JVM.PID == 0 || sameJVM(m, b.Hello)) {
			return folder
		}
	}
	if b.Process == "" {
		return newest
	}
	h := fnv.New64a()
	h.Write([]byte(b.Process))
	return fmt.Sprintf("%s-%015x", w.name, h.Sum64()>>4) // as long as a folder's name may be beyond its session's
}

// numbered is what chooseFolder adds to a session's name.
var numbered = regexp.MustCompile(`(-[1-9][0-9]{0,2}|-[0-9a-f]{15})+$`)

// stem is what the names of all folders have in common that chooseFolder may choose for a session, and of the sessions
// that may choose the same ones: NAME-2 is a folder of NAME's, and may be another session's name.
func stem(session string) string { return numbered.ReplaceAllString(session, "") }

// taken says that a name without a readable manifest is not free: it holds one that is damaged, or is no
// folder, as the token's file beside the sessions or a link that somebody laid there.
func (w *worker) taken(folder string) bool {
	path := filepath.Join(w.ingest.o.Root, folder)
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	_, damaged := os.Lstat(filepath.Join(path, store.ManifestName))
	return !info.IsDir() || damaged == nil
}

func (w *worker) begin(out *store.Writer, folder string) {
	w.out, w.opened = out, time.Now()
	if may := w.ingest.o.MayMerge; may != nil {
		out.MayMerge = func() func(store.Range) bool { return may(out.Dir(), out.Manifest.Ended != store.EndedRunning) }
	}
	w.holds.Store(true)
	w.clock = clock{}
	f, err := store.OpenFolder(out.Dir())
	if err == nil {
		for _, k := range f.Clock() {
			w.clock.add(k)
		}
		w.clock.added = nil
	} else {
		f = nil
	}
	if w.ingest.o.Follower != nil {
		w.ingest.o.Follower.Begin(folder, &out.Manifest, f)
	}
	if f != nil {
		f.Close()
	}
	if w.ingest.o.Follower != nil && w.said != nil {
		w.ingest.o.Follower.Batch(folder, w.said, false)
	}
	w.next = out.Manifest.Sequences.Max() + 1
	w.pro = Progress{Session: w.name, Process: out.Manifest.Process, Folder: folder, Received: out.Manifest.Stored}
}
