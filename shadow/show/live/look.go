package live

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Live findings are the obstacles of the account of time of the last lookSpan that is stored of a session. They cost what a look does: one JVM
// at a time is looked at, each at most every lookEvery, and between two looks lookRest times as long as the one before took passes. Nothing waits
// for it: what is stored is read as any other reader does.
const (
	lookEvery  = 10 * time.Second
	lookRest   = 9
	lookSpan   = units.Ns(30 * second)
	storedLate = 30 * second // after it happened, mostly
	lookBack   = 512         // batches before, in which units may have been submitted
	mostLooked = 200_000     // executions: of more, a shorter time is looked at
	mostRead   = 10 * mostLooked
)

// look is what the account of a session says of its last part.
type look struct {
	from, to units.Ns // of the session
	findings []advice.Finding
	bound    string // what most of the time depends on; "": not known
	why      string // why nothing is known of what units wait for; "": it is
}

// lookAt makes the account of the last lookSpan of the session in dir, of which the batches from the given one on brought the events.
func lookAt(dir string, from uint64) (*look, error) {
	s, err := session.OpenRange(dir, session.Batches{Range: store.Range{From: from, To: store.MaxSeq}, LookBack: lookBack, Loose: true}, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	m := &s.Manifest
	summed := m.Summarised.Executions
	recorded, span := m.Stored.Executions-summed, min(lookSpan, m.DurationNs)
	if recorded > mostLooked {
		span = units.Ns(float64(span) * mostLooked / float64(recorded))
	}
	x := &look{from: m.DurationNs - span, to: m.DurationNs}
	if recorded > mostRead {
		x.why = fmt.Sprintf("%s were recorded lately, too many to look at", text.Plural(recorded, "execution", "executions"))
		return x, nil
	}
	g, err := graph.Of(s, m.StartNs+units.MonoNs(x.from), m.StartNs+units.MonoNs(x.to))
	if err != nil {
		return nil, err
	}
	a := account.Of(g)
	known := map[string]bool{} // classes of which most units are recorded
	for i := range a.Classes {
		c := &a.Classes[i]
		known[c.Name] = !c.Body && g.SummarisedOf(c.Name) <= uint64(c.Units)
	}
	if !slices.Contains(slices.Collect(maps.Values(known)), true) {
		x.why = fmt.Sprintf("no unit of work ended in the last %s that are stored", units.FormatNs(span))
		if summed > 0 {
			x.why = "the agent only sums up the tasks that ran lately; with the option detail=all it records each"
		}
		return x, nil
	}
	a.OfPart(x.from, x.to)
	x.findings = slices.DeleteFunc(advice.OfAccount(a, span), func(f advice.Finding) bool { return g.SummarisedOf(f.Class) > 0 && !known[f.Class] })
	for i := range x.findings {
		x.findings[i].Evidence = nil
	}
	if a.Bound.Class != "" {
		x.bound = a.Bound.Text()
	}
	return x, nil
}

// Run looks for findings until ctx ends.
func (l *Live) Run(ctx context.Context) {
	tick := timers.NewTicker(time.Second)
	defer tick.Stop()
	var free time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if begin := time.Now(); begin.After(free) && l.Look() {
				free = time.Now().Add(lookRest * time.Since(begin))
			}
		}
	}
}

// Look looks for findings of the JVM that was not looked at for longest. It reports whether one was due.
func (l *Live) Look() bool {
	j, now := l.due(), l.o.Now()
	if j == nil {
		return false
	}
	defer l.survive(j.folder)
	j.mu.Lock()
	j.findings.at = now
	from := j.batchOf(j.now - int64(lookSpan) - storedLate)
	j.mu.Unlock()
	x, err := l.look(filepath.Join(l.o.Root, j.folder), from)
	if err != nil {
		x = &look{why: text.OneLine(err.Error())}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.findings.update(x)
	return true
}

// due is the JVM that was not looked at for longest; nil: none is due.
func (l *Live) due() (next *jvm) {
	before := l.o.Now().Add(-lookEvery)
	for _, j := range l.all() {
		j.mu.Lock()
		at := j.findings.at
		if l.o.Root != "" && j.ended.Load() == 0 && j.seq != 0 && !at.After(before) && (next == nil || at.Before(before)) {
			next, before = j, at
		}
		j.mu.Unlock()
	}
	return next
}

// batchOf is the first batch that came in the second of a moment, or later.
func (j *jvm) batchOf(at int64) uint64 {
	for s := max(0, at/second); s <= j.head; s++ {
		if b := j.at(s); b != nil && b.seq != 0 {
			return b.seq
		}
	}
	return j.seq
}
