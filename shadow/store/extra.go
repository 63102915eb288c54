package store

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// ExtraMetric is a work metric beside wall and CPU time. Its columns in the
// tables are Column and, of what nested executions did, nested_ + Column.
type ExtraMetric struct {
	Name   string `json:"name"`   // as the agent calls it: "bytecodes", "alloc"
	Unit   string `json:"unit"`   // "" for a count, "bytes"
	How    string `json:"how"`    // how it is read
	Column string `json:"column"` // "bytecodes", "alloc_bytes"
}

// Label is what the metric is called in tables: its column.
func (x ExtraMetric) Label() string { return x.Column }

// maxColumn is the longest name of an extra column.
const maxColumn = 48

var columnRE = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// NewExtra names the columns of an agent's extra metrics. Names come from
// another process: what cannot be in the name of a column becomes _, and what
// would clash with another column is numbered.
func NewExtra(list []wire.Extra) []ExtraMetric {
	var out []ExtraMetric
	for _, x := range list[:min(len(list), wire.MaxExtra)] {
		base, n := columnOf(x), 1
		column := base
		for taken(column, out) {
			n++
			column = fmt.Sprintf("%s_%d", base, n)
		}
		out = append(out, ExtraMetric{Name: x.Name, Unit: x.Unit, How: x.How, Column: column})
	}
	return out
}

func columnOf(x wire.Extra) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, x.Name)
	name = name[:min(len(name), maxColumn-8)]
	if name == "" || name[0] < 'a' || name[0] > 'z' || derived(name) {
		name = "m" + name
	}
	if x.Unit == "bytes" && !strings.HasSuffix(name, "_bytes") {
		name += "_bytes"
	}
	return name
}

// taken reports whether a column of that name, or of what is made of it, is there.
func taken(column string, others []ExtraMetric) bool {
	if metricNumber(column) != 0 || column == endColumn1 || derived(column) {
		return true
	}
	for _, fixed := range [][]string{namesOf(executionColumns), namesOf(constructionColumns)} {
		if slices.Contains(fixed, column) {
			return true
		}
	}
	return slices.ContainsFunc(others, func(x ExtraMetric) bool { return x.Column == column })
}

// derived reports whether a name is one that is made of others.
func derived(name string) bool {
	return strings.HasPrefix(name, "nested_") || strings.HasPrefix(name, "self_") || strings.HasPrefix(name, namelessPrefix)
}

func namesOf[R any](columns []bigColumn[R]) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return names
}

// checkExtra refuses a manifest whose columns could not be ours.
func checkExtra(list []ExtraMetric) error {
	if len(list) > wire.MaxExtra {
		return fmt.Errorf("%d extra metrics; at most %d", len(list), wire.MaxExtra)
	}
	for i, x := range list {
		if len(x.Column) > maxColumn || !columnRE.MatchString(x.Column) || taken(x.Column, list[:i]) {
			return fmt.Errorf("extra metric %.40q has the column %.60q", x.Name, x.Column)
		}
	}
	return nil
}

// ExtraColumns are the columns of the extra metrics by their places.
func (m *Manifest) ExtraColumns() []string {
	var names []string
	for _, x := range m.Extra {
		names = append(names, x.Column)
	}
	return names
}

// NestedColumn is the column of what nested executions did of an extra metric.
func NestedColumn(column string) string { return "nested_" + column }

// namelessPrefix begins the columns of extra metrics whose names never came:
// the batch that named them is missing.
const namelessPrefix = "unnamed_"

// extraName is the column of extra metric k.
func extraName(names []string, k int) string {
	if k < len(names) {
		return names[k]
	}
	return fmt.Sprintf("%s%d", namelessPrefix, k)
}

// nameless reports whether a part has columns of metrics without a name: such a
// part stays as it is, so that they are not mixed with others.
func nameless(pf *parquet.File) bool {
	for _, e := range pf.Metadata().Schema {
		if strings.HasPrefix(e.Name, namelessPrefix) {
			return true
		}
	}
	return false
}

// nameless is the same of a part that is about to be written.
func (p *Part) nameless(t Table) bool {
	switch t {
	case Executions:
		return len(p.ExecutionWork.Total) > len(p.Extra)
	case Constructions:
		return len(p.ConstructionWork.Total) > len(p.Extra)
	}
	return false
}

// metricNames are the names of metrics in the tables measures and buckets.
var metricNames = [...]string{
	wire.MetricWall: "wall", wire.MetricSelfWall: "self_wall", wire.MetricCPU: "cpu", wire.MetricSelfCPU: "self_cpu",
	wire.MetricQueue: "queue", wire.MetricResponse: "response", wire.MetricDelay: "delay",
}

// MetricName is how the tables name m, whose extra metrics have these columns;
// "" for a metric that is not known.
func MetricName(m wire.Metric, extra []string) string {
	if k, self, ok := m.Extra(); ok {
		name := extraName(extra, k)
		if self {
			name = "self_" + name
		}
		return name
	}
	if int(m) < len(metricNames) {
		return metricNames[m]
	}
	return ""
}

func metricNumber(name string) wire.Metric {
	for m, n := range metricNames {
		if n == name && n != "" {
			return wire.Metric(m)
		}
	}
	return 0
}

// metricNumbers is the inverse of MetricName.
func metricNumbers(extra []string) map[string]wire.Metric {
	numbers := map[string]wire.Metric{}
	for m := range len(metricNames) {
		if metricNames[m] != "" {
			numbers[metricNames[m]] = wire.Metric(m)
		}
	}
	for k := range wire.MaxExtra {
		for _, self := range []bool{false, true} {
			m := wire.MetricOfExtra(k, self)
			numbers[MetricName(m, nil)], numbers[MetricName(m, extra)] = m, m
		}
	}
	return numbers
}

// workColumn is a column of an extra metric on its way to the disk.
type workColumn struct {
	name   string
	values []int64 // or units.NotMeasured, which becomes null
}

// loader gives the values from a row on.
func (c workColumn) loader(from int, v []int64, there []byte) loader {
	rest := c.values[from:]
	return func(n int) (int, error) {
		values := 0
		for i, x := range rest[:n] {
			v[values], there[i] = x, 0
			if units.Ns(x) != units.NotMeasured {
				there[i] = 1
				values++
			}
		}
		rest = rest[n:]
		return values, nil
	}
}

// workColumns are the columns of work in which anything was measured.
func workColumns(names []string, work wire.Work, rows int) ([]workColumn, error) {
	var columns []workColumn
	for k := range work.Total {
		name := extraName(names, k)
		columns = append(columns, workColumn{name, work.Total[k]})
		if k < len(work.Nested) {
			columns = append(columns, workColumn{NestedColumn(name), work.Nested[k]})
		}
	}
	measured := columns[:0]
	for _, c := range columns {
		if len(c.values) != rows {
			return nil, fmt.Errorf("column %s has %d values for %d rows", c.name, len(c.values), rows)
		}
		if slices.ContainsFunc(c.values, func(v int64) bool { return units.Ns(v) != units.NotMeasured }) {
			measured = append(measured, c)
		}
	}
	return measured, nil
}

// names are those of the columns that are not extra ones.
func (w *bigWriter[R]) names() []string { return namesOf(w.all) }

// has reports whether any of the sources has the column.
func (s *sources) has(name string) bool {
	return slices.ContainsFunc(s.parts, func(pf *parquet.File) bool {
		_, ok := pf.Schema().Lookup(name)
		return ok
	})
}

// extra lists the columns of the sources beyond the known ones.
func (s *sources) extra(known []string) ([]string, error) {
	var names []string
	for _, pf := range s.parts {
		for _, e := range pf.Metadata().Schema[1:] {
			if !slices.Contains(known, e.Name) && !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	if len(names) > 2*wire.MaxExtra {
		return nil, fmt.Errorf("they have %d columns that are not known", len(names))
	}
	return names, nil
}
