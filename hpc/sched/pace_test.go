package sched

import (
	"testing"
	"time"

	"stackagent/internal/units"
)

// A source that wakes the observer is looked at often only while looks must not be late.
func TestPace(t *testing.T) {
	long := now() - units.MonoNs(time.Minute)
	one := func(change func(o *Observer, p *process)) *Observer {
		p := &process{b: newBuilder(1, long), runs: true}
		o := &Observer{listen: func() {}, processes: map[int]*process{1: p}}
		change(o, p)
		return o
	}
	for name, c := range map[string]struct {
		change func(o *Observer, p *process)
		want   time.Duration
	}{
		"it works":                      {func(*Observer, *process) {}, steadyInterval},
		"a source that wakes nobody":    {func(o *Observer, _ *process) { o.listen = nil }, pollInterval},
		"it is new":                     {func(_ *Observer, p *process) { p.b.begin = now() }, pollInterval},
		"it has just been launched":     {func(o *Observer, _ *process) { o.launched.Store(int64(now())) }, pollInterval},
		"it has just collected garbage": {func(_ *Observer, p *process) { p.gc.collected = now() }, pollInterval},
		"in a container":                {func(_ *Observer, p *process) { p.b.inside = true }, pollInterval},
		"quiet":                         {func(_ *Observer, p *process) { p.runs = false }, 2 * steadyInterval},
		"nothing runs, many records":    {func(o *Observer, p *process) { p.runs, o.recent = false, quietEvents+1 }, steadyInterval},
		"ended":                         {func(_ *Observer, p *process) { p.over = true }, idleInterval},
	} {
		if got := one(c.change).pace(steadyInterval); got != c.want {
			t.Errorf("%s: the next look is in %v, want %v", name, got, c.want)
		}
	}
	if got := one(func(_ *Observer, p *process) { p.runs = false }).pace(quietInterval); got != quietInterval {
		t.Errorf("quiet for long: the next look is in %v, want %v", got, quietInterval)
	}
}
