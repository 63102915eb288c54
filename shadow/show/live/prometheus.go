package live

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/store"
)

// Limits of the metrics: what goes beyond is summed up under the label "others", and JVMs beyond are
// counted only. Rows are chosen in the order in which they appeared, so that counters never go back.
const (
	metricJVMs      = 100
	metricExecutors = 16 // of a JVM, beside "others"
	metricClasses   = 20 // the same
	metricEnded     = time.Minute
	labelRunes      = 120
)

// Kind of a metric, in the words of Prometheus.
type Kind string

// What a metric is.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
	Sum       Kind = "summary" // without quantiles: count and sum
)

// Attribute is a label of a point. Its value is cleaned and cut.
type Attribute struct{ Name, Value string }

// Point is a value of a metric.
type Point struct {
	Labels  []Attribute
	Value   float64  // of a counter or a gauge
	Sum     float64  // of a histogram or a summary
	Count   uint64   // the same
	Buckets []uint64 // of a histogram: how many values lie in each of Bounds and above the last
}

// Family is all points of a metric.
type Family struct {
	Name   string
	Kind   Kind
	Help   string
	Points []Point
}

// Bounds are the upper bounds of the buckets of all histograms, in seconds.
func Bounds() []float64 {
	list := make([]float64, len(bounds))
	for i, b := range bounds {
		list[i] = float64(b) / second
	}
	return list
}

// metricSet collects families in the order in which they are first named.
type metricSet struct{ families []*Family }

func (m *metricSet) add(name string, kind Kind, help string, p Point) {
	i := slices.IndexFunc(m.families, func(f *Family) bool { return f.Name == name })
	if i < 0 {
		i = len(m.families)
		m.families = append(m.families, &Family{Name: name, Kind: kind, Help: help})
	}
	m.families[i].Points = append(m.families[i].Points, p)
}

func (m *metricSet) counter(name, help string, labels []Attribute, v float64) {
	m.add(name, Counter, help, Point{Labels: labels, Value: v})
}

func (m *metricSet) gauge(name, help string, labels []Attribute, v float64) {
	m.add(name, Gauge, help, Point{Labels: labels, Value: v})
}

// histogram adds a distribution of seconds.
func (m *metricSet) histogram(name, help string, labels []Attribute, r *running) {
	m.add(name, Histogram, help, Point{Labels: labels, Sum: float64(r.sum) / second, Count: r.count(), Buckets: slices.Clone(r.counts[:])})
}

func (m *metricSet) summary(name, help string, labels []Attribute, sum int64, count uint64) {
	m.add(name, Sum, help, Point{Labels: labels, Sum: float64(sum) / second, Count: count})
}

func (r *running) count() (n uint64) {
	for _, c := range r.counts {
		n += c
	}
	return n
}

// Label cleans a value of a label and cuts it: names come from programs.
func Label(s string) string { return text.Cut(text.Clean(s, '?'), labelRunes) }

// with adds a label to others, which it does not change.
func with(labels []Attribute, name, value string) []Attribute {
	return append(slices.Clip(labels), Attribute{name, Label(value)})
}

// JVMMetrics are the figures of a JVM.
type JVMMetrics struct {
	Session  string
	JVM      store.JVM
	Labels   label.Labels
	Since    time.Time // when the shadow began to count
	Families []*Family
}

// Metrics gives the figures of the JVMs that run, and of those that ended a moment ago, one after another, and how many
// JVMs have none as there are too many. docs/operations.md has the names.
func (l *Live) Metrics(f func(JVMMetrics)) (more int) {
	listed, more := 0, int(l.more.Load())
	for _, j := range l.all() {
		if at := j.ended.Load(); at != 0 && l.o.Now().Sub(time.Unix(0, at)) > metricEnded {
			continue
		}
		if listed == metricJVMs {
			more++
			continue
		}
		listed++
		var m metricSet
		j.mu.Lock()
		j.metrics(&m)
		x := JVMMetrics{Session: j.progress.Session, JVM: j.progress.JVM, Labels: j.progress.Labels, Since: j.born, Families: m.families}
		j.mu.Unlock()
		f(x)
	}
	return more
}

// NotListed is the metric of the JVMs that have none of their own.
func NotListed(n int) *Family {
	return &Family{Name: "stackagent_jvms_not_listed", Kind: Gauge, Help: "JVMs that have no metrics of their own, as there are too many.", Points: []Point{{Value: float64(n)}}}
}

func (j *jvm) metrics(m *metricSet) {
	p := &j.progress
	jvm := with(nil, "jvm", j.folder)
	// They are of the JVM: no series is added. Prometheus gives "instance" a meaning of its own.
	for _, l := range []Attribute{{"service", p.Labels.Service}, {"service_version", p.Labels.Version}, {"env", p.Labels.Env}, {"service_instance", p.Labels.Instance}} {
		if l.Value != "" {
			jvm = with(jvm, l.Name, l.Value)
		}
	}
	m.gauge("stackagent_jvm_info", "A JVM that is observed; 1.", append(jvm, Attribute{"session", Label(p.Session)}, Attribute{"program", Label(p.JVM.MainClass)},
		Attribute{"host", Label(p.JVM.Host)}, Attribute{"pid", strconv.Itoa(p.JVM.PID)}, Attribute{"gc", Label(p.JVM.GC)}, Attribute{"version", Label(p.JVM.Version)}), 1)
	up := 1.0
	if j.state() != "running" {
		up = 0
	}
	m.gauge("stackagent_jvm_up", "1 while batches come from the JVM.", jvm, up)
	m.gauge("stackagent_jvm_lag_seconds", "Time since the last batch came: the figures are as of then.", jvm, j.live.o.Now().Sub(j.came).Seconds())
	m.gauge("stackagent_jvm_findings", "Live findings that hold.", jvm, float64(len(j.findings.hold)))
	m.counter("stackagent_jvm_events_lost_total", "Events that the agent could not deliver.", jvm, float64(j.lost))
	m.counter("stackagent_jvm_events_not_shown_total", "Events that were stored and are not in these figures.", jvm, float64(j.notShown))
	m.counter("stackagent_jvm_executions_total", "Executions, recorded or summarised; a task has one or several.", jvm, float64(j.executed+j.counted))
	if p.JVM.CPUs > 0 {
		m.gauge("jvm_cpu_count", "Processors available to the JVM.", jvm, float64(p.JVM.CPUs))
	}
	if j.cpu.fresh {
		for k, ns := range j.cpu.total {
			m.counter("jvm_cpu_time_seconds_total", "CPU time of the JVM's threads since the shadow follows it, by kind of thread.", with(jvm, "kind", cpuKinds[k].key), float64(ns)/second)
		}
	}
	m.gauge("jvm_thread_count", "Platform threads of Java that live.", jvm, float64(len(j.threads)))
	m.summary("jvm_gc_pause_seconds", "Pauses for garbage collection.", jvm, int64(j.pauseNs), j.pauses)
	if s := j.totals.Scheduling; s.Mounts > 0 {
		m.gauge("stackagent_virtual_threads_mounted", "Virtual threads on a carrier.", jvm, float64(s.Mounts-min(s.Mounts, s.Unmounts)))
		m.counter("stackagent_virtual_thread_mounts_total", "Times that a virtual thread got onto a carrier.", jvm, float64(s.Mounts))
		m.counter("stackagent_virtual_thread_pins_total", "Times that a virtual thread parked without leaving its carrier.", jvm, float64(s.Pins))
		m.counter("stackagent_virtual_thread_pinned_seconds_total", "Time that virtual threads parked without leaving their carriers.", jvm, float64(s.PinnedNs)/second)
	}
	j.executorMetrics(m, jvm)
	j.classMetrics(m, jvm)
}

// metricRow is a flow, or the sum of several, under its label.
type metricRow struct {
	label string
	flow  *flow
}

func (j *jvm) executorMetrics(m *metricSet, jvm []Attribute) {
	flows := make([]*flow, 0, len(j.executorFlows))
	for _, f := range j.executorFlows {
		flows = append(flows, f)
	}
	slices.SortFunc(flows, func(a, b *flow) int { return cmp.Compare(rank(a), rank(b)) })
	workers := j.workers()
	rows := bounded(flows, metricExecutors, j.stableLabel)
	for _, r := range rows {
		l, f := with(jvm, "name", r.label), r.flow
		m.counter("executor_completed_tasks_total", "Tasks that ended.", l, float64(f.finished))
		m.counter("stackagent_executor_submitted_tasks_total", "Tasks submitted, rejected ones included.", l, float64(f.submitted))
		m.counter("stackagent_executor_started_tasks_total", "Tasks that began.", l, float64(f.started))
		m.counter("stackagent_executor_rejected_tasks_total", "Tasks that the executor refused.", l, float64(f.rejected))
		m.counter("stackagent_executor_failed_tasks_total", "Tasks that ended by an exception.", l, float64(f.threw))
		if j.submissionsSeen() {
			m.gauge("executor_queued_tasks", "Tasks that wait, those of summarised classes left out.", l, float64(f.waiting))
		}
		if j.opens.known {
			m.gauge("executor_active_threads", "Threads that execute a task.", l, float64(f.open+f.alone))
		}
		if n := workers[f.key.executor]; n > 0 {
			m.gauge("executor_pool_size_threads", "Worker threads that live.", l, float64(n))
		}
		m.histogram("executor_idle_seconds", "Time from the submission of a task to its begin.", l, &f.queueAll)
		m.histogram("executor_seconds", "Time from the begin of a task to its end.", l, &f.runAll)
	}
}

// stableLabel names an executor by what never changes: a label that changes is another series.
func (j *jvm) stableLabel(f *flow) string {
	if e := j.executors[uint32(max(0, f.key.executor))]; e != nil {
		return callsite.LabelExecutor(e, "")
	}
	return j.executorLabel(f.key.executor)
}

// rank orders executors: those without an id of their own come last.
func rank(f *flow) int64 {
	if f.key.executor <= 0 {
		return 1<<40 - f.key.executor
	}
	return f.key.executor
}

func (j *jvm) classMetrics(m *metricSet, jvm []Attribute) {
	for _, r := range bounded(j.allClasses(), metricClasses, func(f *flow) string { return f.name }) {
		l, f := with(jvm, "class", r.label), r.flow
		m.counter("stackagent_class_submitted_tasks_total", "Tasks submitted, by the class after which they are named.", l, float64(f.submitted))
		m.counter("stackagent_class_started_tasks_total", "Tasks that began.", l, float64(f.started))
		m.counter("stackagent_class_completed_tasks_total", "Tasks that ended.", l, float64(f.finished))
		m.counter("stackagent_class_rejected_tasks_total", "Tasks that an executor refused.", l, float64(f.rejected))
		m.counter("stackagent_class_failed_tasks_total", "Tasks that ended by an exception.", l, float64(f.threw))
		if j.opens.known {
			m.gauge("stackagent_class_running_tasks", "Tasks that run.", l, float64(f.open+f.alone))
		}
		if j.submissionsSeen() {
			m.gauge("stackagent_class_queued_tasks", "Tasks that wait.", l, *j.queuedOf(f))
		}
		m.summary("stackagent_class_queue_seconds", "Time from the submission of a task to its begin.", l, f.queueAll.sum, f.queueAll.count())
		m.summary("stackagent_class_run_seconds", "Time from the begin of a task to its end.", l, f.runAll.sum, f.runAll.count())
	}
}

// bounded gives the first n flows a row each and sums up the others. No two rows have one label.
func bounded(flows []*flow, n int, name func(*flow) string) []metricRow {
	var rows []metricRow
	used := map[string]bool{Label(Others): true}
	rest := &flow{name: Others}
	for i, f := range flows {
		if f.name == Others || f.key.executor == otherExecutors && f.key.class == 0 && f.name == "" || len(rows) == n {
			rest.include(f)
			continue
		}
		if f.label == "" { // it stays, whatever better name there is later
			f.label = text.Cut(text.Clean(name(f), '?'), labelRunes-8)
			if used[Label(f.label)] {
				f.label += "#" + strconv.Itoa(i+1)
			}
		}
		used[Label(f.label)] = true
		rows = append(rows, metricRow{label: f.label, flow: f})
	}
	if rest.submitted+rest.started+rest.finished+rest.rejected > 0 {
		rows = append(rows, metricRow{label: Others, flow: rest})
	}
	return rows
}

// include adds what f has counted since the session began.
func (f *flow) include(o *flow) {
	f.submitted += o.submitted
	f.started += o.started
	f.finished += o.finished
	f.threw += o.threw
	f.rejected += o.rejected
	f.waiting += o.waiting
	f.alone += o.alone
	f.counted += o.counted
	f.open += o.open
	f.byCount = max(f.byCount, o.byCount)
	for i, n := range o.queueAll.counts {
		f.queueAll.counts[i] += n
		f.runAll.counts[i] += o.runAll.counts[i]
	}
	f.queueAll.sum += o.queueAll.sum
	f.runAll.sum += o.runAll.sum
}
