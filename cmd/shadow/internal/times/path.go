// Package times is the verbs about where time goes in threads and tasks: bottle, gc, latency, path, warmup, whatif.
package times

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity/activity"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// pathFlags are the flags of shadow path.
type pathFlags struct {
	listflags.Flags
	window choice.Window
	unit   string
	by     string
}

// NewPath is shadow path.
func NewPath(env console.Env) *cobra.Command {
	var f pathFlags
	cmd := &cobra.Command{
		Use:   "path DIR",
		Short: "Critical path: the chain of work and waits that decided how long the run took",
		Long: `Walks back from the end of the run, or of a unit of work: through the work, and from
each wait, or start, to what made it possible, such as the end of another unit. The
path adds up to the time from its begin to its end. Only what is on it can make the
run shorter; what runs beside it cannot.

Kinds: compute (on a CPU), cpu (ready, waiting for a CPU), queue (submitted, and a
worker was being woken), delay (asked for), sleep, io, gc, wake-up (from the end of
what was waited for to going on), not known.

Needs the scheduling record (shadow run --switches) to know who ended a wait.`,
		Example: `  shadow path /tmp/s
  shadow path /tmp/s --by kind
  shadow path /tmp/s --unit com.acme.Order      the slowest unit of the class
  shadow path /tmp/s --by part --format csv     every part, in the order of time`,
		Args: listflags.OneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(f.Check(), f.window.Check()); err != nil {
				return err
			}
			if !slices.Contains([]string{"class", "site", "thread", "kind", "part"}, f.by) {
				return console.Usagef("--by %s: use class, site, thread, kind or part", f.by)
			}
			s, err := env.Open(args[0])
			if err != nil {
				return err
			}
			return f.run(env, s)
		},
	}
	f.AddTo(cmd, env, true, "table", "json", "csv")
	f.window.AddTo(cmd)
	cmd.Flags().StringVar(&f.unit, "unit", "", "the path to the end of the slowest unit of this CLASS, or of the task of this number")
	cmd.Flags().StringVar(&f.by, "by", "class", "class|site|thread|kind|part: sum by it, or list each part")
	return cmd
}

// GraphOf makes the graph of a session and notes what it lacks.
func GraphOf(env console.Env, s *session.Session, w *choice.Window) (*graph.Session, error) {
	span, err := w.Span(env, s)
	if err != nil {
		return nil, err
	}
	if span == nil {
		span = &activity.Span{} // all
	}
	g, err := graph.Of(s, span.From, span.To)
	if err != nil {
		return nil, err
	}
	for _, what := range slices.Sorted(maps.Keys(g.NotKnown)) {
		env.Note("%s not known: %s", what, table.Clean(g.NotKnown[what]))
	}
	return g, nil
}

func (f *pathFlags) run(env console.Env, s *session.Session) error {
	g, err := GraphOf(env, s, &f.window)
	if err != nil {
		return err
	}
	unit, from := -1, units.Ns(0)
	if f.unit != "" {
		if unit, from, err = g.Slowest(f.unit); err != nil {
			return err
		}
	}
	path := g.Path(unit, from)
	if len(path) == 0 {
		env.Note("no unit of work and no thread of the program was recorded in this time")
	}
	if f.by == "part" {
		return view.Rows(&f.Printer, listing.Refs(path), PartColumns(units.Ns(g.From-s.Manifest.StartNs)))
	}
	rows := graph.Sum(path, f.by)
	total := units.Ns(0)
	for _, r := range rows {
		total += r.Ns
	}
	if f.Format == "table" {
		env.Note("the path is %s long, in %s", units.FormatNs(total), text.PluralExact(int64(len(path)), "part", "parts"))
	}
	return view.Rows(&f.Printer, listing.Refs(rows), PathColumns(f.by, total))
}

// PathColumns are the columns of a path summed by something.
func PathColumns(by string, total units.Ns) []listing.Column[*graph.Row] {
	columns := []listing.Column[*graph.Row]{
		{Name: by, Title: by, Kind: listing.Name, Doc: "what the parts have in common", Value: func(r *graph.Row) listing.Value { return listing.NameOf(r.Name) }},
		{Name: "path_ns", Title: "on the path", Kind: listing.Int, Unit: listing.Ns, Doc: "time on the critical path", Value: func(r *graph.Row) listing.Value { return listing.IntOf(int64(r.Ns)) }},
		{Name: "share", Title: "of it", Kind: listing.Float, Unit: listing.Factor, Doc: "share of the path", Value: func(r *graph.Row) listing.Value { return listing.FloatOf(float64(r.Ns) / float64(max(total, 1))) },
			Show: func(r *graph.Row) string { return units.FormatPercent(float64(r.Ns) / float64(max(total, 1))) }},
		{Name: "parts", Title: "parts", Kind: listing.Int, Unit: listing.Count, Doc: "parts of the path", Value: func(r *graph.Row) listing.Value { return listing.IntOf(int64(r.Parts)) }},
		{Name: "kinds", CSV: listing.Absent, Kind: listing.Object, Holds: map[string]units.Ns{}, Doc: "kind -> ns", Value: func(r *graph.Row) listing.Value { return listing.ObjectOf(r.Kinds) }},
	}
	if by != "kind" {
		columns = append(columns, listing.Column[*graph.Row]{Title: "what", Kind: listing.Word, Show: kindsOf})
	}
	return columns
}

// kindsOf lists the kinds of a row, the longest first.
func kindsOf(r *graph.Row) string {
	kinds := slices.SortedFunc(maps.Keys(r.Kinds), func(a, b string) int { return cmp.Or(cmp.Compare(r.Kinds[b], r.Kinds[a]), cmp.Compare(a, b)) })
	var list []string
	for _, k := range kinds[:min(3, len(kinds))] {
		list = append(list, k+" "+units.FormatNs(r.Kinds[k]))
	}
	return strings.Join(list, ", ")
}

// PartColumns are those of the single parts; since is how long after the start of the session the graph begins.
func PartColumns(since units.Ns) []listing.Column[*graph.Part] {
	at := func(of func(*graph.Part) units.Ns) (func(*graph.Part) listing.Value, func(*graph.Part) string) {
		return func(p *graph.Part) listing.Value { return listing.IntOf(int64(since + of(p))) },
			func(p *graph.Part) string { return "+" + units.FormatNs(since+of(p)) }
	}
	from, showFrom := at(func(p *graph.Part) units.Ns { return p.From })
	to, showTo := at(func(p *graph.Part) units.Ns { return p.To })
	return []listing.Column[*graph.Part]{
		{Name: "from_ns", Title: "from", Kind: listing.Int, Unit: listing.Ns, Doc: "begin, since the start of the session", Value: from, Show: showFrom},
		{Name: "to_ns", Title: "to", Kind: listing.Int, Unit: listing.Ns, Doc: "end", Value: to, Show: showTo},
		{Name: "path_ns", Title: "length", Kind: listing.Int, Unit: listing.Ns, Doc: "length", Value: func(p *graph.Part) listing.Value { return listing.IntOf(int64(p.Len())) }},
		{Name: "kind", Title: "kind", Kind: listing.Word, Doc: "what it is", Value: func(p *graph.Part) listing.Value { return listing.WordOf(p.Kind) }},
		{Name: "class", Title: "class", Kind: listing.Name, Doc: "whose time it is", Value: func(p *graph.Part) listing.Value { return listing.NameOf(p.Class) }},
		{Name: "site", Title: "site", Kind: listing.Name, Doc: "where the unit was submitted", Value: func(p *graph.Part) listing.Value { return listing.NameOf(p.Site) }},
		{Name: "thread", Title: "thread", Kind: listing.Name, Doc: "its thread", Value: func(p *graph.Part) listing.Value { return listing.NameOf(p.Thread) }},
	}
}
