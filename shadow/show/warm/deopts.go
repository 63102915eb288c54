package warm

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/listing"
	"stackagent/shadow/show/view"
)

// warmDeopt is how often the JVM left the compiled code of a method for a reason, in all runs.
type warmDeopt struct {
	Method string `json:"method"`
	Reason string `json:"reason"` // in HotSpot's words
	Cold   int    `json:"cold"`   // before the program is warm
	Warm   int    `json:"warm"`
}

// deopts counts deoptimisations by method and reason, the most frequent first.
func (w *Runs) deopts() []warmDeopt {
	out := []warmDeopt{}
	index := map[[2]string]int{}
	for _, r := range w.runs {
		for _, d := range r.Deopts {
			key := [2]string{d.Method, d.Reason}
			i, ok := index[key]
			if !ok {
				i = len(out)
				index[key] = i
				out = append(out, warmDeopt{Method: d.Method, Reason: d.Reason})
			}
			if d.In < w.settled {
				out[i].Cold++
			} else {
				out[i].Warm++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b warmDeopt) int {
		return cmp.Or(cmp.Compare(b.Cold+b.Warm, a.Cold+a.Warm), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// deoptTable lists the methods that were deoptimised most.
func (f *Study) deoptTable(w *Runs) error {
	all := w.deopts()
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintf(f.Out, "\nDeoptimisations before %s %d (cold) and from there on (warm):\n", f.one(), w.settled+1)
	return f.Render(view.TableOf(view.First(f.Printer, all), []listing.Column[warmDeopt]{
		{Title: "method", Kind: listing.Name, Value: func(d warmDeopt) listing.Value { return listing.NameOf(d.Method) }},
		{Title: "reason", Kind: listing.Name, Value: func(d warmDeopt) listing.Value { return listing.NameOf(d.Reason) }},
		{Title: "cold", Kind: listing.Int, Unit: listing.Count, Value: func(d warmDeopt) listing.Value { return listing.IntOf(d.Cold) }},
		{Title: "warm", Kind: listing.Int, Unit: listing.Count, Value: func(d warmDeopt) listing.Value { return listing.IntOf(d.Warm) }},
	}), len(all))
}
