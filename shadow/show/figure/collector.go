package figure

import (
	"fmt"
	"slices"

	"stackagent/granularity/gc"
)

// Names of factors that the figures of collections know; any other name may be given.
const (
	FactorThreads   = "application threads"
	FactorGCThreads = "GC threads"
	FactorHeap      = "heap"
	FactorCollector = "collector"
	FactorProgram   = "program"
)

// CollectorFigures draw garbage collection and the application against what varied, as the figures 5 to 9, 15 and 16 of the
// bottle graph paper: values are multiples of the first configuration's, waits are absolute. Each
// configuration has a level of each factor, in their order. Several programs are normalised each to its own, and averages drawn.
func CollectorFigures(factors []string, configurations []gc.Configuration) []*Figure {
	if len(configurations) == 0 {
		return nil
	}
	programs, average := [][]gc.Configuration{configurations}, ""
	if k := slices.Index(factors, FactorProgram); k >= 0 {
		programs, factors = gc.ByProgram(configurations, k), slices.Delete(slices.Clone(factors), k, k+1)
		programs = slices.DeleteFunc(programs, func(all []gc.Configuration) bool { return len(all[0].Runs) == 0 }) // nothing to normalise to
		switch n := len(programs); {
		case n == 0:
			return nil
		case n > 1:
			average = fmt.Sprintf(", average of %d programs", n)
		}
	}
	all := programs[0]
	panel := func(label string, q gc.Quantity) Panel {
		return Panel{Label: label, Ratio: true, Values: gc.Averaged(programs, q)}
	}
	rate := func(label string, q gc.Quantity) Panel {
		return Panel{Label: label, Values: gc.AveragedMeans(programs, q)}
	}
	collection, application := over(factors, all, FactorGCThreads, FactorHeap, FactorThreads), over(factors, all, FactorThreads, FactorGCThreads, FactorHeap)
	return drawn([]*Figure{
		Over(&Figure{
			Name: "collector", Title: "Garbage collection: work and time" + average,
			Alt: "The running time of the collector's threads and the height of their boxes in the bottle graph, as multiples of the first configuration's.",
		}, collection, []Panel{panel("work", gc.GCWork), panel("time", gc.GCTime)}),
		Over(&Figure{
			Name: "collections", Title: "Number of collections, and how often the collector's threads wait" + average,
			Alt: "The number of collections as a multiple of the first configuration's, and the waits of the collector's threads in a futex per millisecond of pause.",
		}, collection, []Panel{panel("collections", gc.Collections), rate("waits per ms of pause", gc.GCWaits), panel("LLC misses", gc.LLCMisses)}),
		Over(&Figure{
			Name: "application", Title: "Application: work and time without the collector's, and waits" + average,
			Alt: "The running time of the application's threads and the height of their boxes in the bottle graph, as multiples of the first configuration's, and their waits in a futex per millisecond.",
		}, application, []Panel{panel("work", gc.ApplicationWork), panel("time", gc.ApplicationTime), rate("waits per ms", gc.ApplicationWaits)}),
	})
}

// drawn are the figures that show something.
func drawn(all []*Figure) []*Figure {
	return slices.DeleteFunc(all, func(f *Figure) bool { return f.Empty })
}

// over puts the first of the wanted factors that varies on the horizontal axis, else the first factor that does.
func over(factors []string, all []gc.Configuration, wanted ...string) Configurations {
	varies := func(k int) bool {
		return slices.ContainsFunc(all, func(c gc.Configuration) bool { return c.Levels[k] != all[0].Levels[k] })
	}
	var order []int
	for _, name := range append(slices.Clone(wanted), factors...) {
		if k := slices.Index(factors, name); k >= 0 && varies(k) && !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	c := Configurations{}
	for _, k := range order {
		c.Factors = append(c.Factors, factors[k])
	}
	if len(order) == 0 {
		c.Factors = []string{"configuration"}
	}
	for _, one := range all {
		levels := []string{}
		for _, k := range order {
			levels = append(levels, one.Levels[k])
		}
		if len(order) == 0 {
			levels = []string{"the only one"}
		}
		c.Levels = append(c.Levels, levels)
	}
	return c
}
