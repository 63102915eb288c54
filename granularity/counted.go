package granularity

import (
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Counted is what figures are of: what is counted, and what has a work.
type Counted uint8

// What figures can be of.
const (
	Executions  Counted = iota
	UnitsOfWork         // one hand-over each, see package unit
)

// One names a single one, in a sentence.
func (c Counted) One() string {
	if c == UnitsOfWork {
		return "unit of work"
	}
	return "execution"
}

// Many names several.
func (c Counted) Many() string {
	if c == UnitsOfWork {
		return "units of work"
	}
	return "executions"
}

// Plural is "1 execution", "12 units of work".
func (c Counted) Plural(n int64) string { return text.Plural(n, c.One(), c.Many()) }

// All names all of them together, in a legend.
func (c Counted) All() string { return "all " + c.Many() }

// FormatIn prints a value in its unit, "ns", "bytes" or "" for a count.
func FormatIn(unit string, v units.Ns) string {
	switch unit {
	case "ns":
		return units.FormatNs(v)
	case "bytes":
		return units.FormatBytes(int64(v))
	}
	return units.FormatCount(int64(v))
}
