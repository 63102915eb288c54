package account

import (
	"fmt"
	"sync"

	"stackagent/granularity/replay"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/session"
)

// Predictor has the account of a whole session, and says what changes of it gain. It makes the session's graph when it is
// first asked.
type Predictor struct {
	session *session.Session
	graph   func() (*graph.Session, error)
	account func() (*Session, error)
}

// mostPredicted bounds of how many executions a Predictor makes a graph: more take longer than all the rest of a summary. The account
// of more is that of the middle of the session.
const mostPredicted = 1_000_000

// NewPredictor is a predictor for a session.
func NewPredictor(s *session.Session) *Predictor {
	p := &Predictor{session: s}
	n := s.Manifest.Stored.Executions - s.Manifest.Summarised.Executions
	p.graph = sync.OnceValues(func() (*graph.Session, error) {
		if n > mostPredicted {
			return nil, fmt.Errorf("more than %s executions were recorded: choose a part with shadow why --from and --to", units.FormatExact(mostPredicted))
		}
		return graph.Of(s, 0, 0)
	})
	p.account = sync.OnceValues(func() (*Session, error) {
		if n > mostPredicted {
			return p.middle(float64(mostPredicted) / float64(n))
		}
		g, err := p.graph()
		if err != nil {
			return nil, err
		}
		a := Of(g)
		a.Try()
		return a, nil
	})
	return p
}

// Known is a predictor for a session whose graph and account are there already.
func Known(s *session.Session, g *graph.Session, a *Session) *Predictor {
	return &Predictor{session: s, graph: func() (*graph.Session, error) { return g, nil }, account: func() (*Session, error) { return a, nil }}
}

// middle is the account of a share of the session, without what replays say: they are of whole runs.
func (p *Predictor) middle(share float64) (*Session, error) {
	m := &p.session.Manifest
	length := units.Ns(share * float64(m.DurationNs))
	from := m.StartNs + units.MonoNs((m.DurationNs-length)/2)
	g, err := graph.Of(p.session, from, from+units.MonoNs(length))
	if err != nil {
		return nil, err
	}
	a := Of(g)
	a.OfPart(units.Ns(from-m.StartNs), units.Ns(from-m.StartNs)+length)
	return a, nil
}

// Account is the account of the session, with what a replay says of each obstacle. An error says why there is none.
func (p *Predictor) Account() (*Session, error) { return p.account() }

// WithoutCollections is how long the session takes without the collections for a reason, which is HotSpot's name. An error
// says why that is not known.
func (p *Predictor) WithoutCollections(reason string) (units.Ns, error) {
	return p.predict(func(g *graph.Session) (replay.Change, error) {
		gone, err := g.PausesFor(reason)
		return replay.Change{Pauses: gone}, err
	})
}

// Unpinned is how long the session takes if its virtual threads never keep their carriers while they wait. An error says
// why that is not known.
func (p *Predictor) Unpinned() (units.Ns, error) {
	return p.predict(func(*graph.Session) (replay.Change, error) { return replay.Change{Unpin: true}, nil })
}

func (p *Predictor) predict(change func(*graph.Session) (replay.Change, error)) (units.Ns, error) {
	g, err := p.graph()
	if err != nil {
		return 0, err
	}
	c, err := change(g)
	if err != nil {
		return 0, err
	}
	got, err := g.Predict(c)
	if err != nil {
		return 0, err
	}
	if got.Why != nil {
		return 0, got.Why
	}
	return max(1, p.session.Manifest.DurationNs-(got.Recorded-got.Expected())), nil
}
