package gcreport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// causeUnseen stands for collections of which only the number is known: several
// between two looks at the JVM's counters, which hold the cause of the last one only.
const causeUnseen = "(not seen)"

// Cause is a collector and why it ran, from the JVM's own counters.
type Cause struct {
	Collector string `json:"collector"`
	Cause     string `json:"cause"`
	Count     int64  `json:"count"`
	// TimeNs is the time from start to end of those with a known cause.
	// null: the cause of none is known.
	TimeNs *units.Ns `json:"time_ns"`
}

// time is empty if it is not known.
func (c *Cause) time() string {
	if c.TimeNs == nil {
		return ""
	}
	return units.FormatNs(*c.TimeNs)
}

// Safepoints are stops of the whole JVM, collections among them.
type Safepoints struct {
	Count     int64    `json:"count"`
	StoppedNs units.Ns `json:"stopped_ns"` // in all
	TimeNs    units.Ns `json:"time_ns"`    // of StoppedNs, at safepoints
	ReachNs   units.Ns `json:"reach_ns"`   // of StoppedNs, from the request until all threads had stopped
}

// causes adds what the JVM's own counters recorded in the window.
func (r *Report) causes(a *session.Activity, w activity.Span) {
	if a == nil {
		return // said already
	}
	samples, err := a.Collections()
	why := a.NoCounters().Error()
	if err != nil { // what could be read stands
		why = text.OneLine(err.Error())
		r.NotAvailable["part of the causes and safepoints"] = why
	}
	if len(samples) == 0 {
		r.NotAvailable["causes"], r.NotAvailable["safepoints"] = why, why
		return
	}
	r.Causes = causesOf(samples, w)
	if s, err := session.StandstillOf(samples, w); err != nil {
		r.NotAvailable["safepoints"] = err.Error()
	} else {
		r.Safepoints = &Safepoints{s.Safepoints, s.TotalNs, s.AtNs, s.ReachNs}
	}
}

// causesOf counts collections by collector and cause.
func causesOf(samples []sched.GCSample, w activity.Span) []Cause {
	sums := map[[2]string]*Cause{}
	add := func(collector, cause string, n int64, d units.Ns) {
		key := [2]string{collector, cause}
		c := sums[key]
		if c == nil {
			c = &Cause{Collector: collector, Cause: cause}
			sums[key] = c
		}
		c.Count += n
		if !d.Measured() {
			return
		}
		if c.TimeNs == nil {
			c.TimeNs = new(units.Ns)
		}
		*c.TimeNs += d
	}
	session.EachCollection(samples, func(s *sched.GCSample, n int64, took units.Ns) {
		if s.At < w.From || s.At >= w.To {
			return
		}
		add(s.Collector, cmp.Or(s.Cause, causeUnseen), 1, took)
		if n > 1 {
			add(s.Collector, causeUnseen, n-1, units.NotMeasured)
		}
	})
	var out []Cause
	for _, key := range slices.SortedFunc(maps.Keys(sums), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		out = append(out, *sums[key])
	}
	return out
}

// causesTable prints them.
func (r *Report) causesTable(p *view.Printer, o table.Options) error {
	if len(r.Causes) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out)
	return view.Table(p.Out, o, listing.Refs(r.Causes), causeColumns)
}

var causeColumns = []listing.Column[*Cause]{
	{Title: "collector", Kind: listing.Word, Value: func(c *Cause) listing.Value { return listing.WordOf(c.Collector) }},
	{Title: "cause", Kind: listing.Name, Value: func(c *Cause) listing.Value { return listing.NameOf(c.Cause) }},
	{Title: "collections", Kind: listing.Int, Unit: listing.Count, Value: func(c *Cause) listing.Value { return listing.IntOf(c.Count) }},
	{Title: "time", Kind: listing.Int, Show: (*Cause).time},
}
