package rollup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// LeaseBucket is the key-value bucket of leases.
const LeaseBucket = "STACKAGENT_ROLLUPS"

// leaseTTL is how long a lease outlives its holder.
const leaseTTL = time.Minute

// WithLease runs do while this process alone has the lease of that name, so that of the shadows of a cluster one works; ran
// is false if another has it. When the lease is lost, the context of do ends. Nothing rests on it but work done twice.
func WithLease(ctx context.Context, js jetstream.JetStream, name, owner string, do func(context.Context) error) (ran bool, err error) {
	return withLease(ctx, js, name, owner, leaseTTL, do)
}

func withLease(ctx context.Context, js jetstream.JetStream, name, owner string, ttl time.Duration, do func(context.Context) error) (ran bool, err error) {
	kv, err := js.KeyValue(ctx, LeaseBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: LeaseBucket, Description: "which shadow compacts roll-ups", History: 1, TTL: ttl, MaxBytes: 1 << 20})
		if errors.Is(err, jetstream.ErrBucketExists) { // another shadow was faster
			kv, err = js.KeyValue(ctx, LeaseBucket)
		}
	}
	if err != nil {
		return false, fmt.Errorf("the leases %s on the bus: %w", LeaseBucket, err)
	}
	revision, err := kv.Create(ctx, name, []byte(owner))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("taking the lease %s: %w", name, err)
	}
	held, lost := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(ttl / 4)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case <-tick.C:
			}
			r, err := kv.Update(held, name, []byte(owner), revision)
			if err != nil {
				lost(fmt.Errorf("the lease %s is lost: %w", name, err))
				return
			}
			revision = r
		}
	}()
	err = do(held)
	lost(nil)
	<-done
	// For the next one not to wait. It ends by itself if this fails.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl/4)
	defer cancel()
	_ = kv.Delete(last, name, jetstream.LastRevision(revision))
	return true, err
}
