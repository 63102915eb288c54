package part

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// manyClasses is the number of classes that the large program loads.
const manyClasses = 10_000

// Start measures the cost of starting a program.
func Start(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	tools := []tool.Tool{
		tool.Plain(),
		tool.Stackagent("stackagent", c.Bin),
		tool.Idle(c.Bin),
		tool.FlightRecorder("JFR, its default settings", ""),
	}
	rounds := c.rounds(11)
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d runs each; the tools alternate. Wall time of the JVM from start to end, in milliseconds. "+
		"*With the shadow*: the whole `shadow run`, until the session is complete.\n", rounds)
	for _, jdk := range c.JDKs {
		for _, prepare := range c.startPrograms(ctx, classes) {
			if !c.wants(prepare.name) {
				continue
			}
			text, err := c.wholeText(ctx, prepare, &jdk, tools, rounds, startText)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
	}
	return b.String(), nil
}

func (c Config) startPrograms(ctx context.Context, classes string) []lazy {
	return []lazy{
		{"empty", func() (program, error) { return c.own("empty", "a program that does nothing", classes, "Empty"), nil }},
		{"pmd-version", func() (program, error) {
			p, err := c.real(ctx, c.newest(), "pmd", "`pmd --version`", "pmd-cli", "")
			for i, a := range p.Args {
				if a == "check" {
					p.Args = append(p.Args[:i:i], "--version")
					break
				}
			}
			p.name = "pmd-version"
			return p, err
		}},
		{"classes", func() (program, error) {
			return c.own("classes", fmt.Sprintf("a program that loads %s classes of the JDK", result.Grouped(manyClasses)), classes,
				"ManyClasses", strconv.Itoa(manyClasses)), nil
		}},
	}
}

func startText(p program, tools []tool.Tool, runs [][]wholeRun) string {
	t := result.Table{Head: []string{p.name, "JVM ms", "added ms", "times plain", "CPU ms of the JVM added", "with the shadow ms"}}
	ms := func(of func(wholeRun) float64) func(wholeRun) float64 {
		return func(r wholeRun) float64 { return 1000 * of(r) }
	}
	base := runs[0]
	for i, x := range tools {
		r := runs[i]
		row := []string{x.Name, result.Interval(result.OfMedian(figures(r, ms(wholeWall))))}
		if i > 0 {
			row = append(row,
				result.Interval(result.Difference(figures(r, ms(wholeWall)), figures(base, ms(wholeWall)))),
				result.Interval(result.Ratio(figures(r, wholeWall), figures(base, wholeWall))),
				result.Interval(result.Difference(figures(r, ms(wholeCPU)), figures(base, ms(wholeCPU)))))
		}
		if r[0].shadowPeak > 0 {
			row = append(row, result.Number(result.Median(figures(r, ms(wholeWhole)))))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**, JDK %s: %s.\n\n%s", p.name, p.JDK.Full, p.what, t.String())
}
