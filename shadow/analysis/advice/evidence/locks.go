package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/store"
)

// mostWaits is the most waits for locks of a session that are looked at: 48 bytes each.
const mostWaits = 2 << 20

// blocked is one wait of a thread for a lock.
type blocked struct {
	from, to units.MonoNs
	thread   uint32
	by       uint32 // the thread that had the lock when the wait began, or that ended it; 0: not known
	object   uint32
	class    uint32 // blockers.blocker
	permits  bool   // of a semaphore
}

const semaphores = "java.util.concurrent.Semaphore$"

// placed is an outermost unit of a pool on a thread.
type placed struct {
	from, to units.MonoNs
	of       *poolSum
	at       int // index into of.recorded.list
}

// lockWaits finds what the units of the pools waited for locks.
type lockWaits struct {
	a        *advisor
	blockers map[uint32]store.Blocker
	waits    []blocked
	units    map[uint32][]placed // by thread, in order
	users    map[uint32]map[uint32]bool
	groups   map[*poolSum]map[string]*lockSum // by name
}

// lockSum sums up the waits of a pool for locks of one class.
type lockSum struct {
	waited units.Ns
	any    cover
}

// locks sets what the pools' units waited for locks. Without the agent's record of waits it is nothing.
func (a *advisor) locks() {
	v := &lockWaits{a: a, units: map[uint32][]placed{}, users: map[uint32]map[uint32]bool{}, groups: map[*poolSum]map[string]*lockSum{}}
	if v.read() == nil && len(v.waits) > 0 {
		v.sum()
	}
}

// sum sets the locks of the pools.
func (v *lockWaits) sum() {
	v.place()
	for i := range v.waits {
		v.add(&v.waits[i])
	}
	for p, of := range v.groups {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			p.Locks = append(p.Locks, advice.Lock{Name: name, Waited: of[name].waited, Any: of[name].any.length()})
		}
		slices.SortStableFunc(p.Locks, func(x, y advice.Lock) int { return cmp.Compare(y.Waited, x.Waited) })
	}
}

func (v *lockWaits) read() error {
	n, err := wait.NamerOf(v.a.s)
	if err != nil {
		return err
	}
	v.blockers = n.Blockers
	err = v.a.s.Waits(func(r *store.Wait) {
		if len(v.waits) >= mostWaits {
			return
		}
		what, part := n.Of(r)
		if part != waiting.Lock {
			return
		}
		w := blocked{from: units.MonoNs(r.StartNs), to: units.MonoNs(r.EndNs), thread: r.Thread, by: cmp.Or(r.Holder, r.Waker), object: r.Object,
			class: r.Blocker, permits: r.Kind == "park" && strings.HasPrefix(what.Blocker, semaphores)}
		if w.object != 0 {
			users := v.users[w.object]
			if users == nil {
				users = map[uint32]bool{}
				v.users[w.object] = users
			}
			users[w.thread] = true
		}
		v.waits = append(v.waits, w)
	})
	slices.SortFunc(v.waits, func(x, y blocked) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.thread, y.thread)) })
	return err
}

// place finds the units by thread.
func (v *lockWaits) place() {
	for _, p := range v.a.pools {
		for i := range p.recorded.list {
			u := &p.recorded.list[i]
			v.units[u.Thread] = append(v.units[u.Thread], placed{u.Start, u.End, p, i})
		}
	}
	for _, list := range v.units {
		slices.SortFunc(list, func(x, y placed) int { return cmp.Compare(x.from, y.from) })
	}
}

// unitAt is the unit in which a thread is; nil: none.
func (v *lockWaits) unitAt(thread uint32, at units.MonoNs) *placed {
	list := v.units[thread]
	n, found := slices.BinarySearchFunc(list, at, func(u placed, t units.MonoNs) int { return cmp.Compare(u.from, t) })
	if !found {
		n--
	}
	if n < 0 || list[n].to <= at {
		return nil
	}
	return &list[n]
}

// add adds a wait for a lock in a unit. A semaphore keeps threads out only if those that wait for it also give its
// permits back; else it is a signal.
func (v *lockWaits) add(w *blocked) {
	u := v.unitAt(w.thread, w.from)
	if u == nil || w.permits && !v.users[w.object][w.by] {
		return
	}
	to := min(w.to, u.to)
	length := units.Ns(to - w.from)
	u.of.recorded.list[u.at].Locked += length
	of := v.groups[u.of]
	if of == nil {
		of = map[string]*lockSum{}
		v.groups[u.of] = of
	}
	name := strings.TrimSuffix(wait.Readable(v.blockers[w.class].Class), wait.Fair)
	sum := of[name]
	if sum == nil {
		sum = &lockSum{}
		of[name] = sum
	}
	sum.waited += length
	sum.any.add(w.from, to)
}
