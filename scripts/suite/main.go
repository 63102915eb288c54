// Command suite prepares and runs programs of the suites in suite/, plainly or under stackagent. It runs in the root of the tree.
//
//	go run ./scripts/suite list
//	go run ./scripts/suite run NAME [-o DIR | -plain] [-small] [-threads N] ... [WORD=VALUE...]
//	go run ./scripts/suite check [-small=false] [NAME...]
//	go run ./scripts/suite docs     # writes the generated tables of docs/suite.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"stackagent/shadow/experiment/suite"
)

// files are the suites of this tree: real programs, and small ones on frameworks.
var files = []string{"suite/programs.yaml", "suite/frameworks.yaml"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := do(ctx, os.Args[1:]); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			fmt.Fprintln(os.Stderr, "suite:", err)
			os.Exit(1)
		}
		os.Exit(max(1, exit.ExitCode()))
	}
}

func do(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("missing command: list, run, check or docs")
	}
	switch args[0] {
	case "list":
		return list()
	case "run":
		return run(ctx, args[1:])
	case "check":
		return check(ctx, args[1:])
	case "docs":
		return writeDocs("docs/suite.md")
	}
	return fmt.Errorf("no command %q: use list, run, check or docs", args[0])
}

// programs are those of these names; those of the first suite if there are no names.
func programs(names ...string) ([]suite.Program, error) {
	if len(names) == 0 {
		s, err := suite.Read(files[0])
		if err != nil {
			return nil, err
		}
		return s.Programs, nil
	}
	var all []suite.Program
	for _, name := range names {
		p, err := suite.Find(name, files...)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func list() error {
	for _, f := range files {
		s, err := suite.Read(f)
		if err != nil {
			return err
		}
		for _, p := range s.Programs {
			fmt.Printf("%-16s %s\n", p.Name, p.What)
		}
	}
	return nil
}

// runFlags are how a program is run.
type runFlags struct {
	out, jvm, java, shadow, options string
	plain, small, show, tasks       bool
	threads, iterations             int
}

func (f *runFlags) parse(args []string) ([]string, error) {
	set := flag.NewFlagSet("suite run", flag.ContinueOnError)
	set.StringVar(&f.out, "o", "", "`folder` of the session (default: ./shadow-NAME)")
	set.BoolVar(&f.plain, "plain", false, "run the program without stackagent")
	set.BoolVar(&f.show, "print", false, "do not run it: print its folder and its command, a NUL after each word")
	set.BoolVar(&f.tasks, "tasks", true, "record the tasks that the suite names")
	set.BoolVar(&f.small, "small", false, "the small size")
	set.IntVar(&f.threads, "threads", runtime.NumCPU(), "threads of the program")
	set.IntVar(&f.iterations, "iterations", 0, "iterations (default: the program's)")
	set.StringVar(&f.jvm, "jvm", "", "`options` of the JVM")
	set.StringVar(&f.java, "java", "", "`what` to run in place of java, such as \"taskset -c 0 java\" (default: that of JAVA_HOME, or of the PATH)")
	set.StringVar(&f.shadow, "shadow", "bin/shadow", "the `command` of stackagent")
	set.StringVar(&f.options, "options", "", "more `options` of shadow run")
	err := set.Parse(args)
	return set.Args(), err
}

// java is what runs in place of java, in words.
func (f *runFlags) javaWords() []string {
	words := strings.Fields(f.java)
	if len(words) == 0 {
		words = []string{"java"}
	}
	if last := &words[len(words)-1]; *last == "java" && os.Getenv("JAVA_HOME") != "" {
		*last = filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")
	}
	return words
}

// command prepares a program and makes its command.
func (f *runFlags) command(ctx context.Context, p suite.Program, words map[string]string) ([]string, error) {
	folder, err := p.Ready(ctx)
	if err != nil {
		return nil, err
	}
	java := f.javaWords()
	argv, err := p.Argv(suite.Values{Java: java[len(java)-1], JVM: strings.Fields(f.jvm), Folder: folder, Threads: f.threads,
		Iterations: f.iterations, Small: f.small, Words: words})
	return append(java[:len(java)-1], argv...), err
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("missing name of a program; suite list prints them")
	}
	var f runFlags
	rest, err := f.parse(args[1:])
	if err != nil {
		return err
	}
	words := map[string]string{}
	for _, a := range rest {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("%q: use WORD=VALUE", a)
		}
		words[name] = value
	}
	p, err := suite.Find(args[0], files...)
	if err != nil {
		return err
	}
	argv, err := f.command(ctx, p, words)
	if err != nil {
		return err
	}
	if f.show {
		fmt.Print(p.Dir, "\x00", strings.Join(argv, "\x00"), "\x00")
		return nil
	}
	if !f.plain {
		if argv, err = f.profiled(p, argv); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.Run()
}

// profiled puts shadow run before a command.
func (f *runFlags) profiled(p suite.Program, argv []string) ([]string, error) {
	shadow, err := filepath.Abs(f.shadow)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(shadow); err != nil {
		return nil, fmt.Errorf("no %s: run make first", f.shadow)
	}
	out := f.out
	if out == "" {
		out = "shadow-" + p.Name
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	words := []string{shadow, "run", "-o", out}
	if p.Marker.Kind == suite.OutputMarker { // so that --iteration and shadow warmup know its iterations
		words = append(words, "--marker", p.Marker.Line.String())
	}
	words = append(words, strings.Fields(f.options)...)
	if f.tasks {
		for _, t := range p.Tasks {
			words = append(words, "--task", t)
		}
	}
	return append(append(words, "--"), argv...), nil
}

// javaVersion is the feature release of a JDK, from the file release that each has.
func javaVersion(java string) (int, error) {
	path, err := exec.LookPath(java)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "release"))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), `JAVA_VERSION="`)
	version, _, _ := strings.Cut(after, `"`)
	major, _, _ := strings.Cut(version, ".")
	return strconv.Atoi(major)
}
