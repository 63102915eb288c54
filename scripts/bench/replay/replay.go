// Package replay stands in for JVMs under an agent: clients that send batches of tasks over the bus at a set rate. So the
// shadow's cost is measured without a JVM beside it, and what it must have stored is known.
package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/busauth"
	"stackagent/internal/wire"
)

// JVMs are the clients to be.
type JVMs struct {
	URL, TokenFile string // of the bus
	N              int
	Events         int // a second of each: executions and creations, half of each; a submission comes with each pair
	For            time.Duration
}

// Session is the name of the session of JVM i.
func Session(i int) string { return fmt.Sprintf("replay-%d", i) }

// Sent is what the clients produced.
type Sent struct {
	Events  uint64
	Batches uint64
}

const (
	heartbeat  = time.Second // the agent sends what it has, and earlier when a batch is full
	batchTasks = 6 << 10     // of about 160 KiB, the agent's own aim
)

// Send sends until the time is over, with a last batch of each, and waits until the bus has taken all.
func Send(ctx context.Context, j JVMs) (Sent, error) {
	var mu sync.Mutex
	var all Sent
	var first error
	var group sync.WaitGroup
	for i := range j.N {
		group.Go(func() {
			// They do not start together, as real ones would not.
			pause(ctx, time.Duration(i)*heartbeat/time.Duration(j.N))
			sent, err := j.one(ctx, i)
			mu.Lock()
			defer mu.Unlock()
			all.Events, all.Batches, first = all.Events+sent.Events, all.Batches+sent.Batches, errors.Join(first, err)
		})
	}
	group.Wait()
	return all, first
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (j JVMs) connect(i int) (*nats.Conn, jetstream.JetStream, error) {
	var auth busauth.Auth
	if err := auth.SetToken(j.TokenFile); err != nil {
		return nil, nil, err
	}
	options, err := auth.Options()
	if err != nil {
		return nil, nil, err
	}
	conn, err := nats.Connect(j.URL, append(options, nats.Name("replay "+Session(i)))...)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the bus: %w", err)
	}
	js, err := jetstream.New(conn)
	return conn, js, err
}

// one is one JVM.
func (j JVMs) one(ctx context.Context, i int) (sent Sent, err error) {
	conn, js, err := j.connect(i)
	if err != nil {
		return sent, err
	}
	defer conn.Close()
	ids, m := wire.NewMessageIDs(), newMaker(i)
	perSecond := float64(j.Events) / 2
	every := min(heartbeat, time.Duration(batchTasks/perSecond*float64(time.Second)))
	begin := time.Now()
	for done := false; !done && ctx.Err() == nil; {
		pause(ctx, every)
		elapsed := min(time.Since(begin), j.For)
		done = elapsed == j.For
		for due := int(elapsed.Seconds()*perSecond) - int(m.tasks); due > 0 || done; due -= batchTasks {
			last := done && due <= batchTasks
			data, err := wire.Encode(m.batch(min(max(due, 0), batchTasks), last), nil)
			if err != nil {
				return sent, err
			}
			msg := nats.NewMsg(wire.Subject(Session(i)))
			msg.Data = data
			msg.Header.Set(wire.ProcessHeader, m.process)
			if _, err := js.PublishMsgAsync(msg, jetstream.WithMsgID(ids.Of(m.seq))); err != nil {
				return sent, fmt.Errorf("sending a batch: %w", err)
			}
			if last {
				break
			}
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		err = fmt.Errorf("the bus has not taken %d batches", js.PublishAsyncPending())
	}
	return Sent{Events: 2 * m.tasks, Batches: m.seq}, errors.Join(err, ctx.Err())
}
