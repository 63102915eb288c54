package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/run"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/heapsize"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/view"
)

// Where a search begins, and how often a heap is tried.
const (
	firstHeap = 64 << 20
	tries     = 3
)

// searchFlags say how smallest heaps are looked for.
type searchFlags struct{ experiment.Search }

func (f *searchFlags) addTo(flags *pflag.FlagSet) {
	f.From = firstHeap
	flags.IntVar(&f.Tries, "tries", tries, "runs that must complete at a heap before it counts as large enough")
	flags.Var((*sizeFlag)(&f.From), "from", "the first heap that is tried")
	flags.Var((*sizeFlag)(&f.Most), "most", "the largest heap that is tried (default: three quarters of the memory)")
}

func (f *searchFlags) check() error {
	if f.Tries < 1 || f.Tries > run.MaxRepeat {
		return console.Usagef("--tries %d: use a number from 1 to %d", f.Tries, run.MaxRepeat)
	}
	if f.Most == 0 {
		memory, err := memoryBytes()
		if err != nil {
			return fmt.Errorf("asking for the size of the memory: %w; give --most", err)
		}
		f.Most = memory / 4 * 3
	}
	if f.From == firstHeap {
		f.From = min(f.From, f.Most)
	}
	if f.From > f.Most {
		return console.Usagef("--from %s is above --most %s", experiment.HeapText(f.From), experiment.HeapText(f.Most))
	}
	return nil
}

// usualSearch is how smallest heaps are looked for where there are no flags for it.
func usualSearch() (experiment.Search, error) {
	f := searchFlags{experiment.Search{Tries: tries, From: firstHeap}}
	err := f.check()
	return f.Search, err
}

// heapFlags are the flags of shadow heap.
type heapFlags struct {
	listflags.Flags
	ExperimentFlags
	searchFlags
	collectors   []string
	uncompressed bool
	output       string
}

// NewHeap is shadow heap.
func NewHeap(env console.Env) *cobra.Command {
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
	f.ExperimentFlags.AddExperiment(flags)
	return cmd
}

func (f *heapFlags) checkAll(args []string) error {
	if len(args) == 0 {
		return console.Usagef("no command given: shadow heap -- java [ARGS...]")
	}
	return errors.Join(f.Flags.Check(), checkHeapFree(f.Env, args), checkCollectors("--collector", f.collectors), f.searchFlags.check(), f.ExperimentFlags.CheckValues())
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

func (f *heapFlags) run(ctx context.Context, env console.Env, args []string) error {
	dir, err := run.ExperimentFolder(env, f.output, "heap")
	if err != nil {
		return err
	}
	rows, err := heapsize.Find(ctx, f.Runner(env, runner.Command(args)), dir, f.collectors, f.uncompressed, f.Search)
	if err != nil {
		return err
	}
	var content any = rows
	if len(rows) == 1 {
		content = rows[0]
	}
	if err := view.Print(&f.Printer, content, rows, heapsize.Columns); err != nil {
		return err
	}
	if !slices.ContainsFunc(rows, func(row *heapsize.Row) bool { return row.HeapBytes != nil }) {
		return errors.New("no smallest heap was found")
	}
	return nil
}
