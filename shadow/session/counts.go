package session

import (
	"cmp"
	"slices"

	"stackagent/internal/wire"
)

// ClassCounts are the exact counts of one class.
type ClassCounts struct {
	Class         *Class // nil in the sum over all classes
	Created       uint64 // constructions that succeeded
	Failed        uint64 // constructions that ended by an exception
	Executions    uint64 // executions recorded, running ones included
	Running       uint64 // executions that had not ended when the program did
	Threw         uint64 // executions that ended by an exception
	Distinct      uint64 // tasks executed at least once
	NeverExecuted uint64 // created and not executed
}

func (c *ClassCounts) add(o *ClassCounts) {
	c.Created += o.Created
	c.Failed += o.Failed
	c.Executions += o.Executions
	c.Running += o.Running
	c.Threw += o.Threw
	c.Distinct += o.Distinct
	c.NeverExecuted += o.NeverExecuted
}

// idSet is a set of task ids. Ids are given out in blocks of consecutive
// numbers, so 64 of them share a word.
type idSet struct {
	words map[uint64]*uint64
	key   uint64
	word  *uint64 // that of key; consecutive ids come one after another
}

func newIDSet() *idSet { return &idSet{words: map[uint64]*uint64{}} }

func (s *idSet) at(id uint64, create bool) *uint64 {
	key := id >> 6
	if s.word != nil && s.key == key {
		return s.word
	}
	w := s.words[key]
	if w == nil {
		if !create {
			return nil
		}
		w = new(uint64)
		s.words[key] = w
	}
	s.key, s.word = key, w
	return w
}

// add tells whether id is new.
func (s *idSet) add(id uint64) bool {
	w, bit := s.at(id, true), uint64(1)<<(id&63)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	return true
}

func (s *idSet) has(id uint64) bool {
	w := s.at(id, false)
	return w != nil && *w&(1<<(id&63)) != 0
}

func (s *idSet) remove(id uint64) bool {
	if !s.has(id) {
		return false
	}
	*s.at(id, false) &^= 1 << (id & 63)
	return true
}

// Counts are the exact counts of each class that has any, in the order of class
// ids, and their sum. Both big tables are read; memory is a few bits a task.
func (s *Session) Counts() ([]ClassCounts, ClassCounts, error) {
	byID := map[uint32]*ClassCounts{}
	of := func(id uint32) *ClassCounts {
		c := byID[id]
		if c == nil {
			c = &ClassCounts{Class: s.classOf(id)}
			byID[id] = c
		}
		return c
	}
	executed := newIDSet()
	err := s.Executions(func(c *Chunk) error {
		for i, id := range c.TaskID {
			countExecution(of(c.Class[i]), wire.ExecutionFlags(c.Flags[i]), executed.add(id))
		}
		return nil
	})
	if err != nil {
		return nil, ClassCounts{}, err
	}
	if err := s.countCreations(of, executed); err != nil {
		return nil, ClassCounts{}, err
	}
	all, sum := make([]ClassCounts, 0, len(byID)), ClassCounts{}
	for _, c := range byID {
		all = append(all, *c)
		sum.add(c)
	}
	slices.SortFunc(all, func(a, b ClassCounts) int { return cmp.Compare(a.Class.ID, b.Class.ID) })
	return all, sum, nil
}

// countCreations counts the constructions. A withdrawal does not say the class
// and may be read before what it withdraws: withdrawn ones are taken out after.
func (s *Session) countCreations(of func(uint32) *ClassCounts, executed *idSet) error {
	created, withdrawn := newIDSet(), newIDSet()
	err := s.Creations(func(c *CreationChunk) error {
		for i, id := range c.TaskID {
			flags := wire.CreationFlags(c.Flags[i])
			if flags&wire.Withdrawn != 0 {
				withdrawn.add(id)
				continue
			}
			countCreation(of(c.Class[i]), id, flags&wire.Failed != 0, created, executed)
		}
		return nil
	})
	if err != nil || len(withdrawn.words) == 0 {
		return err
	}
	return s.Creations(func(c *CreationChunk) error {
		for i, id := range c.TaskID {
			if c.Flags[i] == 0 && withdrawn.has(id) && created.remove(id) {
				of(c.Class[i]).uncreate(executed.has(id))
			}
		}
		return nil
	})
}

func countExecution(n *ClassCounts, flags wire.ExecutionFlags, first bool) {
	n.Executions++
	if first {
		n.Distinct++
	}
	if flags&wire.Running != 0 {
		n.Running++
	}
	if flags&wire.Threw != 0 {
		n.Threw++
	}
}

// countCreation counts a construction; the record of a failed one cancels the
// record that its beginning made.
func countCreation(n *ClassCounts, id uint64, failed bool, created, executed *idSet) {
	if !failed {
		if created.add(id) {
			n.Created++
			if !executed.has(id) {
				n.NeverExecuted++
			}
		}
		return
	}
	n.Failed++
	if created.remove(id) {
		n.uncreate(executed.has(id))
	}
}

// uncreate takes back a creation that was counted.
func (c *ClassCounts) uncreate(executed bool) {
	c.Created--
	if !executed {
		c.NeverExecuted--
	}
}
