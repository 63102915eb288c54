package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// revise makes the consumer when it is not there, and begins to read; stop ends
// the reading.
func (s *source) revise(stop func()) func() {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if c := s.current(); c != nil {
		_, err := c.Info(ctx)
		if err == nil {
			return stop
		}
		if !errors.Is(err, jetstream.ErrConsumerNotFound) {
			time.AfterFunc(retryPause, s.poke)
			return stop
		}
	}
	if stop != nil {
		stop()
	}
	stop, err := s.begin(ctx)
	if err != nil {
		s.in.log.Warn("ingest: reading a session from the bus", "session", s.name, "error", err)
		time.AfterFunc(retryPause, s.poke)
	}
	return stop
}

func (s *source) current() jetstream.Consumer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.consumer
}

func (s *source) setConsumer(c jetstream.Consumer) {
	s.mu.Lock()
	s.consumer = c
	s.mu.Unlock()
}

// begin begins to read: through a consumer, or in turns directly.
func (s *source) begin(ctx context.Context) (stop func(), err error) {
	s.setConsumer(nil)
	if err := s.lease.Check(); err != nil { // else we would take it from its new owner
		return nil, err
	}
	let := make(chan struct{}) // closed: messages that still come are let go
	receive := func(m message) {
		select {
		case s.msgs <- m:
		case <-let:
		}
	}
	s.caught.Store(false)
	if s.direct = s.in.turns() && s.in.direct && !s.noDirect.Load(); s.direct {
		if len(s.lease.Elsewhere) > 0 && !s.cleared {
			if err := s.clear(ctx); err != nil {
				return nil, err
			}
			s.cleared = true
		}
		end := s.readDirectly(receive)
		return func() { close(let); end() }, nil
	}
	c, err := s.makeConsumer(ctx)
	if err != nil {
		return nil, err
	}
	reading, err := c.Consume(func(m jetstream.Msg) { receive(m) },
		jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes), jetstream.PullHeartbeat(2*time.Second), jetstream.PullExpiry(10*time.Second),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			s.in.log.Debug("ingest: reading from the bus", "session", s.name, "error", err)
			s.poke()
		}))
	if err != nil {
		return nil, fmt.Errorf("ingest: reading from the bus: %w", err)
	}
	s.setConsumer(c)
	return func() {
		close(let)
		reading.Stop()
		select {
		case <-reading.Closed():
		case <-time.After(time.Second):
		}
	}, nil
}

// makeConsumer makes a consumer anew. One that an owner before left would hold back what was delivered to
// it until its ackWait ended; in a work queue a new one begins with the oldest message not acknowledged.
func (s *source) makeConsumer(ctx context.Context) (jetstream.Consumer, error) {
	config := jetstream.ConsumerConfig{
		Durable: fmt.Sprintf("%s%d", s.prefix(), s.lease.Epoch().Revision), AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
		MaxAckPending: maxAckPending, MaxDeliver: -1, FilterSubject: subjectOf(s.name), InactiveThreshold: inactive,
		MemoryStorage: true, // what it holds is worth nothing without the connection
	}
	if len(s.lease.Elsewhere) == 0 || s.cleared {
		if c, err := s.in.stream.CreateConsumer(ctx, config); err == nil {
			return c, nil
		}
	}
	if !s.cleared { // by now all consumers of the session are ours
		if err := s.clear(ctx); err != nil {
			return nil, err
		}
		s.cleared = true
	}
	c, err := s.in.stream.CreateConsumer(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("ingest: creating the consumer of session %s: %w", s.name, err)
	}
	return c, nil
}

// retireConsumer removes the consumer of a session that comes no more. (When the shadow ends it stays: the
// next owner sees by it what was delivered.)
func (s *source) retireConsumer() {
	if c := s.current(); c != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		_ = s.in.stream.DeleteConsumer(ctx, c.CachedInfo().Name) // else it goes when it has been inactive for long
	}
}

func (s *source) prefix() string {
	h := fnv.New64a()
	h.Write([]byte(s.name))
	return fmt.Sprintf("%s%016x-", consumerPrefix, h.Sum64())
}

// clear removes the consumers that owners before left, and notes what had been delivered to them.
func (s *source) clear(ctx context.Context) error {
	names := s.in.stream.ConsumerNames(ctx)
	delivered, found := uint64(0), false
	for name := range names.Name() {
		if !strings.HasPrefix(name, s.prefix()) {
			continue
		}
		// Paused first: nothing more is delivered between the look and the end.
		_, _ = s.in.stream.PauseConsumer(ctx, name, time.Now().Add(time.Minute))
		if c, err := s.in.stream.Consumer(ctx, name); err == nil {
			delivered, found = max(delivered, c.CachedInfo().Delivered.Stream), true
		}
		if err := s.in.stream.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return fmt.Errorf("ingest: replacing the consumer of an earlier owner of session %s: %w", s.name, err)
		}
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("ingest: listing the consumers: %w", err)
	}
	if len(s.lease.Elsewhere) == 0 {
		return nil
	}
	if !found || s.in.turns() { // it may have had all that is there; in turns it needed no consumer
		info, err := s.in.stream.Info(ctx)
		if err != nil {
			return fmt.Errorf("ingest: asking the bus what the owner before had: %w", err)
		}
		delivered = info.State.LastSeq
	}
	if err := s.lease.SetApart(ctx, delivered); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	return nil
}

// retire removes the consumer of a shadow of an earlier version that is not running.
func (in *Ingest) retire(ctx context.Context, name string) error {
	old, err := in.stream.Consumer(ctx, name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ingest: looking for an earlier shadow: %w", err)
	}
	if old.CachedInfo().NumWaiting > 0 {
		return fmt.Errorf("ingest: %w", ErrBusy)
	}
	if err := in.stream.DeleteConsumer(ctx, name); err != nil {
		return fmt.Errorf("ingest: replacing the consumer of an earlier shadow: %w", err)
	}
	return nil
}
