package wait

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/waiting"
	"stackagent/hpc/sched"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Analysis is what the threads of a session waited for.
type Analysis struct {
	*tables
	// NotAvailable is what the session does not have -> why.
	NotAvailable map[string]string
	Damage       []error // of the scheduling record

	byClass map[uint32]*Unit
	threads map[uint32]*Thread
	virtual *Thread                   // all of them; nil: none
	outside map[uint32]*waiting.Times // waits inside of no recorded unit, by class
	record  map[uint32]*Row           // waits that only the scheduling record has, by What
	pauses  []activity.Span
	seesAll bool     // the agent sees all waits but those in system calls
	limit   units.Ns // it sums up shorter ones

	ends     []virtualEnd
	endsRead bool

	systemCall string // what waits for I/O are for that the agent does not see
}

// Keys of Analysis.NotAvailable.
const (
	NoWaits  = "waits" // in the manifest, too, also as "waits: KIND"
	NoRecord = "scheduling record"
	NoOpen   = "waits that had not ended"
)

// Analyse reads a session.
func Analyse(s *session.Session) (*Analysis, error) { return analyse(s, false, granularity.Grid{}) }

// AnalyseSingles reads a session for Singles, too, which needs more memory.
func AnalyseSingles(s *session.Session) (*Analysis, error) {
	return analyse(s, true, granularity.Grid{})
}

func analyse(s *session.Session, singles bool, over granularity.Grid) (*Analysis, error) {
	t, err := readTables(s, true, singles, over)
	if err != nil {
		return nil, err
	}
	a := &Analysis{tables: t, NotAvailable: map[string]string{}, byClass: map[uint32]*Unit{}, threads: map[uint32]*Thread{},
		outside: map[uint32]*waiting.Times{}, record: map[uint32]*Row{}, pauses: s.Stopped().Spans}
	for what, why := range s.Manifest.NotAvailable {
		if what == NoWaits || strings.HasPrefix(what, NoWaits+": ") {
			a.NotAvailable[what] = why
		}
	}
	if len(t.waits) == 0 && len(t.sums) == 0 && s.Manifest.Waits == nil && a.NotAvailable[NoWaits] == "" {
		a.NotAvailable[NoWaits] = "the session has none: it was recorded with wait=off, or by an older agent"
	}
	if a.NotAvailable[NoWaits] == "" && s.Manifest.Ended != store.EndedExit { // the agent records open waits last
		a.NotAvailable[NoOpen] = "the session has no end. What threads waited for then is not known; shadow threads shows which waited in a futex or for I/O"
	}
	if n := t.moreWaits; n > 0 {
		a.NotAvailable["sites and wakers"] = text.PluralExact(n, "wait", "waits") + " beyond the first " + units.FormatExact(maxWaits) + " are only in the sums"
	}
	a.sees()
	if err := a.followRecord(); err != nil {
		return nil, err
	}
	a.followOthers()
	a.addSums()
	return a, nil
}

// line begins the time of a thread.
func (a *Analysis) line(id uint32, life activity.Span) *waiting.Line {
	waits, work := a.of(id)
	return waiting.NewLine(life.From, a.pauses, waits, work, waiting.Use{
		Unit: func(u *waiting.Unit, t *waiting.Times) {
			a.unit(u.Class).add(1, u.Queue, t)
			a.slots.add(u.Class, u.To, t)
		},
		Waited: func(u *waiting.Unit, w *waiting.Wait, part waiting.Part, d units.Ns) {
			switch {
			case u != nil: // a pause inside the wait, too: so it is as long as the program measures
				a.unit(u.Class).forWhat(w.What, d)
			case u == nil && w.Within != 0 && part != waiting.CPU:
				class := a.inside(w.Within)
				if a.outside[class] == nil {
					a.outside[class] = new(waiting.Times)
				}
				a.outside[class][part] += d
			}
		},
	})
}

func (a *Analysis) unit(class uint32) *Unit {
	u := a.byClass[class]
	if u == nil {
		u = &Unit{Class: a.classes[class]}
		a.byClass[class] = u
	}
	return u
}

// life is the time of a thread within the session.
func (a *Analysis) life(t *session.Thread) activity.Span {
	m := &a.s.Manifest
	life := activity.Span{From: max(t.StartNs, m.StartNs), To: m.EndNs}
	if t.EndNs != 0 {
		life.To = min(t.EndNs, m.EndNs)
	}
	life.To = max(life.To, life.From)
	return life
}

// followed is a thread of the scheduling record.
type followed struct {
	line    *waiting.Line // nil: not of the program
	life    activity.Span
	id      uint32
	carrier bool
	last    activity.Slice
}

// followRecord divides the time of the threads that are in the scheduling record.
func (a *Analysis) followRecord() error {
	record, err := a.s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		a.NotAvailable[NoRecord] = "where a thread ran, and waited for a CPU, is not known: record with shadow run --switches=auto"
		return nil
	}
	if err != nil {
		return err
	}
	if why := record.NotAvailable[sched.NoWakers]; why != "" {
		a.NotAvailable["who ended a wait for a monitor"] = why
	}
	if record.Lost > 0 {
		a.NotAvailable["part of the scheduling record"] = text.PluralExact(record.Lost, "record was lost", "records were lost")
	}
	all := a.followed(record)
	err = record.Stream(record.From, record.To)(func(s activity.Slice) error {
		f := &all[s.Thread]
		if f.line == nil {
			return nil
		}
		cut := activity.Span{From: s.From, To: s.To}.Cut(f.life)
		s.From, s.To = cut.From, cut.To
		if cut.Len() == 0 {
			return nil
		}
		if s.InFutex && (s.State == activity.Sleeping || s.State == activity.IO) {
			// Object.wait and parks have time limits, too: only the agent knows which wait is a sleep.
			s.State = activity.Futex
		}
		if f.carrier && s.InFutex && a.pinned.In(cut.From, cut.To) == 0 {
			f.line.AddIdle(s)
		} else {
			f.line.Add(s)
		}
		a.slice(f, &s, all)
		return nil
	})
	if err == nil {
		err = a.stalls(record)
	}
	a.Damage = record.Damage()
	for i := range all {
		if f := &all[i]; f.line != nil {
			a.close(f.id, f.line, f.life)
		}
	}
	return err
}

// followed are the threads of the record, with lines for the program's.
func (a *Analysis) followed(record *session.Activity) []followed {
	all := make([]followed, len(record.Threads))
	for id, i := range record.Index {
		t := a.s.ThreadByID(id)
		all[i] = followed{id: id, life: a.life(t), carrier: t.Role() == "carrier"}
		if ofProgram(t) {
			all[i].line = a.line(id, all[i].life)
		}
	}
	return all
}

// slice looks at a slice that its line has taken: at who ended it, and at waits that the agent has not seen.
func (a *Analysis) slice(f *followed, s *activity.Slice, all []followed) {
	if s.State < activity.Futex {
		return
	}
	w := f.line.Wait()
	if w != nil && w.From < s.To && w.To > s.From {
		if s.By != 0 && (w.Waker == 0 || w.Flags&byRecord != 0) && a.endedByThread(w) {
			w.Waker, w.Flags = all[s.By-1].id, w.Flags|byRecord
		}
		if s.By != 0 && a.singles && w.Waker == all[s.By-1].id {
			a.details[w.Index].woken = min(s.To, w.To)
		}
		return
	}
	what, ok := a.byState(s.State, units.Ns(s.To-s.From))
	if !ok || f.carrier {
		return
	}
	r := a.record[what]
	if r == nil {
		r = &Row{What: a.whats[what]}
		a.record[what] = r
	}
	if f.last.State == s.State && f.last.To == s.From { // beyond a part of the record
		r.WaitedNs += units.Ns(s.To - s.From)
		f.last.To = s.To
		r.MaxNs = max(r.MaxNs, units.Ns(s.To-f.last.From))
		return
	}
	f.last = *s
	r.add(1, units.Ns(s.To-s.From), units.Ns(s.To-s.From))
	if s.By != 0 && s.State == activity.Futex {
		r.Wakers.add(a.doing(all[s.By-1].id, s.From, s.To), units.Ns(s.To-s.From))
	}
}

// endedByThread reports whether the thread that was on the CPU when a wait ended has ended it, if it was in a system call. An interrupt may have stopped
// it there: a time that is over ends a sleep, a packet a wait for I/O. Who interrupts a sleep the agent records, and who unparks a thread.
func (a *Analysis) endedByThread(w *waiting.Wait) bool {
	kind := a.whats[w.What].Kind
	return kind != kindSleep && kind != kindIO && !a.timedOut(w)
}

// timedOut reports whether a time limit ended the wait.
func (a *Analysis) timedOut(w *waiting.Wait) bool {
	switch kind := a.whats[w.What].Kind; {
	case w.Flags&open != 0:
		return false
	case kind == kindNotify:
		return w.Flags&timeOver != 0
	}
	return a.whats[w.What].Kind == kindPark && w.Flags&timed != 0 && w.Waker == 0
}

// byState is what a wait was for of which only the scheduling record knows; false: the agent knows of it, too, or it is
// none.
func (a *Analysis) byState(state activity.ThreadState, len units.Ns) (uint32, bool) {
	w := What{Kind: state.String()}
	switch state {
	case activity.IO:
		w.For, w.Class = ForIO, a.systemCall
	case activity.Sleeping:
		w.For, w.Class = ForSleep, "system call"
	case activity.Futex, activity.Unended, activity.Blocked:
		w.For, w.Class = ForOther, state.String()
	default:
		return 0, false
	}
	if w.For != ForIO && (a.seesAll || len < a.limit) {
		return 0, false // in the agent's sums
	}
	return a.what(w), true
}

// sees finds which waits the agent records.
func (a *Analysis) sees() {
	m := a.s.Manifest.Waits
	a.systemCall = "system call"
	if m == nil || a.NotAvailable[NoWaits] != "" {
		return
	}
	a.limit, a.seesAll = m.LimitNs, true
	for _, kind := range []string{kindMonitor, kindNotify, kindPark, kindSleep} {
		a.seesAll = a.seesAll && slices.Contains(m.Sources, kind)
	}
	if slices.Contains(m.Sources, kindIO) {
		a.systemCall = "selector, or another system call"
	}
}

// followOthers divides the time of threads that are not in the record: without one, of all; else of virtual threads.
func (a *Analysis) followOthers() {
	for i := range a.s.Threads {
		t := &a.s.Threads[i]
		if t.ID != 0 && !t.Virtual && a.threads[t.ID] == nil && ofProgram(t) {
			life := a.life(t)
			a.close(t.ID, a.line(t.ID, life), life)
		}
	}
	for id := range a.spans {
		if a.threads[id] != nil || !a.ofProgram(id) {
			continue
		}
		waits, work := a.of(id)
		life := activity.Span{From: math.MaxInt64}
		for i := range waits {
			life.From, life.To = min(life.From, waits[i].From), max(life.To, waits[i].To)
		}
		for i := range work {
			life.From, life.To = min(life.From, work[i].From), max(life.To, work[i].To)
		}
		if t := a.s.ThreadByID(id); t != nil && t.StartNs != 0 && t.EndNs >= t.StartNs {
			life = activity.Span{From: min(life.From, t.StartNs), To: max(life.To, t.EndNs)}
		}
		a.close(id, a.line(id, life), life)
	}
}

// close ends the time of a thread and makes its row.
func (a *Analysis) close(id uint32, l *waiting.Line, life activity.Span) {
	l.Close(life.To)
	times := l.Times()
	t := a.s.ThreadByID(id)
	waits, work := a.of(id)
	switch {
	case t != nil && t.CPU.Measured():
		times.Ran(t.CPU)
	case t == nil || t.Virtual:
		times.Ran(cpuOf(work))
	}
	row := &Thread{Threads: 1, Times: times}
	switch {
	case t == nil || t.Virtual:
		row = a.ofVirtual()
		row.Threads++
		row.Times.Add(&times)
	default:
		row.Name, row.Kind = t.Label(), t.Kind
	}
	a.threads[id] = row
	for i := range waits {
		row.forWhat(waits[i].What, units.Ns(waits[i].To-waits[i].From))
	}
}

// ofVirtual is the row of all virtual threads.
func (a *Analysis) ofVirtual() *Thread {
	if a.virtual == nil {
		a.virtual = &Thread{Name: "virtual threads"}
	}
	return a.virtual
}

// cpuOf is the CPU time of units, those inside others left out.
func cpuOf(work []waiting.Unit) (cpu units.Ns) {
	end := units.MonoNs(math.MinInt64)
	for i := range work {
		if u := &work[i]; u.From >= end {
			cpu += max(u.CPU, 0)
			end = u.To
		}
	}
	return cpu
}

// addSums adds waits that have no record of their own to the times of their threads and classes, as far as nothing better
// is known of that time.
func (a *Analysis) addSums() {
	keys := make([]sumKey, 0, len(a.sums))
	for k := range a.sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y sumKey) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.what, y.what), cmp.Compare(x.within, y.within), cmp.Compare(x.part, y.part))
	})
	for class, u := range a.totals {
		a.unit(class).merge(u)
	}
	before := map[uint32]waiting.Times{}
	for class, u := range a.byClass {
		before[class] = u.Times
	}
	for class, times := range a.outside {
		if u := a.byClass[class]; u != nil {
			for part, n := range times {
				u.Times.Know(waiting.Part(part), n, waiting.Unnamed, waiting.Unknown)
			}
		}
	}
	for _, k := range keys {
		s := a.sums[k]
		t := a.threads[k.thread]
		if k.thread == 0 {
			t = a.ofVirtual()
		}
		if t != nil {
			known := t.Times.Know(k.part, s.waited, waiting.Unnamed, waiting.Unknown)
			if k.thread == 0 { // of most of them nothing else is known
				t.Times[k.part] += s.waited - known
			}
			t.forWhat(k.what, s.waited)
		}
		if k.within == 0 {
			continue
		}
		if u := a.byClass[a.inside(k.within)]; u != nil {
			u.forWhat(k.what, u.Times.Know(k.part, s.waited, waiting.Unnamed, waiting.Unknown))
		}
	}
	for class, times := range before {
		a.slots.know(class, &times, &a.byClass[class].Times)
	}
}
