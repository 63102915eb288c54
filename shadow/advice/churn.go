package advice

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// atOnce is how many workers there were at a time, at most: threads that come
// and go are many, and yet do not take turns.
func (p *Pool) atOnce() int {
	type change struct {
		at units.MonoNs
		by int
	}
	var changes []change
	for i := range p.Workers {
		w := &p.Workers[i]
		changes = append(changes, change{w.From, 1}, change{max(w.To, w.From+1), -1})
	}
	// One that ends as another begins is gone.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// churns tells whether threads come and go for one unit or two each, and to start
// one costs a good part of what it does: what each of so many took at least is no
// waiting for a processor that others have.
func (p *Pool) churns(t Thresholds) bool {
	n := int64(len(p.Workers))
	return !p.Virtual && n >= max(1, t.Churn) && p.Units <= 2*n && int64(p.atOnce()) <= n/4 &&
		p.Queue.Len() > 0 && p.Wait.Len() > 0 && float64(p.Queue.Min()) >= t.FineCost*float64(p.Wait.Quantile(500))
}

// churn: a thread for each little piece of work.
func (f *UnitFacts) churn(p *Pool, _ units.Ns, t Thresholds) (Finding, bool) {
	if !p.churns(t) {
		return Finding{}, false
	}
	active, _ := p.active()
	saved := active - p.work()/units.Ns(max(1, min(p.atOnce(), f.CPUs)))
	if float64(saved) < t.FineGain*float64(f.Duration) {
		return Finding{}, false
	}
	return Finding{
		Kind: Advice, Topic: "pool", Name: "thread-churn", Class: p.LongestClass, Gain: bound(saved, f.Duration),
		Text: fmt.Sprintf("%s, at most %d at a time, each for a median of %s, and none took less than %s from being handed over to beginning. "+
			"Hand the tasks to a pool, whose threads are used again: that can shorten the run by at most %s (%s).",
			p.startedText(), p.atOnce(), units.FormatNs(p.Wait.Quantile(500)), units.FormatNs(p.Queue.Min()),
			units.FormatNs(max(0, saved)), f.ofRun(saved)),
	}, true
}

// startedText says how many threads a pool had one after the other.
func (p *Pool) startedText() string {
	if p.Threads {
		return p.workersText()
	}
	return p.Label + " had " + text.Plural(len(p.Workers), "thread", "threads")
}
