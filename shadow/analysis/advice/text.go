package advice

import (
	"fmt"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// This file has the sentences of advice, textsession.go those of facts and cautions.
// A sentence says what happened, on what, and what to do.

// outcome says what following the advice saves, or why that cannot be predicted: "Predicted: 500 ms instead of 1.00 s (50 % less)." It is
// time for the same work: a server, or a loop with a time limit, does not end earlier.
func (f *Finding) outcome() string {
	p := f.Predicted
	if e, ok := f.Evidence.(*Obstructed); ok {
		return e.Outcome()
	}
	switch {
	case p == nil:
		return ""
	case p.Why != "":
		return "Cannot tell what it saves: " + p.Why + "."
	}
	from, to := f.Gain.Ns+p.Ns, p.Ns
	s := fmt.Sprintf("Predicted: %s instead of %s (%s less)", units.FormatNs(to), units.FormatNs(from), units.FormatPercent(float64(from-to)/float64(max(1, from))))
	if to >= from {
		s = fmt.Sprintf("Predicted: %s, as before", units.FormatNs(from))
	}
	for i, a := range f.Gain.Assumes {
		if i > 0 {
			s += " and"
		} else {
			s += ", if"
		}
		s += " " + assumptions[a]
	}
	return s + "."
}

var assumptions = map[Assumption]string{
	NotNeeded: "nothing needs these collections",
}

func (e *FineUnits) sentence(f *Finding) string {
	subject := fmt.Sprintf("The tasks of %s are", readable(f.Class))
	switch {
	case e.Bulk:
		subject = fmt.Sprintf("The parts of a bulk operation (a parallel stream), which the JDK splits into %s, are", readable(f.Class))
	case e.JDK:
		subject = fmt.Sprintf("The tasks that the program submits as %s are", readable(f.Class))
	}
	summarised := ""
	if e.Summarised > 0 {
		summarised = fmt.Sprintf(" (%s of them summarised)", share(e.Summarised, e.Units))
	}
	s := fmt.Sprintf("%s all fine-grained%s: %s%s with a median of %s of work.", subject, submittedAt(e.Site), text.Plural(e.Units, "unit", "units"), summarised, units.FormatNs(e.Median))
	switch {
	case e.Tiny:
		return s + " In this, they also make, fork and join their parts, which takes 100 ns or more for each."
	case e.Parts:
		return s + fmt.Sprintf(" A task that waits for its parts takes %s or more between two of them in three of four cases.", units.FormatNs(e.Gap))
	case e.Gap.Measured():
		s += fmt.Sprintf(" A worker takes a median of %s to get from one unit to the next, probes included.", units.FormatNs(e.Gap))
	default:
		s += fmt.Sprintf(" The workers spend %s of their time on overhead, not on your code; an estimated %s for the profiler's probes is left out.", units.FormatPercent(e.Overhead), units.FormatNs(e.Probes))
	}
	in := units.FormatNs(e.Active) + ","
	if !e.Always {
		in = "the " + units.FormatNs(e.Active) + " in which a unit waited or ran,"
	}
	return s + fmt.Sprintf(" In %s %s did %s of work.", in, e.name(), units.FormatNs(e.Work))
}

func (e *FineUnits) title(f *Finding) string {
	if e.Bulk {
		return "The parts of a bulk operation are too small"
	}
	return "The tasks of " + readable(f.Class) + " are too small"
}

func (e *FineUnits) remedy() string {
	if e.Bulk {
		return "Give one call more elements, or more work for each, and leave short ones sequential."
	}
	return "Give each task more work (batches, a higher threshold for splitting)."
}

func (e *FineExecutions) sentence(f *Finding) string {
	return fmt.Sprintf("%s is fine-grained%s: %s with a median of %s of %s, %s of %s for %s of the work.",
		readable(f.Class), allFrom(e.Site), e.Of.Plural(e.Count), units.FormatNs(e.Median), e.Metric.Label(),
		units.FormatPercent(e.ExecutionShare), e.Of.All(), units.FormatPercent(e.WorkShare))
}

func (e *FineExecutions) title(f *Finding) string {
	return "The tasks of " + readable(f.Class) + " are very small"
}

func (e *FineExecutions) remedy() string {
	if !e.First {
		return ""
	}
	return "If such tasks run on other threads, creating, queueing and waking cost as much as that work: give each task more of it (batches, a higher threshold for splitting)."
}

func (e *CoarseExecution) sentence(f *Finding) string {
	return fmt.Sprintf("%s is coarse-grained%s: its longest %s takes %s of %s, %s of the session.",
		readable(f.Class), allFrom(e.Site), e.Of.One(), units.FormatNs(e.Max), e.Metric.Label(), units.FormatPercent(e.SessionShare))
}

func (e *CoarseExecution) title(f *Finding) string {
	return readable(f.Class) + " has a task that is too large"
}

func (e *CoarseExecution) remedy() string {
	return "No schedule is shorter than its longest task: split it if other processors idle meanwhile."
}

func (e *Pinned) sentence(f *Finding) string {
	return fmt.Sprintf("Virtual threads parked %s while pinned to their carriers, for %s in total (%s and %s in threads of %s%s). They kept %s from others that waited for one, for %s of the time.",
		text.Plural(e.Pins, "time", "times"), units.FormatNs(e.Pinned), text.Plural(e.ClassPins, "time", "times"), units.FormatNs(e.ClassPinned), readable(f.Class), submittedAt(e.Site),
		text.Plural(e.Carriers, "carrier", "carriers"), units.FormatPercent(e.Held))
}

func (e *Pinned) title(*Finding) string { return "Virtual threads keep their carriers while they wait" }

func (e *Pinned) remedy() string {
	const native = "o not block in static initialisers, in class loaders, and in what native code calls"
	try := "D" + native
	if e.JDK < 24 { // JEP 491
		try = "Use a lock of java.util.concurrent instead of synchronized around what blocks (JDK 24 and later do not pin there), and d" + native +
			". Do not wait for such a lock in a block that stays synchronized: if all carriers are pinned there, the next owner gets none"
	}
	return try + ". JFR's event jdk.VirtualThreadPinned shows where they pinned."
}

func (e *DeepNesting) sentence(f *Finding) string {
	return fmt.Sprintf("Tasks are nested up to %s deep on one stack (%s innermost). A deep stack can overflow, and what waits in it holds its memory.", units.FormatCount(e.Depth), readable(f.Class))
}

func (e *DeepNesting) title(*Finding) string {
	return fmt.Sprintf("Tasks are nested %s deep on one stack", units.FormatCount(e.Depth))
}

func (e *DeepNesting) remedy() string {
	return "Fork and join in a tree, or submit the next step, without waiting for it, instead of running it inside."
}

func (e *Swallowed) sentence(f *Finding) string {
	const unknown = "whether anybody asked the future for it is not known"
	n := e.Unasked
	if n == 0 {
		n = e.Unknown
	}
	s := fmt.Sprintf("%s of %s ended with an exception that its future kept%s", text.Plural(n, "unit", "units"), readable(f.Class), submittedAt(e.Site))
	switch {
	case e.Unasked == 0:
		s += "; " + unknown + "."
	case e.Unended:
		s += "; nobody asked for it, as far as recorded."
	default:
		s += "; nobody asked for it."
	}
	if e.Unasked > 0 && e.Unknown > 0 {
		s += fmt.Sprintf(" For %s more, %s.", units.FormatCount(e.Unknown), unknown)
	}
	return s
}

func (e *Swallowed) title(f *Finding) string {
	if e.Unasked == 0 {
		return "Exceptions of " + readable(f.Class) + " may go unseen"
	}
	return "Exceptions of " + readable(f.Class) + " go unseen"
}

func (e *Swallowed) remedy() string {
	return "Ask every future for its result (get, which waits for it), or handle the exception in the task: a failure nobody sees costs more than time."
}

func (e *CostlyPauses) sentence(f *Finding) string {
	s := fmt.Sprintf("Garbage collection stopped the program for %s, %s of the time", units.FormatNs(e.Stopped), units.FormatPercent(e.Share))
	if e.Around {
		s += " with reaching its safepoints"
	}
	if e.Cause != "" {
		s += fmt.Sprintf(", most often for %s (%s)", e.Cause, text.PluralExact(e.OfCause, "time", "times"))
	}
	s += "."
	if e.late() {
		s += fmt.Sprintf(" Most of it is not collecting: for %s a thread had not stopped yet, and the others waited for it.", units.FormatNs(e.Reached))
		s += e.lateText()
	}
	if e.Waited != nil && *e.Waited > 0 {
		s += fmt.Sprintf(" For %s of that its threads only waited for a processor.", units.FormatNs(*e.Waited))
	}
	var more []string
	if e.Beside != nil && *e.Beside > e.Stopped/100 {
		more = append(more, fmt.Sprintf("it took processors from the program for %s", units.FormatNs(*e.Beside)))
	}
	if e.Stalled != nil && *e.Stalled > e.Stopped/100 {
		more = append(more, fmt.Sprintf("threads waited for it for %s", units.FormatNs(*e.Stalled)))
	}
	if len(more) > 0 {
		s += fmt.Sprintf(" Outside of the pauses %s.", strings.Join(more, ", and "))
	}
	if e.Asked > 0 {
		s += fmt.Sprintf(" %s of it were collections that someone asked for, which no heap avoids.", units.FormatNs(e.Asked))
	}
	if e.Unseen {
		s += " The causes of most collections are not known; a larger heap does not avoid those that the program asks for (System.gc())."
	}
	return s
}

func (e *CostlyPauses) title(*Finding) string {
	return fmt.Sprintf("Garbage collection stops the program for %s of the time", units.FormatPercent(e.Share))
}

func (e *CostlyPauses) remedy() string {
	if e.late() {
		return "Look for what runs long without a safepoint poll, such as a counted loop over an int (-XX:+UseCountedLoopSafepoints gives it polls) or the copy of a large array; -Xlog:safepoint shows how long each took to reach."
	}
	switch e.Cause {
	case "G1 Humongous Allocation":
		return "These are for single objects of half a region of G1 or more. Reuse them, make them smaller, or make the regions larger (-XX:G1HeapRegionSize)."
	case "Metadata GC Threshold":
		return "Classes are loaded faster than metaspace grows: make it larger from the start (-XX:MetaspaceSize), or load fewer."
	}
	return "Try a larger heap if there is the memory, or another collector, or allocate less inside the tasks."
}

func (e *Explicit) sentence(f *Finding) string {
	unseen := ""
	if e.Unseen > 0 {
		unseen = fmt.Sprintf(" (why %s ran is not known)", text.Plural(e.Unseen, "other", "others"))
	}
	what := text.Plural(e.Count, "collection", "collections") + " ran"
	if e.Paused {
		what = text.Plural(e.Count, "pause was", "pauses were")
	}
	return fmt.Sprintf("%s: %s because of System.gc()%s%s. A larger heap does not avoid them.", e.title(f), what, unseen, e.by())
}

// by says who asked.
func (e *Explicit) by() string {
	if len(e.Askers) == 0 {
		return ""
	}
	var list []string
	for _, x := range e.Askers[:min(len(e.Askers), maxNamed)] {
		list = append(list, fmt.Sprintf("%s (%s)", x.Site, units.FormatExact(x.Count)))
	}
	return ", called by " + text.AllOf(list)
}

// forBuffers reports whether it is the JDK that asks, because direct buffers find no memory.
func (e *Explicit) forBuffers() bool { return 2*e.Buffers > e.Count }

func (e *Explicit) title(*Finding) string {
	switch {
	case e.forBuffers():
		return "Direct buffers run out of memory, for which the JDK asks for collections"
	case len(e.Askers) > 0:
		return "The program asks for collections"
	}
	return "The program, or the JDK for it, asks for collections"
}

func (e *Explicit) remedy() string {
	switch {
	case e.forBuffers():
		return "Make the direct buffers once and reuse them, or allow more memory for them (-XX:MaxDirectMemorySize): each is freed only when a collection finds that nobody has it any more."
	case len(e.Askers) > 0:
		return "Take the call out, or start the JVM with -XX:+ExplicitGCInvokesConcurrent."
	}
	return "Who calls it is not recorded: JFR's event jdk.SystemGC has the stack. Take the call out if it is the program's. The JDK calls it itself when direct buffers run out, and for RMI: " +
		"these calls must stay, and a program that no longer calls it may need a larger -XX:MaxDirectMemorySize."
}

// name is a pool in a sentence.
func (p *PoolName) name() string {
	if p.Threads {
		return "the threads of " + readable(p.Label)
	}
	return p.Label
}

// submittedAt names a site, if one is known.
func submittedAt(site string) string {
	if site == "" {
		return ""
	}
	return ", submitted at " + site
}

// allFrom names the only site of a class, if there is one.
func allFrom(site string) string {
	if site == "" {
		return ""
	}
	return fmt.Sprintf(" (all of it from %s)", site)
}

// readable is a class's name in a sentence: a lambda is named after its method, since
// the name of its class repeats the host.
func readable(class string) string {
	if host, target, ok := strings.Cut(class, "$$Lambda -> "); ok && strings.HasPrefix(target, host+".lambda$") {
		return target
	}
	return class
}

// WithoutPackage cuts the package off a class's name: its parts before the first that
// begins with a capital letter.
func WithoutPackage(class string) string {
	parts := strings.Split(class, ".")
	for i, p := range parts {
		if p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return strings.Join(parts[i:], ".")
		}
	}
	return class
}

func share(part, whole int64) string {
	if whole == 0 {
		return units.FormatPercent(0)
	}
	return units.FormatPercent(float64(part) / float64(whole))
}
