package drain

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"stackagent/internal/wire"
)

// Source gives the records and what has become known beside them.
type Source interface {
	// Drain copies whole records of one ring after another; for each chunk it
	// calls f with the ring's id and the bytes, a multiple of 32 in the layout
	// of jvmti/ring/record.h, valid during the call only. It stops after about
	// max bytes and returns the total; after less, every ring was read to its
	// end. Of a ring that is no more it calls f once with no bytes.
	Drain(max int, f func(ring uint32, slots []byte)) int
	// Clock reads both clocks at one moment.
	Clock() wire.ClockPair
	// Summaries goes round what the threads have counted instead of recording
	// and returns what is new in some of it, and the same by call site; more: the
	// round is not over, the next call goes on. The first call after a round
	// begins the next one.
	Summaries() (list []wire.Summary, sites []wire.SiteSum, more bool)
	// Contexts returns what is new of calling contexts, and their account; more:
	// there is more, or the round through their sums is not over.
	Contexts() (news wire.Contexts, more bool)
	// Site looks up a site by its number in a record; false: it is none.
	Site(id uint32) (wire.Site, bool)
	// Running is what threads execute at the moment; nil: not known.
	Running() *wire.RunningReport
	// Meta returns the news since the last call. A class or thread is known
	// here before a record that names it can be drained.
	Meta() Meta
}

// Meta is what a Source knows beside the records.
type Meta struct {
	Classes   []wire.Class
	Threads   []wire.Thread
	OS        []wire.OSThread // newest snapshot; nil: none since the last call
	Pauses    []wire.Pause
	Executors []wire.Executor
	WaitSums  []wire.WaitSum // what is new in them
	Blockers  []wire.Blocker
	Monitors  []wire.InsideMonitor
	Samples   []wire.InsideSample
	Virtual   []wire.VirtualThread // of those that are counted, what is new
	Refusals  []wire.Refusal       // since the last call; the Collector sums by reason
	Totals    wire.Totals          // since the start; Lost as the probes know it

	// LostByThread is what of Totals.Lost is not in the threads' own counts, by
	// thread (0: virtual threads); since the last call.
	LostByThread []wire.ThreadLoss
}

// Sink takes encoded batches; publish.Publisher is one.
type Sink interface {
	// Offer takes msg over, or returns an error and leaves it to the caller to
	// offer it again later. With force it goes beyond its memory limit by a
	// few messages: used for the end of a session.
	Offer(seq uint64, msg []byte, force bool) error
}

// LostBufferFull is the reason under which the Collector counts events that it
// drained and dropped because the Sink had no room.
const LostBufferFull = "bus away, buffer full"

// LostUnknown is the reason for slots that could not be decoded: a defect.
const LostUnknown = "record not understood"

// LostUnfit is the reason for events that the wire's codec refuses: a defect.
const LostUnfit = "record not encoded"

// Config of a Collector; zero values stand for the defaults.
type Config struct {
	Session string
	Process string             // Batch.Process of every batch
	Hello   func() *wire.Hello // called for the first and for the last batch

	// Patience is how long the Collector leaves the records in the rings while
	// the Sink has no room. After that it drains and drops them, counted,
	// so that threads that wait for room in their rings go on.
	Patience time.Duration

	Extras int // extra metrics in the records: the length of Hello.Extra

	Target    int           // encoded size to aim at; default 160 KiB
	Heartbeat time.Duration // longest time between batches; default 1 s
	FirstBeat time.Duration // the same at the start; grows to Heartbeat with the age of the session; default Heartbeat
	IdleBeat  time.Duration // the same while there is nothing to report, and there is an Await; default 4 s
	IdleWait  time.Duration // longest time between two looks at the rings; default 50 ms

	// Await takes the place of waits as long as IdleWait: it returns when there is
	// much to drain, when ctx of Run ends, after soft if there is anything, or after
	// max. nil: there is no such thing.
	Await func(soft, max time.Duration)

	// Hurry says that a thread waits for room in its ring: the next look is now.
	Hurry <-chan struct{}

	// Notice gets one line when a record cannot be encoded for the first time.
	Notice func(line string)
}

const (
	defaultTarget = 160 << 10
	maxMessage    = 900 << 10 // a NATS server takes 1 MiB, headers included
	chunk         = 1 << 20   // slot bytes that are drained at a time
	busy          = 128 << 10 // slot bytes in a round: the next comes sooner after more, later after half of it
	shortestWait  = time.Millisecond
	maxBatchItems = 2048      // classes, threads, ... in a batch
	maxSummaries  = 256 << 10 // encoded bytes in a batch, but one of any size

	minBatchEvents = 256
	maxBatchEvents = 1 << 16
	defaultPer     = 10.0 // bytes an event until it is known better
	retryForced    = 10 * time.Millisecond
)

// Collector builds batches. It is not safe for concurrent use.
type Collector struct {
	cfg     Config
	src     Source
	sink    Sink
	enc     wire.Encoder
	scratch []byte

	pending pending
	seq     uint64 // of the last batch that was encoded
	held    []byte // encoded with number seq and not yet taken by the sink
	full    time.Time
	sent    time.Time // when the last batch was encoded
	told    time.Time // when the last one was that says what runs
	empty   int       // empty batches in a row
	asked   time.Time // when the last round of summaries began
	began   time.Time // when the rings were first looked at
	round   bool      // it is not over
	paths   bool      // nor is that of the contexts, which began with it
	per     float64   // bytes an event, moving average
	stats   Stats
	unfit   bool // Config.Notice was called

	running func() []byte // see Finish; nil: all have been taken
}

// Stats say what a Collector has done so far.
type Stats struct {
	Batches uint64 // encoded
	Events  uint64 // executions and creations in them
	Bytes   uint64 // of the encoded batches
	Dropped uint64 // events dropped because the sink had no room
	Unknown uint64 // slots that could not be decoded
}

// NewCollector checks the configuration and makes a Collector.
func NewCollector(cfg Config, src Source, sink Sink) (*Collector, error) {
	if err := wire.ValidSession(cfg.Session); err != nil {
		return nil, fmt.Errorf("collect records: %w", err)
	}
	if err := wire.ValidProcess(cfg.Process); err != nil {
		return nil, fmt.Errorf("collect records: %w", err)
	}
	if cfg.Target <= 0 {
		cfg.Target = defaultTarget
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = time.Second
	}
	if cfg.FirstBeat <= 0 || cfg.FirstBeat > cfg.Heartbeat {
		cfg.FirstBeat = cfg.Heartbeat
	}
	if cfg.IdleBeat <= 0 {
		cfg.IdleBeat = 4 * time.Second
	}
	if cfg.IdleWait <= 0 {
		cfg.IdleWait = 50 * time.Millisecond
	}
	if cfg.Notice == nil {
		cfg.Notice = func(string) {}
	}
	c := &Collector{cfg: cfg, src: src, sink: sink, per: defaultPer}
	c.pending.Extras = cfg.Extras
	c.pending.ExecutionWork = newWork(cfg.Extras)
	c.pending.ConstructionWork.Total = newWork(cfg.Extras).Total
	return c, nil
}

// RecordBytes is the size of an execution's record in a ring.
func (c *Collector) RecordBytes() int { return c.pending.RecordBytes() }

// Stats returns the sums so far.
func (c *Collector) Stats() Stats {
	s := c.stats
	s.Unknown = c.pending.Unknown
	return s
}

// Run drains until ctx ends. A panic comes back as an error.
func (c *Collector) Run(ctx context.Context) (err error) {
	defer recovered(&err)
	wait := shortestWait
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-c.cfg.Hurry:
		}
		if ctx.Err() != nil { // select takes any of those that are ready
			return nil
		}
		n, err := c.Round(time.Now())
		if err != nil {
			return err
		}
		if wait = c.nextWait(wait, n); wait < c.cfg.IdleWait || c.cfg.Await == nil {
			timer.Reset(wait)
			continue
		}
		now := time.Now()
		since := now.Sub(c.sent)
		c.cfg.Await(max(wait, c.heartbeat(now)-since), max(wait, c.beat()-since))
		timer.Reset(0)
	}
}

// heartbeat is the longest time between batches. A program may be over soon, so it is short at first.
func (c *Collector) heartbeat(now time.Time) time.Duration {
	return min(max(c.cfg.FirstBeat, now.Sub(c.began)/2), c.cfg.Heartbeat)
}

// nextWait is the time to the next look at the rings if this one, after wait,
// found n bytes. Each look wakes the Go runtime with its monitor thread, some
// 0.2 ms of CPU time taken from the program, so that as few as will do are the aim.
func (c *Collector) nextWait(wait time.Duration, n int) time.Duration {
	switch {
	case n >= chunk:
		return shortestWait
	case n > busy:
		return max(wait/2, shortestWait)
	case n < busy/2:
		return min(2*wait, c.cfg.IdleWait)
	}
	return wait
}

// recovered makes an error of a panic: the observed program must not fall.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("collect records: internal error: %v\n%s", p, debug.Stack())
	}
}

// Round looks at the rings once: it drains what they hold and sends every
// batch that is full, and all there is when the heartbeat is due: what is behind a
// full batch says how the tasks in it came about. It returns the bytes drained.
func (c *Collector) Round(now time.Time) (int, error) {
	if c.began.IsZero() {
		c.began = now
	}
	total := 0
	due := c.seq > 0 && now.Sub(c.sent) >= c.heartbeat(now)
	for {
		c.offer(false)
		if c.held != nil && !c.impatient(now) {
			return total, nil
		}
		n := c.drain(now.Sub(c.asked) >= c.heartbeat(now), now)
		total += n
		if c.held != nil {
			c.drop()
		} else if err := c.send(now, due && n < chunk); err != nil {
			return total, err
		}
		if n < chunk {
			return total, nil
		}
	}
}

// drain decodes a chunk of records and takes summaries, of a new round if one
// is due, then asks for the news, in this order: what they name is known by then.
func (c *Collector) drain(due bool, now time.Time) int {
	n := c.src.Drain(chunk, c.pending.Decode)
	if n < chunk {
		c.pending.passed()
	}
	if due && !c.round {
		c.round, c.paths, c.asked = true, true, now
	}
	c.summaries()
	c.contexts()
	c.pending.nameSites(c.src.Site)
	c.pending.add(c.src.Meta())
	return n
}

// summaries goes on with the round of summaries as far as a batch holds them;
// what is not asked for stays with the threads.
func (c *Collector) summaries() {
	for c.round && c.pending.summaryBytes < maxSummaries && len(c.pending.siteSums) < maxBatchItems {
		var list []wire.Summary
		var sites []wire.SiteSum
		list, sites, c.round = c.src.Summaries()
		c.pending.addSummaries(list, sites)
	}
}

// contexts does the same for calling contexts.
func (c *Collector) contexts() {
	for c.paths && c.pending.contextsWait() < maxBatchItems {
		var news wire.Contexts
		news, c.paths = c.src.Contexts()
		c.pending.addContexts(&news)
	}
}

// impatient reports whether the sink has been full for too long.
func (c *Collector) impatient(now time.Time) bool {
	if c.full.IsZero() {
		c.full = now
	}
	return now.Sub(c.full) >= c.cfg.Patience
}

func (c *Collector) drop() { c.stats.Dropped += c.pending.drop() }

// send makes batches as long as full ones can be made (all: as long as
// anything waits) and the sink takes them.
func (c *Collector) send(now time.Time, all bool) error {
	for c.held == nil {
		due := now.Sub(c.sent) >= c.heartbeat(now)
		if !c.pending.full(c.share()) && !due && !(all && c.pending.any()) {
			return nil
		}
		if err := c.emit(c.reporting(now)); err != nil {
			return err
		}
		c.sent = now
		c.offer(false)
	}
	return nil
}

// reporting says in a batch what threads execute, if the last one that did is a heartbeat old; the first batch has no
// names of threads yet.
func (c *Collector) reporting(now time.Time) func(*wire.Batch) {
	if c.seq == 0 || now.Sub(c.told) < c.heartbeat(now) {
		return nil
	}
	c.told = now
	return func(b *wire.Batch) { b.Running = c.src.Running() }
}

// offer gives the held batch to the sink, if there is one.
func (c *Collector) offer(force bool) {
	if c.held != nil && c.sink.Offer(c.seq, c.held, force) == nil {
		c.held, c.full = nil, time.Time{}
	}
}

// share is what a batch of the target size holds.
func (c *Collector) share() share {
	n := int(float64(c.cfg.Target) / c.per)
	return share{events: min(max(n, minBatchEvents), maxBatchEvents), items: maxBatchItems, summaries: maxSummaries}
}
