package predict

import (
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// When units are taken for those of clients that wait for an answer before they send the next request: so many of each, and
// so small a share of their time between an end and the next submission.
const (
	mostRequests = 10
	mostThinking = 0.2
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

// clients is the number of clients if the next unit always came soon after the end of another one, so that their number
// hardly changed; 0: it is not so.
func (p *Pool) clients() int {
	ends, most, ended := p.ends(), 0, 0
	for i := range p.Units {
		for p.Units[ends[ended]].End <= p.Units[i].Due {
			ended++
		}
		most = max(most, i+1-ended)
	}
	if most < 2 || len(p.Units) < mostRequests*most {
		return 0
	}
	var between, within units.Ns
	for i := most; i < len(p.Units); i++ {
		between += units.Ns(p.Units[i].Due - p.Units[ends[i-most]].End)
		within += units.Ns(p.Units[i].End - p.Units[i].Due)
	}
	if float64(between) > mostThinking*float64(within) {
		return 0
	}
	return most
}

// again lets each client submit its next unit some time after the end of one. The program's other threads do what they
// compute for the units.
func (m *model) again() {
	if m.clients == 0 {
		return
	}
	ends, each := m.ends(), m.Beside/units.Ns(len(m.Units))
	for i := m.clients; i < len(m.Units); i++ {
		before := ends[i-m.clients]
		client := m.b.Unit("client", 0)
		m.b.Do(m.parts[before][len(m.parts[before])-1], graph.Submit, client)
		m.add(client, each, max(0, units.Ns(m.Units[i].Due-m.Units[before].End)-each))
		for _, x := range m.parts[i] {
			m.b.Do(client, graph.Submit, x)
		}
	}
}
