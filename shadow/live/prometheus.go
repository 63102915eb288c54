package live

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/text"
	"stackagent/shadow/origin"
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

// sample is a value with its labels, which are escaped.
type sample struct {
	suffix, labels string
	value          float64
}

type family struct {
	name, kind, help string
	samples          []sample
}

// metricSet collects families in the order of families.
type metricSet struct{ families []*family }

func (m *metricSet) add(name, kind, help, suffix, labels string, v float64) {
	i := slices.IndexFunc(m.families, func(f *family) bool { return f.name == name })
	if i < 0 {
		i = len(m.families)
		m.families = append(m.families, &family{name: name, kind: kind, help: help})
	}
	m.families[i].samples = append(m.families[i].samples, sample{suffix, labels, v})
}

func (m *metricSet) counter(name, help, labels string, v float64) {
	m.add(name, "counter", help, "", labels, v)
}

func (m *metricSet) gauge(name, help, labels string, v float64) {
	m.add(name, "gauge", help, "", labels, v)
}

// histogram adds a distribution of seconds.
func (m *metricSet) histogram(name, help, labels string, r *running) {
	sum := uint64(0)
	for i, n := range r.counts {
		sum += n
		le := "+Inf"
		if i < len(bounds) {
			le = strconv.FormatFloat(float64(bounds[i])/second, 'g', -1, 64)
		}
		m.add(name, "histogram", help, "_bucket", labels+`,le="`+le+`"`, float64(sum))
	}
	m.summary(name, "histogram", help, labels, r, sum)
}

func (m *metricSet) summary(name, kind, help, labels string, r *running, count uint64) {
	m.add(name, kind, help, "_sum", labels, float64(r.sum)/second)
	m.add(name, kind, help, "_count", labels, float64(count))
}

func (r *running) count() (n uint64) {
	for _, c := range r.counts {
		n += c
	}
	return n
}

// Label escapes a value of a label and cuts it: names come from programs.
func Label(s string) string {
	s = text.Cut(text.Clean(s, '?'), labelRunes)
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

func label(name, value string) string { return name + `="` + Label(value) + `"` }

// WriteMetrics writes the figures of the JVMs that run, and of those that ended a moment ago, for
// Prometheus. docs/operations.md has the names.
func (l *Live) WriteMetrics(w *bytes.Buffer) {
	m := &metricSet{}
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
		j.mu.Lock()
		j.metrics(m)
		j.mu.Unlock()
	}
	m.gauge("stackagent_jvms_not_listed", "JVMs that have no metrics of their own, as there are too many.", "", float64(more))
	for _, f := range m.families {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		for _, s := range f.samples {
			labels := s.labels
			if labels != "" {
				labels = "{" + labels + "}"
			}
			fmt.Fprintf(w, "%s%s%s %s\n", f.name, s.suffix, labels, strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
}

func (j *jvm) metrics(m *metricSet) {
	jvm := label("jvm", j.folder)
	p := &j.progress
	m.gauge("stackagent_jvm_info", "A JVM that is observed; 1.", strings.Join([]string{jvm, label("session", p.Session), label("program", p.JVM.MainClass),
		label("host", p.JVM.Host), label("pid", strconv.Itoa(p.JVM.PID)), label("gc", p.JVM.GC), label("version", p.JVM.Version)}, ","), 1)
	up := 1.0
	if j.state() != "running" {
		up = 0
	}
	m.gauge("stackagent_jvm_up", "1 while batches come from the JVM.", jvm, up)
	m.gauge("stackagent_jvm_lag_seconds", "Time since the last batch came: the figures are as of then.", jvm, j.live.o.Now().Sub(j.came).Seconds())
	m.gauge("stackagent_jvm_findings", "Live findings that hold.", jvm, float64(len(j.findings.shown())))
	m.counter("stackagent_jvm_events_lost_total", "Events that the agent could not deliver.", jvm, float64(j.lost))
	m.counter("stackagent_jvm_events_not_shown_total", "Events that were stored and are not in these figures.", jvm, float64(j.notShown))
	m.counter("stackagent_jvm_executions_total", "Executions, recorded or summarised; a task has one or several.", jvm, float64(j.executed+j.counted))
	if p.JVM.CPUs > 0 {
		m.gauge("jvm_cpu_count", "Processors available to the JVM.", jvm, float64(p.JVM.CPUs))
	}
	if j.cpu.fresh {
		for k, ns := range j.cpu.total {
			m.counter("jvm_cpu_time_seconds_total", "CPU time of the JVM's threads since the shadow follows it, by kind of thread.", jvm+","+label("kind", cpuKinds[k].key), float64(ns)/second)
		}
	}
	m.gauge("jvm_thread_count", "Platform threads of Java that live.", jvm, float64(len(j.threads)))
	m.add("jvm_gc_pause_seconds", "summary", "Pauses for garbage collection.", "_sum", jvm, float64(j.pauseNs)/second)
	m.add("jvm_gc_pause_seconds", "summary", "Pauses for garbage collection.", "_count", jvm, float64(j.pauses))
	if s := j.totals.Scheduling; s.Mounts > 0 {
		m.gauge("stackagent_virtual_threads_mounted", "Virtual threads on a carrier.", jvm, float64(s.Mounts-min(s.Mounts, s.Unmounts)))
		m.counter("stackagent_virtual_thread_mounts_total", "Times that a virtual thread got onto a carrier.", jvm, float64(s.Mounts))
		m.counter("stackagent_virtual_thread_pins_total", "Times that a virtual thread parked without leaving its carrier.", jvm, float64(s.Pins))
		m.counter("stackagent_virtual_thread_pinned_seconds_total", "Time that virtual threads parked without leaving their carriers.", jvm, float64(j.clock.span(uint64(s.Pinned)))/second)
	}
	j.executorMetrics(m, jvm)
	j.classMetrics(m, jvm)
}

// metricRow is a flow, or the sum of several, under its label.
type metricRow struct {
	label string
	flow  *flow
}

func (j *jvm) executorMetrics(m *metricSet, jvm string) {
	flows := make([]*flow, 0, len(j.executorFlows))
	for _, f := range j.executorFlows {
		flows = append(flows, f)
	}
	slices.SortFunc(flows, func(a, b *flow) int { return cmp.Compare(rank(a), rank(b)) })
	workers := j.workers()
	rows := bounded(flows, metricExecutors, j.stableLabel)
	for _, r := range rows {
		l, f := jvm+","+label("name", r.label), r.flow
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
		return origin.LabelExecutor(e, "")
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

func (j *jvm) classMetrics(m *metricSet, jvm string) {
	for _, r := range bounded(j.allClasses(), metricClasses, func(f *flow) string { return f.name }) {
		l, f := jvm+","+label("class", r.label), r.flow
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
		m.summary("stackagent_class_queue_seconds", "summary", "Time from the submission of a task to its begin.", l, &f.queueAll, f.queueAll.count())
		m.summary("stackagent_class_run_seconds", "summary", "Time from the begin of a task to its end.", l, &f.runAll, f.runAll.count())
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
