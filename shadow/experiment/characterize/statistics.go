package characterize

import (
	"fmt"
	"math"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/estimate"
	"stackagent/granularity/warmup"
	"stackagent/hpc"
	"stackagent/internal/units"
)

const (
	seconds      = 1e9 // in nanoseconds
	microseconds = 1e3
	milliseconds = 1e6
	megabyte     = 1e6
)

const (
	noUsage    = "the process's account is not in the session (shadow run records it)"
	noDuration = "the session has no length"
)

func (f *facts) perSecond(n float64) Value {
	if f.sum.DurationNs <= 0 {
		return NotAvailable(noDuration)
	}
	return Number(n / (float64(f.sum.DurationNs) / seconds))
}

func allocationRate(f *facts) Value {
	v := allocatedBytes(f)
	if v.Why != "" {
		return v
	}
	return f.perSecond(v.Number)
}

func allocatedBytes(f *facts) Value {
	for m, d := range f.sum.Metrics {
		if d.Name == "self_alloc_bytes" && m.IsSelf() {
			return Number(float64(d.Sum) / megabyte)
		}
	}
	if why := f.sum.NotAvailable["alloc"]; why != "" {
		return NotAvailable(why)
	}
	return NotAvailable("allocation was not measured (shadow run --metric wall+cpu+alloc)")
}

// turnover takes the smallest heap as exact.
func turnover(other func(code string) Cell) Cell {
	allocated, heap := other("ATB"), other("GMD")
	for _, c := range []Cell{allocated, heap} {
		if c.Why != "" {
			return Missing(c.Why)
		}
	}
	return Known(allocated.Value.Times(1 / heap.Value.Mean))
}

func collections(f *facts) Value  { return Number(float64(f.sum.GC.Pauses)) }
func pauseShare(f *facts) Value   { return Number(100 * f.sum.GC.Share) }
func longestPause(f *facts) Value { return Number(float64(f.sum.GC.MaxNs) / milliseconds) }

// running is a kind's share of the running time of all threads.
func (f *facts) running(kind string) Value {
	if f.kinds == nil {
		return NotAvailable(f.noKinds)
	}
	all := units.Ns(0)
	for _, b := range f.kinds {
		all += b.RunningNs
	}
	return percent(float64(f.kinds[kind].RunningNs), float64(all), noDuration)
}

func compilerShare(f *facts) Value { return f.running(activity.KindCompiler) }

func collectorShare(f *facts) Value {
	if _, any := f.kinds[activity.KindGC]; !any && f.kinds != nil && f.sum.GC.Pauses > 0 {
		return NotAvailable("no collector thread ran: the Serial collector works in the VM thread")
	}
	return f.running(activity.KindGC)
}

func parallelism(f *facts) Value {
	if f.kinds == nil {
		return NotAvailable(f.noKinds)
	}
	program, main := f.kinds[activity.KindApplication], f.kinds[activity.KindMain]
	height := program.HeightNs + main.HeightNs
	if height == 0 {
		return NotAvailable("no thread of the program ran")
	}
	return Number(float64(program.RunningNs+main.RunningNs) / height)
}

func executionTime(f *facts) Value {
	switch n := len(f.iterations); {
	case n > 0:
		return Number(f.iterations[n-1] / seconds)
	case f.usage != nil && f.usage.Wall > 0:
		return Number(float64(f.usage.Wall) / seconds)
	case f.sum.DurationNs > 0:
		return Number(float64(f.sum.DurationNs) / seconds)
	}
	return NotAvailable(noDuration)
}

// enoughRuns are so many that a bootstrap of their deviation is not far too narrow.
const enoughRuns = 10

// deviation is that of several runs.
func deviation(runs []Value) Cell {
	times, why := numbers(runs)
	if len(times) == 1 {
		why = "one run has no deviation (shadow run --repeat)"
	}
	if len(times) < 2 {
		return Missing(why)
	}
	percent := func(times []float64) float64 { return 100 * estimate.Variation(times) }
	if len(times) < enoughRuns {
		return Known(estimate.Interval{Mean: percent(times), Low: math.NaN(), High: math.NaN(), N: len(times)})
	}
	return Known(estimate.Bootstrap(times, percent, 1))
}

func warmUp(f *facts) Value {
	if len(f.iterations) == 0 {
		return NotAvailable(f.noIterations)
	}
	warm := warmup.WarmFrom(f.iterations, warmup.Within)
	if warm < 0 {
		return NotAvailable(fmt.Sprintf("the last of %d iterations is more than 1.5 %% slower than the fastest", len(f.iterations)))
	}
	return Number(float64(warm + 1))
}

func kernelShare(f *facts) Value {
	if f.usage == nil {
		return NotAvailable(noUsage)
	}
	return percent(float64(f.usage.System), float64(f.usage.CPU()), "the process used no CPU time")
}

func cpuUse(f *facts) Value {
	if f.usage == nil {
		return NotAvailable(noUsage)
	}
	return percent(float64(f.usage.CPU()), float64(f.usage.Wall)*float64(f.sum.JVM.CPUs), "the number of CPUs is not in the session")
}

func unitRate(f *facts) Value {
	if f.units == nil {
		return NotAvailable(f.noUnits)
	}
	return f.perSecond(float64(f.units.Tasks.Executions))
}

// unitQuantile is one of the units' own CPU time, in microseconds.
func unitQuantile(q quantile) func(*facts) Value {
	return func(f *facts) Value {
		if f.units == nil {
			return NotAvailable(f.noUnits)
		}
		d := f.units.Metrics[granularity.SelfCPU]
		if d.Count == 0 {
			why := f.units.NotAvailable["cpu"]
			if why == "" {
				why = "no unit of work has ended with a CPU time"
			}
			return NotAvailable(why)
		}
		return Number(q(d) / microseconds)
	}
}

// queueQuantile is one of the units' time from submission to start, in microseconds.
func queueQuantile(q quantile) func(*facts) Value {
	return func(f *facts) Value {
		if f.units == nil {
			return NotAvailable(f.noUnits)
		}
		d := f.units.Metrics.Queue()
		if d.Count == 0 {
			return NotAvailable("no queue time is known")
		}
		return Number(q(d) / microseconds)
	}
}

// neverExecuted leaves out stages of CompletableFutures: most of those are run by a plain
// call.
func neverExecuted(f *facts) Value {
	if f.units == nil {
		return NotAvailable(f.noUnits)
	}
	stages := granularity.Steps(f.units.Rows)
	return percent(float64(f.units.Tasks.NeverExecuted-stages), float64(f.units.Tasks.Created-stages), "no creation of a unit was seen")
}

func unitThreads(f *facts) Value {
	if f.units == nil {
		return NotAvailable(f.noUnits)
	}
	return Number(float64(f.units.Tasks.Threads))
}

func minorFaults(u *hpc.Usage) float64 { return float64(u.MinorFaults) }
func voluntary(u *hpc.Usage) float64   { return float64(u.Voluntary) }
func involuntary(u *hpc.Usage) float64 { return float64(u.Involuntary) }

// perSecond is a count of the kernel's over the life of the process.
func perSecond(of func(*hpc.Usage) float64) func(*facts) Value {
	return func(f *facts) Value {
		if f.usage == nil || f.usage.Wall <= 0 {
			return NotAvailable(noUsage)
		}
		return Number(of(f.usage) / (float64(f.usage.Wall) / seconds))
	}
}

func residentMemory(f *facts) Value {
	if f.usage == nil {
		return NotAvailable(noUsage)
	}
	if f.usage.MaxResident == nil {
		return NotAvailable("the process did not use more than shadow had when it started it, and the kernel's figure begins there")
	}
	return Number(float64(*f.usage.MaxResident) / megabyte)
}

// remedy is the flag that has an event counted, if there is one.
func remedy(e hpc.Event) string {
	if e > hpc.RefCycles {
		return " (shadow run --cache-counters)"
	}
	return ""
}

// per divides two events, counted in all threads, and multiplies by factor.
func per(factor float64, event, by hpc.Event) func(*facts) Value {
	return func(f *facts) Value {
		if f.counters == nil {
			return NotAvailable("the run was not counted from outside (shadow run --counters)")
		}
		var total [2]float64
		for k, e := range []hpc.Event{event, by} {
			if why := f.counters.NotAvailable[e]; why != "" {
				return NotAvailable(why)
			}
			counted := false
			for i := range f.counters.Threads {
				if n := f.counters.Threads[i].Counts[e]; n != nil {
					total[k] += n.Estimate
					counted = true
				}
			}
			if !counted {
				return NotAvailable(fmt.Sprintf("%s were not counted%s", e, remedy(e)))
			}
		}
		if total[1] == 0 {
			return NotAvailable(fmt.Sprintf("%s were not counted", by))
		}
		return Number(factor * total[0] / total[1])
	}
}
