package summary

import (
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// buckets is the number of buckets of every figure over time.
const buckets = 200

// builder makes a Summary.
type builder struct {
	src        Source
	opts       Options
	grid       granularity.Grid
	until      units.MonoNs
	metrics    *metrics
	busy       map[uint32]bool // threads with a busy bar
	threadsLow bool            // of some executions it is not known on how many virtual threads they ran
	progress   *progress
	all        *gathered // once all is read
}

// classGroup sums up the classes of one name: lambdas of one piece of code and
// classes of several loaders count as one.
type classGroup struct {
	granularity.Group
	name   string
	kinds  units.Kinds
	passes bool
	loop   bool // its executions are loops around other tasks; known once all are read
	// knownLoop: they are by the name of the class.
	knownLoop bool
	created   int64
	never     int64
	fates     *granularity.Fates // of never; nil: not known
	failed    int64
}

// BuildFrom condenses what src holds.
func BuildFrom(src Source, opts Options) (*Summary, error) {
	if err := opts.Filter.Check(); err != nil {
		return nil, err
	}
	if opts.Classes <= 0 {
		opts.Classes = DefaultClasses
	}
	b := &builder{src: src, opts: opts, metrics: metricsOf(&src), progress: newProgress(opts.Progress, src.Manifest.Stored.Executions)}
	if err := b.makeGrid(); err != nil {
		return nil, err
	}
	b.chooseBusy()
	for _, step := range []func() error{b.gather, b.summaries, b.counts} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if src.Found != nil {
		b.src.Manifest, b.src.Warnings = src.Found()
	}
	return b.finish()
}

// reading wraps an error of the source.
func (b *builder) reading(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s of session %s: %w", what, b.src.Manifest.Session, err)
}

// makeGrid spans the session. If the end of the session is not known, because its
// shadow crashed before the first refresh, it spans the executions, which it reads
// for that.
func (b *builder) makeGrid() error {
	from, to := b.src.Manifest.StartNs, b.src.Manifest.EndNs
	if to <= from {
		first, last, err := b.span()
		if err != nil {
			return b.reading("reading the executions", err)
		}
		if from == 0 {
			from = first
		}
		to = max(to, last)
	}
	b.until = to
	b.grid = granularity.NewGrid(from, to, buckets)
	return nil
}

// span is the time from the first start to the last end.
func (b *builder) span() (first, last units.MonoNs, err error) {
	type ends struct{ first, last units.MonoNs }
	all := make([]ends, session.Workers())
	rows := func(worker int, c *session.Chunk) error {
		e := &all[worker]
		for i := range c.Len() {
			if e.first == 0 || c.StartNs[i] < e.first {
				e.first = c.StartNs[i]
			}
			e.last = max(e.last, c.StartNs[i], c.EndNs[i])
		}
		return nil
	}
	const want = store.ExecutionClass | store.ExecutionStart | store.ExecutionEnd
	if b.src.Sums == nil {
		err = b.executions(want, func(worker int, c *session.Chunk, _ []uint32) error { return rows(worker, c) })
	} else {
		err = b.src.Sums(want, func(worker int, x *store.Sums) error {
			e := &all[worker]
			if e.first == 0 || x.First < e.first {
				e.first = x.First
			}
			e.last = max(e.last, x.Last)
			return nil
		}, rows)
	}
	for _, e := range all {
		if first == 0 || e.first != 0 && e.first < first {
			first = e.first
		}
		last = max(last, e.last)
	}
	return first, last, err
}

// counts adds the exact counts of creations to the groups.
func (b *builder) counts() error {
	per, _, err := b.src.Counts()
	if err != nil {
		return b.reading("counting the tasks", err)
	}
	fates, err := b.fates(per)
	if err != nil {
		return b.reading("counting the tasks", err)
	}
	for _, c := range per {
		if c.Class == nil {
			continue
		}
		g := b.all.classOf(c.Class.ID)
		if f := fatesOf(fates[c.Class.ID]); f.Sum() == int64(c.NeverExecuted) && f.Sum() > 0 {
			if g.fates == nil {
				g.fates = new(granularity.Fates)
			}
			g.fates.Add(&f)
		}
		g.created += int64(c.Created)
		g.never += int64(c.NeverExecuted)
		g.failed += int64(c.Failed)
	}
	return nil
}

// fates reads what became of the tasks that were never executed, if there are any
// and submissions are known. It needs memory for each task.
func (b *builder) fates(per []session.ClassCounts) (map[uint32]map[session.TaskState]int64, error) {
	never := slices.ContainsFunc(per, func(c session.ClassCounts) bool { return c.NeverExecuted > 0 })
	m := &b.src.Manifest
	if !never || b.src.Fates == nil || b.opts.Brief || m.Submissions == nil || m.Stored.Creations-m.Summarised.Creations+m.Submissions.Stored > adviceLimit {
		return nil, nil
	}
	return b.src.Fates()
}

func fatesOf(states map[session.TaskState]int64) granularity.Fates {
	return granularity.Fates{
		NeverSubmitted: states[session.NeverSubmitted], NeverRun: states[session.NeverRun],
		Cancelled: states[session.Cancelled], Rejected: states[session.Rejected], NotKnown: states[session.NeverExecuted],
	}
}

// groups are the classes that pass the filter and were created or executed, by
// name. If creations are divided by call site, the tasks that never ran stay with the class.
func (b *builder) groups() []*classGroup {
	var out []*classGroup
	for _, name := range slices.Sorted(maps.Keys(b.all.byName)) {
		if g := b.all.byName[name]; g.passes && (g.Executions > 0 || g.created > 0 || g.never > 0 || g.failed > 0) {
			out = append(out, g)
		}
	}
	return out
}

// finish describes what was gathered, reads again as long as that makes more of it
// exact, and finds what it means.
func (b *builder) finish() (*Summary, error) {
	s := b.head()
	if err := b.incomplete(s); err != nil {
		return nil, err
	}
	groups := b.groups()
	if s.Incomplete.Damaged() { // what ran, or was submitted, may be missing
		for _, g := range groups {
			g.fates = nil
		}
	}
	b.totals(s, groups)
	b.pauses(s)
	b.scheduling(s)
	p := b.parts(groups)
	for pass := 0; ; pass++ {
		b.describe(s, groups, p)
		if b.opts.Brief || pass == maxPasses {
			break
		}
		more, err := b.search(groups, p)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	s.facts = b.facts(s)
	s.Findings = advice.Find(&s.facts)
	return s, nil
}

// head fills in what the manifest has.
func (b *builder) head() *Summary {
	m := &b.src.Manifest
	s := &Summary{
		Of: b.src.Of, Session: m.Session, Started: started(m), DurationNs: m.DurationNs, Ended: m.Ended, ImportedFrom: m.ImportedFrom,
		JVM: JVM{
			Version: m.JVM.Version, PID: m.JVM.PID, GC: m.JVM.GC, CPUs: m.JVM.CPUs, Name: m.JVM.Name,
			MainClass: m.JVM.MainClass, Host: m.JVM.Host, Home: m.JVM.Home,
			AgentVersion: m.JVM.AgentVersion, Clock: m.JVM.Clock, CPUClock: m.JVM.CPUClock,
		},
		Lost:         LostOf(&m.Lost),
		Balance:      m.Balance,
		NotAvailable: maps.Clone(m.NotAvailable), Refusals: nonNil(slices.Clone(m.Refusals)),
		Warnings: slices.DeleteFunc(slices.Clone(b.src.Warnings), session.IsEstimate), StartNs: b.grid.From, EndNs: b.until, FromSums: b.all.fromSums,
	}
	if !m.Labels.IsZero() {
		s.Labels = &m.Labels
	}
	if s.NotAvailable == nil {
		s.NotAvailable = map[string]string{}
	}
	if _, known := s.NotAvailable["cpu"]; !known && len(m.Metrics) > 0 && !slices.Contains(m.Metrics, "cpu") {
		s.NotAvailable["cpu"] = "not asked for (--metric names what is measured: wall+cpu+...)"
	}
	for what, why := range b.src.Uncounted {
		if _, known := s.NotAvailable[what]; !known {
			s.NotAvailable[what] = why
		}
	}
	if b.opts.Filter.Active() {
		f := b.opts.Filter
		s.Filter = &f
	}
	if s.DurationNs <= 0 && b.until > b.grid.From {
		s.DurationNs = units.Ns(b.until - b.grid.From)
	}
	return s
}

// incomplete says what is missing, and up to when the executions are recorded.
func (b *builder) incomplete(s *Summary) error {
	x := session.IncompleteOf(&b.src.Manifest)
	if x == nil {
		return nil
	}
	if b.src.Part {
		s.Incomplete = x
		return nil
	}
	_, last, err := b.span()
	if err != nil {
		return b.reading("reading the executions", err)
	}
	if until := units.Ns(last - b.grid.From); last > b.grid.From && (x.UntilNs == nil || until > *x.UntilNs) && (x.Damaged() || !s.EndSeen()) {
		x.UntilNs = &until
	}
	s.Incomplete = x
	return nil
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (b *builder) totals(s *Summary, groups []*classGroup) {
	t := &s.Tasks
	var threads granularity.Group
	for _, g := range groups {
		t.Created += g.created
		t.NeverExecuted += g.never
		t.Failed += g.failed
		t.Executions += g.Executions
		t.Summarised += g.Summarised
		t.Threw += g.Threw
		t.Running += g.Running
		t.Cut += g.Cut
		t.Nested += g.Nested
		t.Virtual += g.Virtual
		t.CreateUnseen += g.CreateUnseen
		g.MarkThreads(&threads)
	}
	t.Threads, t.ThreadsLow = threads.Threads(), b.threadsLow
	var fates granularity.Fates
	for _, g := range groups {
		fates.Add(g.fates)
	}
	if fates.Sum() == t.NeverExecuted && t.NeverExecuted > 0 {
		t.Fates = &fates
	}
	t.Classes = int64(len(groups))
}

func (b *builder) pauses(s *Summary) {
	s.Pauses = session.SpansOf(b.src.Pauses)
	st := granularity.Pauses(s.Pauses)
	s.GC = GC{Pauses: st.Count, PauseNs: st.Total, MedianNs: st.Median, P99Ns: st.P99, MaxNs: st.Max, ProfilerNs: granularity.Pauses(session.SpansOf(b.src.Own)).Total}
	if s.DurationNs > 0 {
		s.GC.Share = float64(st.Total) / float64(s.DurationNs)
	}
}

// scheduling fills in what the scheduling record says of the whole session.
func (b *builder) scheduling(s *Summary) {
	if b.src.Activity == nil {
		return
	}
	a, err := b.src.Activity()
	if err == nil {
		s.Lost.Switches += a.Lost
		s.GC.Standstill, err = a.Standstill(activity.Span{From: b.src.Manifest.StartNs, To: b.src.Manifest.EndNs})
	}
	if err != nil {
		s.GC.NoStandstill = text.OneLine(err.Error())
	}
}

// facts are what the findings look at.
func (b *builder) facts(s *Summary) advice.Facts {
	f := advice.Facts{
		Of: s.Of, Like: b.opts.Filter.Class, Duration: s.DurationNs, CPUs: s.JVM.CPUs, Created: s.Tasks.Created, Executions: s.Tasks.Executions, Summarised: s.Tasks.Summarised,
		NeverExecuted: s.Tasks.NeverExecuted, Threw: s.Tasks.Threw, Running: s.Tasks.Running,
		Threads: s.Tasks.Threads, ThreadsLow: s.Tasks.ThreadsLow, Total: s.Metrics, Fine: s.Fine, FineIsAll: s.FineIsAll, Rows: s.Rows,
		GC:         granularity.PauseStats{Count: s.GC.Pauses, Total: s.GC.PauseNs, Median: s.GC.MedianNs, P99: s.GC.P99Ns, Max: s.GC.MaxNs},
		Standstill: s.GC.Standstill,
		ProfilerNs: s.GC.ProfilerNs,
		Unended:    !s.EndSeen(),
		Damaged:    s.Incomplete.Damaged(),
		Partial:    s.Incomplete.Partial(),
		LostEvents: s.Lost.Events, LostBatches: s.Lost.Batches,
		// Only what the user asked for: every session of a machine without counters lacks them.
		NotAvailable: slices.Sorted(maps.Keys(b.src.Manifest.NotAvailable)),
		Observed:     b.src.Observed,
		Thresholds:   b.opts.Thresholds, Replayer: b.opts.Replayer,
	}
	if b.src.SiteOf != nil {
		f.Sites = map[string]string{}
		for i := range b.src.Classes {
			c := &b.src.Classes[i]
			if at, other := b.src.SiteOf(c.ID), f.Sites[c.Name]; other == "" || other == at {
				f.Sites[c.Name] = at
			} else if at != "" {
				f.Sites[c.Name] = callsite.Several
			}
		}
		maps.DeleteFunc(f.Sites, func(_, at string) bool { return at == "" || at == callsite.Several })
	}
	for _, r := range s.Refusals {
		f.Refused = append(f.Refused, advice.Refusal{Reason: r.Reason, Count: r.Count, Sample: r.Sample})
	}
	return f
}

// isLoop reports whether executions of the class are loops around other tasks.
func (g *classGroup) isLoop() bool {
	return g.knownLoop || g.kinds&units.KindThread != 0 && unit.LooksLikeLoop(&g.Group)
}
