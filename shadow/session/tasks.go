package session

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// ErrTooManyTasks is returned for a session that is too large to be joined.
var ErrTooManyTasks = errors.New("more tasks than can be joined in memory; read the Parquet parts with a database")

// creation is what the join keeps of a construction.
type creation struct {
	id     uint64
	at     units.MonoNs
	class  uint32
	thread uint32
}

// maxReserved bounds the creations for which room is made in advance.
const maxReserved = 64 << 20

// page describes 64 consecutive task ids: about 4.6 bytes a task where ids are
// given out in sequence.
type page struct {
	made            [64]uint32  // index in creations + 1; 0: creation not seen or failed
	executed, again uint64      // executed at least once, at least twice
	around          uint64      // had an execution nested in it
	submitted       *[64]uint32 // index of the first in submissions + 1; nil: none of them
}

// join holds what is known of all tasks while the executions stream by: per
// task a creation (24 bytes) and an entry in a page.
type join struct {
	s         *Session
	creations []creation
	pages     map[uint64]*page
	key       uint64
	page      *page
	withdrawn *idSet
	repeats   []repeat // executions of tasks executed more than once, by task and start
	taken     []bool   // of repeats: numbered already

	sites       []uint32   // of creations; nil: none is known
	inits       []units.Ns // of creations; nil: none was measured
	submissions []submission
	undecided   map[uint32]uint64 // tasks by class
	summarised  map[uint32]bool   // classes
	row         Submission        // of the row, used again
	fates       fates
	fatesOnly   bool // no rows of executions
}

func newJoin(s *Session) *join {
	return &join{s: s, pages: map[uint64]*page{}, withdrawn: newIDSet(), undecided: map[uint32]uint64{}, summarised: map[uint32]bool{}}
}

// repeat is an execution of a task that has several.
type repeat struct {
	id    uint64
	start units.MonoNs
}

func (j *join) at(id uint64, create bool) *page {
	key := id >> 6
	if j.page != nil && j.key == key {
		return j.page
	}
	p := j.pages[key]
	if p == nil {
		if !create {
			return nil
		}
		p = new(page)
		j.pages[key] = p
	}
	j.key, j.page = key, p
	return p
}

// Tasks calls f for every row of the raw trace: first all executions, in the
// order of Executions, each with its task's creation and its number among the
// task's executions (1, 2, ... by start); then the tasks that were created but
// never executed, in the order of Creations. A task whose construction failed
// or was withdrawn has no row of the second kind. The row is used again: copy what is kept.
// Memory: about 30 bytes a task, 40 more for each submission.
//
// Where first executions of a class are in summaries, it is not known which
// of its recorded creations were never executed; they have no row.
func (s *Session) Tasks(f func(*Task) error) error {
	_, err := s.EachTask(f)
	return err
}

// EachTask is Tasks; undecided is how many created tasks have no row since it is
// not known whether they were executed, by class.
func (s *Session) EachTask(f func(*Task) error) (undecided map[uint32]uint64, err error) {
	j := newJoin(s)
	err = j.run(f)
	return j.undecided, err
}

func (j *join) run(f func(*Task) error) error {
	s := j.s
	// Growing would hold the creations twice; the bound is against footers that lie.
	j.creations = make([]creation, 0, min(s.Manifest.Stored.Creations, maxReserved))
	for _, read := range []func() error{
		func() error { return s.Creations(j.addCreations) }, func() error { return s.Constructions(j.addConstructions) },
		j.readSubmissions, j.readFates, j.readSummaries,
	} {
		if err := read(); err != nil {
			return err
		}
	}
	again := false
	err := s.Executions(func(c *Chunk) error {
		for i, id := range c.TaskID {
			if outer := c.OuterTaskID[i]; outer != 0 {
				j.at(outer, true).around |= 1 << (outer & 63)
			}
			p, bit := j.at(id, true), uint64(1)<<(id&63)
			p.again |= p.executed & bit
			again = again || p.executed&bit != 0
			p.executed |= bit
		}
		return nil
	})
	if err != nil {
		return err
	}
	if j.fatesOnly {
		return j.emitNeverExecuted(f)
	}
	if again {
		if err := j.findRepeats(); err != nil {
			return err
		}
	}
	if err := j.emitExecutions(f); err != nil {
		return err
	}
	return j.emitNeverExecuted(f)
}

func (j *join) addCreations(c *CreationChunk) error {
	if len(j.creations)+c.Len() > math.MaxInt32 {
		return ErrTooManyTasks
	}
	for i, id := range c.TaskID {
		p := j.at(id, true)
		flags := wire.CreationFlags(c.Flags[i])
		if flags&wire.Withdrawn != 0 {
			j.withdrawn.add(id)
		}
		if flags&(wire.Failed|wire.Withdrawn) != 0 || j.withdrawn.has(id) {
			p.made[id&63] = 0
			continue
		}
		j.creations = append(j.creations, creation{id: id, at: c.AtNs[i], class: c.Class[i], thread: c.Thread[i]})
		p.made[id&63] = uint32(len(j.creations))
		if c.Site[i] != 0 && j.sites == nil {
			j.sites = make([]uint32, len(j.creations)-1, cap(j.creations))
		}
		if j.sites != nil {
			j.sites = append(j.sites, c.Site[i])
		}
	}
	return nil
}

func (j *join) findRepeats() error {
	err := j.s.Executions(func(c *Chunk) error {
		for i, id := range c.TaskID {
			if j.at(id, true).again&(1<<(id&63)) != 0 {
				j.repeats = append(j.repeats, repeat{id, c.StartNs[i]})
			}
		}
		return nil
	})
	slices.SortFunc(j.repeats, compareRepeats)
	j.taken = make([]bool, len(j.repeats))
	return err
}

func compareRepeats(a, b repeat) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.start, b.start))
}

// ordinal numbers an execution of a task that has several.
func (j *join) ordinal(id uint64, start units.MonoNs) int32 {
	first, _ := slices.BinarySearchFunc(j.repeats, repeat{id, math.MinInt64}, compareRepeats)
	i, _ := slices.BinarySearchFunc(j.repeats, repeat{id, start}, compareRepeats)
	for i < len(j.repeats)-1 && j.taken[i] && j.repeats[i+1] == j.repeats[i] { // started in the same nanosecond
		i++
	}
	if i < len(j.taken) {
		j.taken[i] = true
	}
	return int32(i-first) + 1
}

func (j *join) emitExecutions(f func(*Task) error) error {
	var t Task
	return j.s.Executions(func(c *Chunk) error {
		for i := range c.TaskID {
			j.execution(&t, c, i)
			if err := f(&t); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j *join) execution(t *Task, c *Chunk, i int) {
	id, flags := c.TaskID[i], wire.ExecutionFlags(c.Flags[i])
	*t = Task{
		TaskID: id, Class: j.s.classOf(c.Class[i]), Execution: 1, OuterTaskID: c.OuterTaskID[i],
		StartNs: c.StartNs[i], EndNs: c.EndNs[i], Thread: j.s.ThreadByID(c.Thread[i]),
		WallNs: c.WallNs[i], CPUNs: c.CPUNs[i], SelfWallNs: c.SelfWallNs[i], SelfCPUNs: c.SelfCPUNs[i],
		Threw: flags&wire.Threw != 0, Running: flags&wire.Running != 0, Cut: flags&wire.Cut != 0, CPUEstimated: flags&wire.CPUEstimated != 0,
		State: Executed, InitNs: units.NotMeasured, QueueNs: c.QueueNs[i], DelayNs: c.DelayNs[i], Extra: t.Extra[:0], SelfExtra: t.SelfExtra[:0],
	}
	if t.Running {
		t.State = StillRunning
	}
	for k := range c.Extra {
		t.Extra, t.SelfExtra = append(t.Extra, c.Extra[k][i]), append(t.SelfExtra, c.SelfExtra[k][i])
	}
	p := j.at(id, true)
	if m := p.made[id&63]; m != 0 {
		j.created(t, int(m-1))
	}
	j.submitted(t, p)
	if p.again&(1<<(id&63)) != 0 {
		t.Execution = j.ordinal(id, t.StartNs)
	}
}

func (j *join) emitNeverExecuted(f func(*Task) error) error {
	j.findHolders()
	var t Task
	for i := range j.creations {
		c := &j.creations[i]
		p := j.at(c.id, true)
		if p.executed&(1<<(c.id&63)) != 0 || p.made[c.id&63] != uint32(i+1) {
			continue
		}
		if j.summarised[c.class] {
			j.undecided[c.class]++
			continue
		}
		t = Task{
			TaskID: c.id, Class: j.s.classOf(c.class), State: NeverExecuted,
			WallNs: units.NotMeasured, CPUNs: units.NotMeasured,
			SelfWallNs: units.NotMeasured, SelfCPUNs: units.NotMeasured,
			InitNs: units.NotMeasured, QueueNs: units.NotMeasured, DelayNs: units.NotMeasured,
		}
		j.created(&t, i)
		j.fate(&t, p, c.class)
		if err := f(&t); err != nil {
			return err
		}
	}
	return nil
}
