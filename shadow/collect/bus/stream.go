package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrForeignStream is returned if a server has a stream with our name but another
// configuration.
var ErrForeignStream = errors.New("the stream is not made as shadows need it")

// defaultReplicas is how many servers of a cluster keep each batch.
const defaultReplicas = 3

// streamOptions are what a stream is made with.
type streamOptions struct {
	MaxBytes int64         // 0: DefaultMaxBytes
	MaxAge   time.Duration // 0: DefaultMaxAge
	Replicas int           // 0: defaultReplicas in a cluster if it has as many servers, else 1
	Update   bool          // change a stream that is there
}

// prepareStream creates the stream, or checks that an existing one will do.
func (b *Bus) prepareStream(o streamOptions) error {
	js, err := jetstream.New(b.conn)
	if err != nil {
		return fmt.Errorf("bus: JetStream: %w", err)
	}
	b.js = js
	return b.ask(func(ctx context.Context) error { return b.openStream(ctx, o) })
}

func (b *Bus) openStream(ctx context.Context, o streamOptions) error {
	there, err := b.js.Stream(ctx, Stream)
	switch {
	case errors.Is(err, nats.ErrPermissionViolation) || errors.Is(b.conn.LastError(), nats.ErrPermissionViolation):
		return fmt.Errorf("bus: stream %s: the key is an agent's, who may only deliver; a shadow needs a shadow's "+
			"(--nkey with the file .keys/shadow.nk from the store of the shadow whose bus it is): %w", Stream, err)
	case err == nil && !o.Update:
		return b.suits(ctx, there.CachedInfo().Config, o)
	case err != nil && !errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("bus: stream %s (does the server have JetStream, and may this user use it?): %w", Stream, err)
	}
	replicas := o.Replicas
	if replicas == 0 && b.srv == nil && b.conn.ConnectedClusterName() != "" {
		replicas = defaultReplicas
	}
	_, err = b.js.CreateOrUpdateStream(ctx, o.config(max(replicas, 1)))
	if err != nil && o.Replicas == 0 && replicas > 1 { // a cluster of fewer servers
		b.warning = fmt.Sprintf("the cluster does not keep %d copies of the stream (%v): one is kept; --replicas says how many there must be", replicas, err)
		_, err = b.js.CreateOrUpdateStream(ctx, o.config(1))
	}
	if err != nil {
		return fmt.Errorf("bus: stream %s (does the server have JetStream, and %d servers?): %w", Stream, max(replicas, 1), err)
	}
	return nil
}

// config configures the stream: a batch leaves it when it is acknowledged, and a
// full stream refuses new ones.
func (o streamOptions) config(replicas int) jetstream.StreamConfig {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	return jetstream.StreamConfig{
		Name: Stream, Subjects: []string{Subjects}, Description: "batches of stackagent that are not stored yet",
		Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
		MaxBytes: o.MaxBytes, MaxAge: o.MaxAge, Duplicates: min(duplicateWindow, o.MaxAge), Replicas: replicas,
		AllowDirect: true, // sessions in turns are read without consumers
	}
}

// suits reports whether an existing stream will do. Only copies and bounds that the
// options ask for are changed.
func (b *Bus) suits(ctx context.Context, c jetstream.StreamConfig, o streamOptions) error {
	switch {
	case c.Retention != jetstream.WorkQueuePolicy || c.Discard != jetstream.DiscardNew || !slices.Equal(c.Subjects, []string{Subjects}):
		return fmt.Errorf("bus: stream %s: %w: it wants retention workqueue, discard new, and the subject %s alone; remove it and let the shadow make it",
			Stream, ErrForeignStream, Subjects)
	case o.Replicas == 0 && o.MaxBytes == 0 && o.MaxAge == 0:
		if !c.AllowDirect { // made by an earlier version, or by hand
			c.AllowDirect = true
			if _, err := b.js.UpdateStream(ctx, c); err != nil {
				b.warning = fmt.Sprintf("the stream %s does not allow direct reading (allow_direct), and it cannot be changed (%v): more than a few hundred sessions take much more CPU time", Stream, err)
			}
		}
		return nil
	}
	c.AllowDirect = true
	if o.Replicas > 0 {
		c.Replicas = o.Replicas
	}
	if o.MaxBytes > 0 {
		c.MaxBytes = o.MaxBytes
	}
	if o.MaxAge > 0 {
		c.MaxAge = o.MaxAge
		c.Duplicates = min(c.Duplicates, o.MaxAge)
	}
	if _, err := b.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("bus: changing the stream %s to what is asked for (%d copies, %d bytes, %v): %w", Stream, c.Replicas, c.MaxBytes, c.MaxAge, err)
	}
	return nil
}
