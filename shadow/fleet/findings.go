package fleet

import (
	"cmp"
	"slices"

	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/fleet/rollup"
)

// Found is a finding that sessions of a service have: one of the same rule, class and executor. Its sentences are those of
// most of them.
type Found struct {
	advice.Finding
	Service  string
	Sessions int64 // that have it
	Of       int64 // of the service, whose findings are known
}

// Findings groups the findings of sessions.
type Findings struct {
	Select
	found  map[foundKey]map[string]*Found // by sentences
	judged map[string]int64               // by service
}

type foundKey struct{ service, metric, class, executor string }

// NewFindings groups those that are selected.
func NewFindings(s Select) *Findings {
	return &Findings{Select: NewGroups(Class, s).Select, found: map[foundKey]map[string]*Found{}, judged: map[string]int64{}}
}

// Add takes rows that tell classes apart.
func (f *Findings) Add(rows []rollup.Row) error {
	ofAll := f.Select
	ofAll.Class = ""
	for i := range rows {
		r := &rows[i]
		x, ok := rollup.FindingOf(r)
		switch k := (foundKey{r.Service, r.Metric, r.Class, r.Executor}); {
		case r.Metric == rollup.Judged && ofAll.passes(r):
			f.judged[r.Service] += r.Count
		case !ok || !f.passes(r):
		case f.found[k] == nil && len(f.found) >= mostRows:
		default:
			if f.found[k] == nil {
				f.found[k] = map[string]*Found{}
			}
			if f.found[k][r.Site] == nil {
				f.found[k][r.Site] = &Found{Finding: x, Service: r.Service}
			}
			f.found[k][r.Site].Sessions += r.Count
		}
	}
	return nil
}

// List has those that most sessions of a service have first, and cautions before all advice.
func (f *Findings) List() []Found {
	var list []Found
	for k, bySentences := range f.found {
		var most Found
		all := int64(0)
		for _, x := range bySentences {
			all += x.Sessions
			if cmp.Or(cmp.Compare(x.Sessions, most.Sessions), cmp.Compare(most.Title, x.Title)) > 0 {
				most = *x
			}
		}
		most.Sessions, most.Of = all, max(all, f.judged[k.service])
		list = append(list, most)
	}
	share := func(x *Found) float64 { return float64(x.Sessions) / float64(max(1, x.Of)) }
	slices.SortFunc(list, func(x, y Found) int {
		return cmp.Or(-cmp.Compare(x.Kind, y.Kind), cmp.Compare(share(&y), share(&x)), cmp.Compare(y.Sessions, x.Sessions),
			cmp.Compare(x.Service, y.Service), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Executor, y.Executor))
	})
	return list
}
