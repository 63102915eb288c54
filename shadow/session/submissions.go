package session

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/shadow/store"
)

// Executor is what tasks are submitted to.
type Executor = store.Executor

// Site is a call site.
type Site = store.Site

// Submissions calls f with all submissions in the order of the batches, which
// on each thread is the order of their times. Sessions whose agent recorded none
// have none.
func (s *Session) Submissions(f func(*SubmissionChunk) error) error {
	bad, err := s.folder.ReadSubmissions(f)
	s.warnAll(bad)
	return err
}

// Constructions calls f with the cost of all constructions, in the order of the
// batches.
func (s *Session) Constructions(f func(*ConstructionChunk) error) error {
	bad, err := s.folder.ReadConstructions(f)
	s.warnAll(bad)
	return err
}

// warnMissing warns of records that are missing, and says what that means.
func (s *Session) warnMissing(what string, h *store.RecordAccount, consequence string) {
	if h == nil {
		return
	}
	if lost := h.Lost + h.InGaps; lost > 0 {
		s.warn(fmt.Sprintf("%d of %d %s were lost: %s", lost, h.Produced, what, consequence))
	}
	if h.Unaccounted != 0 {
		s.warn(fmt.Sprintf("%s: %d were produced, %d are stored, %d summarised and %d counted as lost, which does not add up; figures about them may be wrong",
			what, h.Produced, h.Stored, h.Summarised, h.Lost))
	}
}

// named is a small table by id.
type named[T any] struct {
	rows []T
	byID index
}

func (n *named[T]) load(rows map[uint32]T, id func(*T) uint32) {
	for _, r := range rows {
		n.rows = append(n.rows, r)
	}
	slices.SortFunc(n.rows, func(a, b T) int { return cmp.Compare(id(&a), id(&b)) })
	for i := range n.rows {
		n.byID.set(id(&n.rows[i]), i)
	}
}

func (n *named[T]) get(id uint32) *T {
	if i, ok := n.byID.get(id); ok {
		return &n.rows[i]
	}
	return nil
}

// Executors are those of the session, by id.
func (s *Session) Executors() []Executor { return s.executors.rows }

// ExecutorByID is the executor with that id; nil when it is not known.
func (s *Session) ExecutorByID(id uint32) *Executor { return s.executors.get(id) }

// Sites are the places that the session names, by id.
func (s *Session) Sites() []Site { return s.sites.rows }

// SiteByID is the place with that id; nil when it is not known.
func (s *Session) SiteByID(id uint32) *Site { return s.sites.get(id) }

// ExtraMetrics are the work metrics beside wall and CPU time: column k of the
// chunks is that of entry k.
func (s *Session) ExtraMetrics() []store.ExtraMetric { return s.Manifest.Extra }

func (s *Session) loadExecutors() error {
	rows := map[uint32]Executor{}
	bad, err := s.folder.ReadExecutors(func(r *store.Executor) { rows[r.ID] = r.After(rows[r.ID]) })
	s.warnAll(bad)
	s.executors.load(rows, func(x *Executor) uint32 { return x.ID })
	return err
}

func (s *Session) loadSites() error {
	rows := map[uint32]Site{}
	bad, err := s.folder.ReadSites(func(r *store.Site) { rows[r.ID] = *r })
	s.warnAll(bad)
	s.sites.load(rows, func(x *Site) uint32 { return x.ID })
	return err
}
