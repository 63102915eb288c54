package sched

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Choice is which source to use.
type Choice string

// The choices. Auto takes eBPF if it is available, else perf.
const (
	Auto Choice = "auto"
	EBPF Choice = "ebpf"
	Perf Choice = "perf"
	Off  Choice = "off"
)

// Choices are all of them, for texts.
var Choices = []string{string(Auto), string(EBPF), string(Perf), string(Off)}

const (
	pollInterval = 20 * time.Millisecond
	idleInterval = 5 * time.Second // while no process is observed
	// A look wakes this process and costs 0.1 to 0.2 ms of CPU time, so that a source that keeps records long is looked
	// at seldom: at steadyInterval while no JVM has collected garbage for steadyAfter, and at quietInterval while there
	// are hardly any records. It wakes a quiet observer when there are.
	steadyInterval = 100 * time.Millisecond
	steadyAfter    = units.MonoNs(2 * time.Second)
	quietInterval  = time.Second
	quietEvents    = 100 // in such an interval
	quietAfter     = units.MonoNs(2 * time.Second)
	// launchPatience is how long after a launch the first record of the process may arrive.
	launchPatience = units.MonoNs(5 * time.Second)
	endPatience    = units.MonoNs(500 * time.Millisecond) // to wait for the last records of a process that is gone
	partSlices     = 256 << 10                            // of a part, about
	partLeast      = units.MonoNs(2 * time.Second)
	partMost       = units.MonoNs(time.Minute)
	partShare      = 20         // parts last a 20th of the observation, within these bounds
	pendingMost    = partSlices // slices of a process that is not kept
	endedMost      = 64         // processes that ended without being kept
	endedSlices    = 4 << 20    // of all of them, about
	// keepPatience is how long a busy process is observed that nobody keeps. On a busy machine a JVM's session begins
	// seconds after the JVM.
	keepPatience = units.MonoNs(30 * time.Second)
	finishedMost = 256 // processes whose records are finished: Finish may ask how that went
	// idle is how long a process that is not kept may have no records before the observer checks that it
	// is alive: the record of its end may be lost.
	idle = units.MonoNs(10 * time.Second)
)

// How far behind the clock the records of a source are complete: a record is dated a moment before it takes its place in
// the ring.
const (
	settled     = units.MonoNs(time.Millisecond) // eBPF
	perfSettled = units.MonoNs(2 * time.Millisecond)
)

// Keys of what is not available: see estimate.
const (
	switchItself = "switch itself"
	takenTime    = "time taken"
)

// NoReasons is the key in Record.NotAvailable of a source that does not see why a thread leaves the CPU for a short time.
const NoReasons = "reason of short stays"

// NoRunnable is the key in Record.NotAvailable of a source that does not see when a blocked thread becomes ready.
const NoRunnable = "runnable after a wake-up"

// NoCalls is the key in Record.NotAvailable of a source that does not see in which system call a thread waits.
const NoCalls = "futex, io, sleeping"

// source reports what the scheduler does with the threads of watched processes.
type source interface {
	name() string
	notAvailable() map[string]string // what it cannot report -> why and the remedy
	launch(start func() error) error // a process that start starts is watched from its first moment, and what it starts
	watch(pid int) error             // from now on
	unwatch(pid int)
	lost(pid int) uint64                                    // records about it that were lost so far
	poll(into []event) ([]event, units.MonoNs, error)       // what has arrived, complete up to the time returned
	guess(pid int, t *live, now units.MonoNs) (State, bool) // why a thread is off the CPU, if the source must ask elsewhere
	spent() (time units.Ns, runs uint64, unknown string)    // in the kernel so far
	close()
}

// Observer observes processes through one source.
type Observer struct {
	src  source
	more map[string]string // why the better source is missing
	stop chan struct{}
	done sync.WaitGroup

	wakes    chan struct{} // wake up: a process is to be observed
	launched atomic.Int64  // when a process was launched last, units.MonoNs
	listen   func()        // makes the source wake the observer once when many records wait; nil: it cannot
	recent   int           // events since the last look of run
	guesses  bool          // the source must ask elsewhere why threads are off the CPU

	mu        sync.Mutex
	processes map[int]*process
	dropped   map[int]uint64 // processes that are not observed any more because nobody kept them -> slices lost
	ended     []int          // processes that are not kept, oldest first
	finished  []int          // processes that were kept and have ended, oldest first
	events    []event
	cost      Cost  // without the kernel's part
	failure   error // of the source
	failed    func(pid int, err error)
	closed    bool
}

// process is one that is watched.
type process struct {
	b       *builder // nil: its record is ended
	writer  *Writer  // nil: it is not kept
	before  Cost     // of the observation, when the writer began
	over    bool     // it has ended, or is not watched any more
	err     error    // of writing, the first
	unsaved int      // parts that could not be written
	failed  bool     // the latest could not, and that was reported
	gc      gcWatch
	jvm     bool         // it is known to be one: its collectors are watched before it is kept
	active  bool         // a record of it has arrived since the last look
	runs    bool         // a thread has a CPU or waits for one, as of the last look
	reading reading      // of the process's clock, which waits until all events before it have arrived; zero: none
	readAt  units.MonoNs // when the latest was taken

	soughtAt units.MonoNs // when it was last looked for, see idle
	vanished units.MonoNs // when it was found to be gone, while the ends of its threads were not reported yet; or 0
}

// Start begins to observe the scheduler. The error is an *UnavailableError if the
// machine or the user's rights do not allow it.
func Start(c Choice) (*Observer, error) {
	o := &Observer{more: map[string]string{}, stop: make(chan struct{}), wakes: make(chan struct{}, 1), processes: map[int]*process{}}
	var errE, errP error
	if c == EBPF || c == Auto {
		var s *ebpfSource
		if s, errE = openEBPF(); errE == nil {
			o.src, o.listen = s, func() { s.listen(o.wake) }
		} else if c == EBPF {
			return nil, errE
		}
	}
	if o.src == nil {
		var s *perfSource
		if s, errP = openPerf(); errP != nil {
			return nil, errors.Join(errE, errP)
		}
		o.src, o.guesses = s, true
		if errE != nil {
			o.more["source ebpf"] = errE.Error()
		}
	}
	o.done.Add(1)
	go o.run()
	return o, nil
}

// Failed makes f be called when a record can no longer be written, once, and with nil
// when it can be again. f must return quickly.
func (o *Observer) Failed(f func(pid int, err error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = f
}

// reportWrite reports what became of writing the record of a process.
func (o *Observer) reportWrite(pid int, p *process, err error) {
	if (err != nil) == p.failed {
		return
	}
	p.failed = err != nil
	if o.failed != nil {
		o.failed(pid, err)
	}
}

// Source is "ebpf" or "perf".
func (o *Observer) Source() string { return o.src.name() }

// NotAvailable is what the source cannot report, and why the better one is missing.
func (o *Observer) NotAvailable() map[string]string {
	all := o.src.notAvailable()
	for what, why := range o.more {
		all[what] = why
	}
	return all
}

// Launch calls start and observes the process that it starts from the first moment,
// and so all that this one starts.
func (o *Observer) Launch(start func() error) error {
	defer o.wake()
	defer func() { o.launched.Store(int64(now())) }()
	return o.src.launch(start)
}

// Watch begins to observe a JVM that runs; Keep says where to write that.
func (o *Observer) Watch(pid int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.processes[pid] != nil {
		return nil
	}
	p, err := o.attach(pid)
	if err == nil {
		p.jvm = true
	}
	return err
}

// Keep begins to write the record of a process into the folder dir, usually
// Folder of a session's. A process that was not launched is observed from now on.
func (o *Observer) Keep(pid int, dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.processes[pid]
	switch {
	case p == nil: // it may have been launched this very moment
		o.settle()
		p = o.processes[pid]
	case p.writer == nil:
	case p.writer.dir == dir || !p.over && !p.b.attached:
		return nil
	default: // an earlier session of this process, or of one that had its number before
		o.end(pid, p)
		o.settle() // what was reported of it so far is not part of the new record
		p = nil
	}
	if p == nil {
		var err error
		if p, err = o.attach(pid); err != nil {
			return err
		}
	}
	w, err := Create(dir, Record{Source: o.src.name(), PID: pid, NotAvailable: o.NotAvailable()})
	if err != nil {
		return err
	}
	p.writer, p.before = w, o.spent()
	if !p.over {
		_, p.b.inside, _ = proc.Process(pid).Inner() // of one that has just ended it is not known any more
		p.b.readInnerIDs(pid)
	}
	if p.over {
		o.reportWrite(pid, p, p.write(o.src.lost(pid)))
		o.finish(pid, p)
	}
	return nil
}

// settle waits until either source has reported all that has happened, and takes it.
func (o *Observer) settle() {
	time.Sleep(time.Duration(2 * max(settled, perfSettled)))
	o.poll()
}

// attach watches a process that is running.
func (o *Observer) attach(pid int) (*process, error) {
	if o.closed {
		return nil, errors.New("the observation has ended")
	}
	p := &process{b: newBuilder(pid, now())}
	p.b.attached, p.b.forgotten = true, o.dropped[pid]
	if err := o.src.watch(pid); err != nil {
		return nil, err
	}
	if err := p.b.list(pid); err != nil {
		o.src.unwatch(pid)
		return nil, err
	}
	o.processes[pid] = p
	delete(o.dropped, pid)
	o.wake()
	return p, nil
}

// Finish ends the record of a process with all that has arrived by now. The error
// is one of writing it.
func (o *Observer) Finish(pid int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.processes[pid]
	if p == nil {
		return nil
	}
	if !p.over {
		o.settle()
		o.end(pid, p)
	}
	return p.err
}

// Close ends all records and stops listening.
func (o *Observer) Close() error {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return nil
	}
	o.closed = true
	o.mu.Unlock()
	close(o.stop)
	o.done.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
	err := o.failure
	for pid, p := range o.processes {
		o.end(pid, p)
		err = errors.Join(err, p.err)
	}
	o.src.close()
	return err
}

// poll takes what has arrived and stores parts that are full.
func (o *Observer) poll() {
	events, complete, err := o.src.poll(o.events)
	if err != nil && o.failure == nil {
		o.failure = err
	}
	byTime := func(a, b event) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(events, byTime) {
		slices.SortStableFunc(events, byTime)
	}
	n, _ := slices.BinarySearchFunc(events, complete, func(e event, t units.MonoNs) int { return cmp.Compare(e.at, t) })
	for i := range events[:n] {
		o.dispatch(&events[i])
	}
	o.recent += n
	o.events = append(events[:0], events[n:]...)
	for pid, p := range o.processes {
		o.look(pid, p, complete)
	}
}

func (o *Observer) dispatch(e *event) {
	if e.kind == eventLost {
		for _, p := range o.processes {
			if !p.over {
				p.b.apply(e)
			}
		}
		return
	}
	p := o.processes[int(e.pid)]
	_, dropped := o.dropped[int(e.pid)]
	begins := e.kind == eventNew && e.tid == e.pid
	switch {
	case (dropped || p != nil && p.over) && !begins:
		return // a late record: the source does not watch the process any more
	case p == nil || p.over:
		p = &process{b: newBuilder(int(e.pid), e.at)}
		o.processes[int(e.pid)] = p
		delete(o.dropped, int(e.pid))
	}
	p.active = true
	p.until(e.at)
	p.b.apply(e)
}

// look stores a part if one is due, and ends a process that has ended.
func (o *Observer) look(pid int, p *process, complete units.MonoNs) {
	if p.over {
		return
	}
	p.until(complete)
	p.readAccount(pid)
	p.b.readInnerIDs(pid)
	if o.guesses {
		for _, t := range p.b.threads {
			if s, ok := o.src.guess(pid, t, complete); ok {
				t.guess = guess{s, now()}
			}
		}
	}
	if p.mayHaveActed() && (p.jvm || p.writer != nil) {
		p.gc.look(pid, now)
	}
	switch {
	case p.b.gone && p.b.next > 0:
		o.end(pid, p)
	case p.writer == nil && p.lostEnd(pid, complete):
		o.end(pid, p)
		o.forget(pid, p)
	case p.writer == nil && len(p.b.slices) > pendingMost:
		p.b.forget(complete)
		if complete-p.b.begin > keepPatience || len(p.b.slices) > pendingMost/2 { // the latter: of so many threads
			o.drop(pid, p)
		}
	case p.writer != nil && p.due(complete):
		p.b.refresh(pid)
		o.reportWrite(pid, p, p.b.cutInto(p, complete, o.src.lost(pid)))
		if p.vanished == 0 && !proc.Alive(pid) {
			p.vanished = complete // its last records may have arrived since they were read here
		}
	case p.vanished != 0 && complete-p.vanished > endPatience:
		o.end(pid, p) // they were lost
	}
}

// drop stops observing a process that nobody keeps. Keep would observe it again, from then on.
func (o *Observer) drop(pid int, p *process) {
	lost := max(o.src.lost(pid), p.b.lost) + p.b.forgotten
	o.src.unwatch(pid)
	o.forget(pid, p)
	maps.DeleteFunc(o.dropped, func(old int, _ uint64) bool { return !proc.Alive(old) })
	if o.dropped == nil {
		o.dropped = map[int]uint64{}
	}
	o.dropped[pid] = lost
}

// mayHaveActed reports whether the process may have done anything since the last look. A JVM in which no thread had a CPU
// has not collected any garbage.
func (p *process) mayHaveActed() bool {
	if !p.active {
		return p.runs
	}
	p.active, p.runs = false, false
	for _, t := range p.b.threads {
		p.runs = p.runs || t.state == Running || t.state == Runnable || t.state == Unknown
	}
	return true
}

// lostEnd reports that a process has ended that has had no records for long.
func (p *process) lostEnd(pid int, at units.MonoNs) bool {
	if at-max(p.b.last, p.soughtAt) < idle {
		return false
	}
	p.soughtAt = at
	return !proc.Alive(pid)
}

func (p *process) due(at units.MonoNs) bool {
	age := at - p.b.from
	return len(p.b.slices) >= partSlices || age >= min(max((at-p.b.begin)/partShare, partLeast), partMost)
}

// end stops watching a process.
func (o *Observer) end(pid int, p *process) {
	if p.over {
		return
	}
	lost := o.src.lost(pid)
	o.src.unwatch(pid)
	p.over = true
	p.b.refresh(pid)
	if p.writer == nil {
		o.ended = o.remember(o.ended, pid, endedMost, func(old *process) bool { return old.writer == nil })
		p.b.lostAtEnd = lost
		o.limitEnded()
		return
	}
	o.reportWrite(pid, p, p.write(lost))
	o.finish(pid, p)
}

// limitEnded forgets the oldest of the processes that ended without being kept if together they have too many slices.
func (o *Observer) limitEnded() {
	sum := 0
	for i, pid := range slices.Backward(o.ended) {
		p := o.processes[pid]
		if p == nil || !p.over || p.writer != nil {
			continue
		}
		if sum += len(p.b.slices); sum > endedSlices {
			o.forget(pid, p)
			o.ended = slices.Delete(o.ended, i, i+1)
		}
	}
}

// remember appends an ended process to a list. If the list is too long, it forgets
// the first one, provided that still suits.
func (o *Observer) remember(list []int, pid, most int, suits func(*process) bool) []int {
	if list = append(list, pid); len(list) <= most {
		return list
	}
	if old := o.processes[list[0]]; old != nil && old.over && suits(old) {
		o.forget(list[0], old)
	}
	return list[1:]
}

// forget drops what is known of a process.
func (o *Observer) forget(pid int, p *process) {
	p.gc.close()
	delete(o.processes, pid)
}

// finish ends the record of a process. Errors of a forgotten one are reported at the
// end.
func (o *Observer) finish(pid int, p *process) {
	p.writer.head.Cost = o.spent().since(p.before)
	p.finish()
	o.finished = o.remember(o.finished, pid, finishedMost, func(old *process) bool {
		if old.writer != nil && old.err != nil && o.failure == nil {
			o.failure = old.err
		}
		return old.writer != nil
	})
}

// write stores what the builder holds as the last part.
func (p *process) write(lost uint64) error {
	p.gc.look(p.b.pid, now) // the file is still open when its JVM is gone
	p.gc.cutOff()
	at := p.b.last
	if !p.b.gone {
		at = max(at, now()-settled)
	}
	p.until(at + 1)
	return p.b.cutInto(p, at, max(lost, p.b.lostAtEnd))
}

func (b *builder) cutInto(p *process, at units.MonoNs, lost uint64) error {
	part := b.cut(at, lost)
	part.GC = p.gc.take()
	err := p.writer.Write(part)
	if err == nil {
		return nil
	}
	if p.unsaved++; p.err == nil {
		p.err = err // the first one explains it; the time of the parts is recorded as unknown
	}
	p.writer.head.NotAvailable[Unsaved] = fmt.Sprintf("%d parts could not be written, the first: %v", p.unsaved, p.err)
	return err
}

func (p *process) finish() {
	notAvailable := p.writer.head.NotAvailable
	if p.gc.why != nil {
		notAvailable[NoCauses] = p.gc.why.Error()
	}
	if n := p.b.nameless; n > 0 {
		notAvailable[NoNumbers] = fmt.Sprintf("%s of this container ended before their numbers inside were read (about 20 ms): "+
			"they have the kernel's names (run shadow in the container, or start it with docker run --pid host)", text.PluralExact(n, "thread", "threads"))
	}
	p.b.explainEstimates(notAvailable)
	if p.unsaved == 0 { // otherwise it would cover times that the record lacks
		p.writer.head.Account = p.b.account.result()
	}
	p.gc.close()
	if err := p.writer.Close(notAvailable); p.err == nil {
		p.err = err
	}
	p.b = nil // only the outcome is kept
}

// Waits reports whether a launched process is or was observed for which Keep has not
// been called.
func (o *Observer) Waits(pid int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.processes[pid]
	if p == nil && now()-units.MonoNs(o.launched.Load()) < launchPatience { // it may have been launched this very moment
		o.settle()
		p = o.processes[pid]
	}
	_, dropped := o.dropped[pid]
	return dropped || p != nil && p.writer == nil
}
