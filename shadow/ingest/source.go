package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/shadow/bus"
	"stackagent/shadow/share"
)

const (
	legacyConsumer = "shadow"   // of the whole stream, as earlier versions had it
	consumerPrefix = "session-" // followed by a hash of the session's name and the owner's epoch
	inactive       = 10 * time.Minute
	retryPause     = 500 * time.Millisecond
	stuckDelay     = 2 * time.Second // when a message comes again whose session can not be stored now
)

// ErrBusy is returned when a shadow of an earlier version consumes the same stream.
var ErrBusy = errors.New("a shadow of an earlier version is storing from this bus; stop it, or use another bus")

// source brings the messages of one session name to its workers: one for each JVM that uses the name. It has
// a consumer of its own, so that a session that can not be stored holds up no other.
type source struct {
	in    *Ingest
	name  string
	lease *share.Lease
	msgs  chan jetstream.Msg
	pokes chan struct{} // asks whether the consumer is still there
	done  chan struct{}

	mu       sync.Mutex
	consumer jetstream.Consumer // nil: not there at the moment
	workers  map[string]*worker // by process; written by run only
}

func newSource(in *Ingest, l *share.Lease) *source {
	return &source{in: in, name: l.Session, lease: l, msgs: make(chan jetstream.Msg), pokes: make(chan struct{}, 1),
		done: make(chan struct{}), workers: map[string]*worker{}}
}

// run brings messages until the shadow ends, the lease is lost, or nothing has come for long.
func (s *source) run() {
	defer close(s.done)
	defer s.in.leave(s)
	defer s.endWorkers()
	tick := time.NewTicker(min(s.in.o.LostContact/4, time.Second))
	defer tick.Stop()
	s.poke()
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	idle := time.Now()
	for {
		select {
		case <-s.in.stop:
			return
		case <-s.lease.Lost():
			s.in.log.Info("ingest: a session went to another shadow", "session", s.name)
			return
		case <-s.pokes:
			stop = s.revise(stop)
		case m := <-s.msgs:
			s.route(m)
			idle = time.Now()
		case now := <-tick.C:
			s.endIdle(now)
			if len(s.workers) == 0 && now.Sub(idle) > s.in.o.LostContact {
				s.retireConsumer()
				s.lease.Release(keepRow)
				return
			}
		}
	}
}

// leave tells the dispatcher that s has ended.
func (in *Ingest) leave(s *source) {
	select {
	case in.gone <- s:
	case <-in.stop:
	}
}

// poke makes the source look after its consumer.
func (s *source) poke() {
	select {
	case s.pokes <- struct{}{}:
	default:
	}
}

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

// begin makes the consumer and reads from it.
func (s *source) begin(ctx context.Context) (stop func(), err error) {
	s.setConsumer(nil)
	if err := s.lease.Check(); err != nil { // else we would take it from its new owner
		return nil, err
	}
	c, err := s.makeConsumer(ctx)
	if err != nil {
		return nil, err
	}
	let := make(chan struct{}) // closed: messages that still come are let go
	receive := func(m jetstream.Msg) {
		select {
		case s.msgs <- m:
		case <-let:
		}
	}
	reading, err := c.Consume(receive,
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
	if len(s.lease.Elsewhere) == 0 {
		if c, err := s.in.stream.CreateConsumer(ctx, config); err == nil {
			return c, nil
		}
	}
	if err := s.clear(ctx); err != nil {
		return nil, err
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
	if !found { // it may have had all that is there
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

// coming tells whether messages of the session have not been delivered to us yet.
func (s *source) coming(ctx context.Context) bool {
	c := s.current()
	if c == nil {
		return true
	}
	info, err := c.Info(ctx)
	return err != nil || info.NumPending > 0
}

// route hands a message to the worker of its JVM.
func (s *source) route(m jetstream.Msg) {
	s.in.routed.Add(1)
	key, err := senderOf(m)
	if err != nil {
		s.in.refuse(m, err)
		return
	}
	w := s.workers[key.process]
	if w == nil {
		if int(s.in.active.Load()) >= s.in.o.MaxSessions {
			s.in.log.Warn("ingest: too many sessions at once; one has to wait", "session", key.session, "limit", s.in.o.MaxSessions)
			s.in.putBack(m, 5*time.Second)
			return
		}
		w = s.add(key)
	}
	for {
		select {
		case w.in <- m:
			return
		default:
		}
		if w.stuck.Load() && len(s.workers) > 1 { // one JVM's folder that takes nothing must not hold up its namesakes
			s.in.putBack(m, stuckDelay)
			return
		}
		select {
		case w.in <- m:
			return
		case <-s.in.stop:
			return
		case <-s.lease.Lost():
			return
		case <-time.After(stuckDelay):
		}
	}
}

func (s *source) add(key sender) *worker {
	w := newWorker(s, key)
	s.mu.Lock()
	s.workers[key.process] = w
	s.mu.Unlock()
	s.in.active.Add(1)
	return w
}

func (in *Ingest) putBack(m jetstream.Msg, delay time.Duration) {
	if err := m.NakWithDelay(delay); err != nil {
		in.log.Warn("ingest: putting a message back", "error", err)
	}
}

// endIdle ends the workers of JVMs from which nothing comes any more.
func (s *source) endIdle(now time.Time) {
	for process, w := range s.workers {
		if now.Sub(time.Unix(0, w.lastBatch.Load())) < s.in.o.LostContact || w.stuck.Load() {
			continue
		}
		s.end(process, w)
	}
}

func (s *source) end(process string, w *worker) {
	close(w.in)
	<-w.done
	s.mu.Lock()
	delete(s.workers, process)
	s.mu.Unlock()
	s.in.active.Add(-1)
}

// endWorkers ends them all, and the consumer with them.
func (s *source) endWorkers() {
	for _, w := range s.all() {
		close(w.in)
	}
	for _, w := range s.all() {
		<-w.done
		if w.err != nil && !errors.Is(w.err, share.ErrLost) {
			s.in.fail(s.name, w.err)
		}
	}
	s.in.active.Add(-int64(len(s.workers)))
}

// storedBefore tells whether the owner before, in a store that we do not see, may have stored the batch in m
// and not acknowledged it. Such a batch becomes a part of its own, so that who joins the pieces of the session
// can tell by the names of the parts what is there twice.
func (s *source) storedBefore(m jetstream.Msg) bool {
	if s.lease.Apart() == 0 {
		return false
	}
	meta, err := m.Metadata()
	return err != nil || meta.Sequence.Stream <= s.lease.Apart()
}

// all lists the workers.
func (s *source) all() []*worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*worker, 0, len(s.workers))
	for _, w := range s.workers {
		list = append(list, w)
	}
	return list
}

func subjectOf(session string) string { return strings.TrimSuffix(bus.Subjects, ">") + session }
