package scaling

import (
	"fmt"
	"path"
	"strings"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/gc"
	"stackagent/granularity/speedup"
	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Options of an account.
type Options struct {
	Threads int    // that the run was meant to use; 0: count them
	Region  Region // of the session
	// Workers is a glob over names of threads ("pool-1-*"): the application
	// threads; "": those of all pools that did work.
	Workers string
	// Parts are moments between which Run.Parts has accounts.
	Parts []units.MonoNs
}

// Run is the account of a session.
type Run struct {
	speedup.Account
	Parts   []speedup.Account // between Options.Parts
	Counted bool              // the number of threads was not given but counted
	Work    gc.Work           // of the collector and of the application, in the region
	Busy    units.Ns          // some thread was running
	// Counters are of the whole run; empty if the region is a part of it.
	Counters Counters
	// Notes limit the figures, one sentence each.
	Notes []string
}

// leastShare is the least share of the application threads' running time with which a
// pool counts as doing the program's work.
const leastShare = 0.01

// Reckon computes the account of a session.
func Reckon(s *session.Session, o Options) (*Run, error) {
	a, err := s.Activity()
	if err != nil {
		return nil, err
	}
	spans, err := o.Region.spans(s, activity.Span{From: a.From, To: a.To})
	if err != nil {
		return nil, err
	}
	tasks, err := readTasks(s, a, spans)
	if err != nil {
		return nil, err
	}
	stream, lives := a.Stream(spans[0].From, spans[len(spans)-1].To), tasks.lives()
	futexes, switches := gc.NewFutexes(a.Threads, spans, s.Spans()), newSwitches(len(a.Threads), spans)
	graphs, err := bottle.Compute(a.Threads, switches.watch(futexes.Watch(lives.watch(stream))), spans...)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	r := &Run{Work: workOf(s, a, graphs)}
	futexes.Fill(&r.Work)
	r.sumUp(graphs)
	if r.Counters, err = countersOf(s, a, o.Region, switches); err != nil {
		return nil, err
	}
	if misses, ok := r.Counters.By[AllThreads][hpc.LLCMisses.String()]; ok {
		r.Work.LLCMisses, r.Work.HasLLC = misses.Value, true
	}
	in := speedup.Input{Threads: a.Threads, Stream: stream, Pauses: s.Spans(), N: max(o.Threads, 1), Lives: lives.spans()}
	if in.Workers, err = workers(a.Threads, graphs, o.Workers); err != nil {
		return nil, err
	}
	in.Drivers = tasks.drivers(in.Workers, runningTimes(a.Threads, graphs), o.Workers != "")
	shared := tasks.shared(in.Workers, in.Drivers)
	if o.Workers == "" {
		tasks.giveSlots(in.Workers, in.Drivers, shared)
	}
	shifts := tasks.shifts(in.Drivers, shared)
	for i, span := range spans {
		done := tasks.done(i)
		for p, driver := range in.Drivers {
			if driver {
				done[p] = 0 // its shifts say it
			}
		}
		seg := speedup.Segment{Span: span, Done: done, Shifts: shifts[i]}
		lives.endWaits(&in, &seg)
		in.Region = append(in.Region, seg)
	}
	if r.Account, r.Parts, err = speedup.Reckon(in, o.Parts...); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if o.Threads == 0 {
		// The count is known only now, so assign the slots again.
		r.Counted = true
		in.N = max(r.Slots, 1)
		if r.Account, r.Parts, err = speedup.Reckon(in, o.Parts...); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
		}
	}
	r.Unseparated = tasks.endsUnknown
	r.note(a, o.Workers)
	r.noteEnds(tasks)
	return r, nil
}

func (r *Run) sumUp(graphs []*bottle.Graph) {
	for _, g := range graphs {
		r.Busy += g.BusyNs
	}
}

// workers chooses the application threads.
func workers(threads []activity.Thread, graphs []*bottle.Graph, glob string) ([]bool, error) {
	out := make([]bool, len(threads))
	if glob != "" {
		for i, t := range threads {
			ok, err := path.Match(glob, t.Name)
			if err != nil {
				return nil, fmt.Errorf("threads %q: %w", glob, err)
			}
			out[i] = ok
		}
		return out, nil
	}
	total, ran := units.Ns(0), map[string]units.Ns{}
	for _, g := range graphs {
		for _, b := range g.Boxes {
			if b.Kind == activity.KindApplication {
				ran[b.Pool] += b.RunningNs
				total += b.RunningNs
			}
		}
	}
	for i, t := range threads {
		out[i] = t.Kind == activity.KindApplication && ran[t.Pool] > 0 && float64(ran[t.Pool]) >= leastShare*float64(total)
	}
	return out, nil
}

// runningTimes are the running times of the threads in the region.
func runningTimes(threads []activity.Thread, graphs []*bottle.Graph) []units.Ns {
	byName := map[string]units.Ns{}
	for _, g := range graphs {
		for _, b := range g.Boxes {
			byName[b.Name] += b.RunningNs
		}
	}
	out := make([]units.Ns, len(threads))
	for i, t := range threads {
		out[i] = byName[t.Name]
	}
	return out
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// noteEnds says what is not known of the ends of summarised tasks.
func (r *Run) noteEnds(t *tasks) {
	if t.endsUnknown {
		r.Notes = append(r.Notes, "synchronization and imbalance are not available: the session's agent did not record when each thread ended its last summarised task; record again")
	} else if t.endsLate {
		r.Notes = append(r.Notes, "imbalance is a lower bound: when a thread ended its last summarised task before the end of the region is not known; record with --detail=all")
	}
}

// note adds the notes; names are those that the workers should have.
func (r *Run) note(a *session.Activity, names string) {
	say := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case r.Workers == 0 && names != "":
		say("no application thread at work in the region has a name that matches %s", text.OneLine(names))
	case r.Workers == 0:
		say("no application thread beside the main thread was at work in the region")
	}
	if !r.Counted && r.MostAlive > r.N {
		say("%s lived at once where %s asked for: what they wait is counted, and taken back as surplus threads in the rest", text.PluralExact(r.MostAlive, "application thread", "application threads"), were(r.N))
	}
	if !r.Counted && r.MostAlive < r.N && r.Workers > 0 {
		say("of %d threads asked for at most %d lived at once: the others' time is in the rest, as threads that had not begun", r.N, r.MostAlive)
	}
	for _, d := range a.Damage() {
		say("%s: what the threads did then is unknown, in the rest", strings.ReplaceAll(d.Error(), "\n", "; "))
	}
	if a.Lost > 0 {
		say("%s of switches lost: some of the threads' time is unknown, in the rest", text.PluralExact(a.Lost, "record", "records"))
	}
	if blocked := r.InState[activity.Blocked]; float64(blocked) > 0.01*float64(r.Parallel) {
		say("for %s of the threads' waiting the source (%s) cannot say why: this time is in the rest, not in synchronization or I/O",
			units.FormatNs(blocked), a.Source)
	}
}
