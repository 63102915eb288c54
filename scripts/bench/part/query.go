package part

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
)

// scriptLimit is the largest number of executions for the Python script, which keeps
// every value as an object.
const scriptLimit = 10_000_000

// question is one way to ask a session one thing.
type question struct {
	what, tool string
	args       []string
	parse      func(string) ([]answer, error) // nil: the answer is a page, without figures to compare
}

// asked is the cost of one question.
type asked struct {
	wall, cpu, peak []float64
	out             string
	failed          error // if so, it is not asked again
}

// Query measures the time of questions to finished sessions of several sizes.
func Query(ctx context.Context, c Config) (string, error) {
	python, problem := c.venv(ctx)
	var b strings.Builder
	b.WriteString("Sessions made by `scripts/gensession` (four classes, eight threads, one task in fifty never executed), read from the page cache. " +
		"Every figure of the answers (counts, sums, extremes and eight quantiles of four metrics per class) is compared; the table marks answers that differ. " +
		"Quantiles that an answer calls estimates, as shadow's of a large session without --exact, may be off by the error that it gives.\n")
	for _, n := range pick(c, []int{1_000_000, 10_000_000, 100_000_000}, []int{100_000, 1_000_000}) {
		if err := c.inScratch(func(dir string) error {
			text, err := c.queryTable(ctx, dir, n, python)
			b.WriteString(text)
			return err
		}); err != nil {
			return "", err
		}
	}
	if problem != nil {
		reason, _, _ := strings.Cut(problem.Error(), "\n")
		fmt.Fprintf(&b, "\nDuckDB was not measured: %s\n", reason)
	}
	return b.String(), nil
}

// venv is a Python with DuckDB in the tree's build folder.
func (c Config) venv(ctx context.Context) (python string, err error) {
	dir := filepath.Join(c.Root, "build", "bench-venv")
	python = filepath.Join(dir, "bin", "python")
	if _, err := measure.Run(ctx, measure.Command{Args: []string{python, "-c", "import duckdb"}}); err == nil {
		return python, nil
	}
	for _, args := range [][]string{{"python3", "-m", "venv", dir}, {python, "-m", "pip", "install", "-q", "duckdb"}} {
		if _, err := measure.Run(ctx, measure.Command{Args: args}); err != nil {
			return "", err
		}
	}
	return python, nil
}

// questions to the session in dir of n executions.
func (c Config) questions(dir, session string, n int, python string) []question {
	peer := func(name string) string { return filepath.Join(c.Root, "scripts", "bench", "peers", name) }
	q := []question{
		{"stats", "shadow --exact", []string{c.Bin.Shadow, "stats", session, "--exact", "--format", "json"}, parseStats},
		{"stats", "shadow", []string{c.Bin.Shadow, "stats", session, "--format", "json"}, parseStats},
		{"hotspots", "shadow --exact", []string{c.Bin.Shadow, "hotspots", session, "--exact", "--format", "json"}, parseHotspots},
		{"hotspots", "shadow", []string{c.Bin.Shadow, "hotspots", session, "--format", "json"}, parseHotspots},
		{"report", "shadow", []string{c.Bin.Shadow, "report", session, "-o", filepath.Join(dir, "report.html")}, nil},
	}
	if python != "" {
		q = append(q,
			question{"stats", "DuckDB", []string{python, peer("duck.py"), "stats", session}, parseStats},
			question{"hotspots", "DuckDB", []string{python, peer("duck.py"), "hotspots", session}, parseHotspots})
	}
	if n <= scriptLimit && python != "" {
		q = append(q, question{"hotspots", "CSV and a script", []string{python, peer("script.py"), filepath.Join(dir, "tasks.csv")}, parseHotspots})
	}
	return q
}

func (c Config) queryTable(ctx context.Context, dir string, n int, python string) (string, error) {
	c.say("making a session of %s executions", result.Grouped(int64(n)))
	gen := measure.Command{Args: []string{"go", "run", "./scripts/gensession", "-n", strconv.Itoa(n), dir, "session"}, Dir: c.Root}
	if _, err := measure.Run(ctx, gen); err != nil {
		return "", err
	}
	session := filepath.Join(dir, "session")
	questions := c.questions(dir, session, n, python)
	export := ""
	if n <= scriptLimit && python != "" {
		r, err := measure.Run(ctx, measure.Command{Args: []string{c.Bin.Shadow, "tasks", session, "--format", "csv", "-o", filepath.Join(dir, "tasks.csv")}})
		if err != nil {
			return "", err
		}
		export = fmt.Sprintf("\nThe CSV (%s) took `shadow tasks` %s s to write, which the script's time does not include.\n",
			fileSize(filepath.Join(dir, "tasks.csv")), result.Number(r.Wall.Seconds()))
	}
	usual := 5
	if n >= scriptLimit {
		usual = 3 // more would take too long
	}
	took := make([]asked, len(questions))
	err := alternate(c.rounds(usual), len(questions), func(round, i int) error {
		a := &took[i]
		if a.failed != nil {
			return nil
		}
		r, err := measure.Run(ctx, measure.Command{Args: questions[i].args})
		if err != nil && ctx.Err() == nil && !strings.HasPrefix(questions[i].tool, "shadow") {
			c.say("%s failed: %v", questions[i].tool, err)
			a.failed = err // a peer may fail; the others are still measured
			return nil
		}
		if err != nil {
			return err
		}
		c.say("%d executions, round %d: %s by %s: %.2f s", n, round+1, questions[i].what, questions[i].tool, r.Wall.Seconds())
		a.wall, a.cpu = append(a.wall, r.Wall.Seconds()), append(a.cpu, r.CPU.Seconds())
		a.peak, a.out = append(a.peak, float64(r.PeakBytes)), r.Stdout
		return nil
	})
	if err != nil {
		return "", err
	}
	if n > scriptLimit {
		export = fmt.Sprintf("\nThe script was not run: it keeps every value as a Python object, which is too much above %s executions.\n", result.Grouped(scriptLimit))
	}
	return c.queryText(n, session, questions, took) + export, nil
}

func (c Config) queryText(n int, session string, questions []question, took []asked) string {
	t := result.Table{Head: []string{result.Grouped(int64(n)) + " executions", "by", "wall s", "times shadow --exact", "CPU s", "memory", "same answer"}}
	first := map[string]int{} // shadow's row of each question
	for i, q := range questions {
		a := took[i]
		if a.failed != nil {
			t.Add(q.what, q.tool, "failed")
			continue
		}
		ratio, same := "", ""
		if base, later := first[q.what]; later {
			ratio, same = result.Interval(result.Ratio(a.wall, took[base].wall)), "yes"
			if err := differ(q, took[base].out, a.out); err != nil {
				same = "no: " + err.Error()
			}
		} else {
			first[q.what] = i
		}
		t.Add(q.what, q.tool, result.Interval(result.OfMedian(a.wall)), ratio, result.Number(result.Median(a.cpu)), result.Bytes(result.Median(a.peak)), same)
	}
	return fmt.Sprintf("\n%s on the disk.\n\n%s", result.Bytes(float64(folderSize(session))), t.String())
}

// differ compares two answers to the question q.
func differ(q question, ours, theirs string) error {
	a, err := q.parse(ours)
	if err != nil {
		return err
	}
	b, err := q.parse(theirs)
	if err != nil {
		return err
	}
	return sameAnswers(a, b)
}

func fileSize(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "size unknown"
	}
	return result.Bytes(float64(info.Size()))
}

// folderSize is the size of a session's Parquet files.
func folderSize(dir string) (n int64) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.parquet")) // the pattern is good
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
	}
	return n
}
