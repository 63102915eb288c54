package live

import "stackagent/internal/units"

// Windows: a flow has the last windows of windowSeconds each, the newest of them under way.
const (
	windowSeconds = 10
	windows       = 7
	sparkSeconds  = 60
	sparkRing     = 64
)

const second = 1_000_000_000

// flow is what is known of the tasks of a class or of an executor.
type flow struct {
	name string
	key  flowKey

	submitted, started, finished, threw, rejected, cancelled uint64
	summarised                                               uint64 // of finished
	estimated                                                bool
	queueAll, runAll                                         running

	waiting int64 // submissions in slots
	alone   int64 // the same in executors that start a thread for each task: they run
	counted int64 // submitted and not started, by counting: of summarised classes
	byCount int64 // until when that is what counts: there were summaries lately

	home    *flow  // of a class: the executor that its tasks were given to, or ran on, last
	workers bool   // of an executor: it has had threads
	label   string // in metrics; "": it has not been there

	open int64 // run now, by the latest report; see opens

	newest int64 // second of the newest spark
	spark  [sparkRing]uint32
	window [windows]window
}

// window sums up some seconds of a flow.
type window struct {
	epoch                                         int64 // its seconds begin at epoch * windowSeconds
	submitted, started, finished, threw, rejected uint32
	summarised                                    uint32
	queue, service                                durations
}

// at is the window of a second; nil if that is too long ago.
func (f *flow) at(sec int64) *window {
	epoch := sec / windowSeconds
	w := &f.window[epoch%windows]
	switch {
	case sec < 0 || epoch < w.epoch:
		return nil
	case epoch > w.epoch:
		w.queue.clear()
		w.service.clear()
		*w = window{epoch: epoch, queue: w.queue, service: w.service}
	}
	return w
}

// finish counts n tasks that ended in a second.
func (f *flow) finish(sec int64, n uint64) {
	f.finished += n
	if sec > f.newest {
		for s := max(f.newest+1, sec-sparkRing+1); s <= sec; s++ {
			f.spark[s%sparkRing] = 0
		}
		f.newest = sec
	}
	if sec > f.newest-sparkRing && sec >= 0 {
		f.spark[sec%sparkRing] += uint32(n)
	}
}

// points are the finished tasks of the sparkSeconds up to and with last.
func (f *flow) points(last int64) Points {
	p := make(Points, sparkSeconds)
	for i := range p {
		s := last - sparkSeconds + 1 + int64(i)
		if s >= 0 && s <= f.newest && s > f.newest-sparkRing {
			p[i] = float32(f.spark[s%sparkRing])
		}
	}
	return p
}

// sum is what the windows up to and with second last hold; from is where they begin.
func (f *flow) sum(last int64) window {
	var all window
	for i := range f.window {
		w := &f.window[i]
		if w.epoch <= last/windowSeconds-windows || w.epoch > last/windowSeconds {
			continue
		}
		all.merge(w)
	}
	return all
}

func (f *flow) busy(last int64) uint64 {
	var n uint64
	for i := range f.window {
		if w := &f.window[i]; w.epoch > last/windowSeconds-windows {
			n += uint64(w.finished) + uint64(w.submitted)
		}
	}
	return n
}

func (f *flow) submit(sec int64, n uint64) {
	f.submitted += n
	if w := f.at(sec); w != nil {
		w.submitted += uint32(n)
	}
}

func (f *flow) start(sec int64, n uint64) {
	f.started += n
	if w := f.at(sec); w != nil {
		w.started += uint32(n)
	}
}

func (f *flow) reject(sec int64, n uint64) {
	f.rejected += n
	if w := f.at(sec); w != nil {
		w.rejected += uint32(n)
	}
}

// end counts a task that ran from start to end. queue may be NotMeasured.
func (f *flow) end(end, ran int64, queue units.Ns, threw bool) {
	sec := end / second
	f.finish(sec, 1)
	f.runAll.add(ran, 1)
	f.runAll.sum += ran
	w := f.at(sec)
	if w != nil {
		w.finished++
		w.service.add(ran)
	}
	if threw {
		f.threw++
		if w != nil {
			w.threw++
		}
	}
	if queue.Measured() {
		f.queueAll.add(int64(queue), 1)
		f.queueAll.sum += int64(queue)
		if w != nil {
			w.queue.add(int64(queue))
		}
	}
}
