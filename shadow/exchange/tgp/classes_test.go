package tgp

import (
	"math"
	"reflect"
	"testing"
)

// sampled is a trace of three classes: A with three tasks of 10, 20 and 30, B
// with one of 1000, C with two of which one was not measured; and samples.
func sampled() ([]Task, []string, Samples) {
	task := func(class int32, work, from, to int64) Task {
		return Task{ID: from + 1, Execution: 1, Class: class, Granularity: work, Entry: from, Exit: to}
	}
	tasks := []Task{
		task(0, 10, 0, 10), task(0, 20, 5, 20), task(0, 30, 30, 40),
		task(1, 1000, 50, 100),
		task(2, 1, 60, 61), task(2, None, 62, 63),
		{ID: 99, Outer: None, Entry: None, Exit: None, Class: 0, Granularity: None}, // never executed
		{ID: 98, Execution: 1, Entry: 5, Exit: None, Class: 1, Granularity: None},   // still running
	}
	return tasks, []string{"A", "B", "C"}, Samples{
		Switches: []Switches{{7, 100}, {15, 10}, {25, 1}, {40, 1000}, {55, 7}, {200, 3}},
		CPU:      []Utilisation{{7, 50, 10}, {35, 20, 0}, {300, 99, 1}},
	}
}

func TestOnlyFine(t *testing.T) {
	tasks, classes, s := sampled()
	got, outside := Only(tasks, classes, Limits{MaxGranularity: 100, MaxDifference: 20, MinTasks: 3}, s)
	// 7 lies in two executions of A, 15 in one, 40 at the end of one: (2*100+10+1000)/4.
	want := []Class{{Name: "A", Tasks: 3, Mean: 20, Min: 10, Max: 30, Switches: &Mean{4, 302.5}, CPU: &Mean{3, (2*60.0 + 20) / 3}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fine: %+v, want %+v", got, want)
	}
	if want := (&Mean{3, (1 + 7 + 3) / 3.0}); !reflect.DeepEqual(outside, want) {
		t.Errorf("outside: %+v, want %+v", outside, want)
	}
}

// TestOnlyLimits: each limit alone excludes the class, at its very edge it does not.
func TestOnlyLimits(t *testing.T) {
	tasks, classes, _ := sampled()
	edge := Limits{MinGranularity: 10, MaxGranularity: 30, MaxDifference: 20, MinTasks: 3, MaxTasks: 3}
	for name, change := range map[string]func(*Limits){
		"min": func(l *Limits) { l.MinGranularity++ }, "max": func(l *Limits) { l.MaxGranularity-- },
		"difference": func(l *Limits) { l.MaxDifference-- }, "few": func(l *Limits) { l.MinTasks++ }, "many": func(l *Limits) { l.MaxTasks-- },
	} {
		l := edge
		if got, _ := Only(tasks, classes, l, Samples{}); len(got) != 1 || got[0].Name != "A" || got[0].Switches != nil {
			t.Errorf("at the edge: %+v", got)
		}
		change(&l)
		if got, _ := Only(tasks, classes, l, Samples{}); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got, _ := Only(tasks, classes, Limits{MaxGranularity: math.MaxInt64, MaxDifference: -1, MinTasks: 1}, Samples{}); len(got) != 2 {
		t.Errorf("a class with a task not measured counts: %+v", got)
	}
}

func TestDiagnose(t *testing.T) {
	tasks, _, s := sampled()
	d := Diagnose(tasks, func(t *Task) bool { return t.Class == 0 }, 100, s)
	if d.Tasks != 3 || d.NotMeasured != 0 || d.Mean != 20 || d.P1 != 10 || d.P50 != 20 || d.P99 != 30 || d.P25 != 10 || d.P75 != 30 {
		t.Errorf("%+v", d)
	}
	if d.WhiskerLow != 0 || d.WhiskerHigh != 30 || d.Within != 1 || d.Around != 1 {
		t.Errorf("whiskers %+v", d)
	}
	// 7, 15 and 40 once each; CPU 60 and 20: mean 40, s = 28.28, 1.96*28.28/1.414.
	if d.Switches == nil || *d.Switches != (Mean{3, 370}) || d.CPU == nil || *d.CPU != (Mean{2, 40}) || math.Abs(*d.CPUError-39.2) > 1e-9 {
		t.Errorf("machine %+v %+v %v", d.Switches, d.CPU, d.CPUError)
	}
	if all := Diagnose(tasks, func(*Task) bool { return true }, 1, Samples{}); all.Tasks != 5 || all.NotMeasured != 1 || all.Around != 2.0/5 || all.CPU != nil {
		t.Errorf("all: %+v", all)
	}
	if none := Diagnose(nil, nil, 1, s); none.Tasks != 0 || none.Switches != nil {
		t.Errorf("none: %+v", none)
	}
}

func TestOutsidePauses(t *testing.T) {
	kept := Samples{Switches: []Switches{{9, 1}, {10, 1}, {15, 1}, {20, 1}, {21, 1}, {35, 1}}}.Outside([]Pause{{30, 40}, {10, 20}}).Switches
	if want := []Switches{{9, 1}, {21, 1}}; !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
}
