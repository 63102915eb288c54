package otlp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/session"
)

// Limits of an export.
const (
	maxClasses = 4096 // with rows of their own; those beyond are summed up
	maxCauses  = 100
	others     = "others"
)

// class is what a session has of the classes of one name.
type class struct {
	name                      string
	executions, threw         uint64
	run, cpu, queue, response distribution
	slowest                   slowest
}

// exporter gathers what of a session is sent.
type exporter struct {
	src     *export.Source
	s       *session.Session
	version string
	keep    int // executions of each class that become spans

	classes []*class
	byName  map[string]*class
	byID    map[uint32]*class
	open    uint64 // executions that had not ended
}

// gather reads the session once.
func (x *exporter) gather() error {
	x.byName, x.byID = map[string]*class{}, map[uint32]*class{}
	if err := x.src.Executions(func(e *export.Execution) error { x.execution(e); return nil }); err != nil {
		return err
	}
	if err := x.src.Summaries(func(sum *session.Summary) error { x.summary(sum); return nil }); err != nil {
		return err
	}
	slices.SortFunc(x.classes, func(a, b *class) int { return cmp.Compare(a.name, b.name) })
	return nil
}

// of is the class with an id. Several have one name if several class loaders define it.
func (x *exporter) of(id uint32) *class {
	if c := x.byID[id]; c != nil {
		return c
	}
	name := "unknown class " + strconv.FormatUint(uint64(id), 10)
	if c := x.s.ClassByID(id); c != nil {
		name = clean(c.Name)
	}
	c := x.byName[name]
	if c == nil && len(x.classes) >= maxClasses-1 {
		name = others
		c = x.byName[name]
	}
	if c == nil {
		c = &class{name: name, slowest: slowest{most: x.keep}}
		x.byName[name], x.classes = c, append(x.classes, c)
	}
	x.byID[id] = c
	return c
}

func (x *exporter) execution(e *export.Execution) {
	c := x.of(e.Class)
	c.executions++
	if e.Flags&wire.Threw != 0 {
		c.threw++
	}
	c.queue.add(e.Queue)
	if e.Running() {
		x.open++
		return // it has no end
	}
	c.run.add(e.Wall)
	c.cpu.add(e.CPU)
	if r := response(e); r.Measured() {
		c.response.add(r)
	}
	c.slowest.add(e)
}

// response is the time from the moment from which a task could begin to its end; an execution whose submission is not known has none.
func response(e *export.Execution) units.Ns {
	if !e.Queue.Measured() || e.Running() {
		return units.NotMeasured
	}
	return e.Queue + units.Ns(e.End-e.Start)
}

func (x *exporter) summary(sum *session.Summary) {
	c := x.of(sum.Class)
	c.executions += sum.Executions
	c.threw += sum.Threw
	for i := range sum.Measures {
		m := &sum.Measures[i]
		switch m.Metric {
		case wire.MetricWall:
			c.run.addMeasure(m)
		case wire.MetricCPU:
			c.cpu.addMeasure(m)
		case wire.MetricQueue:
			c.queue.addMeasure(m)
		case wire.MetricResponse:
			c.response.addMeasure(m)
		}
	}
}

// wall is a moment by the wall clock, in nanoseconds since 1970.
func (x *exporter) wall(at units.MonoNs) uint64 {
	m := &x.s.Manifest
	return uint64(max(0, m.WallUnixNs+int64(at-m.StartNs)))
}

// metrics are the families, one after another.
func (x *exporter) metrics() []*metrics.Metric {
	start, at := x.wall(x.src.Span.From), x.wall(x.src.Span.To)
	low := ""
	if x.src.Truncated || x.s.Manifest.Lost.Events > 0 || session.IncompleteOf(&x.s.Manifest) != nil {
		low = " At least: the attribute " + notesName + " of the resource says what is missing."
	}
	counter := func(name, help string, of func(*class) uint64) *metrics.Metric {
		sum := &metrics.Sum{AggregationTemporality: cumulative, IsMonotonic: true}
		for _, c := range x.classes {
			sum.DataPoints = append(sum.DataPoints, &metrics.NumberDataPoint{Attributes: attribute(str("class", c.name)), StartTimeUnixNano: start, TimeUnixNano: at,
				Value: &metrics.NumberDataPoint_AsInt{AsInt: int64(of(c))}})
		}
		return &metrics.Metric{Name: name, Description: help + low, Data: &metrics.Metric_Sum{Sum: sum}}
	}
	histogram := func(name, help string, of func(*class) *distribution) *metrics.Metric {
		h := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
		for _, c := range x.classes {
			if p := of(c).point(attribute(str("class", c.name)), start, at); p.Count > 0 {
				h.DataPoints = append(h.DataPoints, p)
			}
		}
		return &metrics.Metric{Name: name, Description: help + low, Unit: "s", Data: &metrics.Metric_ExponentialHistogram{ExponentialHistogram: h}}
	}
	return []*metrics.Metric{
		counter("stackagent_task_executions_total", "Executions of tasks, those included that had not ended.", func(c *class) uint64 { return c.executions }),
		counter("stackagent_task_failed_total", "Executions that ended by an exception.", func(c *class) uint64 { return c.threw }),
		histogram("stackagent_task_run_seconds", "Time from the begin of an execution to its end.", func(c *class) *distribution { return &c.run }),
		histogram("stackagent_task_cpu_seconds", "CPU time of an execution.", func(c *class) *distribution { return &c.cpu }),
		histogram("stackagent_task_queue_seconds", "Time from the submission of a task, or from when it was due, to its begin.", func(c *class) *distribution { return &c.queue }),
		histogram("stackagent_task_response_seconds", "Time from the submission of a task, or from when it was due, to its end.", func(c *class) *distribution { return &c.response }),
		x.pauses(start, at),
	}
}

func (x *exporter) pauses(start, at uint64) *metrics.Metric {
	by := map[string]*distribution{}
	for _, p := range x.src.Pauses() {
		cause := clean(p.Cause)
		if by[cause] == nil && len(by) >= maxCauses {
			cause = others
		}
		if by[cause] == nil {
			by[cause] = new(distribution)
		}
		by[cause].add(units.Ns(p.EndNs - p.StartNs))
	}
	h := &metrics.ExponentialHistogram{AggregationTemporality: cumulative}
	for _, cause := range slices.Sorted(maps.Keys(by)) {
		h.DataPoints = append(h.DataPoints, by[cause].point(attribute(str("cause", cause)), start, at))
	}
	return &metrics.Metric{Name: "stackagent_gc_pause_seconds", Description: "Pauses for garbage collection.", Unit: "s", Data: &metrics.Metric_ExponentialHistogram{ExponentialHistogram: h}}
}

// notes say what the export lacks, in a sentence each.
func (x *exporter) notes() (notes []string) {
	add := func(n uint64, format, one, many string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, text.PluralExact(n, one, many)))
		}
	}
	notes = x.src.Left()
	add(x.open, "%s not ended: counted, without times and spans", "execution had", "executions had")
	var without uint64
	for _, c := range x.classes {
		without += c.run.without + c.cpu.without + c.queue.without + c.response.without
	}
	add(without, "%s of summarised executions cannot be read and are not in the histograms; the executions are counted", "value", "values")
	add(x.s.Manifest.Lost.Events, "%s lost while recording and not in the export", "event was", "events were")
	if x.byName[others] != nil {
		notes = append(notes, fmt.Sprintf("classes beyond the first %d are summed up as %q", maxClasses-1, others))
	}
	if x.src.Truncated {
		notes = append(notes, fmt.Sprintf("the export ends after the first %d executions, as --max wants it", x.src.Written))
	}
	return notes
}
