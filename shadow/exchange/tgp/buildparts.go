package tgp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// describe fills the manifest.
func (b *builder) describe() {
	m, t := &b.w.Manifest, b.in.Trace
	first, last := int64(math.MaxInt64), int64(0)
	for _, i := range b.order {
		first, last = min(first, t.Tasks[i].Entry), max(last, t.Tasks[i].Entry, t.Tasks[i].Exit)
	}
	for _, p := range b.in.Pauses {
		first, last = min(first, p.Start), max(last, p.End)
	}
	if last == 0 {
		first = 0
	}
	m.StartNs, m.EndNs, m.Ended = units.MonoNs(first), units.MonoNs(last), store.EndedExit
	m.JVM.Name = recordedByTgp
	m.Extra = store.NewExtra([]wire.Extra{{Name: b.in.Metric, How: recordedByTgp}})
	m.Metrics = []string{"wall", b.in.Metric}
	m.NotAvailable = map[string]string{
		"cpu":   "a trace of tgp has no CPU times",
		"threw": "a trace of tgp does not record which executions ended by an exception",
		"queue": "a trace of tgp names the executor, but not when and where a task was submitted",
	}
	m.Recording = identify(t)
	m.Produced.Executions = uint64(len(b.order))
	m.Notes = append(m.Notes, b.notes...)
}

// identifiedBy is how many rows of a trace tell it from others: they have times in nanoseconds.
const identifiedBy = 10_000

// identify is the checksum of how a trace begins; "" for one without rows.
func identify(t *Trace) string {
	if len(t.Tasks) == 0 {
		return ""
	}
	h := sha256.New()
	binary.Write(h, binary.BigEndian, int64(len(t.Tasks))) // neither a hash nor rows of fixed size make it fail
	binary.Write(h, binary.BigEndian, t.Tasks[:min(len(t.Tasks), identifiedBy)])
	return hex.EncodeToString(h.Sum(nil))
}

// write commits the parts: the small tables with the first.
func (b *builder) write() error {
	p := b.part(b.small())
	b.creations(p)
	seen := make(map[int64]bool, len(b.order))
	seq := uint64(1)
	p.Range = store.Range{From: seq, To: seq}
	for _, i := range b.order {
		id := b.in.Trace.Tasks[i].ID
		p.Executions = append(p.Executions, b.execution(i, !seen[id]))
		total, nested := b.granularity(i)
		p.ExecutionWork.Total[0] = append(p.ExecutionWork.Total[0], total)
		p.ExecutionWork.Nested[0] = append(p.ExecutionWork.Nested[0], nested)
		seen[id] = true
		if len(p.Executions) == partRows {
			if err := b.w.Commit(p); err != nil {
				return err
			}
			seq++
			p = b.part(&store.Part{Range: store.Range{From: seq, To: seq}})
		}
	}
	return b.w.Commit(p)
}

// part adds the column of granularities to p.
func (b *builder) part(p *store.Part) *store.Part {
	for _, x := range b.w.Manifest.Extra {
		p.Extra = append(p.Extra, x.Column)
	}
	p.ExecutionWork = wire.Work{Total: make([][]int64, 1), Nested: make([][]int64, 1)}
	return p
}

// granularity returns the granularity of row i with its nested executions, and that of
// the nested ones alone.
func (b *builder) granularity(i int32) (total, nested int64) {
	g, n := b.in.Trace.Tasks[i].Granularity, b.nestedG[i]
	if g == None || n == None {
		return int64(units.NotMeasured), int64(units.NotMeasured)
	}
	return g + n, n
}

// small builds the tables of names and pauses.
func (b *builder) small() *store.Part {
	p := &store.Part{}
	for i, kinds := range b.kinds() {
		p.Classes = append(p.Classes, store.Class{ID: uint32(i) + 1, Name: b.in.Trace.Classes[i], Kinds: kinds.String()})
	}
	for i, t := range b.in.Trace.Threads {
		p.Threads = append(p.Threads, store.Thread{ID: uint32(i) + 1, JavaID: t.ID, Name: t.Name, Class: t.Class})
	}
	ids := b.executorIDs()
	for i, x := range b.in.Trace.Executors {
		p.Executors = append(p.Executors, store.Executor{ID: ids[i], Class: x.Class})
	}
	b.submissions(p, ids)
	for _, x := range b.in.Pauses {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: x.Start, EndNs: x.End})
	}
	return p
}

// executorIDs keeps the numbers of the trace where possible.
func (b *builder) executorIDs() []uint32 {
	ids, taken, next := make([]uint32, len(b.in.Trace.Executors)), map[uint32]bool{}, uint32(math.MaxUint32)
	for i, x := range b.in.Trace.Executors {
		if id := uint32(x.ID); x.ID > 0 && int64(id) == x.ID && !taken[id] {
			ids[i], taken[id] = id, true
		}
	}
	for i := range ids {
		for ids[i] == 0 {
			if !taken[next] {
				ids[i], taken[next] = next, true
			}
			next--
		}
	}
	return ids
}

// submissions adds a submission for each task that names an executor. A trace does not
// record when and by which thread.
func (b *builder) submissions(p *store.Part, executors []uint32) {
	type hand struct {
		task     int64
		executor int32
	}
	done := map[hand]bool{}
	for i := range b.in.Trace.Tasks {
		t := &b.in.Trace.Tasks[i]
		if h := (hand{t.ID, t.Executor}); t.Executor != None && !done[h] {
			done[h] = true
			p.Submissions = append(p.Submissions, store.Submission{TaskID: taskID(t.ID), Class: uint32(t.Class) + 1, Executor: executors[t.Executor]})
		}
	}
	if n := uint64(len(p.Submissions)); n > 0 {
		b.w.Manifest.Submissions = &store.RecordAccount{Produced: n}
	}
}

// creations adds a creation for each task with a known creator. A trace does not record
// when.
func (b *builder) creations(p *store.Part) {
	made := map[int64]bool{}
	for i := range b.in.Trace.Tasks {
		t := &b.in.Trace.Tasks[i]
		if t.Creator == None || made[t.ID] {
			continue
		}
		made[t.ID] = true
		p.Creations = append(p.Creations, store.Creation{TaskID: taskID(t.ID), Class: uint32(t.Class) + 1, Thread: uint32(t.Creator) + 1})
	}
	b.w.Manifest.Produced.Creations = uint64(len(p.Creations))
}
