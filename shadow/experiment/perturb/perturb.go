// Package perturb compares runs that were observed with runs that were not, quantity by quantity: what observing changed, as in the
// perturbation analysis of vertical profiling (Hauswirth, Sweeney, Diwan, Hind), section 3.4.
package perturb

import (
	"fmt"
	"math"
	"path/filepath"

	"stackagent/granularity/estimate"
	"stackagent/hpc"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/threads"
)

// FileName is the file beside the sessions of repeated runs that holds what observing changed.
const FileName = "perturbation.json"

// Measured is what the kernel says about one run as a whole, by quantity.
type Measured map[string]float64

// quantities are what is compared, in the order of tables; hardware events of
// the threads follow where the machine counts them.
var quantities = []struct {
	name  string
	of    func(*hpc.Usage) float64 // NaN: not known
	print func(float64) string
}{
	{"wall_ns", func(u *hpc.Usage) float64 { return float64(u.Wall) }, nsText},
	{"cpu_ns", func(u *hpc.Usage) float64 { return float64(u.CPU()) }, nsText},
	{"user_ns", func(u *hpc.Usage) float64 { return float64(u.User) }, nsText},
	{"system_ns", func(u *hpc.Usage) float64 { return float64(u.System) }, nsText},
	{"minor_faults", func(u *hpc.Usage) float64 { return float64(u.MinorFaults) }, countText},
	{"major_faults", func(u *hpc.Usage) float64 { return float64(u.MajorFaults) }, countText},
	{"voluntary_switches", func(u *hpc.Usage) float64 { return float64(u.Voluntary) }, countText},
	{"involuntary_switches", func(u *hpc.Usage) float64 { return float64(u.Involuntary) }, countText},
	{"max_resident_bytes", maxResident, bytesText},
}

func maxResident(u *hpc.Usage) float64 {
	if u.MaxResident == nil {
		return math.NaN()
	}
	return float64(*u.MaxResident)
}

func nsText(v float64) string    { return units.FormatNs(units.Ns(math.Round(v))) }
func countText(v float64) string { return units.FormatCount(int64(math.Round(v))) }
func bytesText(v float64) string { return units.FormatBytes(int64(math.Round(v))) }

// MeasuredOf are the quantities of a run, with what its threads counted; nil: nothing was.
func MeasuredOf(u *hpc.Usage, counters *hpc.File) Measured {
	m := Measured{}
	for _, q := range quantities {
		if v := q.of(u); !math.IsNaN(v) {
			m[q.name] = v
		}
	}
	if counters == nil {
		return m
	}
	for _, e := range hpc.AllEvents() {
		if !e.Hardware() || counters.NotAvailable[e] != "" {
			continue
		}
		for i := range counters.Threads {
			if n := counters.Threads[i].Counts[e]; n != nil {
				m[e.String()] += threads.CountOf(n).Value
			}
		}
	}
	return m
}

// Row is one quantity with and without the agent.
type Row struct {
	Quantity string          `json:"quantity"`
	With     Sample          `json:"with"`
	Without  Sample          `json:"without"`
	Ratio    Ratio           `json:"ratio"`
	Effect   estimate.Effect `json:"effect"`
}

// File is the content of perturbation.json.
type File struct {
	Version    int      `json:"version"`
	Command    []string `json:"command"`
	Runs       int      `json:"runs"` // of each kind
	Quantities []Row    `json:"quantities"`
}

func rowOf(quantity string, with, without []float64) Row {
	row := Row{Quantity: quantity, With: SampleOf(with), Without: SampleOf(without), Effect: estimate.EffectOf(with, without)}
	row.Ratio = RatioOf(row.With, row.Without)
	return row
}

// Compare compares the quantities that all runs have, and keeps the comparison in dir.
func Compare(dir string, command []string, with, without []Measured) (*File, error) {
	var names []string
	for _, q := range quantities {
		names = append(names, q.name)
	}
	for _, e := range hpc.AllEvents() {
		names = append(names, e.String())
	}
	file := &File{Version: 1, Command: command, Runs: min(len(with), len(without)), Quantities: []Row{}}
	for _, name := range names {
		a, b := column(with, name), column(without, name)
		if len(a) == len(with) && len(b) == len(without) {
			file.Quantities = append(file.Quantities, rowOf(name, a, b))
		}
	}
	return file, hpc.WriteJSON(filepath.Join(dir, FileName), file)
}

// column is one quantity of the runs that have it.
func column(runs []Measured, name string) []float64 {
	var values []float64
	for _, r := range runs {
		if v, ok := r[name]; ok {
			values = append(values, v)
		}
	}
	return values
}

// Columns are those of the terminal, where there were so many runs of each kind.
func Columns(runs int) []listing.Column[*Row] {
	columns := []listing.Column[*Row]{
		{Title: text.PluralExact(runs, "run", "runs") + " each", Kind: listing.Word, Show: func(q *Row) string { return q.Quantity }},
	}
	sample := func(title string, of func(*Row) Sample) {
		columns = append(columns,
			listing.Column[*Row]{Title: title, Kind: listing.Float, Show: func(q *Row) string { return q.text()(of(q).Mean) }},
			listing.Column[*Row]{Title: "± 95 %", Kind: listing.Float, Show: func(q *Row) string { return UnlessNaN(of(q).Half, q.text()) }},
			listing.Column[*Row]{Title: "stddev", Kind: listing.Float, Show: func(q *Row) string { return UnlessNaN(of(q).StdDev, q.text()) }})
	}
	sample("without", func(q *Row) Sample { return q.Without })
	sample("with", func(q *Row) Sample { return q.With })
	return append(columns,
		listing.Column[*Row]{Title: "ratio", Kind: listing.Float, Show: func(q *Row) string {
			return UnlessNaN(q.Ratio.Value, func(v float64) string { return fmt.Sprintf("%.3f", v) })
		}},
		listing.Column[*Row]{Title: "95 %", Kind: listing.Float, Show: func(q *Row) string {
			if math.IsNaN(q.Ratio.Low) {
				return ""
			}
			return fmt.Sprintf("%.3f to %.3f", q.Ratio.Low, q.Ratio.High)
		}},
		listing.Column[*Row]{Title: "effect", Kind: listing.Word, Show: func(q *Row) string { return q.Effect.HedgesWord() }})
}

// text returns how the terminal shows values of the quantity.
func (q *Row) text() func(float64) string {
	for _, known := range quantities {
		if known.name == q.Quantity {
			return known.print
		}
	}
	return countText
}

// UnlessNaN is the text of a number that is known, else "".
func UnlessNaN(v float64, text func(float64) string) string {
	if math.IsNaN(v) {
		return ""
	}
	return text(v)
}
