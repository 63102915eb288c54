package kernel

import (
	"errors"
	"fmt"
	"sync/atomic"

	"stackagent/hpc/kernelprog"
	"stackagent/internal/proc"
)

// faultCounts counts the page faults of one process in the kernel.
type faultCounts struct {
	*programs
	threads *iterator
	slots   []uint64
	state   []uint64
	tables  []uint64
	last    [][slotWords]uint64 // what each slot held at the last reading
}

const (
	slotWords  = slotSize / 8
	entryWords = entrySize / 8
)

func countFaults(pid int) (_ *faultCounts, err error) {
	spec, err := kernelTypes()
	if err != nil {
		return nil, err
	}
	fields, err := findFaultFields(spec)
	if err != nil {
		return nil, &kernelprog.UnavailableError{What: "eBPF", Reason: err.Error(), Remedy: "use a newer kernel", Err: err}
	}
	p, err := load(faultCollection(fields, pid, int64(proc.Now())))
	if err != nil {
		return nil, err
	}
	c := &faultCounts{programs: p}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	for name, into := range map[string]*[]uint64{mapSlots: &c.slots, mapState: &c.state, mapTables: &c.tables} {
		if *into, err = p.memory(name); err != nil {
			return nil, err
		}
	}
	atomic.StoreUint64(&c.state[stateNext/8], 1) // slot 0 is for threads without one
	c.setRegions(nil)
	// What frees a slot is attached before what takes one.
	if err := p.attach(programEnd, programUser, programKernel); err != nil {
		return nil, err
	}
	if c.threads, err = iterate(p.collection.Programs[programRead], pid); err != nil {
		return nil, kernelprog.Explain(err)
	}
	return c, c.threads.run() // from here on threads have a base
}

func (c *faultCounts) close() error {
	var err error
	if c.threads != nil {
		err = c.threads.close()
	}
	return errors.Join(err, c.programs.close())
}

// setRegions replaces the table of regions: entries in the order of addresses, at most nEntries.
func (c *faultCounts) setRegions(all []addresses) {
	other := 1 - atomic.LoadUint64(&c.state[stateTable/8])
	table := c.tables[other*nEntries*entryWords:][:nEntries*entryWords]
	for n := range nEntries {
		e := addresses{from: noEntry}
		if n < len(all) {
			e = all[n]
		}
		at := table[n*entryWords:]
		atomic.StoreUint64(&at[entryFrom/8], e.from)
		atomic.StoreUint64(&at[entryTo/8], e.to)
		atomic.StoreUint64(&at[entryRegion/8], uint64(e.region))
	}
	atomic.StoreUint64(&c.state[stateTable/8], other)
}

// faultGrowth is what has been counted since the last reading.
type faultGrowth struct {
	thread       int32 // 0: threads that could not be told apart
	ended        bool
	minor, major [regions]int64
}

// each passes on the threads with new faults, and those that have ended. It frees the slots of the latter.
func (c *faultCounts) each(use func(*faultGrowth)) error {
	if err := c.threads.run(); err != nil {
		return err
	}
	used := int(min(atomic.LoadUint64(&c.state[stateNext/8]), nSlots))
	for len(c.last) < used {
		c.last = append(c.last, [slotWords]uint64{})
	}
	var g faultGrowth
	for n := range used {
		slot, last := c.slots[n*slotWords:(n+1)*slotWords], &c.last[n]
		head := atomic.LoadUint64(&slot[0]) // before the counts: nothing is counted after the end
		if head == last[0] && atomic.LoadUint64(&slot[slotSeenMin/8]) == last[slotSeenMin/8] && atomic.LoadUint64(&slot[slotSeenMaj/8]) == last[slotSeenMaj/8] {
			continue
		}
		g.thread, g.ended = int32(head), head>>32 != 0
		last[0] = head
		for _, seen := range []int{slotSeenMin / 8, slotSeenMaj / 8} {
			last[seen] = atomic.LoadUint64(&slot[seen])
		}
		for r := range regions {
			g.minor[r] = grown(slot, last, slotMinor/8+int(r))
			g.major[r] = grown(slot, last, int(slotMajor/8)+int(r))
		}
		use(&g)
		if g.ended {
			if err := c.free(uint32(n), slot, last); err != nil {
				return err
			}
		}
	}
	return nil
}

func grown(slot []uint64, last *[slotWords]uint64, word int) int64 {
	now := atomic.LoadUint64(&slot[word])
	by := int64(now - last[word])
	last[word] = now
	return by
}

func (c *faultCounts) free(n uint32, slot []uint64, last *[slotWords]uint64) error {
	*last = [slotWords]uint64{}
	for i := range slot {
		atomic.StoreUint64(&slot[i], 0)
	}
	if err := c.collection.Maps[mapFree].Update(nil, n, 0); err != nil {
		return fmt.Errorf("reusing the counts of an ended thread: %w", err)
	}
	return nil
}
