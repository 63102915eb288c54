package part

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"stackagent/internal/testjvm"
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

// sparkBelow is the first JDK on which Spark does not run: it needs Subject.getSubject.
const sparkBelow = 24

func (c Config) newestBelow(version int) (testjvm.JDK, error) {
	for i := len(c.JDKs) - 1; i >= 0; i-- {
		if c.JDKs[i].Version < version {
			return c.JDKs[i], nil
		}
	}
	return testjvm.JDK{}, errors.New("it needs an older JDK than those found")
}

func (c Config) realPrograms(ctx context.Context, classes string, s scale) []lazy {
	if c.Quick {
		s = trial
	}
	size := func(sizes ...int) string { return strconv.Itoa(sizes[s]) } // by scale
	own := func(name, what string, args ...string) lazy {
		return lazy{name, func() (program, error) { return c.own(name, what, classes, args...), nil }}
	}
	fetched := func(name, what string, env ...string) lazy {
		return lazy{name, func() (program, error) { return c.real(ctx, c.newest(), name, what, env...) }}
	}
	return []lazy{
		fetched("pmd", "PMD on the sources of Apache Commons Lang, a task per source file", "SOURCES="+[]string{trial: "org/apache/commons/lang3/text"}[s]),
		fetched("sunflow", "the ray tracer Sunflow, its benchmark scene", "FRAMES="+size(8, 4, 16, 1)),
		fetched("lucene", "Lucene, indexing and searching", "DOCUMENTS="+size(40_000, 20_000, 120_000, 2_000), "QUERIES="+size(40_000, 20_000, 120_000, 2_000)),
		fetched("h2", "requests to an H2 database in memory", "REQUESTS="+size(200_000, 200_000, 1_000_000, 5_000)),
		fetched("kafka", "a Kafka broker; the CPU time is its own, without the producer's", "RECORDS="+size(1_500_000, 300_000, 3_000_000, 10_000)),
		{"spark", func() (program, error) {
			jdk, err := c.newestBelow(sparkBelow)
			if err != nil {
				return program{}, err
			}
			return c.real(ctx, jdk, "spark", "Spark in local mode, JDK "+jdk.Full, "NUMBERS="+size(300_000, 300_000, 1_000_000, 10_000), "TASKS="+size(200, 200, 1000, 20))
		}},
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
