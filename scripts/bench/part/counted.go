package part

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

// countedRun is a run of which the parts of the added CPU time are counted: seconds.
type countedRun struct {
	agent, shadow, kernel float64
	record                float64            // of the shadow, for the scheduling record
	hot, cold             map[string]float64 // the probes, by kind of event
	events                map[string]uint64
	tracings              uint64
	program               float64 // of the JVM, without what is added
}

// inside is what is added in the JVM and in the kernel on its behalf, by the costs of the probes in hot caches or in cold ones.
func (r countedRun) inside(probes map[string]float64) float64 {
	sum := r.agent + r.kernel
	for _, cpu := range probes {
		sum += cpu
	}
	return sum
}

func insideHot(r countedRun) float64  { return r.inside(r.hot) }
func insideCold(r countedRun) float64 { return r.inside(r.cold) }

// counted runs a program and counts what is added. why: the kernel's part could not be counted.
func (c Config) counted(ctx context.Context, p program, found costs, rounds int) (runs []countedRun, why error, err error) {
	if counts, refused := measure.CountKernel(); refused == nil {
		defer counts.Close()
	}
	for round := range rounds {
		var r countedRun
		err := c.inScratch(func(dir string) error {
			run, err := tool.Stackagent("", c.Bin).Run(ctx, p.Program, dir)
			if err != nil {
				return err
			}
			a, err := tool.ReadAccount(ctx, c.Bin.Shadow, run.Files)
			r = countedRun{agent: a.Agent.Seconds(), shadow: run.Shadow.CPU.Seconds(), events: a.Events, hot: map[string]float64{}, cold: map[string]float64{}}
			r.program = a.JVM.Seconds()
			r.kernel, r.tracings, r.record = float64(a.Tracing.Kernel)/1e9, a.Tracing.Runs, float64(a.Tracing.Reading)/1e9
			if a.Tracing.KernelUnknown != "" {
				why = errors.New(a.Tracing.KernelUnknown)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		for kind, of := range found {
			r.hot[kind] = of.hot[round%len(of.hot)] * float64(r.events[kind]) / 1e9
			r.cold[kind] = of.cold[round%len(of.cold)] * float64(r.events[kind]) / 1e9
		}
		r.program -= insideHot(r)
		c.say("%-12s counted %d: %.2f s of agent, shadow %.2f, kernel %.3f", p.name, round+1, r.agent, r.shadow, r.kernel)
		runs = append(runs, r)
	}
	return runs, why, nil
}

// shareOf estimates a part of the added CPU time as a share of the program's.
func shareOf(runs []countedRun, part func(countedRun) float64) result.Estimate {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = part(r) / r.program
	}
	return result.OfMedian(v)
}

func countedText(p program, runs []countedRun, found costs, why error) string {
	t := result.Table{Head: []string{p.name + ", what is added", "events", "ns each", "cold", "CPU s", "cold", "share of the program's CPU", "cold"}}
	row := func(what, events, each, eachCold string, hot, cold func(countedRun) float64) {
		cells := []string{what, events, each, eachCold, median(runs, hot), "", result.Share(shareOf(runs, hot))}
		if cold != nil {
			cells[5] = median(runs, cold)
			cells = append(cells, result.Share(shareOf(runs, cold)))
		}
		t.Add(cells...)
	}
	last := runs[len(runs)-1]
	row("the agent's own threads", "", "", "", func(r countedRun) float64 { return r.agent }, nil)
	for _, k := range calibrations {
		if last.events[k.kind] > 0 {
			of := found[k.kind]
			row("probes: "+k.kind, result.Grouped(int64(last.events[k.kind])), result.Interval(result.OfMedian(of.hot)), result.Interval(result.OfMedian(of.cold)),
				func(r countedRun) float64 { return r.hot[k.kind] }, func(r countedRun) float64 { return r.cold[k.kind] })
		}
	}
	note := ""
	if why == nil {
		row("eBPF programs in the kernel", result.Grouped(int64(last.tracings)), result.Number(last.kernel/float64(last.tracings)*1e9), "",
			func(r countedRun) float64 { return r.kernel }, nil)
	} else {
		reason, _, _ := strings.Cut(why.Error(), "\n")
		t.Add("eBPF programs in the kernel", "not available")
		note = "\nThe time of the eBPF programs is not available: " + reason + "\n"
	}
	row("all of these", "", "", "", insideHot, insideCold)
	row("the shadow, a process of its own", "", "", "", func(r countedRun) float64 { return r.shadow }, nil)
	row("of that the scheduling record", "", "", "", func(r countedRun) float64 { return r.record }, nil)
	return fmt.Sprintf("\n%s%s", t.String(), note)
}

func median(runs []countedRun, part func(countedRun) float64) string {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = part(r)
	}
	return result.Number(result.Median(v))
}
