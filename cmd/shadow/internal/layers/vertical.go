// Package layers is shadow vertical and monitors: what a session has measured over time, by layer, and what moves with a metric.
package layers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/activity"
	"stackagent/granularity/vertical"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/analysis/timeseries"
	"stackagent/shadow/session"
)

// Flags are the flags of shadow vertical.
type Flags struct {
	listflags.Flags
	window    choice.Window
	every     string
	defined   []string
	correlate string
	matrix    string
	where     string
	lag       time.Duration
	Explain   string
	metrics   bool
	samples   bool
	output    string
	validateFlags

	executions []timeseries.Execution // that are the samples; nil: they follow each other
}

// DefaultTarget is the metric whose phases are listed.
const DefaultTarget = "task_throughput"

// New is shadow vertical.
func New(env console.Env) *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "vertical DIR",
		Short: "The vertical profile: what moves with a metric, over all layers from the program to the hardware",
		Long: `Without options, lists the phases of the task throughput that differ from its usual level,
each with what explains it. With -o, draws the series of all layers above each other.

--explain METRIC ranks the monitors that changed with a metric: in its most notable
change, or in the time FROM..TO since the start. What changed later, what also changed
elsewhere, and what says the same in other words is listed apart. p is corrected for
the number of series tried.

A metric is a monitor (shadow monitors lists them), a named metric (--metrics lists
them), or an expression over these: + - * /, the functions abs, avg, delta, max, min,
rate and ratio, and selectors such as tasks.finished{class~"Order*"}. The layer may be
left out where the name is still unique. A counter is its growth in each sample; rate()
makes that a growth per second. Units are checked. Where a denominator is next to
nothing, the sample has no value. docs/vertical.md has the whole language.

Samples are those at which monitors were sampled. --every takes other ones: of a fixed
length, from event to event, or units of work, with the monitors of their own threads as
task.NAME.

--validate makes runs. With a command alone it compares runs without each group of monitors
with runs with it: what sampling changes. With --explain, the command is the program without
the supposed cause, and the runs confirm the explanation or refute it.`,
		Example: `  shadow run --monitors all -o /tmp/s -- java -jar app.jar
  shadow vertical /tmp/s
  shadow vertical /tmp/s -o layers.svg
  shadow vertical /tmp/s --explain task_throughput
  shadow vertical /tmp/s --explain task_throughput@3.1s..3.9s -o dip.svg
  shadow vertical /tmp/s --correlate os.minor_faults,vm.heap.old.used_bytes --where 'gc_running == 0'
  shadow vertical /tmp/s --metric 'big=rate(tasks.finished{class~"Big*"})' --matrix big,cpu_share,gc_share -o matrix.png
  shadow vertical /tmp/s --every gc --samples --format csv
  shadow vertical /tmp/s --every 'task:com.acme.*' --correlate app.tasks.wall_ns,task.os.minor_faults
  shadow vertical --validate -- java -jar app.jar
  shadow vertical /tmp/s --explain task_throughput --validate -- java -XX:+AlwaysPreTouch -jar app.jar`,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, command := f.split(cmd, args)
			if err := cmp.Or(f.check(), f.checkRuns(args, command)); err != nil {
				return err
			}
			switch {
			case f.validate && f.Explain != "":
				return f.hypothesis(cmd.Context(), env, args[0], command)
			case f.validate:
				return f.perturbed(cmd.Context(), env, &f.Flags, command)
			}
			return f.show(env, args[0])
		},
	}
	f.addTo(cmd, env)
	return cmd
}

func (f *Flags) addTo(cmd *cobra.Command, env console.Env) {
	f.AddTo(cmd, env, true, "table", "json", "csv", "parquet")
	f.window.AddTo(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.every, "every", "", "samples: of a fixed `LENGTH` (10ms), or from event to event: gc, iteration; or task:CLASS, units of work")
	flags.StringArrayVar(&f.defined, "metric", nil, "name an expression: `NAME=EXPR` (repeatable)")
	flags.StringVar(&f.correlate, "correlate", "", "how two metrics go together: `A,B`")
	flags.StringVar(&f.matrix, "matrix", "", "how each pair of metrics goes together: `A,B,C...`")
	flags.StringVar(&f.where, "where", "", "only samples in which this holds: `CONDITION`, as 'gc_running == 0 and os.steal_ns < 1ms'")
	flags.DurationVar(&f.lag, "lag", 200*time.Millisecond, "the longest lag that --correlate and --matrix look for")
	flags.StringVar(&f.Explain, "explain", "", "what changed with a metric: `METRIC[@FROM..TO]`")
	flags.BoolVar(&f.metrics, "metrics", false, "list the named metrics, and which of them this session has")
	flags.BoolVar(&f.samples, "samples", false, "list the value of each metric of --metric (default: of each monitor) in each sample")
	f.validateFlags.addTo(flags)
	flags.StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf, or the rows of --format parquet to FILE")
}

func (f *Flags) check() error {
	if err := errors.Join(f.Flags.Check(), f.window.Check()); err != nil {
		return err
	}
	var asked []string
	for name, is := range map[string]bool{"--correlate": f.correlate != "", "--matrix": f.matrix != "", "--explain": f.Explain != "", "--metrics": f.metrics, "--samples": f.samples} {
		if is {
			asked = append(asked, name)
		}
	}
	slices.Sort(asked)
	switch {
	case len(asked) > 1:
		return console.Usagef("%s: use one of them", strings.Join(asked, " and "))
	case f.lag < 0:
		return console.Usagef("--lag %v: use a time of 0 or more", f.lag)
	case f.Format == "parquet" && !f.samples:
		return console.Usagef("--format parquet: use it with --samples")
	case f.Format == "parquet" && f.output == "":
		return console.Usagef("--format parquet: name a file with -o")
	case f.samples && f.output != "" && f.Format != "parquet":
		return console.Usagef("-o %s: --samples writes a file with --format parquet", f.output)
	case f.metrics && f.output != "":
		return console.Usagef("-o %s: --metrics is a table", f.output)
	}
	if f.Format != "parquet" {
		return files.CheckFigure(f.output)
	}
	return nil
}

// verticalView is a session loaded for the verb.
type verticalView struct {
	*explain.Profile
	session *session.Session
	use     []bool // samples chosen by --where; nil: all
	defined []string
}

func (f *Flags) show(env console.Env, dir string) error {
	v, err := f.Load(env, dir)
	if err != nil {
		return err
	}
	switch {
	case f.metrics:
		return f.listMetrics(v)
	case f.samples:
		return f.listSamples(env, v)
	case f.correlate != "":
		return f.correlation(env, v)
	case f.matrix != "":
		return f.correlations(env, v)
	case f.Explain != "":
		return f.explanation(env, v)
	case f.output != "":
		return f.overview(env, v)
	}
	return f.phases(env, v)
}

// Load reads the session in dir over the samples that the flags ask for.
func (f *Flags) Load(env console.Env, dir string) (*verticalView, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	span, err := f.window.Span(env, s)
	if err != nil {
		return nil, err
	}
	var o timeseries.Options
	if span != nil {
		o.From, o.To = span.From, span.To
	}
	t, err := f.table(s, span, o)
	if err != nil {
		return nil, err
	}
	v := &verticalView{Profile: explain.New(t, s.Manifest.StartNs), session: s}
	for _, d := range f.defined {
		name, expression, ok := strings.Cut(d, "=")
		if name = strings.TrimSpace(name); !ok {
			return nil, console.Usagef("--metric %s: want NAME=EXPR", d)
		}
		if err := v.Metrics.Define(name, expression); err != nil {
			return nil, console.Usagef("--metric %s: %w", d, err)
		}
		v.defined = append(v.defined, name)
	}
	if f.where != "" {
		if v.use, err = v.Metrics.Where(f.where); err != nil {
			return nil, console.Usagef("--where %s: %w", f.where, err)
		}
		n := 0
		for _, use := range v.use {
			if use {
				n++
			}
		}
		if n == 0 {
			return nil, fmt.Errorf("--where %s: it holds in none of the %d samples", f.where, len(v.use))
		}
		env.Note("%d of %d samples chosen", n, len(v.use))
	}
	noteLostSamples(env, t)
	if why := t.NotAvailable["samples"]; why != "" {
		env.Note("%s", text.OneLine(why))
	}
	return v, nil
}

// mostExecutions bounds the units of work that are samples.
const mostExecutions = 50_000

// table is the session over the samples that --every asks for.
func (f *Flags) table(s *session.Session, span *activity.Span, o timeseries.Options) (*timeseries.Table, error) {
	if class, ok := strings.CutPrefix(f.every, "task:"); ok {
		if !f.samples && f.correlate == "" && f.matrix == "" && !f.metrics {
			return nil, console.Usagef("--every task:%s has no time axis: use it with --correlate, --matrix or --samples", class)
		}
		if span != nil {
			return nil, console.Usagef("--every task:%s takes the whole session", class)
		}
		t, all, err := timeseries.OfExecutions(s, class, mostExecutions)
		f.executions = all
		return t, err
	}
	if err := f.grid(s, span, &o); err != nil {
		return nil, err
	}
	return timeseries.Load(s, o)
}

// metric evaluates a metric that a flag names. Where --where does not hold it has no value.
func (v *verticalView) metric(flag, expression string) (*formula.Metric, error) {
	m, err := v.Metrics.Metric(expression)
	if err != nil {
		return nil, console.Usagef("%s %s: %w", flag, expression, err)
	}
	m.Values = slices.Clone(m.Values)
	v.hide(m)
	return m, nil
}

// hide takes the values of samples away that --where does not choose.
func (v *verticalView) hide(m *formula.Metric) {
	for i, use := range v.use {
		if !use {
			m.Values[i] = math.NaN()
		}
	}
}

// rate is a metric that a flag names, a counter as growth per second.
func (v *verticalView) rate(flag, expression string) (*formula.Metric, error) {
	m, err := v.metric(flag, expression)
	if err != nil || !m.Counter {
		return m, err
	}
	r, err := v.Metrics.Rate(m)
	if err != nil {
		return nil, console.Usagef("%s %s: %w", flag, expression, err)
	}
	for i, use := range v.use {
		if !use {
			r.Values[i] = math.NaN()
		}
	}
	return r, nil
}

// NoteGuarded notes samples without a value because of a tiny denominator.
func NoteGuarded(env console.Env, metrics ...*formula.Metric) {
	for _, m := range metrics {
		if m.Guarded > 0 {
			env.Note("%s: no value in %d of %d samples, whose denominator is 0 or below %s of the usual", m.Name, m.Guarded, len(m.Values), units.FormatPercent(formula.TinyShare))
		}
	}
}

// rangeOf splits METRIC@FROM..TO.
func (v *verticalView) rangeOf(asked string) (name string, in vertical.Range, err error) {
	at := strings.LastIndexByte(asked, '@')
	if at < 0 || strings.Contains(asked[at:], `"`) || !strings.Contains(asked[at:], "..") { // an @ in a label
		return asked, in, nil
	}
	name = asked[:at]
	from, to, ok := strings.Cut(asked[at+1:], "..")
	start, err1 := time.ParseDuration(from)
	end, err2 := time.ParseDuration(to)
	if !ok || err1 != nil || err2 != nil || start < 0 || end <= start {
		return "", in, console.Usagef("--explain %s: want METRIC@FROM..TO, times since the start of the session as 3.1s..3.9s", asked)
	}
	in = v.Samples(spanOf(v.Start, start, end))
	if in.Len() == 0 {
		return "", in, fmt.Errorf("--explain %s: no sample lies in this time", asked)
	}
	return name, in, nil
}
