package live

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/label"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/store"
)

// What a snapshot shows.
const (
	shownClasses   = 50
	shownExecutors = 32
	shownOpen      = 10
	shownJVMs      = 256 // in the fleet
	rateSeconds    = 5
)

func taskID(id uint64) string { return strconv.FormatUint(id, 10) }

// Fleet makes a snapshot of all JVMs.
func (l *Live) Fleet() *Fleet {
	f := &Fleet{NowMs: ms(l.o.Now()), JVMs: []Row{}}
	all := l.all()
	for _, j := range all[:min(len(all), shownJVMs)] {
		j.mu.Lock()
		f.JVMs = append(f.JVMs, j.row())
		j.mu.Unlock()
	}
	f.More = len(all) - len(f.JVMs) + int(l.more.Load())
	return f
}

// JVM makes a snapshot of one JVM; nil if there is none in this folder.
func (l *Live) JVM(folder string) *JVM {
	j := l.jvm(folder)
	if j == nil {
		return nil
	}
	j.watched.Store(l.o.Now().UnixNano())
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.show()
}

func ms(t time.Time) float64 { return float64(t.UnixMicro()) / 1e3 }

// last is the newest whole second that is known; -1: none.
func (j *jvm) last() int64 { return j.now/second - 1 }

func (j *jvm) state() string {
	switch {
	case j.ended.Load() != 0:
		return "ended"
	case j.seq == 0:
		return "starting"
	case j.live.o.Now().Sub(j.came) > silentAfter+time.Duration(j.live.late.Load()):
		return "silent"
	}
	return "running"
}

func (j *jvm) row() Row {
	p := &j.progress
	r := Row{Session: p.Session, Folder: j.folder, Program: name(p.JVM.MainClass), Host: name(p.JVM.Host), PID: p.JVM.PID, Labels: []string{},
		State: j.state(), LagMs: float64(j.live.o.Now().Sub(j.came)) / 1e6, NotShown: float64(j.notShown),
		Lost: float64(max(j.lost, p.Lost.Events)), LostBatches: float64(p.Lost.Batches), Findings: len(j.findings.hold), Sparks: j.sparks()}
	l := &p.Labels
	r.Service, r.Version, r.Env, r.Instance, r.Free = l.Service, l.Version, l.Env, l.Instance, l.Free
	if line := shownLabels(l); line != "" {
		r.Labels = append(r.Labels, line)
	}
	if l := j.live.o.Labels; l != nil {
		r.Labels = append(r.Labels, l(j.folder)...)
	}
	if j.wallUnix != 0 {
		r.StartedMs = float64(j.wallUnix) / 1e6
	}
	if p.Ended != store.EndedRunning {
		r.Ended = p.Ended
	}
	last := j.last()
	var started, finished uint32
	n := int64(0)
	for s := max(0, last-rateSeconds+1); s <= last; s++ {
		if b := j.at(s); b != nil && s*second >= j.since {
			started, finished, n = started+b.started, finished+b.finished, n+1
		}
	}
	if n > 0 {
		r.StartedRate, r.FinishedRate = new(float64(started)/float64(n)), new(float64(finished)/float64(n))
	}
	r.QueueP99Ns = j.queueP99()
	r.CPUs = j.cpus(last)
	return r
}

// shownLabels are the labels that tell what a JVM is, in one line: where it runs is shown beside it.
func shownLabels(l *label.Labels) string {
	return strings.TrimSpace(l.Service + " " + l.Version + " " + l.Env)
}

// queueP99 is over the last windows, of all executors.
func (j *jvm) queueP99() *float64 {
	var h durations
	for _, f := range j.executorFlows {
		for i := range f.window {
			if w := &f.window[i]; w.epoch > j.last()/windowSeconds-windows {
				h.merge(&w.queue)
			}
		}
	}
	if h.count == 0 {
		return nil
	}
	return new(h.quantile(0.99))
}

// cpus are the mean CPUs in use over the last seconds of which that is known.
func (j *jvm) cpus(last int64) []Share {
	var used [numCPUKinds]float64
	known, n := 0.0, 0
	for s := j.now / second; s > last-2*rateSeconds && n < rateSeconds; s-- {
		if b := j.at(s); b != nil && b.cpuKnown > 0 {
			known, n = known+b.cpuKnown, n+1
			for k := range used {
				used[k] += b.cpu[k]
			}
		}
	}
	if known == 0 {
		return nil
	}
	list := make([]Share, 0, numCPUKinds)
	for k, ns := range used {
		list = append(list, Share{cpuKinds[k].key, ns / known})
	}
	return list
}

func (j *jvm) sparks() Sparks {
	last := j.last()
	s := Sparks{}
	for _, x := range []struct {
		to *Points
		of func(*bucket) float32
	}{
		{&s.Finished, func(b *bucket) float32 { return float32(b.finished) }},
		{&s.QueueP99Ns, func(b *bucket) float32 { return b.queueP99 }},
		{&s.CPUs, func(b *bucket) float32 { return b.cpusInUse() }},
		{&s.Lost, func(b *bucket) float32 { return float32(b.lost) }},
	} {
		*x.to = j.points(last, sparkSeconds, x.of)
	}
	for i, v := range s.QueueP99Ns { // what is not settled yet
		if sec := last - sparkSeconds + 1 + int64(i); v != v && sec >= 0 {
			if r := &j.recent[sec&(recentSeconds-1)]; r.sec == sec && r.queue.count > 0 {
				s.QueueP99Ns[i] = float32(r.queue.quantile(0.99))
			}
		}
	}
	return s
}

// cpusInUse is NaN in a second in which that is not known.
func (b *bucket) cpusInUse() float32 {
	if b.cpuKnown == 0 {
		return nan
	}
	sum := 0.0
	for _, ns := range b.cpu {
		sum += ns
	}
	return float32(sum / b.cpuKnown)
}

// points are the values of n seconds, up to and with last; NaN before the session's begin.
func (j *jvm) points(last int64, n int, of func(*bucket) float32) Points {
	p := make(Points, n)
	for i := range p {
		sec := last - int64(n) + 1 + int64(i)
		p[i] = nan
		if b := j.at(sec); b != nil && (sec+1)*second > j.since {
			p[i] = of(b)
		}
	}
	return p
}

func (j *jvm) show() *JVM {
	last := j.last()
	v := &JVM{Row: j.row(), EndNs: float64((last + 1) * second), BucketNs: second, NowNs: float64(j.now),
		Totals: j.totalsNow(), Missing: j.missing(), Notes: []string{}, Findings: copied(j.findings.hold), Past: copied(j.findings.past), Bound: j.findings.last.bound}
	v.WindowNs = float64(min(j.now-max(0, (j.now/second/windowSeconds-windows+1)*windowSeconds*second), j.now-min(j.now, j.since)))
	v.Executors = j.showExecutors(last)
	v.Classes, v.Notes = j.showClasses(last, v.WindowNs)
	v.Series = j.series(last, v.Executors)
	v.Running, v.Queued = []Open{}, []Open{}
	if v.Missing["running_now"] == "" {
		v.Running = j.longestRunning(shownOpen)
	}
	if v.Missing["queued_now"] == "" {
		v.Queued = j.longestQueued(shownOpen)
	}
	if s := j.totals.Scheduling; s.Mounts > 0 {
		v.Virtual = &Virtual{Mounted: new(float64(s.Mounts - min(s.Mounts, s.Unmounts))), Mounts: float64(s.Mounts), Pins: float64(s.Pins), PinnedNs: float64(s.PinnedNs)}
	}
	for i := range v.Executors {
		e := &v.Executors[i]
		e.Flow.Rate = e.Flow.Finished / max(1e-9, v.WindowNs/second)
	}
	return v
}

func (j *jvm) totalsNow() Totals {
	t := Totals{SinceNs: float64(j.since), GCPauses: float64(j.pauses), GCPauseNs: float64(j.pauseNs), Executions: float64(j.executed + j.counted),
		Summarised: float64(j.counted), Threads: float64(len(j.threads))}
	for _, f := range j.executorFlows {
		t.Submitted += float64(f.submitted)
		t.Started += float64(f.started)
		t.Finished += float64(f.finished)
		t.Threw += float64(f.threw)
		t.Rejected += float64(f.rejected)
	}
	for _, f := range j.allClasses() {
		t.Cancelled += float64(f.cancelled)
	}
	t.Running, t.Queued = j.runningNow(), j.queuedNow()
	return t
}

// allClasses are the flows of classes, that of the others last.
func (j *jvm) allClasses() []*flow {
	if j.restOfClasses == nil {
		return j.classFlows
	}
	return append(slices.Clip(j.classFlows), j.restOfClasses)
}

// runningNow is nil if that is not known.
func (j *jvm) runningNow() *float64 {
	if !j.opens.known {
		return nil
	}
	return new(float64(len(j.opens.list)) + float64(j.opens.more) + float64(j.alone))
}

// queuedNow sums what waits in slots, and of summarised classes by count.
func (j *jvm) queuedNow() *float64 {
	if !j.submissionsSeen() {
		return nil
	}
	n := float64(j.pending.len()) - float64(j.alone)
	for _, f := range j.allClasses() {
		if j.now < f.byCount {
			n += float64(max(0, f.counted-f.open))
		}
	}
	return &n
}

func (j *jvm) submissionsSeen() bool {
	return slices.ContainsFunc(j.allClasses(), func(f *flow) bool { return f.submitted > 0 })
}

// queuedOf is what waits of a class or executor.
func (j *jvm) queuedOf(f *flow) *float64 {
	if j.now < f.byCount {
		return new(float64(max(0, f.counted-f.open)))
	}
	return new(float64(f.waiting))
}

func (j *jvm) missing() map[string]string {
	m := map[string]string{}
	if !j.cpu.fresh {
		m["cpu"] = "the agent has sent one account of the kernel's threads or none so far"
	}
	if !j.submissionsSeen() {
		m["queue"] = "no submission has been seen (the agent's option submissions may be off)"
		m["queued"], m["queued_now"], m["submitted"] = m["queue"], m["queue"], m["queue"]
	}
	if !j.opens.known {
		m["running_now"] = "the agent has not reported which tasks run"
		m["running"] = m["running_now"]
	}
	switch f := &j.findings; {
	case j.live.o.Root == "":
		m["findings"] = "this shadow does not look for any"
	case f.last.why != "":
		m["findings"] = f.last.why
	case f.to == 0:
		m["findings"] = "nothing was looked at yet"
	}
	return m
}

// copied is a list for others, who read it without the lock.
func copied(list []Held) []Held { return append([]Held{}, list...) }

func (j *jvm) flow(f *flow, w *window, last int64) Flow {
	x := Flow{Submitted: float64(w.submitted), Started: float64(w.started), Finished: float64(w.finished), Threw: float64(w.threw),
		Rejected: float64(w.rejected), Queue: w.queue.times(), Service: w.service.times(), Spark: f.points(last)}
	if j.opens.known {
		x.Running = new(float64(f.open + f.alone))
	}
	if j.submissionsSeen() {
		x.Queued = j.queuedOf(f)
	}
	return x
}

func (j *jvm) showClasses(last int64, windowNs float64) (list []Class, notes []string) {
	flows := slices.Clone(j.classFlows)
	slices.SortStableFunc(flows, func(a, b *flow) int { return cmp.Compare(b.busy(last), a.busy(last)) })
	rest := flows[min(len(flows), shownClasses):]
	flows = flows[:len(flows)-len(rest)]
	list, notes = []Class{}, []string{}
	summarised := 0
	add := func(f *flow, w *window) {
		c := j.class(f.key.class)
		x := Class{Name: f.name, Platform: c.jdk && f.key.site == 0, Flow: j.flow(f, w, last), Summarised: float64(w.summarised), Estimated: f.estimated}
		x.Flow.Rate = x.Flow.Finished / max(1e-9, windowNs/second)
		if x.Summarised > 0 {
			summarised++
		}
		list = append(list, x)
	}
	for _, f := range flows {
		w := f.sum(last + 1)
		add(f, &w)
	}
	if others, w := j.others(rest, last); others != nil {
		add(others, w)
	}
	if summarised > 0 {
		notes = append(notes, "The agent summed up tasks of "+strconv.Itoa(summarised)+" classes that came too fast for a record each: their counts are exact. They are taken to be of the executor that ran the class's tasks last, and which of them wait is not known, only how many.")
	}
	return list, notes
}

// others adds up the flows without a row; nil: there are none.
func (j *jvm) others(rest []*flow, last int64) (*flow, *window) {
	if j.restOfClasses != nil {
		rest = append(slices.Clip(rest), j.restOfClasses)
	}
	if len(rest) == 0 {
		return nil, nil
	}
	all, sum := &flow{name: Others}, window{}
	for _, f := range rest {
		w := f.sum(last + 1)
		sum.merge(&w)
		all.waiting += f.waiting
		all.alone += f.alone
		all.open += f.open
		for i, n := range f.spark {
			all.spark[i] += n
		}
		all.newest = max(all.newest, f.newest)
	}
	return all, &sum
}

func (j *jvm) showExecutors(last int64) []Executor {
	flows := make([]*flow, 0, len(j.executorFlows))
	for _, f := range j.executorFlows {
		flows = append(flows, f)
	}
	slices.SortFunc(flows, func(a, b *flow) int {
		return cmp.Or(cmp.Compare(b.busy(last), a.busy(last)), cmp.Compare(a.key.executor, b.key.executor))
	})
	workers := j.workers()
	list := []Executor{}
	for _, f := range flows[:min(len(flows), shownExecutors)] {
		w := f.sum(last + 1)
		x := Executor{ID: float64(f.key.executor), Name: j.executorLabel(f.key.executor), Workers: float64(workers[f.key.executor]), Flow: j.flow(f, &w, last)}
		if e := j.executors[uint32(max(0, f.key.executor))]; e != nil {
			x.Class, x.Site = e.Class, e.MadeIn
			if place := callsite.Place(e.File, e.Line); place != "" {
				x.Site = strings.TrimSpace(e.MadeIn + " (" + place + ")")
			}
		}
		list = append(list, x)
	}
	return list
}

// workers counts the threads of executors that live.
func (j *jvm) workers() map[int64]int {
	n := map[int64]int{}
	for _, t := range j.threads {
		if t.executor != 0 {
			n[int64(t.executor)]++
		}
	}
	return n
}

// executorLabel names an executor as reports do.
func (j *jvm) executorLabel(id int64) string {
	switch id {
	case noExecutor:
		return "no executor"
	case otherExecutors:
		return Others
	}
	e := j.executors[uint32(id)]
	if e == nil {
		return "executor " + strconv.FormatInt(id, 10)
	}
	return name(callsite.LabelExecutor(e, j.threadNames[id]))
}

// merge adds the counts and times of w.
func (w *window) merge(o *window) {
	w.submitted += o.submitted
	w.started += o.started
	w.finished += o.finished
	w.threw += o.threw
	w.rejected += o.rejected
	w.summarised += o.summarised
	w.queue.merge(&o.queue)
	w.service.merge(&o.service)
}
