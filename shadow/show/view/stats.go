package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Stats prints the summary of a session for the terminal: facts, distributions and findings.
func Stats(l *Printer, s *summary.Summary) error {
	w := l.Out
	facts := table.New(table.Column{}, table.Column{})
	for _, f := range statsFacts(s) {
		facts.Row(f[0], f[1])
	}
	o := l.TableOptions(false)
	if err := facts.Render(w, table.Options{}); err != nil {
		return err
	}
	if err := printBalance(w, s.Balance, o); err != nil {
		return err
	}
	t := TableOf(MetricsOf(s), Metrics())
	fmt.Fprintln(w)
	if err := t.Render(w, o); err != nil {
		return err
	}
	return printFindings(w, s)
}

func printFindings(w io.Writer, s *summary.Summary) error {
	for _, f := range s.Findings {
		kind := ""
		if f.Kind != advice.Fact {
			kind = string(f.Kind) + ": "
		}
		if _, err := fmt.Fprintf(w, "\n%s%s", kind, table.Clean(f.Text)); err != nil {
			return fmt.Errorf("printing findings: %w", err)
		}
	}
	if s.Hidden != nil {
		fmt.Fprintf(w, "\n%s\n", table.Clean(s.Hidden.Text()))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return fmt.Errorf("printing findings: %w", err)
	}
	return nil
}

func createdText(s *summary.Summary) string {
	if s.NotAvailable[store.NoCreations] != "" {
		return "not known"
	}
	line := units.FormatExact(s.Tasks.Created) + asRecorded(s)
	if s.NotAvailable[advice.CreationsUnseen] != "" {
		return line + " seen (not those of classes that were there before the agent)"
	}
	return line
}

func thrownText(s *summary.Summary) string {
	if s.NotAvailable["threw"] != "" { // an imported trace
		return "not known"
	}
	return units.FormatExact(s.Tasks.Threw)
}

// labelsText is the labels in one line.
func labelsText(s *summary.Summary) string {
	if s.Labels == nil {
		return ""
	}
	return s.Labels.String()
}

// processText is which process the JVM was, if that is known.
func processText(j summary.JVM) string {
	if j.PID == 0 {
		return ""
	}
	if j.Host == "" {
		return fmt.Sprintf(", process %d", j.PID)
	}
	return fmt.Sprintf(", process %d on %s", j.PID, j.Host)
}

// neverText counts the tasks that never ran, steps of CompletableFutures apart:
// most of those are run by a plain call.
func neverText(s *summary.Summary) string {
	if s.NotAvailable[store.NoCreations] != "" {
		return "not known"
	}
	steps := granularity.Steps(s.Rows)
	line := units.FormatExact(s.Tasks.NeverExecuted - steps)
	if s.NeverAtMost() {
		line = "at most " + line // what was being executed has no record
	}
	if fates := advice.FatesText(granularity.FatesOf(s.Rows)); fates != "" {
		line += " (" + fates + ")"
	}
	if steps > 0 {
		line += fmt.Sprintf(", and %s", text.PluralExact(steps, "step of a CompletableFuture", "steps of CompletableFutures"))
	}
	return line
}

// statsFacts are the lines above the distributions.
func statsFacts(s *summary.Summary) [][2]string {
	t := s.Tasks
	facts := [][2]string{
		{"session", s.Session},
		{"program", programName(s)},
		{"JVM", JVMText(s.JVM) + processText(s.JVM)},
		{"labels", labelsText(s)},
		{"imported", s.ImportedFrom},
		{"duration", fmt.Sprintf("%s, ended: %s", units.FormatNs(s.DurationNs), s.EndedText())},
		{"tasks created", createdText(s) + ", never executed: " + neverText(s)},
		{s.Of.Many(), executionsText(s)},
		{"threads", threadsText(s)},
		{"GC", pausesText(s)},
		{"lost", lostText(s)},
	}
	facts = slices.DeleteFunc(facts, func(f [2]string) bool { return f[1] == "" && (f[0] == "imported" || f[0] == "labels") })
	if s.Filter != nil && s.Filter.Trace != "" {
		facts = slices.Insert(facts, 1, [2]string{"trace", s.Filter.Trace + " (tasks, threads and distributions are of its executions)"})
	}
	if s.Incomplete != nil {
		line := s.Incomplete.Text()
		if s.Incomplete.Partial() {
			line += ". " + summary.PartText
		}
		facts = slices.Insert(facts, 1, [2]string{"incomplete", line})
	}
	if v := s.Virtual; v != nil {
		facts = append(facts, [2]string{"virtual", virtualText(v)})
	}
	if line := s.Waits.Text(s.DurationNs); line != "" {
		facts = append(facts, [2]string{"waits", line + asRecorded(s)})
	}
	if s.Balance != nil {
		facts = append(facts, [2]string{"account", summary.BalanceText(s.Balance)})
	}
	if line := summary.SummarisedText(t.Summarised, t.Executions, s.Metrics[granularity.Wall]); line != "" {
		facts = append(facts, [2]string{"summarised", line})
	}
	if line := summary.SumsText(s); line != "" {
		facts = append(facts, [2]string{"large", line})
	}
	for _, r := range s.Refusals {
		facts = append(facts, [2]string{"refused", advice.Refusal{Reason: r.Reason, Count: r.Count, Sample: r.Sample}.Text()})
	}
	for _, line := range notAvailableTexts(s.NotAvailable) {
		facts = append(facts, [2]string{"not available", line})
	}
	return facts
}

// executionsText counts the executions. In an imported session they may be unknown, as the other figures here.
func executionsText(s *summary.Summary) string {
	t := s.Tasks
	if s.NotAvailable[store.NoExecutions] != "" {
		return "not known"
	}
	return fmt.Sprintf("%s of %s, ended by an exception: %s, still running: %s", units.FormatExact(t.Executions),
		text.PluralExact(t.Classes, "class", "classes"), thrownText(s), runningText(s)) + asRecorded(s)
}

// asRecorded follows figures of a session of which a part is missing.
func asRecorded(s *summary.Summary) string {
	if s.Incomplete.Partial() {
		return ", as far as recorded"
	}
	return ""
}

func threadsText(s *summary.Summary) string {
	if s.NotAvailable[store.NoExecutions] != "" {
		return "which executed tasks is not known"
	}
	if s.Tasks.ThreadsLow && !s.Incomplete.Partial() {
		return fmt.Sprintf("at least %s executed tasks: %s", units.FormatExact(s.Tasks.Threads), summary.UnknownVirtual)
	}
	return fmt.Sprintf("%s executed tasks", units.FormatExact(s.Tasks.Threads)) + asRecorded(s)
}

func pausesText(s *summary.Summary) string {
	if s.NotAvailable[store.NoPauses] != "" {
		return "not known"
	}
	line := text.PluralExact(s.GC.Pauses, "pause", "pauses") + ", " + units.FormatNs(s.GC.PauseNs)
	if s.Incomplete.Partial() {
		return line + asRecorded(s) + standstillText(&s.GC)
	}
	return fmt.Sprintf("%s (%s of the time)", line, units.FormatPercent(s.GC.Share)) + standstillText(&s.GC)
}

// standstillText follows the pauses: what stood still beside them.
func standstillText(g *summary.GC) string {
	s := g.Standstill
	if s == nil {
		return ""
	}
	line := fmt.Sprintf("; safepoints stopped the program for %s in all (reaching them %s, at them %s)", units.FormatNs(s.TotalNs), units.FormatNs(s.ReachNs), units.FormatNs(s.AtNs))
	if g.ProfilerNs > 0 {
		line += fmt.Sprintf(", at most %s of it by the profiler, which changed classes", units.FormatNs(g.ProfilerNs))
	}
	return line
}

// runningText counts the executions that the program did not end. Their records are the last ones of a session.
func runningText(s *summary.Summary) string {
	if s.Incomplete != nil && slices.Contains(s.Incomplete.NotKnown, session.FigureRunning) {
		return "not known"
	}
	return units.FormatExact(s.Tasks.Running)
}

// notAvailableTexts say what is not available and why, what has one reason together.
func notAvailableTexts(reasons map[string]string) []string {
	var texts []string
	names := slices.Sorted(maps.Keys(reasons))
	for i, name := range names {
		why := reasons[name]
		with := slices.DeleteFunc(slices.Clone(names[i:]), func(n string) bool { return reasons[n] != why })
		if !slices.ContainsFunc(names[:i], func(n string) bool { return reasons[n] == why }) {
			texts = append(texts, strings.Join(with, ", ")+": "+why)
		}
	}
	return texts
}

func lostText(s *summary.Summary) string {
	line := s.LostText()
	if !s.EndSeen() {
		line += "; " + summary.MissingEnd
	}
	return line
}

// MetricsOf are the distributions of a summary in their order.
func MetricsOf(s *summary.Summary) []Metric {
	var list []Metric
	for _, m := range slices.Sorted(maps.Keys(s.Metrics)) {
		list = append(list, Metric{Metric: m, Distribution: s.Metrics[m]})
	}
	return list
}
