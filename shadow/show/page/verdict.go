package page

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// maxCards is how many findings the first screen shows: more would not be read.
const maxCards = 3

// verdictOf is the first screen of a report.
func verdictOf(s *summary.Summary) Verdict {
	v := Verdict{Cards: []Card{}, More: []Card{}}
	var bound *advice.Bound
	for i := range s.Findings {
		f := &s.Findings[i]
		if b, ok := f.Evidence.(*advice.Bound); ok {
			bound = b
		}
		switch {
		case f.Kind != advice.Advice:
		case len(v.Cards) < maxCards:
			v.Cards = append(v.Cards, cardOf(f))
		default:
			v.More = append(v.More, cardOf(f))
		}
	}
	switch {
	case s.Tasks.Executions == 0:
		v.Sentence, v.Note = "No task was executed in this session.", mostCost(s)
	case len(v.Cards) > 0:
		v.Sentence = v.Cards[0].Title + "."
	case bound == nil:
		v.Sentence = "Nothing to change was found, but what the time depends on is not known."
		v.Note = strings.TrimSpace("The cautions below say why. " + mostCost(s))
	case !bound.Known:
		v.Sentence, v.Note = bound.Text(), mostCost(s)
	default:
		v.Sentence, v.Note = "Nothing was found to stand in the way. "+bound.Text(), mostCost(s)
	}
	return v
}

func cardOf(f *advice.Finding) Card {
	c := Card{Rule: f.Rule, Title: f.Title, Evidence: f.Happened, Remedy: f.Remedy, Gain: f.Outcome, GainShare: -1, Bars: barsOf(f.Evidence), Show: linkOf(f)}
	if f.Gain != nil {
		c.GainShare = f.Gain.Share
		if e, ok := f.Evidence.(*advice.Obstructed); ok {
			c.GainShare = e.Gain.Share()
		}
	}
	return c
}

// costs names the kinds of threads of whose CPU time the first screen speaks.
var costs = []struct {
	kinds          []string
	words, meaning string
}{
	{[]string{session.KindApplication, session.KindMain}, "the program's own threads", ""},
	{[]string{session.KindCompiler}, "JIT compilation", " Much of such a run is warm-up: figures of a longer one may differ."},
	{[]string{session.KindGC}, "garbage collection", ""},
	{[]string{session.KindVM, session.KindOther}, "the JVM's other threads", ""},
}

// mostCost says where the CPU time of the process went: to the program, or what takes most of it beside the program.
func mostCost(s *summary.Summary) string {
	var all units.Ns
	sums := make([]units.Ns, len(costs))
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Virtual || !t.CPU.Measured() { // a virtual thread's is its carrier's
			continue
		}
		for k := range costs {
			if slices.Contains(costs[k].kinds, t.Kind) {
				sums[k] += t.CPU
				all += t.CPU
			}
		}
	}
	if all <= 0 || s.DurationNs <= 0 {
		return ""
	}
	share := func(k int) string { return units.FormatPercent(float64(sums[k]) / float64(all)) }
	used := fmt.Sprintf("%.2g of %s", float64(all)/float64(s.DurationNs), text.Plural(int64(s.JVM.CPUs), "CPU", "CPUs"))
	const much = 0.2 // of the CPU time, beside the program
	rest := 1
	for k := 2; k < len(sums); k++ {
		if sums[k] > sums[rest] {
			rest = k
		}
	}
	if float64(sums[rest]) >= much*float64(all) {
		return fmt.Sprintf("The program's own threads took %s of the CPU time; the largest other cost is %s (%s).%s The process used %s.",
			share(0), costs[rest].words, share(rest), costs[rest].meaning, used)
	}
	return fmt.Sprintf("The program's own threads took %s of the CPU time. The process used %s.", share(0), used)
}

func timeBar(label string, t units.Ns, kind string) Bar {
	return Bar{Label: label, Value: float64(max(t, 0)), Text: units.FormatNs(t), Kind: kind}
}

func shareBar(label string, share float64, kind string) Bar {
	return Bar{Label: label, Value: share, Text: units.FormatPercent(share), Kind: kind}
}

// barsOf is the picture of a finding: the two or three figures that it rests on, on one scale.
func barsOf(e advice.Evidence) []Bar {
	switch e := e.(type) {
	case *advice.Obstructed:
		return []Bar{shareBar("depends on this", e.Share, "lock"), shareBar("the rest of its time", 1-e.Share, "running")}
	case *advice.FineUnits:
		if e.Tiny {
			return []Bar{}
		}
		if e.Gap.Measured() {
			return []Bar{timeBar("a task's work", e.Median, "running"), timeBar("to the next task", e.Gap, "idle")}
		}
		return []Bar{shareBar("overhead", e.Overhead, "idle"), shareBar("your code", 1-e.Overhead, "running")}
	case *advice.FineExecutions:
		return []Bar{shareBar("of all executions", e.ExecutionShare, ""), shareBar("of the work", e.WorkShare, "running")}
	case *advice.CoarseExecution:
		return []Bar{timeBar("median", e.Median, "running"), timeBar("longest", e.Max, "running")}
	case *advice.Pinned:
		return []Bar{shareBar("carriers kept", e.Held, "carrier"), shareBar("free", 1-e.Held, "")}
	case *advice.CostlyPauses:
		return []Bar{shareBar("stopped", e.Share, "gc"), shareBar("running", 1-e.Share, "running")}
	}
	return []Bar{}
}

// linkOf leads to where the page shows what a finding is about.
func linkOf(f *advice.Finding) Link {
	switch e := f.Evidence.(type) {
	case *advice.Obstructed:
		switch {
		case e.Executor != "":
			return Link{View: "executor", Name: e.Executor}
		case e.Kind == account.Held || e.Kind == account.HoldAndWait:
			return Link{View: "waits"}
		}
		return Link{View: "class", Name: e.Victim}
	case *advice.CostlyPauses, *advice.Explicit:
		return Link{View: "gc"}
	case *advice.NeverExecuted:
		return Link{View: "class", Name: e.Class}
	}
	if f.Class != "" {
		return Link{View: "class", Name: f.Class}
	}
	return Link{View: "overview"}
}
