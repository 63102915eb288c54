package part

import (
	"context"
	"fmt"
	"strings"

	"stackagent/hpc/sched"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// pingTurns take a few seconds.
const pingTurns = 600_000

// switchTools are the sources of the scheduling record, all else by default. The first
// is the base, the second the base again: their difference is the resolution.
func switchTools(c Config) []tool.Tool {
	tools := []tool.Tool{tool.Stackagent("switches=off", c.Bin, "--switches", "off"), tool.Stackagent("switches=off, once more", c.Bin, "--switches", "off")}
	for _, source := range []string{"ebpf", "perf"} {
		tools = append(tools, tool.Stackagent("switches="+source, c.Bin, "--switches", source))
	}
	return tools
}

// Switches measures the cost of recording the scheduler: for two threads that only
// pass a turn back and forth, and for real programs.
func Switches(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	tools, rounds := switchTools(c), c.rounds(5)
	var b strings.Builder
	fmt.Fprintf(&b, "JDK %s, 2 threads, medians of %d runs each; the tools alternate.\n", c.newest().Full, rounds)
	if c.wants("ping") {
		turns := pick(c, pingTurns, pingTurns/20)
		text, err := c.pings(ctx, c.own("ping", pingWhat, classes, "Ping", fmt.Sprint(turns)), tools, rounds)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	for _, prepare := range c.realPrograms(ctx, classes, whole) {
		if prepare.name != "sunflow" && prepare.name != "h2" && prepare.name != "pmd" || !c.wants(prepare.name) {
			continue
		}
		text, err := c.wholeText(ctx, prepare, nil, tools, rounds, switchesText)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// recordOf counts the switches of a session's scheduling record, and the lost ones.
func recordOf(dir string) (switches, lost uint64, err error) {
	r, err := sched.Open(dir)
	if err != nil || r == nil {
		return 0, 0, err
	}
	if why := r.Record().NotAvailable[sched.NoRecord]; why != "" {
		return 0, 0, fmt.Errorf("no scheduling record: %s", why)
	}
	for _, t := range r.Record().Threads {
		switches += t.Voluntary + t.Involuntary
	}
	return switches, r.Record().Lost, nil
}

// ping is a run of the program Ping.
type ping struct{ wall, cpu, perSecond float64 } // ns a turn; switches

const pingWhat = "two threads only pass a turn back and forth, each sleeping in a futex until its turn. " +
	"Switches are the kernel's own count for the two."

// pings runs a program that prints what Ping does.
func (c Config) pings(ctx context.Context, p program, tools []tool.Tool, rounds int) (string, error) {
	runs := make([][]ping, len(tools))
	err := alternate(rounds, len(tools), func(round, i int) error {
		return c.inScratch(func(dir string) error {
			run, err := tools[i].Run(ctx, p.Program, dir)
			if err != nil {
				return fmt.Errorf("%s under %s: %w", p.name, tools[i].Name, err)
			}
			one, err := parsePing(run.Stdout)
			if err != nil {
				return err
			}
			c.say("%-12s round %d %-28s %8.0f ns, %8.0f ns CPU per turn, %8.0f switches per second", p.name, round+1, tools[i].Name, one.wall, one.cpu, one.perSecond)
			runs[i] = append(runs[i], one)
			return nil
		})
	})
	if err != nil {
		return "", err
	}
	return pingText(p, tools, runs), nil
}

// parsePing reads what Ping prints: turns, and their nanoseconds, CPU time and switches.
func parsePing(out string) (ping, error) {
	var turns, ns, cpu, switches float64
	if _, err := fmt.Sscan(out, &turns, &ns, &cpu, &switches); err != nil || turns <= 0 || ns <= 0 {
		return ping{}, fmt.Errorf("the program Ping printed %q, want four numbers: %w", out, err)
	}
	return ping{wall: ns / turns, cpu: cpu / turns, perSecond: switches / ns * 1e9}, nil
}

func pingText(p program, tools []tool.Tool, runs [][]ping) string {
	of := func(i int, f func(ping) float64) (v []float64) {
		for _, r := range runs[i] {
			v = append(v, f(r))
		}
		return v
	}
	wall, cpu := func(p ping) float64 { return p.wall }, func(p ping) float64 { return p.cpu }
	t := result.Table{Head: []string{p.name, "ns per turn", "slower", "CPU ns per turn", "CPU", "switches per second"}}
	for i, x := range tools {
		row := []string{x.Name, result.Interval(result.OfMedian(of(i, wall))), "", result.Interval(result.OfMedian(of(i, cpu))), "",
			result.Number(result.Median(of(i, func(p ping) float64 { return p.perSecond })))}
		if i > 0 {
			row[2], row[4] = result.Percent(result.Ratio(of(i, wall), of(0, wall))), result.Percent(result.Ratio(of(i, cpu), of(0, cpu)))
		}
		t.Add(row...)
	}
	return "\n**" + p.name + "**: " + p.what + "\n\n" + t.String()
}

func switchesText(p program, tools []tool.Tool, runs [][]wholeRun) string {
	t := result.Table{Head: []string{p.name, "wall s", "wall", "CPU s of the JVM", "CPU", "switches per second", "lost", "shadow's CPU s"}}
	for i, x := range tools {
		r := runs[i]
		row := []string{x.Name, result.Interval(result.OfMedian(figures(r, wholeWall))), "", result.Interval(result.OfMedian(figures(r, wholeCPU))), "", "", "",
			result.Number(result.Median(figures(r, wholeShadow)))}
		if i > 0 {
			row[2] = result.Percent(result.Ratio(figures(r, wholeWall), figures(runs[0], wholeWall)))
			row[4] = result.Percent(result.Ratio(figures(r, wholeCPU), figures(runs[0], wholeCPU)))
		}
		if last := r[len(r)-1]; last.switches > 0 {
			row[5] = result.Number(result.Median(figures(r, func(r wholeRun) float64 { return float64(r.switches) / r.wall })))
			row[6] = result.Grouped(int64(last.lostSwitches))
		}
		t.Add(row...)
	}
	return fmt.Sprintf("\n**%s**: %s. Switches are those of all threads of the JVM.\n\n%s", p.name, p.what, t.String())
}
