package text

// Population is what figures are of: what is counted, and what has the work.
type Population uint8

// What figures can be of.
const (
	Executions  Population = iota
	UnitsOfWork            // one submission each, see package granularity/unit
)

// One names a single member.
func (p Population) One() string {
	if p == UnitsOfWork {
		return "unit of work"
	}
	return "execution"
}

// Many names several members.
func (p Population) Many() string {
	if p == UnitsOfWork {
		return "units of work"
	}
	return "executions"
}

// Plural is "1 execution", "12 units of work".
func (p Population) Plural(n int64) string { return Plural(n, p.One(), p.Many()) }

// All names the whole population, in a legend.
func (p Population) All() string { return "all " + p.Many() }
