package top

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stackagent/shadow/show/live"
)

// sparkLength is how many of the last seconds a sparkline in a table shows.
const sparkLength = 20

// recent are the last n points as a sparkline.
func recent(points live.Points, n int) string {
	values := make([]float64, 0, n)
	for _, v := range points[max(len(points)-n, 0):] {
		if v != v { // NaN: not known
			v = -1
		}
		values = append(values, float64(v))
	}
	return spark(values)
}

func quantile(t *live.Times, of func(*live.Times) float64) float64 {
	if t == nil {
		return math.NaN()
	}
	return of(t)
}

func p50(t *live.Times) float64 { return quantile(t, func(t *live.Times) float64 { return t.P50Ns }) }
func p99(t *live.Times) float64 { return quantile(t, func(t *live.Times) float64 { return t.P99Ns }) }

// cpus are the CPUs in use, NaN if not known.
func cpus(r live.Row) float64 {
	if r.CPUs == nil {
		return math.NaN()
	}
	sum := 0.0
	for _, c := range r.CPUs {
		sum += c.Value
	}
	return sum
}

// nameOf is what a JVM is called: its program, or its session if that is not known.
func nameOf(r live.Row) string {
	if r.Program != "" {
		return r.Program
	}
	return r.Session
}

func fleetGrid(f *live.Fleet) grid {
	l := list(f.JVMs, func(r live.Row) string { return r.Folder }, []column[live.Row]{
		{title: "program", name: "program", text: nameOf},
		{title: "pid", name: "pid", value: func(r live.Row) float64 { return float64(r.PID) }, show: func(v float64) string { return fmt.Sprint(int(v)) }},
		{title: "tasks/s", name: "finished_rate", value: func(r live.Row) float64 { return optional(r.FinishedRate) }, show: rate},
		{title: "queue p99", name: "queue_p99_ns", value: func(r live.Row) float64 { return optional(r.QueueP99Ns) }, show: span},
		{title: "CPUs", name: "cpus", value: cpus, show: rate},
		{title: "lost", name: "lost", value: func(r live.Row) float64 { return r.Lost }, show: count},
		{title: "findings", name: "findings", value: func(r live.Row) float64 { return float64(r.Findings) }, show: count},
		{title: "state", name: "state", text: func(r live.Row) string { return r.State }},
		{title: "last 20 s", text: func(r live.Row) string { return recent(r.Sparks.Finished, sparkLength) }},
		{title: "service", name: "service", text: func(r live.Row) string { return strings.TrimSpace(r.Service + " " + r.Version) }},
		{title: "host", name: "host", text: func(r live.Row) string { return r.Host }},
		{title: "session", name: "session", text: func(r live.Row) string { return r.Session }},
		{title: "folder", name: "folder", text: func(r live.Row) string { return r.Folder }},
	})
	l.none = "No JVM sends anything now. shadow serve prints how to start one."
	return l
}

// flowColumns are those of classes and executors alike.
func flowColumns[R any](flow func(R) *live.Flow) []column[R] {
	number := func(title, name string, of func(*live.Flow) float64, show func(float64) string) column[R] {
		return column[R]{title: title, name: name, value: func(r R) float64 { return of(flow(r)) }, show: show}
	}
	return []column[R]{
		number("tasks/s", "rate", func(f *live.Flow) float64 { return f.Rate }, rate),
		number("running", "running", func(f *live.Flow) float64 { return optional(f.Running) }, count),
		number("queued", "queued", func(f *live.Flow) float64 { return optional(f.Queued) }, count),
		number("queue p99", "queue_p99_ns", func(f *live.Flow) float64 { return p99(f.Queue) }, span),
		number("run p99", "service_p99_ns", func(f *live.Flow) float64 { return p99(f.Service) }, span),
		number("run p50", "service_p50_ns", func(f *live.Flow) float64 { return p50(f.Service) }, span),
		number("queue p50", "queue_p50_ns", func(f *live.Flow) float64 { return p50(f.Queue) }, span),
		number("finished", "finished", func(f *live.Flow) float64 { return f.Finished }, count),
		number("threw", "threw", func(f *live.Flow) float64 { return f.Threw }, count),
		number("rejected", "rejected", func(f *live.Flow) float64 { return f.Rejected }, count),
		{title: "last 20 s", text: func(r R) string { return recent(flow(r).Spark, sparkLength) }},
	}
}

func classGrid(v *live.JVM) grid {
	name := column[live.Class]{title: "class", name: "class", text: func(c live.Class) string { return c.Name }}
	columns := append([]column[live.Class]{name}, flowColumns(func(c live.Class) *live.Flow { return &c.Flow })...)
	l := list(v.Classes, func(c live.Class) string { return c.Name }, columns)
	l.none = "No task has run in the last minute."
	return l
}

func executorGrid(v *live.JVM) grid {
	columns := []column[live.Executor]{
		{title: "executor", name: "executor", text: func(e live.Executor) string { return e.Name }},
		{title: "threads", name: "workers", value: func(e live.Executor) float64 { return e.Workers }, show: func(v float64) string {
			if v == 0 {
				return notKnown
			}
			return count(v)
		}},
	}
	columns = append(columns, flowColumns(func(e live.Executor) *live.Flow { return &e.Flow })...)
	columns = append(columns, column[live.Executor]{title: "made at", name: "site", text: func(e live.Executor) string { return e.Site }},
		column[live.Executor]{title: "class", name: "class", text: func(e live.Executor) string { return e.Class }})
	l := list(v.Executors, func(e live.Executor) string { return fmt.Sprint(e.ID) }, columns)
	l.none = because(v, "submissions", "No task was submitted to an executor in the last minute.")
	return l
}

func openGrid(open []live.Open, age string) grid {
	return list(open, func(o live.Open) string { return o.Task }, []column[live.Open]{
		{title: "task", name: "class", text: func(o live.Open) string { return o.Class }},
		{title: age, name: "age_ns", value: func(o live.Open) float64 { return o.AgeNs }, show: span},
		{title: "submitted at", name: "site", text: func(o live.Open) string { return o.Site }},
		{title: "executor", name: "executor", text: func(o live.Open) string { return o.Executor }},
		{title: "thread", name: "thread", text: func(o live.Open) string { return o.Thread }},
	})
}

func runningGrid(v *live.JVM) grid {
	l := openGrid(v.Running, "runs for")
	l.none = because(v, "running_now", "No task runs now.")
	return l
}

func queuedGrid(v *live.JVM) grid {
	l := openGrid(v.Queued, "waits for")
	l.none = because(v, "queued_now", "No task waits now.")
	return l
}

func findingGrid(v *live.JVM) grid {
	clock := func(ns float64) string { return time.UnixMilli(int64(v.Row.StartedMs + ns/1e6)).Format(time.TimeOnly) }
	l := list(slices.Concat(v.Findings, v.Past), func(f live.Held) string {
		return fmt.Sprint(f.Rule, "\x00", f.Class, "\x00", f.Executor, "\x00", f.SinceNs)
	}, []column[live.Held]{
		{title: "finding", name: "title", text: func(f live.Held) string { return f.Title }},
		{title: "since", name: "since_ns", value: func(f live.Held) float64 { return f.SinceNs }, show: clock},
		{title: "until", name: "end_ns", value: func(f live.Held) float64 {
			if f.EndNs == nil {
				return math.NaN()
			}
			return *f.EndNs
		}, show: clock},
		{title: "what it is, and what to do", name: "text", text: func(f live.Held) string { return f.Text }},
	})
	l.none = because(v, "findings", "Nothing was found to stand in the way. "+v.Bound)
	return l
}

// because says why a list is empty: it is not available, or there is nothing.
func because(v *live.JVM, what, nothing string) string {
	if reason := v.Missing[what]; reason != "" {
		return "Not available: " + reason + "."
	}
	return nothing
}

// panel is a table of a JVM's view.
type panel struct {
	title string
	grid  func(*live.JVM) grid
}

var panels = []panel{
	{"Classes", classGrid}, {"Executors", executorGrid}, {"Running now", runningGrid}, {"Queued now", queuedGrid}, {"Findings", findingGrid},
}
