package live

import (
	"slices"
	"time"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

const (
	comesBack = units.Ns(60 * second) // a finding that comes back so soon after its end has not ended
	mostPast  = 32
)

// findings are those of a JVM.
type findings struct {
	hold []Held // as the last look has them, largest first
	past []Held // that have ended, the last one first
	at   time.Time
	to   units.Ns // what was looked at last
	last look
}

// update takes what a look found. A finding began after the look before, and ended with the last look that had it.
func (f *findings) update(x *look) {
	f.last = *x
	if x.to == 0 || x.to == f.to { // nothing new was read
		return
	}
	before := f.hold
	f.hold = nil
	for i := range x.findings {
		h := Held{Finding: x.findings[i], SinceNs: float64(max(f.to, x.from))}
		for _, list := range []*[]Held{&before, &f.past} {
			k := slices.IndexFunc(*list, func(o Held) bool {
				return same(&o, &h) && (o.EndNs == nil || float64(x.to)-*o.EndNs <= float64(comesBack))
			})
			if k >= 0 {
				h.SinceNs = (*list)[k].SinceNs
				*list = slices.Delete(*list, k, k+1)
			}
		}
		f.hold = append(f.hold, h)
	}
	for i := range before {
		end := float64(f.to)
		before[i].EndNs = &end
	}
	f.past = append(before, f.past...)
	f.past = f.past[:min(len(f.past), mostPast)]
	f.to = x.to
}

// same reports whether two are the same finding, whatever their figures.
func same(x, y *Held) bool { return key(&x.Finding) == key(&y.Finding) }

func key(f *advice.Finding) [3]string { return [3]string{f.Rule, f.Class, f.Executor} }
