package tgp

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Input is the trace from which a session is built.
type Input struct {
	Trace  *Trace
	Pauses []Pause
	// Metric is the metric of the granularities, one of Metrics.
	Metric string
}

// recordedByTgp is the name of the JVM of an imported session.
const recordedByTgp = "recorded by tgp"

// Imported reports whether a session was made of a trace.
func Imported(s *session.Session) bool { return s.Manifest.JVM.Name == recordedByTgp }

// partRows is how many executions a part of an imported session holds.
const partRows = 512 << 10

// Build writes the session to the folder dir, which must be new or empty. The
// session is named after the folder. It returns notes on what the trace does not record
// and on what is implausible in it.
func Build(dir string, in Input) ([]string, error) {
	if err := store.CheckFree(dir); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	name := filepath.Base(filepath.Clean(dir))
	w, err := store.OpenWriter(filepath.Dir(filepath.Clean(dir)), name, name)
	if err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	b := &builder{in: in, w: w}
	b.link()
	b.describe()
	if err := b.write(); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("making the session: %w", err)
	}
	return b.notes, nil
}

// builder turns rows of a trace into rows of a session.
type builder struct {
	in      Input
	w       *store.Writer
	outer   []int32 // row -> row of its outer execution, or None
	nested  []int64 // row -> wall time of the executions directly in it
	nestedG []int64 // row -> their granularity, with everything nested in them
	depths  []int32 // row -> depth of nesting, 0: outermost
	order   []int32 // executions in the order of their ends
	notes   []string
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// link finds the outer execution of each row and sums up what each encloses. It ignores
// an outer execution that does not enclose the row.
func (b *builder) link() {
	t := b.in.Trace
	var missing, outside int64
	b.outer, missing = Outers(t)
	b.nested, b.nestedG = make([]int64, len(t.Tasks)), make([]int64, len(t.Tasks))
	for i := range t.Tasks {
		x := &t.Tasks[i]
		if x.Executed() {
			b.order = append(b.order, int32(i))
		}
		if o := b.outer[i]; o != None && !canEnclose(x, &t.Tasks[o]) {
			b.outer[i] = None
			outside++
		}
	}
	b.findDepths()
	// In order of ends, nested ones before outer ones that end at the same time.
	slices.SortStableFunc(b.order, func(x, y int32) int {
		p, q := &t.Tasks[x], &t.Tasks[y]
		return cmp.Or(compareEnds(p, q), cmp.Compare(q.Entry, p.Entry), cmp.Compare(b.depths[y], b.depths[x]))
	})
	for _, i := range b.order {
		b.addTo(i)
	}
	if missing > 0 {
		b.note("%s an outer task that the trace does not have; they stand as outermost", text.PluralExact(missing, "nested execution names", "nested executions name"))
	}
	if outside > 0 {
		b.note("%s outside of the outer one they name, or on another thread; they stand as outermost", text.PluralExact(outside, "execution lies", "executions lie"))
	}
}

// canEnclose reports whether x can be nested in o.
func canEnclose(x, o *Task) bool {
	return x.Runner == o.Runner && o.Entry <= x.Entry && (o.Exit == None || x.Exit != None && x.Exit <= o.Exit)
}

// compareEnds orders by the end; executions without one are last.
func compareEnds(p, q *Task) int {
	if open := (p.Exit == None) != (q.Exit == None); open {
		return cmp.Compare(q.Exit, p.Exit)
	}
	return cmp.Compare(p.Exit, q.Exit)
}

// addTo adds row i to the sums of its outer row. Nested rows are added first.
func (b *builder) addTo(i int32) {
	x, o := &b.in.Trace.Tasks[i], b.outer[i]
	if o == None || x.Exit == None {
		return
	}
	b.nested[o] += x.Exit - x.Entry
	if x.Granularity == None || b.nestedG[i] == None || b.nestedG[o] == None {
		b.nestedG[o] = None
	} else {
		b.nestedG[o] += x.Granularity + b.nestedG[i]
	}
}

// maxDepth is the greatest depth that the 16-bit column holds.
const maxDepth = 1<<16 - 1

// findDepths counts what encloses each row. Executions with equal times can name each other.
func (b *builder) findDepths() {
	order, closed := outermostFirst(b.outer)
	b.depths = make([]int32, len(b.outer))
	for _, i := range order {
		if o := b.outer[i]; o != None {
			b.depths[i] = min(b.depths[o]+1, maxDepth)
		}
	}
	if n := len(closed); n > 0 {
		b.note("%s nested in themselves through others; the circle was cut", text.PluralExact(n, "execution is", "executions are"))
	}
}

// kinds of the task classes, all rows of a class together.
func (b *builder) kinds() []units.Kinds {
	kinds := make([]units.Kinds, len(b.in.Trace.Classes))
	for _, t := range b.in.Trace.Tasks {
		for _, k := range kindsOfTasks {
			if t.Flags&k.is != 0 {
				kinds[t.Class] |= k.kind
			}
		}
	}
	for i, name := range b.in.Trace.Classes {
		for _, p := range []string{"java.", "jdk.", "sun."} { // not javax: it has libraries of programs
			if strings.HasPrefix(name, p) {
				kinds[i] |= units.KindJDK
			}
		}
	}
	return kinds
}

// taskID is a task's id in the session: that of the trace, except 0, which means no task
// in a session.
func taskID(id int64) uint64 {
	if id == 0 {
		return 1 << 63
	}
	return uint64(id)
}

func (b *builder) execution(i int32, first bool) store.Execution {
	t := &b.in.Trace.Tasks[i]
	e := store.Execution{
		TaskID: taskID(t.ID), Class: uint32(t.Class) + 1, Thread: uint32(t.Runner) + 1, Depth: uint16(b.depths[i]),
		StartNs: units.MonoNs(t.Entry), WallNs: units.NotMeasured, CPUNs: units.NotMeasured,
		SelfWallNs: units.NotMeasured, SelfCPUNs: units.NotMeasured,
	}
	if o := b.outer[i]; o != None {
		e.OuterTaskID = taskID(b.in.Trace.Tasks[o].ID)
	}
	flags := wire.Running
	if t.Exit != None {
		flags = 0
		e.EndNs, e.WallNs = units.MonoNs(t.Exit), units.Ns(t.Exit-t.Entry)
		e.SelfWallNs = e.WallNs - units.Ns(b.nested[i])
	}
	if first {
		flags |= wire.First
	}
	if t.Creator == None {
		flags |= wire.CreationUnseen
	}
	e.Flags = uint16(flags)
	return e
}
