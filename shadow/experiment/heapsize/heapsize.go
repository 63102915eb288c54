// Package heapsize finds the smallest heaps with which a command completes, by collector and kind of pointers.
package heapsize

import (
	"context"
	"fmt"

	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
)

// Find looks for a command's smallest heap with each collector, in a folder. Where uncompressed is set it also does so
// without compressed pointers.
func Find(ctx context.Context, r *runner.Runner, dir string, collectors []string, uncompressed bool, s experiment.Search) ([]*Row, error) {
	points := experiment.Cross(nil, experiment.Collector, collectors)
	if uncompressed {
		points = experiment.Cross(points, runner.Pointers, []string{runner.Compressed, runner.Full})
	}
	if points == nil {
		points = []experiment.Point{nil}
	}
	var rows []*Row
	err := r.Heaps(ctx, dir, dir, r.Programs, points, s, func(find runner.Find) error {
		for _, p := range points {
			found, err := find(p)
			if err != nil {
				return err
			}
			rows = append(rows, rowOf(p, found))
		}
		return nil
	})
	return rows, err
}

// Row is what is found for one collector.
type Row struct {
	Collector  string `json:"collector"` // "": the command's own
	Compressed *bool  `json:"compressed_pointers"`
	HeapBytes  *int64 `json:"heap_bytes"` // null: it completes with none
	Tries      int    `json:"tries"`
	// BelowBytes is the next smaller heap that was tried as often, and BelowPassed how often the command completed
	// with it.
	BelowBytes  *int64 `json:"below_bytes"`
	BelowPassed int    `json:"below_passed"`
	Runs        int    `json:"runs"`
	Failed      string `json:"failed"` // why there is no such heap
}

// rowOf is what was found at a point.
func rowOf(p experiment.Point, found experiment.SmallestHeap) *Row {
	row := &Row{Collector: p.Of(experiment.Collector), Tries: found.Tries, BelowPassed: found.Passed, Runs: found.Runs, Failed: found.Why}
	if pointers := p.Of(runner.Pointers); pointers != "" {
		is := pointers == runner.Compressed
		row.Compressed = &is
	}
	if found.Bytes > 0 {
		row.HeapBytes = &found.Bytes
	}
	if found.Below > 0 {
		row.BelowBytes = &found.Below
	}
	return row
}

// Columns are those of a Row.
var Columns = []listing.Column[*Row]{
	{Name: "collector", Title: "collector", Kind: listing.Name, Doc: "empty: the command's own", Value: func(r *Row) listing.Value { return listing.NameOf(r.Collector) },
		Show: func(r *Row) string {
			if r.Collector == "" {
				return "the command's own"
			}
			return r.Collector
		}},
	{Name: "compressed_pointers", Title: "pointers", Kind: listing.Bool, Optional: true, Doc: "with compressed pointers; empty: as the JVM chose",
		Value: func(r *Row) listing.Value {
			if r.Compressed == nil {
				return listing.Null
			}
			return listing.BoolOf(*r.Compressed)
		},
		Show: func(r *Row) string {
			switch {
			case r.Compressed == nil:
				return "the JVM's choice"
			case *r.Compressed:
				return runner.Compressed
			}
			return runner.Full
		}},
	heapSize("heap_bytes", "smallest heap", "the smallest heap with which each try completed; empty: there is none", func(r *Row) *int64 { return r.HeapBytes }),
	{Name: "tries", Title: "tries", Kind: listing.Int, Doc: "runs at a heap", Value: func(r *Row) listing.Value { return listing.IntOf(int64(r.Tries)) }},
	heapSize("below_bytes", "next below", "the next smaller heap that was tried as often", func(r *Row) *int64 { return r.BelowBytes }),
	{Name: "below_passed", Title: "completed there", Kind: listing.Int, Doc: "tries that completed with the next smaller heap", Value: func(r *Row) listing.Value { return listing.IntOf(int64(r.BelowPassed)) },
		Show: func(r *Row) string {
			if r.BelowBytes == nil {
				return ""
			}
			return fmt.Sprintf("%d of %d", r.BelowPassed, r.Tries)
		}},
	{Name: "runs", Title: "runs", Kind: listing.Int, Doc: "runs of the search", Value: func(r *Row) listing.Value { return listing.IntOf(int64(r.Runs)) }},
	{Name: "failed", Title: "", Kind: listing.Name, Doc: "why there is no such heap", Value: func(r *Row) listing.Value { return listing.NameOf(r.Failed) }},
	{Title: "why there is none", Kind: listing.Name, Wraps: true, Last: 1, Show: func(r *Row) string { return r.Failed }},
}

func heapSize(name, title, doc string, of func(*Row) *int64) listing.Column[*Row] {
	return listing.Column[*Row]{Name: name, Title: title, Kind: listing.Int, Optional: true, Doc: doc,
		Value: func(r *Row) listing.Value {
			if n := of(r); n != nil {
				return listing.IntOf(*n)
			}
			return listing.Null
		},
		Show: func(r *Row) string {
			if n := of(r); n != nil {
				return units.FormatBytes(*n)
			}
			return ""
		}}
}
