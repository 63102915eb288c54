package lbo

import (
	"encoding/json"

	"stackagent/granularity/estimate"
)

// overheadJSON is an overhead with its interval; null where not known.
type overheadJSON struct {
	Overhead *float64 `json:"overhead"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

func overheadOf(i estimate.Interval) overheadJSON {
	return overheadJSON{estimate.Number(i.Mean), estimate.Number(i.Low), estimate.Number(i.High)}
}

// clocksJSON are the overheads of a point or mean.
type clocksJSON struct {
	Wall        overheadJSON `json:"wall"`
	CPU         overheadJSON `json:"cpu"`
	WallTighter overheadJSON `json:"wall_tighter"`
	CPUTighter  overheadJSON `json:"cpu_tighter"`
}

func clocksOf(o [NClocks][NBounds]estimate.Interval) clocksJSON {
	return clocksJSON{overheadOf(o[Wall][Plain]), overheadOf(o[CPU][Plain]), overheadOf(o[Wall][Tighter]), overheadOf(o[CPU][Tighter])}
}

// pointJSON is an Overhead in JSON.
type pointJSON struct {
	Collector string   `json:"collector"`
	HeapBytes int64    `json:"heap_bytes"` // size of the heap; 0: not known
	Heap      string   `json:"heap"`       // as on the command line
	Multiple  *float64 `json:"multiple"`   // heap over the smallest heap that works; null: not known
	Runs      int      `json:"runs"`       // runs that ended well
	clocksJSON
	WallNs estimate.Interval `json:"wall_ns"` // wall time of a run, nanoseconds
	CPUNs  estimate.Interval `json:"cpu_ns"`  // CPU time of a run, nanoseconds
	Failed string            `json:"failed"`  // why there are no figures; "": there are
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Overhead) JSONSchemaAlias() any { return pointJSON{} }

// MarshalJSON writes null for what is not known.
func (o Overhead) MarshalJSON() ([]byte, error) {
	return json.Marshal(pointJSON{o.Collector, o.HeapBytes, o.Heap, estimate.Number(o.Multiple), o.Runs, clocksOf(o.Overheads), o.Totals[Wall], o.Totals[CPU], o.Failed})
}

// meanJSON is a Mean in JSON.
type meanJSON struct {
	Collector string   `json:"collector"`
	HeapBytes int64    `json:"heap_bytes,omitempty"` // size of the heap, if it is the same for all programs
	Heap      string   `json:"heap"`                 // as on the command line
	Multiple  *float64 `json:"multiple"`             // heap over each program's smallest heap; null: not known
	Programs  int      `json:"programs"`             // programs in the mean
	clocksJSON
	Missing []Missing `json:"missing,omitempty"` // programs that are not in it, and why
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Mean) JSONSchemaAlias() any { return meanJSON{} }

// MarshalJSON writes null for what is not known.
func (m Mean) MarshalJSON() ([]byte, error) {
	return json.Marshal(meanJSON{m.Collector, m.HeapBytes, m.Heap, estimate.Number(m.Multiple), m.Programs, clocksOf(m.Overheads), m.Missing})
}

// noteJSON is a Note in JSON.
type noteJSON struct {
	Kind      NoteKind `json:"kind"`
	Collector string   `json:"collector"`
	Heap      string   `json:"heap"`  // as on the command line
	Clock     string   `json:"clock"` // wall or cpu
	Bound     string   `json:"bound"` // of which of the two bounds
	overheadJSON
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Note) JSONSchemaAlias() any { return noteJSON{} }

// MarshalJSON writes null for what is not known.
func (n Note) MarshalJSON() ([]byte, error) {
	return json.Marshal(noteJSON{n.Kind, n.Collector, n.Heap, n.Clock.String(), n.Bound.String(), overheadOf(n.Overhead)})
}

// baselineJSON is the cost of the program without a collector, at most; null: not known.
type baselineJSON struct {
	WallNs        *float64 `json:"wall_ns"`
	CPUNs         *float64 `json:"cpu_ns"`
	WallTighterNs *float64 `json:"wall_tighter_ns"` // by the tighter bound
	CPUTighterNs  *float64 `json:"cpu_tighter_ns"`  // by the tighter bound
}

// resultJSON is a Result in JSON.
type resultJSON struct {
	Program  string       `json:"program,omitempty"` // of several
	Baseline baselineJSON `json:"baseline"`
	Points   []Overhead   `json:"points"`          // a collector and a heap each
	Notes    []Note       `json:"notes,omitempty"` // where the bounds say little
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Result) JSONSchemaAlias() any { return resultJSON{} }

// MarshalJSON writes a result as `shadow lbo --format json` prints it.
func (r Result) MarshalJSON() ([]byte, error) {
	cost := func(c Clock, b Bound) *float64 { return estimate.Number(r.Baselines[c][b].Cost) }
	return json.Marshal(resultJSON{r.Program, baselineJSON{cost(Wall, Plain), cost(CPU, Plain), cost(Wall, Tighter), cost(CPU, Tighter)}, r.Points, r.Notes})
}
