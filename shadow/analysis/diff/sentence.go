package diff

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// sentence says which side is better in what: of throughput, response and queue time, and what a unit of work costs; of the
// wall and CPU time where the units of work are not known.
func (d *Diff) sentence() string {
	single := d.A.Runs == 1 || d.B.Runs == 1
	var better, worse, looked claims
	for _, f := range d.aims() {
		looked.add(f)
		switch {
		case f.Verdict != Different && !(single && math.Abs(f.Change.Mean) >= leastShown):
		case (f.Change.Mean > 0) == (f.want > 0):
			better.add(f)
		default:
			worse.add(f)
		}
	}
	if len(looked) == 0 {
		if len(d.Rows) > 0 && d.Rows[0].By == Whole {
			return "No figure says which side is better."
		}
		return "" // only parts were compared
	}
	var parts []string
	if len(better) > 0 {
		parts = append(parts, "better in "+better.changes())
	}
	if len(worse) > 0 {
		parts = append(parts, "worse in "+worse.changes())
	}
	switch {
	case len(parts) == 0 && single:
		return fmt.Sprintf("A and B are within 5 %% in %s; of single runs that may be chance.", looked.names())
	case len(parts) == 0:
		return fmt.Sprintf("No difference was found in %s.", looked.names())
	case single:
		return fmt.Sprintf("B is %s; of single runs that may be chance.", strings.Join(parts, ", and "))
	}
	return fmt.Sprintf("B is %s.", strings.Join(parts, ", and "))
}

// aims are the figures of the whole run that say which side is better, in the order of their weight.
func (d *Diff) aims() (list []*Figure) {
	known, executions := d.figure("units_per_second") != nil, d.figure("executions")
	more := executions != nil && (executions.Verdict == Different || executions.Verdict == NoInterval && math.Abs(executions.Change.Mean) >= leastShown)
	for i := range figures[Whole] {
		of := &figures[Whole][i]
		f := d.figure(of.name)
		switch {
		case of.want == 0 || f == nil || math.IsNaN(f.Change.Mean) || f.Verdict == NotKnown:
		case of.total && more: // that it did more costs more, which says nothing
		case !known || of.aim || of.name == "cpu_ns"+perUnitSuffix:
			list = append(list, f)
		}
	}
	return list
}

// claims are figures, grouped by what they are about.
type claims []claim

type claim struct {
	about   string
	changes []string
}

func (c *claims) add(f *Figure) {
	about, quantile, change := f.Title, "", cmp.Or(units.FormatChange(f.Change.Mean), "from 0")
	for _, end := range []string{" p50", " p99"} {
		if what, ok := strings.CutSuffix(f.Title, end); ok {
			about, quantile = what, end[1:]+" "
		}
	}
	if f.want > 0 {
		change = units.FormatIn("", math.Round(100*(1+f.Change.Mean))/100) + " times"
	}
	if n := len(*c); n == 0 || (*c)[n-1].about != about {
		*c = append(*c, claim{about: about})
	}
	last := &(*c)[len(*c)-1]
	last.changes = append(last.changes, quantile+change)
}

// names are what the figures are about.
func (c claims) names() string {
	list := make([]string, len(c))
	for i := range c {
		list[i] = c[i].about
	}
	return text.AllOf(list)
}

// changes are the figures with their changes.
func (c claims) changes() string {
	list := make([]string, len(c))
	for i := range c {
		list[i] = c[i].about + " (" + strings.Join(c[i].changes, ", ") + ")"
	}
	return text.AllOf(list)
}
