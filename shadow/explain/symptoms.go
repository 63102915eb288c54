package explain

import (
	"math"
	"slices"
	"strings"

	analysis "stackagent/granularity/vertical"
	"stackagent/hpc/monitor"
	"stackagent/shadow/metric"
	"stackagent/shadow/vertical"
)

// families are monitors that count the same events as the metric, or follow from them: they restate it. The program's own
// threads compute in tasks for the most part.
var families = [][]string{
	{"app.tasks.", "app.executor.", "app.pool.", `os.cpu_ns{kind="application"}`},
}

// generals are monitors of the use of a resource as a whole, which most causes change.
var generals = []string{"os.cpu_ns", "os.runnable_ns", "os.context_switches", "os.cpu.*", "vm.application_time_ns", "app.tasks.in_flight"}

func general(s analysis.Series) bool {
	return slices.ContainsFunc(generals, func(pattern string) bool {
		return monitor.Match(pattern, s.Name) && !strings.Contains(s.Name, "class=")
	})
}

func waitsForCPU(name string) bool { return name == "os.runnable_ns" }

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
		if _, n := vertical.Sum(p.Table, s); labels == "" {
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
func (p *Profile) restates(target *metric.Metric) func(analysis.Series) bool {
	minor := p.minorClasses()
	return func(s analysis.Series) bool {
		base, labels, _ := strings.Cut(s.Name, "{")
		if strings.HasPrefix(base, "app.tasks.") && minor[labels] && !slices.Contains(target.From, s.Name) {
			return false
		}
		return slices.ContainsFunc(target.From, func(from string) bool {
			of, _, _ := strings.Cut(from, "{")
			return base == of || slices.ContainsFunc(families, func(f []string) bool { return in(f, from) && in(f, s.Name) })
		})
	}
}

func in(family []string, name string) bool {
	return slices.ContainsFunc(family, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// ownDemand reports whether the program's own threads compute more in a range than around it.
func (p *Profile) ownDemand(in analysis.Range) bool {
	for _, s := range p.Monitors() {
		if s.Name != `os.cpu_ns{kind="application"}` || in.Len() == 0 {
			continue
		}
		around := append(slices.Clone(s.Values[max(0, in.From-in.Len()):in.From]), s.Values[in.To:min(len(s.Values), in.To+in.Len())]...)
		during, usual := mean(s.Values[in.From:in.To]), mean(around)
		return !math.IsNaN(during) && during > 1.2*usual
	}
	return false
}
