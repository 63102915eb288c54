package store

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"stackagent/internal/text"
	"stackagent/internal/wire"
)

// account draws up the Balance of the session in f, whose manifest is m and
// settled. It reads the threads, the summaries and the thread columns of the
// big tables; memory is bounded by the number of platform threads.
func account(f *Folder, m *Manifest) (*Balance, error) {
	a := &accountant{m: m, threads: map[uint32]*line{}}
	if err := a.produced(f); err != nil {
		return nil, err
	}
	if err := a.stored(f); err != nil {
		return nil, err
	}
	return a.balance(), nil
}

// line is the account of one thread that reported its own counts.
type line struct {
	ThreadBalance
	ended bool
}

// accountant holds what is known of the threads. Rows of threads that did not
// report their own counts, virtual ones above all, go to rest.
type accountant struct {
	m         *Manifest
	threads   map[uint32]*line
	rest      line
	uncounted uint64 // platform threads in rest
	damaged   int    // parts
}

// produced reads what each thread says it produced, and lost.
func (a *accountant) produced(f *Folder) error {
	plain := map[uint32]bool{} // platform threads without counts
	bad, err := f.ReadThreads(func(t *Thread) {
		switch {
		case t.Executions != nil && t.Creations != nil && t.Lost != nil:
			l := a.threads[t.ID]
			if l == nil {
				l = &line{ThreadBalance: ThreadBalance{Thread: t.ID}}
				a.threads[t.ID] = l
			}
			l.Produced = Counts{Executions: uint64(*t.Executions), Creations: uint64(*t.Creations)}
			l.Lost, l.ended = uint64(*t.Lost), t.EndNs != nil
			delete(plain, t.ID)
		case !t.Virtual && a.threads[t.ID] == nil:
			plain[t.ID] = true
		}
	})
	a.damaged += len(bad)
	a.uncounted = uint64(len(plain))
	if err != nil {
		return err
	}
	for _, x := range a.m.Lost.ByThread {
		a.of(uint32(x[0])).Lost += x[1]
	}
	if v := a.m.Virtual; v != nil {
		a.rest.Lost += v.Lost
	}
	a.rest.Produced = a.m.Produced
	for _, l := range a.threads {
		// What the threads say is more than the sums say: kept modulo 2^64, found below.
		a.rest.Produced.Executions -= l.Produced.Executions
		a.rest.Produced.Creations -= l.Produced.Creations
	}
	return nil
}

func (a *accountant) of(id uint32) *line {
	if l := a.threads[id]; l != nil {
		return l
	}
	return &a.rest
}

// stored counts what lies on the disk, by thread.
func (a *accountant) stored(f *Folder) error {
	executions, bad, err := countByThread(a, func(workers int, add func(worker int, ids []uint32) error) ([]*PartError, error) {
		return f.ScanExecutions(ExecutionThread, workers, func(w int, c *ExecutionColumns) error { return add(w, c.Thread) })
	})
	a.damaged += len(bad)
	if err != nil {
		return err
	}
	creations, bad, err := countByThread(a, func(workers int, add func(worker int, ids []uint32) error) ([]*PartError, error) {
		return f.ScanCreations(CreationThread, workers, func(w int, c *CreationColumns) error { return add(w, c.Thread) })
	})
	a.damaged += len(bad)
	if err != nil {
		return err
	}
	for l, n := range executions {
		l.Recorded.Executions += n
	}
	for l, n := range creations {
		l.Recorded.Creations += n
	}
	bad, err = f.ReadSummaries(func(s *Summary) {
		l := &a.rest
		if wire.SummaryFlags(s.Flags)&wire.SummaryVirtual == 0 {
			l = a.of(s.Thread)
		}
		l.Summarised.Add(s.Events())
	})
	a.damaged += len(bad)
	return err
}

// countByThread counts rows by the account that they belong to.
func countByThread(a *accountant, scan func(workers int, add func(worker int, ids []uint32) error) ([]*PartError, error)) (map[*line]uint64, []*PartError, error) {
	workers := min(runtime.GOMAXPROCS(0), 4)
	counts := make([]map[*line]uint64, workers)
	bad, err := scan(workers, func(w int, ids []uint32) error {
		if counts[w] == nil {
			counts[w] = map[*line]uint64{}
		}
		for from := 0; from < len(ids); {
			to := from + 1
			for to < len(ids) && ids[to] == ids[from] {
				to++
			}
			counts[w][a.of(ids[from])] += uint64(to - from)
			from = to
		}
		return nil
	})
	sum := map[*line]uint64{}
	for _, c := range counts {
		for l, n := range c {
			sum[l] += n
		}
	}
	return sum, bad, err
}

// balance holds the lines against one another.
func (a *accountant) balance() *Balance {
	b := &Balance{State: BalanceExact, Uncounted: a.uncounted}
	ended := a.m.Ended == EndedExit
	lines := make([]ThreadBalance, 0, len(a.threads)+1)
	for _, l := range a.threads {
		if ended || l.ended { // of a thread that lived on, the newest records are on no part
			lines = append(lines, l.ThreadBalance)
		}
	}
	b.Threads = uint64(len(lines))
	if a.rest.touched() && ended {
		a.rest.Uncounted = a.uncounted > 0
		lines = append(lines, a.rest.ThreadBalance)
		if a.uncounted == 0 {
			b.Threads++ // the virtual ones
		}
	}
	allowed := a.explained()
	for i := range lines {
		lines[i].settle()
		b.Sum.add(&lines[i])
	}
	slices.SortFunc(lines, func(x, y ThreadBalance) int { return cmp.Compare(x.Thread, y.Thread) })
	for _, l := range lines {
		if l.Missing == 0 && !l.over() || allowed > 0 && l.Missing > 0 && !l.over() {
			continue
		}
		b.Differing++
		b.Unexplained += l.off()
		if len(b.Differ) < MaxDiffer {
			b.Differ = append(b.Differ, l)
		}
	}
	a.judge(b, allowed, ended)
	return b
}

// explained is how many events are known to be lost, but not of which thread:
// those in batches that never came, and what the agent lost and could not assign to a thread
// thread by thread.
func (a *accountant) explained() uint64 {
	l := &a.m.Lost
	counted := a.rest.Lost
	for _, x := range a.threads {
		counted += x.Lost
	}
	reported := a.reported()
	return l.InGaps + reported - min(reported, counted)
}

// reported is how many events the agent says are lost.
func (a *accountant) reported() uint64 { return a.m.Lost.Reported - a.m.Lost.ByReason[wire.LostPauses] }

// judge sets the state of b and says why.
func (a *accountant) judge(b *Balance, allowed uint64, ended bool) {
	counted := len(a.threads) > 0 || a.m.Virtual != nil
	switch {
	case b.Differing > 0:
		b.State = BalanceDiffers
		b.Why = fmt.Sprintf("stored twice, or neither stored nor counted as lost: %s of %s", text.PluralExact(b.Unexplained, "event", "events"), text.PluralExact(b.Differing, "thread", "threads"))
	case !ended:
		b.State, b.Why = BalanceUnknown, "the JVM ended, or was left, without a word: what its threads produced last is not known"
	case !counted:
		b.State, b.Why = BalanceUnknown, "this record does not count by thread"
	case b.Sum.Missing != int64(allowed):
		b.State = BalanceDiffers
		b.Unexplained = distance(b.Sum.Missing, int64(allowed))
		b.Why = fmt.Sprintf("%s missing, %d known to be lost", text.PluralExact(b.Sum.Missing, "event is", "events are"), allowed)
	case a.uncounted == 0 && !a.virtualAgrees():
		b.State = BalanceDiffers
		b.Unexplained = distance(int64(a.virtualProduced().Sum()), int64(a.rest.Produced.Sum()))
		b.Why = "the threads' own counts do not add up to the agent's sums"
	}
	if a.damaged > 0 && b.State == BalanceDiffers {
		b.Why += "; " + text.PluralExact(a.damaged, "part of the session is", "parts of the session are") + " damaged"
	}
	if !ended {
		reported := a.reported()
		onTheWay := int64(a.m.Produced.Sum()) - int64(a.m.Stored.Sum()) - int64(reported)
		b.AtLeastLost = reported + uint64(max(0, onTheWay))
	}
}

func distance(a, b int64) uint64 { return uint64(max(a-b, b-a)) }

func (a *accountant) virtualProduced() Counts {
	if a.m.Virtual == nil {
		return Counts{}
	}
	return a.m.Virtual.Counts
}

// virtualAgrees reports whether all that no platform thread produced was produced
// by virtual threads.
func (a *accountant) virtualAgrees() bool { return a.virtualProduced() == a.rest.Produced }

func (l *line) touched() bool {
	return l.Produced != Counts{} || l.Recorded != Counts{} || l.Summarised != Counts{} || l.Lost != 0
}

func (l *ThreadBalance) settle() {
	l.Missing = int64(l.Produced.Sum() - l.Recorded.Sum() - l.Summarised.Sum() - l.Lost)
}

// over reports whether more is stored than was produced, of either kind.
func (l *ThreadBalance) over() bool {
	return l.Recorded.Executions+l.Summarised.Executions > l.Produced.Executions ||
		l.Recorded.Creations+l.Summarised.Creations > l.Produced.Creations
}

// off is by how many events the line differs: what is stored beyond what was
// produced, of either kind, or what is missing.
func (l *ThreadBalance) off() uint64 {
	executions := int64(l.Recorded.Executions + l.Summarised.Executions - l.Produced.Executions)
	creations := int64(l.Recorded.Creations + l.Summarised.Creations - l.Produced.Creations)
	return max(uint64(max(executions, 0)+max(creations, 0)), distance(l.Missing, 0))
}

func (l *ThreadBalance) add(o *ThreadBalance) {
	l.Produced.Add(o.Produced)
	l.Recorded.Add(o.Recorded)
	l.Summarised.Add(o.Summarised)
	l.Lost += o.Lost
	l.Missing += o.Missing
}
