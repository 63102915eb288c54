package budget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"stackagent/granularity/estimate"
	"stackagent/internal/expression"
	"stackagent/internal/text"
)

// Tree is the JSON of `shadow stats`, decoded with json.Number.
type Tree map[string]any

// Keys of a tree without figures: why a session cannot have any of it, or that the selector matches nothing.
const (
	missing = "missing"
	empty   = "empty"
)

// Missing says that the session cannot have what the tree is of, for the same reason all of it.
func (t Tree) Missing(why string) { t[missing] = text.OneLine(why) }

// Empty says that the selector of the tree matches nothing.
func (t Tree) Empty(why string) {
	t.Missing(why)
	t[empty] = true
}

// wholeRun is the key of the names in a tree that are of the whole run, whatever the selector.
const wholeRun = "whole_run"

// WholeRun says which names the selector of a tree does not limit.
func (t Tree) WholeRun(names []string) { t[wholeRun] = names }

// TreeOf is v as a tree. What v may have and has not, a struct's empty fields, is null.
func TreeOf(v any) (Tree, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	var t Tree
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	for _, key := range Keys(v) {
		if _, there := t[key]; !there {
			t[key] = nil
		}
	}
	if of := written(reflect.TypeOf(v)); of.Kind() == reflect.Struct {
		t[shape] = []reflect.Type{of}
	}
	return t, nil
}

// Add adds the figures of another tree; where both have a name, the other's count.
func (t Tree) Add(other Tree) {
	shapes := slices.Concat(t.shapes(), other.shapes())
	maps.Copy(t, other)
	t[shape] = shapes
}

func (t Tree) shapes() []reflect.Type {
	list, _ := t[shape].([]reflect.Type)
	return list
}

// Keys are the names of a struct's fields in JSON.
func Keys(v any) (keys []string) {
	of := reflect.Indirect(reflect.ValueOf(v)).Type()
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		if key := keyOf(of.Field(i)); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// Sample is a figure in each run.
type Sample struct {
	Values []float64
	Why    string // not available
	Empty  bool   // a run has nothing that it is of
	margin        // of the mean
}

// bound says that a figure is a bound at most, and why; "": it is none.
func (s Sample) bound(n Name) string {
	if why := s.unbounded(); why != "" {
		return n.String() + " is " + s.text(n.Unit(), estimate.Mean(s.Values).Mean) + ": " + why
	}
	return ""
}

// Missing says why a figure cannot be compared: it is not available, or a bound; "": it can.
func (s Sample) Missing(n Name) string {
	if s.Why != "" {
		return n.String() + " is not available: " + s.Why
	}
	return s.bound(n)
}

func (s Sample) value() value {
	if s.Why != "" {
		return value{why: s.Why}
	}
	v := number64(estimate.Mean(s.Values).Mean)
	v.margin = s.margin
	return v
}

// Figures are the figures of repeated runs of one program.
type Figures struct {
	Baseline *Baseline
	samples  map[Name]Sample
}

// Gather looks the names up in the trees of each run, by selector.
func Gather(names []Name, runs []map[Selector]Tree) (*Figures, error) {
	f := &Figures{samples: map[Name]Sample{}}
	for _, n := range names {
		s := Sample{}
		for i, trees := range runs {
			v, m, why, err := trees[n.Selector].look(n)
			switch {
			case err != nil:
				return nil, err
			case why != "" && s.Why == "":
				if s.Why = why; len(runs) > 1 {
					s.Why = fmt.Sprintf("run %d: %s", i+1, why)
				}
			}
			s.Empty = s.Empty || trees[n.Selector][empty] != nil || why != "" && why == trees[n.Selector].noMetric(n)
			s.Values = append(s.Values, v)
			s.margin = s.margin.plus(m.over(float64(len(runs))))
		}
		if s.Why != "" {
			s.Values = nil
		}
		f.samples[n] = s
	}
	return f, nil
}

// Sample is the figure of a name that was gathered.
func (f *Figures) Sample(n Name) Sample {
	if s, ok := f.samples[n]; ok {
		return s
	}
	return Sample{Why: "it was not looked up"}
}

func (f *Figures) value(n Name) value { return f.Sample(n).value() }

// Change is a figure against the baseline.
func (f *Figures) Change(n Name) Change {
	now, before := f.Sample(n), f.Baseline.sample(n)
	if why := cmp.Or(now.Why, before.Why, now.bound(n)); why != "" {
		return Change{Why: why}
	}
	a, b := estimate.Mean(now.Values).Mean, estimate.Mean(before.Values).Mean
	if b == 0 {
		if a == 0 {
			return Change{Interval: estimate.Interval{N: min(len(now.Values), len(before.Values))}}
		}
		return Change{Why: "it was 0 in the baseline: compare it with a number"}
	}
	if b < 0 {
		return Change{Why: "it was below 0 in the baseline: compare it with a number"}
	}
	r := estimate.Ratio(now.Values, before.Values)
	r.Mean, r.Low, r.High = r.Mean-1, r.Low-1, r.High-1
	return Change{Interval: r}
}

// look finds a figure: a number and how far it may be off, or why there is none. An error is a name that no session has.
func (t Tree) look(n Name) (v float64, m margin, why string, err error) {
	parts := strings.Split(n.Path, ".")
	if whole, _ := t[wholeRun].([]string); slices.Contains(whole, parts[0]) {
		return 0, m, "", &expression.Error{Expr: n.String(), Column: -1, Text: n.Path + " is of the whole run: write it without " + n.Selector.String()}
	}
	if _, ok := t["tasks"]; !ok && parts[0] == "tasks" && len(parts) > 1 {
		parts = parts[1:] // a row of a listing has them itself
	}
	if !t.known(parts) {
		return 0, m, "", t.unknown(n)
	}
	if why, ok := t[missing].(string); ok {
		return 0, m, why, nil
	}
	if missing, ok := t["not_available"].(map[string]any); ok && !t.has(parts[0]) {
		if why, ok := missing[parts[0]].(string); ok {
			return 0, m, text.OneLine(why), nil
		}
	}
	of, in := map[string]any(t), ""
	if metrics, _ := t["metrics"].(map[string]any); of[parts[0]] == nil {
		d, ok := metrics[parts[0]].(map[string]any)
		switch {
		case !ok && isMetric(parts[0]):
			return 0, m, t.noMetric(n), nil
		case ok:
			of, in = metrics, "metrics."
			m = t.margin(in + n.Path)
			if len(parts) == 2 && counts[parts[1]] && d[parts[1]] == nil {
				return 0, m, m.unknown(), nil // left out where it is 0
			}
			if len(parts) == 2 && !counts[parts[1]] && parts[1] != "sum" && isZero(d["count"]) && d[parts[1]] != nil {
				return 0, m, t.noMetric(n), nil
			}
		}
	}
	if tasks, ok := t["tasks"].(map[string]any); ok && of[parts[0]] == nil {
		if _, ok := tasks[parts[0]]; ok {
			of, in = tasks, "tasks." // executions is short for tasks.executions
		}
	}
	m = t.margin(in + n.Path)
	v, why, err = t.walk(n, of, parts)
	if why == "" || m.unknown() != "" {
		why = m.unknown()
	}
	return v, m, why, err
}

// has reports whether a tree has a figure, or figures, under this name: a reason of the same name is about others.
func (t Tree) has(name string) bool {
	_, top := t[name]
	tasks, _ := t["tasks"].(map[string]any)
	_, short := tasks[name]
	return top || short
}

// walk follows the parts of a name.
func (t Tree) walk(n Name, of map[string]any, parts []string) (float64, string, error) {
	for i, part := range parts {
		x, ok := of[part]
		if !ok {
			return 0, "", t.unknown(n)
		}
		switch x := x.(type) {
		case json.Number:
			if v, err := x.Float64(); err == nil && i == len(parts)-1 {
				return v, "", nil
			}
		case bool:
			if i == len(parts)-1 {
				return truth(x).v, "", nil
			}
		case nil:
			if why, ok := of[part+"_not_available"].(string); ok && why != "" {
				return 0, text.OneLine(why), nil
			}
			return 0, "the session does not have it", nil
		case map[string]any:
			if i < len(parts)-1 {
				of = x
				continue
			}
		}
		return 0, "", t.unknown(n)
	}
	return 0, "", t.unknown(n)
}

func isZero(x any) bool { return x == json.Number("0") }

// noMetric says why a metric has no value.
func (t Tree) noMetric(n Name) string {
	metric, _, _ := strings.Cut(n.Path, ".")
	if n.Glob != "" {
		return text.OneLine(fmt.Sprintf("%s matches nothing that has a value of %s", n.Selector, metric))
	}
	return "the session has no value of " + metric
}

// unknown is the error of a name that no session has.
func (t Tree) unknown(n Name) error {
	message, names := "no figure is called "+n.Path, t.Names()
	for _, metric := range measured {
		for _, field := range t.ofMetrics() {
			names = append(names, metric+"."+field, "self_"+metric+"."+field)
		}
	}
	if near := text.DidYouMean(n.Path, names); near != "" {
		message += near
	} else {
		message += ": names are those of shadow stats --format json, as cpu_ns.max or tasks.executions"
	}
	return &expression.Error{Expr: n.String(), Column: -1, Text: message}
}

// Names are the figures that there are, sorted.
func (t Tree) Names() []string {
	var names []string
	var add func(prefix string, of map[string]any)
	add = func(prefix string, of map[string]any) {
		for key, x := range of {
			switch x := x.(type) {
			case json.Number, bool:
				names = append(names, prefix+key)
			case map[string]any:
				if prefix == "" && key == "metrics" {
					add("", x)
				} else {
					add(prefix+key+".", x)
				}
			}
		}
	}
	add("", maps.Clone(t))
	slices.Sort(names)
	return names
}
