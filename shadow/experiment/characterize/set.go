package characterize

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/estimate"
	"stackagent/granularity/nominal"
)

// Program is a program of the set.
type Program struct {
	Name string
	Runs []Run
	// Extra has statistics from elsewhere, by code, such as those that need runs of their
	// own. They replace those of the runs. Their places are computed.
	Extra map[string]Cell
}

// Cell is a statistic of a program.
type Cell struct {
	Value estimate.Interval // over the runs
	Why   string            // not "": there is no value, and this is why
	Place nominal.Place     // among the programs
}

// Row is a statistic of all programs.
type Row struct {
	Statistic
	Cells []Cell // by program
}

// Known reports whether any program has the statistic.
func (r *Row) Known() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Why == "" })
}

// Range is the least, the median and the largest value of the programs that have one.
func (r *Row) Range() (low, median, high float64) {
	var values []float64
	for _, c := range r.Cells {
		if c.Why == "" {
			values = append(values, c.Value.Mean)
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	slices.Sort(values)
	n := len(values)
	return values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]
}

// Set is a set of programs with their statistics.
type Set struct {
	Programs []string
	Rows     []Row
	// Components are the principal components; nil: NoComponents says why.
	Components   *nominal.Components // Used: indices of Rows
	NoComponents string
}

// Errors of Characterise.
var (
	ErrCode = errors.New("no such statistic")
	ErrName = errors.New("two programs have the same name")
)

// Characterise ranks and scores the programs by each statistic and finds their principal
// components.
func Characterise(programs []Program) (*Set, error) {
	set := &Set{}
	for _, p := range programs {
		if slices.Contains(set.Programs, p.Name) {
			return nil, fmt.Errorf("%w: %s", ErrName, p.Name)
		}
		set.Programs = append(set.Programs, p.Name)
		for code := range p.Extra {
			if _, ok := Find(code); !ok {
				return nil, fmt.Errorf("program %s: %w: %s", p.Name, ErrCode, code)
			}
		}
	}
	values := make([][]float64, len(programs)) // by program and statistic
	for _, x := range statistics {
		row := Row{Statistic: x}
		var column []float64
		for i := range programs {
			c := programs[i].cell(&x, func(code string) Cell { return set.row(code).Cells[i] })
			row.Cells = append(row.Cells, c)
			column = append(column, c.Value.Mean)
			values[i] = append(values[i], c.Value.Mean)
		}
		for i, place := range nominal.Places(column) {
			row.Cells[i].Place = place
		}
		set.Rows = append(set.Rows, row)
	}
	components, err := nominal.Analyse(values)
	if err != nil {
		set.NoComponents = err.Error()
	}
	set.Components = components
	return set, nil
}

// row is that of a statistic, once it is there.
func (s *Set) row(code string) *Row {
	i := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Code == code })
	return &s.Rows[i]
}

// cell is a statistic of the program; other gives those before it.
func (p *Program) cell(x *Statistic, other func(code string) Cell) Cell {
	if c, ok := p.Extra[x.Code]; ok {
		return c
	}
	if x.from != nil {
		return x.from(other)
	}
	if x.of == nil {
		return cellOf([]Value{NotAvailable("needs " + x.Needs)})
	}
	var runs []Value
	for _, r := range p.Runs {
		runs = append(runs, r[x.Code])
	}
	if x.over != nil {
		return x.over(runs)
	}
	return cellOf(runs)
}

// cellOf is the mean of the values that are known.
func cellOf(values []Value) Cell {
	known, why := numbers(values)
	if len(known) == 0 {
		return Missing(why)
	}
	return Known(estimate.Mean(known))
}

// Known is a statistic with a value.
func Known(v estimate.Interval) Cell { return Cell{Value: v} }

// Missing is a statistic without a value, for this reason.
func Missing(why string) Cell { return Cell{Value: estimate.Mean(nil), Why: why} }

// numbers are the values that are known, and why another is not.
func numbers(values []Value) (known []float64, why string) {
	why = "no run"
	for _, v := range values {
		if v.Why == "" {
			known = append(known, v.Number)
		} else {
			why = v.Why
		}
	}
	return known, why
}
