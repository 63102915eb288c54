package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Table is a Markdown table; columns but the first are numbers, set to the right.
type Table struct {
	Head []string
	Rows [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// String is the table with aligned columns, ending with a line break.
func (t *Table) String() string {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(escape(cell))), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i := range width {
			cell := ""
			if i < len(row) {
				cell = escape(row[i])
			}
			if i == 0 {
				fmt.Fprintf(&b, "| %-*s ", width[i], cell)
			} else {
				fmt.Fprintf(&b, "| %*s ", width[i], cell)
			}
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i, w := range width {
		if i == 0 {
			b.WriteString("|" + strings.Repeat("-", w+2))
		} else {
			b.WriteString("|" + strings.Repeat("-", w+1) + ":")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}

func escape(cell string) string { return strings.ReplaceAll(cell, "|", `\|`) }

// Number formats v to three significant digits, without exponent: 0.123, 1.23,
// 12.3, 1,230.
func Number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "?"
	case v == 0:
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if math.Abs(v) < 999.5 {
		return strconv.FormatFloat(v, 'f', min(digits, 6), 64)
	}
	scale := math.Pow10(max(0, -digits))
	return Grouped(int64(math.Round(v/scale) * scale))
}

// Grouped formats a count exactly, thousands by commas.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return sign + s
}

// Interval formats an estimate: "12.3 [11.9, 12.8]", or the value alone if
// there is no interval.
func Interval(e Estimate) string {
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return Number(e.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", Number(e.Value), Number(e.Low), Number(e.High))
}

// Percent formats the change from 1 of a ratio: "+3.2 % [+1.0, +5.1]".
func Percent(ratio Estimate) string {
	s := fmt.Sprintf("%+.1f %%", 100*(ratio.Value-1))
	if math.IsNaN(ratio.Low) || math.IsNaN(ratio.High) {
		return s
	}
	return fmt.Sprintf("%s [%+.1f, %+.1f]", s, 100*(ratio.Low-1), 100*(ratio.High-1))
}

// Share formats a part of 1: "3.21 % [3.01, 3.42]".
func Share(part Estimate) string {
	s := Number(100*part.Value) + " %"
	if math.IsNaN(part.Low) || math.IsNaN(part.High) {
		return s
	}
	return fmt.Sprintf("%s [%s, %s]", s, Number(100*part.Low), Number(100*part.High))
}

// Bytes formats a size in binary units.
func Bytes(n float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if n < 1024 || unit == "GiB" {
			return Number(n) + " " + unit
		}
		n /= 1024
	}
	return "?"
}

// Replace puts text between the marks of part in page:
//
//	<!-- begin task -->
//	<!-- end task -->
func Replace(page, part, text string) (string, error) {
	begin, end := "<!-- begin "+part+" -->\n", "<!-- end "+part+" -->"
	before, rest, found := strings.Cut(page, begin)
	if !found {
		return "", fmt.Errorf("no line %q in the page", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no %q after %q in the page", end, strings.TrimSpace(begin))
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}
