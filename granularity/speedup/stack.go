package speedup

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Component names a part of a speedup stack.
type Component int

// The components, in the order in which they are stacked on the measured
// speedup. T_p is the duration of the run, T_s that of the run with one
// thread, N the number of threads; MT and ST mark the run's and the base's
// accounts.
const (
	GC               Component = iota // (N GC_MT - GC_ST + Stalled_MT - Stalled_ST) / T_p
	Sequential                        // (N Sequential_MT - Sequential_ST) / T_p
	Synchronization                   // Futex_MT / T_p
	Imbalance                         // Exited_MT / T_p
	IO                                // (IO_MT - IO_ST) / T_p
	Oversubscription                  // (Runnable_MT - Runnable_ST) / T_p
	Rest                              // N - T_s/T_p - all of the above
	NComponents
)

var componentNames = [NComponents]string{"gc", "sequential", "synchronization", "imbalance", "io", "oversubscription", "rest"}

// String is the component's name as in JSON, "gc".
func (c Component) String() string { return componentNames[c] }

// Part names a part of Rest.
type Part int

// The parts of Rest, each divided by T_p: what the application threads did in the
// parallel part of the run, less what they did in the base.
const (
	Work        Part = iota // on a CPU for longer: more instructions, or slower ones
	Sleep                   // waiting for a given time
	Off                     // off the CPU, for a reason that is not recorded
	Safepoint               // stopped by the JVM, not for the collector
	Unended                 // waiting for what never came: the program ended
	Unseen                  // not observed
	Late                    // no thread had begun yet
	Surplus                 // negative: living threads beyond N
	Idle                    // neither the main nor an application thread was there to work
	BaseWait                // negative: what the base itself waited in futexes and had exited
	Unseparated             // synchronization and imbalance, where the run cannot tell them apart
	NParts
)

var partNames = [NParts]string{"work", "sleeping", "blocked", "safepoints", "unended", "unknown", "late_threads", "surplus_threads", "idle", "base_waiting", "synchronization_or_imbalance"}

// String is the part's name as in JSON, "work".
func (p Part) String() string { return partNames[p] }

// Bar is the speedup stack of a run: Speedup and all Components add up to
// Threads, and the Parts add up to Components[Rest], but for rounding.
type Bar struct {
	Threads    int // N
	Speedup    float64
	Components [NComponents]float64
	Parts      [NParts]float64
	// AssumedSequential: the base has no application thread beside the main one, so
	// its sequential part cannot be separated from the rest of its work. It is assumed
	// to be as long as the sequential part of the run.
	AssumedSequential bool
	// AtMost: there is no base with the same work. Speedup is an upper bound then: N
	// minus the losses.
	AtMost bool
	// Unknown are components that cannot be known of this run. They are 0.
	Unknown   [NComponents]bool
	Run, Base Account
}

// Alone is what can be said of a run without a base: its losses, and as Speedup at most
// N minus these. The bound is what the threads may have done for the program, so it
// takes pauses and the sequential part to be as long with one thread as here, and each
// loss is the time of the other N-1 slots:
//
//	GC             (N - 1) (GC + Stalled / N) / T_p
//	Sequential     (N - 1) Sequential / T_p
//	Synchronization, Imbalance, Oversubscription as with a base that has none
//	Rest           ((N - 1) Idle + Late - Surplus) / T_p
//
// I/O and sleep are no losses: one thread may wait as long for the same. The formula is
// ours, after the components of the paper.
func Alone(run Account) Bar {
	b := Bar{Threads: run.N, AtMost: true, Run: run}
	b.Unknown[IO] = true
	others, tp := units.Ns(run.N-1), float64(run.Duration)
	parts := [NParts]units.Ns{Idle: others * run.Idle, Late: run.Late, Surplus: -run.Surplus}
	components := [NComponents]units.Ns{
		GC:              others*run.GC + others*run.InState[activity.Stalled]/units.Ns(run.N),
		Sequential:      others * run.Sequential,
		Synchronization: run.InState[activity.Futex], Imbalance: run.Exited, Oversubscription: run.InState[activity.Runnable],
	}
	if run.Unseparated {
		parts[Unseparated] = components[Synchronization] + components[Imbalance]
		b.hideWaits(&components)
	}
	for p, ns := range parts {
		components[Rest] += ns
		b.Parts[p] = float64(ns) / tp
	}
	b.Speedup = float64(run.N)
	for c, ns := range components {
		b.Components[c] = float64(ns) / tp
		b.Speedup -= b.Components[c]
	}
	return b
}

// hideWaits takes back components that the run cannot tell apart.
func (b *Bar) hideWaits(components *[NComponents]units.Ns) {
	for _, c := range []Component{Synchronization, Imbalance} {
		components[c], b.Unknown[c] = 0, true
	}
}

// Stack compares a run with its base, the run with one thread over the same
// region; base.N must be 1.
//
// GC, Sequential, Synchronization and Imbalance follow the paper: a component that
// scales perfectly (a collection that takes an N-th of the time with N threads) is
// zero. GC includes the stalls: what threads wait for the collector outside of pauses. Synchronization and Imbalance are those of the run alone, as a single thread
// never waits for another. IO and Oversubscription, which the paper does not have,
// are differences: I/O that takes as long in sum as with one thread is no loss of
// scalability.
func Stack(base, run Account) Bar {
	b := Bar{Threads: run.N, Run: run, Base: base}
	if base.MainOnly || base.Workers == 0 {
		b.AssumedSequential = true
		base = withSequential(base, run.Sequential)
	}
	n, tp := units.Ns(run.N), float64(run.Duration)
	b.Speedup = float64(base.Duration) / tp
	parts := [NComponents]units.Ns{
		GC:               n*run.GC - base.GC + run.InState[activity.Stalled] - base.InState[activity.Stalled],
		Sequential:       n*run.Sequential - base.Sequential,
		Synchronization:  run.InState[activity.Futex],
		Imbalance:        run.Exited,
		IO:               run.InState[activity.IO] - base.InState[activity.IO],
		Oversubscription: run.InState[activity.Runnable] - base.InState[activity.Runnable],
	}
	if run.Unseparated {
		b.hideWaits(&parts)
	}
	rest := n*run.Duration - base.Duration
	for _, p := range parts[:Rest] {
		rest -= p
	}
	parts[Rest] = rest
	for i, p := range parts {
		b.Components[i] = float64(p) / tp
	}
	for i, p := range restParts(base, run) {
		b.Parts[i] = float64(p) / tp
	}
	return b
}

// restParts are the parts of Rest in nanoseconds.
func restParts(base, run Account) [NParts]units.Ns {
	more := func(s activity.ThreadState) units.Ns { return run.InState[s] - base.InState[s] }
	out := [NParts]units.Ns{
		Work:      more(activity.Running),
		Sleep:     more(activity.Sleeping),
		Off:       more(activity.Blocked),
		Safepoint: more(activity.Safepoint),
		Unended:   more(activity.Unended),
		Unseen:    more(activity.Unknown),
		Late:      run.Late - base.Late,
		Surplus:   base.Surplus - run.Surplus,
		Idle:      units.Ns(run.N)*run.Idle - base.Idle,
		BaseWait:  -base.InState[activity.Futex] - base.Exited,
	}
	if run.Unseparated {
		out[Unseparated] = run.InState[activity.Futex] + run.Exited
	}
	return out
}

// withSequential is a with up to d of its main thread's running time, parallel or
// sequential, counted as sequential.
func withSequential(a Account, d units.Ns) Account {
	mixed := a.Sequential + a.InState[activity.Running]
	d = min(d, mixed)
	moved := a.Sequential - d
	a.Sequential = d
	a.Parallel += moved
	a.InState[activity.Running] += moved
	return a
}
