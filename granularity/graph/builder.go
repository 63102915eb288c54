package graph

import (
	"slices"

	"stackagent/internal/units"
)

// Builder makes a graph. Units may be filled in any order, and refer to units that
// are not filled yet. The zero value is ready.
type Builder struct {
	Classes, Sites, Threads Names
	Pauses                  Names
	executors               []Executor
	resources               []Resource
	Sums                    []Sum
	Unlisted                []Unlisted
	units                   []Unit
	steps                   [][]Step
	whole                   []Step // see Fill
	waits                   []Wait
	wait                    map[Wait]uint32
}

// Executor adds an executor.
func (b *Builder) Executor(e Executor) uint32 {
	b.ready()
	b.executors = append(b.executors, e)
	return uint32(len(b.executors) - 1)
}

func (b *Builder) ready() {
	if len(b.executors) == 0 {
		b.executors = []Executor{{Name: "threads"}}
	}
}

// Resource adds a lock, queue, event or barrier of a class.
func (b *Builder) Resource(kind ResourceKind, class string, n int) uint32 {
	b.resources = append(b.resources, Resource{Kind: kind, Class: b.Classes.Number(class), N: n})
	return uint32(len(b.resources) - 1)
}

// Wait is the number of what is known of a wait.
func (b *Builder) Wait(w Wait) uint32 {
	if b.wait == nil {
		b.waits, b.wait = make([]Wait, 1), map[Wait]uint32{{}: 0}
	}
	n, known := b.wait[w]
	if !known {
		n = uint32(len(b.waits))
		b.waits, b.wait[w] = append(b.waits, w), n
	}
	return n
}

// WaitOf is what Wait got for the number n.
func (b *Builder) WaitOf(n uint32) *Wait { return &b.waits[n] }

// Unit adds a unit of a class that runs on an executor; 0: in a thread of its own.
func (b *Builder) Unit(class string, executor uint32) uint32 {
	b.units = append(b.units, Unit{Class: b.Classes.Number(class), Executor: executor})
	b.steps = append(b.steps, nil)
	return uint32(len(b.units) - 1)
}

// Put adds a unit whose steps are among those that Fill gets: First and N say which.
func (b *Builder) Put(u Unit) uint32 {
	b.units = append(b.units, u)
	return uint32(len(b.units) - 1)
}

// Grow makes room for n further units.
func (b *Builder) Grow(n int) { b.units = slices.Grow(b.units, n) }

// At is the unit of that number, to be changed.
func (b *Builder) At(unit uint32) *Unit { return &b.units[unit] }

// Add appends a step to a unit. Without a class it is the unit's.
func (b *Builder) Add(unit uint32, s Step) {
	if s.Class == 0 {
		s.Class = b.units[unit].Class
	}
	b.steps[unit] = append(b.steps[unit], s)
}

// Compute appends the use of a CPU.
func (b *Builder) Compute(unit uint32, n units.Ns) { b.Add(unit, Step{Kind: Compute, Len: n}) }

// Do appends a step of kind on a unit or resource.
func (b *Builder) Do(unit uint32, kind Kind, on uint32) { b.Add(unit, Step{Kind: kind, On: on}) }

// Fill sets the steps of all units at once. They are not copied.
func (b *Builder) Fill(steps []Step) { b.whole = steps }

// Graph is what was built, for so many CPUs, checked.
func (b *Builder) Graph(cpus int) (*Graph, error) {
	b.ready()
	b.Classes.Number("")
	b.Sites.Number("")
	b.Threads.Number("")
	b.Pauses.Number("")
	g := &Graph{Classes: b.Classes.List, Sites: b.Sites.List, Threads: b.Threads.List, Pauses: b.Pauses.List, Executors: b.executors,
		Resources: b.resources, Units: b.units, Waits: b.waits, Sums: b.Sums, Unlisted: b.Unlisted, CPUs: cpus}
	if b.whole != nil {
		g.Steps = b.whole
		return g, g.Check()
	}
	for i, steps := range b.steps {
		g.Units[i].First, g.Units[i].N = uint32(len(g.Steps)), uint32(len(steps))
		g.Steps = append(g.Steps, steps...)
	}
	return g, g.Check()
}
