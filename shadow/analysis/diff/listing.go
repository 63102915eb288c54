package diff

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"stackagent/granularity/estimate"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Line is a line of the listing: a figure of a row.
type Line struct {
	*Row
	*Figure
	First bool // of its row
}

// Lines are the figures of rows. brief leaves out what says little: of a row, it has the first figure, those that are
// different, and without intervals those that changed by 5 % or more.
func Lines(rows []*Row, brief bool) []Line {
	var out []Line
	for _, r := range rows {
		for i := range r.Figures {
			f := &r.Figures[i]
			if brief && i > 0 && r.By != Whole && f.Verdict != Different && !(f.Verdict == NoInterval && math.Abs(f.Change.Mean) >= leastShown) {
				continue
			}
			out = append(out, Line{r, f, i == 0})
		}
	}
	return out
}

// leastShown is the change from which a brief listing has a figure that nobody can judge.
const leastShown = 0.05

// Top are the first rows of each grouping; 0: all. Rows that are different come first.
func (d *Diff) Top(n int) []*Row {
	if n == 0 {
		return d.Rows
	}
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(a, b *Row) int {
		if a.By != b.By {
			return slices.Index(All, a.By) - slices.Index(All, b.By)
		}
		return rank(a) - rank(b)
	})
	seen := map[By]int{}
	return slices.DeleteFunc(rows, func(r *Row) bool {
		seen[r.By]++
		return seen[r.By] > n
	})
}

func rank(r *Row) int {
	switch {
	case r.Different():
		return 0
	case r.In != "both" && r.Share >= leastShare:
		return 1
	}
	return 2
}

// Label names the row.
func (r *Row) Label() string {
	name := r.Name
	if r.By == Whole {
		name = "whole run"
	}
	if r.Was != "" {
		name += " (in A: " + r.Was + ")"
	}
	return name
}

// side is a mean on one of the sides: empty where the row does not occur, n/a where the sessions do not have the figure.
func (l *Line) side(i estimate.Interval, runs int, atLeast bool) string {
	switch {
	case math.IsNaN(i.Mean) && (runs > 0 || l.Verdict == NotKnown):
		return "n/a"
	case atLeast:
		return "≥" + units.FormatIn(l.Unit, i.Mean)
	}
	return units.FormatIn(l.Unit, i.Mean)
}

// TextA is the figure in A.
func (l *Line) TextA() string { return l.side(l.A, l.RunsA, l.aAtLeast) }

// TextB is the figure in B.
func (l *Line) TextB() string { return l.side(l.B, l.RunsB, l.bAtLeast) }

// IntervalText is the interval of the change.
func (f *Figure) IntervalText() string {
	if !f.Change.Known() {
		return ""
	}
	return units.FormatChange(f.Change.Low) + " to " + units.FormatChange(f.Change.High)
}

// EffectText is the effect size in a number and a word.
func (f *Figure) EffectText() string {
	if f.Effect == nil || math.IsNaN(f.Effect.HedgesG) {
		return ""
	}
	if math.IsInf(f.Effect.HedgesG, 0) {
		return f.Effect.HedgesWord()
	}
	return fmt.Sprintf("%.1f (%s)", f.Effect.HedgesG, f.Effect.HedgesWord())
}

// words are the verdicts in a listing.
var words = map[Verdict]string{Different: "different", NoDifference: "", NoInterval: "", Small: "too small to judge", New: "only in B", Gone: "only in A", Sometimes: "in some runs", Follows: "follows from the units", NotKnown: "not known"}

// VerdictText is the verdict in words.
func (l *Line) VerdictText() string {
	word := words[l.Verdict]
	if l.Guess != "" && l.First {
		return strings.TrimPrefix(word+"; a guess: "+l.Guess, "; ")
	}
	return word
}

// interval declares the columns of a mean or change with its bounds.
func interval(name, title, doc string, of func(Line) estimate.Interval, show func(Line) string) []listing.Column[Line] {
	bound := func(name, doc string, pick func(estimate.Interval) float64) listing.Column[Line] {
		return listing.Column[Line]{Name: name, Kind: listing.Float, Optional: true, Doc: doc, Value: func(l Line) listing.Value {
			if v := pick(of(l)); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return listing.FloatOf(v)
			}
			return listing.Null
		}}
	}
	mean := bound(name, doc, func(i estimate.Interval) float64 { return i.Mean })
	mean.Title, mean.Show = title, show
	return []listing.Column[Line]{mean,
		bound(name+"_low", "lower bound of its 95 % interval; empty: fewer than two runs", func(i estimate.Interval) float64 { return i.Low }),
		bound(name+"_high", "upper bound of its 95 % interval", func(i estimate.Interval) float64 { return i.High })}
}

// Columns are those of the listing. judged: both sides have repeated runs.
func Columns(judged bool) []listing.Column[Line] {
	word := func(name, title, doc string, of func(Line) string) listing.Column[Line] {
		return listing.Column[Line]{Name: name, Title: title, Kind: listing.Name, Doc: doc, Value: func(l Line) listing.Value { return listing.NameOf(of(l)) }}
	}
	name := word("name", "name", "what the row is about, as in B", func(l Line) string { return l.Row.Name })
	name.Show = func(l Line) string {
		if !l.First {
			return ""
		}
		return l.Label()
	}
	columns := []listing.Column[Line]{
		word("by", "by", "run, class, executor, site, thread (kinds of threads), wait (what for) or path (classes on the critical path)", func(l Line) string { return string(l.By) }),
		name,
		word("was", "", "its name in A, if that differs", func(l Line) string { return l.Was }),
		word("guess", "", "why the two may not be the same; empty: they are", func(l Line) string { return l.Guess }),
		word("in", "", "both, a or b", func(l Line) string { return l.In }),
		word("figure", "figure", "which figure", func(l Line) string { return l.Figure.Name }),
		word("unit", "", "ns, bytes, or empty for counts", func(l Line) string { return l.Unit }),
	}
	columns[5].Show, columns[5].Stays = func(l Line) string { return l.Title }, true
	columns = append(columns, interval("a", "A", "mean over the runs of A", func(l Line) estimate.Interval { return l.A }, func(l Line) string { return l.TextA() })...)
	columns = append(columns, interval("b", "B", "mean over the runs of B", func(l Line) estimate.Interval { return l.B }, func(l Line) string { return l.TextB() })...)
	columns = append(columns, interval("change", "change", "B over A, less 1: 0.1 is 10 % more", func(l Line) estimate.Interval { return l.Change }, func(l Line) string { return units.FormatChange(l.Change.Mean) })...)
	between := listing.Column[Line]{Kind: listing.Word, Show: func(l Line) string { return l.IntervalText() }}
	effect := listing.Column[Line]{Name: "hedges_g", Kind: listing.Float, Optional: true, Doc: "effect size, positive if B has more", Show: func(l Line) string { return l.EffectText() },
		Value: func(l Line) listing.Value {
			if l.Effect == nil {
				return listing.Null
			}
			return listing.Opt(estimate.Number(l.Effect.HedgesG), listing.FloatOf)
		}}
	if judged {
		between.Title, effect.Title = "95 % interval", "effect"
	}
	return append(columns, between, effect,
		listing.Column[Line]{Name: "p_corrected", Kind: listing.Float, Optional: true, Doc: "p, corrected for all figures that were judged (Holm)", Value: func(l Line) listing.Value { return listing.Opt(l.Holm, listing.FloatOf) }},
		listing.Column[Line]{Name: "verdict", Title: "verdict", Kind: listing.Word, Doc: "different, no_difference, no_interval, small, new, gone, sometimes, follows (a sum, of which what a unit of work takes is judged), or not_known (a part of a session is missing: its sums are lower bounds)",
			Value: func(l Line) listing.Value { return listing.WordOf(string(l.Verdict)) }, Show: func(l Line) string { return l.VerdictText() }})
}

// Markdown writes the comparison of rows as tables.
func (d *Diff) Markdown(w io.Writer, rows []*Row) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Comparison\n\n%s\n\n", text.Markdown(d.Summary()))
	fmt.Fprintf(&b, "A: %s; B: %s.\n", text.Markdown(strings.Join(d.A.Sessions, ", ")), text.Markdown(strings.Join(d.B.Sessions, ", ")))
	for _, line := range d.FoundTexts() {
		fmt.Fprintf(&b, "\n%s\n", text.Markdown(line))
	}
	for _, c := range d.Cautions {
		fmt.Fprintf(&b, "\nCaution: %s.\n", text.Markdown(c))
	}
	by := By("")
	for _, l := range Lines(rows, true) {
		if l.By != by {
			by = l.By
			fmt.Fprintf(&b, "\n| %s | figure | A | B | change | 95 %% interval | effect | verdict |\n|---|---|--:|--:|--:|---|---|---|\n", by)
		}
		name := ""
		if l.First {
			name = l.Label()
		}
		fmt.Fprintf(&b, "| %s |", text.Markdown(name))
		for _, cell := range []string{l.Title, l.TextA(), l.TextB(), units.FormatChange(l.Change.Mean), l.IntervalText(), l.EffectText(), l.VerdictText()} {
			fmt.Fprintf(&b, " %s |", text.Markdown(cell))
		}
		b.WriteString("\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}
