package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/shadow/experiment/characterize"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
)

// characterizeFlags are the flags of shadow characterize.
type characterizeFlags struct {
	listflags.Flags
	shown      view.Statistics
	components bool
	output     string
	suite      suiteFlags
}

// NewCharacterize is shadow characterize.
func NewCharacterize(env console.Env) *cobra.Command {
	var f characterizeFlags
	cmd := &cobra.Command{
		Use:   "characterize NAME=DIR... | --suite FILE",
		Short: "Statistics of a set of programs: ranked, scored, principal components",
		Long: `Takes statistics of each program from its sessions and compares the programs. DIR is a
session, or a folder with the sessions of several runs; naming a program again adds
runs. A statistic of several runs is their mean.

The table has a row for each statistic. The score in brackets says where the program
stands in the set: 10 is the highest value, 1 the lowest. For more than 6 programs it
has only the scores, beside the least, the median and the largest value.
--program shows one program: its values with 95 % intervals, ranks and what they mean.
--statistic shows one statistic: the programs by rank.
--components shows the principal components: which statistics tell these programs
apart, and where each program lies. They use the statistics that all programs have.

With --suite, runs the programs of a suite and takes the statistics from these runs. It
also has those that need runs of their own: the smallest heaps, the slowdown in a tight
heap, with one CPU, and with other ways of compiling. The runs are kept in --runs; the
same command with that folder goes on after an interrupt.

Three-letter codes that DaCapo Chopin also has stand for the same quantity
(Blackburn and others, Rethinking Java Performance Analysis).`,
		Example: `  shadow characterize pmd=/tmp/pmd kafka=/tmp/kafka h2=/tmp/h2
  shadow characterize pmd=/tmp/pmd kafka=/tmp/kafka h2=/tmp/h2 --program kafka
  shadow characterize pmd=/tmp/pmd kafka=/tmp/kafka h2=/tmp/h2 --statistic GCP
  shadow characterize pmd=/tmp/pmd kafka=/tmp/kafka h2=/tmp/h2 -o components.svg
  shadow characterize --suite suite/programs.yaml --small --repeat 3 --skip PCC,GLK --runs out`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.suite.Suite != "" && len(args) > 0:
				return console.Usagef("there are programs and --suite: give one of them")
			case f.suite.Suite != "":
				return cmp.Or(f.suite.checkSuite(), f.check())
			case len(args) == 0:
				return console.Usagef("missing programs: give NAME=DIR for each, or --suite FILE")
			}
			return f.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.suite.Suite != "" {
				programs, err := f.suite.measure(cmd.Context(), env)
				if err != nil {
					return err
				}
				return f.show(env, programs)
			}
			programs, err := readPrograms(env, args)
			if err != nil {
				return err
			}
			return f.show(env, programs)
		},
	}
	f.AddTo(cmd, env, false, "table", "json", "csv")
	cmd.Flags().StringVar(&f.shown.Program, "program", "", "only this program, with intervals and ranks")
	cmd.Flags().StringVar(&f.shown.Statistic, "statistic", "", "only the statistic with this code, the programs by rank")
	cmd.Flags().BoolVar(&f.components, "components", false, "the principal components instead of the statistics (table and CSV)")
	f.suite.addTo(cmd.Flags())
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the scatter plots of the principal components to FILE.svg|png|pdf")
	return cmd
}

func (f *characterizeFlags) check() error {
	if err := errors.Join(f.Flags.Check(), files.CheckFigure(f.output)); err != nil {
		return err
	}
	if f.components && f.shown.Program+f.shown.Statistic != "" || f.shown.Program != "" && f.shown.Statistic != "" {
		return console.Usagef("--program, --statistic and --components: use one of them")
	}
	if _, ok := characterize.Find(f.shown.Statistic); !ok && f.shown.Statistic != "" {
		var codes []string
		for _, x := range characterize.Statistics() {
			codes = append(codes, x.Code)
		}
		return console.Usagef("--statistic %s: use one of %s", f.shown.Statistic, strings.Join(codes, ", "))
	}
	return nil
}

// show prints or draws what was asked for.
func (f *characterizeFlags) show(env console.Env, programs []characterize.Program) error {
	set, err := characterize.Characterise(programs)
	if err != nil {
		return err
	}
	if f.shown.Program != "" && !slices.Contains(set.Programs, f.shown.Program) {
		return console.Usagef("--program %s: not among the programs: %s", f.shown.Program, strings.Join(set.Programs, ", "))
	}
	if (f.output != "" || f.components) && set.Components == nil {
		return errors.New(set.NoComponents)
	}
	f.shown.Printer = &f.Printer
	switch {
	case f.output != "":
		return files.WriteFigure(env, f.output, figure.Components(set.Programs, set.Components))
	case f.Format == "json":
		return view.Encode(env.Out, set)
	case f.components:
		return f.shown.PrintComponents(set)
	}
	return f.shown.Print(set)
}

// readPrograms reads the sessions of NAME=DIR arguments.
func readPrograms(env console.Env, args []string) ([]characterize.Program, error) {
	var programs []characterize.Program
	for _, arg := range args {
		name, dir, ok := strings.Cut(arg, "=")
		if !ok || name == "" || dir == "" {
			return nil, console.Usagef("%q: give NAME=DIR: a name for the program, and the folder of its sessions", arg)
		}
		runs, err := readRuns(env, dir)
		if err != nil {
			return nil, fmt.Errorf("program %s: %w", name, err)
		}
		i := slices.IndexFunc(programs, func(p characterize.Program) bool { return p.Name == name })
		if i < 0 {
			i = len(programs)
			programs = append(programs, characterize.Program{Name: name})
		}
		programs[i].Runs = append(programs[i].Runs, runs...)
	}
	return programs, nil
}

// readRuns takes the statistics of all sessions in a folder.
func readRuns(env console.Env, dir string) ([]characterize.Run, error) {
	dir, err := env.Resolve(dir)
	if err != nil {
		return nil, err
	}
	dirs, err := choice.SessionsBelow(dir)
	if err != nil {
		return nil, err
	}
	var runs []characterize.Run
	for _, d := range dirs {
		s, err := env.Open(d)
		if err != nil {
			return nil, err
		}
		before := len(s.Warnings)
		run, err := characterize.Gather(s)
		if err != nil {
			return nil, err
		}
		env.NoteFound(s, before)
		runs = append(runs, run)
	}
	return runs, nil
}
