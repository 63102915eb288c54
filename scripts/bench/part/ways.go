package part

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// narrow is the width of an interval at which pairs and blocks end.
const narrow = 0.02

// leastPairs are measured in any case.
const leastPairs = 5

// usualLimit is how long pairs of a program may take, and blocks again.
const usualLimit = 5 * time.Minute

// way is one way to see the cost: of the program's CPU and wall time, with stackagent against without.
type way struct {
	cpu, wall result.Estimate
	n         int // pairs
}

func (w way) narrow() bool { return w.cpu.High-w.cpu.Low < narrow }

// ways collects, for each program, what each way shows.
type ways struct {
	c Config
	t result.Table
}

func newWays(c Config) ways {
	return ways{c, result.Table{Head: []string{"stackagent against none", "counted in the JVM", "with cold caches", "the shadow", "pairs of runs", "CPU", "wall",
		"pairs of blocks", "CPU", "time"}}}
}

func (w *ways) add(name string, counted []countedRun, pairs, blocks way) {
	cells := []string{name, result.Share(shareOf(counted, insideHot)), result.Share(shareOf(counted, insideCold)), result.Share(shareOf(counted, func(r countedRun) float64 { return r.shadow }))}
	for _, x := range []way{pairs, blocks} {
		if x.n == 0 {
			cells = append(cells, "none", "", "")
			continue
		}
		cells = append(cells, fmt.Sprint(x.n), result.Percent(x.cpu), result.Percent(x.wall))
	}
	w.t.Add(cells...)
}

func (w *ways) text() string {
	if len(w.t.Rows) == 0 {
		return ""
	}
	return fmt.Sprintf("\n**Three ways to see the cost**, by default settings. Pairs of short runs and of blocks of half a second go on until the interval of the CPU time is "+
		"narrower than %.0f %%, or for %v each.\n\n%s", 100*narrow, w.c.limit(), w.t.String())
}

func (c Config) limit() time.Duration {
	switch {
	case c.Limit > 0:
		return c.Limit
	case c.Quick:
		return time.Second
	}
	return usualLimit
}

// waysOf measures one program in three ways.
func (c Config) waysOf(ctx context.Context, prepare lazy, classes string, found costs, rounds int, w *ways) (string, error) {
	failed := func(err error) (string, error) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		c.say("%s failed: %v", prepare.name, err)
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Sprintf("\n**%s** failed: %s\n", prepare.name, reason), nil
	}
	p, err := prepare.get()
	if err != nil {
		return failed(err)
	}
	runs, why, err := c.counted(ctx, p, found, rounds)
	if err != nil {
		return failed(err)
	}
	var pairs, blocks way
	if p, err = c.scaled(ctx, classes, p.name, short); err == nil {
		pairs, err = c.pairs(ctx, p)
	}
	if err != nil {
		return failed(err)
	}
	if p, err = c.scaled(ctx, classes, p.name, long); err == nil {
		blocks, err = c.blocks(ctx, p, classes)
	}
	if err != nil {
		return failed(err)
	}
	w.add(p.name, runs, pairs, blocks)
	return countedText(p, runs, found, why), nil
}

// until repeats a step that adds pairs until the interval is narrow or the time is over.
func (c Config) until(name string, least int, step func(n int) (way, error)) (w way, err error) {
	for end, n := time.Now().Add(c.limit()), 0; n < least || !w.narrow() && time.Now().Before(end); n++ {
		if w, err = step(n); err != nil {
			return w, err
		}
		c.say("%-14s %d pairs: CPU %s, wall %s", name, w.n, result.Percent(w.cpu), result.Percent(w.wall))
	}
	return w, nil
}

// pairs compares short runs in pairs, the order of which alternates.
func (c Config) pairs(ctx context.Context, p program) (way, error) {
	tools := []tool.Tool{tool.Plain(), tool.Stackagent("stackagent", c.Bin)}
	runs := make([][]wholeRun, len(tools))
	return c.until(p.name+", runs", pick(c, leastPairs, 1), func(n int) (way, error) {
		for k := range tools {
			i := (n + k) % len(tools)
			r, err := c.wholeRun(ctx, tools[i], p)
			if err != nil {
				return way{}, err
			}
			runs[i] = append(runs[i], r)
		}
		return way{
			cpu:  result.Paired(figures(runs[1], wholeOwn), figures(runs[0], wholeOwn)),
			wall: result.Paired(figures(runs[1], wholeWall), figures(runs[0], wholeWall)), n: n + 1,
		}, nil
	})
}

// perWork is the CPU or wall time of a block for each byte that the program allocated; NaN: none.
func perWork(time, bytes int64) float64 {
	if bytes <= 0 {
		return math.NaN()
	}
	return float64(time) / float64(bytes)
}
