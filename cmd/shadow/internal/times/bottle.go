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
	"stackagent/granularity/bottle"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/session/iteration"
	"stackagent/shadow/show/figure"
)

// bottleFlags are the flags of shadow bottle.
type bottleFlags struct {
	listflags.Flags
	window    choice.Window
	every     time.Duration
	each      bool // iteration
	group     string
	output    string
	normalise bool
	runnable  bool

	several bool // sessions
}

// NewBottle is shadow bottle.
func NewBottle(env console.Env) *cobra.Command {
	var f bottleFlags
	cmd := &cobra.Command{
		Use:   "bottle DIR...",
		Short: "Bottle graph: each thread's share of the time and its parallelism",
		Long: `Shows a box for each thread. Its height is the thread's share of the time: while r
threads run, each gets 1/r. Its width is the average number of threads running at
the same time. Heights add up to the time in which at least one thread ran. A tall,
narrow box is a thread that ran mostly alone: your sequential bottleneck.

With several sessions, draws their graphs side by side on one scale, and adds a column
that names the session. --normalise gives heights as a share of the first session's
height: how much longer or shorter each configuration takes than the first.

With --each-iteration, draws a graph for each iteration of a session (or for those of
--iteration) in the same way: the first ones show classes being loaded and methods
compiled.

--runnable also counts threads that wait for a CPU. Use it where there are fewer CPUs
than threads: the widths then show the program's parallelism, not the machine's.

Needs the scheduling record (shadow run --switches). Also works on a session that
is still being recorded, as far as it is stored.`,
		Example: `  shadow bottle /tmp/s
  shadow bottle /tmp/s --from 2s --to 5s -o bottle.svg
  shadow bottle /tmp/s --every 500ms --group kind --format csv
  shadow bottle /tmp/s --each-iteration --group pool -o iterations.svg
  shadow bottle out/threads-1/run-1 out/threads-2/run-1 out/threads-4/run-1 --runnable -o bottles.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return f.check(len(args))
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args) },
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.window.AddTo(cmd)
	cmd.Flags().DurationVar(&f.every, "every", 0, "one graph per interval of this length (one session only)")
	cmd.Flags().BoolVar(&f.each, "each-iteration", false, "one graph per iteration")
	cmd.Flags().StringVar(&f.group, "group", "thread", "a box for each thread|pool|kind")
	cmd.Flags().BoolVar(&f.normalise, "normalise", false, "heights as a share of the first graph's height")
	cmd.Flags().BoolVar(&f.runnable, "runnable", false, "count threads that wait for a CPU as running")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
	return cmd
}

// maxWindows bounds how many graphs --every and --each-iteration may ask for.
const maxWindows = 100_000

func (f *bottleFlags) check(sessions int) error {
	f.several, f.window.Gaps = sessions > 1, f.each
	if err := errors.Join(f.Flags.Check(), CheckGroup(f.group), files.CheckFigure(f.output), f.window.Check()); err != nil {
		return err
	}
	switch {
	case f.every < 0 || f.every > 0 && f.every < time.Microsecond:
		return console.Usagef("--every %v: use a time of 1µs or more", f.every)
	case f.every > 0 && f.several:
		return console.Usagef("--every divides one session into windows: name one session folder, or leave it out")
	case f.every > 0 && f.each:
		return console.Usagef("--every and --each-iteration: use one of them")
	case f.normalise && !f.several && !f.each:
		return console.Usagef("--normalise compares with the first session or iteration: name several session folders, or use --each-iteration, or leave it out")
	}
	return nil
}

// CheckGroup refuses what threads cannot be grouped by.
func CheckGroup(group string) error {
	if !slices.Contains([]string{"thread", "pool", "kind"}, group) {
		return console.Usagef("--group %s: use thread, pool or kind", group)
	}
	return nil
}

// sessionGraph is a bottle graph of a session.
type sessionGraph struct {
	*bottle.Graph
	label     string       // of several sessions
	iteration int          // from 1; 0: it is not of one
	start     units.MonoNs // of the session
	of        *session.Activity
}

func (f *bottleFlags) run(env console.Env, dirs []string) error {
	var graphs []sessionGraph
	labels := catalog.FolderLabels(dirs)
	for i, dir := range dirs {
		more, err := f.graphs(env, dir)
		if err != nil {
			return err
		}
		for k := range more {
			if f.several {
				more[k].label = labels[i]
			}
		}
		graphs = append(graphs, more...)
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, f.figure(graphs))
	}
	if f.Format == "table" && !f.several {
		NoteAccount(env, graphs[0].of.Account)
	}
	return f.print(graphs)
}

// graphs are those of the windows of a session.
func (f *bottleFlags) graphs(env console.Env, dir string) ([]sessionGraph, error) {
	s, err := env.Open(dir)
	if err != nil {
		return nil, err
	}
	a, err := choice.OpenActivity(env, s)
	if err != nil {
		return nil, err
	}
	window, err := f.window.Of(env, s, a.From, a.To)
	if err != nil {
		return nil, err
	}
	if f.every > 0 && int64(window.Len())/int64(f.every) >= maxWindows {
		return nil, console.Usagef("--every %v: more than %d windows; choose a longer time, or less with --from and --to", f.every, maxWindows)
	}
	stream := a.Stream(window.From, window.To)
	if f.runnable {
		if why := a.NoRunnable(); why != "" {
			return nil, fmt.Errorf("session %s: --runnable is not available: %s", s.Manifest.Session, why)
		}
		stream = bottle.CountRunnable(stream)
	}
	windows := bottle.Windows(window.From, window.To, units.Ns(f.every))
	var each []iteration.Iteration
	if f.each {
		if each, err = f.window.Apart(s, window); err != nil {
			return nil, err
		}
		if len(each) > maxWindows {
			return nil, console.Usagef("--each-iteration: %d iterations, at most %d have graphs; choose some with --iteration", len(each), maxWindows)
		}
		windows = nil
		for _, i := range each {
			windows = append(windows, i.Span())
		}
	}
	graphs, err := bottle.Compute(a.Threads, stream, windows...)
	if err != nil {
		return nil, err
	}
	choice.NoteDamage(env, a)
	var out []sessionGraph
	for i, g := range graphs {
		g.Runnable = f.runnable
		one := sessionGraph{Graph: g.Group(bottle.By(f.group)), start: s.Manifest.StartNs, of: a}
		if f.each {
			one.iteration = each[i].Index
		}
		out = append(out, one)
	}
	return out, nil
}

func (f *bottleFlags) figure(graphs []sessionGraph) *figure.Figure {
	switch {
	case f.several || f.each:
		var labelled []figure.LabelledBottle
		for _, g := range graphs {
			label := g.label
			if f.each {
				label = strings.TrimPrefix(fmt.Sprintf("%s, iteration %d", label, g.iteration), ", ")
			}
			labelled = append(labelled, figure.LabelledBottle{Label: label, Graph: g.Graph})
		}
		return figure.BottleRow(labelled, f.normalise)
	case f.every > 0:
		var windows []*bottle.Graph
		for _, g := range graphs {
			windows = append(windows, g.Graph)
		}
		return figure.Bottles(windows)
	}
	return figure.Bottle(graphs[0].Graph)
}
