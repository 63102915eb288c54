package layers

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/hpc/monitor"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/timeseries"
	"stackagent/shadow/show/view"
)

// NewMonitors is shadow monitors.
func NewMonitors(env console.Env) *cobra.Command {
	var l listflags.Flags
	var match string
	var absent bool
	cmd := &cobra.Command{
		Use:   "monitors DIR",
		Short: "What a session has measured over time, by layer",
		Long: `Lists the monitors of a session, from the application down to the hardware: scalars
over time that shadow vertical compares. Those of tasks, waits, pauses and threads every
session has; the others are sampled if you ask: shadow run --monitors all.

Samples is how many samples have a value other than 0. A counter is listed with its
total over the session, a gauge with its mean.`,
		Example: "  shadow monitors /tmp/s\n  shadow monitors /tmp/s --match 'vm.gc.*'\n  shadow monitors /tmp/s --not-available",
		Args:    listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			s, err := env.Open(args[0])
			if err != nil {
				return err
			}
			t, err := timeseries.Load(s, timeseries.Options{})
			if err != nil {
				return err
			}
			if absent {
				return view.Rows(&l.Printer, absences(t), AbsentColumns)
			}
			rows := monitorRows(t, match)
			if err := view.Rows(&l.Printer, rows, MonitorColumns); err != nil || l.Format != "table" {
				return err
			}
			if len(rows) == 0 {
				env.Note("no monitor matches %s", text.OneLine(match))
			}
			noteMonitors(env, t)
			return nil
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	cmd.Flags().StringVar(&match, "match", "", "only monitors whose names match this glob")
	cmd.Flags().BoolVar(&absent, "not-available", false, "list what this session has not, and why")
	return cmd
}

// monitorRow is a monitor of a session.
type monitorRow struct {
	*timeseries.Series
	samples int
	value   float64 // total of a counter, mean of a gauge; NaN: never measured
}

func monitorRows(t *timeseries.Table, match string) (rows []*monitorRow) {
	for i := range t.Series {
		s := &t.Series[i]
		if match != "" && !monitor.Match(match, s.Name) {
			continue
		}
		r := &monitorRow{Series: s}
		r.samples, r.value = timeseries.Sum(t, s)
		rows = append(rows, r)
	}
	return rows
}

// MonitorColumns are those of shadow monitors.
var MonitorColumns = []listing.Column[*monitorRow]{
	{Name: "layer", Title: "layer", Kind: listing.Word, Doc: "application, framework, libraries, vm, native, os or hardware", Value: func(r *monitorRow) listing.Value { return listing.WordOf(string(r.Layer)) }},
	{Name: "name", Title: "monitor", Kind: listing.Name, Doc: "name, with labels in braces", Value: func(r *monitorRow) listing.Value { return listing.NameOf(r.Series.Name) }},
	{Name: "unit", Kind: listing.Word, Doc: "ns, bytes, tasks, ratio; empty: a plain count", Value: func(r *monitorRow) listing.Value { return listing.WordOf(r.Unit) }},
	{Name: "kind", Kind: listing.Word, Doc: "counter: a total that grows; gauge: a value at a moment", Value: func(r *monitorRow) listing.Value { return listing.WordOf(r.Kind.String()) }},
	{Name: "value", Title: "total or mean", Kind: listing.Float, Optional: true, Doc: "total of a counter, mean of a gauge", Value: func(r *monitorRow) listing.Value {
		if math.IsNaN(r.value) {
			return listing.Null
		}
		return listing.FloatOf(r.value)
	}, Show: (*monitorRow).shown},
	{Name: "samples", Title: "samples", Kind: listing.Int, Unit: listing.Count, Doc: "samples with a value other than 0", Value: func(r *monitorRow) listing.Value { return listing.IntOf(r.samples) }},
	{Name: "source", Kind: listing.Name, Doc: "where it is read", Value: func(r *monitorRow) listing.Value { return listing.NameOf(r.Source) }},
	{Name: "doc", Title: "what it is", Kind: listing.Name, Wraps: true, Doc: "what it counts, and what it cannot see", Value: func(r *monitorRow) listing.Value { return listing.NameOf(r.Doc) }},
}

// shown is the value as a person reads it.
func (r *monitorRow) shown() string {
	switch {
	case math.IsNaN(r.value):
		return ""
	case r.Unit == "ns":
		return units.FormatNs(units.Ns(r.value))
	case r.Unit == "bytes":
		return units.FormatBytes(int64(r.value))
	case r.Unit == "ratio":
		return units.FormatPercent(r.value)
	}
	if r.value == math.Trunc(r.value) {
		return units.FormatExact(int64(r.value))
	}
	return strconv.FormatFloat(r.value, 'g', 4, 64)
}

// absence is something that a session has not.
type absence struct{ what, why string }

func absences(t *timeseries.Table) (rows []*absence) {
	for _, what := range slices.Sorted(maps.Keys(t.NotAvailable)) {
		rows = append(rows, &absence{what, t.NotAvailable[what]})
	}
	return rows
}

// AbsentColumns are those of what a session has not.
var AbsentColumns = []listing.Column[*absence]{
	{Name: "what", Title: "not available", Kind: listing.Name, Doc: "a monitor, or all below a prefix", Value: func(r *absence) listing.Value { return listing.NameOf(r.what) }},
	{Name: "why", Title: "why", Kind: listing.Name, Wraps: true, Doc: "the reason", Value: func(r *absence) listing.Value { return listing.NameOf(r.why) }},
}

// noteMonitors says what was sampled how often, and how much is not there.
func noteMonitors(env console.Env, t *timeseries.Table) {
	noteLostSamples(env, t)
	if t.Interval > 0 {
		env.Note("%s of %s%s", text.PluralExact(t.Len(), "sample", "samples"), units.FormatNs(t.Interval), missedSamples(t))
	}
	if why, ok := t.NotAvailable["samples"]; ok {
		env.Note("%s", why)
	}
	if n := len(t.NotAvailable); n > 0 {
		env.Note("%s not available: --not-available lists them with the reason", text.PluralExact(n, "thing is", "things are"))
	}
}

// noteLostSamples says which samples could not be read.
func noteLostSamples(env console.Env, t *timeseries.Table) {
	for _, err := range t.Damage {
		env.Note("samples are missing, and what grew in them: %s", text.OneLine(err.Error()))
	}
}

func missedSamples(t *timeseries.Table) string {
	if t.Missed == 0 {
		return ""
	}
	return "; " + text.PluralExact(int(t.Missed), "other was", "others were") + " not taken in time, so the next ones are longer"
}
