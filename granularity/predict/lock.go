package predict

import "stackagent/internal/units"

// Lock says that units waited for one another for so long, all together. If it is not known of each unit, all
// waited for the same share of what they waited for anything. The units of the pool are copied.
func (p *Pool) Lock(waited units.Ns) {
	var rest, known units.Ns
	for i := range p.Units {
		rest += p.Units[i].rest()
		known += p.Units[i].Locked
	}
	if known > 0 || rest <= 0 {
		return
	}
	share := min(1, float64(waited)/float64(rest))
	list := make([]Unit, len(p.Units))
	for i := range p.Units {
		list[i] = p.Units[i]
		list[i].Locked = units.Ns(share * float64(list[i].rest()))
	}
	p.Units = list
}
