package iteration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/warmup"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/deopt"
	"stackagent/shadow/store"
)

// Measured is what happened in the iterations of a session.
type Measured struct {
	Run  []warmup.Iteration
	Work []warmup.Work // by class: the executions that lie within one iteration
	// WorkIs says what their work is: "Self CPU time", or "Self wall time" where CPU time was not measured.
	WorkIs string
	// Across counts executions that lie in no single iteration: they belong to none.
	Across int64
	// Summarised are executions of fast classes, which are not in the counts of tasks: they are known by their sums.
	Summarised   uint64
	Deopts       []Deopt // those that lie in an iteration
	NotAvailable map[string]string
}

// Deopt is a deoptimisation.
type Deopt struct {
	In             int // iteration, from 0
	Method, Reason string
}

// Measure measures the iterations of a session, each of which must end before the next one begins.
func Measure(s *session.Session, list []Iteration) (*Measured, error) {
	m := &Measured{NotAvailable: map[string]string{}}
	for _, i := range list {
		m.Run = append(m.Run, warmup.Iteration{From: i.From, To: i.To, Label: i.Label,
			CPU: units.NotMeasured, Compiler: units.NotMeasured, GC: units.NotMeasured, Deopts: -1})
	}
	m.stops(s)
	if err := m.deopts(s); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if err := m.running(s); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if err := m.tasks(s); err != nil {
		return nil, fmt.Errorf("session %s: the tasks of its iterations: %w", s.Manifest.Session, err)
	}
	return m, nil
}

// at is the iteration in which t lies, from its begin (not included) to its end; -1: none.
func (m *Measured) at(t units.MonoNs) int {
	i, _ := slices.BinarySearchFunc(m.Run, t, func(i warmup.Iteration, t units.MonoNs) int { return int(min(max(i.To-t, -1), 1)) })
	if i == len(m.Run) || t <= m.Run[i].From {
		return -1
	}
	return i
}

// stops adds the pauses.
func (m *Measured) stops(s *session.Session) {
	whole := activity.Span{From: m.Run[0].From, To: m.Run[len(m.Run)-1].To}
	k := 0
	for _, p := range activity.Union(s.Spans(), whole) {
		for k < len(m.Run) && m.Run[k].To <= p.From {
			k++
		}
		for i := k; i < len(m.Run) && m.Run[i].From < p.To; i++ {
			m.Run[i].Stopped += p.Cut(activity.Span{From: m.Run[i].From, To: m.Run[i].To}).Len()
		}
	}
}

// deopts adds the deoptimisations.
func (m *Measured) deopts(s *session.Session) error {
	file, err := deopt.Read(s.Dir)
	if err != nil {
		return err
	}
	if file == nil {
		m.NotAvailable["deoptimisations"] = "not recorded; shadow run --deopts does, with JDK 20 or newer"
		return nil
	}
	until := units.MonoNs(math.MaxInt64)
	if n := len(file.Events); file.Dropped > 0 && n > 0 {
		until = file.Events[n-1].At
	}
	for i := range m.Run {
		if it := &m.Run[i]; it.From >= file.From && it.To <= until {
			it.Deopts = 0
		} else {
			m.NotAvailable["deoptimisations of some iterations"] = "there were too many to keep them all"
		}
	}
	for _, e := range file.Events {
		if k := m.at(e.At); k >= 0 && m.Run[k].Deopts >= 0 {
			m.Run[k].Deopts++
			m.Deopts = append(m.Deopts, Deopt{k, e.Method, e.Reason})
		}
	}
	return nil
}

// running adds what the threads ran.
func (m *Measured) running(s *session.Session) error {
	a, err := s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		m.NotAvailable["CPU time, JIT and GC"] = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	windows := make([]activity.Span, len(m.Run))
	for i, it := range m.Run {
		windows[i] = activity.Span{From: it.From, To: it.To}
	}
	graphs, err := bottle.Compute(a.Threads, a.Stream(windows[0].From, windows[len(windows)-1].To), windows...)
	if err != nil {
		return err
	}
	unknown := units.Ns(0)
	for i, g := range graphs {
		if windows[i].From < a.From || windows[i].To > a.To {
			m.NotAvailable["CPU time, JIT and GC of some iterations"] = "the scheduling record does not cover them"
			continue
		}
		it := &m.Run[i]
		it.CPU, it.Compiler, it.GC = g.RunningNs()-ours(g), g.Sum(activity.KindCompiler).RunningNs, g.Sum(activity.KindGC).RunningNs
		unknown += g.UnknownNs
	}
	if unknown > 0 {
		m.NotAvailable["part of the CPU time"] = "threads were not observed for " + units.FormatNs(unknown) + ", summed over all threads"
	}
	return nil
}

// ours is what the agent's own threads ran: no work of the program.
func ours(g *bottle.Graph) (ns units.Ns) {
	for _, b := range g.Boxes {
		if session.RoleOf(b.Name) == "agent" {
			ns += b.RunningNs
		}
	}
	return ns
}

// work is the work of executions by class, collected by one goroutine.
type work struct {
	byClass map[uint32]*warmup.Work
	tasks   []int64
	across  int64
}

// tasks adds the executions.
func (m *Measured) tasks(s *session.Session) error {
	column := store.ExecutionSelfCPU
	m.WorkIs = "Self CPU time"
	if !slices.Contains(s.Manifest.Metrics, "cpu") {
		column, m.WorkIs = store.ExecutionSelfWall, "Self wall time"
	}
	all := make([]work, session.Workers())
	for w := range all {
		all[w] = work{map[uint32]*warmup.Work{}, make([]int64, len(m.Run)), 0}
	}
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd|column, func(w int, c *session.Chunk) error {
		values := c.SelfCPUNs
		if column == store.ExecutionSelfWall {
			values = c.SelfWallNs
		}
		for i, class := range c.Class {
			if c.EndNs[i] != 0 { // else it still ran
				all[w].add(m, class, c.StartNs[i], c.EndNs[i], values[i])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.collect(s, all)
	return s.Summaries(func(x *session.Summary) error {
		m.Summarised += x.Executions
		return nil
	})
}

func (w *work) add(m *Measured, class uint32, start, end units.MonoNs, value units.Ns) {
	k := m.at(end)
	if k < 0 {
		w.across++
		return
	}
	w.tasks[k]++
	if start < m.Run[k].From {
		w.across++
		return
	}
	if !value.Measured() {
		return
	}
	c := w.byClass[class]
	if c == nil {
		c = &warmup.Work{Count: make([]int64, len(m.Run)), Sum: make([]float64, len(m.Run))}
		w.byClass[class] = c
	}
	c.Count[k]++
	c.Sum[k] += float64(value)
}

// collect joins what the goroutines have, by the names of classes: a class that two loaders define is one.
func (m *Measured) collect(s *session.Session, all []work) {
	index := map[string]int{}
	for _, w := range all {
		m.Across += w.across
		for k, n := range w.tasks {
			m.Run[k].Tasks += n
		}
		for _, c := range s.Classes { // in their order, so that the result is always the same
			from := w.byClass[c.ID]
			if from == nil {
				continue
			}
			i, ok := index[c.Name]
			if !ok {
				i = len(m.Work)
				index[c.Name] = i
				m.Work = append(m.Work, warmup.Work{Class: c.Name, Count: make([]int64, len(m.Run)), Sum: make([]float64, len(m.Run))})
			}
			for k := range from.Count {
				m.Work[i].Count[k] += from.Count[k]
				m.Work[i].Sum[k] += from.Sum[k]
			}
		}
	}
}
