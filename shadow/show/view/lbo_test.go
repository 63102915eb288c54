package view

import (
	"strings"
	"testing"

	"stackagent/granularity/estimate"
	"stackagent/granularity/lbo"
)

func TestLBOWords(t *testing.T) {
	cheaper := LBONote(lbo.Note{Kind: lbo.Cheaper, Collector: "Epsilon", Heap: "6x\x1b[2J", Clock: lbo.CPU, Overhead: estimate.Interval{Mean: 0.8, Low: 0.75, High: 0.85}})
	if !strings.HasPrefix(cheaper, "Epsilon at 6x") || strings.Contains(cheaper, "\x1b") || !strings.Contains(cheaper, "CPU time (plain bound)") || !strings.Contains(cheaper, "0.800 (0.750 to 0.850)") {
		t.Error(cheaper)
	}
	if note := LBONote(lbo.Note{Kind: lbo.Implausible, Bound: lbo.Tighter}); !strings.Contains(note, "wall time (tighter bound)") || !strings.Contains(note, "leaves this point out") {
		t.Error(note)
	}
	if got := LBOMissing([]lbo.Missing{{Program: "h2", Failed: "OutOfMemoryError\nat x"}, {Program: "pmd"}}); strings.Contains(got, "\n") || !strings.HasSuffix(got, "; pmd: not run") {
		t.Error(got)
	}
}
