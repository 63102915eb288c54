package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/experiment/characterize"
)

// Statistics prints Statistics of a set of programs, or of one program, or one of them.
type Statistics struct {
	*Printer
	Program, Statistic string // "": all
}

// fewPrograms are so many that the table has room for their values.
const fewPrograms = 6

// statisticCell is a statistic of a program.
type statisticCell struct {
	row     *characterize.Row
	program string
	cell    *characterize.Cell
}

// Print prints the statistics.
func (l *Statistics) Print(set *characterize.Set) error {
	cells := l.cells(set)
	l.Top = len(cells) // all
	if l.Format == "csv" {
		return Rows(l.Printer, cells, l.Columns())
	}
	l.noteMissing(set)
	if l.Program != "" || l.Statistic != "" {
		return Rows(l.Printer, cells, l.Columns())
	}
	t := matrix(set)
	return l.Render(t, t.Len())
}

// cells are those that were asked for; a table has only those with a value.
func (l *Statistics) cells(set *characterize.Set) (cells []*statisticCell) {
	for r := range set.Rows {
		for i, name := range set.Programs {
			row := &set.Rows[r]
			if l.shows(row.Code, name) && (l.Format == "csv" || row.Cells[i].Why == "") {
				cells = append(cells, &statisticCell{row, name, &row.Cells[i]})
			}
		}
	}
	if l.Statistic != "" {
		slices.SortStableFunc(cells, func(a, b *statisticCell) int { return cmp.Compare(a.cell.Place.Rank, b.cell.Place.Rank) })
	}
	return cells
}

// shows reports whether a statistic of a program was asked for.
func (l *Statistics) shows(code, program string) bool {
	return (l.Program == "" || l.Program == program) && (l.Statistic == "" || l.Statistic == code)
}

// figureText is a value with three or four digits.
func figureText(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return ""
	case a >= 1000:
		return units.FormatCount(int64(math.Round(v)))
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func optional(v float64, known bool) listing.Value {
	if !known || math.IsNaN(v) || math.IsInf(v, 0) {
		return listing.Null
	}
	return listing.FloatOf(v)
}

func rankOrScore(n int) listing.Value {
	if n == 0 {
		return listing.Null
	}
	return listing.IntOf(n)
}

// Columns are those of the listing with a row for each statistic of a program. The table has what differs.
func (l *Statistics) Columns() []listing.Column[*statisticCell] {
	type c = *statisticCell
	bound := func(name string, of func(c) float64) listing.Column[c] {
		return listing.Column[c]{Name: name, Kind: listing.Float, Optional: true, Value: func(s c) listing.Value { return optional(of(s), s.cell.Why == "") }}
	}
	ranged := func(title string, of func(*characterize.Row) float64) listing.Column[c] {
		return listing.Column[c]{Title: title, Kind: listing.Float, Show: func(s c) string { return figureText(of(s.row)) }}
	}
	low, high := bound("low", func(s c) float64 { return s.cell.Value.Low }), bound("high", func(s c) float64 { return s.cell.Value.High })
	low.Doc, high.Doc = "of the 95 % interval of the mean over the runs", "of the 95 % interval"
	columns := []listing.Column[c]{
		{Name: "program", Title: "program", Kind: listing.Name, Doc: "as named on the command line", Value: func(s c) listing.Value { return listing.NameOf(s.program) }},
		{Name: "code", Title: "code", Kind: listing.Word, Doc: "the statistic", Value: func(s c) listing.Value { return listing.WordOf(s.row.Code) }},
		{Name: "name", Title: "statistic", Kind: listing.Word, Doc: "in words", Value: func(s c) listing.Value { return listing.WordOf(s.row.Name) }},
		{Name: "value", Title: "value", Kind: listing.Float, Optional: true, Doc: "mean over the runs",
			Value: func(s c) listing.Value { return optional(s.cell.Value.Mean, s.cell.Why == "") }, Show: func(s c) string { return figureText(s.cell.Value.Mean) }},
		{Title: "95 %", Kind: listing.Float, Show: func(s c) string {
			if v := s.cell.Value; v.Known() {
				return figureText(v.Low) + " to " + figureText(v.High)
			}
			return ""
		}},
		{Name: "unit", Title: "unit", Kind: listing.Word, Doc: "of the value", Value: func(s c) listing.Value { return listing.WordOf(s.row.Unit) },
			Text: func(s c) string { return s.row.Unit }}, // a percent sign is no formula
		low, high,
		{Name: "runs", Kind: listing.Int, Doc: "with a value", Value: func(s c) listing.Value { return listing.IntOf(s.cell.Value.N) }},
		{Name: "rank", Title: "rank", Kind: listing.Int, Optional: true, Doc: "among the programs; 1 is the largest value",
			Value: func(s c) listing.Value { return rankOrScore(s.cell.Place.Rank) }, Show: func(s c) string { return fmt.Sprintf("%d/%d", s.cell.Place.Rank, s.cell.Place.Of) }},
		{Name: "of", Kind: listing.Int, Doc: "programs with a value", Value: func(s c) listing.Value { return listing.IntOf(s.cell.Place.Of) }},
		{Name: "score", Title: "score", Kind: listing.Int, Optional: true, Doc: "10 is the highest, 1 the lowest", Value: func(s c) listing.Value { return rankOrScore(s.cell.Place.Score) }},
		ranged("min", func(r *characterize.Row) float64 { v, _, _ := r.Range(); return v }),
		ranged("median", func(r *characterize.Row) float64 { _, v, _ := r.Range(); return v }),
		ranged("max", func(r *characterize.Row) float64 { _, _, v := r.Range(); return v }),
		{Title: "a high value means", Kind: listing.Word, Wraps: true, Show: func(s c) string { return s.row.High }},
		{Name: "not_available", Kind: listing.Word, Doc: "why there is no value", Value: func(s c) listing.Value { return listing.NameOf(s.cell.Why) }},
	}
	same := []string{"program"}
	if l.Statistic != "" {
		same = []string{"min", "median", "max", "a high value means"}
	}
	for i := range columns {
		if slices.Contains(same, columns[i].Title) {
			columns[i].Title = ""
		}
	}
	return columns
}

// matrix has a row for each statistic that any program has, and a column for each
// program.
func matrix(set *characterize.Set) *table.Table {
	few := len(set.Programs) <= fewPrograms
	columns := []table.Column{{Title: "code"}, {Title: "statistic"}, {Title: "unit"}}
	if !few {
		columns = append(columns, table.Right("min"), table.Right("median"), table.Right("max"))
	}
	for _, name := range set.Programs {
		columns = append(columns, table.Right(table.Clean(name)))
	}
	t := table.New(columns...)
	for i := range set.Rows {
		r := &set.Rows[i]
		if !r.Known() {
			continue
		}
		cells := []string{r.Code, r.Name, r.Unit}
		if !few {
			low, median, high := r.Range()
			cells = append(cells, figureText(low), figureText(median), figureText(high))
		}
		for k := range r.Cells {
			c := &r.Cells[k]
			switch {
			case c.Why != "":
				cells = append(cells, "n/a")
			case few:
				cells = append(cells, fmt.Sprintf("%s [%d]", figureText(c.Value.Mean), c.Place.Score))
			default:
				cells = append(cells, strconv.Itoa(c.Place.Score))
			}
		}
		t.Row(cells...)
	}
	return t
}

// noteMissing says which statistics are not available, and why: what has the same reason together.
func (l *Statistics) noteMissing(set *characterize.Set) {
	byReason := map[string][]string{}
	for _, r := range set.Rows {
		reasons := map[string][]string{}
		for i, c := range r.Cells {
			if c.Why != "" && l.shows(r.Code, set.Programs[i]) {
				reasons[c.Why] = append(reasons[c.Why], set.Programs[i])
			}
		}
		for why, names := range reasons {
			what := r.Code
			if len(names) < len(set.Programs) && l.Program == "" {
				what += " (" + strings.Join(names, ", ") + ")"
			}
			byReason[why] = append(byReason[why], what)
		}
	}
	whys := slices.SortedFunc(maps.Keys(byReason), func(a, b string) int { return cmp.Compare(byReason[a][0], byReason[b][0]) })
	for _, why := range whys {
		l.Note("not available: %s: %s", text.OneLine(strings.Join(byReason[why], ", ")), text.OneLine(why))
	}
}

// shownComponents are those of the table; the rest explains little.
const shownComponents = 4

// componentCell is a statistic's weight in a component, or a program's place on it.
type componentCell struct {
	component int // from 1
	explained float64
	kind      string // "statistic" or "program"
	of        string
	value     float64
}

// PrintComponents prints the principal components and the places of the programs on them.
func (l *Statistics) PrintComponents(set *characterize.Set) error {
	if l.Format == "csv" {
		cells := componentCells(set)
		l.Top = len(cells)
		return Rows(l.Printer, listing.Refs(cells), ComponentColumns())
	}
	c := set.Components
	n := min(len(c.Explained), shownComponents)
	t := table.New(table.Column{Title: "component"}, table.Right("variance"), table.Right("so far"), table.Column{Title: "statistics with the largest weights", Wraps: true})
	soFar := 0.0
	for k := range n {
		soFar += c.Explained[k]
		t.Row(fmt.Sprintf("PC%d", k+1), units.FormatPercent(c.Explained[k]), units.FormatPercent(math.Round(soFar*1e9)/1e9), weights(set, k))
	}
	if err := l.Render(t, t.Len()); err != nil {
		return err
	}
	fmt.Fprintln(l.Out)
	columns := []table.Column{{Title: "program", Flexible: true}}
	for k := range n {
		columns = append(columns, table.Right(fmt.Sprintf("PC%d", k+1)))
	}
	t = table.New(columns...)
	for i, name := range set.Programs {
		cells := []string{table.Clean(name)}
		for k := range n {
			cells = append(cells, fmt.Sprintf("%.2f", c.Scores[i][k]))
		}
		t.Row(cells...)
	}
	l.Note("%d of %d statistics: those that all programs have, and in which they differ", len(c.Used), len(set.Rows))
	return l.Render(t, t.Len())
}

// weights are the statistics that matter most in a component.
func weights(set *characterize.Set, k int) string {
	const most = 5
	loadings := set.Components.Loadings[k]
	order := make([]int, len(loadings))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(loadings[b]), math.Abs(loadings[a])) })
	var words []string
	for _, j := range order[:min(most, len(order))] {
		words = append(words, fmt.Sprintf("%s %+.2f", set.Rows[set.Components.Used[j]].Code, loadings[j]))
	}
	return strings.Join(words, ", ")
}

func componentCells(set *characterize.Set) (cells []componentCell) {
	for k, share := range set.Components.Explained {
		for j, used := range set.Components.Used {
			cells = append(cells, componentCell{k + 1, share, "statistic", set.Rows[used].Code, set.Components.Loadings[k][j]})
		}
		for i, name := range set.Programs {
			cells = append(cells, componentCell{k + 1, share, "program", name, set.Components.Scores[i][k]})
		}
	}
	return cells
}

// ComponentColumns are the columns of the weights and places.
func ComponentColumns() []listing.Column[*componentCell] {
	type c = *componentCell
	return []listing.Column[c]{
		{Name: "component", Kind: listing.Int, Doc: "from 1", Value: func(x c) listing.Value { return listing.IntOf(x.component) }},
		{Name: "explained", Kind: listing.Float, Doc: "share of the variance", Value: func(x c) listing.Value { return listing.FloatOf(x.explained) }},
		{Name: "kind", Kind: listing.Word, Doc: "statistic or program", Value: func(x c) listing.Value { return listing.WordOf(x.kind) }},
		{Name: "of", Kind: listing.Name, Doc: "the statistic's code, or the program's name", Value: func(x c) listing.Value { return listing.NameOf(x.of) }},
		{Name: "value", Kind: listing.Float, Doc: "the statistic's weight, or the program's place", Value: func(x c) listing.Value { return listing.FloatOf(x.value) }},
	}
}
