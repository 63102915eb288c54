package store

import (
	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
)

// layout says how the columns that readers want lie in a part. A column has its
// place in Columns; what can be told from others is not stored but derived.
type layout[C any] struct {
	specs []columnSpec                    // by place; without a name: not stored
	fill  []func(*C, *column, int) error  // by place
	needs func(want Columns) Columns      // the stored columns that want is made of
	done  func(c *C, want Columns, n int) // derives, and empties what was not wanted
}

// executionLayout is that of the executions of today: the end is start + wall,
// and of the nested executions the work is stored, mostly 0, where self work
// would repeat the work itself.
var executionLayout = &layout[ExecutionColumns]{
	specs: []columnSpec{
		{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
		{"depth", false, false}, {"flags", false, false}, {"start_ns", true, false}, {},
		{"wall_ns", true, true}, {"cpu_ns", true, true}, {"nested_wall_ns", true, false}, {"nested_cpu_ns", true, true},
	},
	fill: executionFill, needs: executionNeeds, done: deriveExecutions,
}

// executionLayout1 is that of version 1 of the format.
var executionLayout1 = &layout[ExecutionColumns]{
	specs: []columnSpec{
		{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
		{"depth", false, false}, {"flags", false, false}, {"start_ns", true, false}, {"end_ns", true, true},
		{"wall_ns", true, true}, {"cpu_ns", true, true}, {"self_wall_ns", true, true}, {"self_cpu_ns", true, true},
	},
	fill: executionFill, needs: asIs, done: func(*ExecutionColumns, Columns, int) {},
}

var creationLayout = &layout[CreationColumns]{
	specs: []columnSpec{
		{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
		{"flags", false, false}, {"at_ns", true, false},
	},
	fill: creationFill, needs: asIs, done: func(*CreationColumns, Columns, int) {},
}

// executionLayoutOf tells the layout of a part by its columns.
func executionLayoutOf(f *parquet.File) *layout[ExecutionColumns] {
	if _, ok := f.Schema().Lookup("end_ns"); ok {
		return executionLayout1
	}
	return executionLayout
}

func creationLayoutOf(*parquet.File) *layout[CreationColumns] { return creationLayout }

func asIs(want Columns) Columns { return want }

func executionNeeds(want Columns) Columns {
	if want&ExecutionEnd != 0 {
		want |= ExecutionStart | ExecutionWall
	}
	if want&ExecutionSelfWall != 0 {
		want |= ExecutionWall
	}
	if want&ExecutionSelfCPU != 0 {
		want |= ExecutionCPU
	}
	return want &^ ExecutionEnd
}

// deriveExecutions makes the ends, and self work of the nested work that stands
// in its place.
func deriveExecutions(c *ExecutionColumns, want Columns, n int) {
	c.EndNs = c.EndNs[:0]
	if want&ExecutionEnd != 0 {
		c.EndNs = sized(c.EndNs, n)
		for i, wall := range c.WallNs {
			c.EndNs[i] = 0
			if wall.Measured() {
				c.EndNs[i] = c.StartNs[i] + units.MonoNs(wall)
			}
		}
	}
	if want&ExecutionSelfWall != 0 {
		subtract(c.WallNs, c.SelfWallNs)
	}
	if want&ExecutionSelfCPU != 0 {
		subtract(c.CPUNs, c.SelfCPUNs)
	}
	for _, x := range []struct {
		column Columns
		empty  func()
	}{
		{ExecutionStart, func() { c.StartNs = c.StartNs[:0] }},
		{ExecutionWall, func() { c.WallNs = c.WallNs[:0] }},
		{ExecutionCPU, func() { c.CPUNs = c.CPUNs[:0] }},
	} {
		if want&x.column == 0 {
			x.empty()
		}
	}
}

// subtract turns nested work into self work; it is not measured where one of
// the two was not.
func subtract(work, nested []units.Ns) {
	for i, w := range work {
		if !w.Measured() || !nested[i].Measured() {
			nested[i] = units.NotMeasured
		} else {
			nested[i] = w - nested[i]
		}
	}
}

// read fills c with n rows of the wanted columns; cols are the stored ones that
// they need, in their order. The others are left empty.
func (l *layout[C]) read(c *C, want Columns, cols []column, n int) error {
	stored, next := l.stored(want), 0
	for i, read := range l.fill {
		var col *column
		if stored&(1<<i) != 0 {
			col = &cols[next]
			next++
		}
		if err := read(c, col, n); err != nil {
			return err
		}
	}
	l.done(c, want, n)
	return nil
}

// stored is which columns have to be read for want.
func (l *layout[C]) stored(want Columns) Columns { return l.needs(want) & (1<<len(l.specs) - 1) }

// wanted are the columns of a set in their order.
func (l *layout[C]) wanted(set Columns) []columnSpec {
	var specs []columnSpec
	for i, spec := range l.specs {
		if set&(1<<i) != 0 {
			specs = append(specs, spec)
		}
	}
	return specs
}
