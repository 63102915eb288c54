// Command bench prints what a task costs under stackagent, next to the plain
// JVM and the JVM's own recorder in the same run: nanoseconds a task, and the ratio to the
// plain JVM. Medians of alternating rounds.
//
//	go run ./scripts/bench [-rounds 3] [-only direct,pool]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"stackagent/internal/testjvm"
)

// peer is a way to run the program: what comes before the class path.
type peer struct {
	name   string
	minJDK int
	line   func(jdk testjvm.JDK, dir string) []string
}

var peers = []peer{
	{"plain", 17, func(jdk testjvm.JDK, _ string) []string { return []string{jdk.Tool("java")} }},
	{"stackagent", 17, func(jdk testjvm.JDK, dir string) []string {
		return []string{filepath.Join("bin", "shadow"), "run", "--quiet", "-o", filepath.Join(dir, "session"), "--", jdk.Tool("java")}
	}},
	{"JFR method timing", 25, func(jdk testjvm.JDK, dir string) []string { return recorder(jdk, dir, "method-timing") }},
	{"JFR method trace", 25, func(jdk testjvm.JDK, dir string) []string { return recorder(jdk, dir, "method-trace") }},
}

// recorder counts (or traces) the bodies of the tasks. compute() stands for
// exec(), which the recorder does not see.
func recorder(jdk testjvm.JDK, dir, what string) []string {
	filter := what + "=Main$Job::run;Main$Small::run;Main$Fib::compute"
	return []string{jdk.Tool("java"), "-Xlog:jfr*=off", "-XX:StartFlightRecording:filename=" + filepath.Join(dir, "x.jfr") + "," + filter}
}

func main() {
	rounds := flag.Int("rounds", 3, "runs of each, alternating")
	only := flag.String("only", "direct,pool,fj,vt", "workloads")
	flag.Parse()
	if err := bench(*rounds, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(rounds int, workloads []string) error {
	jdks, err := testjvm.Find()
	if err != nil {
		return err
	}
	for _, jdk := range jdks {
		classes, err := os.MkdirTemp("", "bench-")
		if err != nil {
			return fmt.Errorf("making a folder for classes: %w", err)
		}
		defer os.RemoveAll(classes)
		javac := exec.Command(jdk.Tool("javac"), "-d", classes, filepath.Join("examples", "peers", "Main.java"))
		if out, err := javac.CombinedOutput(); err != nil {
			return fmt.Errorf("compiling examples/peers (run in the tree's top folder): %w\n%s", err, out)
		}
		if err := table(jdk, classes, rounds, workloads); err != nil {
			return err
		}
	}
	return nil
}

// table measures and prints one JDK.
func table(jdk testjvm.JDK, classes string, rounds int, workloads []string) error {
	fmt.Printf("\n%s: ns a task, median of %d alternating runs (ratio to plain)\n", jdk.Full, rounds)
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	header := []string{""}
	for _, p := range peers {
		if jdk.Version >= p.minJDK {
			header = append(header, p.name)
		}
	}
	fmt.Fprintln(w, strings.Join(header, "\t")+"\t")
	for _, load := range workloads {
		if load == "vt" && jdk.Version < 21 {
			continue
		}
		runs := make([][]float64, len(peers))
		for range rounds {
			for i, p := range peers {
				if jdk.Version < p.minJDK {
					continue
				}
				ns, err := run(p, jdk, classes, load)
				if err != nil {
					return err
				}
				runs[i] = append(runs[i], ns)
			}
		}
		fmt.Fprintln(w, load+"\t"+cells(runs))
	}
	return w.Flush()
}

// cells formats the medians of one line; the first is the base of the ratios.
func cells(runs [][]float64) string {
	var b strings.Builder
	base := median(runs[0])
	for i, r := range runs {
		switch {
		case len(r) == 0:
			continue
		case i == 0:
			fmt.Fprintf(&b, "%.1f\t", base)
		default:
			fmt.Fprintf(&b, "%.1f (%.1fx)\t", median(r), median(r)/base)
		}
	}
	return b.String()
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

func run(p peer, jdk testjvm.JDK, classes, load string) (float64, error) {
	dir, err := os.MkdirTemp("", "bench-run-")
	if err != nil {
		return 0, fmt.Errorf("making a folder for a run: %w", err)
	}
	defer os.RemoveAll(dir)
	line := append(p.line(jdk, dir), "-cp", classes, "Main", load)
	var stderr bytes.Buffer
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, stderr.String())
	}
	last := strings.Fields(string(out)) // the recorder may print before it
	if len(last) == 0 {
		return 0, fmt.Errorf("%s: %w", strings.Join(line, " "), errors.New("printed nothing"))
	}
	return strconv.ParseFloat(last[len(last)-1], 64)
}
