package advice

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/taskdef"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

func (e *Volume) sentence(*Finding) string {
	if e.Executions == 0 {
		what, like := "execution of a task", ""
		if e.Of == text.UnitsOfWork {
			what = e.Of.One()
		}
		if e.Like != "" {
			like = " of a class matching " + e.Like
		}
		if e.NotCreated {
			return fmt.Sprintf("No %s%s was recorded in %s.", what, like, units.FormatNs(e.Duration))
		}
		return fmt.Sprintf("No %s%s was recorded in %s (%s created).", what, like, units.FormatNs(e.Duration), text.Plural(e.Created, "task was", "tasks were"))
	}
	created := text.Plural(e.Created, "created task", "created tasks")
	if e.Unseen {
		created = "tasks whose creation was not always seen"
	}
	if created = " of " + created; e.NotCreated {
		created = ""
	}
	on := ""
	if e.ThreadsLow {
		on = "at least "
	}
	s := fmt.Sprintf("%s%s on %s%s in %s", e.Of.Plural(e.Executions), created, on, text.Plural(e.Threads, "thread", "threads"), units.FormatNs(e.Duration))
	if e.Partial { // no rate: when they ran is only known of these
		return s + ", as far as recorded."
	}
	if e.Duration > 0 {
		if rate := float64(e.Executions) / (float64(e.Duration) / 1e9); rate >= 1 && e.Executions >= rateFrom {
			s += fmt.Sprintf(" (%s per second)", units.FormatCount(int64(rate)))
		}
	}
	return s + "."
}

func (e *TaskFineness) sentence(*Finding) string {
	whose := " of the program's own tasks"
	if e.OwnShare > 0 {
		whose += fmt.Sprintf(" (%s of the work)", units.FormatPercent(e.OwnShare))
	}
	if e.IsAll {
		whose = ""
	}
	f := &e.Fineness
	label, median := f.Metric.Label(), units.FormatNs(f.Median)
	if f.N == 1 {
		return fmt.Sprintf("The one %s%s takes %s of %s.", e.Of.One(), whose, median, label)
	}
	who := units.FormatCount(f.N) + " " + e.Of.Many() + whose
	if f.Below100us == 0 {
		return fmt.Sprintf("Of %s, none takes less than 100 µs of %s; the median is %s.", who, label, median)
	}
	return fmt.Sprintf("Of %s, %s take less than 1 µs of %s, %s less than 10 µs, %s less than 100 µs; the median is %s.",
		who, share(f.Below1us, f.N), label, share(f.Below10us, f.N), share(f.Below100us, f.N), median)
}

func (e *WorkSplit) sentence(*Finding) string {
	var names, parts []string
	for _, c := range e.Most {
		names = append(names, fmt.Sprintf("%s %s", readable(c.Class), units.FormatPercent(c.Share)))
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s in the program's own (%s)", units.FormatPercent(e.Own), strings.Join(names, ", ")))
	}
	if e.JDK > 0 {
		parts = append(parts, fmt.Sprintf("%s in the JDK's own (%s, ...)", units.FormatPercent(e.JDK), WithoutPackage(readable(e.Around))))
	}
	if e.Loops > 0 {
		parts = append(parts, units.FormatPercent(e.Loops)+" in the loops of threads and pools")
	}
	waiting := ""
	if e.Metric == granularity.SelfWall {
		waiting = " (waiting included)"
	}
	who := "The tasks"
	if e.Partial {
		who = "The tasks that were recorded"
	}
	return fmt.Sprintf("%s took %s%s of %s%s: %s.", who, about(e.Timed), units.FormatNs(e.Work), e.Metric.Label(), waiting, text.AllOf(parts))
}

// about marks an estimate.
func about(timed int64) string {
	if timed > 0 {
		return "~"
	}
	return ""
}

func (e *Processors) sentence(*Finding) string {
	return fmt.Sprintf("Finished tasks used %s%s%.2f of %s on average (%s%s of CPU time in %s).",
		atLeast(e.Partial), about(e.Timed), float64(e.CPU)/float64(e.Duration), text.PluralExact(e.CPUs, "processor", "processors"), about(e.Timed), units.FormatNs(e.CPU), units.FormatNs(e.Duration))
}

// atLeast marks a lower bound.
func atLeast(partial bool) string {
	if partial {
		return "at least "
	}
	return ""
}

func (e *CollectorPauses) sentence(*Finding) string {
	switch {
	case e.Count == 0 && (e.Unended || e.Partial):
		return "No garbage collection stopped the program, as far as recorded." + e.beside()
	case e.Count == 0:
		return "No garbage collection stopped the program." + e.beside()
	case e.Partial:
		return fmt.Sprintf("Garbage collection stopped the program at least %s, for at least %s in total. The longest pause that was recorded took %s.",
			text.Plural(e.Count, "time", "times"), units.FormatNs(e.Total), units.FormatNs(e.Max)) + e.beside()
	}
	return fmt.Sprintf("Garbage collection stopped the program %s, for %s in total (%s of the time). The longest pause took %s.",
		text.Plural(e.Count, "time", "times"), units.FormatNs(e.Total), units.FormatPercent(e.Share), units.FormatNs(e.Max)) + e.beside()
}

// beside says what safepoints stopped if that is clearly more than the pauses.
func (e *CollectorPauses) beside() string {
	s := e.Standstill
	if !e.StoodStill() {
		return ""
	}
	with := "Including other safepoints and the time around these pauses, it"
	if e.Count == 0 {
		with = "At safepoints for other reasons, it"
	}
	text := fmt.Sprintf(" %s stood still for %s in all: %s to reach safepoints, %s at them.", with,
		units.FormatNs(s.TotalNs), units.FormatNs(s.ReachNs), units.FormatNs(s.AtNs))
	if e.ProfilerNs > 0 {
		text += fmt.Sprintf(" At most %s of it was the profiler's own: it changed classes.", units.FormatNs(e.ProfilerNs))
	}
	if e.Costly {
		text += " -Xlog:safepoint prints the reason of each."
	}
	return text
}

func (e *Exceptions) sentence(*Finding) string {
	own := ""
	if e.Own < e.Threw {
		own = fmt.Sprintf(", %s of the program's own tasks", units.FormatExact(e.Own))
	}
	return fmt.Sprintf("%s ended with an exception (%s of all)%s.", e.Of.Plural(e.Threw), share(e.Threw, e.All), own)
}

func (e *NeverExecuted) sentence(*Finding) string {
	stages := text.Plural(e.Stages, "CompletableFuture stage", "CompletableFuture stages") + " ran inline or were skipped."
	if e.Stages == 1 {
		stages = "1 CompletableFuture stage ran inline or was skipped."
	}
	if e.Never <= 0 {
		return stages
	}
	program := ""
	if e.OfProgram {
		program = " of the program"
	}
	if e.OfJDK == e.Never && e.OfClass != e.Never {
		program = " of the JDK"
	}
	s := fmt.Sprintf("%s (%s of those created) never executed%s", text.Plural(e.Never, "task"+program, "tasks"+program), share(e.Never, e.Created), e.whose())
	switch {
	case e.Lost:
		return s + ". Events were lost, so it may be fewer."
	case e.Unended:
		return s + ". The record has no end, so some may have run."
	case e.OfProgram:
		return s + "." + e.why()
	}
	s += "."
	if e.PlainCalls {
		s += " They include fork/join tasks whose compute() is called directly, which is usual and cheap."
	}
	if program := e.Never - e.OfJDK; e.Cancelled >= rateFrom && 2*e.Cancelled >= program {
		s += fmt.Sprintf(" %s cancelled.", text.PluralExact(e.Cancelled, "was", "were"))
	}
	if e.Stages > 0 {
		s += " " + stages
	}
	return s
}

// title is that of the advice; as a fact it has none.
func (e *NeverExecuted) title(*Finding) string {
	switch {
	case !e.OfProgram:
		return ""
	case e.OfClass == e.Never:
		return fmt.Sprintf("%s tasks of %s never ran", units.FormatExact(e.Never), readable(e.Class))
	}
	return units.FormatExact(e.Never) + " tasks never ran"
}

func (e *NeverExecuted) remedy() string {
	if !e.OfProgram {
		return ""
	}
	return "If they were to run, let the executor end them before it is shut down (shutdown, then awaitTermination), or submit fewer."
}

// why says what became of the program's tasks.
func (e *NeverExecuted) why() string {
	var why []string
	for _, x := range []struct {
		n    int64
		what string
	}{{e.Fates.NeverSubmitted, "never submitted"},
		{e.Fates.NeverRun, "still queued at the end, or when their executor was shut down"},
		{e.Fates.Cancelled, "cancelled before they began"},
		{e.Fates.Rejected, "refused by their executor, whose queue was full or which was shut down"},
		{e.Fates.NotKnown, "for an unknown reason"}} {
		if x.n > 0 {
			why = append(why, units.FormatExact(x.n)+" "+x.what)
		}
	}
	return " Of these: " + strings.Join(why, "; ") + "."
}

// whose says how many of the tasks that never ran are the program's and how many the JDK's, and names the classes with most
// of them.
func (e *NeverExecuted) whose() string {
	program := e.Never - e.OfJDK
	if e.OfJDK == 0 || program <= 0 {
		return most(e.Class, e.OfClass, e.Never)
	}
	return fmt.Sprintf(": %s of the program%s; and %s of the JDK%s", units.FormatExact(program), most(e.Class, e.OfClass, program),
		units.FormatExact(e.OfJDK), most(e.JDKClass, e.OfJDKClass, e.OfJDK))
}

// most names the class with most of all tasks.
func most(class string, of, all int64) string {
	switch {
	case of == 0 || of == 1 && all > 1: // each of another class
		return ""
	case all == 1:
		return ", of class " + readable(class)
	case of == all:
		return ", all of them " + readable(class)
	case of*2 < all:
		return fmt.Sprintf(", the most %s (%s)", readable(class), units.FormatCount(of))
	}
	return fmt.Sprintf(", most of them %s (%s)", readable(class), units.FormatCount(of))
}

func (e *Running) sentence(*Finding) string {
	if e.Loops == e.Running {
		return text.Plural(e.Loops, "thread or pool worker was", "threads or pool workers were") + " still alive at the end. This is normal."
	}
	loops := ""
	if e.Loops > 0 {
		loops = fmt.Sprintf(", including %s", text.Plural(e.Loops, "thread or pool worker", "threads or pool workers"))
	}
	return fmt.Sprintf("%s still running at the end%s. What has no end is counted, but has no value in the distributions.",
		text.Plural(e.Running, e.Of.One()+" was", e.Of.Many()+" were"), loops)
}

func (e *Unended) sentence(*Finding) string {
	return "The session did not exit cleanly: what happened after the last batch is missing, and not counted as lost."
}

func (e *Lost) title(*Finding) string { return "Events were lost" }

func (e *Lost) sentence(*Finding) string {
	missing := ""
	if e.Batches > 0 {
		missing = fmt.Sprintf(" (%s never arrived)", text.Plural(e.Batches, "batch", "batches"))
	}
	return fmt.Sprintf("%s lost%s. Counts and sums are too low by that much; shares and quantiles describe what was stored.",
		text.Plural(e.Events, "event was", "events were"), missing)
}

func (e *SummarisedExecutions) sentence(*Finding) string {
	var names []string
	for _, c := range e.Most {
		names = append(names, fmt.Sprintf("%s %s", readable(c.Class), units.FormatPercent(c.Share)))
	}
	if e.Others > 0 {
		names = append(names, text.Plural(e.Others, "other class", "other classes"))
	}
	if e.Timed > 0 {
		return fmt.Sprintf("%s of the %s were too fast to record one by one and were summarised (%s). "+
			"Their counts are exact. Some are finer than the clock and timed at random, %s of %s: times with ~ are estimates. --detail timed times each.",
			share(e.Summarised, e.All), e.Of.Many(), text.AllOf(names), units.FormatCount(e.Timed), units.FormatCount(e.All))
	}
	return fmt.Sprintf("%s of the %s were too fast to record one by one and were summarised (%s). "+
		"Their counts, sums, means and extremes are exact; quantiles are good to 0.8 %%; single executions are not known.",
		share(e.Summarised, e.All), e.Of.Many(), text.AllOf(names))
}

func (e *Refused) sentence(*Finding) string {
	var reasons []string
	list, unmatched := e.Reasons, ""
	if i := slices.IndexFunc(list, func(r Refusal) bool { return r.Reason == taskdef.Unmatched }); i >= 0 {
		unmatched = unmatchedTasks(list[i])
		if list = slices.Delete(slices.Clone(list), i, i+1); len(list) == 0 {
			return unmatched
		}
		unmatched += " "
	}
	for _, r := range list[:min(len(list), maxRefusals)] {
		reasons = append(reasons, r.Text())
	}
	more := ""
	if n := len(list) - len(reasons); n > 0 {
		more = fmt.Sprintf("; and for %s more", text.Plural(n, "reason", "reasons"))
	}
	return unmatched + fmt.Sprintf("Not instrumented, or not recorded as asked for: %s%s.", strings.Join(reasons, "; "), more)
}

// unmatchedTasks says which definitions of tasks fit nothing.
func unmatchedTasks(r Refusal) string {
	more := ""
	if n := int64(r.Count) - int64(strings.Count(r.Sample, ", ")+1); n > 0 {
		more = fmt.Sprintf(" and %s more", units.FormatCount(n))
	}
	return fmt.Sprintf("Nothing is recorded for --task %s%s: no loaded class has such a method. Check the names; a nested class is written Outer$Inner.", r.Sample, more)
}

// Text is the reason, how often, and an example.
func (r Refusal) Text() string {
	s := fmt.Sprintf("%s: %s", r.Reason, units.FormatExact(int64(r.Count)))
	if r.Sample != "" {
		s += fmt.Sprintf(" (such as %s)", r.Sample)
	}
	return s
}

func (e *NotMeasured) sentence(*Finding) string {
	what := e.What
	late := ""
	if slices.Contains(what, CreationsUnseen) {
		late = "Because you attached late, tasks created before then are missing or incomplete."
		what = slices.DeleteFunc(slices.Clone(what), func(s string) bool { return s == CreationsUnseen })
	}
	if len(what) == 0 {
		return late
	}
	return strings.TrimSpace(late + " Not measured: " + strings.Join(what, ", ") + ".")
}

func (e UnitsNote) sentence(*Finding) string { return NoteText(e.Note) }

// NoteText says how well units are known, "" if there is nothing to say.
func NoteText(n *unit.Note) string {
	var out []string
	switch {
	case n.SubmissionsSummarised:
		out = append(out, "All submissions were summarised, so only classes show what is a unit of work.")
	case !n.SubmissionsKnown:
		out = append(out, "This session has no record of when tasks were submitted: each execution that is not nested in another one counts as a unit, the JDK's own included. "+
			"One nested in another counts as part of its unit, but fork/join tasks count as units of their own.")
	}
	if n.Undecided > 0 {
		out = append(out, fmt.Sprintf("%s summarised executions count as units by their class: what a single one was nested in is not known.", units.FormatCount(n.Undecided)))
	}
	if p := &n.Platform; p.Executions > 0 {
		names := strings.Join(p.Classes[:min(len(p.Classes), maxNamed)], ", ")
		if len(p.Classes) > maxNamed {
			names += ", ..."
		}
		work := "work not measured"
		switch {
		case p.SelfCPU > 0:
			work = units.FormatNs(p.SelfCPU) + " of self CPU time"
		case p.SelfWall > 0:
			work = units.FormatNs(p.SelfWall) + " of self wall time"
		}
		out = append(out, fmt.Sprintf("Left out: %s of the JDK's own tasks, which the program did not submit (%s; %s).",
			text.Executions.Plural(p.Executions), names, work))
	}
	return strings.Join(out, " ")
}

func (e *SummarisedSubmissions) sentence(*Finding) string {
	if e.All {
		return fmt.Sprintf("All %s submissions were summarised, so who submitted what to whom is not known. There is no advice about pools, waiting, imbalance and nesting. "+
			"The distributions show how fine and coarse the tasks are. Profile with --detail auto for the rest.", units.FormatCount(int64(e.Summarised)))
	}
	return fmt.Sprintf("%s of the %s submissions were summarised. Counts, work, sites and advice rest on all of them. "+
		"Only who waits for whom, gaps between tasks, nesting and exceptions kept by futures are known of just the %s that were recorded one by one (--detail all records each).",
		units.FormatPercent(float64(e.Summarised)/float64(max(1, e.Produced))), units.FormatCount(int64(e.Produced)), units.FormatCount(int64(e.Stored)))
}

func (e *UnitsSkipped) sentence(*Finding) string {
	n := units.FormatCount(int64(e.Recorded))
	if !e.Asked && e.Recorded <= e.Limit {
		return fmt.Sprintf("Units of work and advice are left out here, because the session has %s recorded executions. Use --units or shadow report to get them.", n)
	}
	return fmt.Sprintf("There are no units of work and no advice: the session has %s recorded executions, and the limit is %s.", n, units.FormatCount(int64(e.Limit)))
}

func (e *Contended) sentence(*Finding) string {
	return fmt.Sprintf("The machine was busy: other programs used %s of the CPU while this JVM had threads ready to run (or its container's CPU limit stopped them). "+
		"Wall and queue times are inflated; CPU times are not.", units.FormatPercent(float64(e.Taken)/float64(e.All)))
}
