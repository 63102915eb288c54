package times

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"stackagent/granularity/bottle"
	"stackagent/hpc/sched"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/show/view"
)

// BottleJSON is a bottle graph; its names are promised.
type BottleJSON struct {
	Session   string       `json:"session,omitempty"` // of several: its folder
	Iteration int          `json:"iteration,omitempty"`
	FromNs    units.MonoNs `json:"from_ns"`
	ToNs      units.MonoNs `json:"to_ns"`
	Threads   []boxJSON    `json:"threads"`
	BusyNs    units.Ns     `json:"busy_ns"`    // at least one thread was running
	UnknownNs units.Ns     `json:"unknown_ns"` // not observed, summed over threads
	Lost      uint64       `json:"lost_switches"`
	Source    string       `json:"source"`
	Counts    string       `json:"counts"` // the threads that count: "running", "running or runnable"
	// Account is of the whole record, whatever the window; null: not compared.
	Account *sched.Account `json:"account"`
}

type boxJSON struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	HeightNs  float64  `json:"height_ns"`
	RunningNs units.Ns `json:"running_ns"`
	Width     float64  `json:"width"`
	OfFirst   *float64 `json:"height_of_first,omitempty"` // with --normalise: height over that of the first session
}

// heightOfFirst is a height over that of the whole graph of the first session.
func heightOfFirst(first sessionGraph, height float64) float64 {
	return height / max(first.HeightNs(""), 1)
}

func (f *bottleFlags) json(g, first sessionGraph) BottleJSON {
	out := BottleJSON{
		Iteration: g.iteration, FromNs: g.From, ToNs: g.To, Threads: []boxJSON{}, Counts: "running",
		BusyNs: g.BusyNs, UnknownNs: g.UnknownNs, Lost: g.of.Lost, Source: g.of.Source, Account: g.of.Account,
	}
	if f.several {
		out.Session = g.label
	}
	if f.runnable {
		out.Counts = "running or runnable"
	}
	for _, b := range f.topBoxes(g.Boxes) {
		box := boxJSON{b.Name, b.Kind, b.HeightNs, b.RunningNs, b.Width, nil}
		if f.normalise {
			share := heightOfFirst(first, b.HeightNs)
			box.OfFirst = &share
		}
		out.Threads = append(out.Threads, box)
	}
	return out
}

func (f *bottleFlags) print(graphs []sessionGraph) error {
	switch {
	case f.Format == "json" && (f.every > 0 || f.several || f.each):
		out := make([]BottleJSON, len(graphs))
		for i, g := range graphs {
			out[i] = f.json(g, graphs[0])
		}
		return f.JSON(out)
	case f.Format == "json":
		return f.JSON(f.json(graphs[0], graphs[0]))
	case f.Format == "csv":
		return f.csv(graphs)
	}
	return f.table(graphs)
}

// graphBox is a box of a graph.
type graphBox struct {
	bottle.Box
	graph sessionGraph
}

// columns are those of a listing of boxes.
func (f *bottleFlags) columns(first sessionGraph) []listing.Column[graphBox] {
	since := func(of func(*bottle.Graph) units.MonoNs) func(graphBox) string {
		return func(b graphBox) string { return units.FormatNs(units.Ns(of(b.graph.Graph) - b.graph.start)) }
	}
	from, to := func(g *bottle.Graph) units.MonoNs { return g.From }, func(g *bottle.Graph) units.MonoNs { return g.To }
	running, atOnce := "time that it ran", "threads that ran at once while it did"
	if f.runnable {
		running, atOnce = "time that it ran or waited for a CPU", "threads that ran or waited for a CPU at once while it did"
	}
	columns := []listing.Column[graphBox]{
		{Name: "from_ns", Title: "from", Kind: listing.Int, Unit: listing.Ns, Doc: "start of the window", Value: func(b graphBox) listing.Value { return listing.IntOf(int64(b.graph.From)) }, Show: since(from)},
		{Name: "to_ns", Title: "to", Kind: listing.Int, Unit: listing.Ns, Doc: "end of the window", Value: func(b graphBox) listing.Value { return listing.IntOf(int64(b.graph.To)) }, Show: since(to)},
		{Name: "name", Title: f.group, Kind: listing.Name, Doc: "thread, pool or kind", Value: func(b graphBox) listing.Value { return listing.NameOf(b.Name) }},
		{Name: "kind", Title: "kind", Kind: listing.Word, Doc: "application, main, gc, compiler, vm or other", Value: func(b graphBox) listing.Value { return listing.WordOf(b.Kind) }},
		{Name: "height_ns", Title: "share", Kind: listing.Float, Unit: listing.Ns, Doc: "its share of the time: while r threads run, each gets 1/r",
			Text: func(b graphBox) string { return strconv.FormatFloat(b.HeightNs, 'f', 3, 64) },
			Show: func(b graphBox) string { return units.FormatNs(units.Ns(math.Round(b.HeightNs))) }},
		{Title: "of all", Kind: listing.Float, Show: func(b graphBox) string { return units.FormatPercent(b.HeightNs / b.graph.HeightNs("")) }},
		{Name: "running_ns", Title: "running", Kind: listing.Int, Unit: listing.Ns, Doc: running, Value: func(b graphBox) listing.Value { return listing.IntOf(b.RunningNs) }},
		{Name: "width", Title: "at once", Kind: listing.Float, Unit: listing.Factor, Doc: atOnce,
			Value: func(b graphBox) listing.Value { return listing.FloatOf(b.Width) }, Text: func(b graphBox) string { return strconv.FormatFloat(b.Width, 'g', 9, 64) }},
	}
	if f.every == 0 && !f.each {
		columns[0].Title, columns[1].Title = "", ""
	}
	if f.group == "kind" {
		columns[3].Title = ""
	}
	if f.normalise {
		columns = slices.Insert(columns, 6, listing.Column[graphBox]{Name: "height_of_first", Title: "of first", Kind: listing.Float, Unit: listing.Factor,
			Doc: "share over the height of the first session's graph", Value: func(b graphBox) listing.Value { return listing.FloatOf(heightOfFirst(first, b.HeightNs)) }})
	}
	if f.each {
		columns = slices.Insert(columns, 0, listing.Column[graphBox]{Name: "iteration", Title: "iteration", Kind: listing.Int, Doc: "its number, from 1",
			Value: func(b graphBox) listing.Value { return listing.IntOf(b.graph.iteration) }})
	}
	if f.several {
		columns = slices.Insert(columns, 0, listing.Column[graphBox]{Name: "session", Title: "session", Kind: listing.Name, Doc: "its folder",
			Value: func(b graphBox) listing.Value { return listing.NameOf(b.graph.label) }})
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

func (f *bottleFlags) csv(graphs []sessionGraph) error {
	var boxes []graphBox
	for _, g := range graphs {
		for _, b := range f.topBoxes(g.Boxes) {
			boxes = append(boxes, graphBox{b, g})
		}
	}
	return listing.All(listing.CSV(f.Out, f.columns(graphs[0])), boxes)
}

// table lists the boxes of each graph, longest running time first.
func (f *bottleFlags) table(graphs []sessionGraph) error {
	var shown []graphBox
	total := 0
	for _, g := range graphs {
		boxes := slices.Clone(g.Boxes)
		slices.SortStableFunc(boxes, func(a, b bottle.Box) int { return cmp.Compare(b.RunningNs, a.RunningNs) })
		total += len(boxes)
		for _, b := range f.topBoxes(boxes) {
			shown = append(shown, graphBox{b, g})
		}
		if f.every > 0 || f.each {
			continue
		}
		all := bottle.Box{Name: "all", HeightNs: g.HeightNs(""), RunningNs: g.RunningNs(), Width: float64(g.RunningNs()) / max(g.HeightNs(""), 1)}
		shown = append(shown, graphBox{all, g})
		total++
		f.noteBusy(g)
	}
	return f.Render(view.TableOf(shown, f.columns(graphs[0])), total)
}

func (f *bottleFlags) noteBusy(g sessionGraph) {
	was, of := "running", ""
	if f.runnable {
		was = "running or runnable"
	}
	if f.several {
		of = text.OneLine(g.label) + ": "
	}
	f.Note("%ssome thread was %s for %s of %s", of, was, units.FormatNs(g.BusyNs), units.FormatNs(units.Ns(g.To-g.From)))
}
