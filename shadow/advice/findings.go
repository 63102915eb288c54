package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// FindingKind tells what a finding is for.
type FindingKind string

// The kinds of findings.
const (
	Fact    FindingKind = "fact"    // what happened
	Advice  FindingKind = "advice"  // something to act on
	Caution FindingKind = "caution" // something that limits what the figures say
)

// Finding is one observation in a sentence or two, with its figures in it.
type Finding struct {
	Kind FindingKind `json:"kind"`
	Text string      `json:"text"`
	// Topic names the function of the sentence, for those who choose: "volume",
	// "fineness", "work", "processors", "gc", "threw", "fine", "coarse", "never",
	// "lost", "summarised", "running", "refused", "not measured".
	Topic string `json:"-"`

	// Name is the name of the advice in docs/advice.md, "" of other findings;
	// Class the task class it is about, and Gain the most that following it can
	// gain, nil where the record does not tell.
	Name  string `json:"name,omitempty"`
	Class string `json:"class,omitempty"`
	Gain  *Bound `json:"gain,omitempty"`
}

// Facts are what Findings looks at.
type Facts struct {
	Of            granularity.Counted // what Executions, Total, Fine and Rows are of
	Like          string              // glob over the classes that these are of; "": all
	Duration      units.Ns
	CPUs          int
	Created       int64
	Executions    int64
	Summarised    int64 // of these, not recorded one by one
	NeverExecuted int64
	Threw         int64
	Running       int64
	Threads       int64 // threads that executed tasks
	Total         granularity.Metrics
	Fine          granularity.Fineness // of the program's own tasks, the loops of threads left out
	FineIsAll     bool                 // there were none: Fine is about all executions
	Rows          []granularity.Hotspot
	GC            granularity.PauseStats
	LostEvents    uint64
	LostBatches   uint64
	Unended       bool // the record breaks off: of executions that had begun then there is none
	Refused       []Refusal
	Places        map[string]string // by class: where all of its tasks come from, as far as known
	NotAvailable  []string
	Thresholds    *Thresholds // nil: DefaultThresholds

	Units       *UnitFacts   // nil: nothing is known of units and of the machine
	Note        *unit.Note   // nil: the findings are not about units alone
	Submissions *Submissions // nil: none were read
	Skipped     *Skipped     // nil: units were read, or there are none
}

// Refusal is what could not be instrumented or recorded as asked for, and why:
// classes and methods, but threads and pauses too.
type Refusal struct {
	Reason string
	Count  uint64
	Sample string // one of them, or ""
}

func (f Facts) thresholds() Thresholds {
	if f.Thresholds == nil {
		return DefaultThresholds
	}
	return *f.Thresholds
}

// Thresholds of the advice. They are judgements, not measurements; the
// sentences carry the figures, so that a reader can judge for himself.
const (
	rateFrom       = 100       // executions from which a rate means something
	fineMedian     = 10 * 1000 // ns: below this a task's hand-over can rival its work
	fineShare      = 0.05      // of all executions, from which a fine class is named
	fineExecutions = 1000      // and at least so many
	coarseShare    = 0.2       // of the session in one execution: nothing else can balance it
	gcShare        = 0.05      // of the session stopped
	maxAdvice      = 3         // classes named per kind of advice
)

// adviceNames are the names of the advice about executions, by topic.
var adviceNames = map[string]string{"fine": "fine-grained", "coarse": "coarse-grained", "never": "never-executed", "gc": "garbage-collection"}

// Findings says in sentences what the figures show, most important first
// within each kind: facts, then advice, then cautions.
func Findings(f Facts) []Finding {
	var out []Finding
	add := func(k FindingKind, topic string, texts ...string) {
		for _, t := range texts {
			if t != "" {
				f := Finding{Kind: k, Text: t, Topic: topic}
				if k == Advice {
					f.Name = adviceNames[topic]
				}
				out = append(out, f)
			}
		}
	}
	add(Fact, "volume", volume(f))
	add(Fact, "fineness", fineness(f))
	add(Fact, "work", whereWork(f))
	add(Fact, "processors", busy(f))
	add(Fact, "gc", collector(f, false))
	add(Fact, "threw", threw(f))
	add(Fact, "never", neverRun(f, false))
	add(Advice, "fine", tooFine(f)...)
	add(Advice, "coarse", tooCoarse(f)...)
	add(Advice, "never", neverRun(f, true))
	add(Advice, "gc", collector(f, true))
	add(Caution, "ended", unended(f))
	add(Caution, "lost", lost(f))
	add(Caution, "summarised", summarised(f))
	text, loops := running(f)
	if loops { // what one expects of threads that nobody ends
		add(Fact, "running", text)
	} else {
		add(Caution, "running", text)
	}
	add(Caution, "refused", refused(f))
	add(Caution, "not measured", unavailable(f))
	return out
}

func volume(f Facts) string {
	if f.Executions == 0 {
		like := ""
		if f.Like != "" {
			like = fmt.Sprintf(" of a class like %s", f.Like)
		}
		return fmt.Sprintf("No %s%s was recorded in %s (%s created).",
			recordedText(f.Of), like, units.FormatNs(f.Duration), text.Plural(f.Created, "task was", "tasks were"))
	}
	s := fmt.Sprintf("%s of %s on %s in %s",
		f.Of.Plural(f.Executions), createdText(f),
		text.Plural(f.Threads, "thread", "threads"), units.FormatNs(f.Duration))
	if f.Duration > 0 {
		if rate := float64(f.Executions) / (float64(f.Duration) / 1e9); rate >= 1 && f.Executions >= rateFrom {
			s += fmt.Sprintf(" (%s a second)", units.FormatCount(int64(rate)))
		}
	}
	return s + "."
}

// whereWork says how the work divides between the program's own tasks, the
// platform's wrappers around them and the loops of threads, and names the
// program's classes with the most, at most 3.
func whereWork(f Facts) string {
	rows := slices.Clone(f.Rows)
	if err := granularity.SortHotspots(rows, granularity.ByWork); err != nil || len(rows) == 0 || rows[0].Work <= 0 {
		return ""
	}
	var own, jdk, bodies float64
	var names []string
	wrapper := ""
	for _, r := range rows {
		switch {
		case r.Body:
			bodies += r.WorkShare
		case r.JDK:
			jdk += r.WorkShare
			if wrapper == "" {
				wrapper = WithoutPackage(readable(r.Class))
			}
		default:
			own += r.WorkShare
			if len(names) < maxAdvice && r.Work > 0 {
				names = append(names, fmt.Sprintf("%s %s", readable(r.Class), units.FormatPercent(r.WorkShare)))
			}
		}
	}
	var parts []string
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s in the program's own (%s)", units.FormatPercent(own), strings.Join(names, ", ")))
	}
	if jdk > 0 {
		parts = append(parts, fmt.Sprintf("%s in the JDK's own (%s, ...)", units.FormatPercent(jdk), wrapper))
	}
	if bodies > 0 {
		parts = append(parts, units.FormatPercent(bodies)+" in the loops of threads and pools")
	}
	work, waiting := f.Total.WorkMetric(), ""
	if work == granularity.SelfWall {
		waiting = " (waiting included)"
	}
	return fmt.Sprintf("The tasks took %s of %s%s: %s.", units.FormatNs(f.Total[work].Sum), work.Label(), waiting, join(parts))
}

// at names the place that all tasks of a class come from, for a sentence.
func (f Facts) at(class string) string {
	if f.Places[class] == "" {
		return ""
	}
	return fmt.Sprintf(" (all come from %s)", f.Places[class])
}

func busy(f Facts) string {
	d, ok := f.Total[granularity.SelfCPU]
	if !ok || d.Count == 0 || f.Duration <= 0 || f.CPUs <= 0 {
		return ""
	}
	return fmt.Sprintf("Finished tasks used %.2f of %d processors on average (%s of CPU time in %s).",
		float64(d.Sum)/float64(f.Duration), f.CPUs, units.FormatNs(d.Sum), units.FormatNs(f.Duration))
}

// collector says what the pauses cost; as advice when they cost much.
func collector(f Facts, advice bool) string {
	if f.Duration <= 0 {
		return ""
	}
	part := float64(f.GC.Total) / float64(f.Duration)
	if advice {
		if part < gcShare {
			return ""
		}
		return fmt.Sprintf("The program stood still for garbage collection %s of the time: try a larger heap or another "+
			"collector, or allocate less inside the tasks.", units.FormatPercent(part))
	}
	if f.GC.Count == 0 && f.Unended {
		return "No garbage collection stopped the program, as far as recorded."
	}
	if f.GC.Count == 0 {
		return "No garbage collection stopped the program."
	}
	return fmt.Sprintf("Garbage collection stopped the program %s, %s in all (%s of the time), %s at the longest.",
		text.Plural(f.GC.Count, "time", "times"), units.FormatNs(f.GC.Total), units.FormatPercent(part), units.FormatNs(f.GC.Max))
}

// tooFine names classes with many tiny executions: hand-over can cost as much.
// A wrapper does little itself; what counts is how much is done inside it.
func tooFine(f Facts) []string {
	var out []string
	for _, r := range ownTasks(f.Rows, granularity.ByCount) {
		m := r.WorkMetric()
		d := r.Metrics[m]
		if len(out) == maxAdvice || d.Count < fineExecutions || max(d.P50, r.Metrics[inclusive(m)].P50, r.Metrics[granularity.Wall].P50) >= fineMedian || r.ExecutionShare < fineShare {
			continue
		}
		text := fmt.Sprintf("%s is fine-grained%s: %s with a median of %s of %s, %s of %s for %s of the work.",
			readable(r.Class), f.at(r.Class), f.Of.Plural(d.Count), units.FormatNs(d.P50), m.Label(),
			units.FormatPercent(r.ExecutionShare), f.Of.All(), units.FormatPercent(r.WorkShare))
		if len(out) == 0 { // the reason and the remedy are the same for all
			text += " Where such tasks are handed to other threads, creating, queueing and waking can rival work that small: give each more of it (batches, a higher threshold for splitting)."
		}
		out = append(out, text)
	}
	return out
}

// inclusive is the metric that a self metric was taken from.
func inclusive(m granularity.Metric) granularity.Metric {
	switch m {
	case granularity.SelfWall:
		return granularity.Wall
	case granularity.SelfCPU:
		return granularity.CPU
	}
	return m
}

// tooCoarse names classes one execution of which is a large part of the run.
func tooCoarse(f Facts) []string {
	var out []string
	for _, r := range ownTasks(f.Rows, granularity.ByMax) {
		m := r.WorkMetric()
		d := r.Metrics[m]
		if len(out) == maxAdvice || d.Count < 2 || float64(d.Max) < coarseShare*float64(f.Duration) {
			continue
		}
		out = append(out, fmt.Sprintf("%s is coarse-grained%s: its longest %s takes %s of %s, %s of the session; "+
			"no schedule is shorter than its longest task, so split it if other processors idle meanwhile.",
			readable(r.Class), f.at(r.Class), f.Of.One(), units.FormatNs(d.Max), m.Label(), units.FormatPercent(float64(d.Max)/float64(f.Duration))))
	}
	return out
}

// ownTasks are the rows of the program's classes that are not the loops of
// threads.
func ownTasks(rows []granularity.Hotspot, order granularity.Order) []granularity.Hotspot {
	var own []granularity.Hotspot
	for _, r := range rows {
		if !r.JDK && !r.Body {
			own = append(own, r)
		}
	}
	if err := granularity.SortHotspots(own, order); err != nil {
		return nil
	}
	return own
}

// WithoutPackage cuts the package off a class's name: its parts before the
// first that begins with a capital letter.
func WithoutPackage(class string) string {
	parts := strings.Split(class, ".")
	for i, p := range parts {
		if p != "" && p[0] >= 'A' && p[0] <= 'Z' {
			return strings.Join(parts[i:], ".")
		}
	}
	return class
}

// readable is a class's name in a sentence: a lambda is named by the method it
// calls, since the name of its class repeats the host.
func readable(class string) string {
	if host, target, ok := strings.Cut(class, "$$Lambda -> "); ok && strings.HasPrefix(target, host+".lambda$") {
		return target
	}
	return class
}

func threw(f Facts) string {
	if f.Threw <= 0 {
		return ""
	}
	own := int64(0)
	for _, r := range f.Rows {
		if !r.JDK {
			own += r.Threw
		}
	}
	whose := ""
	if own < f.Threw { // what a task throws passes through the wrappers around it
		whose = fmt.Sprintf(", %s of them of the program's own tasks", units.FormatExact(own))
	}
	return fmt.Sprintf("%s ended by an exception (%s of all)%s.", f.Of.Plural(f.Threw), share(f.Threw, f.Executions), whose)
}

// unended says that the end is missing: of a program that was killed, say.
func unended(f Facts) string {
	if !f.Unended {
		return ""
	}
	return "The session has not ended in order: what happened after the last batch that came is missing, and not counted as lost."
}

func lost(f Facts) string {
	if f.LostEvents == 0 && f.LostBatches == 0 {
		return ""
	}
	missing := ""
	if f.LostBatches > 0 {
		missing = fmt.Sprintf(" (%s never arrived)", text.Plural(f.LostBatches, "batch", "batches"))
	}
	return fmt.Sprintf("%s lost%s: counts and sums are too low by as much, shares and quantiles describe what was stored.",
		text.Plural(f.LostEvents, "event was", "events were"), missing)
}

// summarised says what part of the figures rests on counts, and of which
// classes, at most 3.
func summarised(f Facts) string {
	if f.Summarised == 0 {
		return ""
	}
	rows := slices.DeleteFunc(slices.Clone(f.Rows), func(r granularity.Hotspot) bool { return r.Summarised == 0 })
	slices.SortStableFunc(rows, func(a, b granularity.Hotspot) int { return cmp.Compare(b.Summarised, a.Summarised) })
	var names []string
	for _, r := range rows[:min(len(rows), maxAdvice)] {
		names = append(names, fmt.Sprintf("%s %s", readable(r.Class), share(r.Summarised, r.Executions)))
	}
	if len(rows) > maxAdvice {
		names = append(names, fmt.Sprintf("%d other classes", len(rows)-maxAdvice))
	}
	return fmt.Sprintf("%s of the %s came too fast to be recorded one by one and were summarised where they ran (%s): "+
		"counts, sums, means and extremes are exact; quantiles of these classes are good to 0.8 %%; single executions are not told apart.",
		share(f.Summarised, f.Executions), f.Of.Many(), join(names))
}

// running counts what had not ended; loops: only threads that wait for tasks.
func running(f Facts) (sentence string, loops bool) {
	if f.Running <= 0 {
		return "", false
	}
	bodies := int64(0)
	for _, r := range f.Rows {
		if r.Body {
			bodies += r.Running
		}
	}
	whose := ""
	switch {
	case bodies == f.Running:
		whose = ", only loops of threads"
	case bodies > 0:
		whose = fmt.Sprintf(", %s of them the loops of threads", units.FormatCount(bodies))
	}
	return fmt.Sprintf("%s still running at the end%s: counted, but without a value in the distributions.",
		text.Plural(f.Running, f.Of.One()+" was", f.Of.Many()+" were"), whose), bodies == f.Running
}

func refused(f Facts) string {
	if len(f.Refused) == 0 {
		return ""
	}
	var texts []string
	for _, r := range f.Refused[:min(len(f.Refused), maxRefusals)] {
		texts = append(texts, r.Text())
	}
	more := ""
	if n := len(f.Refused) - len(texts); n > 0 {
		more = fmt.Sprintf("; and for %s more", text.Plural(n, "reason", "reasons"))
	}
	return fmt.Sprintf("Not instrumented, or not recorded as asked for: %s%s.", strings.Join(texts, "; "), more)
}

// maxRefusals is how many reasons the sentence about refusals names.
const maxRefusals = 3

// Text is the reason, how often, and for example of what.
func (r Refusal) Text() string {
	text := fmt.Sprintf("%s: %s", r.Reason, units.FormatExact(int64(r.Count)))
	if r.Sample != "" {
		text += fmt.Sprintf(" (such as %s)", r.Sample)
	}
	return text
}

func unavailable(f Facts) string {
	if len(f.NotAvailable) == 0 {
		return ""
	}
	names := slices.Clone(f.NotAvailable)
	slices.Sort(names)
	return fmt.Sprintf("Not measured: %s.", strings.Join(names, ", "))
}

// createdText counts the tasks created. Of a JVM that ran before the agent came
// creations are not all seen, and their number tells nothing.
func createdText(f Facts) string {
	if slices.Contains(f.NotAvailable, CreationsUnseen) {
		return "tasks whose creation was not always seen"
	}
	return text.Plural(f.Created, "created task", "created tasks")
}

// CreationsUnseen is what a session says it has not, whose agent came to classes
// that were there before.
const CreationsUnseen = "created"

func share(part, whole int64) string {
	if whole == 0 {
		return units.FormatPercent(0)
	}
	return units.FormatPercent(float64(part) / float64(whole))
}

// join lists names as a sentence does: "a", "a and b", "a, b and c".
func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func fineness(f Facts) string {
	n := f.Fine.N
	if n == 0 {
		return ""
	}
	whose := " of the program's own tasks" + ownShare(f)
	if f.FineIsAll {
		whose = ""
	}
	if n == 1 {
		return fmt.Sprintf("The one %s%s takes %s of %s.", f.Of.One(), whose, units.FormatNs(f.Fine.Median), f.Fine.Metric.Label())
	}
	who := units.FormatCount(n) + " " + f.Of.Many() + whose
	if f.Fine.Below100us == 0 {
		return fmt.Sprintf("Of %s, none takes less than 100 µs of %s; the median is %s.", who, f.Fine.Metric.Label(), units.FormatNs(f.Fine.Median))
	}
	return fmt.Sprintf("Of %s, %s take less than 1 µs of %s, %s less than 10 µs, %s less than 100 µs; the median is %s.",
		who, share(f.Fine.Below1us, n), f.Fine.Metric.Label(), share(f.Fine.Below10us, n),
		share(f.Fine.Below100us, n), units.FormatNs(f.Fine.Median))
}

// ownShare says how much of the work the program's own tasks are, where a
// reader might take them for all of it.
func ownShare(f Facts) string {
	own := 0.0
	for _, r := range f.Rows {
		if !r.JDK && !r.Body {
			own += r.WorkShare
		}
	}
	// Loops that wait have most of the wall time, which says nothing.
	if own >= 0.9 || own == 0 || f.Total.WorkMetric() == granularity.SelfWall {
		return ""
	}
	return fmt.Sprintf(" (%s of the work)", units.FormatPercent(own))
}

// recordedText names one of which there is none.
func recordedText(c granularity.Counted) string {
	if c == granularity.UnitsOfWork {
		return c.One()
	}
	return "execution of a task"
}

// Submissions counts the submissions of a session.
type Submissions struct{ Produced, Stored, Summarised uint64 }

// Skipped is why the units of a session were not read.
type Skipped struct {
	Recorded uint64 // executions with a record of their own
	Limit    uint64 // the most that units are read of
	Asked    bool   // somebody asked for units
}

// Find looks for everything worth saying: facts, then advice, then cautions.
func Find(f *Facts) []Finding {
	t := f.thresholds()
	var out []Finding
	if f.Units != nil {
		out = Advise(f.Units, t)
	}
	if s := f.Submissions; s != nil && s.Summarised > 0 {
		if f.Units != nil && f.Units.Read {
			out = append(out, partlySummarised(s))
		} else {
			out = append(out, allSummarised(s.Summarised))
		}
	}
	if s := f.Skipped; s != nil {
		out = append(out, unadvised(s))
	}
	for _, x := range Findings(*f) {
		if x.Kind == Advice && (x.Topic == "fine" || x.Topic == "coarse") && f.Units != nil && f.Units.Read {
			continue
		}
		out = append(out, x)
	}
	if f.Note != nil {
		if text := NoteText(f.Note); text != "" {
			out = append(out, Finding{Kind: noteKind(f.Note), Text: text, Topic: "units"})
		}
	}
	order := map[FindingKind]int{Fact: 0, Advice: 1, Caution: 2}
	slices.SortStableFunc(out, func(x, y Finding) int { return order[x.Kind] - order[y.Kind] })
	return out
}

// unadvised says that a session was too large to look at its units.
func unadvised(s *Skipped) Finding {
	n := units.FormatCount(int64(s.Recorded))
	text := fmt.Sprintf("%s recorded executions are more than units of work and advice are worked out for (%s)", n, units.FormatCount(int64(s.Limit)))
	if !s.Asked && s.Recorded <= s.Limit {
		text = fmt.Sprintf("%s recorded executions are many: units of work and advice are left out here; --units and shadow report have them", n)
	}
	return Finding{Kind: Caution, Topic: "units", Text: text}
}

// allSummarised says why there is no advice that needs hand-overs.
func allSummarised(n uint64) Finding {
	return Finding{Kind: Caution, Topic: "units", Text: fmt.Sprintf(
		"All %s hand-overs were summarised: who handed what to whom is not told, so there is no advice about pools, waiting, imbalance and nesting; "+
			"how fine and coarse tasks are is told by their distributions. Profile with --detail auto for the rest.", units.FormatCount(int64(n)))}
}

// partlySummarised says what of the advice rests on a part of the hand-overs.
func partlySummarised(h *Submissions) Finding {
	return Finding{Kind: Caution, Topic: "units", Text: fmt.Sprintf(
		"%s of the %s hand-overs were summarised: advice about units and pools (fine and coarse tasks, imbalance, size, waiting, nesting, exceptions kept by futures) rests on the %s that were recorded one by one alone; "+
			"that about tasks never executed and garbage collection, and counts, work and places, on all. Profile with --detail all for the rest.",
		units.FormatPercent(float64(h.Summarised)/float64(max(1, h.Produced))), units.FormatCount(int64(h.Produced)), units.FormatCount(int64(h.Stored)))}
}

// NoteText says it in a sentence, "" where there is nothing to say.
func NoteText(n *unit.Note) string {
	var out []string
	if !n.SubmissionsKnown {
		out = append(out, "This session has no record of when tasks were handed over: each execution that is not nested in another one counts as a unit, the JDK's own included; "+
			"one nested in another counts as part of its unit, but fork/join tasks as units of their own.")
	}
	if n.Undecided > 0 {
		out = append(out, fmt.Sprintf("Of %s summarised executions it is not known what they were nested in: each counts as a unit.", units.FormatCount(n.Undecided)))
	}
	if p := &n.Platform; p.Executions > 0 {
		names := p.Classes
		more := ""
		if len(names) > maxAdvice {
			names, more = names[:maxAdvice], ", ..."
		}
		work := "work not measured"
		switch {
		case p.SelfCPU > 0:
			work = units.FormatNs(p.SelfCPU) + " of self CPU time"
		case p.SelfWall > 0:
			work = units.FormatNs(p.SelfWall) + " of self wall time"
		}
		out = append(out, fmt.Sprintf("Left out: %s of the JDK's own tasks, which the program did not hand over (%s%s; %s).",
			granularity.Executions.Plural(p.Executions), strings.Join(names, ", "), more, work))
	}
	return strings.Join(out, " ")
}

func noteKind(n *unit.Note) FindingKind {
	if n.SubmissionsKnown && n.Undecided == 0 {
		return Fact
	}
	return Caution
}
