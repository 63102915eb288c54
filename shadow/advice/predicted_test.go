package advice

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
)

// recordedPool has units that one worker computed one after the other, each for 10 ms, on two processors.
func recordedPool() Pool {
	const each = 10 * milli
	p := busyPool(1, 1000*milli, 100)
	setQueue(&p, 500*milli)
	p.Recorded = &predict.Pool{Workers: 1, CPUs: 2, By: units.NotMeasured}
	for i := range units.MonoNs(100) {
		p.Recorded.Units = append(p.Recorded.Units, predict.Unit{Start: i * units.MonoNs(each), End: (i + 1) * units.MonoNs(each), CPU: each})
	}
	return p
}

// TestPredicted: what a replay says goes with the advice: 1 s of work takes two workers half of it.
func TestPredicted(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Pool)
		want   Predicted
		says   string
	}{
		{"two workers", func(*Pool) {}, Predicted{1500 * milli, 500 * milli, 1000 * milli, 1000 * milli, ""}, "A replay of the recorded units with this change takes 500 ms instead of 1.00 s."},
		{"never more than the bound", func(p *Pool) { p.Elsewhere = 400 * milli }, Predicted{1700 * milli, 700 * milli, 1000 * milli, 1000 * milli, ""}, "700 ms instead of 1.00 s"},
		{"tasks left", func(p *Pool) { p.Left = 10 }, Predicted{0, 0, 1000 * milli, 1000 * milli, "tasks were left when the run ended, so it may get more done instead of ending earlier"}, "There is no prediction: tasks were left"},
		{"something else takes the time", func(p *Pool) {
			for i := range p.Recorded.Units {
				p.Recorded.Units[i].Ready, p.Recorded.Units[i].CPU = 8*milli, 2*milli
			}
		}, Predicted{0, 0, 1000 * milli, 200 * milli, "a replay of the pool as it was does not take as long as it took"}, "There is no prediction: a replay"},
		{"summarised", func(p *Pool) { p.Recorded.Missing = true }, Predicted{0, 0, 0, 0, "not all of its units were recorded one by one"}, "There is no prediction: not all"},
	} {
		p := recordedPool()
		c.change(&p)
		found := advise(&UnitFacts{Read: true, Duration: 2000 * milli, CPUs: 2, Pools: []Pool{p}})
		if names(found) != "pool-too-small" || found[0].Predicted == nil || *found[0].Predicted != c.want || !strings.Contains(found[0].Text(), c.says) {
			t.Errorf("%s: %s %+v, want %+v", c.name, names(found), found, c.want)
			continue
		}
		var got struct{ Predicted Predicted }
		if b, err := json.Marshal(found[0]); err != nil || json.Unmarshal(b, &got) != nil || got.Predicted != c.want {
			t.Errorf("%s: %s, %v", c.name, b, err)
		}
	}
}
