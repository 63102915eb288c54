package drain

import (
	"slices"

	"stackagent/internal/wire"
)

// Bounds of what waits to be sent. Executions and creations are bounded by the
// chunks in which they are drained.
const (
	maxPendingThreads  = 1 << 15
	maxPendingPauses   = 1 << 15
	maxPendingSamples  = 1 << 16
	maxRefusalReasons  = 64
	otherRefusalReason = "other reasons"
)

// pending is what has been drained and not yet been put into a batch.
type pending struct {
	Decoder
	meta        Meta // Refusals: running sums
	refused     map[string]int
	refusalsNew bool
	lost        wire.Totals // behind the rings, of what has a counter
	lostPauses  uint64
	unfit       uint64 // executions and creations that could not be encoded

	sites  []wire.Site // not sent yet
	losses losses

	doneExecutions, doneCreations uint64 // in batches, or dropped

	contexts     wire.Contexts
	summaries    []wire.Summary
	siteSums     []wire.SiteSum
	waitSums     []wire.WaitSum
	blockers     []wire.Blocker
	monitors     []wire.InsideMonitor
	samples      []wire.InsideSample
	summaryBytes int // at most, when encoded
}

// add takes over news from the source.
func (p *pending) add(m Meta) {
	p.meta.Classes = append(p.meta.Classes, m.Classes...)
	p.meta.Threads = append(p.meta.Threads, m.Threads...)
	p.meta.Executors = append(p.meta.Executors, m.Executors...)
	p.Pauses = append(p.Pauses, m.Pauses...)
	p.Virtual = append(p.Virtual, m.Virtual...)
	p.waitSums = append(p.waitSums, m.WaitSums...)
	p.blockers = append(p.blockers, m.Blockers...)
	p.monitors = append(p.monitors, m.Monitors...)
	p.samples = append(p.samples, m.Samples...)
	if m.OS != nil {
		p.meta.OS = m.OS
	}
	p.meta.Totals = m.Totals
	for i := range m.Threads {
		p.losses.know(&m.Threads[i])
	}
	for _, l := range m.LostByThread {
		p.losses.add(l.Thread, l.Events)
	}
	for _, r := range m.Refusals {
		p.refuse(r)
	}
}

// passed takes note that the rings were read to their ends.
func (p *pending) passed() {
	p.losses.passed(p.doneExecutions+uint64(len(p.Executions)), p.doneCreations+uint64(len(p.Creations)))
}

// done takes note of executions and creations that wait no more.
func (p *pending) done(executions, creations int) {
	p.doneExecutions += uint64(executions)
	p.doneCreations += uint64(creations)
	p.losses.settled(p.doneExecutions, p.doneCreations)
}

// nameSites finds the names of the sites that records have named for the first time.
func (p *pending) nameSites(site func(uint32) (wire.Site, bool)) {
	for _, id := range p.newSites {
		if s, ok := site(id); ok {
			p.sites = append(p.sites, s)
		}
	}
	p.newSites = p.newSites[:0]
}

// addSummaries takes over summaries. They are never dropped: what is not asked
// for stays with the threads and grows no larger.
func (p *pending) addSummaries(list []wire.Summary, sites []wire.SiteSum) {
	p.summaries = append(p.summaries, list...)
	p.siteSums = append(p.siteSums, sites...)
	for i := range sites {
		p.site(sites[i].Site)
	}
	for i := range list {
		p.summaryBytes += list[i].EncodedSize()
	}
}

// addContexts takes over news of calling contexts, which are bounded by being
// asked for only while few wait.
func (p *pending) addContexts(news *wire.Contexts) {
	c := &p.contexts
	c.Account = news.Account
	c.Frames = append(c.Frames, news.Frames...)
	c.Contexts = append(c.Contexts, news.Contexts...)
	c.Sums = append(c.Sums, news.Sums...)
}

// firstContexts are the first of each kind, and those only that are left when
// all that they name has been sent.
func (p *pending) firstContexts(n int) wire.Contexts {
	c := wire.Contexts{Account: p.contexts.Account, Frames: first(p.contexts.Frames, n)}
	if len(c.Frames) == len(p.contexts.Frames) {
		c.Contexts = first(p.contexts.Contexts, n)
	}
	if len(c.Contexts) == len(p.contexts.Contexts) {
		c.Sums = first(p.contexts.Sums, n)
	}
	return c
}

// refuse adds to the sums by reason.
func (p *pending) refuse(r wire.Refusal) {
	p.refusalsNew = true
	if p.refused == nil {
		p.refused = map[string]int{}
	}
	at, ok := p.refused[r.Reason]
	if !ok && len(p.meta.Refusals) >= maxRefusalReasons-1 {
		r.Reason = otherRefusalReason
		at, ok = p.refused[r.Reason]
	}
	if !ok {
		p.refused[r.Reason] = len(p.meta.Refusals)
		p.meta.Refusals = append(p.meta.Refusals, r)
		return
	}
	p.meta.Refusals[at].Count += r.Count
	if p.meta.Refusals[at].Sample == "" {
		p.meta.Refusals[at].Sample = r.Sample
	}
}

// any reports whether something waits that a batch should carry soon.
func (p *pending) any() bool {
	return p.events() > 0 || p.refusalsNew || len(p.summaries) > 0 || len(p.losses.changed) > 0 || p.contextsWait() > 0 || p.longest() > 0
}

// list is what waits of one kind, and where it goes in a batch.
type list interface {
	waits() int
	fill(b *wire.Batch, n int)
	sent(b *wire.Batch)
}

// listOf is a list of entries T.
type listOf[T any] struct {
	from *[]T
	to   func(*wire.Batch) *[]T
}

func (l listOf[T]) waits() int                { return len(*l.from) }
func (l listOf[T]) fill(b *wire.Batch, n int) { *l.to(b) = first(*l.from, n) }
func (l listOf[T]) sent(b *wire.Batch)        { *l.from = rest(*l.from, len(*l.to(b))) }

// lists are all that wait of what is neither an event nor a context.
func (p *pending) lists() []list {
	return []list{
		listOf[wire.Class]{&p.meta.Classes, func(b *wire.Batch) *[]wire.Class { return &b.Classes }},
		listOf[wire.Thread]{&p.meta.Threads, func(b *wire.Batch) *[]wire.Thread { return &b.Threads }},
		listOf[wire.OSThread]{&p.meta.OS, func(b *wire.Batch) *[]wire.OSThread { return &b.OS }},
		listOf[wire.Pause]{&p.Pauses, func(b *wire.Batch) *[]wire.Pause { return &b.Pauses }},
		listOf[wire.Executor]{&p.meta.Executors, func(b *wire.Batch) *[]wire.Executor { return &b.Executors }},
		listOf[wire.Site]{&p.sites, func(b *wire.Batch) *[]wire.Site { return &b.Sites }},
		listOf[wire.SiteSum]{&p.siteSums, func(b *wire.Batch) *[]wire.SiteSum { return &b.SiteSums }},
		listOf[wire.Blocker]{&p.blockers, func(b *wire.Batch) *[]wire.Blocker { return &b.Blockers }},
		listOf[wire.InsideMonitor]{&p.monitors, func(b *wire.Batch) *[]wire.InsideMonitor { return &b.InsideMonitors }},
		listOf[wire.InsideSample]{&p.samples, func(b *wire.Batch) *[]wire.InsideSample { return &b.InsideSamples }},
		listOf[wire.WaitSum]{&p.waitSums, func(b *wire.Batch) *[]wire.WaitSum { return &b.WaitSums }},
	}
}

// longest is the length of the longest of the lists.
func (p *pending) longest() (n int) {
	for _, l := range p.lists() {
		n = max(n, l.waits())
	}
	return n
}

// contextsWait is the longest of the lists of contexts.
func (p *pending) contextsWait() int {
	return max(len(p.contexts.Frames), len(p.contexts.Contexts), len(p.contexts.Sums))
}

// drop forgets the events, which it counts by thread, and keeps descriptions
// and pauses within their bounds; summaries stay. It returns the number of events.
func (p *pending) drop() uint64 {
	n := uint64(len(p.Executions) + len(p.Creations))
	p.lost.LostSubmissions += uint64(len(p.Submissions))
	p.Submissions = p.Submissions[:0]
	p.lost.LostConstructions += uint64(len(p.Constructions))
	p.Constructions, p.ConstructionWork = p.Constructions[:0], firstWork(p.ConstructionWork, 0)
	p.lost.LostTaskTraces += uint64(len(p.TaskTraces))
	p.TaskTraces = p.TaskTraces[:0]
	for i := range p.Executions {
		p.losses.add(p.Executions[i].Thread, 1)
	}
	for i := range p.Creations {
		p.losses.add(p.Creations[i].Thread, 1)
	}
	p.done(len(p.Executions), len(p.Creations))
	p.Executions, p.Creations = p.Executions[:0], p.Creations[:0]
	p.ExecutionWork = firstWork(p.ExecutionWork, 0)
	p.dropVirtual()
	p.dropWaits()
	if over := len(p.meta.Threads) - maxPendingThreads; over > 0 {
		p.lost.LostThreads += uint64(over)
		p.meta.Threads = append([]wire.Thread(nil), p.meta.Threads[over:]...)
	}
	if over := len(p.samples) - maxPendingSamples; over > 0 {
		p.refuse(wire.Refusal{Reason: "sample of a monitor dropped: the bus was away", Count: uint64(over)})
		p.samples = append([]wire.InsideSample(nil), p.samples[over:]...)
	}
	if over := len(p.Pauses) - maxPendingPauses; over > 0 {
		p.lostPauses += uint64(over)
		p.Pauses = append([]wire.Pause(nil), p.Pauses[over:]...)
	}
	return n
}

// dropVirtual forgets what is recorded of single virtual threads; the session's account
// of mounts says that it is missing. Sums stay: they are as few as classes and carriers.
func (p *pending) dropVirtual() {
	p.Virtual = slices.DeleteFunc(p.Virtual, func(v wire.VirtualThread) bool { return v.Thread != 0 })
	p.Virtual = first(p.Virtual, maxPendingThreads)
}

// share says how much of what is pending a batch takes.
type share struct {
	events, items int
	summaries     int // bytes; one is taken in any case
}

func (s share) half() share { return share{max(1, s.events/2), max(1, s.items/2), s.summaries / 2} }

func (s share) smallest() bool { return s.events == 1 && s.items == 1 && s.summaries == 0 }

// full reports whether a batch of share s can be filled.
func (p *pending) full(s share) bool {
	return p.events() >= s.events || p.summaryBytes > s.summaries || p.longest() >= s.items || p.contextsWait() >= s.items
}

// fill puts the first part of what is pending into b, without taking it away.
func (p *pending) fill(b *wire.Batch, s share) {
	p.Decoder.fill(b, s.events)
	b.Summaries = p.firstSummaries(s.summaries)
	for _, l := range p.lists() {
		l.fill(b, s.items)
	}
	b.Contexts = p.firstContexts(s.items)
	if p.refusalsNew {
		b.Refusals = p.meta.Refusals
	}
}

// firstSummaries are as many as surely fit into so many bytes, at least one.
func (p *pending) firstSummaries(bytes int) []wire.Summary {
	n := 0
	for ; n < len(p.summaries) && n < wire.MaxSummaries; n++ {
		if bytes -= p.summaries[n].EncodedSize(); bytes < 0 && n > 0 {
			break
		}
	}
	return p.summaries[:n]
}

// taken takes away what fill has put into b.
func (p *pending) taken(b *wire.Batch) {
	p.done(len(b.Executions), len(b.Creations))
	p.sent(b)
	for i := range b.Summaries {
		p.summaryBytes -= b.Summaries[i].EncodedSize()
	}
	p.summaries = rest(p.summaries, len(b.Summaries))
	for _, l := range p.lists() {
		l.sent(b)
	}
	p.contexts.Frames = rest(p.contexts.Frames, len(b.Contexts.Frames))
	p.contexts.Contexts = rest(p.contexts.Contexts, len(b.Contexts.Contexts))
	p.contexts.Sums = rest(p.contexts.Sums, len(b.Contexts.Sums))
	p.refusalsNew = p.refusalsNew && len(b.Refusals) == 0
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// rest removes the first n entries and keeps the memory for what comes.
func rest[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	return list[:copy(list, list[n:])]
}
