package store

import (
	"slices"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// layout says how the columns that readers want lie in a part. A column has its
// place in Columns; what can be told from others is not stored but derived.
type layout[C any] struct {
	specs []columnSpec                    // by place; without a name: not stored
	fill  []func(*C, *column, int) error  // by place
	needs func(want Columns) Columns      // the stored columns that want is made of
	done  func(c *C, want Columns, n int) // derives, and empties what was not wanted
}

// extraPlace is the place of the first extra metric: from there on, each has
// two columns, the second of what nested executions did of it.
const extraPlace = 16

var (
	executionIdentity = []columnSpec{
		{name: "task_id", wide: true}, {name: "outer_task_id", wide: true, optional: true}, {name: "class"}, {name: "thread"},
		{name: "depth"}, {name: "flags"}, {name: "start_ns", wide: true},
	}
	executionPlaces = []columnSpec{{name: "site", optional: true, mayMiss: true}, {name: "queue_ns", wide: true, optional: true, mayMiss: true}}
)

// executionLayout is that of the executions of today: the end is start + wall,
// and of the nested executions the work is stored, mostly 0, where self work
// would repeat the work itself.
func executionLayout(extra []string) *layout[ExecutionColumns] {
	l := &layout[ExecutionColumns]{
		specs: slices.Concat(executionIdentity, []columnSpec{
			{}, {name: "wall_ns", wide: true, optional: true}, {name: "cpu_ns", wide: true, optional: true},
			{name: "nested_wall_ns", wide: true}, {name: "nested_cpu_ns", wide: true, optional: true},
		}, executionPlaces),
		fill: slices.Clone(executionFill), needs: executionNeeds, done: deriveExecutions,
	}
	l.addExtra(extra, true, func(c *ExecutionColumns) (*[][]int64, *[][]int64) { return &c.Extra, &c.SelfExtra })
	return l
}

// executionLayout1 is that of version 1 of the format.
var executionLayout1 = &layout[ExecutionColumns]{
	specs: slices.Concat(executionIdentity, []columnSpec{
		{name: "end_ns", wide: true, optional: true}, {name: "wall_ns", wide: true, optional: true}, {name: "cpu_ns", wide: true, optional: true},
		{name: "self_wall_ns", wide: true, optional: true}, {name: "self_cpu_ns", wide: true, optional: true},
	}, executionPlaces),
	fill: executionFill, needs: asIs, done: func(*ExecutionColumns, Columns, int) {},
}

var creationLayout = &layout[CreationColumns]{
	specs: []columnSpec{
		{name: "task_id", wide: true}, {name: "outer_task_id", wide: true, optional: true}, {name: "class"}, {name: "thread"},
		{name: "flags"}, {name: "at_ns", wide: true}, {name: "site", optional: true, mayMiss: true},
	},
	fill: creationFill, needs: asIs, done: func(*CreationColumns, Columns, int) {},
}

// executionLayoutOf tells the layout of a part by its columns.
func (f *Folder) executionLayoutOf(pf *parquet.File) *layout[ExecutionColumns] {
	if _, ok := pf.Schema().Lookup("end_ns"); ok {
		return executionLayout1
	}
	return executionLayout(f.extraOf(pf))
}

// extraOf are the columns of extra metrics in a part: their names may have come
// after it.
func (f *Folder) extraOf(pf *parquet.File) []string {
	names := slices.Clone(f.Extra)
	for k, name := range names {
		_, there := pf.Schema().Lookup(name)
		if _, nameless := pf.Schema().Lookup(extraName(nil, k)); nameless && !there {
			names[k] = extraName(nil, k)
		}
	}
	return names
}

func creationLayoutOf(*parquet.File) *layout[CreationColumns] { return creationLayout }

// addExtra puts the columns of extra metrics at their places.
func (l *layout[C]) addExtra(extra []string, nested bool, lists func(*C) (total, self *[][]int64)) {
	for len(l.specs) < extraPlace && len(extra) > 0 {
		l.specs, l.fill = append(l.specs, columnSpec{}), append(l.fill, nil)
	}
	for k, name := range extra[:min(len(extra), wire.MaxExtra)] {
		l.specs = append(l.specs, columnSpec{name: name, wide: true, optional: true, mayMiss: true}, columnSpec{})
		l.fill = append(l.fill, wide(func(c *C) *[]int64 {
			total, _ := lists(c)
			return slot(total, k)
		}, int64(units.NotMeasured)), nil)
		if nested {
			last := len(l.specs) - 1
			l.specs[last] = columnSpec{name: NestedColumn(name), wide: true, optional: true, mayMiss: true}
			l.fill[last] = wide(func(c *C) *[]int64 {
				_, self := lists(c)
				return slot(self, k)
			}, int64(units.NotMeasured))
		}
	}
}

// slot is column k of a list that grows.
func slot(list *[][]int64, k int) *[]int64 {
	for len(*list) <= k {
		*list = append(*list, nil)
	}
	return &(*list)[k]
}

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
	for k := range wire.MaxExtra {
		if want&ExecutionSelfExtra(k) != 0 {
			want |= ExecutionExtra(k)
		}
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
	for k := range c.Extra {
		if want&ExecutionSelfExtra(k) != 0 {
			subtract(c.Extra[k], c.SelfExtra[k])
		}
		if want&ExecutionExtra(k) == 0 {
			c.Extra[k] = c.Extra[k][:0]
		}
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
func subtract[T ~int64](work, nested []T) {
	notMeasured := T(units.NotMeasured)
	for i, w := range work {
		if w == notMeasured || nested[i] == notMeasured {
			nested[i] = notMeasured
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
		if read == nil {
			continue
		}
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
func (l *layout[C]) stored(want Columns) Columns {
	want = l.needs(want)
	for i := range l.specs {
		if l.specs[i].name == "" {
			want &^= 1 << i
		}
	}
	return want & (1<<len(l.specs) - 1)
}

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
