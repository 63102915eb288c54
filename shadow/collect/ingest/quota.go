package ingest

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// AnyService is the Quota.Service of those that have no quota of their own: each of them has one like it.
const AnyService = "*"

// Quota bounds what a service takes of a shadow. What is beyond waits on the bus. Zero is no bound.
type Quota struct {
	Service string
	Open    int     // sessions open at once
	New     float64 // sessions opened in a second
	Bytes   int64   // of messages taken from the bus in a second
}

// QuotaState is how a service stands to its quota. Services of AnyService are one.
type QuotaState struct {
	Service   string
	Open      int    // sessions
	Waiting   int    // sessions that have to wait
	Throttled uint64 // times that a session stopped reading because of Quota.Bytes
}

// QuotaWatch is a Live that also learns when sessions of a service begin to wait because of its quota, and with 0 when
// none does any more.
type QuotaWatch interface {
	QuotaReached(service string, waiting int)
}

// burst is how much of a rate may come at once.
const burst = 2 // seconds

// limiter is nil where there is no bound.
func limiter(perSecond float64) *rate.Limiter {
	if perSecond == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), int(max(1, perSecond*burst)))
}

// limited is a service with a quota.
type limited struct {
	quota      Quota
	fresh      *rate.Limiter // sessions
	bytes      *rate.Limiter
	open, held int
	throttled  uint64
	reported   bool
}

// quotas are those of all services; nil: there are none.
type quotas struct {
	mu       sync.Mutex
	rules    map[string]Quota
	services map[string]*limited
	of       map[string]string // the service of a session; the dispatcher's
}

// mostServices bounds those that AnyService is kept for: their names come from outside.
const mostServices = 4096

func newQuotas(list []Quota) *quotas {
	if len(list) == 0 {
		return nil
	}
	q := &quotas{rules: map[string]Quota{}, services: map[string]*limited{}, of: map[string]string{}}
	for _, r := range list {
		q.rules[r.Service] = r
	}
	return q
}

// service is what is known of one, with a quota; nil: it has none. It needs q.mu.
func (q *quotas) service(name string) *limited {
	if l := q.services[name]; l != nil {
		return l
	}
	r, ok := q.rules[name]
	if !ok {
		if r, ok = q.rules[AnyService]; !ok {
			return nil
		}
		if len(q.services) >= mostServices { // they share one
			name = AnyService
			if l := q.services[name]; l != nil {
				return l
			}
		}
	}
	l := &limited{quota: r, fresh: limiter(r.New), bytes: limiter(float64(r.Bytes))}
	q.services[name] = l
	return l
}

// mayRead counts bytes taken from the bus, and reports whether the service may take more.
func (q *quotas) mayRead(service string, bytes int) bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.service(service)
	if l == nil || l.bytes == nil {
		return true
	}
	now := time.Now()
	for left := bytes; left > 0; left -= l.bytes.Burst() { // a message may be larger than the burst
		l.bytes.ReserveN(now, min(left, l.bytes.Burst()))
	}
	if l.bytes.TokensAt(now) >= 0 {
		return true
	}
	if bytes > 0 {
		l.throttled++
	}
	return false
}

// admit chooses, of the sessions that wait for an owner, at most n that may be opened now: of each service no more than
// its quota allows, and of the services that have the fewest open first. held counts those that a quota keeps waiting.
func (q *quotas) admit(names []string, open map[string]int, n int) (chosen []string, held int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, by := time.Now(), map[string][]string{}
	for _, name := range names {
		if service, known := q.of[name]; known {
			by[service] = append(by[service], name)
		}
	}
	for service, l := range q.services {
		l.open, l.held = open[service], 0
	}
	type candidate struct {
		name, service string
		rank          int // how many of its service are before it
	}
	var list []candidate
	for service, waiting := range by {
		slices.Sort(waiting)
		l := q.service(service)
		for i, name := range waiting {
			if l != nil && (l.quota.Open > 0 && l.open+i >= l.quota.Open || l.fresh != nil && l.fresh.TokensAt(now) < float64(i+1)) {
				l.held = len(waiting) - i
				held += l.held
				break
			}
			list = append(list, candidate{name, service, open[service] + i})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.service, b.service))
	})
	for _, c := range list[:min(len(list), max(n, 0))] {
		chosen = append(chosen, c.name)
	}
	return chosen, held
}

// opened counts a session that was opened.
func (q *quotas) opened(service string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.service(service); l != nil && l.fresh != nil {
		l.fresh.Reserve()
	}
}

// states lists the services that have rules, and all others together.
func (q *quotas) states() []QuotaState {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	sums := map[string]QuotaState{}
	for rule := range q.rules {
		sums[rule] = QuotaState{Service: rule}
	}
	for service, l := range q.services {
		if _, own := q.rules[service]; !own {
			service = AnyService
		}
		s := sums[service]
		s.Service, s.Open, s.Waiting, s.Throttled = service, s.Open+l.open, s.Waiting+l.held, s.Throttled+l.throttled
		sums[service] = s
	}
	list := make([]QuotaState, 0, len(sums))
	for _, s := range sums {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b QuotaState) int { return cmp.Compare(a.Service, b.Service) })
	return list
}

// Quotas tells how the services stand to their quotas; nil: there are none.
func (in *Ingest) Quotas() []QuotaState { return in.quotas.states() }

// admit chooses the sessions that are to be opened now. held: a quota keeps others waiting.
func (in *Ingest) admit(ctx context.Context, names []string, room int) (chosen []string, held int) {
	q := in.quotas
	if q == nil {
		return names, 0
	}
	in.learnServices(ctx, names)
	open := map[string]int{}
	for _, s := range in.sources {
		open[s.service]++
	}
	chosen, held = q.admit(names, open, min(room, mostClaims))
	in.reportQuotas()
	return chosen, held
}

// learnServices looks into the first message of sessions: it says of which service they are.
func (in *Ingest) learnServices(ctx context.Context, names []string) {
	q := in.quotas
	if len(q.of) > 2*(len(names)+len(in.sources))+mostServices {
		clear(q.of)
	}
	asked := 0
	for _, name := range names {
		if _, known := q.of[name]; known {
			continue
		}
		if asked++; asked > mostClaims {
			return // the next look goes on
		}
		service, err := in.serviceOf(ctx, name)
		if err != nil {
			in.log.Debug("ingest: of which service a session is", "session", name, "error", err)
			continue
		}
		q.of[name] = service
	}
}

// serviceOf is "" where a session does not say.
func (in *Ingest) serviceOf(ctx context.Context, name string) (string, error) {
	m, err := in.stream.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(subjectOf(name)))
	if err != nil {
		return "", err
	}
	b, err := wire.Decode(m.Data, wire.DefaultLimits())
	if err == nil && b.Hello != nil {
		return b.Hello.Labels.Service, nil
	}
	if manifest, err := store.ReadManifest(filepath.Join(in.o.Root, name)); err == nil { // it goes on
		return manifest.Labels.Service, nil
	}
	return "", nil
}

func (in *Ingest) reportQuotas() {
	q := in.quotas
	var changes []QuotaState
	q.mu.Lock()
	for service, l := range q.services {
		if (l.held > 0) != l.reported {
			l.reported = l.held > 0
			changes = append(changes, QuotaState{Service: service, Waiting: l.held})
		}
	}
	q.mu.Unlock()
	for _, c := range changes {
		if c.Waiting > 0 {
			in.log.Warn("ingest: sessions of a service wait because of its quota", "service", c.Service, "waiting", c.Waiting)
		} else {
			in.log.Info("ingest: no session of the service waits any more", "service", c.Service)
		}
		if w, ok := in.o.Live.(QuotaWatch); ok {
			w.QuotaReached(c.Service, c.Waiting)
		}
	}
}
