package agent

import (
	"slices"
	"testing"

	"stackagent/agent/options"
)

// Each metric that the options know by a name of its own has a source, and no other has.
func TestSources(t *testing.T) {
	names := slices.DeleteFunc(options.MetricNames(), func(m string) bool { return m == "wall" || m == "cpu" })
	if len(sources) != len(names) {
		t.Errorf("%d sources for the metrics %v", len(sources), names)
	}
	for _, name := range names {
		list := work(&options.Options{Metrics: []string{"wall", name}})
		if source, ok := sources[name]; !ok || len(list) != 1 || list[0].Name != name || list[0].Source != source {
			t.Errorf("%s is measured as %+v; add it to sources", name, list)
		}
	}
	if list := work(&options.Options{Metrics: []string{"unknown"}}); len(list) != 0 {
		t.Errorf("an unknown metric is measured as %+v", list)
	}
}
