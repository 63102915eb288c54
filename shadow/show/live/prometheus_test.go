package live

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// parse reads metrics as Prometheus does.
func parse(t testing.TB, data []byte) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return families
}

func labels(m *dto.Metric) map[string]string {
	list := map[string]string{}
	for _, l := range m.GetLabel() {
		list[l.GetName()] = l.GetValue()
	}
	return list
}

func TestMetrics(t *testing.T) {
	p := newProgram(t)
	for i := range 100 {
		task, future := p.submit(jobClass, 1+float64(i)/100, true)
		p.run(task, future, jobClass, worker1, 1+float64(i)/100, 1.02+float64(i)/100, 1.028+float64(i)/100)
	}
	p.submit(jobClass, 2, false)
	p.b.Pauses = []wire.Pause{{Start: tick(1), End: tick(1.25)}, {Start: tick(1.5), End: tick(1.75), Cause: units.GCCauseOf(units.Profiler)}}
	p.b.Running = &wire.RunningReport{At: tick(2)}
	p.send(2.5)
	var b bytes.Buffer
	p.live.WriteMetrics(&b, nil)
	families := parse(t, b.Bytes())
	for name, want := range map[string]float64{
		"executor_completed_tasks_total": 100, "stackagent_executor_submitted_tasks_total": 101, "stackagent_executor_started_tasks_total": 100,
		"stackagent_executor_rejected_tasks_total": 0, "executor_queued_tasks": 1, "executor_active_threads": 0, "executor_pool_size_threads": 2,
		"stackagent_class_completed_tasks_total": 100, "stackagent_class_queued_tasks": 1, "jvm_cpu_count": 4, "stackagent_jvm_up": 1,
	} {
		f := families[name]
		if f == nil || len(f.Metric) != 1 {
			t.Errorf("%s: %v", name, f)
			continue
		}
		got := f.Metric[0].GetCounter().GetValue() + f.Metric[0].GetGauge().GetValue()
		if got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if l := labels(families["executor_seconds"].Metric[0]); l["name"] != "Main.java:6 (ThreadPoolExecutor)" || l["jvm"] != "s" {
		t.Errorf("labels: %v", l)
	}
	for name, want := range map[string]float64{"executor_seconds": 0.8, "executor_idle_seconds": 2} {
		h := families[name].Metric[0].GetHistogram()
		if h.GetSampleCount() != 100 || !near(h.GetSampleSum(), want) || len(h.Bucket) != len(bounds)+1 {
			t.Errorf("%s: %v", name, h)
		}
		for _, b := range h.Bucket {
			if inside := want / 100; b.GetCumulativeCount() != 100 && b.GetUpperBound() > inside || b.GetCumulativeCount() != 0 && b.GetUpperBound() < inside {
				t.Errorf("%s: %v at most %v", name, b.GetCumulativeCount(), b.GetUpperBound())
			}
		}
	}
	if s := families["jvm_gc_pause_seconds"].Metric[0].GetSummary(); s.GetSampleCount() != 1 || s.GetSampleSum() != 0.25 {
		t.Errorf("pauses: %v", s)
	}
	if i := labels(families["stackagent_jvm_info"].Metric[0]); i["program"] != "com.acme.Main" || i["pid"] != "7" {
		t.Errorf("info: %v", i)
	}
}

// The labels of a JVM are on each of its series, and add none.
func TestMetricsOfLabels(t *testing.T) {
	p := newProgram(t)
	count := func() (series int, families map[string]*dto.MetricFamily) {
		var b bytes.Buffer
		p.live.WriteMetrics(&b, nil)
		families = parse(t, b.Bytes())
		for _, f := range families {
			series += len(f.Metric)
		}
		return series, families
	}
	before, _ := count()
	p.live.Progress(ingest.Progress{Session: "s", Folder: "s", Ended: store.EndedRunning, JVM: store.JVM{PID: 7, CPUs: 4, Version: "25"},
		Labels: label.Labels{Service: "shop \"a\"", Version: "1.4", Env: "test", Instance: "i", Free: map[string]string{"team": "a"}}})
	after, families := count()
	if before != after {
		t.Errorf("%d series, %d with labels", before, after)
	}
	for _, name := range []string{"stackagent_jvm_info", "stackagent_jvm_up", "jvm_thread_count"} {
		if l := labels(families[name].Metric[0]); l["service"] != `shop "a"` || l["service_version"] != "1.4" || l["env"] != "test" || l["service_instance"] != "i" || l["team"] != "" || l["jvm"] != "s" {
			t.Errorf("%s: %v", name, l)
		}
	}
	if v := p.view(); v.Row.Service != "shop \"a\"" || v.Row.Free["team"] != "a" || len(v.Row.Labels) != 1 || v.Row.Labels[0] != `shop "a" 1.4 test` {
		t.Errorf("row %+v", v.Row)
	}
}

// Counters never go back, also that of the others, and names that are the same stay apart.
func TestMetricsBeyondTheLimit(t *testing.T) {
	p := newProgram(t)
	last := map[string]float64{}
	for round := 1; round <= 4; round++ {
		for i := range 10 * round {
			id := uint32(100 + i)
			p.batch().Classes = append(p.b.Classes, wire.Class{ID: id, Name: "com.acme.Same", Kinds: units.KindRunnable})
			for range 40 - 10*round { // other classes become the busiest
				task := p.next()
				p.b.Submissions = append(p.b.Submissions, wire.Submission{TaskID: task, Class: id, Thread: mainThread, Executor: id, At: tick(float64(round) - 0.5)})
				p.run(task, 0, id, worker1, float64(round)-0.5, float64(round)-0.4, float64(round)-0.3)
			}
		}
		p.send(float64(round))
		var b bytes.Buffer
		p.live.WriteMetrics(&b, nil)
		sum := 0.0
		for name, f := range parse(t, b.Bytes()) {
			for _, m := range f.Metric {
				key := name
				for _, l := range m.GetLabel() {
					key += " " + l.GetValue()
				}
				if f.GetType() == dto.MetricType_COUNTER {
					if v := m.GetCounter().GetValue(); v < last[key] {
						t.Errorf("%s went from %v to %v", key, last[key], v)
					} else {
						last[key] = v
					}
				}
				if name == "stackagent_class_completed_tasks_total" {
					sum += m.GetCounter().GetValue()
				}
			}
		}
		if want := p.view().Totals.Finished; sum != want {
			t.Errorf("round %d: %v tasks by class, want %v", round, sum, want)
		}
	}
}

// Names come from programs: whatever they are, the page stays readable for Prometheus, and the label says what the name is.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{"", "com.acme.Job", "a\"b", "a\\", "\n# HELP x\nx 1", "{},=\"", "\xff\xfe", "ü\u202e\u0000", strings.Repeat("x", 1000), strings.Repeat("\"", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l := New(Options{})
		l.Begin("s", &store.Manifest{}, nil)
		l.Progress(ingest.Progress{Folder: "s", Ended: store.EndedRunning, JVM: store.JVM{MainClass: s, Host: s}})
		var b bytes.Buffer
		l.WriteMetrics(&b, nil)
		families := parse(t, b.Bytes())
		info := families["stackagent_jvm_info"]
		if info == nil || len(info.Metric) != 1 {
			t.Fatalf("%q: %s", s, b.Bytes())
		}
		got := labels(info.Metric[0])["program"]
		if utf8.RuneCountInString(got) > labelRunes+len("...") || !utf8.ValidString(got) {
			t.Errorf("%q became %q", s, got)
		}
		if want := text.Cut(text.Clean(text.Cut(s, maxName), '?'), labelRunes); utf8.ValidString(s) && got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	})
}
