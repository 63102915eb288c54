package budget

import (
	"reflect"
	"slices"
	"strings"
)

// shape is the key of the types that a tree was made of: they know the names that other sessions have.
const shape = "shape"

// aliased is a type that writes the JSON of another.
type aliased interface{ JSONSchemaAlias() any }

// written is the type whose fields stand in the JSON.
func written(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if a, ok := reflect.New(of).Interface().(aliased); ok {
		if to := reflect.TypeOf(a.JSONSchemaAlias()); to != of {
			return written(to)
		}
	}
	return of
}

// figureOf reports whether values of a type may have a figure, a number or a truth, under this name.
func figureOf(of reflect.Type, parts []string) bool {
	of = written(of)
	switch kind := of.Kind(); {
	case len(parts) == 0:
		return kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64
	case kind == reflect.Map:
		return figureOf(of.Elem(), parts[1:])
	case kind == reflect.Struct:
		return slices.ContainsFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
			return keyOf(f) == parts[0] && figureOf(f.Type, parts[1:])
		})
	}
	return false
}

// keyOf is the name of a field in JSON; "": it is not there.
func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if key == "-" || !f.IsExported() {
		return ""
	}
	return key
}

// known reports whether some session has a figure of this name, where the type of the tree tells.
func (t Tree) known(parts []string) bool {
	shapes := t.shapes()
	return len(shapes) == 0 || slices.ContainsFunc(shapes, func(of reflect.Type) bool {
		if figureOf(of, parts) || figureOf(of, append([]string{"tasks"}, parts...)) { // executions is short for tasks.executions
			return true
		}
		return t.mayMeasure(parts[0]) && figureOf(of, append([]string{"metrics"}, parts...))
	})
}

// mayMeasure reports whether a word is the name of a metric: one of the agent's, or one that the session has or says that it lacks.
func (t Tree) mayMeasure(word string) bool {
	metrics, _ := t["metrics"].(map[string]any)
	lacks, _ := t["not_available"].(map[string]any)
	return isMetric(word) || metrics[word] != nil || lacks[strings.TrimPrefix(word, "self_")] != nil
}

// measured are the metrics that every agent knows.
var measured = []string{"wall_ns", "cpu_ns", "queue_ns", "delay_ns", "alloc_bytes", "bytecodes", "instructions", "cycles", "ref_cycles"}

// isMetric reports whether a name is one of a metric that a session may lack.
func isMetric(word string) bool { return slices.Contains(measured, strings.TrimPrefix(word, "self_")) }

// ofMetrics are the figures of each metric.
func (t Tree) ofMetrics() (names []string) {
	for _, of := range t.shapes() {
		for _, f := range reflect.VisibleFields(of) {
			if m := written(f.Type); keyOf(f) == "metrics" && m.Kind() == reflect.Map {
				return Keys(reflect.Zero(m.Elem()).Interface())
			}
		}
	}
	return nil
}
