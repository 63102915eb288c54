package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stackagent/granularity/vertical"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// sentence is an explanation in a few sentences: what changed, what changed with it, what to try.
func sentence(e *Explanation) string {
	what := subject(e.Metric)
	if e.ToNs == 0 || e.Before == nil || e.During == nil {
		if e.Found {
			return what + " has no change that stands out."
		}
		return what + " has no values in this range, or none outside of it to compare with."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", what, change(*e.Before, *e.During, e.Unit), fromTo(e.Span))
	switch n := len(e.Similar); n {
	case 0:
	case 1:
		b.WriteString(", and once more in the same way")
	default:
		fmt.Fprintf(&b, ", and %d more times in the same way", n)
	}
	b.WriteString(". ")
	if len(e.Causes) == 0 {
		fmt.Fprintf(&b, "Nothing recorded explains it (%s tried).", text.PluralExact(e.Tried, "series", "series"))
		return b.String()
	}
	first := &e.Causes[0]
	fmt.Fprintf(&b, "%s %s%s", subject(first.Monitor), first.Change, when(first))
	if len(e.Causes) > 1 {
		second := &e.Causes[1]
		name := inSentence(subject(second.Monitor))
		if name == inSentence(subject(first.Monitor)) {
			name = text.OneLine(second.Monitor)
		}
		fmt.Fprintf(&b, "; %s %s%s", name, second.Change, when(second))
	}
	b.WriteString(".")
	if n := len(first.Group); n > 0 {
		also := first.Group[:min(n, 3)]
		fmt.Fprintf(&b, " %s moved with it: the data cannot tell them apart.", alsoMoved(also, n))
	}
	if first.Remedy != "" {
		b.WriteString(" " + first.Remedy)
	}
	return b.String()
}

func alsoMoved(names []string, all int) string {
	clean := make([]string, len(names))
	for i, n := range names {
		clean[i] = text.OneLine(n)
	}
	list := strings.Join(clean, ", ")
	if all > len(names) {
		list += fmt.Sprintf(" and %d more", all-len(names))
	}
	return list
}

// inSentence is a subject in the middle of a sentence.
func inSentence(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// when is a cause's time relative to the change, in words.
func when(c *Cause) string {
	switch {
	case c.LagNs == nil && c.LagLow != nil:
		return " within " + units.FormatNs(max(-*c.LagLow, *c.LagHigh)) + " of it"
	case c.LagNs == nil:
		return " over the same time"
	case *c.LagHigh < 0:
		return " " + units.FormatNs(-*c.LagNs) + " before"
	case *c.LagLow > 0:
		return " " + units.FormatNs(*c.LagNs) + " later"
	}
	return " at the same time"
}

// whyNot is the reason why a monitor that changed with a metric is no candidate.
func whyNot(r vertical.Reason) string {
	switch r {
	case vertical.Restated:
		return "says the same as the metric in other words"
	case vertical.Later:
		return "changed later"
	case vertical.Earlier:
		return "changed too long before"
	case vertical.Weak:
		return "does not follow the metric within the change"
	case vertical.Elsewhere:
		return "also changed as much while the metric did not"
	case vertical.Follows:
		return "changed in the same proportion, as work does that is not done"
	case vertical.Rarely:
		return "did not change in most of the similar ranges"
	}
	return string(r)
}

// change is how a value changed: "fell by 40 %", "rose 60x", "rose from 0 to 830/s".
func change(before, during float64, unit string) string {
	verb := "rose"
	if during < before {
		verb = "fell"
	}
	ratio := during / before
	switch {
	case math.IsNaN(ratio) && before != 0 || math.IsNaN(before) || math.IsNaN(during):
		return "changed"
	case during == before:
		return "stayed at " + Format(during, unit)
	case before <= 0 || during < 0 || ratio > 1000:
		return fmt.Sprintf("%s from %s to %s", verb, Format(before, unit), Format(during, unit))
	case ratio >= 2:
		return verb + " " + strconv.FormatFloat(ratio, 'f', precision(ratio), 64) + "x"
	case during == 0:
		return "fell to 0"
	}
	return verb + " by " + units.FormatPercent(math.Abs(ratio-1))
}

func precision(ratio float64) int {
	if ratio < 10 {
		return 1
	}
	return 0
}

// Format prints a value in its unit.
func Format(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case unit == "ns" && math.Abs(v) < 1e18:
		return units.FormatNs(units.Ns(v))
	case (unit == "bytes" || unit == "bytes/s") && math.Abs(v) < 1e18:
		return units.FormatBytes(int64(v)) + unit[len("bytes"):]
	case unit == "ratio" || unit == "s/s":
		return units.FormatPercent(v)
	}
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if a := math.Abs(v); a >= 1000 && a < 1e15 {
		s = units.FormatCount(int64(math.Round(v)))
	}
	switch {
	case strings.HasPrefix(unit, "1/"):
		return s + unit[1:]
	case unit == "":
		return s
	}
	return s + " " + unit
}

// fromTo is a range of time, in the precision that its length needs.
func fromTo(s Span) string {
	unit, size, digits := "s", 1e9, 1
	length := float64(s.ToNs - s.FromNs)
	switch {
	case float64(s.ToNs) < 1e9:
		unit, size, digits = "ms", 1e6, 0
	case length < 50e6:
		digits = 3
	case length < 1e9:
		digits = 2
	}
	f := func(n units.Ns) string { return strconv.FormatFloat(float64(n)/size, 'f', digits, 64) }
	return "from " + f(s.FromNs) + " to " + f(s.ToNs) + " " + unit
}

// Caution is a caution about a correlation in a sentence.
func Caution(c vertical.Caution) string {
	switch c {
	case vertical.FewSamples:
		return "Too few independent samples: r may be chance."
	case vertical.Constant:
		return "One of the two does not vary: there is no r."
	case vertical.Leverage:
		return "A single sample makes r what it is: look at the dots that lie apart."
	case vertical.NonLinear:
		return "Pearson and Spearman differ: the relation is not a straight line."
	case vertical.Lagged:
		return "One of the two comes first: r is higher with that lag."
	case vertical.LowEvents:
		return "Few events in each sample: r is too low. Choose longer samples with --every."
	}
	return string(c)
}
