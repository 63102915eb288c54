package live

import (
	"sync"
	"sync/atomic"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

const (
	seriesSeconds = 300
	// seriesRing is longer: what comes late finds its place.
	seriesRing = 320
)

// bucket is a second of the JVM.
type bucket struct {
	submitted, started, finished, rejected, threw uint32
	running, queued                               float64 // nanoseconds times tasks
	gc                                            int64   // nanoseconds
	seq                                           uint64  // of the first batch that came in it; 0: none
	lost                                          uint64
	cpu                                           [numCPUKinds]float64 // nanoseconds
	cpuKnown                                      float64              // nanoseconds of the second in which cpu is known
	queueP99                                      float32              // see settle
}

// jvm is what is known of a JVM. mu guards all of it: the goroutine that stores its session
// holds it for each batch, who looks for as long as a snapshot takes.
type jvm struct {
	live    *Live
	folder  string
	session string
	watched atomic.Int64 // when somebody looked at it last, Unix nanoseconds

	mu       sync.Mutex
	progress ingest.Progress
	wallUnix int64        // Unix nanoseconds at start
	start    units.MonoNs // of the session
	clock    clock
	born     time.Time    // when the shadow began to count
	came     time.Time    // when the last batch came, by the shadow's clock
	now      int64        // the JVM's clock at the last batch, since start
	since    int64        // from when on the figures are complete; 0: the begin
	seq      uint64       // of the last batch
	ended    atomic.Int64 // Unix nanoseconds; 0: it has not

	classes       []class
	classFlows    []*flow
	bySite        map[flowKey]*flow
	restOfClasses *flow
	flows         int // taken from the budget of all JVMs
	executorFlows map[int64]*flow
	behind        map[uint32]uint32 // executors that only stand before others
	threads       map[uint32]*thread
	virtual       []held // of virtual threads, by id modulo; nil: there were none
	virtualOf     []uint32
	loops         map[uint64]struct{}
	sites         map[uint32]*store.Site
	executors     map[uint32]*store.Executor
	made          []siteOf
	lastThread    *thread
	threadNames   map[int64]string // the name of its first thread, without the number, by executor

	pending  pending
	alone    int64             // slots of tasks that have a thread of their own
	early    map[uint64]uint32 // tasks that began before their submission came
	earlyAt  int64
	ring     [seriesRing]bucket
	head     int64 // newest second of ring
	recent   [recentSeconds]recent
	cpu      cpuOf
	totals   wire.Totals
	executed uint64 // records
	counted  uint64 // summarised executions
	pauses   uint64
	pauseNs  int64
	lost     uint64 // events, as the agent counts them
	notShown uint64
	opens    openReport
	findings findings

	spent     time.Duration // by feeding
	spentFrom time.Time
}

// recent holds the queue times of a second until it is settled.
type recent struct {
	sec   int64
	queue durations
}

// recentSeconds is how long a second waits for what comes late.
const recentSeconds = 8

func newJVM(l *Live, folder string) *jvm {
	return &jvm{live: l, folder: folder, bySite: map[flowKey]*flow{}, executorFlows: map[int64]*flow{}, behind: map[uint32]uint32{}, threadNames: map[int64]string{}, threads: map[uint32]*thread{},
		loops: map[uint64]struct{}{}, sites: map[uint32]*store.Site{}, executors: map[uint32]*store.Executor{},
		pending: newPending(&l.slots), early: map[uint64]uint32{}, cpu: newCPU()}
}

// release gives back what is bounded for all JVMs together.
func (j *jvm) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending.reset()
	j.live.flows.give(j.flows)
	j.flows = 0
}

// at is the bucket of a second; nil if it is too long ago.
func (j *jvm) at(sec int64) *bucket {
	if sec < 0 || sec <= j.head-seriesRing || sec > j.head {
		return nil
	}
	return &j.ring[sec%seriesRing]
}

// advance makes room for the seconds up to now.
func (j *jvm) advance(now int64) {
	j.now = max(j.now, now)
	sec := j.now / second
	for s := max(j.head+1, sec-seriesRing+1); s <= sec; s++ {
		j.ring[s%seriesRing] = bucket{queueP99: nan}
	}
	j.head = max(j.head, sec)
	j.settle()
}

// settle puts the queue times of seconds of which nothing more is awaited into their buckets.
func (j *jvm) settle() {
	for i := range j.recent {
		if r := &j.recent[i]; r.queue.count > 0 && r.sec <= j.head-recentSeconds/2 {
			j.settleOne(r)
		}
	}
}

func (j *jvm) settleOne(r *recent) {
	if b := j.at(r.sec); b != nil {
		b.queueP99 = float32(r.queue.quantile(0.99))
	}
	r.queue.clear()
}

// queued takes a queue time that ended in a second.
func (j *jvm) queued(sec, ns int64) {
	r := &j.recent[sec&(recentSeconds-1)]
	if r.sec != sec {
		if sec < r.sec {
			return
		}
		if r.queue.count > 0 {
			j.settleOne(r)
		}
		r.sec = sec
	}
	r.queue.add(ns)
}

// spread adds the time from, to, times weight, to a value of each second.
func (j *jvm) spread(from, to int64, of func(*bucket) *float64, weight float64) {
	from = max(from, (j.head-seriesRing+1)*second, 0)
	for from < to {
		sec := from / second
		end := min(to, (sec+1)*second)
		if b := j.at(sec); b != nil {
			*of(b) += weight * float64(end-from)
		}
		from = end
	}
}

func ofRunning(b *bucket) *float64 { return &b.running }
func ofQueued(b *bucket) *float64  { return &b.queued }

// overlap is spread without a call for what lies within a second.
func (j *jvm) overlap(from, to int64, queued bool) {
	if sec := from / second; to/second == sec {
		if b := j.at(sec); b != nil {
			if queued {
				b.queued += float64(to - from)
			} else {
				b.running += float64(to - from)
			}
		}
		return
	}
	if queued {
		j.spread(from, to, ofQueued, 1)
	} else {
		j.spread(from, to, ofRunning, 1)
	}
}
