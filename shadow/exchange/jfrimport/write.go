package jfrimport

import (
	"cmp"
	"encoding/binary"
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// partRows is how many executions or waits a part holds.
const partRows = 512 << 10

// write commits the rows, and then the names.
func (b *builder) write() error {
	b.begin()
	n := nesting{b: b}
	if err := b.rows.each(n.add); err != nil {
		return err
	}
	if err := n.end(); err != nil {
		return err
	}
	b.small()
	return b.w.Commit(b.part)
}

// begin begins the next part.
func (b *builder) begin() {
	b.seq++
	b.part = &store.Part{Range: store.Range{From: b.seq, To: b.seq}}
}

// commit writes a part that is full.
func (b *builder) commit() error {
	if len(b.part.Executions) < partRows && len(b.part.Waits) < partRows && len(b.part.Submissions) < partRows && len(b.part.TaskTraces) < partRows && len(b.part.WaitSums) < partRows {
		return nil
	}
	if err := b.w.Commit(b.part); err != nil {
		return err
	}
	b.begin()
	return nil
}

// nesting finds what encloses what on a thread: rows come in the order of their starts, those that enclose others first.
type nesting struct {
	b      *builder
	thread uint32
	open   []open
	task   uint64 // the latest number
	wait   *row   // the wait that is not written yet, or nil: others may lie inside it
	held   row    // what it points to
	within uint32 // class around it
}

type open struct {
	row
	task      uint64
	nested    int64
	nestedCPU int64
	noCPU     bool // that of one of them is not known
}

func (n *nesting) add(r *row) error {
	if r.thread != n.thread {
		if err := n.end(); err != nil {
			return err
		}
		n.thread = r.thread
	}
	switch r.what {
	case waitRow, ourWaitRow:
		return n.addWait(r)
	case submissionRow:
		return n.addSubmission(r)
	case waitSumRow:
		return n.addWaitSum(r)
	case traceRow:
		return n.addTrace(r)
	}
	if err := n.close(r.start, r.end); err != nil {
		return err
	}
	n.task++
	task := n.task
	if r.task > 0 {
		task = uint64(r.task)
	}
	n.open = append(n.open, open{row: *r, task: task})
	return nil
}

// addSubmission writes a submission, of a recording that we exported.
func (n *nesting) addSubmission(r *row) error {
	n.b.part.Submissions = append(n.b.part.Submissions, store.Submission{
		TaskID: uint64(r.task), Class: r.class, Thread: r.thread, Executor: r.context, Site: r.site, Flags: uint16(r.flags), AtNs: units.MonoNs(r.start),
	})
	return n.b.commit()
}

// addTrace writes the trace of an execution, of a recording that we exported.
func (n *nesting) addTrace(r *row) error {
	be := binary.BigEndian
	trace := store.TraceID(be.AppendUint64(be.AppendUint64(nil, uint64(r.cpu)), uint64(r.queue)))
	span := store.SpanID(be.AppendUint32(be.AppendUint32(nil, r.other), r.holder))
	n.b.part.TaskTraces = append(n.b.part.TaskTraces, store.TaskTrace{TaskID: uint64(r.task), Thread: r.thread, Kind: store.TraceExecution, AtNs: r.start, TraceID: trace.String(), SpanID: span.String()})
	return n.b.commit()
}

// close ends the executions that end before at, and those that do not enclose what ends at to.
func (n *nesting) close(at, to int64) error {
	for len(n.open) > 0 {
		top := &n.open[len(n.open)-1]
		if top.end > at && top.end >= to || top.start == at && top.end == to {
			return nil
		}
		if top.end > at {
			n.b.overlaps++
		}
		if err := n.pop(); err != nil {
			return err
		}
	}
	return nil
}

// pop writes the innermost execution.
func (n *nesting) pop() error {
	top := n.open[len(n.open)-1]
	n.open = n.open[:len(n.open)-1]
	depth := len(n.open)
	e := store.Execution{
		TaskID: top.task, Class: top.class, Thread: top.thread, Depth: uint16(min(depth, 1<<16-1)), Flags: uint16(top.flags), StartNs: units.MonoNs(top.start),
		WallNs: units.NotMeasured, SelfWallNs: units.NotMeasured, CPUNs: units.Ns(top.cpu), SelfCPUNs: units.NotMeasured,
	}
	if depth > 0 {
		e.OuterTaskID = n.open[depth-1].task
	}
	if top.flags&uint32(wire.Running) == 0 {
		e.EndNs, e.WallNs = units.MonoNs(top.end), units.Ns(top.end-top.start)
		e.SelfWallNs = e.WallNs - units.Ns(top.nested)
		if depth > 0 {
			n.open[depth-1].nested += top.end - top.start
		}
	}
	if cpu := units.Ns(top.cpu); cpu.Measured() && !top.noCPU {
		e.SelfCPUNs = cpu - units.Ns(top.nestedCPU)
	}
	if depth > 0 {
		o := &n.open[depth-1]
		if o.noCPU = o.noCPU || !e.CPUNs.Measured(); e.CPUNs.Measured() {
			o.nestedCPU += top.cpu
		}
	}
	if q := units.Ns(top.queue); q.Measured() && q >= 0 {
		e.SubmittedNs = e.StartNs - units.MonoNs(q)
	}
	n.b.part.Executions = append(n.b.part.Executions, e)
	n.b.result.Executions++
	return n.b.commit()
}

// end ends all executions of the thread.
func (n *nesting) end() error {
	if err := n.flush(); err != nil {
		return err
	}
	for len(n.open) > 0 {
		if err := n.pop(); err != nil {
			return err
		}
	}
	return nil
}

// addWait takes a wait. One wait can be several events, one inside the other: a read of a socket that parks the thread, a
// virtual thread pinned in a park. They are one wait of the store.
func (n *nesting) addWait(r *row) error {
	if w := n.wait; w != nil && r.start < w.end && r.what == waitRow {
		if w.flags&uint32(wire.WaitPinned) != 0 && r.kind != uint32(wire.WaitIO) {
			w.kind = r.kind
		}
		w.flags |= r.flags
		w.class, w.other, w.holder = cmp.Or(w.class, r.class), cmp.Or(w.other, r.other), cmp.Or(w.holder, r.holder)
		if w.context == 0 {
			w.site, w.context = r.site, r.context
		}
		w.end = max(w.end, r.end)
		return nil
	}
	if err := n.flush(); err != nil {
		return err
	}
	n.held, n.within = *r, 0
	n.wait = &n.held
	for i := len(n.open) - 1; i >= 0; i-- {
		if n.open[i].end > r.start {
			n.within = n.open[i].class
			break
		}
	}
	return nil
}

// addWaitSum writes what is known of waits that were not recorded one by one, of a recording that we exported.
func (n *nesting) addWaitSum(r *row) error {
	n.b.part.WaitSums = append(n.b.part.WaitSums, store.WaitSum{
		Thread: r.thread, Kind: store.WaitKindName(wire.WaitKind(r.kind)), Blocker: r.class, Within: r.other, FromNs: r.start, ToNs: r.end,
		Waits: uint64(r.task), WaitedNs: units.Ns(r.cpu), MaxNs: units.Ns(r.queue),
	})
	return n.b.commit()
}

// flush writes the wait that was held back.
func (n *nesting) flush() error {
	w := n.wait
	if w == nil {
		return nil
	}
	n.wait = nil
	var ready *units.Ns
	if d := units.Ns(w.cpu); w.what == ourWaitRow && d > 0 {
		ready = &d
	}
	n.b.part.Waits = append(n.b.part.Waits, store.Wait{ReadyNs: ready,
		Flags: w.flags, Kind: store.WaitKindName(wire.WaitKind(w.kind)), Blocker: w.class, Thread: w.thread, StartNs: w.start, EndNs: w.end,
		Waker: w.other, Holder: w.holder, Within: n.within, Site: w.site, Context: w.context,
	})
	n.b.result.Waits++
	return n.b.commit()
}

// small adds the tables of names, and the pauses, to the last part.
func (b *builder) small() {
	p := b.part
	for i, c := range b.classes {
		p.Classes = append(p.Classes, store.Class{ID: uint32(i) + 1, Name: c.name, Kinds: c.kinds.String()})
	}
	p.Threads = b.threads
	for i, x := range b.blockers {
		x.ID = uint32(i) + 1
		p.Blockers = append(p.Blockers, x)
	}
	for i, name := range b.executors {
		p.Executors = append(p.Executors, store.Executor{ID: uint32(i) + 1, Class: name})
	}
	p.Frames, p.Contexts = b.frames, b.contexts
	for _, f := range b.frames { // the site of a wait is one of its frames
		p.Sites = append(p.Sites, store.Site{ID: f.ID, Class: f.Class, Method: f.Method, Line: f.Line})
	}
	slices.SortFunc(b.gc.pauses, func(x, y pause) int { return cmp.Compare(x.start, y.start) })
	for _, x := range b.gc.pauses {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: x.start, EndNs: x.end, Cause: b.gc.causes[x.gc]})
	}
	b.result.Pauses, b.result.Threads = int64(len(p.Pauses)), int64(len(p.Threads))
}
