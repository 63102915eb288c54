package store

import (
	"slices"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// place is where readers get a column.
type place[C any] struct {
	columnSpec                              // without a name: not stored
	fill       func(*C, *column, int) error // nil: nothing is at the place
}

// layout says how the columns that readers want lie in a part. A column has its
// place in Columns; what follows from others is not stored but derived.
type layout[C any] struct {
	places []place[C]
	needs  func(want Columns) Columns      // the stored columns that want is made of
	done   func(c *C, want Columns, n int) // derives, and empties what was not wanted
}

// plainLayout is one in which nothing is derived.
func plainLayout[C any](places []place[C]) *layout[C] {
	return &layout[C]{places: places, needs: asIs, done: func(*C, Columns, int) {}}
}

// extraPlace is the place of the first extra metric: from there on, each has
// two columns, the second of what nested executions did of it.
const extraPlace = 16

var (
	executionLayout1 = plainLayout(executionPlaces1)
	creationLayout   = plainLayout(creationPlaces)
	submissionLayout = plainLayout(submissionPlaces)
)

// executionLayout is that of the executions of today: the end is start + wall,
// and of the nested executions the work is stored, mostly 0, where self work
// would repeat the work itself.
func executionLayout(extra []string) *layout[ExecutionColumns] {
	l := &layout[ExecutionColumns]{places: slices.Clone(executionPlaces), needs: executionNeeds, done: deriveExecutions}
	l.addExtra(extra, true, func(c *ExecutionColumns) (*[][]units.Ns, *[][]units.Ns) { return &c.Extra, &c.SelfExtra })
	return l
}

// executionLayoutOf finds the layout of a part by its columns.
func (f *Folder) executionLayoutOf(pf *parquet.File) *layout[ExecutionColumns] {
	if _, ok := pf.Schema().Lookup(endColumn1); ok {
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

func submissionLayoutOf(*parquet.File) *layout[SubmissionColumns] { return submissionLayout }

func (f *Folder) constructionLayoutOf(pf *parquet.File) *layout[ConstructionColumns] {
	l := plainLayout(slices.Clone(constructionPlaces))
	l.addExtra(f.extraOf(pf), false, func(c *ConstructionColumns) (*[][]units.Ns, *[][]units.Ns) { return &c.Extra, nil })
	return l
}

// addExtra puts the columns of extra metrics at their places.
func (l *layout[C]) addExtra(extra []string, nested bool, lists func(*C) (total, self *[][]units.Ns)) {
	if len(extra) == 0 {
		return
	}
	l.places = append(l.places, make([]place[C], extraPlace-len(l.places))...)
	for k, name := range extra[:min(len(extra), wire.MaxExtra)] {
		l.places = append(l.places, extraColumn(name, func(c *C) *[]units.Ns {
			total, _ := lists(c)
			return slot(total, k)
		}))
		own := place[C]{}
		if nested {
			own = extraColumn(NestedColumn(name), func(c *C) *[]units.Ns {
				_, self := lists(c)
				return slot(self, k)
			})
		}
		l.places = append(l.places, own)
	}
}

// extraColumn is the place of a column that a part may be without.
func extraColumn[C any](name string, list func(*C) *[]units.Ns) place[C] {
	return place[C]{columnSpec{name: name, wide: true, optional: true, mayMiss: true}, wide(list, units.NotMeasured)}
}

// slot is column k of a list that grows.
func slot(list *[][]units.Ns, k int) *[]units.Ns {
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
	for i := range l.places {
		fill := l.places[i].fill
		if fill == nil {
			continue
		}
		var col *column
		if stored&(1<<i) != 0 {
			col = &cols[next]
			next++
		}
		if err := fill(c, col, n); err != nil {
			return err
		}
	}
	l.done(c, want, n)
	return nil
}

// stored is which columns have to be read for want.
func (l *layout[C]) stored(want Columns) Columns {
	want = l.needs(want)
	for i := range l.places {
		if l.places[i].name == "" {
			want &^= 1 << i
		}
	}
	return want & (1<<len(l.places) - 1)
}

// wanted are the columns of a set in their order.
func (l *layout[C]) wanted(set Columns) []columnSpec {
	var specs []columnSpec
	for i := range l.places {
		if set&(1<<i) != 0 {
			specs = append(specs, l.places[i].columnSpec)
		}
	}
	return specs
}
