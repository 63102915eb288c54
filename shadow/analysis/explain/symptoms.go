package explain

import (
	"math"
	"slices"
	"strings"

	"stackagent/granularity/vertical"
	"stackagent/hpc/monitor"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/analysis/timeseries"
)

// families are monitors that count the same events as the metric, or follow from them: they restate it. The program's own
// threads compute in tasks for the most part, and handing a task to another thread is a futex call and a switch.
var families = [][]string{
	{"app.tasks.", "app.executor.", "app.pool.", "pool.", `os.cpu_ns{kind="application"}`, "native.futex.", "native.syscalls", "os.context_switches"},
}

// totals are sums that the threads which run tasks, or wait for one, are most of.
var totals = []string{"os.cpu_ns", "os.cpu.user_ns", "lib.park.wait_ns"}

// generals are monitors by how many things change them; the first pattern that matches holds. What is not listed is an event
// of the program, its libraries or the JVM, which says itself what it is. The layers below do what these ask for.
var generals = []struct {
	pattern string
	general int
}{
	{"vm.monitor.wait_ns", 0}, // names the lock
	{"*.wait_ns", 2}, {"*_wait_ns", 2}, {"lib.sleep_ns", 2}, {"vm.gc.stall_ns", 2},
	{"app.tasks.in_flight", 2}, {"os.cpu_ns", 2}, {"os.cpu.*", 2}, {"os.runnable_ns", 2}, {"os.context_switches", 2}, {"os.machine.*", 2},
	{"os.run_queue", 2}, {"os.cgroup.periods", 2}, {"os.disk.*", 2}, {"os.net.*", 2}, {"os.memory.*", 2}, {"vm.gc.*", 1}, {"vm.heap.*", 1}, {"vm.tlab.*", 1},
	{"vm.application_time_ns", 2}, {"vm.cpu.*", 2}, {"native.futex.*", 2}, {"native.syscalls*", 2},
	{"vm.counter.*", 1}, {"vm.safepoint.sync_time_ns", 2}, {"vm.safepoint.*", 1}, {"vm.operation_time_ns", 1}, {"vm.sync.*", 1}, {"native.*", 1}, {"os.*", 1},
}

func general(s vertical.Series) int {
	if strings.HasPrefix(s.Name, "app.tasks.") && strings.Contains(s.Name, "{class=") {
		return 0
	}
	for _, g := range generals {
		if monitor.Match(g.pattern, s.Name) {
			return g.general
		}
	}
	return 0
}

// demand are monitors of how the CPUs of the machine are used, by whomever.
var demand = []string{"os.runnable_ns", "os.run_queue", "os.machine.cpu_ns", `os.machine.pressure_ns{of="cpu"}`, "os.machine.context_switches"}

func ofDemand(name string) bool { return in(demand, name) }

// minorShare is the largest share of the finished tasks that a class has whose tasks are not what the throughput is about.
const minorShare = 0.1

// minorClasses are label lists of classes of few tasks. If these become more they may be why others wait.
func (p *Profile) minorClasses() map[string]bool {
	const finished = "app.tasks.finished"
	all := 0.0
	of := map[string]float64{}
	for i := range p.Table.Series {
		s := &p.Table.Series[i]
		base, labels, _ := strings.Cut(s.Name, "{")
		if base != finished {
			continue
		}
		if _, n := timeseries.Sum(p.Table, s); labels == "" {
			all = n
		} else {
			of[labels] = n
		}
	}
	minor := map[string]bool{}
	for labels, n := range of {
		minor[labels] = n <= minorShare*all
	}
	return minor
}

// restates reports whether a series says the same as a metric in other words.
func (p *Profile) restates(target *formula.Metric) func(vertical.Series) bool {
	minor := p.minorClasses()
	return func(s vertical.Series) bool {
		base, labels, _ := strings.Cut(s.Name, "{")
		if slices.Contains(totals, s.Name) && in(families[0], target.From...) {
			return true
		}
		if strings.HasPrefix(base, "app.tasks.") && minor[labels] && !slices.Contains(target.From, s.Name) {
			return false
		}
		return slices.ContainsFunc(target.From, func(from string) bool {
			of, _, _ := strings.Cut(from, "{")
			return base == of || slices.ContainsFunc(families, func(f []string) bool { return in(f, from) && in(f, s.Name) })
		})
	}
}

func in(family []string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(family, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// ownDemand reports whether the program's own threads compute more in a range than around it.
func (p *Profile) ownDemand(in vertical.Range) bool {
	for _, s := range p.Monitors() {
		if s.Name != `os.cpu_ns{kind="application"}` || in.Len() == 0 {
			continue
		}
		around := append(slices.Clone(s.Values[max(0, in.From-in.Len()):in.From]), s.Values[in.To:min(len(s.Values), in.To+in.Len())]...)
		during, usual := vertical.Mean(s.Values[in.From:in.To]), vertical.Mean(around)
		return !math.IsNaN(during) && during > 1.2*usual
	}
	return false
}
