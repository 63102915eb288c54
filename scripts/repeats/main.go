// Command repeats runs programs several times with each --detail and prints how often each gets each advice: what is
// found must not depend on chance, nor on how much is recorded.
//
//	go run ./scripts/repeats [-n N] [-only advice/good,tomcat] [-detail auto,all,summary]
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"stackagent/shadow/experiment/suite"
)

// program is what is run: its folder, and the arguments of java.
type program struct {
	name, dir string
	args      []string
}

// defects are the modes of examples/advice.
var defects = []string{"fine-grained", "waiting-tasks", "coarse-grained", "load-imbalance", "pool-too-small", "pool-too-large", "self-wait",
	"one-at-a-time", "thread-churn", "deep-nesting", "never-executed", "swallowed-exceptions",
	"locked-waiting", "monitor-waiting", "garbage-collection", "explicit-collections", "slow-producer", "served", "fast-and-slow", "nested", "overlapped", "at-once", "client", "turns", "relayed", "good"}

// heaps are those of the defect that a larger one mends, as it is and fixed.
var heaps = map[bool][]string{false: {"-XX:+UseParallelGC", "-Xmx128m"}, true: {"-XX:+UseParallelGC", "-Xmx2400m", "-Xmn2200m"}}

// without are those of them that have no such fix.
var without = []string{"fast-and-slow", "nested", "overlapped", "at-once", "client", "turns", "relayed", "good"}

// reals are programs of suite/ that take a few seconds.
var reals = []string{"cassandra", "guava", "h2-bank", "kafka", "lucene-words", "pmd-cli", "spark", "sunflow", "tomcat"}

func main() {
	n := flag.Int("n", 10, "runs of each program with each detail")
	only := flag.String("only", "", "names of programs, or parts of names, with commas between")
	details := flag.String("detail", "auto,all,summary", "values of --detail")
	out := flag.String("out", "build/repeats", "folder of classes and sessions")
	flag.Parse()
	if err := repeat(*n, *only, strings.Split(*details, ","), *out); err != nil {
		fmt.Fprintln(os.Stderr, "repeats:", err)
		os.Exit(1)
	}
}

func repeat(n int, only string, details []string, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	list, err := programs(out, func(name string) bool {
		return only == "" || slices.ContainsFunc(strings.Split(only, ","), func(o string) bool { return strings.Contains(name, o) })
	})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tadvice\t"+strings.Join(details, "\t")+"\tpredicted, share of the session\tno prediction")
	for _, p := range list {
		counts := map[string]*found{}
		for round := range n { // in turns: what else the machine does hits all alike
			for i, detail := range details {
				if err := p.run(filepath.Join(out, "session"), detail, func(a advice) {
					counts[a.Rule] = cmp.Or(counts[a.Rule], &found{times: make([]int, len(details))})
					counts[a.Rule].add(i, a)
				}); err != nil {
					return fmt.Errorf("%s, detail %s, run %d: %w", p.name, detail, round+1, err)
				}
			}
		}
		print(w, p.name, counts, len(details), n)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// found counts the runs that got an advice, by detail, with the extremes of what it is predicted to save, and those of them without a
// prediction.
type found struct {
	times       []int
	predicted   int
	cannotTell  int
	least, most float64
}

func (f *found) add(detail int, a advice) {
	f.times[detail]++
	if a.Predicted != nil && a.Predicted.Why != "" {
		f.cannotTell++
	}
	if a.Gain == nil {
		return
	}
	if f.predicted == 0 || a.Gain.Share < f.least {
		f.least = a.Gain.Share
	}
	f.most = max(f.most, a.Gain.Share)
	f.predicted++
}

func print(w io.Writer, name string, counts map[string]*found, details, n int) {
	if len(counts) == 0 {
		fmt.Fprintf(w, "%s\tnone%s\t\n", name, strings.Repeat(fmt.Sprintf("\t%d/%d", n, n), details))
		return
	}
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		f := counts[rule]
		fmt.Fprintf(w, "%s\t%s", name, rule)
		for _, times := range f.times {
			fmt.Fprintf(w, "\t%d/%d", times, n)
		}
		predicted := ""
		if f.predicted > 0 {
			predicted = fmt.Sprintf("%.0f-%.0f %%", 100*f.least, 100*f.most)
		}
		fmt.Fprintf(w, "\t%s\t%d\n", predicted, f.cannotTell)
	}
}

// advice is one of the findings in `shadow stats --format json`.
type advice struct {
	Kind, Rule string
	Gain       *struct{ Share float64 }
	Predicted  *struct {
		Why string `json:"cannot_tell"`
	}
}

// run profiles the program once and calls use with each advice, once for each name.
func (p *program) run(session, detail string, use func(advice)) error {
	if err := os.RemoveAll(session); err != nil {
		return err
	}
	shadow, err := filepath.Abs("bin/shadow")
	if err != nil {
		return err
	}
	args := append([]string{"run", "--quiet", "--detail", detail, "-o", session, "--", java("java")}, p.args...)
	cmd := exec.Command(shadow, args...)
	cmd.Dir = p.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	text, err := exec.Command(shadow, "stats", session, "--format", "json").Output()
	if err != nil {
		return err
	}
	var stats struct{ Findings []advice }
	if err := json.Unmarshal(text, &stats); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range stats.Findings {
		if a.Kind == "advice" && !seen[a.Rule] {
			seen[a.Rule] = true
			use(a)
		}
	}
	return nil
}

// programs are those chosen, ready to run.
func programs(out string, chosen func(string) bool) ([]program, error) {
	var list []program
	classes := filepath.Join(out, "advice")
	for _, d := range defects {
		for _, fixed := range []bool{false, true} {
			p := program{name: "advice/" + d, args: []string{"-cp", classes, "Main", d}}
			if d == "garbage-collection" {
				p.args = append(slices.Clone(heaps[fixed]), p.args...)
			}
			if fixed {
				p.name, p.args = p.name+" fixed", append(p.args, "fixed")
			}
			if chosen(p.name) && (!fixed || !slices.Contains(without, d)) {
				list = append(list, p)
			}
		}
	}
	if len(list) > 0 {
		cmd := exec.Command(java("javac"), "-encoding", "UTF-8", "-d", classes, "examples/advice/Main.java")
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("javac: %w: %s", err, text)
		}
	}
	for _, name := range reals {
		if !chosen("real/" + name) {
			continue
		}
		p, err := real(name)
		if err != nil { // Spark does not run on every JDK
			fmt.Fprintln(os.Stderr, "repeats: left out:", err)
			continue
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, errors.New("no program to run has such a name")
	}
	return list, nil
}

// real prepares a program of suite/. It runs for one iteration.
func real(name string) (program, error) {
	p, err := suite.Find(name, "suite/programs.yaml", "suite/frameworks.yaml")
	if err != nil {
		return program{}, err
	}
	folder, err := p.Ready(context.Background())
	if err != nil {
		return program{}, err
	}
	argv, err := p.Argv(suite.Values{Folder: folder, Threads: runtime.NumCPU(), Iterations: 1})
	if err != nil {
		return program{}, err
	}
	return program{name: "real/" + name, dir: p.Dir, args: argv[1:]}, nil
}

// java is a command of the JDK in JAVA_HOME, or of the PATH.
func java(command string) string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", command)
	}
	return command
}
