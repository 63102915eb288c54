package part

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// answer is a tool's answer about a class, or about all ("" is its name): the figures
// that all compared tools give.
type answer struct {
	Class      string                        `json:"class"`
	Executions uint64                        `json:"executions"`
	Created    uint64                        `json:"created"`
	Never      uint64                        `json:"never_executed"`
	Metrics    map[string]map[string]float64 `json:"metrics"`
}

// parseStats reads the form of `shadow stats --format json`.
func parseStats(data string) ([]answer, error) {
	var s struct {
		Tasks   answer                        `json:"tasks"`
		Metrics map[string]map[string]float64 `json:"metrics"`
	}
	if err := json.Unmarshal([]byte(data), &s); err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	s.Tasks.Metrics = s.Metrics
	return []answer{s.Tasks}, nil
}

// parseHotspots reads the form of `shadow hotspots --format json`.
func parseHotspots(data string) ([]answer, error) {
	var rows []answer
	if err := json.Unmarshal([]byte(data), &rows); err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	return rows, nil
}

// compared are the figures of a metric that must be equal, quantiles but for the error that an answer gives. The standard deviation may
// differ slightly: it is a floating-point sum, and the order differs.
var compared = []string{"count", "sum", "min", "p1", "p5", "p25", "p50", "p75", "p95", "p99", "p999", "max"}

// sameAnswers returns what differs between two tools' answers to one question, nil if
// they are equal. No answers at all are not equal.
func sameAnswers(a, b []answer) error {
	if len(a) == 0 || len(a) != len(b) {
		return fmt.Errorf("%d classes and %d", len(a), len(b))
	}
	theirs := map[string]answer{}
	for _, x := range b {
		theirs[x.Class] = x
	}
	for _, x := range a {
		y, found := theirs[x.Class]
		switch {
		case !found:
			return fmt.Errorf("class %s is missing", x.Class)
		case x.Executions != y.Executions || x.Created != y.Created || x.Never != y.Never:
			return fmt.Errorf("class %q: %d executions of %d tasks, %d not executed; and %d of %d, %d", x.Class,
				x.Executions, x.Created, x.Never, y.Executions, y.Created, y.Never)
		case len(y.Metrics) == 0:
			return fmt.Errorf("class %q has no metrics", x.Class)
		}
		for _, metric := range slices.Sorted(maps.Keys(y.Metrics)) {
			if err := sameFigures(x.Metrics[metric], y.Metrics[metric]); err != nil {
				return fmt.Errorf("class %q, %s: %w", x.Class, metric, err)
			}
		}
	}
	return nil
}

func sameFigures(a, b map[string]float64) error {
	for _, name := range compared {
		x, there := a[name]
		y, too := b[name]
		off := 0.0
		if e := max(a["relative_error"], b["relative_error"]); e > 0 && name[0] == 'p' {
			off = e*math.Max(math.Abs(x), math.Abs(y)) + 1 // a middle is rounded
		}
		if !there || !too || math.Abs(x-y) > off {
			return fmt.Errorf("%s: %v and %v", name, x, y)
		}
	}
	if x, y := a["stddev"], b["stddev"]; math.Abs(x-y) > 1e-6*math.Max(math.Abs(x), math.Abs(y)) {
		return fmt.Errorf("stddev: %v and %v", x, y)
	}
	return nil
}
