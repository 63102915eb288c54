package summary

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Filter chooses task classes, and executions of one trace. The zero value lets all pass.
type Filter struct {
	App   bool   `json:"app,omitempty"`   // leave out classes of the platform
	Class string `json:"class,omitempty"` // glob over the Java name: *, ?, [a-z]
	Trace string `json:"trace,omitempty"` // only executions of the trace with this id, 32 hexadecimal digits
	not   string // a name that does not pass; not shown
}

// ErrBadGlob is a class glob that is not well formed.
var ErrBadGlob = errors.New("bad class pattern")

// Active reports whether the filter leaves anything out.
func (f Filter) Active() bool { return f.App || f.Class != "" || f.Trace != "" }

// Check reports whether the class glob and the id of the trace are well formed.
func (f Filter) Check() error {
	if f.Trace != "" {
		if _, err := store.ParseTraceID(f.Trace); err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
	}
	if _, err := path.Match(f.Class, ""); err != nil {
		return fmt.Errorf("%w %q: %w (use *, ? and [...])", ErrBadGlob, f.Class, err)
	}
	return nil
}

// Match reports whether a class passes; the trace is of executions, not of classes. A glob's * matches dots too, since class
// names hold no slash; a name that is equal always matches.
func (f Filter) Match(name string, kinds units.Kinds) bool {
	if f.not != "" && name == f.not || f.App && unit.IsJDK(name, kinds) {
		return false
	}
	if f.Class == "" || f.Class == name {
		return true
	}
	// A slash in a hidden class's name would end a *.
	ok, err := path.Match(strings.ReplaceAll(f.Class, "/", "."), strings.ReplaceAll(name, "/", "."))
	return err == nil && ok
}

// MatchNamed is Match for a name that may replace a class of the JDK, "" if it does not.
func (f Filter) MatchNamed(name, taskClass string, kinds units.Kinds) bool {
	if f.Match(name, kinds) {
		return true
	}
	f.App = false
	return taskClass != "" && f.Class != "" && f.Match(taskClass, kinds)
}

// HotspotOptions says which rows of a listing to show.
type HotspotOptions struct {
	By     string // "class" (or ""), "thread", BySite, ByExecutor
	Sort   granularity.Order
	Metric string // by which work is sorted and shown, "alloc"; "": self CPU time, or self wall time
	Top    int    // 0: all
	Units  bool
	Each   bool // by executor: a row for each, also of those that one line makes
	Filter Filter
}

// ErrUnknownBy is a grouping that does not exist.
var ErrUnknownBy = errors.New("unknown grouping")

// ErrNoMetric is a metric that was not measured.
var ErrNoMetric = errors.New("not measured: metric")

// Hotspots lists the rows of s, sorted and cut. Listing by thread wants a
// summary built with Options.PerThread (and ignores Filter here: threads have
// no class).
func Hotspots(s *Summary, o HotspotOptions) ([]granularity.Hotspot, error) {
	if err := o.Filter.Check(); err != nil {
		return nil, err
	}
	var rows []granularity.Hotspot
	switch o.By {
	case BySite, ByExecutor: // of BuildByOrigin, which has filtered
		rows = append(make([]granularity.Hotspot, 0, len(s.Rows)), s.Rows...)
	case "", "class":
		rows = make([]granularity.Hotspot, 0, len(s.Rows))
		for _, r := range s.Rows {
			if o.Filter.MatchNamed(r.Class, r.TaskClass, r.Kinds) {
				rows = append(rows, r)
			}
		}
	case "thread":
		rows = append(make([]granularity.Hotspot, 0, len(s.ThreadRows)), s.ThreadRows...)
	default:
		return nil, fmt.Errorf("%w %q: use class, site, executor or thread", ErrUnknownBy, o.By)
	}
	if o.Metric != "" {
		by, ok := s.Metrics.Choose(o.Metric)
		if !ok {
			return nil, noMetric(s, o.Metric)
		}
		for i := range rows {
			rows[i].By = by
		}
	}
	if err := granularity.SortHotspots(rows, o.Sort); err != nil {
		return nil, err
	}
	if o.Top > 0 && len(rows) > o.Top {
		rows = rows[:o.Top]
	}
	return rows, nil
}
