package timeseries

import (
	"cmp"
	"errors"
	"fmt"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Options choose the samples of a table.
type Options struct {
	From, To units.MonoNs   // 0: those of the session
	Every    units.Ns       // length of the samples; 0: those at which monitors were sampled, else 10 ms
	Edges    []units.MonoNs // bounds of the samples, ascending, in place of the others
}

// Load reads a session as series over the same samples.
func Load(s *session.Session, o Options) (*Table, error) {
	r, err := monitor.Open(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	edges, err := edgesOf(s, r, o)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	b := newBuilder(edges)
	for _, add := range []func(*session.Session) error{b.tasks, b.markers, b.pauses, b.deopts, b.flight, b.waits, b.scheduling, b.inside} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
		}
	}
	if err := b.samples(r); err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	t := b.table()
	if r != nil {
		t.Interval, t.Missed = r.Head().IntervalNs, r.Head().Missed
	}
	return t, nil
}

// span is when the session was.
func span(s *session.Session, o Options) (from, to units.MonoNs) {
	from, to = s.Manifest.StartNs, s.Manifest.StartNs+units.MonoNs(s.Duration())
	if o.From > 0 {
		from = max(from, o.From)
	}
	if o.To > 0 {
		to = min(to, o.To)
	}
	return from, to
}

// errEmpty is a span without a sample.
var errEmpty = errors.New("there is nothing to sample in that time")

// edgesOf are the bounds of the samples.
func edgesOf(s *session.Session, r *monitor.Reader, o Options) ([]units.MonoNs, error) {
	if len(o.Edges) > 0 {
		return checked(o.Edges)
	}
	from, to := span(s, o)
	if r != nil && o.Every == 0 {
		ticks, err := ticksOf(r, from, to)
		if err != nil {
			return nil, err
		}
		if len(ticks) > 2 {
			return ticks, nil
		}
	}
	return regular(from, to, cmp.Or(o.Every, units.Ns(monitor.DefaultInterval)))
}

func checked(edges []units.MonoNs) ([]units.MonoNs, error) {
	if len(edges) < 2 {
		return nil, errEmpty
	}
	if len(edges) > mostSamples {
		return nil, fmt.Errorf("%d samples, at most %d are analysed: choose longer ones, or a shorter time", len(edges)-1, mostSamples)
	}
	for i := 1; i < len(edges); i++ {
		if edges[i] <= edges[i-1] {
			return nil, fmt.Errorf("sample %d ends before it begins", i)
		}
	}
	return edges, nil
}

func regular(from, to units.MonoNs, every units.Ns) ([]units.MonoNs, error) {
	if every <= 0 || to-from < units.MonoNs(every) {
		return nil, fmt.Errorf("the time is shorter than one sample of %s: choose shorter samples with --every, or a longer time", units.FormatNs(every))
	}
	n := int((to - from) / units.MonoNs(every))
	if n > mostSamples {
		return nil, fmt.Errorf("%d samples, at most %d are analysed: choose longer ones, or a shorter time", n, mostSamples)
	}
	edges := make([]units.MonoNs, n+1)
	for i := range edges {
		edges[i] = from + units.MonoNs(i)*units.MonoNs(every)
	}
	if rest := to - edges[n]; rest >= units.MonoNs(every)/2 {
		edges = append(edges, to)
	} else {
		edges[n] = to // a sample of next to no length would have rates that jump
	}
	return edges, nil
}

// ticksOf are the moments at which monitors were sampled. If there are too many, several make one sample.
func ticksOf(r *monitor.Reader, from, to units.MonoNs) ([]units.MonoNs, error) {
	var ticks []units.MonoNs
	// All series together are bounded, too: a table of half an hour at 10 ms with 500 series has 0.7 GB.
	most := min(mostSamples, mostValues/int64(len(r.Head().Monitors)+fewSeries))
	each := int(r.Head().Samples/most) + 1
	n := 0
	err := r.Each(func(row *monitor.Row) error {
		at := units.MonoNs(row.AtNs)
		if row.Monitor != monitor.TickMonitor || at < from || at > to || len(ticks) > 0 && at <= ticks[len(ticks)-1] {
			return nil
		}
		if n++; n%each == 0 && len(ticks) <= mostSamples {
			ticks = append(ticks, at)
		}
		return nil
	})
	return ticks, err
}
