package speedup

import (
	"fmt"

	"stackagent/internal/units"
)

// worth is the share of N below which a component is not worth a word.
const worth = 0.05

// remedies say what to do about a component.
var remedies = [NComponents]string{
	GC:               "collections do not get shorter with more threads: allocate less, give it a larger heap, or try other numbers of GC threads (shadow scale --gc-threads)",
	Sequential:       "the main thread works alone for long: divide or overlap what it does before, between and after the parallel parts",
	Synchronization:  "threads wait for each other in locks, queues or joins, or sleep (Thread.sleep waits in the same way): shorten what is done under locks, divide the data, hand over larger pieces",
	Imbalance:        "threads end early and wait for the last one: divide the largest tasks, or begin with them (shadow hotspots --sort max)",
	IO:               "threads wait for files or the network for longer than one alone: read ahead, batch, or spread over more devices",
	Oversubscription: "threads are ready and find no processor: use fewer threads, give it more processors, or keep other programs off them",
}

// partRemedies say what to do about a part of the rest.
var partRemedies = [NParts]string{
	Work:     "the threads need more processor time for the same work than one alone: more instructions for handing over, or caches and memory shared",
	Sleep:    "threads sleep for a time that they ask for",
	Off:      "threads are off the processor for a reason that the record can not tell: record with --switches=ebpf",
	Unseen:   "part of the time was not observed",
	Late:     "there are fewer threads than asked for: start them earlier, or make the program use them all",
	Surplus:  "there are more application threads than asked for",
	Idle:     "neither the main thread nor any application thread was at work: the start of the JVM, or the main thread waiting",
	BaseWait: "the run with one thread itself waits",
}

// Advice is a sentence about a bar: what costs most, and what to do about it.
func (b *Bar) Advice() string {
	most := Component(-1)
	for c := range Rest {
		if b.Components[c] >= worth*float64(b.Threads) && (most < 0 || b.Components[c] > b.Components[most]) {
			most = c
		}
	}
	part := Part(0)
	for p := range NParts {
		if b.Parts[p] > b.Parts[part] {
			part = p
		}
	}
	n := units.FormatCount(int64(b.Threads)) + " threads"
	if b.Threads == 1 {
		n = "1 thread"
	}
	head := fmt.Sprintf("%s: %.2f times as fast as one", n, b.Speedup)
	rest := b.Components[Rest]
	switch {
	case most >= 0 && b.Components[most] >= rest:
		return fmt.Sprintf("%s; most is lost to %s (%.2f of %d): %s.", head, most.words(), b.Components[most], b.Threads, remedies[most])
	case rest >= worth*float64(b.Threads):
		return fmt.Sprintf("%s; most is lost elsewhere (%.2f of %d): %s.", head, rest, b.Threads, partRemedies[part])
	case rest <= -worth*float64(b.Threads):
		return fmt.Sprintf("%s; the threads need less processor time together than one alone (%.2f below zero in the rest): "+
			"the base was slower for a reason of its own, caches or warm-up; measure both when warm (--region last:K) and repeat.", head, -rest)
	}
	return head + "; nothing that is told here stands in its way."
}

// words is the component in a sentence.
func (c Component) words() string {
	switch c {
	case GC:
		return "garbage collection"
	case Sequential:
		return "the sequential part"
	case IO:
		return "I/O"
	}
	return c.String()
}
