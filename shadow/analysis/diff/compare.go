package diff

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"stackagent/granularity/estimate"
)

// ErrNoRuns is a side without sessions.
var ErrNoRuns = errors.New("a side has no sessions")

// Compare compares the runs of two sides by what is asked for; the whole run is always compared.
func Compare(a, b []*Run, by []By) (*Diff, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, ErrNoRuns
	}
	d := &Diff{A: sideOf(a), B: sideOf(b), Confidence: estimate.Confidence, Correction: "holm", Findings: found(a, b), Missing: map[string]string{}, Rows: []*Row{}, jdk: map[string]bool{}}
	d.Note, d.Cautions = noteOf(len(a), len(b)), slices.Concat(cautionsOf(&d.A, &d.B), cautionsOfBoth(a, b), cautionsOfRuns("A", a), cautionsOfRuns("B", b))
	for _, r := range slices.Concat(a, b) {
		d.Cautions = append(d.Cautions, r.Gaps...)
	}
	for _, g := range slices.Concat(All, []By{Each}) {
		asked := g == Whole || slices.Contains(by, g)
		if why := missing(a, b, g); why != "" && (asked || g == Cause) { // findings have no grouping of their own
			d.Missing[string(g)] = why
			continue
		}
		if !asked {
			continue
		}
		d.Rows = append(d.Rows, rowsOf(a, b, g)...)
	}
	for _, r := range slices.Concat(a, b) {
		maps.Copy(d.jdk, r.jdk)
	}
	d.countAlone()
	d.judge(a, b)
	d.Sentence = d.sentence()
	return d, nil
}

func sideOf(runs []*Run) Side {
	s := Side{Runs: len(runs), Program: runs[0].Program, JVM: runs[0].JVM, CPUs: runs[0].CPUs}
	for _, r := range runs {
		s.Sessions = append(s.Sessions, r.Session)
	}
	return s
}

// few is the number of runs below which only large differences show: of 200 figures that vary by 5 %, 5 runs a side find a
// change of 35 % in four cases of five, 3 runs a doubling in one of five, and 2 runs none.
const few = 5

func noteOf(a, b int) string {
	switch {
	case a == 1 && b == 1:
		return "one run each: no interval"
	case a == 1 || b == 1:
		return "one run on one side: no interval"
	case a < few || b < few:
		return fmt.Sprintf("%d runs against %d: only large differences show", a, b)
	}
	return ""
}

func cautionsOf(a, b *Side) (out []string) {
	if a.Program != b.Program {
		out = append(out, fmt.Sprintf("the programs differ: %s and %s", a.Program, b.Program))
	}
	if a.JVM != b.JVM {
		out = append(out, fmt.Sprintf("the Java versions differ: %s and %s", a.JVM, b.JVM))
	}
	if a.CPUs != b.CPUs {
		out = append(out, fmt.Sprintf("the numbers of CPUs differ: %d and %d", a.CPUs, b.CPUs))
	}
	return out
}

// cautionsOfBoth name a session that is on both sides.
func cautionsOfBoth(a, b []*Run) []string {
	for _, x := range a {
		if slices.ContainsFunc(b, func(y *Run) bool { return x.Session == y.Session && x.Started == y.Started }) {
			return []string{"session " + x.Session + " is on both sides"}
		}
	}
	return nil
}

// cautionsOfRuns are those about one side, whose runs should be of one program.
func cautionsOfRuns(side string, runs []*Run) []string {
	for _, r := range runs {
		if r.Program != runs[0].Program {
			return []string{fmt.Sprintf("side %s has runs of different programs: %s and %s", side, runs[0].Program, r.Program)}
		}
	}
	return nil
}

func missing(a, b []*Run, by By) string {
	for _, r := range slices.Concat(a, b) {
		if why := r.NotAvailable[by]; why != "" {
			return why
		}
	}
	return ""
}

// Names are those of the rows of a grouping.
func (r *Run) Names(by By) []string { return namesOf([]*Run{r}, by) }

func namesOf(runs []*Run, by By) []string {
	seen := map[string]bool{}
	for _, r := range runs {
		for k := range r.Rows {
			if k.By == by {
				seen[k.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// rowsOf are the rows of a grouping, those with the largest difference in the first figure first.
func rowsOf(a, b []*Run, by By) []*Row {
	shares := newShares(a, b, by)
	var rows []*Row
	for _, p := range match(namesOf(a, by), namesOf(b, by)) {
		rows = append(rows, rowOf(a, b, by, p, shares))
	}
	slices.SortStableFunc(rows, func(x, y *Row) int {
		return cmp.Or(cmp.Compare(apart(y), apart(x)), cmp.Compare(y.Share, x.Share), cmp.Compare(x.Name, y.Name))
	})
	return rows
}

// apart is by how much the sides differ in the row's first figure.
func apart(r *Row) float64 {
	if len(r.Figures) == 0 {
		return 0
	}
	f := &r.Figures[0]
	if d := math.Abs(zero(f.B.Mean) - zero(f.A.Mean)); !math.IsInf(d, 0) {
		return d
	}
	return 0
}

func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func rowOf(a, b []*Run, by By, p pair, shares *shares) *Row {
	r := &Row{By: by, Name: p.b, Guess: p.guess, In: "both", Figures: []Figure{}}
	switch {
	case p.b == "" && p.a != "":
		r.Name, r.In = p.a, "a"
	case p.a == "" && p.b != "":
		r.In = "b"
	case p.a != p.b:
		r.Was = p.a
	}
	ka, kb := Key{by, p.a}, Key{by, p.b}
	r.a, r.b = ka, kb
	if r.In != "b" {
		r.RunsA = occurs(a, ka)
	}
	if r.In != "a" {
		r.RunsB = occurs(b, kb)
	}
	r.Share = max(shares.of(a, ka), shares.of(b, kb))
	for _, f := range figures[by] {
		va, vb := values(a, ka, f, r.In != "b"), values(b, kb, f, r.In != "a")
		if len(va)+len(vb) > 0 {
			r.Figures = append(r.Figures, compare(f, va, vb))
			if by != Whole { // which has none of the figures of a part
				r.Figures[len(r.Figures)-1].bound(f, partial(a), partial(b))
			}
		}
	}
	return r
}

func occurs(runs []*Run, k Key) (n int) {
	for _, r := range runs {
		if r.Rows[k] != nil {
			n++
		}
	}
	return n
}

// values are those of a figure in the runs of a side. A sum is 0 in a run without the row, unless the run did not measure it.
func values(runs []*Run, k Key, f figure, there bool) (out []float64) {
	if !there {
		return nil
	}
	known := false
	for _, r := range runs {
		v, ok := r.Rows[k][f.name]
		known = known || ok
		if ok || f.sum && r.Rows[k] == nil && r.measured(k.By, f.name) {
			out = append(out, v)
		}
	}
	if !known {
		return nil
	}
	return out
}

// measured reports whether any row of a grouping has a figure. A run without rows has 0 of all.
func (r *Run) measured(by By, name string) bool {
	rows := false
	for k, row := range r.Rows {
		if k.By == by {
			if _, ok := row[name]; ok {
				return true
			}
			rows = true
		}
	}
	return !rows
}

func compare(f figure, a, b []float64) Figure {
	x := Figure{Name: f.name, Title: f.title, Unit: f.unit, A: estimate.Mean(a), B: estimate.Mean(b), Change: estimate.Ratio(b, a), Verdict: NoInterval, aim: f.aim, want: f.want}
	x.Change.Mean, x.Change.Low, x.Change.High = x.Change.Mean-1, x.Change.Low-1, x.Change.High-1
	if len(a) < 2 || len(b) < 2 {
		return x
	}
	effect, step := estimate.EffectOf(b, a), 0.0
	if f.count {
		step = 1
	}
	x.Effect, x.P = &effect, estimate.Number(estimate.RatioP(a, b, step))
	return x
}

// shares are the sums over all rows of a grouping, by run and figure.
type shares struct {
	totals map[*Run]map[string]float64
	by     By
}

func newShares(a, b []*Run, by By) *shares {
	s := &shares{totals: map[*Run]map[string]float64{}, by: by}
	for _, r := range slices.Concat(a, b) {
		t := map[string]float64{}
		for k, row := range r.Rows {
			if k.By == by {
				for name, v := range row {
					t[name] += v
				}
			}
		}
		s.totals[r] = t
	}
	return s
}

// of is the largest mean share of a row in the runs of a side.
func (s *shares) of(runs []*Run, k Key) float64 {
	if s.by == Whole {
		return 1
	}
	largest := 0.0
	for _, f := range figures[s.by] {
		sum := 0.0
		for _, r := range runs {
			if all := s.totals[r][f.name]; f.share && all > 0 {
				sum += r.Rows[k][f.name] / all
			}
		}
		largest = max(largest, sum/float64(len(runs)))
	}
	return largest
}

// countAlone counts the rows that are new or gone.
func (d *Diff) countAlone() {
	for _, r := range d.Rows {
		switch d.alone(r) {
		case Gone:
			d.Gone++
		case New:
			d.New++
		}
	}
}

// alone says of a row that occurs on one side only whether it does in all runs there.
func (d *Diff) alone(r *Row) Verdict {
	switch {
	case slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Verdict == NotKnown }): // the part that is missing may have it
	case r.In == "a" && r.RunsA == d.A.Runs:
		return Gone
	case r.In == "b" && r.RunsB == d.B.Runs:
		return New
	case r.In != "both":
		return Sometimes
	}
	return ""
}

// Summary is the sentence and the text.
func (d *Diff) Summary() string { return strings.TrimPrefix(d.Sentence+" "+d.Text(), " ") }

// Text says how much was judged, and how surely.
func (d *Diff) Text() string {
	var parts []string
	if d.A.Runs == 1 || d.B.Runs == 1 {
		parts = append(parts, strings.ToUpper(d.Note[:1])+d.Note[1:]+". Changes may be noise; repeat the runs (shadow run --repeat 5) to tell.")
	} else {
		parts = append(parts, fmt.Sprintf("%d of %d figures differ at %.0f %%, corrected for all %d (Holm).", d.Different, d.Judged, 100*estimate.Confidence, d.Judged))
		if d.Note != "" {
			parts = append(parts, strings.ToUpper(d.Note[:1])+d.Note[1:]+".")
		}
	}
	if d.New+d.Gone > 0 {
		parts = append(parts, fmt.Sprintf("Only in B: %d. Only in A: %d.", d.New, d.Gone))
	}
	return strings.Join(parts, " ")
}
