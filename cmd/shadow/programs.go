package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/jdk"
	"stackagent/internal/text"
	"stackagent/shadow/experiment/suite"
)

// programFlags choose the programs of a suite, in place of a command.
type programFlags struct {
	suite      string
	programs   []string
	small      bool
	iterations int // 0: each program's own number
}

func (f *programFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.suite, "suite", "", "run the programs of this YAML `FILE` in place of a command")
	flags.StringSliceVar(&f.programs, "programs", nil, "programs of the suite by `NAME` (default: all)")
	flags.IntVar(&f.iterations, "iterations", 0, "iterations of the programs of the suite that have the word {iterations} (default: as the suite says)")
	flags.BoolVar(&f.small, "small", false, "run the programs on their small input")
}

// check holds the flags against the command.
func (f *programFlags) check(verb string, args []string) error {
	switch {
	case f.suite == "" && len(args) == 0:
		return console.Usagef("no command given: shadow %s -- java [ARGS...], or shadow %s --suite FILE", verb, verb)
	case f.suite != "" && len(args) > 0:
		return console.Usagef("there is a command and --suite: give one of them")
	case f.suite == "" && (len(f.programs) > 0 || f.small || f.iterations != 0):
		return console.Usagef("--programs, --small and --iterations are about the programs of a suite: give --suite FILE")
	case f.iterations < 0:
		return console.Usagef("--iterations %d: use a number above 0", f.iterations)
	}
	return nil
}

// read reads the programs and prepares them, or makes one of the command. Those that do not run on a JDK are left out.
func (f *programFlags) read(ctx context.Context, env console.Env, args, jdks []string) ([]program, error) {
	if f.suite == "" {
		return []program{theCommand(args)}, nil
	}
	s, err := suite.Read(f.suite)
	if err != nil {
		return nil, err
	}
	chosen, err := s.Select(f.programs...)
	if err != nil {
		return nil, err
	}
	var out []program
	for _, p := range chosen {
		if why := refusedBy(p, jdks); why != "" {
			env.Note("%s is left out: %s", p.Name, text.OneLine(why))
			continue
		}
		env.Note("preparing %s", p.Name)
		folder, err := p.Ready(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, program{Program: p, folder: folder})
	}
	if len(out) == 0 {
		return nil, errors.New("no program is left to run")
	}
	return out, nil
}

// refusedBy says why a program does not run on one of the JDKs, or on that of PATH if there are none; "" if it does.
func refusedBy(p suite.Program, jdks []string) string {
	var homes []jdk.Home
	for _, path := range jdks {
		homes = append(homes, jdk.Of(filepath.Join(path, "bin", "java")))
	}
	if java, err := exec.LookPath("java"); len(jdks) == 0 && err == nil {
		homes = append(homes, jdk.Of(java))
	}
	i := slices.IndexFunc(homes, func(h jdk.Home) bool { return h.Feature() > 0 && p.JDK.Refuses(h.Feature()) != "" })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("it %s; %s is JDK %d", p.JDK.Refuses(homes[i].Feature()), homes[i].Path, homes[i].Feature())
}
