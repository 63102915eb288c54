package ingest

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/shadow/store"
)

// silent is a stream of a bus that gives no answer to the first questions.
type silent struct {
	jetstream.Stream
	left atomic.Int64
}

func (s *silent) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	if s.left.Add(-1) >= 0 {
		return nil, context.DeadlineExceeded
	}
	return s.Stream.Info(ctx, o...)
}

// A question to the bus that gets no answer is asked again: what is on the bus is stored.
func TestDrainAsksAgain(t *testing.T) {
	b, root := startBus(t), t.TempDir()
	all := fakeBatches("job", 20, 7)
	publishAll(t, b, all...)
	in := newIngest(Options{Bus: b, Root: root})
	must(t, in.join(t.Context()))
	quiet := &silent{Stream: in.stream}
	quiet.left.Store(10)
	in.stream = quiet
	go in.dispatch()
	t.Cleanup(in.Kill)
	drain(t, in)
	must(t, in.Close(store.EndedClosed))
	checkRows(t, filepath.Join(root, "job"), all)
}
