// Command bench measures the cost of profiling, compared with the plain JVM and
// with other tools in the same run, and writes the tables of docs/internals/benchmarks.md.
//
//	go run ./scripts/bench [-parts task,metric,submission,bytecodes,real,start,load,shadow,feed,query,switches,waits,growth,page] [-quick] [-rounds N] [-only exec,pool] [-page FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/part"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// section is a part of the page.
type section struct {
	name string
	run  func(context.Context, part.Config) (string, error)
}

// parts in the order of the page.
var parts = []section{
	{"task", part.Task},
	{"metric", part.Metric},
	{"submission", part.Submission},
	{"bytecodes", part.Bytecodes},
	{"real", part.Real},
	{"start", part.Start},
	{"load", part.Load},
	{"shadow", part.Shadow},
	{"feed", part.Feed},
	{"query", part.Query},
	{"switches", part.Switches},
	{"waits", part.Waits},
	{"growth", part.Growth},
	{"page", part.Page},
}

type flags struct {
	parts, only, tools, page, scratch, jdks, bin string
	rounds                                       int
	limit                                        time.Duration
	quick                                        bool
}

func main() {
	testjvm.BecomeRefused()
	if len(os.Args) > 1 && os.Args[1] == measure.Trampoline {
		os.Exit(measure.Inner(os.Args[2:]))
	}
	var f flags
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	flag.StringVar(&f.parts, "parts", strings.Join(names, ","), "the parts to measure")
	flag.StringVar(&f.only, "only", "", "only these workloads of the parts task, metric, submission, bytecodes, real, start, load, switches, growth and page, separated by commas")
	flag.StringVar(&f.tools, "tools", "", "only these tools of the parts task and real beside the plain JVM, by parts of their names, separated by commas")
	flag.StringVar(&f.jdks, "jdks", "", "only these JDKs, by feature release (17,25)")
	flag.StringVar(&f.page, "page", "", "the page whose tables are replaced (default: print only)")
	flag.StringVar(&f.scratch, "scratch", "build/bench", "folder for temporary files")
	flag.StringVar(&f.bin, "bin", "bin", "folder of shadow and libstackagent.so")
	flag.IntVar(&f.rounds, "rounds", 0, "runs of each (default: the usual number of each part)")
	flag.DurationVar(&f.limit, "limit", 0, "how long the pairs of runs of a program in part real may take, and its blocks (default 5m each)")
	flag.BoolVar(&f.quick, "quick", false, "try the harness: small programs, one round, meaningless figures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// words splits a list of the command line.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func bench(ctx context.Context, f flags) error {
	wanted := words(f.parts)
	for _, w := range wanted {
		if !slices.ContainsFunc(parts, func(p section) bool { return p.name == w }) {
			return fmt.Errorf("no part is named %q", w)
		}
	}
	c, err := config(f)
	if err != nil {
		return err
	}
	defer os.RemoveAll(c.Scratch)
	var failed []error
	for _, p := range parts {
		if !slices.Contains(wanted, p.name) {
			continue
		}
		started, before := time.Now(), load()
		text, err := p.run(ctx, c)
		if err == nil {
			err = publish(f.page, p.name, describe(ctx, c, started, before)+text)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("part %s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func config(f flags) (part.Config, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return part.Config{}, err
	}
	if _, err := os.Stat(filepath.Join(root, "scripts", "bench", "main.go")); err != nil {
		return part.Config{}, fmt.Errorf("run it in the top folder of the tree: %w", err)
	}
	c := part.Config{
		Root: root, Rounds: f.rounds, Limit: f.limit, Quick: f.quick, Only: words(f.only), Tools: strings.FieldsFunc(f.tools, func(r rune) bool { return r == ',' }), Log: os.Stderr,
	}
	if f.page != "" {
		c.Images = filepath.Join(filepath.Dir(f.page), "..", "images")
	}
	bin, err := filepath.Abs(f.bin)
	if err != nil {
		return c, err
	}
	c.Bin = tool.Binaries{Shadow: filepath.Join(bin, "shadow"), Agent: filepath.Join(bin, "libstackagent.so")}
	if c.JDKs, err = testjvm.Find(); err != nil {
		return c, err
	}
	if only := words(f.jdks); len(only) > 0 {
		c.JDKs = slices.DeleteFunc(c.JDKs, func(j testjvm.JDK) bool { return !slices.Contains(only, fmt.Sprint(j.Version)) })
	}
	if len(c.JDKs) == 0 {
		return c, errors.New("no JDK found: set JAVA_HOME")
	}
	scratch, err := filepath.Abs(f.scratch)
	if err != nil {
		return c, err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return c, fmt.Errorf("making the folder for measurements: %w", err)
	}
	c.Scratch, err = os.MkdirTemp(scratch, "bench-")
	return c, err
}

// publish prints text and puts it into the page.
func publish(page, name, text string) error {
	fmt.Println(text)
	if page == "" {
		return nil
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	changed, err := result.Replace(string(old), name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}
