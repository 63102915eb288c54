package summary

import "sync/atomic"

// progress reports how far a reading is.
type progress struct {
	report func(what string, done, total uint64)
	what   string
	done   atomic.Uint64
	total  uint64
}

func newProgress(report func(string, uint64, uint64), total uint64) *progress {
	return &progress{report: report, total: total}
}

// pass begins a reading.
func (p *progress) pass(what string) {
	p.what = what
	p.done.Store(0)
}

// add counts rows that were read.
func (p *progress) add(rows int) {
	if p.report != nil {
		p.report(p.what, p.done.Add(uint64(rows)), p.total)
	}
}
