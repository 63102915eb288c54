package part

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// classKinds are the templates of java/DefinedClasses.java.
var classKinds = []struct{ name, what string }{
	{"Plain", "no task, no site"},
	{"Named", "no task, no site: it calls a `submit` that takes no task"},
	{"Below", "no task, no site: it extends a class of the program"},
	{"Run", "no task, but a `Runnable` subclass would inherit its `run()`"},
	{"Making", "it makes an object of the program, which may be a task"},
	{"Threads", "it makes a `Thread`"},
	{"Submits", "it submits a task"},
}

// attachedTo are the numbers of classes loaded when the agent attaches.
var attachedTo = []int{20_000, 60_000}

// Load measures the agent's cost per loaded class, and per class that is loaded already when it attaches.
func Load(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	n, rounds := pick(c, 100_000, 2_000), c.rounds(5)
	var b strings.Builder
	fmt.Fprintf(&b, "Medians of %d runs each; the runs alternate. CPU time of the whole process per class, over %s generated classes after a fifth "+
		"of that number as warm-up. The agent has no bus.\n", rounds, result.Grouped(int64(n)))
	for _, jdk := range c.JDKs {
		text, err := c.loaded(ctx, jdk, classes, n, rounds)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	fmt.Fprintf(&b, "\nMedians of %d runs each: CPU time of the process while the agent attaches and detaches, by the number of plain classes loaded. "+
		"*Times* compares a line with the one before.\n", rounds)
	for _, jdk := range c.JDKs {
		text, err := c.attached(ctx, jdk, classes, rounds)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// loaded measures the definition of classes with and without the agent.
func (c Config) loaded(ctx context.Context, jdk testjvm.JDK, classes string, n, rounds int) (string, error) {
	t := result.Table{Head: []string{"class", "plain µs", "with the agent µs", "added µs", "times plain", "what it is"}}
	tools := []tool.Tool{tool.Plain(), tool.Idle(c.Bin)}
	for _, kind := range classKinds {
		if !c.wants(kind.name) {
			continue
		}
		took := make([][]float64, len(tools))
		err := alternate(rounds, len(tools), func(round, i int) error {
			ns, err := c.definedClasses(ctx, jdk, tools[i], classes, kind.name, strconv.Itoa(n))
			if err != nil {
				return err
			}
			c.say("%-9s round %d %-20s %6.2f µs a class", kind.name, round+1, tools[i].Name, ns[0]/1000)
			took[i] = append(took[i], ns[0]/1000)
			return nil
		})
		if err != nil {
			return "", err
		}
		t.Add(kind.name, result.Interval(result.OfMedian(took[0])), result.Interval(result.OfMedian(took[1])),
			result.Interval(result.Difference(took[1], took[0])), result.Interval(result.Ratio(took[1], took[0])), kind.what)
	}
	return fmt.Sprintf("\n**Classes at load**, JDK %s.\n\n%s", jdk.Full, t.String()), nil
}

// attached measures attach and detach.
func (c Config) attached(ctx context.Context, jdk testjvm.JDK, classes string, rounds int) (string, error) {
	t := result.Table{Head: []string{"classes", "attach ms", "times", "detach ms", "times"}}
	took := make([][2][]float64, len(attachedTo))
	err := alternate(rounds, len(attachedTo), func(round, i int) error {
		n := pick(c, attachedTo[i], attachedTo[i]/20)
		us, err := c.definedClasses(ctx, jdk, tool.Plain(), classes, "Plain", strconv.Itoa(n*5/6), c.Bin.Agent, "bus=nats://127.0.0.1:1")
		if err != nil {
			return err
		}
		c.say("%d classes round %d attach %6.0f ms, detach %6.0f ms", n, round+1, us[1]/1000, us[2]/1000)
		took[i][0], took[i][1] = append(took[i][0], us[1]/1000), append(took[i][1], us[2]/1000)
		return nil
	})
	if err != nil {
		return "", err
	}
	for i, n := range attachedTo {
		row := []string{result.Grouped(int64(pick(c, n, n/20)))}
		for _, of := range took[i] {
			row = append(row, result.Interval(result.OfMedian(of)), "")
		}
		if i > 0 {
			row[2] = result.Interval(result.Ratio(took[i][0], took[i-1][0]))
			row[4] = result.Interval(result.Ratio(took[i][1], took[i-1][1]))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**Attach and detach**, JDK %s.\n\n%s", jdk.Full, t.String()), nil
}

// definedClasses runs the program and returns the numbers that it prints.
func (c Config) definedClasses(ctx context.Context, jdk testjvm.JDK, t tool.Tool, classes string, args ...string) (numbers []float64, err error) {
	p := c.own("load", "", classes, append([]string{"DefinedClasses"}, args...)...)
	p.JDK = jdk
	p.Args = append([]string{"-Xmx1g", "-XX:+EnableDynamicAgentLoading", "-Djdk.attach.allowAttachSelf=true"}, p.Args...)
	err = c.inScratch(func(dir string) error {
		r, err := t.Run(ctx, p.Program, dir)
		if err != nil {
			return err
		}
		for _, word := range strings.Fields(r.Stdout) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return fmt.Errorf("DefinedClasses %v printed %q: %w", args, r.Stdout, err)
			}
			numbers = append(numbers, v)
		}
		if want := 1 + 2*(len(args)-2)/2; len(numbers) != want {
			return fmt.Errorf("DefinedClasses %v printed %q, want %d numbers", args, r.Stdout, want)
		}
		return nil
	})
	return numbers, err
}
