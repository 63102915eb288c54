package tgp

import (
	"cmp"
	"slices"
)

// Limits choose classes that spawn only fine-grained or only coarse-grained
// tasks. Their defaults are tgp's.
type Limits struct {
	MinGranularity int64 // of every task
	MaxGranularity int64 // of every task
	MaxDifference  int64 // between the greatest and the smallest of the class; below 0: no limit
	MinTasks       int64
	MaxTasks       int64 // 0: no limit
}

// The limits by default.
var (
	Fine   = Limits{MinGranularity: 0, MaxGranularity: 1e8, MaxDifference: 1e8, MinTasks: 1}
	Coarse = Limits{MinGranularity: 1e9, MaxGranularity: 1e11, MaxDifference: -1, MinTasks: 1, MaxTasks: 100}
)

// Class is a class with all its tasks within Limits.
type Class struct {
	Name     string  `json:"class"`
	Tasks    int64   `json:"tasks"`
	Mean     float64 `json:"mean_granularity"`
	Min      int64   `json:"min_granularity"`
	Max      int64   `json:"max_granularity"`
	Switches *Mean   `json:"context_switches,omitempty"` // per sample taken during its tasks; nil: no sample was
	CPU      *Mean   `json:"cpu_percent,omitempty"`      // user and kernel, per sample taken during its tasks; nil: no sample was
}

// Mean is an average over samples. A sample counts once for each execution
// during which it was taken.
type Mean struct {
	Samples int64   `json:"samples"`
	Mean    float64 `json:"mean"`
}

// Samples are the two traces of the machine.
type Samples struct {
	Switches []Switches
	CPU      []Utilisation
}

// Only finds the classes with all their executions within l, most tasks first.
// outside is the mean number of context switches in the samples taken while no
// task of such a class was executed; nil if there is none.
func Only(tasks []Task, classes []string, l Limits, s Samples) (found []Class, outside *Mean) {
	per := map[int32]*classSum{}
	for i := range tasks {
		if t := &tasks[i]; t.Ended() {
			if per[t.Class] == nil {
				per[t.Class] = &classSum{Class: Class{Name: classes[t.Class], Min: t.Granularity, Max: t.Granularity}}
			}
			per[t.Class].add(t)
		}
	}
	var all spans
	for id, c := range per {
		if !c.within(l) {
			delete(per, id)
			continue
		}
		c.sort()
		c.Mean = float64(c.sum) / float64(c.Tasks)
		c.Switches, c.CPU = meanOf(s.Switches, c.around), meanOf(s.CPU, c.around)
		all.from, all.to = append(all.from, c.from...), append(all.to, c.to...)
		found = append(found, c.Class)
	}
	all.sort()
	slices.SortFunc(found, func(a, b Class) int { return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Name, b.Name)) })
	return found, meanOf(s.Switches, func(at int64) int { return 1 - min(all.around(at), 1) })
}

type classSum struct {
	Class
	spans
	sum     int64
	unknown bool // a granularity was not measured: nothing is known of the class
}

func (c *classSum) add(t *Task) {
	c.Tasks++
	c.unknown = c.unknown || t.Granularity == None
	c.sum += t.Granularity
	c.Min, c.Max = min(c.Min, t.Granularity), max(c.Max, t.Granularity)
	c.spans.add(t.Entry, t.Exit)
}

func (c *classSum) within(l Limits) bool {
	return !c.unknown && c.Min >= l.MinGranularity && c.Max <= l.MaxGranularity &&
		(l.MaxDifference < 0 || c.Max-c.Min <= l.MaxDifference) &&
		c.Tasks >= l.MinTasks && (l.MaxTasks == 0 || c.Tasks <= l.MaxTasks)
}
