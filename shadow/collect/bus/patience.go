package bus

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A start asks several times: this process, its machine or the server may stand
// still, or the question is lost with its connection. After a standstill an answer
// and the timeout arrive at the same moment, so one timeout, however long, proves
// nothing.
const (
	startTimeout = 10 * time.Second // of one
	startTries   = 3
)

// Patiently asks up to three times as long as the only error is a timeout, and for as long as these would take if a stream
// answers that nobody leads it: a cluster elects a leader within seconds. ask must be safe to repeat.
func Patiently(ask func() error) error {
	end := time.Now().Add(startTries * startTimeout)
	for tries := 1; ; {
		err := ask()
		switch {
		case errors.Is(err, jetstream.ErrNoStreamResponse) && time.Now().Before(end):
			time.Sleep(lookInterval)
		case late(err) && tries < startTries:
			tries++
		default:
			return err
		}
	}
}

// late reports whether err is only a missing answer.
func late(err error) bool {
	silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
	return silent && !errors.Is(err, nats.ErrPermissionViolation)
}

// ask is Patiently with a bounded time each. A server does not answer a client that
// may not ask; only the connection gets the error.
func (b *Bus) ask(question func(ctx context.Context) error) error {
	return Patiently(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		defer b.whenDenied(cancel)()
		err := question(ctx)
		if refused := b.conn.LastError(); (late(err) || errors.Is(err, context.Canceled)) && errors.Is(refused, nats.ErrPermissionViolation) {
			return errors.Join(refused, err)
		}
		return err
	})
}

const deniedLook = 20 * time.Millisecond

// whenDenied calls give when the server says that we may not ask.
func (b *Bus) whenDenied(give func()) (stop func()) {
	quit := make(chan struct{})
	go func() {
		tick := time.NewTicker(deniedLook)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if errors.Is(b.conn.LastError(), nats.ErrPermissionViolation) {
				give()
				return
			}
		}
	}()
	return func() { close(quit) }
}

// ready waits until the embedded server takes connections or fails.
func ready(srv *server.Server, log *serverLog) bool {
	for range startTries * int(startTimeout/lookInterval) {
		if srv.ReadyForConnections(lookInterval) {
			return true
		}
		if log.dead.Load() {
			return false
		}
	}
	return false
}
