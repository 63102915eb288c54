package experiments

import (
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/experiment/runner"
)

// programFlags choose the programs of a suite, in place of a command.
type programFlags struct{ runner.Input }

func (f *programFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.Suite, "suite", "", "run the programs of this YAML `FILE` in place of a command")
	flags.StringSliceVar(&f.Names, "programs", nil, "programs of the suite by `NAME` (default: all)")
	flags.IntVar(&f.Iterations, "iterations", 0, "iterations of the programs of the suite that have the word {iterations} (default: as the suite says)")
	flags.BoolVar(&f.Small, "small", false, "run the programs on their small input")
}

// check holds the flags against the command.
func (f *programFlags) check(verb string, args []string) error {
	switch {
	case f.Suite == "" && len(args) == 0:
		return console.Usagef("no command given: shadow %s -- java [ARGS...], or shadow %s --suite FILE", verb, verb)
	case f.Suite != "" && len(args) > 0:
		return console.Usagef("there is a command and --suite: give one of them")
	case f.Suite == "" && (len(f.Names) > 0 || f.Small || f.Iterations != 0):
		return console.Usagef("--programs, --small and --iterations are about the programs of a suite: give --suite FILE")
	case f.Iterations < 0:
		return console.Usagef("--iterations %d: use a number above 0", f.Iterations)
	}
	return nil
}
