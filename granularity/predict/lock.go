package predict

import "stackagent/internal/units"

// Lock says that units waited for one another for so long, all together. If it is not known of each unit, all
// waited for the same share of what they waited for anything. The units of the pool are copied. busy is the time in which any
// of them waited, 0: not known. All that time the lock was taken, so that it let as many through as ended then.
func (p *Pool) Lock(waited, busy units.Ns) {
	defer p.permits(busy)
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

// permits sets how many units can have the lock at a time, and for which part of their time they have it. If
// busy is not known it is one, for all of their time.
func (p *Pool) permits(busy units.Ns) {
	var all units.Ns
	for i := range p.Units {
		all += p.Units[i].CPU + p.Units[i].rest()
	}
	p.Permits, p.Holds = 1, 1
	if busy > 0 && all > busy {
		p.Permits = int((all + busy - 1) / busy)
		p.Holds = float64(busy) * float64(p.Permits) / float64(all)
	}
}
