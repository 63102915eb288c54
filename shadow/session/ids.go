package session

// idSet is a set of task ids. Ids are given out in blocks of consecutive
// numbers, so a page of them is seldom nearly empty.
type idSet struct {
	pages map[uint64]*idPage
	key   uint64
	page  *idPage // that of key; consecutive ids come one after another
}

// idsPerPage is the number of consecutive ids that share a page.
const idsPerPage = 1 << 10

type idPage [idsPerPage / 64]uint64

func newIDSet() *idSet { return &idSet{pages: map[uint64]*idPage{}} }

// at is the word of id and its bit in there; nil without a page.
func (s *idSet) at(id uint64, create bool) (*uint64, uint64) {
	key, bit := id/idsPerPage, uint64(1)<<(id&63)
	if s.page == nil || s.key != key {
		p := s.pages[key]
		if p == nil {
			if !create {
				return nil, 0
			}
			p = new(idPage)
			s.pages[key] = p
		}
		s.key, s.page = key, p
	}
	return &s.page[id%idsPerPage/64], bit
}

// add reports whether id is new.
func (s *idSet) add(id uint64) bool {
	w, bit := s.at(id, true)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	return true
}

func (s *idSet) has(id uint64) bool {
	w, bit := s.at(id, false)
	return w != nil && *w&bit != 0
}

// remove reports whether id was there.
func (s *idSet) remove(id uint64) bool {
	w, bit := s.at(id, false)
	if w == nil || *w&bit == 0 {
		return false
	}
	*w &^= bit
	return true
}

// TaskSet is a set of task ids, a few bits for each where ids are given out in
// sequence. Make it with NewTaskSet; not safe for concurrent use.
type TaskSet struct{ ids *idSet }

// NewTaskSet is an empty set.
func NewTaskSet() *TaskSet { return &TaskSet{newIDSet()} }

// Add puts id in.
func (s *TaskSet) Add(id uint64) { s.ids.add(id) }

// Has reports whether id is in the set.
func (s *TaskSet) Has(id uint64) bool { return s.ids.has(id) }
