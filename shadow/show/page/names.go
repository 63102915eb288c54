package page

import (
	"fmt"
	"slices"

	"stackagent/internal/idmap"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/show/figure"
)

// Limits of names.
const (
	mostNames   = 65_000 // below NoName
	mostThreads = 2_000  // with a name of their own; the others have that of their pool
	mostVirtual = 100    // of them virtual: they have no lane, and most have no name
	mostPools   = 500
	nameWidth   = 44  // of a short name, in characters
	nameLength  = 500 // of any name: a hostile program's may be of any length
)

// printable makes text from outside the profiler safe to show.
func printable(s string) string { return text.Cut(text.Clean(s, '?'), nameLength) }

// nameOf makes a name; what is not known of it can be filled in later.
func nameOf(name string) Name {
	if name == "" {
		name = "(no name)"
	}
	return Name{Name: printable(name), Short: figure.Shorten(printable(name), nameWidth), Created: -1, Never: -1, CPUNs: -1, Exact: []*Distribution{}}
}

// shortSite cuts a call site, class.method:line: first the package, then the beginning
// of the class. The end matters most.
func shortSite(s string) string {
	name := []rune(printable(s))
	if len(name) <= nameWidth {
		return string(name)
	}
	name = []rune(advice.WithoutPackage(string(name)))
	if over := len(name) - nameWidth; over > 0 {
		return "…" + string(name[over+1:])
	}
	return string(name)
}

// classNames are the names of classes, those with the most work first.
type classNames struct {
	names []Name
	index map[string]uint32
}

func (b *builder) classNames() *classNames {
	c := &classNames{index: map[string]uint32{}}
	for i := range b.tasks.Rows {
		r := &b.tasks.Rows[i]
		if len(c.names) == mostNames {
			break
		}
		n := nameOf(r.Class)
		n.Platform = r.JDK || unit.IsLibrary(r.Class)
		n.Created, n.Never = float64(r.Created), float64(r.NeverExecuted)
		c.index[r.Class] = uint32(len(c.names))
		c.names = append(c.names, n)
	}
	return c
}

// threadNames are the names of threads, and which thread has which.
type threadNames struct {
	names []Name
	of    idmap.Map[uint32] // by thread
	label map[string]int    // by the label of the thread
	more  map[uint32]int    // by name: how many threads share it
}

// threadNames names the threads that did most; the others have the name of their pool.
func (b *builder) threadNames() *threadNames {
	t := &threadNames{label: map[string]int{}, more: map[uint32]int{}}
	rows := b.sum.Threads
	if rows == nil { // the summary is of sums
		for _, th := range b.s.Threads {
			rows = append(rows, summary.ThreadRow{Thread: th})
		}
	}
	ran := slices.Clone(rows)
	slices.SortStableFunc(ran, func(a, c summary.ThreadRow) int { return boolCompare(c.RunExecutions > 0, a.RunExecutions > 0) })
	pools, virtual := map[string]uint32{}, 0
	for i := range ran {
		if ran[i].Virtual {
			virtual++
		}
	}
	for i := range ran {
		th := &ran[i].Thread
		label, n := th.Label(), uint32(len(t.names))
		if len(t.names) < mostThreads && !(th.Virtual && virtual > mostVirtual) {
			name := nameOf(label)
			name.Kind, name.CPUNs = printable(th.Kind), float64(max(-1, th.CPU))
			name.Platform = th.Kind != session.KindApplication && th.Kind != session.KindMain
			t.names = append(t.names, name)
		} else {
			n = t.pool(pools, th)
		}
		if th.ID != 0 || ran[i].RunExecutions > 0 {
			t.of.Set(th.ID, &n)
		}
		t.label[label] = int(n)
	}
	for n, more := range t.more {
		name := &t.names[n]
		name.Name += " (" + text.Plural(int64(more), "thread", "threads") + ")"
		name.Short = figure.Shorten(name.Name, nameWidth)
	}
	return t
}

// pool is the name of a thread without one of its own.
func (t *threadNames) pool(pools map[string]uint32, th *session.Thread) uint32 {
	pool := th.Pool()
	if th.Virtual {
		pool = "virtual threads " + pool
		if th.Name == "" {
			pool = "virtual threads"
		}
	}
	n, ok := pools[pool]
	if !ok && len(pools) == mostPools {
		pool = "other pools"
		n, ok = pools[pool]
	}
	if !ok {
		n = uint32(len(t.names))
		pools[pool] = n
		name := nameOf(pool)
		name.Kind, name.Platform = printable(th.Kind), th.Kind != session.KindApplication && th.Kind != session.KindMain
		t.names = append(t.names, name)
	}
	t.more[n]++
	return n
}

func (t *threadNames) index(thread uint32) uint32 {
	if n := t.of.Get(thread); n != nil {
		return *n
	}
	return none
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// labels numbers those labels of a long list that are used, in the order of the list.
type labels struct {
	all  []string
	used map[uint32]bool
	to   map[uint32]uint16
}

func newLabels(all []string) *labels { return &labels{all: all, used: map[uint32]bool{}} }

func (l *labels) use(label uint32) {
	if label != none {
		l.used[label] = true
	}
}

// names numbers the labels.
func (l *labels) names(short func(string) string) []Name {
	l.to = map[uint32]uint16{}
	names := []Name{}
	for i, label := range l.all {
		if l.used[uint32(i)] && len(names) < mostNames {
			l.to[uint32(i)] = uint16(len(names))
			n := nameOf(label)
			n.Short = short(n.Name)
			names = append(names, n)
		}
	}
	return names
}

func (l *labels) index(label uint32) uint16 {
	if n, ok := l.to[label]; ok {
		return n
	}
	return NoName
}

// narrow is an index of a list of at most mostNames.
func narrow(n uint32) uint16 {
	if n >= mostNames {
		return NoName
	}
	return uint16(n)
}

// folded is the label of what is shown together.
func folded(n int, one, many string) string {
	return fmt.Sprintf("%s together", text.Plural(int64(n), one, many))
}
