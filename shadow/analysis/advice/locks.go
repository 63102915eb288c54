package advice

import "stackagent/internal/units"

// Lock is what units of a pool waited for: locks of one class.
type Lock struct {
	Name   string   // the class
	Waited units.Ns // summed
	Any    units.Ns // during which at least one unit waited
}

// mostWaited is the lock for which the units waited longest; nil: none.
func (p *Pool) mostWaited() *Lock {
	var most *Lock
	for i := range p.Locks {
		if most == nil || p.Locks[i].Waited > most.Waited {
			most = &p.Locks[i]
		}
	}
	return most
}
