package part

import (
	"context"
	"fmt"
	"strconv"
)

// lazily prepared: what is not wanted is not fetched.
type lazy struct {
	name string
	get  func() (program, error)
}

// scale is how long a program runs.
type scale int

const (
	whole scale = iota // 4 to 15 s
	short              // 4 to 8 s, for many rounds
	long               // 20 s, for blocks
	trial              // of the harness
)

func (c Config) realPrograms(ctx context.Context, classes string, s scale) []lazy {
	if c.Quick {
		s = trial
	}
	size := func(sizes ...int) string { return strconv.Itoa(sizes[s]) } // by scale
	own := func(name, what string, args ...string) lazy {
		return lazy{name, func() (program, error) { return c.own(name, what, classes, args...), nil }}
	}
	// The sizes are those of each scale but the trial; an empty one is the suite's.
	fetched := func(name, of, what string, sizes ...string) lazy {
		return lazy{name, func() (program, error) {
			if s == trial {
				return c.real(ctx, c.newest(), name, what, of, "")
			}
			return c.real(ctx, c.newest(), name, what, of, sizes[s])
		}}
	}
	return []lazy{
		fetched("pmd", "pmd-cli", "PMD on the sources of Apache Commons Lang, a task per source file", "", "", ""),
		fetched("sunflow", "sunflow", "the ray tracer Sunflow, its benchmark scene", "8", "4", "16"),
		fetched("lucene", "lucene-words", "Lucene, indexing and searching", "40000 40000", "20000 20000", "120000 120000"),
		fetched("h2", "h2-bank", "requests to an H2 database in memory", "200000", "200000", "1000000"),
		fetched("kafka", "kafka", "a Kafka broker; the CPU time is its own, without the producer's", "1500000", "300000", "3000000"),
		fetched("spark", "spark", "Spark in local mode, queries of TPC-H", "", "", ""),
		own("allocating", "tasks that make 300 KB of garbage each", "Allocating", "2", size(60_000, 20_000, 200_000, 1_000)),
		own("smallest", "the smallest tasks in a pool: each adds one to a sum", "Smallest", "2", size(20_000_000, 5_000_000, 60_000_000, 200_000)),
	}
}

// scaled is one of them at another scale.
func (c Config) scaled(ctx context.Context, classes, name string, s scale) (program, error) {
	for _, p := range c.realPrograms(ctx, classes, s) {
		if p.name == name {
			return p.get()
		}
	}
	return program{}, fmt.Errorf("no program is named %q", name)
}
