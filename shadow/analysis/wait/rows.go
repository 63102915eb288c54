package wait

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Row is what was waited for, and how long.
type Row struct {
	What
	Site     string // the program's nearest frame; "": not known
	Waits    int64
	Summed   int64 // of Waits, not recorded one by one
	SummedNs units.Ns
	WaitedNs units.Ns
	MaxNs    units.Ns
	Timed    int64 // of those recorded one by one: with a time limit
	Pinned   int64 // by virtual threads that kept their carriers
	Open     int64 // not ended when the session did
	// Wakers are the classes of the units, or the pools, whose threads ended the waits; Holders those whose threads owned
	// the lock when they began.
	Wakers, Holders Shares
}

func (r *Row) add(waits int64, waited, most units.Ns) {
	r.Waits += waits
	r.WaitedNs += waited
	r.MaxNs = max(r.MaxNs, most)
}

// Share is a part of a time.
type Share struct {
	Name     string   `json:"name"`
	Waits    int64    `json:"waits"`
	WaitedNs units.Ns `json:"waited_ns"`
}

// Shares are parts by name.
type Shares map[string]*Share

func (s *Shares) add(name string, d units.Ns) {
	if name == "" {
		return
	}
	if *s == nil {
		*s = Shares{}
	}
	x := (*s)[name]
	if x == nil {
		x = &Share{Name: name}
		(*s)[name] = x
	}
	x.Waits++
	x.WaitedNs += d
}

// List is in the order of time, longest first.
func (s Shares) List() []*Share {
	return slices.SortedFunc(maps.Values(s), func(a, b *Share) int {
		return cmp.Or(cmp.Compare(b.WaitedNs, a.WaitedNs), cmp.Compare(a.Name, b.Name))
	})
}

type rowKey struct {
	what   uint32
	site   uint32
	carry  bool // the part of waits in which virtual threads waited for carriers
	pauses bool
}

// Rows are what was waited for, longest first; bySite divides them by where, too. What workers waited for that had
// nothing to do comes last.
func (a *Analysis) Rows(bySite bool) []*Row {
	rows := map[rowKey]*Row{}
	row := func(k rowKey, w What) *Row {
		r := rows[k]
		if r == nil {
			r = &Row{What: w}
			rows[k] = r
		}
		return r
	}
	for i := range a.waits {
		w := &a.waits[i]
		k := rowKey{what: w.What}
		if bySite {
			k.site = w.Site
		}
		a.addWait(row(k, a.whats[w.What]), w)
		if w.Ready < w.To {
			d := units.Ns(w.To - w.Ready)
			row(rowKey{carry: true}, What{For: ForCarrier, Class: "carrier of virtual threads"}).add(1, d, d)
		}
	}
	for k, s := range a.sums {
		r := row(rowKey{what: k.what}, a.whats[k.what])
		r.add(s.waits, s.waited, s.most)
		r.Summed, r.SummedNs = r.Summed+s.waits, r.SummedNs+s.waited
	}
	for what, r := range a.record {
		x := row(rowKey{what: what}, r.What)
		x.add(r.Waits, r.WaitedNs, r.MaxNs)
		x.Wakers = r.Wakers
	}
	for _, p := range a.pauses {
		row(rowKey{pauses: true}, What{For: ForGC, Class: "pause"}).add(1, p.Len(), p.Len())
	}
	a.label(rows)
	return merged(rows)
}

// label says where waits were. Those for monitors of one class in one method are where the first line says: of compiled code the JVM may
// name the line after the one of the synchronized block.
func (a *Analysis) label(rows map[rowKey]*Row) {
	type method struct{ class, name string }
	first := map[What]map[method]*session.Site{}
	for k, r := range rows {
		s := a.s.SiteByID(k.site)
		if s == nil || r.Kind != kindMonitor {
			continue
		}
		if first[r.What] == nil {
			first[r.What] = map[method]*session.Site{}
		}
		m := method{s.Class, s.Method}
		if old := first[r.What][m]; old == nil || s.Line < old.Line {
			first[r.What][m] = s
		}
	}
	for k, r := range rows {
		s := a.s.SiteByID(k.site)
		if s == nil {
			continue
		}
		r.Site = s.Label()
		if f := first[r.What][method{s.Class, s.Method}]; f != nil {
			r.Site = f.Label()
		}
	}
}

// merged are the rows in order; those that a reader cannot distinguish are one.
func merged(rows map[rowKey]*Row) []*Row {
	type shown struct {
		What
		site string
	}
	byName := map[shown]*Row{}
	for _, r := range rows {
		k := shown{r.What, r.Site}
		if x := byName[k]; x != nil {
			x.merge(r)
			continue
		}
		byName[k] = r
	}
	return slices.SortedFunc(maps.Values(byName), func(x, y *Row) int {
		return cmp.Or(queueLast(x, y), cmp.Compare(y.WaitedNs, x.WaitedNs), cmp.Compare(x.For, y.For), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Blocker, y.Blocker),
			cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Lock, y.Lock), cmp.Compare(x.Site, y.Site))
	})
}

func queueLast(x, y *Row) int {
	switch a, b := x.For == ForQueue, y.For == ForQueue; {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (r *Row) merge(o *Row) {
	r.add(o.Waits, o.WaitedNs, o.MaxNs)
	r.Summed, r.Timed, r.Pinned, r.Open = r.Summed+o.Summed, r.Timed+o.Timed, r.Pinned+o.Pinned, r.Open+o.Open
	r.SummedNs += o.SummedNs
	for _, of := range []struct {
		to   *Shares
		from Shares
	}{{&r.Wakers, o.Wakers}, {&r.Holders, o.Holders}} {
		for name, s := range of.from {
			of.to.add(name, s.WaitedNs)
			(*of.to)[name].Waits += s.Waits - 1
		}
	}
}

func (a *Analysis) addWait(r *Row, w *waiting.Wait) {
	d := units.Ns(w.Ready - w.From)
	r.add(1, d, d)
	r.Timed += flag(w, timed)
	r.Pinned += flag(w, pinned)
	r.Open += flag(w, open)
	if w.Waker != 0 {
		r.Wakers.add(a.doing(w.Waker, w.From, w.Ready), d)
	}
	switch {
	case w.Holder != 0:
		r.Holders.add(a.doing(w.Holder, w.From, w.From), d)
	case w.Waker != 0 && r.Kind == kindMonitor: // only its owner can leave a monitor
		r.Holders.add(a.doing(w.Waker, w.From, w.Ready), d)
	}
}

func flag(w *waiting.Wait, bit uint8) int64 {
	if w.Flags&bit != 0 {
		return 1
	}
	return 0
}

// lookBack is how many units before a moment are looked at.
const lookBack = 16

// doing names what a thread did at the moment to: its unit, see unitOf, else its pool.
func (a *Analysis) doing(thread uint32, from, to units.MonoNs) string {
	if class := a.unitOf(thread, from, to); class != "" {
		return class
	}
	t := a.s.ThreadByID(thread)
	switch {
	case t == nil:
		return ""
	case t.Virtual:
		return "virtual thread"
	}
	return t.Pool()
}

// unitOf is the class of the unit in which a thread was at the moment to, or which it ended after from; "": none.
func (a *Analysis) unitOf(thread uint32, from, to units.MonoNs) string {
	work := a.begun(thread, to)
	for k := len(work) - 1; k >= max(0, len(work)-lookBack); k-- {
		if work[k].To > from {
			return a.classes[work[k].Class]
		}
	}
	return ""
}

// Summed are the waits of rows that were not recorded one by one.
func Summed(rows []*Row) (waits int64, waited units.Ns) {
	for _, r := range rows {
		waits += r.Summed
		waited += r.SummedNs
	}
	return waits, waited
}

// Idle is how long workers waited for work.
type Idle struct {
	Waits    int64
	WaitedNs units.Ns
}

// IdleOf sums up the rows of workers without work.
func IdleOf(rows []*Row) (i Idle) {
	for _, r := range rows {
		if r.For == ForQueue {
			i.Waits += r.Waits
			i.WaitedNs += r.WaitedNs
		}
	}
	return i
}
