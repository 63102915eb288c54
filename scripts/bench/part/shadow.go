package part

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// manyTasks is how many tasks the shadow receives while its memory is watched.
const manyTasks = 100_000_000

// Shadow measures the process that receives and stores.
func Shadow(ctx context.Context, c Config) (string, error) {
	var b strings.Builder
	for _, measure := range []func(context.Context, Config) (string, error){ingest, sizes, memory} {
		text, err := measure(ctx, c)
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	return b.String(), nil
}

// ingest runs the Go benchmark from the bus into the store.
func ingest(ctx context.Context, c Config) (string, error) {
	t := result.Table{Head: []string{"from the bus into the store", "million executions per second", "CPU ns per execution", "million per CPU second"}}
	for _, cores := range []string{"1", "2"} {
		r, err := measure.Run(ctx, measure.Command{Dir: c.Root, Args: []string{"go", "test", "-run", "^$", "-bench", "^BenchmarkIngest$",
			"-cpu", cores, "-count", strconv.Itoa(c.rounds(7)), "-benchtime", pick(c, "5x", "1x"), "./shadow/collect/ingest"}})
		if err != nil {
			return "", err
		}
		rates, err := metric(r.Stdout, "Mexecutions/s")
		if err != nil {
			return "", err
		}
		cpu, err := metric(r.Stdout, "CPU-ns/execution")
		if err != nil {
			return "", err
		}
		perCPU := make([]float64, len(cpu))
		for i, v := range cpu {
			perCPU[i] = 1000 / v
		}
		t.Add(cores+" core(s)", result.Interval(result.OfMedian(rates)), result.Interval(result.OfMedian(cpu)), result.Interval(result.OfMedian(perCPU)))
		c.say("ingest on %s core(s): %.2f million/s", cores, result.Median(rates))
	}
	return "`BenchmarkIngest` of `shadow/collect/ingest`: it receives, decodes, orders and acknowledges a million executions in 64 batches, converts their clocks and writes " +
		"Parquet with `fsync`. The bus's own work is included:\n\n" + t.String(), nil
}

// metric takes the values of one unit from the output of Go benchmarks.
func metric(out, unit string) ([]float64, error) {
	var values []float64
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		for i := 2; i+1 < len(f) && strings.HasPrefix(f[0], "Benchmark"); i += 2 {
			if f[i+1] != unit {
				continue
			}
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("the line %q of a benchmark: %w", strings.TrimSpace(line), err)
			}
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the benchmark printed no %s:\n%s", unit, out)
	}
	return values, nil
}

// memory sends many tasks through a shadow.
func memory(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	t := result.Table{Head: []string{"tasks, created and executed", "detail", "peak of memory", "seconds", "tasks per second", "shadow's CPU ns per task", "on the disk", "lost"}}
	for _, n := range pick(c, []int{1_000_000, 10_000_000, manyTasks}, []int{100_000, 1_000_000}) {
		for _, detail := range []string{"all", "auto"} {
			if err := c.inScratch(func(dir string) error {
				const iterations = 10 // after at least three of warm-up
				each := n / (iterations + 3)
				p := tool.Program{JDK: c.newest(), Args: []string{"-cp", classes, "Tasks", "both", "0", strconv.Itoa(iterations), strconv.Itoa(each)}}
				run, err := tool.Stackagent("", c.Bin, "--detail", detail).Run(ctx, p, dir)
				if err != nil {
					return err
				}
				s, err := tool.ReadStats(ctx, c.Bin.Shadow, run.Files)
				if err != nil {
					return err
				}
				tasks := float64(each * (iterations + 3))
				t.Add(result.Grouped(int64(tasks)), detail, result.Bytes(float64(run.Shadow.PeakBytes)), result.Number(run.Shadow.Wall.Seconds()),
					result.Number(tasks/run.Shadow.Wall.Seconds()), result.Number(float64(run.Shadow.CPU.Nanoseconds())/tasks),
					result.Bytes(float64(folderSize(run.Files))), result.Grouped(int64(s.Lost.Events)))
				c.say("%.0f tasks, detail=%s: %s", tasks, detail, result.Bytes(float64(run.Shadow.PeakBytes)))
				return nil
			}); err != nil {
				return "", err
			}
		}
	}
	return "Peak memory of the shadow (VmHWM) while a program only creates and executes tasks; one run each. " +
		"*Seconds* is the time of `shadow run` until the session is complete:\n\n" + t.String(), nil
}
