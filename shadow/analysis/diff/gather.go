package diff

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Gather reads the figures of a session. Only the filter, units, exactness and progress of the options count.
func Gather(s *session.Session, o summary.Options, by []By) (*Run, error) {
	o = summary.Options{Filter: o.Filter, Units: o.Units, Exact: o.Exact, Progress: o.Progress, Brief: true}
	sum, err := summary.Build(s, o)
	if err != nil {
		return nil, err
	}
	r := RunOf(sum)
	if err := cmp.Or(r.objectives(s, o.Filter), r.account(s, o.Filter)); err != nil {
		return nil, err
	}
	for _, g := range by {
		switch g {
		case Executor, Site:
			err = r.origins(s, o, g)
		case Wait:
			err = r.waits(s)
		case Path:
			err = r.path(s)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// RunOf are the figures of a summary: of the run, its classes and its kinds of threads.
func RunOf(sum *summary.Summary) *Run {
	r := &Run{Session: sum.Session, Started: sum.Started, Program: sum.JVM.MainClass, JVM: sum.JVM.Version, CPUs: sum.JVM.CPUs, Rows: map[Key]map[string]float64{}, NotAvailable: map[By]string{}, Gaps: sum.Gaps(), jdk: map[string]bool{}}
	r.Partial, r.flat = sum.Incomplete.Partial(), sum.Incomplete.Flat()
	r.whole(sum)
	if d := sum.Doubts()["tasks.executions"]; d.Unknown() {
		for _, by := range []By{Class, Executor, Site} {
			r.NotAvailable[by] = d.Why
		}
	}
	for i := range sum.Rows {
		h := &sum.Rows[i]
		r.tasks(Class, h.Class, h)
		r.jdk[h.Class] = h.JDK
	}
	r.threads(sum.Threads)
	return r
}

func (r *Run) whole(sum *summary.Summary) {
	f := map[string]float64{
		"duration_ns": float64(sum.DurationNs), "executions": float64(sum.Tasks.Executions), "created": float64(sum.Tasks.Created),
		"never_executed": float64(sum.Tasks.NeverExecuted), "threw": float64(sum.Tasks.Threw), "threads": float64(sum.Tasks.Threads), "gc_pauses": float64(sum.GC.Pauses), "gc_pause_ns": float64(sum.GC.PauseNs),
	}
	for name, d := range sum.Doubts() {
		if d.Unbounded() { // not known, or a bound
			delete(f, strings.ReplaceAll(strings.TrimPrefix(name, "tasks."), ".", "_"))
		}
	}
	r.Rows[Key{Whole, ""}] = f
	if r.Partial {
		return
	}
	if q := sum.Metrics.Queue(); q.Count > 0 {
		f["queue_ns"] = q.Mean
	}
	if x := sum.GC.Standstill; x != nil {
		f["standstill_ns"] = float64(x.TotalNs)
	}
	cpu := units.Ns(0)
	for i := range sum.Threads {
		if t := &sum.Threads[i]; !t.Virtual && t.CPU.Measured() { // a virtual thread's is its carrier's
			cpu += t.CPU
		}
	}
	if cpu > 0 {
		f["cpu_ns"] = float64(cpu)
	}
}

// tasks adds a row of a listing.
func (r *Run) tasks(by By, name string, h *granularity.Hotspot) {
	if h.Executions == 0 {
		return
	}
	f := map[string]float64{"executions": float64(h.Executions)}
	r.Rows[keyOf(by, name)] = f
	if r.flat {
		return
	}
	if d := h.Metrics[granularity.SelfCPU]; d.Count > 0 {
		f["work_ns"] = float64(d.Sum)
	}
	if d := h.Metrics[granularity.SelfWall]; d.Count > 0 {
		f["wall_ns"] = float64(d.Sum)
	}
	q, wall := h.Queue(), h.Metrics[granularity.Wall]
	if q.Count > 0 {
		f["queue_ns"] = q.Mean
		if q.Count == wall.Count { // else the means are of different executions
			f["response_ns"] = q.Mean + wall.Mean
		}
	}
	if d := h.Metrics.Named("self_alloc_bytes"); d.Count > 0 {
		f["alloc_bytes"] = float64(d.Sum)
	}
}

// keyOf names a row; a damaged session may have a class without a name.
func keyOf(by By, name string) Key { return Key{by, cmp.Or(name, "(no name)")} }

func (r *Run) threads(list []summary.ThreadRow) {
	for i := range list {
		t := &list[i]
		kind := t.Kind
		if t.Virtual {
			kind = "virtual"
		}
		k := keyOf(Threads, kind)
		if r.Rows[k] == nil {
			r.Rows[k] = map[string]float64{}
		}
		r.Rows[k]["threads"]++
		if t.CPU.Measured() {
			r.Rows[k]["cpu_ns"] += float64(t.CPU)
		}
	}
}

func (r *Run) origins(s *session.Session, o summary.Options, by By) error {
	sum, err := summary.BuildByOrigin(s, o, string(by))
	if errors.Is(err, summary.ErrNoSubmissions) {
		r.NotAvailable[by] = text.OneLine(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	for i := range sum.Rows {
		h := &sum.Rows[i]
		r.tasks(by, h.Site+h.Executor, h) // one of them is empty
	}
	return nil
}

func (r *Run) waits(s *session.Session) error {
	if m := &s.Manifest; m.Waits == nil && m.Scheduling == nil && m.Rows[store.Waits.String()]+m.Rows[store.WaitSums.String()] == 0 {
		r.NotAvailable[Wait] = cmp.Or(text.OneLine(m.NotAvailable[wait.NoWaits]), "the session has none: it was recorded with wait=off, or by an older agent")
		return nil
	}
	a, err := wait.Analyse(s)
	if err != nil {
		return err
	}
	if why := a.NotAvailable[wait.NoWaits]; why != "" {
		r.NotAvailable[Wait] = text.OneLine(why)
		return nil
	}
	for _, w := range a.Rows(false) {
		if w.For == wait.ForQueue {
			continue // workers without work
		}
		k := Key{Wait, w.For + ": " + w.Class}
		if r.Rows[k] == nil {
			r.Rows[k] = map[string]float64{}
		}
		r.Rows[k]["waits"] += float64(w.Waits)
		r.Rows[k]["waited_ns"] += float64(w.WaitedNs)
	}
	return nil
}

func (r *Run) path(s *session.Session) error {
	if r.Partial {
		r.NotAvailable[Path] = "executions are missing in session " + text.OneLine(r.Session)
		return nil
	}
	if _, err := s.Activity(); errors.Is(err, session.ErrNoActivity) { // before all units are read for nothing
		r.NotAvailable[Path] = text.OneLine(err.Error())
		return nil
	}
	g, err := graph.Of(s, 0, 0)
	if err != nil {
		r.NotAvailable[Path] = text.OneLine(err.Error())
		return nil
	}
	if why := g.NotKnown[graph.Waits]; why != "" {
		r.NotAvailable[Path] = text.OneLine(why)
		return nil
	}
	for _, row := range graph.Sum(g.Path(-1, 0), "class") {
		r.Rows[keyOf(Path, row.Name)] = map[string]float64{"path_ns": float64(row.Ns)}
	}
	return nil
}

// Parse reads a list of groupings.
func Parse(list []string) ([]By, error) {
	var out []By
	for _, word := range list {
		if word == "all" {
			return All, nil
		}
		by := By(word)
		if !slices.Contains(All, by) {
			return nil, errors.New("--by " + text.OneLine(text.Cut(word, 40)) + ": use all, or a list of " + text.OneOf(All))
		}
		out = append(out, by)
	}
	return out, nil
}
