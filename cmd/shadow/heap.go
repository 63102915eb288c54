package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/view"
)

// The factor of compressed pointers, and its values.
const (
	pointersFactor = "pointers"
	compressed     = "compressed"
	full           = "full"
)

var pointerOptions = map[string]string{compressed: "-XX:+UseCompressedOops", full: "-XX:-UseCompressedOops"}

// onMemoryError makes a JVM end at its first OutOfMemoryError, so that a run that lost a thread or gave up some of its
// work does not pass for a whole one.
const onMemoryError = "-XX:+ExitOnOutOfMemoryError"

// Where a search begins, and how often a heap is tried.
const (
	firstHeap = 64 << 20
	tries     = 3
)

// searchFlags say how smallest heaps are looked for.
type searchFlags struct {
	tries      int
	from, most int64
}

func (f *searchFlags) addTo(flags *pflag.FlagSet) {
	f.from = firstHeap
	flags.IntVar(&f.tries, "tries", tries, "runs that must complete at a heap before it counts as large enough")
	flags.Var((*sizeFlag)(&f.from), "from", "the first heap that is tried")
	flags.Var((*sizeFlag)(&f.most), "most", "the largest heap that is tried (default: three quarters of the memory)")
}

func (f *searchFlags) check() error {
	if f.tries < 1 || f.tries > maxRepeat {
		return console.Usagef("--tries %d: use a number from 1 to %d", f.tries, maxRepeat)
	}
	if f.most == 0 {
		memory, err := memoryBytes()
		if err != nil {
			return fmt.Errorf("asking for the size of the memory: %w; give --most", err)
		}
		f.most = memory / 4 * 3
	}
	if f.from == firstHeap {
		f.from = min(f.from, f.most)
	}
	if f.from > f.most {
		return console.Usagef("--from %s is above --most %s", experiment.HeapText(f.from), experiment.HeapText(f.most))
	}
	return nil
}

func (f *searchFlags) search() experiment.Search {
	return experiment.Search{Tries: f.tries, From: f.from, Most: f.most}
}

// heapFlags are the flags of shadow heap.
type heapFlags struct {
	listflags.Flags
	experimentFlags
	searchFlags
	collectors   []string
	uncompressed bool
	output       string
}

func newHeap(env console.Env) *cobra.Command {
	var f heapFlags
	cmd := &cobra.Command{
		Use:   "heap [flags] -- java [ARGS...]",
		Short: "Find the smallest heap with which a command completes",
		Long: `Runs a command with one heap after another, without the agent, until the smallest -Xmx is
found with which it completes, to 1 MiB or 2 %. A run that meets an OutOfMemoryError,
takes far longer than the others or fails in any other way has not completed.

Near the edge the same heap may do once and not the next time. So the heap that is found
has completed in each of several tries. The next smaller one is tried as often; if it
completes now and then, this is said.

The heap takes the place of {heap} in the command, as in -Xmx{heap}; {heap} by itself
becomes the whole option. Without it, the option is put behind java. The runs are kept
in a folder; give it again with -o to go on after an interrupt, or to add collectors.`,
		Example: `  shadow heap -- java -jar app.jar
  shadow heap --collector G1,Serial,ZGC --uncompressed -o heaps -- java -cp c com.acme.Main
  shadow heap --check '^done$' -- java -XX:MaxMetaspaceSize=64m -Xmx{heap} -jar app.jar`,
		Args: func(_ *cobra.Command, args []string) error { return f.checkAll(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), env, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // what follows the command is the command's
	f.AddTo(cmd, env, false, "table", "json", "csv")
	flags.StringSliceVar(&f.collectors, "collector", nil, "collectors by `NAME`: Serial, Parallel, G1, Shenandoah, ZGC, Epsilon (default: the command's own)")
	flags.BoolVar(&f.uncompressed, "uncompressed", false, "also look for the smallest heap without compressed pointers")
	flags.StringVarP(&f.output, "output", "o", "", "folder of the runs (default ./shadow-heap-<time>)")
	f.searchFlags.addTo(flags)
	f.experimentFlags.addTo(flags)
	return cmd
}

func (f *heapFlags) checkAll(args []string) error {
	if len(args) == 0 {
		return console.Usagef("no command given: shadow heap -- java [ARGS...]")
	}
	return errors.Join(f.Flags.Check(), checkHeapFree(f.Env, args), checkCollectors("--collector", f.collectors), f.searchFlags.check(), f.experimentFlags.checkValues())
}

// checkCollectors replaces names of collectors by those that this program uses.
func checkCollectors(flag string, names []string) error {
	for i, name := range names {
		canonical, _, err := experiment.CollectorOptions(name)
		if err != nil {
			return console.Usagef("%s: %w", flag, err)
		}
		if slices.Contains(names[:i], canonical) {
			return console.Usagef("%s: %s is there twice", flag, canonical)
		}
		names[i] = canonical
	}
	return nil
}

// heapRow is what is found for one collector.
type heapRow struct {
	Collector  string `json:"collector"` // "": the command's own
	Compressed *bool  `json:"compressed_pointers"`
	HeapBytes  *int64 `json:"heap_bytes"` // null: it completes with none
	Tries      int    `json:"tries"`
	// BelowBytes is the next smaller heap that was tried as often, and BelowPassed how often the command completed
	// with it.
	BelowBytes  *int64 `json:"below_bytes"`
	BelowPassed int    `json:"below_passed"`
	Runs        int    `json:"runs"`
	Failed      string `json:"failed"` // why there is no such heap
}

func rowOf(p experiment.Point, found experiment.SmallestHeap) *heapRow {
	row := &heapRow{Collector: p.Of(experiment.Collector), Tries: found.Tries, BelowPassed: found.Passed, Runs: found.Runs, Failed: found.Why}
	if pointers := p.Of(pointersFactor); pointers != "" {
		is := pointers == compressed
		row.Compressed = &is
	}
	if found.Bytes > 0 {
		row.HeapBytes = &found.Bytes
	}
	if found.Below > 0 {
		row.BelowBytes = &found.Below
	}
	return row
}

func (f *heapFlags) run(ctx context.Context, env console.Env, args []string) error {
	dir, err := experimentFolder(env, f.output, "heap")
	if err != nil {
		return err
	}
	points := experiment.Cross(nil, experiment.Collector, f.collectors)
	if f.uncompressed {
		points = experiment.Cross(points, pointersFactor, []string{compressed, full})
	}
	if points == nil {
		points = []experiment.Point{nil}
	}
	r := &runner{env: env, flags: &f.experimentFlags, programs: []program{theCommand(args)}, always: []string{onMemoryError}}
	if err := r.open(dir, experiment.Plan{Kind: "heap", Points: points, Invocations: f.tries}); err != nil {
		return err
	}
	var rows []*heapRow
	err = work(ctx, r.env, r.x, dir, func(ctx context.Context) error {
		for _, p := range points {
			found, err := r.x.Smallest(ctx, p, f.search())
			if err != nil {
				return err
			}
			rows = append(rows, rowOf(p, found))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := f.print(rows); err != nil {
		return err
	}
	if !slices.ContainsFunc(rows, func(row *heapRow) bool { return row.HeapBytes != nil }) {
		return errors.New("no smallest heap was found")
	}
	return nil
}

func (f *heapFlags) print(rows []*heapRow) error {
	var content any = rows
	if len(rows) == 1 {
		content = rows[0]
	}
	return view.Print(&f.Printer, content, rows, heapColumns)
}

var heapColumns = []listing.Column[*heapRow]{
	{Name: "collector", Title: "collector", Kind: listing.Name, Doc: "empty: the command's own", Value: func(r *heapRow) listing.Value { return listing.NameOf(r.Collector) },
		Show: func(r *heapRow) string {
			if r.Collector == "" {
				return "the command's own"
			}
			return r.Collector
		}},
	{Name: "compressed_pointers", Title: "pointers", Kind: listing.Bool, Optional: true, Doc: "with compressed pointers; empty: as the JVM chose",
		Value: func(r *heapRow) listing.Value {
			if r.Compressed == nil {
				return listing.Null
			}
			return listing.BoolOf(*r.Compressed)
		},
		Show: func(r *heapRow) string {
			switch {
			case r.Compressed == nil:
				return "the JVM's choice"
			case *r.Compressed:
				return compressed
			}
			return full
		}},
	heapSize("heap_bytes", "smallest heap", "the smallest heap with which each try completed; empty: there is none", func(r *heapRow) *int64 { return r.HeapBytes }),
	{Name: "tries", Title: "tries", Kind: listing.Int, Doc: "runs at a heap", Value: func(r *heapRow) listing.Value { return listing.IntOf(int64(r.Tries)) }},
	heapSize("below_bytes", "next below", "the next smaller heap that was tried as often", func(r *heapRow) *int64 { return r.BelowBytes }),
	{Name: "below_passed", Title: "completed there", Kind: listing.Int, Doc: "tries that completed with the next smaller heap", Value: func(r *heapRow) listing.Value { return listing.IntOf(int64(r.BelowPassed)) },
		Show: func(r *heapRow) string {
			if r.BelowBytes == nil {
				return ""
			}
			return fmt.Sprintf("%d of %d", r.BelowPassed, r.Tries)
		}},
	{Name: "runs", Title: "runs", Kind: listing.Int, Doc: "runs of the search", Value: func(r *heapRow) listing.Value { return listing.IntOf(int64(r.Runs)) }},
	{Name: "failed", Title: "", Kind: listing.Name, Doc: "why there is no such heap", Value: func(r *heapRow) listing.Value { return listing.NameOf(r.Failed) }},
	{Title: "why there is none", Kind: listing.Name, Wraps: true, Last: 1, Show: func(r *heapRow) string { return r.Failed }},
}

func heapSize(name, title, doc string, of func(*heapRow) *int64) listing.Column[*heapRow] {
	return listing.Column[*heapRow]{Name: name, Title: title, Kind: listing.Int, Optional: true, Doc: doc,
		Value: func(r *heapRow) listing.Value {
			if n := of(r); n != nil {
				return listing.IntOf(*n)
			}
			return listing.Null
		},
		Show: func(r *heapRow) string {
			if n := of(r); n != nil {
				return units.FormatBytes(*n)
			}
			return ""
		}}
}
