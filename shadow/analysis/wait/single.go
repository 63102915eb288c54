package wait

import (
	"cmp"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// Single is one wait that was recorded by itself.
type Single struct {
	What
	StartNs          units.MonoNs
	WaitedNs         units.Ns
	CarrierNs        units.Ns // of a virtual thread: how long it then waited for a carrier
	Object, LockHash uint32   // identity hashes: of the object; of the lock, if that is a condition; 0: not known
	Site             string   // the program's nearest frame; "": not known

	By     Doing // who waited
	Waker  Doing // who ended it
	Holder Doing // who owned the lock when it began; of a monitor, who left it at last

	Timed, TimedOut, Pinned, Open bool
}

// detail is what only the list of single waits shows.
type detail struct {
	wakerTask    uint64
	woken        units.MonoNs // when the waker ended it; 0: not known
	object, lock uint32
	wakerClass   uint32
}

func detailOf(r *store.Wait, w *waiting.Wait) detail {
	d := detail{wakerTask: r.WakerTask, object: r.Object, lock: r.Lock, wakerClass: r.WakerClass}
	if r.ReadyNs != nil && r.ReadyNs.Measured() {
		d.woken = w.Ready
	}
	return d
}

// atOnce is how many waits are looked at together. Each time the executions are read.
const atOnce = 1 << 18

// Singles calls f with the waits that were recorded by themselves, longest first; those of workers without work come
// last, or not at all. It stops after most, if that is not 0. total is how many there are.
func (a *Analysis) Singles(most int, idle bool, f func(*Single) error) (total int, err error) {
	order := make([]uint32, 0, len(a.waits))
	for i := range a.waits {
		if idle || !a.isIdle(&a.waits[i]) {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(x, y uint32) int { return a.longest(&a.waits[x], &a.waits[y]) })
	total = len(order)
	if most > 0 {
		order = order[:min(most, total)]
	}
	if err := a.readEnds(); err != nil {
		return total, err
	}
	sites := a.sitesOf(order)
	for chunk := range slices.Chunk(order, atOnce) {
		rows, err := a.singlesOf(chunk, sites)
		if err != nil {
			return total, err
		}
		for i := range rows {
			if err := f(&rows[i]); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

func (a *Analysis) isIdle(w *waiting.Wait) bool { return a.whats[w.What].For == ForQueue }

func (a *Analysis) longest(x, y *waiting.Wait) int {
	if p, q := a.isIdle(x), a.isIdle(y); p != q {
		return pick(p, 1, -1)
	}
	return cmp.Or(cmp.Compare(y.Ready-y.From, x.Ready-x.From), cmp.Compare(x.From, y.From), cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Index, y.Index))
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// sitesOf labels the places of waits, as Rows does.
func (a *Analysis) sitesOf(order []uint32) map[rowKey]*Row {
	rows := map[rowKey]*Row{}
	for _, i := range order {
		w := &a.waits[i]
		k := rowKey{what: w.What, site: w.Site}
		if rows[k] == nil {
			rows[k] = &Row{What: a.whats[w.What]}
		}
	}
	a.label(rows)
	return rows
}

func (a *Analysis) singlesOf(order []uint32, sites map[rowKey]*Row) ([]Single, error) {
	rows := make([]Single, len(order))
	asks := asks{Analysis: a, list: make([]ask, 0, 3*len(order))}
	for k, i := range order {
		w := &a.waits[i]
		d, r := &a.details[w.Index], &rows[k]
		*r = Single{What: a.whats[w.What], StartNs: w.From, WaitedNs: units.Ns(w.Ready - w.From), CarrierNs: units.Ns(w.To - w.Ready), Object: d.object, LockHash: d.lock,
			Site: sites[rowKey{what: w.What, site: w.Site}].Site, Timed: w.Flags&timed != 0, TimedOut: a.timedOut(w), Pinned: w.Flags&pinned != 0, Open: w.Flags&open != 0}
		asks.waiter(w, &r.By)
		asks.waker(w, d, &r.Waker)
		if w.Holder != 0 {
			asks.at(w.Holder, w.From, &r.Holder)
		}
	}
	if err := asks.answer(); err != nil {
		return nil, err
	}
	for i := range rows { // only its owner can leave a monitor
		if r := &rows[i]; r.Kind == kindMonitor && r.Holder.Thread == 0 {
			r.Holder = r.Waker
		}
	}
	return rows, nil
}
