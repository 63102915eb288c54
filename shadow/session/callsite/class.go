package callsite

import (
	"iter"
	"maps"
	"slices"

	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// classCounts counts, by site, what happened to the tasks of each class, recorded or
// summarised, and finds the site of a class's summarised executions.
type classCounts struct {
	counts map[Event]uint64
	// By class: the counts of summaries by site, and those of all summaries.
	placed, totals map[uint32]*classTotals
	complete       bool // nothing was lost, as far as recorded

	byClass map[uint32][]Event // of counts, once these are complete

	last  Event // consecutive records are mostly alike
	count uint64
}

// Event is what happened to tasks of a class at a site; site 0: unknown.
type Event struct {
	Class uint32
	Kind  wire.SiteKind
	Site  uint32
}

// classTotals are sums over the sites of a class, or over its summaries.
type classTotals struct {
	creations, submissions, executions uint64
	queued, unseen                     uint64 // executions with a queue time; without a creation
}

func newClassCounts(s *session.Session) *classCounts {
	m := &s.Manifest
	h := m.Submissions
	complete := m.Lost.Events == 0 && m.Lost.Batches == 0 && (h == nil || h.Lost == 0 && h.InGaps == 0)
	return &classCounts{counts: map[Event]uint64{}, placed: map[uint32]*classTotals{}, totals: map[uint32]*classTotals{}, complete: complete}
}

// add counts one record.
func (c *classCounts) add(class uint32, kind wire.SiteKind, site uint32) {
	if e := (Event{class, kind, site}); e != c.last {
		c.flush()
		c.last = e
	}
	c.count++
}

func (c *classCounts) flush() {
	if c.count > 0 {
		c.counts[c.last] += c.count
		c.count = 0
	}
}

// submission counts a recorded submission.
func (c *classCounts) submission(class uint32, flags wire.SubmissionFlags, site uint32) {
	kind := wire.SiteSubmission
	switch rejected, inner := flags&wire.Rejected != 0, flags&wire.Inner != 0; {
	case flags&wire.NoSubmission != 0:
		return
	case rejected && inner:
		kind = wire.SiteRejectedInner
	case rejected:
		kind = wire.SiteRejected
	case inner:
		kind = wire.SiteInner
	}
	c.add(class, kind, site)
}

// creation counts a recorded creation.
func (c *classCounts) creation(class uint32, flags wire.CreationFlags, site uint32) {
	switch {
	case flags&(wire.Failed|wire.Withdrawn) != 0:
	case flags&wire.Part != 0:
		c.add(class, wire.SitePart, 0)
	default:
		c.add(class, wire.SiteCreation, site)
	}
}

func totalsOf(m map[uint32]*classTotals, class uint32) *classTotals {
	if m[class] == nil {
		m[class] = &classTotals{}
	}
	return m[class]
}

// readSummaries adds the summaries.
func (c *classCounts) readSummaries(s *session.Session) error {
	c.flush()
	sums, err := s.SiteSums()
	if err != nil {
		return err
	}
	for _, x := range sums {
		c.counts[Event{x.Class, x.Kind, x.Site}] += x.Count
		switch x.Kind {
		case wire.SiteCreation, wire.SitePart:
			totalsOf(c.placed, x.Class).creations += x.Count
		case wire.SiteSubmission, wire.SiteInner:
			totalsOf(c.placed, x.Class).submissions += x.Count
		}
	}
	c.byClass = map[uint32][]Event{}
	for e := range c.counts {
		c.byClass[e.Class] = append(c.byClass[e.Class], e)
	}
	return s.Summaries(func(x *session.Summary) error {
		t := totalsOf(c.totals, x.Class)
		t.creations += x.Creations
		t.submissions += x.Submissions
		t.executions += x.Executions
		t.unseen += x.CreationUnseen
		for _, m := range x.Measures {
			if m.Metric == wire.MetricQueue {
				t.queued += m.Count
			}
		}
		return nil
	})
}

// classOrigin is the site of all summarised executions of a class.
type classOrigin struct {
	site uint32 // 0: not exactly one, or unknown
	why  string // then a label that says why
}

// origin finds the site of a class. A task's site is that of its submission or, if that
// is unknown, of its creation. The summarised executions of a class have a site if no
// task of the class, recorded or summarised, can have another one. made: creations
// count even if every task was submitted.
func (c *classCounts) origin(s *session.Session, class uint32, made bool) classOrigin {
	placed, total := c.placed[class], c.totals[class]
	if total == nil {
		total = &classTotals{}
	}
	if placed == nil {
		if total.creations+total.submissions > 0 {
			return classOrigin{why: Summarised} // by an older agent
		}
		placed = &classTotals{}
	}
	var sites []uint32
	unknown := !c.complete || placed.submissions < total.submissions
	made = made || total.queued < total.executions
	for kind := range wire.NumSiteKinds {
		if kind == wire.SiteSubmission || kind == wire.SiteInner {
			sites, made = c.sites(s, sites, class, kind, made)
		}
	}
	if made {
		sites, unknown = c.sites(s, sites, class, wire.SiteCreation, unknown || total.unseen > 0 || placed.creations < total.creations)
	}
	switch {
	case len(sites) == 0:
		return classOrigin{why: NoSite}
	case unknown || len(sites) > 1:
		return classOrigin{why: SeveralSites}
	}
	return classOrigin{site: sites[0]}
}

// submissionSite is the site of all submissions of a class by the program; 0: there are several, or
// they are not all known.
func (c *classCounts) submissionSite(s *session.Session, class uint32) uint32 {
	placed, total := c.placed[class], c.totals[class]
	if !c.complete || total != nil && total.submissions > 0 && (placed == nil || placed.submissions < total.submissions) {
		return 0
	}
	sites, unknown := c.sites(s, nil, class, wire.SiteSubmission, false)
	if len(sites) != 1 || unknown {
		return 0
	}
	return sites[0]
}

// sites appends the sites of events of a kind, one for each label, until there are two. It returns none, or
// true if the site of an event is unknown.
func (c *classCounts) sites(s *session.Session, sites []uint32, class uint32, kind wire.SiteKind, none bool) ([]uint32, bool) {
	for _, e := range c.byClass[class] {
		if e.Kind != kind {
			continue
		}
		if e.Site == 0 {
			none = true
		} else if len(sites) < 2 && !slices.ContainsFunc(sites, func(id uint32) bool { return sameLabel(s, id, e.Site) }) {
			sites = append(sites, e.Site)
		}
	}
	slices.Sort(sites)
	return sites, none
}

// sameLabel reports whether two sites have one label: creating a task and submitting it
// on the same line are two sites.
func sameLabel(s *session.Session, a, b uint32) bool {
	x, y := s.SiteByID(a), s.SiteByID(b)
	return a == b || x != nil && y != nil && x.Label() == y.Label()
}

// Counts yields how often each event happened, recorded or summarised.
func (x *Index) Counts() iter.Seq2[Event, uint64] { return maps.All(x.classes.counts) }

// SummarisedClasses yields the classes with summaries.
func (x *Index) SummarisedClasses() iter.Seq[uint32] { return maps.Keys(x.classes.totals) }
