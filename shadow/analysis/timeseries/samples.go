package timeseries

import (
	"cmp"
	"fmt"
	"math"

	"stackagent/hpc/monitor"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// notSampled says how a session gets monitors.
const notSampled = "the session has no samples: record it with shadow run --monitors all"

// sampled is a monitor while its samples are read.
type sampled struct {
	*Series
	levels map[int32]level // of a gauge, by thread
	first  units.MonoNs    // when its first value was taken; 0: none yet
	grew   units.MonoNs    // when an accrued counter grew last; 0: not yet
}

// level is the value of a gauge, and since when.
type level struct {
	value float64
	since units.MonoNs
}

// samples adds the monitors that were sampled. A value belongs to the interval that its sample ends: since the sample
// before, or, if its source is read less often, since it was read before.
func (b *builder) samples(r *monitor.Reader) error {
	if r == nil {
		b.absent["samples"] = notSampled
		return nil
	}
	h := r.Head()
	for what, why := range h.NotAvailable {
		b.absent[what] = why
	}
	all := map[string]*sampled{}
	for _, d := range h.Monitors {
		if d.Name == monitor.TickMonitor || b.index[d.Name] != nil { // the session knows it better
			continue
		}
		s := b.of(d)
		s.Dated = d.Interval
		all[d.Name] = &sampled{Series: s, levels: map[int32]level{}}
	}
	var before, at, firstTick units.MonoNs // the ticks around the rows that are read: rows of a sample come before its tick
	var rows []monitor.Row
	err := r.Each(func(row *monitor.Row) error {
		if row.Monitor != monitor.TickMonitor {
			rows = append(rows, *row)
			return nil
		}
		at = units.MonoNs(row.AtNs)
		if firstTick == 0 {
			firstTick = at
		}
		for i := range rows {
			if s := all[rows[i].Monitor]; s != nil {
				b.sample(s, &rows[i], firstTick, before, at)
			}
		}
		rows, before = rows[:0], at
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		b.close(s, firstTick, at)
	}
	if n := len(r.Damage()); n > 0 {
		b.damage = r.Damage()
		b.absent["some samples"] = fmt.Sprintf("%s could not be read, the first: %v", text.PluralExact(n, "part", "parts"), r.Damage()[0])
	}
	if h.Dropped > 0 {
		b.absent["some values"] = fmt.Sprintf("%d values were not stored", h.Dropped)
	}
	return nil
}

// sample takes one row. before and at are the ticks between which it lies, first is the first of all.
func (b *builder) sample(s *sampled, row *monitor.Row, first, before, at units.MonoNs) {
	if math.IsNaN(row.Value) || math.IsInf(row.Value, 0) {
		return
	}
	from := before
	if every := units.MonoNs(s.Interval); every > 0 && at-every < before {
		from = at - every
	}
	if s.first == 0 {
		s.first = from
		if s.Accrued {
			s.first = max(first, s.From)
		}
	}
	if s.Accrued {
		from = cmp.Or(s.grew, s.first)
		s.grew, s.Dated = at, max(s.Dated, units.Ns(at-from))
	}
	if s.Kind == monitor.Counter {
		b.spread(s.Series, from, at, row.Value)
		return
	}
	if old, ok := s.levels[row.Thread]; ok {
		b.level(s.Series, old.since, from, old.value)
		b.ramp(s.Series, from, at, old.value-row.Value, 0)
	}
	s.levels[row.Thread] = level{row.Value, from}
}

// close ends the levels, and marks what was not measured.
func (b *builder) close(s *sampled, first, last units.MonoNs) {
	for _, l := range s.levels {
		b.level(s.Series, l.since, last, l.value)
	}
	begin := first
	if s.Kind == monitor.Gauge {
		begin = last // a gauge without a value was never read
		if s.first != 0 {
			begin = s.first
		}
	}
	b.unknown(s.Series, b.edges[0], max(begin, s.From))
	if s.Accrued { // what came since is not counted yet
		last = min(last, s.grew)
	}
	if s.Until > 0 {
		last = min(last, s.Until)
	}
	b.unknown(s.Series, last, b.edges[len(b.edges)-1])
}
