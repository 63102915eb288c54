package advice

import (
	"fmt"

	"stackagent/granularity/speedup"
	"stackagent/internal/text"
)

// barRemedies says what to do about each component.
var barRemedies = [speedup.NComponents]string{
	speedup.GC:               "collections do not get shorter with more threads, or threads wait for the collector: allocate less, give it a larger heap, or try other numbers of GC threads (shadow scale --gc-threads)",
	speedup.Sequential:       "the main thread, or another one that submits the work, computes alone for long: divide or overlap what it does before, between and after the parallel parts",
	speedup.Synchronization:  "threads wait for each other in locks, queues or joins: shorten what is done under locks, divide the data, hand over larger pieces",
	speedup.Imbalance:        "threads end early and wait for the last one: divide the largest tasks, or begin with them (shadow hotspots --sort max)",
	speedup.IO:               "threads wait for files or the network for longer than one alone: read ahead, batch, or spread over more devices",
	speedup.Oversubscription: "threads are ready and find no processor: use fewer threads, give it more processors, or keep other programs off them",
}

// restRemedies says what to do about each part of the rest.
var restRemedies = [speedup.NParts]string{
	speedup.Work:        "the threads need more processor time for the same work than one alone: more instructions for handing over, or caches and memory shared",
	speedup.Sleep:       "threads sleep for a time that they ask for",
	speedup.Off:         "threads are off the processor for a reason that the record does not show: record with --switches=ebpf",
	speedup.Safepoint:   "the JVM stops all threads, not for a collection: look for the operations with -Xlog:safepoint",
	speedup.Unended:     "threads wait for what never comes: the program ends first",
	speedup.Unseen:      "part of the time was not observed",
	speedup.Late:        "there are fewer threads than asked for: start them earlier, or make the program use them all",
	speedup.Surplus:     "there are more application threads than asked for",
	speedup.Idle:        "neither the main thread nor any application thread was at work: the start of the JVM, or the main thread waiting",
	speedup.BaseWait:    "the run with one thread itself waits",
	speedup.Unseparated: "threads wait for each other, or end early and wait for the last one; the session's agent is too old to say which: record again",
}

// OfBar is a sentence about a bar of a speedup stack: what costs most, and what to do about it.
func OfBar(b *speedup.Bar) string {
	n := text.Plural(int64(b.Threads), "thread", "threads")
	head := fmt.Sprintf("%s: %.2f times as fast as one", n, b.Speedup)
	if b.AtMost {
		head = fmt.Sprintf("%s: at most %.2f times as fast as one, which is %d minus the losses", n, b.Speedup, b.Threads)
	}
	switch l := b.Largest(); l.Outcome {
	case speedup.InOne:
		return fmt.Sprintf("%s; most is lost to %s (%.2f of %d): %s.", head, componentWords(l.Component), l.Threads, b.Threads, barRemedies[l.Component])
	case speedup.Elsewhere:
		return fmt.Sprintf("%s; most is lost elsewhere (%.2f of %d): %s.", head, l.Threads, b.Threads, restRemedies[l.Part])
	case speedup.Gain:
		return fmt.Sprintf("%s; the threads need less processor time together than one alone (%.2f below zero in the rest): "+
			"the base was slower for a reason of its own, caches or warm-up; measure both when warm (--region last:K) and repeat.", head, l.Threads)
	}
	return head + "; no component is large. shadow why says what the time depends on, also where no thread waits for another."
}

// componentWords is a component in a sentence.
func componentWords(c speedup.Component) string {
	switch c {
	case speedup.GC:
		return "garbage collection"
	case speedup.Sequential:
		return "the sequential part"
	case speedup.IO:
		return "I/O"
	}
	return c.String()
}
