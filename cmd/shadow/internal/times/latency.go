package times

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/estimate"
	"stackagent/granularity/latency"
	"stackagent/internal/units"
	tasks "stackagent/shadow/analysis/latency"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
)

// latencyFlags are the flags of shadow latency.
type latencyFlags struct {
	listflags.Flags
	window  choice.Window
	class   string
	metered string
	asked   bool // --metered was given
	output  string

	windows []units.Ns
}

// NewLatency is shadow latency.
func NewLatency(env console.Env) *cobra.Command {
	var f latencyFlags
	cmd := &cobra.Command{
		Use:   "latency DIR... --class GLOB",
		Short: "Latency of tasks: simple, response and metered, with high percentiles",
		Long: `Shows how long the tasks of a class took, from the median to the 99.999th
percentile. All executions count, those recorded one by one and those summarised.
Percentiles that rest on summaries are marked with ~; relative_error bounds their error.

simple    from start to end
response  from submission to end; of a task that was submitted to run later, from its
          due time where the session has it
metered   from start to end, as if requests had arrived at a steady rate: a pause also
          delays those that had to wait for it. --metered names the windows of time
          over which the starts are made steady; whole is the whole run.

With several sessions the figure has a panel for each kind of latency. Curves are named by
collector and largest heap (-Xmx) where these tell the sessions apart, else by folder. Folders
DIR/run-1, DIR/run-2, ... are repeated runs: one curve of all their tasks, with a band from the
least to the greatest of the runs.

--class matches Java names of classes. If no execution has such a class, it matches
the names of units of work, as shadow hotspots --units shows them.`,
		Example: `  shadow latency /tmp/s --class com.acme.Request
  shadow latency before after --class 'com.acme.*' --metered 10ms,100ms,whole
  shadow latency before after --class com.acme.Request --iteration last -o latency.svg
  shadow latency out/G1/run-1 out/G1/run-2 out/ZGC/run-1 out/ZGC/run-2 --class com.acme.Request -o latency.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.asked = cmd.Flags().Changed("metered")
			if err := f.check(); err != nil {
				return err
			}
			return f.run(env, args)
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	cmd.Flags().StringVar(&f.class, "class", "", "the tasks: classes, or units of work, whose name matches this glob")
	f.window.AddTo(cmd)
	cmd.Flags().StringVar(&f.metered, "metered", "100ms,whole", "windows of metered latency: times, whole; or none")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the percentile figure to FILE.svg|png|pdf")
	return cmd
}

func (f *latencyFlags) check() error {
	if err := errors.Join(f.Flags.Check(), f.window.Check(), files.CheckFigure(f.output)); err != nil {
		return err
	}
	if f.class == "" {
		return console.Usagef("missing --class: name the tasks, as shadow hotspots lists them")
	}
	if err := (summary.Filter{Class: f.class}).Check(); err != nil {
		return console.Usagef("--class: %v", err)
	}
	f.windows = nil
	if f.metered == "none" {
		return nil
	}
	for _, word := range strings.Split(f.metered, ",") {
		w, err := meteredWindow(strings.TrimSpace(word))
		if err != nil {
			return err
		}
		if !slices.Contains(f.windows, w) {
			f.windows = append(f.windows, w)
		}
	}
	return nil
}

func meteredWindow(word string) (units.Ns, error) {
	if word == "whole" {
		return latency.Whole, nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d <= 0 {
		return 0, console.Usagef("--metered %q: use times as 100ms, whole, or none", word)
	}
	return units.Ns(d), nil
}

// LatencyRow is a distribution of latencies; times are nanoseconds.
type LatencyRow struct {
	Session       string              `json:"session"`
	Configuration string              `json:"configuration"` // of the session: what tells it apart from the others
	Class         string              `json:"class"`
	Kind          string              `json:"kind"`   // "simple", "response", "metered"
	Window        string              `json:"window"` // of metered latency
	Count         int64               `json:"count"`
	Summarised    int64               `json:"summarised"` // of them, known by histograms
	Percentiles   map[string]units.Ns `json:"percentiles"`
	MeanNs        *float64            `json:"mean_ns"`         // exact unless Timed
	MaxNs         *units.Ns           `json:"max_ns"`          // exact; with Timed that of the timed ones
	Timed         int64               `json:"timed,omitempty"` // of Count, if the others are estimated from these
	RelativeError float64             `json:"relative_error"`  // of the percentiles; 0: exact
	NotAvailable  string              `json:"not_available,omitempty"`

	distribution *latency.Distribution
	run          int // the session's place among the arguments
}

func (f *latencyFlags) run(env console.Env, dirs []string) error {
	var rows []*LatencyRow
	c := newConfigurations(dirs)
	for i, dir := range dirs {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		before := len(s.Warnings)
		span, err := f.window.Span(env, s)
		if err != nil {
			return err
		}
		t, err := tasks.Read(s, f.class, span, true)
		if err != nil {
			return err
		}
		env.NoteFound(s, before)
		if t.Count() == 0 && span != nil {
			return fmt.Errorf("session %s: no task that matches %s starts in %s", s.Manifest.Session, f.class, &f.window)
		}
		if t.Count() == 0 {
			return fmt.Errorf("session %s: no execution of a class, and no unit of work, matches %s; shadow hotspots %s lists them", s.Manifest.Session, f.class, dir)
		}
		if why := t.NoMetered(); why != "" && f.asked && len(f.windows) > 0 {
			return fmt.Errorf("session %s: no metered latency of %s: %s, or use --metered none", s.Manifest.Session, f.class, why)
		}
		c.know(i, s.Manifest.JVM)
		of := f.rows(s.Manifest.Session, t)
		for _, r := range of {
			r.run = i
		}
		rows = append(rows, of...)
	}
	names := c.labels()
	for _, r := range rows {
		r.Configuration = names[r.run]
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, latencyFigure(f.class, rows))
	}
	return f.print(rows)
}

// rows are the latencies of the tasks of a session.
func (f *latencyFlags) rows(session string, t *tasks.Tasks) []*LatencyRow {
	row := func(kind, window string) *LatencyRow {
		return &LatencyRow{Session: session, Class: t.Class, Kind: kind, Window: window, Percentiles: map[string]units.Ns{}}
	}
	simple, response := row("simple", ""), row("response", "")
	simple.describe(latency.Describe(latency.Simple(t.Events), t.Summarised))
	if response.NotAvailable = t.NoResponse; t.NoResponse == "" {
		response.describe(latency.Describe(t.Responses, t.SummarisedResponses))
	}
	rows := []*LatencyRow{simple, response}
	for _, w := range f.windows {
		name := "whole"
		if w != latency.Whole {
			name = time.Duration(w).String()
		}
		r := row("metered", name)
		if r.NotAvailable = t.NoMetered(); r.NotAvailable == "" {
			r.describe(latency.Describe(latency.Metered(t.Events, w), nil))
		}
		rows = append(rows, r)
	}
	return rows
}

func (r *LatencyRow) describe(d *latency.Distribution) {
	r.distribution = d
	r.Count, r.Summarised, r.Timed, r.RelativeError = d.Count(), d.Summarised(), d.Timed(), d.RelativeError()
	for _, p := range latency.Percentiles {
		if n := d.At(p); n.Measured() {
			r.Percentiles[view.PercentileName(p)] = n
		}
	}
	if n := d.Max(); n.Measured() {
		r.MaxNs = &n
	}
	r.MeanNs = estimate.Number(d.Mean())
}

// kind is the kind with its window.
func (r *LatencyRow) kind() string {
	switch r.Window {
	case "":
		return r.Kind
	case "whole":
		return "metered, whole run"
	}
	return r.Kind + ", " + r.Window
}
