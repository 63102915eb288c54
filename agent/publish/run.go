package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
)

// flight is a message in flight.
type flight struct {
	message
	first  bool // it was not sent before
	future jetstream.PubAckFuture
}

// sender is the state of the goroutine that sends.
type sender struct {
	*Publisher
	conn     *nats.Conn
	js       jetstream.JetStream
	ids      wire.MessageIDs
	idsMade  int // how often the ids were made; more than once: another sender used them
	flights  []flight
	failures int       // in a row, without an acknowledgement between them
	next     time.Time // earliest moment for the next attempt
	was      bool      // connected at the last look
	linked   bool      // Config.Link was called
	outage   outage
}

// run is the goroutine: connects, sends, waits for acknowledgements.
func (p *Publisher) run(ctx context.Context) {
	s := &sender{Publisher: p}
	s.renewIDs()
	s.outage = outage{grace: p.cfg.Grace, say: p.cfg.Notice, url: p.shown}
	defer close(p.finished)
	defer p.shut()
	defer func() {
		if x := recover(); x != nil {
			p.cfg.Notice(fmt.Sprintf("an internal error ended the publishing, the program runs on: %v\n%s", x, debug.Stack()))
		}
	}()
	s.conn = p.connect(ctx, func(err error) {
		s.link(false)
		s.failed(err, time.Now())
	})
	if s.conn == nil {
		return
	}
	defer s.conn.Close()
	if err := s.stream(); err != nil {
		p.cfg.Notice("publishing is not possible, the program runs on: " + err.Error())
		return
	}
	s.loop(ctx)
}

func (s *sender) stream() error {
	var err error
	s.js, err = jetstream.New(s.conn,
		jetstream.WithPublishAsyncTimeout(s.cfg.AckWait),
		jetstream.WithPublishAsyncAckHandler(func(jetstream.JetStream, *nats.Msg, *jetstream.PubAck) { s.poke() }),
		jetstream.WithPublishAsyncErrHandler(func(jetstream.JetStream, *nats.Msg, error) { s.poke() }))
	return err
}

func (s *sender) loop(ctx context.Context) {
	timer := time.NewTimer(look)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		s.reap(now)
		s.watch(now)
		s.send(now)
		s.publishState()
		timer.Reset(s.pause(now))
		select {
		case <-ctx.Done():
		case <-s.poked:
		case <-timer.C:
		}
	}
}

// pause is the time until the next look, if nothing pokes.
func (s *sender) pause(now time.Time) time.Duration {
	if s.was && !s.outage.on && len(s.flights) == 0 && s.failures == 0 && !s.waits() {
		return calmLook
	}
	if d := s.next.Sub(now); d > 0 && d < look {
		return d
	}
	return look
}

// waits reports whether anything is not acknowledged.
func (p *Publisher) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) > 0
}

// watch follows the connection: an outage begins when it is lost; when it is back,
// sending continues at once.
func (s *sender) watch(now time.Time) {
	connected := s.conn.IsConnected()
	if connected != s.was || !s.linked {
		s.link(connected)
	}
	switch {
	case !connected:
		err := s.conn.LastError()
		if err == nil {
			err = nats.ErrNoServers
		}
		if stranger := s.dialer.Refused(); stranger != nil {
			err = stranger
		}
		s.outage.begin(now, err)
	case !s.was:
		s.failures, s.next = 0, time.Time{}
	}
	s.was = connected
	s.outage.report(now)
}

// link reports that the connection was made, or that there is none.
func (s *sender) link(connected bool) {
	s.linked = true
	if connected {
		s.cfg.Link(s.conn)
	} else {
		s.cfg.Link(nil)
	}
}

// reap removes the acknowledged batches from memory and puts back the failed ones.
func (s *sender) reap(now time.Time) {
	var done, back []message
	var known []flight
	var cause error
	s.flights = slices.DeleteFunc(s.flights, func(f flight) bool {
		select {
		case ack := <-f.future.Ok():
			if ack.Duplicate {
				known = append(known, f)
			} else {
				done = append(done, f.message)
			}
			return true
		case err := <-f.future.Err():
			back, cause = append(back, f.message), err
			return true
		default:
			return false
		}
	})
	if contested(known) {
		back, cause = append(back, s.contest(known)...), errContested
	} else {
		done = append(done, messagesOf(known)...)
	}
	if len(done) > 0 {
		s.failures, s.next = 0, time.Time{}
		s.outage.end()
		s.acknowledged(done)
	}
	if len(back) > 0 {
		// The others in flight have failed too; waiting for their time-outs one by
		// one would delay the attempt that finds the bus working again.
		back = append(back, messagesOf(s.flights)...)
		s.flights = nil
		slices.SortFunc(back, func(a, b message) int { return cmp.Compare(a.seq, b.seq) })
		s.putBack(back)
		s.failed(cause, now)
	}
}

// release forgets messages that are done; with the lock held.
func (s *sender) release(list ...message) {
	for _, m := range list {
		s.forget(m)
	}
	s.wake()
	s.spooler.poke()
}

// acknowledged accounts for messages that the bus has stored.
func (s *sender) acknowledged(list []message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(list...)
	s.stats.Acknowledged += uint64(len(list))
	for _, m := range list {
		s.stats.Bytes += uint64(len(m.data))
	}
}

// putBack makes messages wait again, before those not yet sent.
func (s *sender) putBack(back []message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = append(back, s.head...)
	s.stats.Resent += uint64(len(back))
}

// failed begins or continues an outage and postpones the next attempt.
func (s *sender) failed(err error, now time.Time) {
	if !now.Before(s.next) { // what was in flight together fails as one
		s.failures++
		s.next = now.Add(backoff(s.failures))
	}
	s.outage.begin(now, err)
	s.outage.report(now)
	s.publishState()
}

// publishState copies the goroutine's own state to the Publisher.
func (s *sender) publishState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.trouble, s.remedy = false, "", ""
	if s.outage.on {
		s.away = !refusal(s.outage.cause)
		s.trouble, s.remedy = reason(s.outage.cause), remedy(s.outage.cause)
	}
}

// send puts messages in flight. After a failure it sends one alone: if the bus still
// does not take batches, little is sent for nothing.
func (s *sender) send(now time.Time) {
	if !s.was || now.Before(s.next) {
		return
	}
	window := s.cfg.InFlight
	if s.failures > 0 {
		window = 1
	}
	for len(s.flights) < window {
		m, ok := s.take()
		if !ok {
			return
		}
		err := s.fly(m)
		switch {
		case errors.Is(err, nats.ErrMaxPayload):
			s.reject(m)
		case err != nil:
			s.putBack([]message{m})
			s.failed(err, now)
			return
		}
	}
}

// take returns the next message to send. With a spool file, the batches in flight get only a
// part of the memory: what they hold cannot go to the file.
func (s *sender) take() (message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spooler != nil && s.inFlight() > s.flying {
		return message{}, false
	}
	m, ok := s.pop()
	if s.low() {
		s.spooler.poke()
	}
	return m, ok
}

// inFlight is the memory of the batches in flight.
func (s *sender) inFlight() (bytes int) {
	for _, f := range s.flights {
		bytes += f.bytes()
	}
	return bytes
}

func (s *sender) fly(m message) error {
	msg := nats.NewMsg(wire.Subject(s.cfg.Session))
	msg.Data = m.data
	if s.cfg.Process != "" {
		msg.Header.Set(wire.ProcessHeader, s.cfg.Process)
	}
	future, err := s.js.PublishMsgAsync(msg, jetstream.WithMsgID(s.ids.Of(m.seq)))
	if err != nil {
		return err
	}
	first := m.sent != s.idsMade
	m.sent = s.idsMade
	s.flights = append(s.flights, flight{message: m, first: first, future: future})
	return nil
}

func messagesOf(flights []flight) []message {
	list := make([]message, len(flights))
	for i, f := range flights {
		list[i] = f.message
	}
	return list
}

func (s *sender) renewIDs() {
	s.ids = wire.NewMessageIDs()
	s.idsMade++
}

// contested reports whether the bus calls a batch a duplicate that was sent for the first time: the bus has another
// sender's message under the batch's id, and has not stored the batch.
func contested(known []flight) bool {
	return slices.ContainsFunc(known, func(f flight) bool { return f.first })
}

// contest sends batches again. A sender that knows one id knows them all, so all batches get new ids.
func (s *sender) contest(known []flight) []message {
	list := messagesOf(known)
	s.renewIDs()
	s.mu.Lock()
	first := s.stats.Contested == 0
	s.stats.Contested += uint64(len(list))
	s.mu.Unlock()
	if first {
		s.cfg.Notice(fmt.Sprintf("the bus at %s takes batch %d for a duplicate: another sender uses the agent's ids. "+
			"The agent sends it again under another id; check who else may publish there", s.shown, list[0].seq))
	}
	return list
}

// reject drops a message that the server will never take.
func (s *sender) reject(m message) {
	s.mu.Lock()
	s.release(m)
	s.stats.Rejected++
	first := s.stats.Rejected == 1
	s.mu.Unlock()
	if first {
		s.cfg.Notice(fmt.Sprintf("batch %d of %d bytes is larger than the bus at %s allows (%d); it is lost. Raise max_payload of the server to 1 MiB",
			m.seq, len(m.data), s.shown, s.conn.MaxPayload()))
	}
}
