package predict

import (
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// When units are taken for those of clients that wait for an answer before they send the next request: so many of each, and
// so small a share of their time between an end and the next submission.
const (
	mostRequests   = 10
	mostThinking   = 0.2
	unusualPercent = 5 // of the submissions may find more units than there are clients
)

// ends are the ends of the units in order.
func (p *Pool) ends() []int {
	order := make([]int, len(p.Units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, p.Units[a].End-p.Units[b].End))) })
	return order
}

// answered is how many units had ended when each one was submitted.
func (p *Pool) answered(ends []int) []int {
	out, ended := make([]int, len(p.Units)), 0
	for i := range p.Units {
		for p.Units[ends[ended]].End <= p.Units[i].Due {
			ended++
		}
		out[i] = ended
	}
	return out
}

// usual is how many units were there at the submission of all but a few, at least those that came before the first end.
func usual(answered []int) int {
	there, first := make([]int, len(answered)), 0
	for i, ended := range answered {
		there[i] = i + 1 - ended
		if ended == 0 {
			first = i + 1
		}
	}
	slices.Sort(there)
	return max(first, there[(len(there)-1)*(100-unusualPercent)/100])
}

// clients is the number of clients if the next unit always came soon after the end of another one, so that their number
// hardly changed; 0: it is not so. A few units more, such as those of a server that ends connections, do not count as clients.
func (p *Pool) clients() int {
	ends := p.ends()
	answered := p.answered(ends)
	most := usual(answered)
	if most < 2 || len(p.Units) < mostRequests*most {
		return 0
	}
	var between, within units.Ns
	for i := most; i < len(p.Units); i++ {
		between += units.Ns(p.Units[i].Due - p.Units[ends[min(i-most, answered[i]-1)]].End)
		within += units.Ns(p.Units[i].End - p.Units[i].Due)
	}
	if float64(between) > mostThinking*float64(within) {
		return 0
	}
	return most
}

// Open reports whether nothing of the pool says when a unit is submitted: no unit of it submits others, and the next one does not come
// after the end of one.
func (p *Pool) Open() bool {
	return !slices.ContainsFunc(p.Units, func(u Unit) bool { return u.Parent > 0 }) && p.clients() == 0
}

// again lets each client submit its next unit some time after the end of one. The program's other threads do what they
// compute for the units.
func (m *model) again() {
	if m.clients == 0 {
		return
	}
	ends, each := m.ends(), m.Beside/units.Ns(len(m.Units))
	answered := m.answered(ends)
	for i := m.clients; i < len(m.Units); i++ {
		before := ends[min(i-m.clients, answered[i]-1)] // the last to end, if a unit more came
		client := m.b.Unit("client", 0)
		m.b.Do(m.parts[before][len(m.parts[before])-1], graph.Submit, client)
		m.add(client, each, max(0, units.Ns(m.Units[i].Due-m.Units[before].End)-each))
		for _, x := range m.parts[i] {
			m.b.Do(client, graph.Submit, x)
		}
	}
}
