package tgp

import (
	"math"
	"slices"
)

// Diagnosis describes the granularity of executions and the machine meanwhile.
// Percentiles are nearest-rank ones: the smallest value with at least that
// share of all at or below it.
type Diagnosis struct {
	Tasks       int64   `json:"tasks"`        // executions that ended, with a granularity
	NotMeasured int64   `json:"not_measured"` // without one
	Mean        float64 `json:"mean_granularity"`
	P1          int64   `json:"p1"`
	P5          int64   `json:"p5"`
	P25         int64   `json:"p25"`
	P50         int64   `json:"p50"`
	P75         int64   `json:"p75"`
	P95         int64   `json:"p95"`
	P99         int64   `json:"p99"`
	// WhiskerLow and WhiskerHigh are 1.5 interquartile ranges from the quartiles,
	// the low one not below 0 and the high one not above the greatest value;
	// Within is the share of tasks between them, 0 to 1.
	WhiskerLow  float64 `json:"whisker_low"`
	WhiskerHigh float64 `json:"whisker_high"`
	Within      float64 `json:"within_whiskers"`
	// Around is the share of tasks whose granularity is within a factor of ten
	// of Centre.
	Centre int64   `json:"centre"`
	Around float64 `json:"around_centre"`
	// Switches and CPU are over the samples taken while any of the tasks was
	// executed, each counted once; CPUError is half the width of the 95 %
	// confidence interval of CPU. nil: no such samples.
	Switches *Mean    `json:"context_switches,omitempty"`
	CPU      *Mean    `json:"cpu_percent,omitempty"`
	CPUError *float64 `json:"cpu_percent_error,omitempty"`
}

// zScore is that of a 95 % confidence interval.
const zScore = 1.96

// Diagnose describes those tasks that pass; centre chooses what Around is
// about.
func Diagnose(tasks []Task, pass func(*Task) bool, centre int64, s Samples) Diagnosis {
	d := Diagnosis{Centre: centre}
	var values []int64
	var sp spans
	for i := range tasks {
		t := &tasks[i]
		switch {
		case !t.Ended() || !pass(t):
			continue
		case t.Granularity == None:
			d.NotMeasured++
		default:
			values = append(values, t.Granularity)
		}
		sp.add(t.Entry, t.Exit)
	}
	sp.sort()
	slices.Sort(values)
	d.describe(values)
	d.machine(&sp, s)
	return d
}

func (d *Diagnosis) describe(sorted []int64) {
	n := len(sorted)
	d.Tasks = int64(n)
	if n == 0 {
		return
	}
	at := func(percent int) int64 { return sorted[max((percent*n+99)/100, 1)-1] }
	d.P1, d.P5, d.P25, d.P50, d.P75, d.P95, d.P99 = at(1), at(5), at(25), at(50), at(75), at(95), at(99)
	reach := 1.5 * float64(d.P75-d.P25)
	d.WhiskerLow = max(0, float64(d.P25)-reach)
	d.WhiskerHigh = min(float64(sorted[n-1]), float64(d.P75)+reach)
	var sum float64
	var within, around int
	for _, v := range sorted {
		sum += float64(v)
		if float64(v) >= d.WhiskerLow && float64(v) <= d.WhiskerHigh {
			within++
		}
		if d.Centre > 0 && v > 0 && math.Abs(math.Log10(float64(d.Centre))-math.Log10(float64(v))) <= 1 {
			around++
		}
	}
	d.Mean = sum / float64(n)
	d.Within, d.Around = float64(within)/float64(n), float64(around)/float64(n)
}

func (d *Diagnosis) machine(sp *spans, s Samples) {
	once := func(at int64) int { return min(sp.around(at), 1) }
	d.Switches, d.CPU = meanOf(s.Switches, once), meanOf(s.CPU, once)
	if d.CPU == nil || d.CPU.Samples < 2 {
		return
	}
	var squares float64
	for _, u := range s.CPU {
		squares += float64(once(u.At)) * (u.value() - d.CPU.Mean) * (u.value() - d.CPU.Mean)
	}
	n := float64(d.CPU.Samples)
	d.CPUError = new(zScore * math.Sqrt(squares/(n-1)) / math.Sqrt(n))
}
