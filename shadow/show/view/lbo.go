package view

import (
	"fmt"
	"strings"

	"stackagent/granularity/lbo"
	"stackagent/internal/text"
)

// LBONote says what is odd about a point's costs, in a sentence.
func LBONote(n lbo.Note) string {
	where := fmt.Sprintf("%s at %s, %s (%s bound): ", text.OneLine(n.Collector), text.OneLine(n.Heap), lboClocks[n.Clock], n.Bound)
	switch n.Kind {
	case lbo.Implausible:
		return where + "the collector's part of a run is not between 0 and its total. The distilled cost leaves this point out."
	case lbo.Cheaper:
		return where + fmt.Sprintf("without any collection the program costs %.3f (%.3f to %.3f) times the distilled cost. The true overheads are higher by at least that factor.",
			n.Overhead.Mean, n.Overhead.Low, n.Overhead.High)
	}
	return where + string(n.Kind)
}

// LBOMissing says why a mean over programs has a gap: which programs have no runs there.
func LBOMissing(missing []lbo.Missing) string {
	var all []string
	for _, m := range missing {
		why := text.OneLine(m.Failed)
		if why == "" {
			why = "not run"
		}
		all = append(all, text.OneLine(m.Program)+": "+why)
	}
	return strings.Join(all, "; ")
}

var lboClocks = [lbo.NClocks]string{"wall time", "CPU time"}
