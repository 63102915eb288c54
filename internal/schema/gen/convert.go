package main

import (
	"fmt"
	"strings"

	"stackagent/internal/schema"
)

// writeConversions makes the rows of a batch's records. What is neither a copy nor the conversion of a time is
// derived by hand.
func writeConversions(c *code) {
	c.begin("ingest", "slices", "", "stackagent/internal/units", "stackagent/internal/wire", "stackagent/shadow/store")
	c.p("// appendRows converts the records of b that have a row each and appends them to p. Spans are converted by the rate of the clock at the batch.")
	c.p("func appendRows(p *store.Part, b *wire.Batch, c *clock) {\n\trate := c.rate(b.Clock.Ticks, b.Clock.Ticks)")
	for _, r := range converted() {
		c.p("\tfor i := range b.%s {\n\t\tp.%s = append(p.%s, store.%s{})\n\t\trow%s(&p.%s[len(p.%s)-1], &b.%s[i], c, rate)\n\t}",
			inBatch(r), r.Plural, r.Plural, r.Name, r.Name, r.Plural, r.Plural, inBatch(r))
	}
	c.p("}\n\n// reserve makes room in p for the rows of the batches: growing by steps would copy a large part several times.")
	c.p("func reserve(p *store.Part, part []*held) {\n\tvar n struct{ %s int }\n\tfor _, h := range part {", strings.Join(bigNames(), ", "))
	for _, name := range bigNames() {
		c.p("\t\tn.%s += len(h.batch.%s)", name, name)
	}
	c.p("\t}")
	for _, name := range bigNames() {
		c.p("\tp.%s = slices.Grow(p.%s, n.%s)", name, name, name)
	}
	c.p("}\n")
	for _, r := range stored() {
		if r.Wire.Coding != schema.NotSent {
			conversion(c, r)
		}
	}
}

func bigNames() (names []string) {
	for _, r := range big() {
		names = append(names, r.Plural)
	}
	return names
}

// converted are the records of which each is a row.
func converted() (list []*schema.Record) {
	for _, r := range stored() {
		if r.Wire.Coding != schema.NotSent && !r.Wire.Many {
			list = append(list, r)
		}
	}
	return list
}

// inBatch is the list of a batch that holds the records.
func inBatch(r *schema.Record) string {
	if r.Wire.In != "" {
		return r.Wire.In
	}
	return r.Plural
}

// conversion makes the function that fills in a row.
func conversion(c *code, r *schema.Record) {
	derived, clock, rate := false, "_", "_"
	var body strings.Builder
	for _, f := range rowFields(r) {
		value := "x." + f.Name
		switch {
		case f.Row.From == schema.By:
			derived = true
			continue
		case f.Name == "":
			continue
		}
		switch f.Row.From {
		case schema.Moment:
			clock, value = "c", as(f.Row.Type, "units.MonoNs", "c.mono("+value+")")
		case schema.Span:
			rate, value = "rate", as(f.Row.Type, "int64", fmt.Sprintf("rate.ns(uint64(%s))", value))
		case schema.Nullable:
			value = "nullable(" + value + ")"
		case schema.Text:
			value += ".String()"
		default:
			value = as(f.Row.Type, f.Type, value)
		}
		fmt.Fprintf(&body, "\tr.%s = %s\n", f.Row.Name, value)
	}
	if derived {
		clock, rate = "c", "rate"
		fmt.Fprintf(&body, "\tderive%s(r, x, c, rate)\n", r.Name)
	}
	c.p("func row%s(r *store.%s, x *wire.%s, %s *clock, %s nsPerTick) {\n%s}\n", r.Name, r.Name, r.Name, clock, rate, body.String())
}
