package session

import (
	"slices"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

func TestMetrics(t *testing.T) {
	list := MetricsOf(&store.Manifest{
		Metrics: []string{"wall", "alloc"}, Extra: []store.ExtraMetric{{Name: "alloc", Unit: "bytes", Column: "alloc_bytes"}, {Name: "cycles", Column: "cycles"}},
		Submissions: &store.RecordAccount{Summarised: 1},
	})
	c := &Chunk{WallNs: []units.Ns{1}, SelfWallNs: []units.Ns{2}, QueueNs: []units.Ns{3}, Extra: [][]units.Ns{{4}}, SelfExtra: [][]units.Ns{{5}}}
	task := &Task{WallNs: 1, SelfWallNs: 2, CPUNs: 6, SelfCPUNs: 7, QueueNs: 3, Extra: []units.Ns{4}, SelfExtra: []units.Ns{5}}
	for i, want := range []struct {
		name, unit          string
		measured            bool
		columns             store.Columns
		total, self         []units.Ns
		taskTotal, taskSelf units.Ns
		summary             wire.Metric
	}{
		{"wall", "ns", true, store.ExecutionWall | store.ExecutionSelfWall, []units.Ns{1}, []units.Ns{2}, 1, 2, wire.MetricWall},
		{"cpu", "ns", false, store.ExecutionCPU | store.ExecutionSelfCPU, nil, nil, 6, 7, wire.MetricCPU},
		{"alloc_bytes", "bytes", true, store.ExecutionExtra(0) | store.ExecutionSelfExtra(0), []units.Ns{4}, []units.Ns{5}, 4, 5, wire.MetricOfExtra(0, false)},
		{"cycles", "", false, store.ExecutionExtra(1) | store.ExecutionSelfExtra(1), nil, nil, units.NotMeasured, units.NotMeasured, wire.MetricOfExtra(1, false)},
		{"queue", "ns", true, store.ExecutionQueue, []units.Ns{3}, nil, 3, units.NotMeasured, wire.MetricQueue},
	} {
		m := &list[i]
		total, self := m.Values(c)
		taskTotal, taskSelf := m.Of(task)
		if m.Name != want.name || m.Unit != want.unit || m.Measured != want.measured || m.Total|m.Self != want.columns || m.SummaryTotal != want.summary ||
			!slices.Equal(total, want.total) || !slices.Equal(self, want.self) || taskTotal != want.taskTotal || taskSelf != want.taskSelf {
			t.Errorf("%+v: values %v, %v; task %d, %d", m, total, self, taskTotal, taskSelf)
		}
	}
}
