package summary

import (
	"slices"

	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// origins count by place what happened to the tasks of each class, recorded or
// summarised, and tell where a class's summarised executions belong.
type origins struct {
	counts map[originKey]uint64
	// Of each class, what of counts summaries tell, and all that they tell.
	placed, totals map[uint32]*handedTotals
	whole          bool // nothing is known to be lost

	last  originKey // of the records those of a kind follow one another
	count uint64    // not yet in counts
}

type originKey struct {
	class uint32
	kind  wire.SiteKind
	site  uint32 // 0: not known
}

// handedTotals are sums over the places of a class, or over its summaries.
type handedTotals struct {
	creations, submissions     uint64
	executions, queued, unseen uint64 // of these: with a queue time; without a creation
}

func newOrigins(s *session.Session) *origins {
	m := &s.Manifest
	h := m.Submissions
	whole := m.Lost.Events == 0 && m.Lost.Batches == 0 && (h == nil || h.Lost == 0 && h.InGaps == 0)
	return &origins{counts: map[originKey]uint64{}, placed: map[uint32]*handedTotals{}, totals: map[uint32]*handedTotals{}, whole: whole}
}

// add counts one of the records.
func (o *origins) add(class uint32, kind wire.SiteKind, site uint32) {
	if k := (originKey{class, kind, site}); k != o.last {
		o.flush()
		o.last = k
	}
	o.count++
}

func (o *origins) flush() {
	if o.count > 0 {
		o.counts[o.last] += o.count
		o.count = 0
	}
}

// submission counts a recorded one; site 0: not known.
func (o *origins) submission(class uint32, flags wire.SubmissionFlags, site uint32) {
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
	o.add(class, kind, site)
}

// creation counts a recorded one.
func (o *origins) creation(class uint32, flags wire.CreationFlags, site uint32) {
	switch {
	case flags&(wire.Failed|wire.Withdrawn) != 0:
	case flags&wire.Part != 0:
		o.add(class, wire.SitePart, 0)
	default:
		o.add(class, wire.SiteCreation, site)
	}
}

func of(m map[uint32]*handedTotals, class uint32) *handedTotals {
	if m[class] == nil {
		m[class] = &handedTotals{}
	}
	return m[class]
}

// summarised adds what summaries tell.
func (o *origins) summarised(s *session.Session) error {
	o.flush()
	sums, err := s.SiteSums()
	if err != nil {
		return err
	}
	for _, x := range sums {
		o.counts[originKey{x.Class, x.Kind, x.Site}] += x.Count
		switch x.Kind {
		case wire.SiteCreation, wire.SitePart:
			of(o.placed, x.Class).creations += x.Count
		case wire.SiteSubmission, wire.SiteInner:
			of(o.placed, x.Class).submissions += x.Count
		}
	}
	return s.Summaries(func(x *session.Summary) error {
		t := of(o.totals, x.Class)
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

// origin is where all summarised executions of a class belong.
type origin struct {
	site uint32 // 0: not one known place, then
	why  string // stands in its place
}

// of tells it of a class. A task stands where it was handed over, or, where
// that tells nothing, where it was made. The executions of a class belong to a
// place if all of its tasks, recorded or counted, can come from nowhere else.
// made: those that were not handed over count as well, if there are any.
func (o *origins) of(s *session.Session, class uint32, made bool) origin {
	placed, total := o.placed[class], o.totals[class]
	if total == nil {
		total = &handedTotals{}
	}
	if placed == nil {
		if total.creations+total.submissions > 0 {
			return origin{why: inSummaries} // an older agent's
		}
		placed = &handedTotals{}
	}
	var sites []uint32
	unknown := !o.whole || placed.submissions < total.submissions
	made = made || total.queued < total.executions
	for kind := range wire.NumSiteKinds {
		if kind == wire.SiteSubmission || kind == wire.SiteInner {
			sites, made = o.sites(s, sites, class, kind, made)
		}
	}
	if made {
		sites, unknown = o.sites(s, sites, class, wire.SiteCreation, unknown || total.unseen > 0 || placed.creations < total.creations)
	}
	switch {
	case len(sites) == 0:
		return origin{why: noSite}
	case unknown || len(sites) > 1:
		return origin{why: severalPlaces}
	}
	return origin{site: sites[0]}
}

// sites appends the places where that happened to tasks of the class, those of
// one name once; none: that of some is not known, or was not before.
func (o *origins) sites(s *session.Session, sites []uint32, class uint32, kind wire.SiteKind, none bool) ([]uint32, bool) {
	for k := range o.counts {
		if k.class != class || k.kind != kind {
			continue
		}
		if k.site == 0 {
			none = true
		} else if !slices.ContainsFunc(sites, func(id uint32) bool { return sameSite(s, id, k.site) }) {
			sites = append(sites, k.site)
		}
	}
	slices.Sort(sites)
	return sites, none
}

// sameSite tells whether two sites are one place to a reader: making a task and
// handing it over in one line are two.
func sameSite(s *session.Session, a, b uint32) bool {
	x, y := s.SiteByID(a), s.SiteByID(b)
	return a == b || x != nil && y != nil && x.Label() == y.Label()
}
