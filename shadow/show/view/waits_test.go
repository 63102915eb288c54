package view

import (
	"testing"

	"stackagent/granularity"
)

// TestWaits: the queue times of the few slow executions that were recorded are not those of a class.
func TestWaits(t *testing.T) {
	queue := func(n int64) granularity.Metrics {
		return granularity.Metrics{granularity.MetricOf(2, false): {Name: granularity.QueueName, Count: n, P50: 7}}
	}
	for _, c := range []struct {
		executions, summarised, known int64
		shown                         bool
	}{{100, 0, 3, true}, {100, 90, 50, true}, {100, 90, 49, false}, {100, 100, 0, false}} {
		r := granularity.Hotspot{Executions: c.executions, Summarised: c.summarised, Metrics: queue(c.known)}
		if got := waits(&r).Count > 0; got != (c.shown && c.known > 0) {
			t.Errorf("%+v: shown: %v", c, got)
		}
	}
}
