package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/store"
)

// mostWaits is the most waits of a session that are looked at: 48 bytes each.
const mostWaits = 2 << 20

// blocked is one wait of a thread. It is for a lock if kind is not "".
type blocked struct {
	from, to     units.MonoNs
	thread       uint32
	by           uint32 // the thread that had the lock when the wait began, or that ended it; 0: not known
	later        bool   // it may have got the lock after the wait began
	object, site uint32
	class        uint32 // blockers.blocker
	kind         advice.LockKind
	handed       bool // it is for what another thread gives to it
	limit        bool // it had a time limit, and nobody ended it before
}

// lockKind says for what lock a thread waits; "": for none. A condition is no lock.
func lockKind(kind string, of store.Blocker, held bool) advice.LockKind {
	switch {
	case kind == "monitor":
		return advice.Monitor
	case kind != "park" || of.Lock != "" || strings.HasSuffix(of.Class, "$ConditionObject"):
		return ""
	case strings.HasPrefix(of.Class, "java.util.concurrent.locks.ReentrantReadWriteLock$"), of.Class == "java.util.concurrent.locks.StampedLock":
		return advice.ReadWrite
	case strings.HasPrefix(of.Class, "java.util.concurrent.Semaphore$"):
		return advice.Permits
	case strings.HasPrefix(of.Class, "java.util.concurrent.locks.ReentrantLock$"), held:
		return advice.Exclusive
	}
	return ""
}

// handedBy are prefixes of the classes by which threads give one another something.
var handedBy = []string{"java.util.concurrent.SynchronousQueue", "java.util.concurrent.LinkedTransferQueue", "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"}

// isFuture reports whether a thread that parks on an object of that class waits for a future.
func isFuture(class string) bool {
	return strings.HasPrefix(class, "java.util.concurrent.FutureTask") || strings.HasPrefix(class, "java.util.concurrent.CompletableFuture")
}

// lockName is the readable name of a lock's class.
func lockName(class string) string {
	rest, ok := strings.CutPrefix(class, "java.util.concurrent.")
	if !ok {
		return class
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest, "locks."), "$")
	return name
}

// placed is an outermost unit of a pool on a thread.
type placed struct {
	from, to units.MonoNs
	class    uint32
	of       *poolSum
	at       int // index into of.recorded.list
}

// lockWaits finds what the units of the pools waited for locks.
type lockWaits struct {
	a        *advisor
	blockers map[uint32]store.Blocker
	waits    map[uint32][]blocked // by thread, in order
	units    map[uint32][]placed  // by thread, in order
	users    map[uint32]map[uint32]bool
	groups   map[*poolSum]map[lockKey]*lockSum
	// steps is how many units and waits of holders are still looked at. Many threads may wait for one that has a lock for long
	// and does much meanwhile: who had it in the waits after the last step is not known.
	steps int
}

// stepsEach are the steps for a wait, and leastSteps those in any case.
const (
	stepsEach  = 64
	leastSteps = 1 << 20
)

// lockKey is what waits are summed up by.
type lockKey struct {
	kind   advice.LockKind
	name   string
	site   uint32
	method string // of a monitor in place of site: the JVM may name the line after the one of the synchronized block
}

// lockSum sums up the waits of a pool for locks of one class at one site.
type lockSum struct {
	advice.Lock
	any     cover
	line    int32 // of Site
	objects map[uint32]bool
	units   map[uint32]int64  // time waited, by class of the units
	holders map[uint32]int64  // the same by class of the units that had the lock
	instead map[instead]int64 // what these waited for meanwhile
}

// instead is what a thread that has a lock waits for in a unit.
type instead struct {
	unit uint32
	what string
	site uint32
}

// locks sets what the pools' units waited for locks. Without the agent's record of waits it is nothing.
func (a *advisor) locks() {
	v := &lockWaits{a: a, waits: map[uint32][]blocked{}, units: map[uint32][]placed{}, users: map[uint32]map[uint32]bool{}, groups: map[*poolSum]map[lockKey]*lockSum{}}
	if v.read() == nil && len(v.waits) > 0 {
		v.sum()
	}
}

// sum sets the locks of the pools.
func (v *lockWaits) sum() {
	v.place()
	v.steps = leastSteps
	for _, list := range v.waits {
		v.steps += stepsEach * len(list)
	}
	for _, thread := range slices.Sorted(maps.Keys(v.waits)) {
		for i := range v.waits[thread] {
			v.add(&v.waits[thread][i])
		}
	}
	for p, of := range v.groups {
		for _, sum := range of {
			to := &p.Locks
			if sum.Kind == advice.Handed {
				to = &p.Handed
			}
			*to = append(*to, v.lock(sum))
		}
		for _, of := range [][]advice.Lock{p.Locks, p.Handed} {
			slices.SortFunc(of, func(x, y advice.Lock) int {
				return cmp.Or(cmp.Compare(y.Waited, x.Waited), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Site, y.Site))
			})
		}
	}
}

// read keeps the waits, those for locks and those in which a lock may be held.
func (v *lockWaits) read() (err error) {
	if v.blockers, err = v.a.s.Blockers(); err != nil {
		return err
	}
	n := 0
	err = v.a.s.Waits(func(r *store.Wait) {
		if n++; n > mostWaits {
			return
		}
		w := blocked{from: units.MonoNs(r.StartNs), to: units.MonoNs(r.EndNs), thread: r.Thread, by: cmp.Or(r.Holder, r.Waker), later: r.Holder == 0, object: r.Object,
			class: r.Blocker, site: r.Site, kind: lockKind(r.Kind, v.blockers[r.Blocker], r.Holder != 0)}
		class := v.blockers[r.Blocker].Class
		w.limit = wire.WaitFlags(r.Flags)&wire.WaitTimed != 0 && w.by == 0
		if v.a.self != nil && r.Kind == "park" && w.limit && isFuture(class) {
			v.a.self.gaveUp[w.thread] = append(v.a.self.gaveUp[w.thread], piece{w.from, w.to})
		}
		w.handed = w.kind == "" && r.Kind == "park" && slices.ContainsFunc(handedBy, func(p string) bool { return strings.HasPrefix(class, p) })
		if w.kind == "" && !w.handed {
			w.class = 0
			switch r.Kind {
			case "sleep", "io":
				w.by, w.class = 0, map[string]uint32{"sleep": sleeps, "io": isIO}[r.Kind]
			}
		} else if w.kind != "" && w.object != 0 {
			users := v.users[w.object]
			if users == nil {
				users = map[uint32]bool{}
				v.users[w.object] = users
			}
			users[w.thread] = true
		}
		v.waits[w.thread] = append(v.waits[w.thread], w)
	})
	for _, list := range v.waits {
		slices.SortFunc(list, func(x, y blocked) int { return cmp.Compare(x.from, y.from) })
	}
	if v.a.self != nil {
		for _, list := range v.a.self.gaveUp {
			slices.SortFunc(list, func(x, y piece) int { return cmp.Compare(x.from, y.from) })
		}
	}
	return err
}

// What a wait that is for no lock is for, in place of a class.
const (
	sleeps = 1
	isIO   = 2
)

// does is what a thread waits for that has a lock.
func (w *blocked) does() string {
	switch {
	case w.kind != "":
		return "lock"
	case w.handed:
		return "other"
	case w.class == sleeps:
		return "sleep"
	case w.class == isIO:
		return "io"
	}
	return "other"
}

// place finds the units by thread.
func (v *lockWaits) place() {
	for _, p := range v.a.pools {
		for i := range p.recorded.list {
			u := &p.recorded.list[i]
			v.units[u.Thread] = append(v.units[u.Thread], placed{u.Start, u.End, p.recorded.classes[i], p, i})
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

// mostIn is the unit of a thread that begins in a stretch of time and has most of it; nil: none does.
func (v *lockWaits) mostIn(thread uint32, from, to units.MonoNs) (most *placed) {
	list := v.units[thread]
	i, _ := slices.BinarySearchFunc(list, from, func(u placed, t units.MonoNs) int { return cmp.Compare(u.from, t) })
	length := units.MonoNs(0)
	for ; i < len(list) && list[i].from < to; i++ {
		v.steps--
		if n := min(to, list[i].to) - list[i].from; n > length {
			most, length = &list[i], n
		}
	}
	return most
}

// add adds a wait for a lock in a unit. A semaphore keeps threads out only if those that wait for it also give its
// permits back; else it is a signal.
func (v *lockWaits) add(w *blocked) {
	u := v.unitAt(w.thread, w.from)
	if w.kind == "" && !w.handed || u == nil || w.kind == advice.Permits && !v.users[w.object][w.by] {
		return
	}
	to := min(w.to, u.to)
	length := units.Ns(to - w.from)
	if !w.handed {
		u.of.recorded.list[u.at].Locked += length
	}
	of := v.groups[u.of]
	if of == nil {
		of = map[lockKey]*lockSum{}
		v.groups[u.of] = of
	}
	kind := w.kind
	if w.handed {
		kind = advice.Handed
	}
	key, site := lockKey{kind: kind, name: lockName(v.blockers[w.class].Class), site: w.site}, v.a.s.SiteByID(w.site)
	if site != nil && w.kind == advice.Monitor {
		key.site, key.method = 0, site.Class+"."+site.Method
	}
	sum := of[key]
	if sum == nil {
		sum = &lockSum{objects: map[uint32]bool{}, units: map[uint32]int64{}, holders: map[uint32]int64{}, instead: map[instead]int64{}}
		sum.Kind, sum.Name = key.kind, key.name
		of[key] = sum
	}
	if site != nil && (sum.Site == "" || site.Line < sum.line) {
		sum.Site, sum.line = site.Label(), site.Line
	}
	sum.Waits++
	sum.Waited, sum.Most = sum.Waited+length, max(sum.Most, length)
	sum.any.add(w.from, to)
	sum.objects[w.object] = true
	sum.units[u.class] += int64(length)
	if !w.handed {
		v.holder(sum, w, to)
		return
	}
	if by := v.unitAt(w.by, w.to); by != nil && by.of == u.of {
		sum.Given++
	}
	if w.limit {
		sum.Limited++
	}
}

// holder adds, as long as there are steps left, who had the lock in a wait, since it got it, and what that thread waited for meanwhile. A thread that got it without a
// wait of its own had it since its unit began at the earliest.
func (v *lockWaits) holder(sum *lockSum, w *blocked, to units.MonoNs) {
	if w.by == 0 || w.by == w.thread || v.steps <= 0 {
		return
	}
	from, list := w.from, v.waits[w.by]
	first, _ := slices.BinarySearchFunc(list, to, func(o blocked, t units.MonoNs) int { return cmp.Compare(o.from, t) })
	var own []*blocked // latest first
	for first--; first >= 0 && list[first].to > from; first-- {
		v.steps--
		o := &list[first]
		if o.kind != "" && o.object == w.object {
			from = max(from, o.to)
			break
		}
		own = append(own, o)
	}
	u := v.unitAt(w.by, from)
	if u == nil && w.later {
		if u = v.mostIn(w.by, from, to); u != nil {
			from, to = u.from, min(to, u.to)
		}
	}
	if u == nil || from >= to {
		return
	}
	sum.holders[u.class] += int64(to - from)
	for _, o := range own {
		if n := min(o.to, to) - max(o.from, from); n > 0 {
			sum.instead[instead{u.class, o.does(), o.site}] += int64(n)
		}
	}
}

// lock is what a sum says.
func (v *lockWaits) lock(sum *lockSum) advice.Lock {
	l := sum.Lock
	l.Any, l.Unit = sum.any.length(), v.a.className(most(sum.units))
	if !sum.objects[0] {
		l.Locks = int64(len(sum.objects))
	}
	holder := most(sum.holders)
	if len(sum.holders) > 0 {
		l.Holder.Unit, l.Holder.Known = v.a.className(holder), units.Ns(sum.holders[holder])
	}
	byWhat := map[string]int64{}
	for k, n := range sum.instead {
		if k.unit == holder {
			byWhat[k.what] += n
			l.Holder.Waited += units.Ns(n)
		}
	}
	l.Holder.For = most(byWhat)
	at := map[uint32]int64{}
	for k, n := range sum.instead {
		if k.unit == holder && k.what == l.Holder.For {
			at[k.site] += n
		}
	}
	if site := v.a.s.SiteByID(most(at)); site != nil {
		l.Holder.Site = site.Label()
	}
	return l
}
