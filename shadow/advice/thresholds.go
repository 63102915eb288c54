package advice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/units"
)

// threshold is one of Thresholds by the name that users give it.
type threshold struct {
	name string
	what string
	time func(*Thresholds) *units.Ns
	n    func(*Thresholds) *int64
	part func(*Thresholds) *float64
}

var thresholds = []threshold{
	{name: "fine-work", what: "ns: below this median of self work a class is fine-grained", time: func(t *Thresholds) *units.Ns { return &t.FineWork }},
	{name: "fine-units", what: "units from which a class is judged", n: func(t *Thresholds) *int64 { return &t.FineUnits }},
	{name: "fine-cost", what: "hand-over to work, from which it costs too much", part: func(t *Thresholds) *float64 { return &t.FineCost }},
	{name: "fine-gain", what: "share of the session that larger units could save, from which that is told", part: func(t *Thresholds) *float64 { return &t.FineGain }},
	{name: "churn", what: "threads started for little work each", n: func(t *Thresholds) *int64 { return &t.Churn }},
	{name: "pinned", what: "share of the carriers' time in which parked virtual threads keep them from others", part: func(t *Thresholds) *float64 { return &t.Pinned }},
	{name: "self-wait", what: "share of their time that workers wait for what is queued in their own pool", part: func(t *Thresholds) *float64 { return &t.SelfWait }},
	{name: "one-at-a-time", what: "share of the time in which two workers or more may want a processor where tasks run one at a time", part: func(t *Thresholds) *float64 { return &t.OneAtATime }},
	{name: "coarse-share", what: "share of a pool's time in one unit", part: func(t *Thresholds) *float64 { return &t.CoarseShare }},
	{name: "idle", what: "share of that time that a split could save", part: func(t *Thresholds) *float64 { return &t.Idle }},
	{name: "imbalance", what: "share of the time by which the busiest worker exceeds the mean", part: func(t *Thresholds) *float64 { return &t.Imbalance }},
	{name: "pool-units", what: "units from which a pool is judged", n: func(t *Thresholds) *int64 { return &t.PoolUnits }},
	{name: "pool-time", what: "ns of activity from which a pool is judged", time: func(t *Thresholds) *units.Ns { return &t.PoolTime }},
	{name: "starved", what: "share of their time that the workers of a pool too large wait for processors", part: func(t *Thresholds) *float64 { return &t.Starved }},
	{name: "crowd", what: "workers per processor of a pool too large", part: func(t *Thresholds) *float64 { return &t.Crowd }},
	{name: "busy", what: "share of the time from which a worker or processor is busy", part: func(t *Thresholds) *float64 { return &t.Busy }},
	{name: "wait-share", what: "share of their time below which tasks that compute so much wait", part: func(t *Thresholds) *float64 { return &t.WaitShare }},
	{name: "queued", what: "median queue time to median time of a unit, from which a queue is long", part: func(t *Thresholds) *float64 { return &t.Queued }},
	{name: "depth", what: "executions on one stack", n: func(t *Thresholds) *int64 { return &t.Depth }},
	{name: "swallowed", what: "units whose exception their future kept", n: func(t *Thresholds) *int64 { return &t.SwallowedUnits }},
	{name: "never-tasks", what: "tasks of the program that never ran", n: func(t *Thresholds) *int64 { return &t.NeverTasks }},
	{name: "taken", what: "share of the processors' time that other programs took from waiting threads, from which that is told", part: func(t *Thresholds) *float64 { return &t.Taken }},
	{name: "never-share", what: "share of those created", part: func(t *Thresholds) *float64 { return &t.NeverShare }},
}

// Set sets a threshold by a text like "fine-work=5000".
func (t *Thresholds) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	i := slices.IndexFunc(thresholds, func(x threshold) bool { return x.name == name })
	if !ok || i < 0 {
		return fmt.Errorf("threshold %.60q: want NAME=VALUE with a name of %s", text, strings.Join(ThresholdNames(), ", "))
	}
	x := thresholds[i]
	if x.part != nil {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= 1e9) {
			return fmt.Errorf("threshold %s: %.40q is no number from 0", name, value)
		}
		*x.part(t) = v
		return nil
	}
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil || v < 0 {
		return fmt.Errorf("threshold %s: %.40q is no whole number from 0", name, value)
	}
	if x.time != nil {
		*x.time(t) = units.Ns(v)
	} else {
		*x.n(t) = v
	}
	return nil
}

// ThresholdNames lists the names that Set knows.
func ThresholdNames() []string {
	var names []string
	for _, x := range thresholds {
		names = append(names, x.name)
	}
	return names
}
