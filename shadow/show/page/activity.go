package page

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/timeline"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Limits of what threads did.
const (
	mostLanes = 100
	mostBoxes = 300
)

// activity fills in what the scheduling record has: CPU time by kind of thread, lanes, the bottle graph and the account of
// the speedup stack.
func (b *builder) activity() error {
	b.progress("reading the scheduling record")
	a, err := b.s.Activity()
	if err != nil {
		if !errors.Is(err, session.ErrNoActivity) {
			b.data.Session.Losses = append(b.data.Session.Losses, text.OneLine(err.Error()))
		}
		for _, what := range []string{"cpu_band", "lanes", "bottle", "stack"} {
			b.missing(what, text.OneLine(err.Error()))
		}
		return nil
	}
	end := b.axis.grid(buckets).End()
	from, to := max(a.From, b.axis.from), min(max(a.To, b.axis.from), end)
	if to <= from {
		for _, what := range []string{"cpu_band", "lanes", "bottle", "stack"} {
			b.missing(what, "the scheduling record does not cover the session")
		}
		return nil
	}
	graphs, err := bottle.Compute(a.Threads, a.Stream(from, to), b.slotSpans()...)
	if err != nil {
		return err
	}
	ran := map[string]units.Ns{}
	for _, g := range graphs {
		for _, box := range g.Boxes {
			ran[box.Name] += box.RunningNs
		}
	}
	b.bottle(a, graphs, ran)
	lines, err := timeline.Compute(a.Threads, a.Stream(from, to), b.axis.grid(buckets), ran, mostLanes)
	if err != nil {
		return err
	}
	b.cpuBand(lines)
	b.lanes(lines)
	for _, d := range a.Damage() {
		b.data.Session.Losses = append(b.data.Session.Losses, text.OneLine(d.Error()))
	}
	return b.stack()
}

// slotSpans are the slots of the page.
func (b *builder) slotSpans() []span {
	out, grid := make([]span, b.data.Slots), b.axis.grid(b.data.Slots)
	for i := range out {
		out[i] = span{From: grid.Start(i), To: grid.Start(i + 1)}
	}
	return out
}

// bottle writes the boxes of the threads that ran most; the others share one for each kind.
func (b *builder) bottle(a *session.Activity, graphs []*bottle.Graph, ran map[string]units.Ns) {
	kinds := map[string]string{}
	for _, t := range a.Threads {
		kinds[t.Name] = t.Kind
	}
	var names []string
	for name, d := range ran {
		if d > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(ran[y], ran[x]), cmp.Compare(x, y)) })
	to := &Bottle{Threads: []Lane{}}
	box, shared := map[string]int{}, map[string]int{}
	for i, name := range names {
		kind := kinds[name]
		if i < mostBoxes {
			box[name] = len(to.Threads)
			to.Threads = append(to.Threads, b.lane(name, kind))
			continue
		}
		n, ok := shared[kind]
		if !ok {
			n = len(to.Threads)
			shared[kind] = n
			to.Threads = append(to.Threads, Lane{Kind: kind, Thread: -1})
		}
		box[name] = n
		to.Threads[n].Count++
		to.Threads[n].Label = folded(to.Threads[n].Count, "other thread", "other threads")
	}
	for slot, g := range graphs {
		height, running := make([]float64, len(to.Threads)), make([]float64, len(to.Threads))
		for _, x := range g.Boxes {
			height[box[x.Name]] += x.HeightNs
			running[box[x.Name]] += float64(x.RunningNs)
		}
		for i := range height {
			if running[i] > 0 {
				to.Slot, to.Thread = append(to.Slot, uint16(slot)), append(to.Thread, uint16(i))
				to.Height, to.Running = append(to.Height, math.Round(height[i])), append(to.Running, running[i])
			}
		}
	}
	b.data.Bottle = to
}

// lane is the lane of a thread by its label.
func (b *builder) lane(label, kind string) Lane {
	l := Lane{Label: printable(label), Kind: printable(kind), Thread: -1, Count: 1}
	if n, ok := b.threads.label[label]; ok {
		l.Thread = n
	}
	return l
}

// kindLabels are the kinds of threads in the CPU band, from the bottom.
var kindLabels = []struct {
	key, label string
	kinds      []string
}{
	{"application", "application", []string{activity.KindMain, activity.KindApplication}},
	{"gc", "garbage collection", []string{activity.KindGC}},
	{"compiler", "JIT compilation", []string{activity.KindCompiler}},
	{"vm", "other threads of the JVM", []string{activity.KindVM, activity.KindOther}},
}

// cpuBand writes the mean number of CPUs in use, by kind of thread.
func (b *builder) cpuBand(t *timeline.Timeline) {
	for _, k := range kindLabels {
		sum := make([]units.Ns, buckets)
		for i := range t.Rows {
			if !slices.Contains(k.kinds, t.Rows[i].Kind) {
				continue
			}
			for n, d := range t.Rows[i].States[activity.Running] {
				sum[n] += d
			}
		}
		b.data.Bands.CPU = append(b.data.Bands.CPU, Series{k.key, k.label, float32s(t.Mean(sum))})
	}
}

// laneStates are the states of lanes; each state of the record is in one.
var laneStates = []struct {
	Label
	of []activity.ThreadState
}{
	{Label{"running", "running", "on a CPU"}, []activity.ThreadState{activity.Running}},
	{Label{"runnable", "runnable", "ready, waiting for a CPU"}, []activity.ThreadState{activity.Runnable}},
	{Label{"lock", "lock or other thread", "until another thread of the program ends the wait: locks, monitors, park, joins"}, []activity.ThreadState{activity.Futex}},
	{Label{"io", "I/O", "in a read, write, poll or accept"}, []activity.ThreadState{activity.IO}},
	{Label{"sleep", "sleep", "for a given time, or until a time limit"}, []activity.ThreadState{activity.Sleeping}},
	{Label{"gc", "stopped for GC", "until the collector lets the thread go on"}, []activity.ThreadState{activity.Stalled}},
	{Label{"safepoint", "stopped by the JVM", "at a safepoint, not for the collector"}, []activity.ThreadState{activity.Safepoint}},
	{Label{"idle", "waiting to the end", "nothing ended the wait before the program ended, as of a pool's worker without work"}, []activity.ThreadState{activity.Unended}},
	{Label{"other", "off the CPU", "the reason is not recorded"}, []activity.ThreadState{activity.Blocked, activity.Unknown}},
}

// lanes writes what the threads did that ran most.
func (b *builder) lanes(t *timeline.Timeline) {
	to := &Lanes{Lanes: []Lane{}}
	for _, s := range laneStates {
		to.States = append(to.States, s.Label)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		lane := b.lane(r.Name, r.Kind)
		if r.Threads > 1 {
			lane = Lane{Label: folded(r.Threads, "other thread", "other threads"), Kind: r.Kind, Thread: -1, Count: r.Threads}
		}
		to.Lanes = append(to.Lanes, lane)
		all := float64(b.axis.width) * float64(max(r.Threads, 1))
		for _, s := range laneStates {
			shares := make([]uint8, buckets)
			for n := range shares {
				sum := units.Ns(0)
				for _, state := range s.of {
					if of := r.States[state]; of != nil {
						sum += of[n]
					}
				}
				shares[n] = uint8(min(255, math.Round(255*float64(sum)/all)))
			}
			to.Shares = append(to.Shares, shares...)
		}
	}
	b.data.Lanes = to
}
