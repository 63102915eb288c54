package session

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// SiteSum counts what summaries hold of the tasks of a class by the call site where
// it happened.
type SiteSum struct {
	Class uint32
	Kind  wire.SiteKind
	Site  uint32 // SiteByID, 0: not known
	Count uint64
}

// SiteSums sums up over all threads what summaries hold by call site, ascending by
// class, kind and site. Sessions of older agents have none.
func (s *Session) SiteSums() ([]SiteSum, error) {
	sums := map[SiteSum]uint64{}
	bad, err := s.folder.ReadSiteSums(func(r *store.SiteSum) {
		if kind, ok := r.KindNumber(); ok {
			k := SiteSum{Class: r.Class, Kind: kind, Site: r.Site}
			sums[k] = plus(sums[k], r.Count)
		}
	})
	s.warnAll(bad)
	if err != nil {
		return nil, fmt.Errorf("reading the call sites of summarised tasks of session %s: %w", s.Manifest.Session, err)
	}
	out := make([]SiteSum, 0, len(sums))
	for k, n := range sums {
		k.Count = n
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b SiteSum) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Site, b.Site))
	})
	return out, nil
}
