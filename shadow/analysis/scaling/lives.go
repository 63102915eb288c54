package scaling

import (
	"stackagent/granularity/activity"
	"stackagent/granularity/speedup"
	"stackagent/internal/units"
)

// lives are how each thread ends, gathered from a stream of slices.
type lives []life

// life is the time of a thread of no pool in Java, for Input.Lives, and what the end of the program found it in.
type life struct {
	activity.Span
	wait activity.Span // its last
	cut  bool          // the end of the program cut that
	ran  units.Ns
	last []activity.Span // when it ran since its last long wait, the newest of that
	sum  units.Ns        // of last
}

// ending is the share of its running time, and at most how much, that a thread has left when it ends but for the formalities: it has
// let others know that its work is done, and may wait for a processor beside its successor.
const (
	ending     = 0.05
	endingMost = units.Ns(1e6)
)

// lives are from a thread's first to its last moment in Java, or to the end of its task, for threads that have ended and belong to no
// pool. The JVM reports the end before it lets those go on that join the thread.
func (t *tasks) lives() lives {
	out, done := make(lives, len(t.threads)), make([]units.MonoNs, len(t.threads))
	for i := range t.spans {
		for p, at := range t.done(i) {
			done[p] = max(done[p], at)
		}
	}
	for i := range t.s.Threads {
		th := &t.s.Threads[i]
		if p, ok := t.index[th.ID]; ok && !t.pooled[p] && th.StartNs != 0 && th.EndNs > th.StartNs {
			out[p].Span = activity.Span{From: th.StartNs, To: th.EndNs}
			if done[p] > th.StartNs {
				out[p].To = min(th.EndNs, done[p])
			}
		}
	}
	return out
}

// watch passes on a stream and notes how the threads in it end.
func (l lives) watch(stream activity.Stream) activity.Stream {
	return func(use func(activity.Slice) error) error {
		return stream(func(s activity.Slice) error {
			if int(s.Thread) < len(l) {
				l[s.Thread].add(s)
			}
			return use(s)
		})
	}
}

func (x *life) add(s activity.Slice) {
	if s.State >= activity.Futex {
		if x.wait.To != s.From { // else it goes beyond a part of the record
			x.wait.From = s.From
		}
		x.wait.To, x.cut = s.To, s.Cut
	}
	span := activity.Span{From: s.From, To: s.To}.Cut(x.Span)
	switch {
	case span.Len() == 0:
	case s.State == activity.Running:
		x.ran += span.Len()
		x.last, x.sum = append(x.last, span), x.sum+span.Len()
		for x.sum-x.last[0].Len() >= endingMost {
			x.sum -= x.last[0].Len()
			x.last = x.last[1:]
		}
	case s.State != activity.Runnable && span.Len() > x.ran: // long: it came for more than to take a lock of the JVM
		x.last, x.sum = nil, 0
	}
}

// spans are the lives without their ends.
func (l lives) spans() []activity.Span {
	out := make([]activity.Span, len(l))
	for i := range l {
		x := &l[i]
		out[i] = x.Span
		left := min(units.Ns(ending*float64(x.ran)), endingMost)
		for n := len(x.last); n > 0 && left > 0; n-- {
			part := min(left, x.last[n-1].Len())
			out[i].To, left = x.last[n-1].To-units.MonoNs(part), left-part
		}
	}
	return out
}

// endWaits moves the ends of the threads that wait for what never comes: such a wait is no work that the others lack, so the thread is
// done with the last of the others, or where the wait began if that is later. A driver works in its shifts.
func (l lives) endWaits(in *speedup.Input, seg *speedup.Segment) {
	latest := seg.From
	for p, th := range in.Threads {
		end := min(th.Last, seg.To)
		if seg.Done[p] != 0 {
			end = min(end, seg.Done[p])
		}
		if l[p].cut {
			end = min(end, l[p].wait.From)
		}
		if shifts := seg.Shifts[p]; len(shifts) > 0 {
			end = shifts[len(shifts)-1].To
		} else if !in.Workers[p] || in.Drivers[p] {
			continue
		}
		latest = max(latest, end)
	}
	for p := range in.Threads {
		if in.Workers[p] && !in.Drivers[p] && l[p].cut && (seg.Done[p] == 0 || seg.Done[p] > latest) {
			seg.Done[p] = latest
		}
	}
}
