package main

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/granularity/bottle"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/figure"
	"stackagent/shadow/session"
	"stackagent/shadow/view"
)

// bottleFlags are the flags of shadow bottle.
type bottleFlags struct {
	listing.Flags
	window windowFlags
	every  time.Duration
	group  string
	output string
}

func newBottle(env console.Env) *cobra.Command {
	var f bottleFlags
	cmd := &cobra.Command{
		Use:   "bottle DIR",
		Short: "Bottle graph: each thread's share of the time and its parallelism",
		Long: `Shows a box for each thread. Its height is the thread's share of the time: while r
threads run, each gets 1/r. Its width is the average number of threads running at
the same time. Heights add up to the time in which at least one thread ran. A tall,
narrow box is a thread that ran mostly alone: your sequential bottleneck.

Needs the scheduling record (shadow run --switches). Also works on a session that
is still being recorded, as far as it is stored.`,
		Example: `  shadow bottle /tmp/s
  shadow bottle /tmp/s --from 2s --to 5s -o bottle.svg
  shadow bottle /tmp/s --every 500ms --group kind --format csv`,
		Args: listing.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(env, args[0])
		},
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.window.addTo(cmd)
	cmd.Flags().DurationVar(&f.every, "every", 0, "one graph per interval of this length")
	cmd.Flags().StringVar(&f.group, "group", "thread", "a box for each thread|pool|kind")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the figure to FILE.svg|png|pdf")
	return cmd
}

// maxWindows bounds how many graphs --every may ask for.
const maxWindows = 100_000

func (f *bottleFlags) check() error {
	if err := f.Flags.Check(); err != nil {
		return err
	}
	if err := checkGroup(f.group); err != nil {
		return err
	}
	if f.every < 0 || f.every > 0 && f.every < time.Microsecond {
		return console.Usagef("--every %v: use a time of 1µs or more", f.every)
	}
	if err := files.CheckFigure(f.output); err != nil {
		return err
	}
	return f.window.check()
}

func checkGroup(group string) error {
	if !slices.Contains([]string{"thread", "pool", "kind"}, group) {
		return console.Usagef("--group %s: use thread, pool or kind", group)
	}
	return nil
}

func (f *bottleFlags) run(env console.Env, dir string) error {
	s, err := env.Open(dir)
	if err != nil {
		return err
	}
	a, err := openActivity(env, s)
	if err != nil {
		return err
	}
	window, err := f.window.of(env, s.Manifest.StartNs, a.From, a.To)
	if err != nil {
		return err
	}
	if f.every > 0 && int64(window.Len())/int64(f.every) >= maxWindows {
		return console.Usagef("--every %v: more than %d windows; choose a longer time, or less with --from and --to", f.every, maxWindows)
	}
	windows := bottle.Windows(window.From, window.To, units.Ns(f.every))
	graphs, err := bottle.Compute(a.Threads, a.Stream(window.From, window.To), windows...)
	if err != nil {
		return err
	}
	noteDamage(env, a)
	for i, g := range graphs {
		graphs[i] = g.Group(bottle.By(f.group))
	}
	if f.output != "" {
		return files.WriteFigure(env, f.output, f.figure(graphs))
	}
	if f.Format == "table" {
		noteAccount(env, a.Account)
	}
	return f.print(graphs, s.Manifest.StartNs, a)
}

func (f *bottleFlags) figure(graphs []*bottle.Graph) *figure.Figure {
	if f.every > 0 {
		return figure.Bottles(graphs)
	}
	return figure.Bottle(graphs[0])
}

// bottleJSON is a bottle graph; its names are promised.
type bottleJSON struct {
	FromNs    units.MonoNs `json:"from_ns"`
	ToNs      units.MonoNs `json:"to_ns"`
	Threads   []boxJSON    `json:"threads"`
	BusyNs    units.Ns     `json:"busy_ns"`    // at least one thread was running
	UnknownNs units.Ns     `json:"unknown_ns"` // not observed, summed over threads
	Lost      uint64       `json:"lost_switches"`
	Source    string       `json:"source"`
	// Account is of the whole record, whatever the window; null: not compared.
	Account *sched.Account `json:"account"`
}

type boxJSON struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	HeightNs  float64  `json:"height_ns"`
	RunningNs units.Ns `json:"running_ns"`
	Width     float64  `json:"width"`
}

func (f *bottleFlags) json(g *bottle.Graph, a *session.Activity) bottleJSON {
	out := bottleJSON{
		FromNs: g.From, ToNs: g.To, Threads: []boxJSON{},
		BusyNs: g.BusyNs, UnknownNs: g.UnknownNs, Lost: a.Lost, Source: a.Source, Account: a.Account,
	}
	for _, b := range f.topBoxes(g.Boxes) {
		out.Threads = append(out.Threads, boxJSON{b.Name, b.Kind, b.HeightNs, b.RunningNs, b.Width})
	}
	return out
}

func (f *bottleFlags) print(graphs []*bottle.Graph, start units.MonoNs, a *session.Activity) error {
	switch {
	case f.Format == "json" && f.every > 0:
		out := make([]bottleJSON, len(graphs))
		for i, g := range graphs {
			out[i] = f.json(g, a)
		}
		return listing.JSON(f.Env.Out, out)
	case f.Format == "json":
		return listing.JSON(f.Env.Out, f.json(graphs[0], a))
	case f.Format == "csv":
		return f.csv(graphs)
	}
	return f.table(graphs, start)
}

// windowBox is a box of the graph of a window.
type windowBox struct {
	bottle.Box
	graph *bottle.Graph
}

// bottleColumns are the columns of a listing of boxes by group.
func bottleColumns(group string, windows bool, start units.MonoNs) []view.Column[windowBox] {
	since := func(of func(*bottle.Graph) units.MonoNs) func(windowBox) string {
		return func(b windowBox) string { return units.FormatNs(units.Ns(of(b.graph) - start)) }
	}
	from, to := func(g *bottle.Graph) units.MonoNs { return g.From }, func(g *bottle.Graph) units.MonoNs { return g.To }
	columns := []view.Column[windowBox]{
		{Name: "from_ns", Title: "from", Kind: view.Int, Unit: view.Ns, Doc: "start of the window", Value: func(b windowBox) view.Value { return view.IntOf(int64(b.graph.From)) }, Show: since(from)},
		{Name: "to_ns", Title: "to", Kind: view.Int, Unit: view.Ns, Doc: "end of the window", Value: func(b windowBox) view.Value { return view.IntOf(int64(b.graph.To)) }, Show: since(to)},
		{Name: "name", Title: group, Kind: view.Name, Doc: "thread, pool or kind", Value: func(b windowBox) view.Value { return view.NameOf(b.Name) }},
		{Name: "kind", Title: "kind", Kind: view.Word, Doc: "application, main, gc, compiler, vm or other", Value: func(b windowBox) view.Value { return view.WordOf(b.Kind) }},
		{Name: "height_ns", Title: "share", Kind: view.Float, Unit: view.Ns, Doc: "its share of the time: while r threads run, each gets 1/r",
			Text: func(b windowBox) string { return strconv.FormatFloat(b.HeightNs, 'f', 3, 64) },
			Show: func(b windowBox) string { return units.FormatNs(units.Ns(math.Round(b.HeightNs))) }},
		{Title: "of all", Kind: view.Float, Show: func(b windowBox) string { return units.FormatPercent(b.HeightNs / b.graph.HeightNs("")) }},
		{Name: "running_ns", Title: "running", Kind: view.Int, Unit: view.Ns, Doc: "time that it ran", Value: func(b windowBox) view.Value { return view.IntOf(b.RunningNs) }},
		{Name: "width", Title: "at once", Kind: view.Float, Unit: view.Factor, Doc: "threads that ran at once while it did",
			Value: func(b windowBox) view.Value { return view.FloatOf(b.Width) }, Text: func(b windowBox) string { return strconv.FormatFloat(b.Width, 'g', 9, 64) }},
	}
	if !windows {
		columns[0].Title, columns[1].Title = "", ""
	}
	if group == "kind" {
		columns[3].Title = ""
	}
	return columns
}

// topBoxes are the boxes of a graph that are printed.
func (f *bottleFlags) topBoxes(boxes []bottle.Box) []bottle.Box {
	if n := f.Limit(); n > 0 && n < len(boxes) {
		return boxes[:n]
	}
	return boxes
}

func (f *bottleFlags) csv(graphs []*bottle.Graph) error {
	var boxes []windowBox
	for _, g := range graphs {
		for _, b := range f.topBoxes(g.Boxes) {
			boxes = append(boxes, windowBox{b, g})
		}
	}
	return view.All(view.CSV(f.Env.Out, bottleColumns(f.group, true, 0)), boxes)
}

// table lists the boxes of each window, longest running time first.
func (f *bottleFlags) table(graphs []*bottle.Graph, start units.MonoNs) error {
	var shown []windowBox
	total := 0
	for _, g := range graphs {
		boxes := slices.Clone(g.Boxes)
		slices.SortStableFunc(boxes, func(a, b bottle.Box) int { return cmp.Compare(b.RunningNs, a.RunningNs) })
		total += len(boxes)
		for _, b := range f.topBoxes(boxes) {
			shown = append(shown, windowBox{b, g})
		}
		if f.every == 0 {
			all := bottle.Box{Name: "all", HeightNs: g.HeightNs(""), RunningNs: g.RunningNs(), Width: float64(g.RunningNs()) / max(g.HeightNs(""), 1)}
			shown = append(shown, windowBox{all, g})
			total++
			f.Env.Note("some thread was running for %s of %s", units.FormatNs(g.BusyNs), units.FormatNs(units.Ns(g.To-g.From)))
		}
	}
	return f.Render(listing.TableOf(shown, bottleColumns(f.group, f.every > 0, start)), total)
}
