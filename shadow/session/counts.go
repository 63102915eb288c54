package session

import (
	"cmp"
	"slices"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// ClassCounts are the exact counts of one class.
type ClassCounts struct {
	Class         *Class // nil in the sum over all classes
	Created       uint64 // constructions that succeeded
	Failed        uint64 // constructions that ended by an exception
	Executions    uint64 // executions, running and summarised ones included
	Running       uint64 // executions that had not ended when the program did
	Threw         uint64 // executions that ended by an exception
	Distinct      uint64 // tasks executed at least once
	NeverExecuted uint64 // created and not executed

	first     uint64 // first executions of tasks whose creation was seen
	takenBack uint64 // creations that failed or were withdrawn
}

// Started are the tasks of Created that were executed; of a part of a session, also tasks that were created before.
func (c *ClassCounts) Started() uint64 { return c.first }

func (c *ClassCounts) add(o *ClassCounts) {
	c.Created += o.Created
	c.Failed += o.Failed
	c.Executions += o.Executions
	c.Running += o.Running
	c.Threw += o.Threw
	c.Distinct += o.Distinct
	c.NeverExecuted += o.NeverExecuted
}

// Counts are the exact counts of each class that has any, in the order of class
// ids, and their sum. Where executions say which is a task's first, classes
// and flags are all that is read; of sessions of older agents the task ids are,
// and memory is a few bits a task.
func (s *Session) Counts() ([]ClassCounts, ClassCounts, error) {
	t := &tally{s: s, byID: map[uint32]*ClassCounts{}}
	if err := t.executions(); err != nil {
		return nil, ClassCounts{}, err
	}
	if err := t.summaries(); err != nil {
		return nil, ClassCounts{}, err
	}
	count := t.creationsByID
	if t.marksFirst {
		count = t.creationsByFlags
	}
	if err := count(); err != nil {
		return nil, ClassCounts{}, err
	}
	all, sum := make([]ClassCounts, 0, len(t.byID)), ClassCounts{}
	for _, c := range t.byID {
		all = append(all, *c)
		sum.add(c)
	}
	slices.SortFunc(all, func(a, b ClassCounts) int { return cmp.Compare(a.Class.ID, b.Class.ID) })
	return all, sum, nil
}

// tally is the state of a count.
type tally struct {
	s          *Session
	byID       map[uint32]*ClassCounts
	marksFirst bool // executions say which is their task's first
}

func (t *tally) of(id uint32) *ClassCounts {
	c := t.byID[id]
	if c == nil {
		c = &ClassCounts{Class: t.s.classOf(id)}
		t.byID[id] = c
	}
	return c
}

// byFlags counts the rows of each class by their flags.
type byFlags map[uint32]*[knownFlags]uint64

// knownFlags covers the flags of both tables.
const knownFlags = 2 * uint16(wire.First)

func (b byFlags) add(class []uint32, flags []uint16) {
	var counts *[knownFlags]uint64
	last := uint32(0)
	for i, id := range class {
		if counts == nil || id != last {
			last, counts = id, b[id]
			if counts == nil {
				counts = new([knownFlags]uint64)
				b[id] = counts
			}
		}
		counts[flags[i]%knownFlags]++
	}
}

// addSums adds the counts of a part.
func (b byFlags) addSums(x *store.Sums) {
	for i := range x.Classes {
		c := &x.Classes[i]
		if b[c.Class] == nil {
			b[c.Class] = new([knownFlags]uint64)
		}
		for _, f := range c.Flags {
			b[c.Class][f.Flags%knownFlags] += f.Count
		}
	}
}

// countFlags counts rows on all workers, those of some parts by their sums.
func countFlags(scan func(sums func(int, *store.Sums) error, rows func(int, []uint32, []uint16)) error) ([]byFlags, error) {
	counts := make([]byFlags, Workers())
	of := func(worker int) byFlags {
		if counts[worker] == nil {
			counts[worker] = byFlags{}
		}
		return counts[worker]
	}
	err := scan(func(worker int, x *store.Sums) error {
		of(worker).addSums(x)
		return nil
	}, func(worker int, class []uint32, flags []uint16) { of(worker).add(class, flags) })
	return counts, err
}

// each calls f with the counts that are not zero.
func (b byFlags) each(f func(class uint32, flags uint16, n uint64)) {
	for class, counts := range b {
		for flags, n := range counts {
			if n > 0 {
				f(class, uint16(flags), n)
			}
		}
	}
}

// executions counts the recorded executions.
func (t *tally) executions() error {
	counts, err := countFlags(func(sums func(int, *store.Sums) error, rows func(int, []uint32, []uint16)) error {
		return t.s.SumExecutions(store.ExecutionClass|store.ExecutionFlags, sums, func(worker int, c *Chunk) error {
			rows(worker, c.Class, c.Flags)
			return nil
		})
	})
	for _, b := range counts {
		b.each(func(class uint32, flags uint16, n uint64) {
			t.of(class).executed(wire.ExecutionFlags(flags), n)
			t.marksFirst = t.marksFirst || wire.ExecutionFlags(flags)&wire.First != 0
		})
	}
	return err
}

// executed counts n executions with these flags.
func (c *ClassCounts) executed(flags wire.ExecutionFlags, n uint64) {
	c.Executions += n
	if flags&wire.Running != 0 {
		c.Running += n
	}
	if flags&wire.Threw != 0 {
		c.Threw += n
	}
	if flags&wire.First != 0 {
		c.Distinct += n
		if flags&wire.CreationUnseen == 0 {
			c.first += n
		}
	}
}

// creationsByFlags counts the constructions of a session whose executions say
// which is the first of a task whose creation was seen.
func (t *tally) creationsByFlags() error {
	counts, err := countFlags(func(sums func(int, *store.Sums) error, rows func(int, []uint32, []uint16)) error {
		return t.s.sumCreations(store.CreationClass|store.CreationFlags, sums, func(worker int, c *CreationChunk) error {
			rows(worker, c.Class, c.Flags)
			return nil
		})
	})
	if err != nil {
		return err
	}
	withdrawals := false
	for _, b := range counts {
		b.each(func(class uint32, flags uint16, n uint64) {
			switch f := wire.CreationFlags(flags); {
			case f&wire.Withdrawn != 0:
				withdrawals = true
			case f&wire.Failed != 0:
				t.of(class).Failed += n
				t.of(class).takenBack += n
			default:
				t.of(class).Created += n
			}
		})
	}
	if withdrawals {
		if err := t.withdraw(func(c *ClassCounts, _ uint64) { c.takenBack++ }); err != nil {
			return err
		}
	}
	for _, c := range t.byID {
		// What was lost can leave one without the other.
		c.Created -= min(c.Created, c.takenBack)
		c.NeverExecuted = c.Created - min(c.Created, c.first)
	}
	return nil
}

// withdraw calls take for each recorded creation that was withdrawn. A
// withdrawal does not say the class and may be read before what it withdraws.
func (t *tally) withdraw(take func(c *ClassCounts, id uint64)) error {
	const columns = store.CreationTaskID | store.CreationClass | store.CreationFlags
	withdrawn := newIDSet()
	err := t.s.scanCreations(columns, 1, func(_ int, c *CreationChunk) error {
		for i, flags := range c.Flags {
			if wire.CreationFlags(flags)&wire.Withdrawn != 0 {
				withdrawn.add(c.TaskID[i])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.s.scanCreations(columns, 1, func(_ int, c *CreationChunk) error {
		for i, id := range c.TaskID {
			if c.Flags[i] == 0 && withdrawn.remove(id) {
				take(t.of(c.Class[i]), id)
			}
		}
		return nil
	})
}

// creationsByID counts the constructions of a session whose executions do not
// say which is their task's first: by the ids of the tasks.
func (t *tally) creationsByID() error {
	executed, created := newIDSet(), newIDSet()
	err := t.s.scanExecutions(store.ExecutionTaskID|store.ExecutionClass, 1, func(_ int, c *Chunk) error {
		for i, id := range c.TaskID {
			if executed.add(id) {
				t.of(c.Class[i]).Distinct++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	withdrawals := false
	err = t.s.scanCreations(store.CreationTaskID|store.CreationClass|store.CreationFlags, 1, func(_ int, c *CreationChunk) error {
		for i, id := range c.TaskID {
			flags := wire.CreationFlags(c.Flags[i])
			if flags&wire.Withdrawn != 0 {
				withdrawals = true
				continue
			}
			countCreation(t.of(c.Class[i]), id, flags&wire.Failed != 0, created, executed)
		}
		return nil
	})
	if err != nil || !withdrawals {
		return err
	}
	return t.withdraw(func(c *ClassCounts, id uint64) {
		if created.remove(id) {
			c.uncreate(executed.has(id))
		}
	})
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

// summaries counts what came too fast to be recorded one by one. Agents that
// summarise also say which execution is the first of its task.
func (t *tally) summaries() error {
	return t.s.Summaries(func(x *Summary) error {
		c := t.of(x.Class)
		c.Executions += x.Executions
		c.Threw += x.Threw
		c.Distinct += x.First
		c.first += x.First
		c.Created += x.Creations
		c.Failed += x.Failed
		c.takenBack += x.Failed + x.Withdrawn
		t.marksFirst = true
		return nil
	})
}
