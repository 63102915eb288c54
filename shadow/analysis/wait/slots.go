package wait

import (
	"stackagent/granularity"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// slots has the times of units by class and slot.
type slots struct {
	grid    granularity.Grid // N 0: not wanted
	byClass map[uint32][]waiting.Times
}

// AnalyseOver is Analyse, for BySlot, too.
func AnalyseOver(s *session.Session, slots granularity.Grid) (*Analysis, error) {
	return analyse(s, false, slots)
}

func (s *slots) of(class uint32) []waiting.Times {
	list := s.byClass[class]
	if list == nil {
		list = make([]waiting.Times, s.grid.N)
		s.byClass[class] = list
	}
	return list
}

// add adds the times of a unit.
func (s *slots) add(class uint32, end units.MonoNs, t *waiting.Times) {
	if s.grid.N > 0 {
		s.of(class)[s.grid.Ended(end)].Add(t)
	}
}

// spread adds the times of units that ended at moments that are not known.
func (s *slots) spread(class uint32, from, to units.MonoNs, t *waiting.Times) {
	if s.grid.N == 0 {
		return
	}
	list, weights := s.of(class), s.grid.Weights(from, to)
	for part, n := range t {
		for slot, d := range granularity.Divide(int64(n), weights) {
			list[slot][part] += units.Ns(d)
		}
	}
}

// know divides among the slots what has been learned of the times of a class since before. In which slot a wait was that has no
// record of its own is not known: each slot gets its share.
func (s *slots) know(class uint32, before, after *waiting.Times) {
	if s.grid.N == 0 || *before == *after {
		return
	}
	list := s.of(class)
	weights := make([]float64, len(list))
	for part := range before {
		lost := before[part] - after[part]
		if lost <= 0 {
			continue
		}
		own := make([]float64, len(list))
		for slot := range list {
			own[slot] = float64(list[slot][part])
		}
		for slot, d := range granularity.Divide(int64(lost), own) {
			list[slot][part] -= units.Ns(d)
			weights[slot] += float64(d)
		}
	}
	for part := range before {
		if gained := after[part] - before[part]; gained > 0 {
			for slot, d := range granularity.Divide(int64(gained), weights) {
				list[slot][part] += units.Ns(d)
			}
		}
	}
}

// BySlot are the times of the units of a class by slot, as ByUnit has them for the whole session: of the units that ended
// in it. nil: there are none.
func (a *Analysis) BySlot(class string) []waiting.Times {
	id, ok := a.classID[class]
	if !ok {
		return nil
	}
	return a.slots.byClass[id]
}
