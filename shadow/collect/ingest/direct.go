package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/shadow/collect/bus"
)

// In its turn a session reads its messages where the stream keeps them, and deletes what it has stored. Consumers would cost
// twice as much CPU time: the server would have to make one, compare it with each acknowledgement, and remove it again.
const (
	directGet = jetstream.DefaultAPIPrefix + "DIRECT.GET." + bus.Stream
	deleteMsg = jetstream.DefaultAPIPrefix + "STREAM.MSG.DELETE." + bus.Stream
	getPause  = 200 * time.Millisecond // until it is asked again, in a turn that goes on
)

// message is what comes from the bus, through a consumer or directly.
type message interface {
	Data() []byte
	Headers() nats.Header
	Subject() string
	Metadata() (*jetstream.MsgMetadata, error)
	Reply() string
	NakWithDelay(delay time.Duration) error
	TermWithReason(reason string) error
}

// kept is a message that the stream keeps until it is deleted.
type kept struct {
	*nats.Msg
	conn        *nats.Conn
	subject     string
	seq, behind uint64
}

// errNoDirect is returned where the stream, or a message of the session, cannot be read without a consumer.
var errNoDirect = errors.New("direct reading is not possible")

// mayReadDirectly reports whether the stream can be read without a consumer, and what is stored deleted. Of a bus that was joined
// the user may have no right to one of both: the server does not answer then.
func (in *Ingest) mayReadDirectly(ctx context.Context) bool {
	c := in.stream.CachedInfo().Config
	if !c.AllowDirect || c.DenyDelete {
		return false
	}
	if !in.o.Bus.Joined() {
		return true
	}
	for subject, question := range map[string]string{directGet: `{"last_by_subj":"` + bus.Subjects + `"}`, deleteMsg: `{"seq":0}`} {
		err := bus.Patiently(func() error {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			_, err := in.o.Bus.Conn().RequestWithContext(ctx, subject, []byte(question))
			return err
		})
		if err != nil {
			in.log.Warn("ingest: the bus does not answer a question that the shadow may ask if its user has the right to the subject; without it more than a few hundred sessions take much more CPU time",
				"subject", subject, "error", err)
			return false
		}
	}
	return true
}

// newKept makes a message of an answer. The server adds its headers behind those with which the message was published,
// which nobody has checked: the last of a name counts.
func newKept(conn *nats.Conn, m *nats.Msg) (*kept, error) {
	k := &kept{Msg: m, conn: conn, subject: lastHeader(m, jetstream.SubjectHeader)}
	var errs [2]error
	k.seq, errs[0] = strconv.ParseUint(lastHeader(m, jetstream.SequenceHeader), 10, 64)
	k.behind, errs[1] = strconv.ParseUint(lastHeader(m, "Nats-Num-Pending"), 10, 64)
	return k, errors.Join(errs[:]...)
}

func lastHeader(m *nats.Msg, name string) string {
	if list := m.Header[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

func (k *kept) Data() []byte         { return k.Msg.Data }
func (k *kept) Headers() nats.Header { return k.Header }
func (k *kept) Subject() string      { return k.subject }
func (k *kept) Reply() string        { return "" }

func (k *kept) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: k.seq}, NumPending: k.behind}, nil
}

// NakWithDelay leaves it for the next turn.
func (k *kept) NakWithDelay(time.Duration) error { return nil }

// TermWithReason deletes it.
func (k *kept) TermWithReason(string) error {
	r := k.done()
	return k.conn.Publish(r.subject, r.body)
}

// done is what deletes it.
func (k *kept) done() reply {
	return reply{subject: deleteMsg, body: fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, k.seq)}
}

// readDirectly begins to bring what waits; stop ends that.
func (s *source) readDirectly(receive func(message)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for next := uint64(1); ctx.Err() == nil; {
			last, more, err := s.get(ctx, next, receive)
			next = max(next, last+1)
			switch {
			case ctx.Err() != nil:
				return
			case errors.Is(err, errNoDirect):
				s.noDirect.Store(true)
				s.poke() // goes on with a consumer
				return
			case err != nil:
				s.in.log.Debug("ingest: reading from the bus", "session", s.name, "error", err)
				time.AfterFunc(retryPause, s.poke) // begins anew
				return
			case more:
				continue
			}
			select {
			case s.caughtUp <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(getPause):
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
	}
}

// get receives some of what waits, from a place in the stream on, and reports the last place and whether there is more.
func (s *source) get(ctx context.Context, from uint64, receive func(message)) (last uint64, more bool, err error) {
	conn := s.in.o.Bus.Conn()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ask, err := json.Marshal(struct {
		Seq      uint64 `json:"seq"`
		Subject  string `json:"next_by_subj"`
		Batch    int    `json:"batch"`
		MaxBytes int    `json:"max_bytes"`
	}{from, subjectOf(s.name), pullMessages, pullBytes})
	if err != nil {
		return 0, false, err
	}
	inbox := conn.NewInbox()                        // of its own: what comes to one of NewRespInbox comes to all that wait for answers, too
	answers := make(chan *nats.Msg, pullMessages+1) // through a channel the client does not read the headers itself
	sub, err := conn.ChanSubscribe(inbox, answers)
	if err != nil {
		return 0, false, fmt.Errorf("ingest: asking for messages: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := conn.PublishRequest(directGet, inbox, ask); err != nil {
		return 0, false, fmt.Errorf("ingest: asking for messages: %w", err)
	}
	for {
		var m *nats.Msg
		select {
		case m = <-answers:
		case <-ctx.Done():
			return last, false, fmt.Errorf("ingest: receiving messages: %w", ctx.Err())
		}
		if len(m.Header) == 0 { // of a message that was published with headers that nobody can read: a consumer knows its place
			return last, false, errNoDirect
		}
		if lastHeader(m, jetstream.SequenceHeader) == "" { // only the server's own words have none; a 503 has a subject
			return last, more, endOf(m)
		}
		k, err := newKept(conn, m)
		if err != nil {
			return last, false, fmt.Errorf("ingest: a message of the bus: %w", err)
		}
		receive(k)
		last, more = k.seq, k.behind > 0
	}
}

// endOf is the error in the server's words at the end of an answer.
func endOf(m *nats.Msg) error {
	switch status := m.Header.Get("Status"); status {
	case "204", "404": // the end, nothing
		return nil
	case "503":
		return errNoDirect
	default:
		return fmt.Errorf("ingest: the bus answers %s %s", status, m.Header.Get("Description"))
	}
}
