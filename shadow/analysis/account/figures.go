package account

import (
	"stackagent/granularity/account"
	"stackagent/internal/units"
)

// Figures are the account of the units of some classes, in numbers. The maps have every state of granularity/account, by its name.
type Figures struct {
	Units        int                `json:"units"`
	ResponseNs   units.Ns           `json:"response_ns"`   // the mean, from when a unit is handed over, or due, to its end
	PartNs       map[string]float64 `json:"part_ns"`       // of it, by what it went to
	PartShare    map[string]float64 `json:"part_share"`    // the same, of the response times
	DependsShare map[string]float64 `json:"depends_share"` // of the response times, by what they depend on in the end
}

// Figures sums up the classes that match; nil: all but bodies of threads. It is nil if there are no units.
func (s *Session) Figures(match func(class string) bool) *Figures {
	f := &Figures{PartNs: map[string]float64{}, PartShare: map[string]float64{}, DependsShare: map[string]float64{}}
	response := units.Ns(0)
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		if shown := &s.Classes[i]; match == nil && shown.Body || match != nil && !match(shown.Name) {
			continue
		}
		f.Units += c.Units
		response += c.Response
		for _, p := range c.Parts {
			f.PartNs[p.State.String()] += float64(p.Ns)
		}
		for k := range c.Chains {
			x := &c.Chains[k]
			f.DependsShare[x.Frames[len(x.Frames)-1].State.String()] += float64(x.N) / float64(max(1, c.Draws)) * float64(c.Response)
		}
	}
	if f.Units == 0 {
		return nil
	}
	f.ResponseNs = response / units.Ns(f.Units)
	for state := range account.NStates {
		name := state.String()
		f.PartShare[name] = f.PartNs[name] / float64(max(1, response))
		f.PartNs[name] /= float64(f.Units)
		f.DependsShare[name] /= float64(max(1, response))
	}
	return f
}
