package top

import (
	"bytes"
	"strings"

	prettytext "github.com/jedib0t/go-pretty/v6/text"

	"stackagent/internal/listing/table"
)

// Styles of a line; a terminal without colour shows the same words.
const (
	bold    = "\x1b[1m"
	dim     = "\x1b[2m"
	reverse = "\x1b[7m"
	plain   = "\x1b[0m"
)

// canvas collects the lines of a frame, none wider than the terminal.
type canvas struct {
	width int
	color bool
	lines []string
}

// add adds a line. Its text must be clean already, but may be too long.
func (c *canvas) add(style, s string) {
	if prettytext.StringWidth(s) > c.width {
		s = prettytext.Trim(s, max(c.width-1, 0)) + "…"
	}
	if c.color && style != "" {
		s = style + s + plain
	}
	c.lines = append(c.lines, s)
}

// flow adds parts in as many lines as they need, and breaks between parts only.
func (c *canvas) flow(style, separator string, parts ...string) {
	line := ""
	for _, part := range parts {
		switch {
		case part == "":
		case line == "":
			line = part
		case prettytext.StringWidth(line)+prettytext.StringWidth(separator)+prettytext.StringWidth(part) > c.width:
			c.add(style, line)
			line = part
		default:
			line += separator + part
		}
	}
	if line != "" {
		c.add(style, line)
	}
}

// wrap adds text in as many lines as it needs, at most limit of them.
func (c *canvas) wrap(style, indent, s string, limit int) {
	room := max(c.width-prettytext.StringWidth(indent), 1)
	lines := strings.Split(prettytext.WrapSoft(s, room), "\n")
	for i, line := range lines {
		if i == limit-1 && len(lines) > limit {
			c.add(style, indent+table.Cut(strings.Join(lines[i:], " "), room))
			return
		}
		c.add(style, indent+strings.TrimRight(line, " "))
	}
}

const (
	leastName = 16 // cells of a column of names, which the others must leave
	nameShare = 3  // the first one has this part of the width
	blanks    = 2  // between columns, as internal/listing/table has them
)

// table adds as many of the columns as the width has room for; the first are the most
// important. The line of the selected row is marked; -1: none.
func (c *canvas) table(columns []table.Column, rows [][]string, selected int) {
	n, used := 0, 0
	for i, column := range columns {
		w := prettytext.StringWidth(column.Title)
		for _, row := range rows {
			w = max(w, prettytext.StringWidth(row[i]))
		}
		switch {
		case column.Flexible && i == 0:
			w = min(w, max(leastName, c.width/nameShare))
		case column.Flexible:
			w = min(w, leastName)
		}
		if used += w + blanks; used-blanks > c.width && i > 0 {
			break
		}
		n++
	}
	t := table.New(columns[:n]...)
	for _, row := range rows {
		t.Row(row[:n]...)
	}
	var b bytes.Buffer
	_ = t.Render(&b, table.Options{Width: c.width + blanks}) // a buffer takes everything; Render counts a gap after the last column
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		switch {
		case i == 0:
			c.add(bold, line)
		case i-1 == selected && c.color:
			c.add(reverse, prettytext.Pad(line, c.width, ' '))
		default:
			c.add("", line)
		}
	}
}

// spark draws values from 0 to the greatest of them with blocks, the last one now; a
// blank is a value that is not known.
func spark(values []float64) string {
	const blocks = "▁▂▃▄▅▆▇█"
	steps := []rune(blocks)
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteByte(' ')
		case most == 0:
			b.WriteRune(steps[0])
		default:
			b.WriteRune(steps[min(int(v/most*float64(len(steps))), len(steps)-1)])
		}
	}
	return b.String()
}
