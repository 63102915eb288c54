package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
)

// factorFlags are what an experiment may vary beside threads.
type factorFlags struct {
	runner.Factors
	jvms   []string
	plural string // "s" if the flags are called --collectors and --heaps
}

func (f *factorFlags) addTo(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.Collectors, "collector", nil, "collectors by `NAME`: Serial, Parallel, G1, Shenandoah, ZGC, Epsilon (default: the command's own)")
	flags.StringSliceVar(&f.Heaps, "heap", nil, "heaps by `SIZE`, as 512m, or as a multiple, as 2x, of the smallest heap with which the command completes with "+runner.Baseline)
	f.addMore(flags)
}

// addMore adds those that all verbs with factors have.
func (f *factorFlags) addMore(flags *pflag.FlagSet) {
	flags.Var((*sizeFlag)(&f.Smallest), "smallest-heap", "the smallest heap, if it is known (default: it is looked for, as shadow heap does)")
	flags.StringArrayVar(&f.jvms, "jvm", nil, "a set of JVM options, `NAME=OPTIONS`; repeat it to compare sets")
	flags.StringSliceVar(&f.JDKs, "jdk", nil, "JDKs to run the command with, each by its `FOLDER`")
}

func (f *factorFlags) check() error {
	if err := checkCollectors("--collector"+f.plural, f.Collectors); err != nil {
		return err
	}
	for i, h := range f.Heaps {
		if slices.Contains(f.Heaps[:i], h) {
			return console.Usagef("--heap%s: %s is there twice", f.plural, h)
		}
		if _, multiple := runner.Multiple(h); multiple {
			continue
		}
		if _, err := experiment.ParseHeap(h); err != nil {
			return console.Usagef("--heap%s %s: use a size as 512m, or a multiple of the smallest heap as 2x", f.plural, h)
		}
	}
	f.Sets = nil
	for _, s := range f.jvms {
		set, err := parseJVMSet(s)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(f.Sets, func(other runner.JVMSet) bool { return other.Name == set.Name }) {
			return console.Usagef("--jvm: two sets are called %s", set.Name)
		}
		f.Sets = append(f.Sets, set)
	}
	for i, jdk := range f.JDKs {
		path, err := filepath.Abs(jdk)
		if err != nil {
			return fmt.Errorf("--jdk %s: %w", jdk, err)
		}
		if _, err := os.Stat(filepath.Join(path, "bin", "java")); err != nil {
			return console.Usagef("--jdk %s: there is no bin/java in it", jdk)
		}
		if slices.Contains(f.JDKs[:i], path) {
			return console.Usagef("--jdk: %s is there twice", path)
		}
		f.JDKs[i] = path
	}
	var err error
	f.Search, err = usualSearch()
	return err
}
