package times

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackagent/granularity/latency"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
	"stackagent/shadow/store"
)

// configurations tell sessions apart: those of repeated runs are of one configuration.
type configurations struct {
	dirs []string
	of   []int    // by session: its configuration
	jvm  []string // by configuration: its collector and heap; "": not known, or not the same in all runs
	seen []bool
}

func newConfigurations(dirs []string) *configurations {
	c := &configurations{of: make([]int, len(dirs))}
	for i, dir := range dirs {
		name, k := catalog.ConfigurationOf(dir), -1
		for at := range i { // a folder that is no run of another is a configuration of its own, even if it is named twice
			if name != filepath.Clean(dir) && catalog.ConfigurationOf(dirs[at]) == name && filepath.Dir(filepath.Clean(dirs[at])) == name {
				k = c.of[at]
			}
		}
		if k < 0 {
			k = len(c.dirs)
			c.dirs = append(c.dirs, name)
		}
		c.of[i] = k
	}
	c.jvm, c.seen = make([]string, len(c.dirs)), make([]bool, len(c.dirs))
	return c
}

// know takes in the JVM of a session.
func (c *configurations) know(session int, jvm store.JVM) {
	name := jvm.GC
	if jvm.MaxHeapBytes > 0 {
		name += " " + strings.Replace(units.FormatBytes(jvm.MaxHeapBytes), ".0 ", " ", 1)
	}
	k := c.of[session]
	if c.seen[k] && c.jvm[k] != name {
		name = ""
	}
	c.jvm[k], c.seen[k] = name, true
}

// labels name the configuration of each session: by collector and heap if these tell all configurations apart, else by folder.
func (c *configurations) labels() []string {
	names := c.jvm
	if len(distinct(names)) < len(names) || len(names) == 1 || slices.Contains(names, "") {
		names = numbered(catalog.FolderLabels(c.dirs))
	}
	out := make([]string, len(c.of))
	for i, k := range c.of {
		out[i] = names[k]
	}
	return out
}

// numbered tells equal names apart.
func numbered(names []string) []string {
	out, seen := slices.Clone(names), map[string]int{}
	for i, n := range names {
		if seen[n]++; seen[n] > 1 {
			out[i] = fmt.Sprintf("%s (%d)", n, seen[n])
		}
	}
	return out
}

// merged are the rows of repeated runs together, in the order of configurations and kinds.
type merged struct {
	*LatencyRow
	runs []*latency.Distribution
}

// mergeRuns puts the rows of each configuration together.
func mergeRuns(rows []*LatencyRow) []*merged {
	var out []*merged
	index := map[[2]string]*merged{}
	for _, r := range rows {
		if r.distribution == nil {
			continue
		}
		key := [2]string{r.Configuration, r.kind()}
		m := index[key]
		if m == nil {
			copied := *r
			m = &merged{LatencyRow: &copied}
			index[key], out = m, append(out, m)
		}
		m.runs = append(m.runs, r.distribution)
	}
	for _, m := range out {
		if len(m.runs) > 1 {
			m.Percentiles = map[string]units.Ns{}
			m.describe(latency.Merge(m.runs))
		}
	}
	return out
}

// latencyFigure draws the rows that there are.
func latencyFigure(class string, rows []*LatencyRow) *figure.Figure {
	var curves []figure.LatencyCurve
	for _, m := range mergeRuns(rows) {
		c := figure.LatencyCurve{Label: m.Configuration, Kind: m.kind(), Runs: len(m.runs), Count: m.Count, RelativeError: m.RelativeError, Points: m.distribution.Curve()}
		if len(m.runs) > 1 {
			c.Low, c.High = latency.Band(m.runs, c.Points)
		}
		curves = append(curves, c)
	}
	return figure.Latency(class, curves)
}

// compared are the percentiles of the comparison.
var comparedPercentiles = []latency.Percentile{50_000, 99_000, 99_900}

// compare prints a row for each configuration: percentiles of each kind of latency side by side.
func (f *latencyFlags) compare(rows []*LatencyRow) error {
	all := mergeRuns(rows)
	var names, kinds []string
	byKind := map[[2]string]*merged{}
	for _, m := range all {
		names, kinds = append(names, m.Configuration), append(kinds, m.kind())
		byKind[[2]string{m.Configuration, m.kind()}] = m
	}
	names, kinds = distinct(names), distinct(kinds)
	if len(names) < 2 {
		return nil
	}
	columns := []listing.Column[string]{
		{Title: "compared", Kind: listing.Name, Stays: true, Value: func(name string) listing.Value { return listing.NameOf(name) }},
		{Title: "runs", Kind: listing.Int, Value: func(name string) listing.Value {
			return listing.IntOf(int64(len(byKind[[2]string{name, kinds[0]}].runs)))
		}},
	}
	for _, kind := range kinds {
		for i, p := range comparedPercentiles {
			title := "p" + view.PercentileName(p)
			if i == 0 {
				title = kind + " " + title
			}
			columns = append(columns, listing.Column[string]{Title: title, Kind: listing.Int, Stays: true, Show: func(name string) string {
				m := byKind[[2]string{name, kind}]
				if m == nil {
					return view.NotAvailable
				}
				n, ok := m.Percentiles[view.PercentileName(p)]
				if !ok {
					return view.NotAvailable
				}
				return view.Marked(n, m.RelativeError)
			}})
		}
	}
	if _, err := fmt.Fprintln(f.Out); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return view.Table(f.Out, f.TableOptions(false), names, columns)
}

// distinct are the values without repetitions, in order.
func distinct(values []string) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
