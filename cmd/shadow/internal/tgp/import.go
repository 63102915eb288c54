package tgp

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/internal/text"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/store"
)

type importFlags struct {
	output  string
	metric  string
	maxRows int
}

// NewImport is shadow import tgp.
func NewImport(env console.Env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "tgp tasks.csv [gc.csv cs.csv cpu.csv] -o DIR",
		Short: "Convert a trace of tgp, the task granularity profiler, into a session",
		Long: `Reads the files of tgp, in any order, into a session on which every analysis works.
Names or headers say which file is which. What a trace does not have (CPU time, when
tasks were created and submitted) is not available in the session.`,
		Example: `  shadow import tgp traces/tasks.csv traces/gc.csv -o /tmp/t
  shadow import tgp traces/*.csv --metric ref_cycles -o /tmp/t`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || f.output == "" {
				return console.Usagef("want files and -o: shadow import tgp tasks.csv [gc.csv cs.csv cpu.csv] -o DIR")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "folder of the session, new or empty")
	cmd.Flags().StringVar(&f.metric, "metric", tgp.Unnamed, "what its granularities measure; a trace does not record it: "+strings.Join(tgp.Metrics, "|"))
	cmd.Flags().IntVar(&f.maxRows, "max-rows", tgp.DefaultMaxRows, "refuse a trace of more rows; about 150 bytes of memory each")
	return cmd
}

func (f *importFlags) run(env console.Env, files []string) error {
	if err := tgp.CheckMetric(f.metric); err != nil {
		return &console.UsageError{Err: err}
	}
	if f.maxRows < 1 {
		return console.Usagef("--max-rows %d: use a number above 0", f.maxRows)
	}
	trace, pauses, samples, err := readTgp(files, f.maxRows)
	if err != nil {
		return err
	}
	if trace == nil {
		return console.Usagef("no %s among the files", tgp.TasksFile)
	}
	notes, err := tgp.Build(f.output, tgp.Input{Trace: trace, Pauses: pauses, Metric: f.metric})
	if err != nil {
		return err
	}
	for _, n := range notes {
		env.Note("%s", n)
	}
	if err := keepSamples(f.output, samples); err != nil {
		return err
	}
	if err := store.SealBeside(f.output, store.BesideFiles()...); err != nil {
		return err
	}
	env.Note("%s in %s", text.PluralExact(len(trace.Tasks), "row", "rows"), f.output)
	return nil
}

// keepSamples puts the samples beside the parts of the session.
func keepSamples(dir string, s tgp.Samples) error {
	if len(s.Switches)+len(s.CPU) == 0 {
		return nil
	}
	silent := console.Env{Err: io.Discard} // the import reports what is missing
	return writeSamples(silent, dir, s)
}

// readTgp reads files of tgp. Their names say whether they hold tasks, gc, cs or cpu.
func readTgp(files []string, maxRows int) (trace *tgp.Trace, pauses []tgp.Pause, s tgp.Samples, err error) {
	for _, path := range files {
		err = readFile(path, func(in io.Reader) (err error) {
			switch kindOfFile(path) {
			case "gc":
				pauses, err = tgp.ReadGC(in, path)
			case "cs":
				s.Switches, err = tgp.ReadSwitches(in, path)
			case "cpu":
				s.CPU, err = tgp.ReadCPU(in, path)
			default:
				trace, err = tgp.ReadTasks(in, path, maxRows)
			}
			return err
		})
		if err != nil {
			return nil, nil, s, err
		}
	}
	return trace, pauses, s, nil
}

// kindOfFile returns what a file holds, by tgp's names or those of its filtered files
// (filtered-cs.csv, aggregated-tasks.csv).
func kindOfFile(path string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".csv")
	for _, kind := range []string{"gc", "cs", "cpu"} {
		if name == kind || strings.HasSuffix(name, "-"+kind) {
			return kind
		}
	}
	return "tasks"
}

// readFile opens a file that is none of ours.
func readFile(path string, read func(io.Reader) error) error {
	f, err := files.OpenPlain(path)
	if err != nil {
		return fmt.Errorf("reading a trace: %w; name a session folder, or tasks.csv and the other files of tgp", err)
	}
	defer f.Close()
	return read(f)
}
