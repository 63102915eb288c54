package otlp

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"stackagent/shadow/show/live"
)

const (
	firstBackOff = time.Second
	lastBackOff  = time.Minute
	longestPause = time.Hour       // that a receiver is left alone if it asks for it
	lastPush     = 2 * time.Second // what the last push may take
	maxRequest   = 4 << 20         // bytes of a request before it is compressed; collectors take 20 MiB
)

// Pusher sends what Collect gives, again and again. It keeps nothing: totals are in the next request, too.
type Pusher struct {
	Client  *Client
	Every   time.Duration
	Collect func() []*metrics.ResourceMetrics
	Changed func(error) // pushing stopped working; nil: it works again
	Partial func(Rejected)
	Ended   func(Undelivered) // the figures of the end did not arrive

	pushes, failures, rejected atomic.Uint64
	after                      func(time.Duration) <-chan time.Time // nil: time.After
	last                       time.Duration                        // that the last push may take; 0: lastPush
	stop                       context.CancelFunc
	ended                      sync.WaitGroup
}

// Undelivered is what a receiver does not have when pushing ends.
type Undelivered struct {
	Points int       // data points of the newest figures
	Since  time.Time // when its figures were pushed; zero: it has none
	Unsure bool      // it may have newer ones, or all: of a push it is not known whether it arrived
	Err    error
}

// Start begins to push.
func (p *Pusher) Start() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.ended.Go(func() { p.run(ctx) })
}

// Close sends the last figures and ends.
func (p *Pusher) Close() {
	p.stop()
	p.ended.Wait()
}

func (p *Pusher) run(ctx context.Context) {
	after := p.after
	if after == nil {
		after = time.After
	}
	var s state
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			p.end(&s)
			return
		case <-after(wait):
		}
		wait = p.next(&s, p.once(ctx, &s))
	}
}

// state is that of pushing.
type state struct {
	down    bool // the last push failed
	partial bool // of the last push not all was taken
	backOff time.Duration
	ending  bool
	arrived time.Time // the last push that did
	unsure  bool      // of a push after that one it is not known whether it did
	left    int       // data points that the last push did not deliver
}

// end pushes the last figures, more than once if that helps, and says what did not arrive.
func (p *Pusher) end(s *state) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(p.last, lastPush))
	defer cancel()
	s.ending = true
	var why error
	for wait := firstBackOff / 8; ; wait *= 2 {
		err := p.once(ctx, s)
		if err == nil {
			return
		}
		if why == nil || ctx.Err() == nil { // that the time is over says less than what failed before
			why = err
		}
		retry, after := CanRetry(err)
		deadline, _ := ctx.Deadline()
		if wait = max(wait, after); !retry || time.Now().Add(wait).After(deadline) {
			p.Ended(Undelivered{s.left, s.arrived, s.unsure, why})
			return
		}
		time.Sleep(wait)
	}
}

// once pushes, and says when it begins or ends to fail.
func (p *Pusher) once(ctx context.Context, s *state) error {
	began := time.Now()
	r, left, err := p.push(ctx)
	if s.left = left; err == nil {
		s.arrived, s.unsure = began, false
	} else {
		s.unsure = s.unsure || MayHave(err)
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return err // the shadow ends; the last push follows
	}
	p.pushes.Add(1)
	if err != nil {
		p.failures.Add(1)
	}
	p.rejected.Add(uint64(r.N))
	if s.down != (err != nil) && !(s.ending && err != nil) { // Ended says it

		s.down = err != nil
		p.Changed(err)
	}
	if partial := r != (Rejected{}); err == nil && s.partial != partial {
		if s.partial = partial; partial {
			p.Partial(r)
		}
	}
	return err
}

// push sends the figures of now. left are the data points that did not arrive.
func (p *Pusher) push(ctx context.Context) (sum Rejected, left int, err error) {
	for part := range parts(p.Collect(), maxRequest) {
		var r Rejected
		if err == nil {
			r, err = p.Client.Metrics(ctx, part)
		}
		if err != nil {
			left += points(part...)
			continue
		}
		sum.N += r.N
		if r.Said != "" {
			sum.Said = r.Said
		}
	}
	return sum, left, err
}

// points is the number of data points.
func points(all ...*metrics.ResourceMetrics) (n int) {
	for _, r := range all {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				n += len(m.GetGauge().GetDataPoints()) + len(m.GetSum().GetDataPoints()) + len(m.GetHistogram().GetDataPoints()) +
					len(m.GetExponentialHistogram().GetDataPoints()) + len(m.GetSummary().GetDataPoints())
			}
		}
	}
	return n
}

// next is how long to wait. What may succeed soon is tried again soon, less and less often.
func (p *Pusher) next(s *state, err error) time.Duration {
	retry, after := CanRetry(err)
	if err == nil || !retry {
		s.backOff = 0
		return p.Every
	}
	s.backOff = min(max(2*s.backOff, firstBackOff), lastBackOff)
	return max(min(after, longestPause), s.backOff/2+rand.N(s.backOff/2)) // not all shadows at once
}

// Families are the metrics of pushing.
func (p *Pusher) Families() []*live.Family {
	one := func(name, help string, n *atomic.Uint64) *live.Family {
		return &live.Family{Name: name, Kind: live.Counter, Help: help, Points: []live.Point{{Value: float64(n.Load())}}}
	}
	return []*live.Family{
		one("stackagent_otlp_pushes_total", "Times that metrics were pushed, failures included.", &p.pushes),
		one("stackagent_otlp_push_failures_total", "Pushes that failed.", &p.failures),
		one("stackagent_otlp_rejected_points_total", "Data points that the receiver did not take.", &p.rejected),
	}
}

// parts are runs of resources that fit into a request. A resource by itself always fits: its points are bounded.
func parts(all []*metrics.ResourceMetrics, limit int) func(func([]*metrics.ResourceMetrics) bool) {
	return func(yield func([]*metrics.ResourceMetrics) bool) {
		from, size := 0, 0
		for i, r := range all {
			n := proto.Size(r)
			if i > from && size+n > limit {
				if !yield(slices.Clip(all[from:i])) {
					return
				}
				from, size = i, 0
			}
			size += n
		}
		if from < len(all) {
			yield(all[from:])
		}
	}
}
