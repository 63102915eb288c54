package evidence

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// behind sets how long the pools take that others wait for. Two pools that do not wait for one another are
// both judged as if the other was not there.
func behind(pools []*advice.Pool, record []contended, t advice.Thresholds) {
	for n, p := range pools {
		for m, q := range pools {
			if m == n || q.Virtual || len(q.Workers) == 0 || float64(waitsFor(p, &record[n], m)) < t.Mutual*float64(p.Wall) {
				continue
			}
			workers := units.Ns(len(q.Workers))
			apart := record[m].span.Len() - record[m].span.Cut(record[n].span).Len()
			p.Beside.Behind = max(p.Beside.Behind, (q.Wall-waitsFor(q, &record[m], n))/workers-apart)
		}
	}
}

// waitsFor is how long a pool's workers waited inside units until a worker of another pool went on. Outside
// units they wait for the next one.
func waitsFor(p *advice.Pool, c *contended, other int) units.Ns {
	return max(0, c.endedBy[uint32(other)]-(activity.Span{From: p.From, To: p.To}.Len()*units.Ns(len(p.Workers))-p.Wall))
}
