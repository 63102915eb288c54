package tgp

import (
	"math"

	"stackagent/granularity/tgp"
	"stackagent/internal/units"
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
	m.JVM.Name = "recorded by tgp"
	m.Metrics = []string{"wall"}
	m.NotAvailable = map[string]string{
		"cpu":         "a trace of tgp has no CPU times",
		"submissions": "a trace of tgp names the executor, but not when and where a task was submitted",
	}
	m.Produced.Executions = uint64(len(b.order))
	m.Notes = append(m.Notes, b.notes...)
}

// write commits the parts: the small tables with the first.
func (b *builder) write() error {
	p := b.small()
	b.creations(p)
	seen := make(map[int64]bool, len(b.order))
	seq := uint64(1)
	p.Range = store.Range{From: seq, To: seq}
	for _, i := range b.order {
		id := b.in.Trace.Tasks[i].ID
		p.Executions = append(p.Executions, b.execution(i, !seen[id]))
		seen[id] = true
		if len(p.Executions) == partRows {
			if err := b.w.Commit(p); err != nil {
				return err
			}
			seq++
			p = &store.Part{Range: store.Range{From: seq, To: seq}}
		}
	}
	return b.w.Commit(p)
}

// small makes the tables of names and pauses.
func (b *builder) small() *store.Part {
	p := &store.Part{}
	for i, kinds := range b.kinds() {
		p.Classes = append(p.Classes, store.Class{ID: uint32(i) + 1, Name: b.in.Trace.Classes[i], Kinds: kinds.String()})
	}
	for i, t := range b.in.Trace.Threads {
		p.Threads = append(p.Threads, store.Thread{ID: uint32(i) + 1, JavaID: t.ID, Name: t.Name, Class: t.Class})
	}
	for _, x := range b.in.Pauses {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: x.Start, EndNs: x.End})
	}
	return p
}

// creations makes one of each task whose creator is known. When it was created
// is not in a trace.
func (b *builder) creations(p *store.Part) {
	made := map[int64]bool{}
	for i := range b.in.Trace.Tasks {
		t := &b.in.Trace.Tasks[i]
		if t.Creator == tgp.None || made[t.ID] {
			continue
		}
		made[t.ID] = true
		p.Creations = append(p.Creations, store.Creation{TaskID: taskID(t.ID), Class: uint32(t.Class) + 1, Thread: uint32(t.Creator) + 1})
	}
	b.w.Manifest.Produced.Creations = uint64(len(p.Creations))
}
