package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
)

// jvm is one that sends.
type jvm struct {
	session string
	js      jetstream.JetStream
	sent    int // batches
	started time.Time
}

// sender replays the batches as those of all JVMs.
type sender struct {
	batches []*wire.Batch
	jvms    []*jvm
	conns   []*nats.Conn

	acked, failed atomic.Int64
	bytes         int64
	stalls        int           // times that too much was not acknowledged
	late          time.Duration // behind the schedule, at most
	mu            sync.Mutex
	waits         []time.Duration // until the bus acknowledged, of every 16th message
}

func newSender(p *plan, url string, auth []nats.Option, batches []*wire.Batch) (*sender, error) {
	s := &sender{batches: batches}
	n := p.connections
	if n <= 0 {
		n = p.sessions
	}
	var streams []jetstream.JetStream
	for range min(n, p.sessions) {
		c, err := nats.Connect(url, auth...)
		if err != nil {
			return nil, fmt.Errorf("connection %d to the bus: %w", len(s.conns)+1, err)
		}
		js, err := jetstream.New(c, jetstream.WithPublishAsyncMaxPending(4096), jetstream.WithPublishAsyncTimeout(30*time.Second),
			jetstream.WithPublishAsyncErrHandler(func(jetstream.JetStream, *nats.Msg, error) { s.failed.Add(1) }))
		if err != nil {
			return nil, err
		}
		s.conns, streams = append(s.conns, c), append(streams, js)
	}
	for i := range p.sessions {
		s.jvms = append(s.jvms, &jvm{session: fmt.Sprintf("svc%02d-%06d", i%p.services, i), js: streams[i%len(streams)]})
	}
	return s, nil
}

// run sends each JVM's batches in its time. JVMs start one after another within p.open.
func (s *sender) run(ctx context.Context, p *plan) error {
	begin := time.Now()
	type due struct {
		*jvm
		at time.Time
	}
	var starts, queue []due
	for i, j := range s.jvms {
		starts = append(starts, due{j, begin.Add(p.open * time.Duration(i) / time.Duration(len(s.jvms)))})
	}
	for ctx.Err() == nil {
		// Both lists are in order of time: all wait equally long.
		list := &queue
		if len(starts) > 0 && (len(queue) == 0 || starts[0].at.Before(queue[0].at)) {
			list = &starts
		}
		if len(*list) == 0 || (*list)[0].at.Sub(begin) > p.last {
			break
		}
		d := (*list)[0]
		*list = (*list)[1:]
		if wait := time.Until(d.at); wait > 0 {
			time.Sleep(wait)
		} else {
			s.late = max(s.late, -wait)
		}
		if err := s.send(d.jvm); err != nil {
			return err
		}
		if d.sent < len(s.batches) {
			queue = append(queue, due{d.jvm, d.at.Add(p.every)})
		}
	}
	for _, js := range s.streams() {
		select {
		case <-js.PublishAsyncComplete():
		case <-time.After(time.Minute):
			return fmt.Errorf("the bus has not acknowledged %d messages within a minute", js.PublishAsyncPending())
		}
	}
	return ctx.Err()
}

func (s *sender) streams() []jetstream.JetStream {
	list := make([]jetstream.JetStream, 0, len(s.conns))
	for i := range s.conns {
		list = append(list, s.jvms[i].js)
	}
	return list
}

func (s *sender) send(j *jvm) error {
	if j.sent == 0 {
		j.started = time.Now()
	}
	data, err := as(s.batches[j.sent], j.session, "replayed", j.started)
	if err != nil {
		return err
	}
	m := nats.NewMsg(wire.Subject(j.session))
	m.Data = data
	m.Header.Set(wire.ProcessHeader, "replayed")
	j.sent++
	s.bytes += int64(len(data))
	at := time.Now()
	f, err := j.js.PublishMsgAsync(m, jetstream.WithMsgID(fmt.Sprintf("%s-%d", j.session, j.sent)))
	for err != nil && errors.Is(err, jetstream.ErrTooManyStalledMsgs) { // agents have a buffer for this
		s.stalls++
		f, err = j.js.PublishMsgAsync(m, jetstream.WithMsgID(fmt.Sprintf("%s-%d", j.session, j.sent)))
	}
	if err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	go func() {
		select {
		case <-f.Ok():
			s.acked.Add(1)
			s.mu.Lock()
			s.waits = append(s.waits, time.Since(at))
			s.mu.Unlock()
		case <-f.Err():
		}
	}()
	return nil
}

func (s *sender) sent() (n int) {
	for _, j := range s.jvms {
		n += j.sent
	}
	return n
}

// waited is a quantile of the time until the bus acknowledged.
func (s *sender) waited(q float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waits) == 0 {
		return 0
	}
	slices.Sort(s.waits)
	return s.waits[min(int(q*float64(len(s.waits))), len(s.waits)-1)]
}

func (s *sender) close() {
	for _, c := range s.conns {
		c.Close()
	}
}
