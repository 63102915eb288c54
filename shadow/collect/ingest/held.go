package ingest

import (
	"cmp"
	"context"

	"stackagent/internal/wire"
)

// held is a batch that is not stored yet, and where to acknowledge it then. Of its messages no more is kept.
type held struct {
	batch   *wire.Batch
	seq     uint64
	rows    int
	alone   bool    // becomes a part of its own, see source.storedBefore
	replies []reply // of its messages: several if it was published or delivered again meanwhile
}

func hold(b *wire.Batch) *held { return &held{batch: b, seq: b.Seq, rows: rowsOf(b)} }

// reply is what takes a message out of the stream.
type reply struct {
	subject string
	body    []byte
}

var ackBody = []byte("+ACK")

func replyTo(m message) reply {
	if k, ok := m.(*kept); ok {
		return k.done()
	}
	return reply{m.Reply(), ackBody}
}

// mostUnanswered is how many acknowledgements follow one another without an answer: a server drops the requests that wait if
// there are 10,000.
const mostUnanswered = 128

// ack acknowledges batches that are stored. In turns, and where the consumer may end at once, it waits for the server's answer
// to the last: else the server could forget the acknowledgements with the consumer.
func (w *worker) ack(list ...*held) {
	conn := w.ingest.o.Bus.Conn()
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	var replies []reply
	for _, h := range list {
		replies = append(replies, h.replies...)
	}
	wait := w.ingest.turns() || w.ingest.quotas != nil
	var err error
	for i, r := range replies {
		var bad error
		if wait && (i == len(replies)-1 || i%mostUnanswered == mostUnanswered-1) {
			_, bad = conn.RequestWithContext(ctx, r.subject, r.body)
		} else {
			bad = conn.Publish(r.subject, r.body)
		}
		err = cmp.Or(err, bad)
	}
	if err != nil {
		w.ingest.log.Warn("ingest: acknowledging batches; they will come again", "session", w.name, "error", err)
	}
}

// keepReply adds where m is to be acknowledged. Of a message that comes again and again the latest replies count: those
// of consumers that are gone lead nowhere.
func (h *held) keepReply(m message) {
	const most = 8
	if len(h.replies) >= most {
		h.replies = h.replies[1:]
	}
	h.replies = append(h.replies, replyTo(m))
}
