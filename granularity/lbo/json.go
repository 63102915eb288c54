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

// MarshalJSON writes null for what is not known.
func (o Overhead) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Collector string   `json:"collector"`
		HeapBytes int64    `json:"heap_bytes"`
		Heap      string   `json:"heap"`
		Multiple  *float64 `json:"multiple"`
		Runs      int      `json:"runs"`
		clocksJSON
		WallNs estimate.Interval `json:"wall_ns"`
		CPUNs  estimate.Interval `json:"cpu_ns"`
		Failed string            `json:"failed"`
	}{o.Collector, o.HeapBytes, o.Heap, estimate.Number(o.Multiple), o.Runs, clocksOf(o.Overheads), o.Totals[Wall], o.Totals[CPU], o.Failed})
}

// MarshalJSON writes null for what is not known.
func (m Mean) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Collector string   `json:"collector"`
		HeapBytes int64    `json:"heap_bytes,omitempty"`
		Heap      string   `json:"heap"`
		Multiple  *float64 `json:"multiple"`
		Programs  int      `json:"programs"`
		clocksJSON
		Missing []Missing `json:"missing,omitempty"`
	}{m.Collector, m.HeapBytes, m.Heap, estimate.Number(m.Multiple), m.Programs, clocksOf(m.Overheads), m.Missing})
}

// MarshalJSON writes null for what is not known.
func (n Note) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind      NoteKind `json:"kind"`
		Collector string   `json:"collector"`
		Heap      string   `json:"heap"`
		Clock     string   `json:"clock"`
		Bound     string   `json:"bound"`
		overheadJSON
	}{n.Kind, n.Collector, n.Heap, n.Clock.String(), n.Bound.String(), overheadOf(n.Overhead)})
}

// MarshalJSON writes a result as `shadow lbo --format json` prints it.
func (r Result) MarshalJSON() ([]byte, error) {
	cost := func(c Clock, b Bound) *float64 { return estimate.Number(r.Baselines[c][b].Cost) }
	type baseline struct {
		WallNs        *float64 `json:"wall_ns"`
		CPUNs         *float64 `json:"cpu_ns"`
		WallTighterNs *float64 `json:"wall_tighter_ns"`
		CPUTighterNs  *float64 `json:"cpu_tighter_ns"`
	}
	return json.Marshal(struct {
		Program  string     `json:"program,omitempty"`
		Baseline baseline   `json:"baseline"`
		Points   []Overhead `json:"points"`
		Notes    []Note     `json:"notes,omitempty"`
	}{r.Program, baseline{cost(Wall, Plain), cost(CPU, Plain), cost(Wall, Tighter), cost(CPU, Tighter)}, r.Points, r.Notes})
}
