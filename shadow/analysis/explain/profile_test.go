package explain

import (
	"testing"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/timeseries"
)

// A monitor is what it was declared as, whatever its values do: a field that only grows is a level, as shadow monitors says.
func TestKindsAreDeclared(t *testing.T) {
	table := &timeseries.Table{Series: make([]timeseries.Series, 3)}
	for i, name := range []string{"app.field.com.acme.Cache.hits", "app.jmx.hits", "app.calls"} {
		s := &table.Series[i]
		s.Declaration = monitor.Declaration{Name: name, Kind: monitor.Gauge}
		if name == "app.calls" {
			s.Kind = monitor.Counter
		}
		for k := range 20 {
			s.Values, s.Ends = append(s.Values, float64(k)), append(s.Ends, float64(k))
		}
	}
	for k := range 21 {
		table.Edges = append(table.Edges, units.MonoNs(k*1e7))
	}
	p := New(table, 0)
	for i := range table.Series {
		s := &table.Series[i]
		m, err := p.Metrics.Metric("`" + s.Name + "`")
		if err != nil || m.Counter != (s.Kind == monitor.Counter) {
			t.Errorf("%s, a %v: counter %v, %v", s.Name, s.Kind, m != nil && m.Counter, err)
		}
		if _, err := p.Metrics.Metric("delta(`" + s.Name + "`)"); (err == nil) != (s.Kind == monitor.Gauge) {
			t.Errorf("the change of %s, a %v: %v", s.Name, s.Kind, err)
		}
	}
}
