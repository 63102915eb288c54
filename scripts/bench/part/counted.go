package part

import (
	"context"
	"fmt"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/stat"
	"stackagent/scripts/bench/table"
	"stackagent/scripts/bench/tool"
)

// tracers is the name of the eBPF programs that record the scheduler.
const tracers = "stackagent"

// countedRun is a run of which the parts of the added CPU time are counted: seconds.
type countedRun struct {
	agent, shadow, kernel float64
	probes                map[string]float64 // by kind of event
	events                map[string]uint64
	tracings              uint64
	program               float64 // of the JVM, without what is added
}

// inside is what is added in the JVM and in the kernel on its behalf.
func (r countedRun) inside() float64 {
	sum := r.agent + r.kernel
	for _, cpu := range r.probes {
		sum += cpu
	}
	return sum
}

// counted runs a program and counts what is added. why: the kernel's part could not be counted.
func (c Config) counted(ctx context.Context, p program, found costs, rounds int) (runs []countedRun, why error, err error) {
	for round := range rounds {
		kernel, refused := measure.WatchKernel(tracers)
		var r countedRun
		err := c.inScratch(func(dir string) error {
			run, err := tool.Stackagent("", c.Bin).Run(ctx, p.Program, dir)
			if err != nil {
				return err
			}
			a, err := tool.ReadAccount(ctx, c.Bin.Shadow, run.Files)
			r = countedRun{agent: a.Agent.Seconds(), shadow: run.Shadow.CPU.Seconds(), events: a.Events, probes: map[string]float64{}}
			r.program = a.JVM.Seconds()
			return err
		})
		if refused == nil {
			var t measure.KernelTime
			t, refused = kernel.Close()
			r.kernel, r.tracings = t.Time.Seconds(), t.Runs
		}
		if err != nil {
			return nil, nil, err
		}
		if refused != nil {
			why = refused
		}
		for kind, ns := range found {
			r.probes[kind] = ns[round%len(ns)] * float64(r.events[kind]) / 1e9
		}
		r.program -= r.inside()
		c.say("%-12s counted %d: %.2f s of agent, shadow %.2f, kernel %.3f", p.name, round+1, r.agent, r.shadow, r.kernel)
		runs = append(runs, r)
	}
	return runs, why, nil
}

// shareOf estimates a part of the added CPU time as a share of the program's.
func shareOf(runs []countedRun, part func(countedRun) float64) stat.Estimate {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = part(r) / r.program
	}
	return stat.OfMedian(v)
}

func countedText(p program, runs []countedRun, found costs, why error) string {
	t := table.Table{Head: []string{p.name + ", what is added", "events", "ns each", "CPU s", "share of the program's CPU"}}
	row := func(what, events, each string, part func(countedRun) float64) {
		v := make([]float64, len(runs))
		for i, r := range runs {
			v[i] = part(r)
		}
		t.Add(what, events, each, table.Number(stat.Median(v)), table.Share(shareOf(runs, part)))
	}
	last := runs[len(runs)-1]
	row("the agent's own threads", "", "", func(r countedRun) float64 { return r.agent })
	for _, k := range calibrations {
		if last.events[k.kind] > 0 {
			row("probes: "+k.kind, table.Grouped(int64(last.events[k.kind])), table.Interval(stat.OfMedian(found[k.kind])),
				func(r countedRun) float64 { return r.probes[k.kind] })
		}
	}
	note := ""
	if why == nil {
		row("eBPF programs in the kernel", table.Grouped(int64(last.tracings)), table.Number(last.kernel/float64(last.tracings)*1e9),
			func(r countedRun) float64 { return r.kernel })
	} else {
		reason, _, _ := strings.Cut(why.Error(), "\n")
		t.Add("eBPF programs in the kernel", "not available")
		note = "\nThe time of the eBPF programs is not available: " + reason + "\n"
	}
	row("all of these", "", "", countedRun.inside)
	row("the shadow, a process of its own", "", "", func(r countedRun) float64 { return r.shadow })
	return fmt.Sprintf("\n%s%s", t.String(), note)
}
