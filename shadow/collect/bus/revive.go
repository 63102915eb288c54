package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"stackagent/internal/timers"
)

// Once a write has failed, the server's stream accepts nothing until it is reopened,
// even if the disk has space again. The keeper reopens it; accepted batches are on
// the disk.

const (
	lookInterval = 250 * time.Millisecond // while the stream is broken, and of what a start waits for
	calmInterval = 2 * time.Second        // while it is not: the server's log wakes the keeper
	reviveSpace  = 16 << 20               // bytes free before the stream is opened again
)

// keep watches over the embedded server's stream until quit is closed.
func (b *Bus) keep(o Options, log *serverLog) {
	defer close(b.kept)
	full := false
	report := func(now bool) {
		if now != full && o.Full != nil {
			o.Full(now)
		}
		full = now
	}
	wait := calmInterval
	for {
		select {
		case <-b.quit:
			return
		case <-log.breaks: // more may break in the next moments
			if !pause(b.quit, lookInterval) {
				return
			}
		case <-time.After(timers.After(wait)):
		}
		wait = calmInterval
		if !log.broken.Load() && b.srv.JetStreamEnabled() {
			continue
		}
		wait = lookInterval
		if free, err := freeBytes(o.StoreDir); err == nil && free < reviveSpace {
			report(true)
			continue
		}
		log.broken.Store(false)
		if err := b.revive(o); err != nil {
			log.broken.Store(true) // tried again at the next look
			log.logger().Warn("bus: opening the stream again", "error", err)
			continue
		}
		report(false)
		select {
		case b.revived <- struct{}{}:
		default:
		}
	}
}

// pause returns false when quit is closed meanwhile.
func pause(quit <-chan struct{}, d time.Duration) bool {
	select {
	case <-quit:
		return false
	case <-time.After(d):
		return true
	}
}

// revive closes and opens JetStream within the running server; the agents stay
// connected.
func (b *Bus) revive(o Options) error {
	if err := b.srv.ShutdownJetStream(); err != nil {
		return fmt.Errorf("closing the stream: %w", err)
	}
	for end := time.Now().Add(startTimeout); b.srv.JetStreamEnabled(); time.Sleep(lookInterval / 10) {
		if time.Now().After(end) {
			return errors.New("the stream did not close")
		}
	}
	err := b.srv.EnableJetStream(&server.JetStreamConfig{
		StoreDir: o.StoreDir, MaxStore: o.storeBytes(), MaxMemory: streamMemory,
		SyncInterval: syncInterval, SyncAlways: o.SyncAlways, Strict: true,
	})
	if err != nil {
		return fmt.Errorf("opening the stream: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if _, err := b.js.Stream(ctx, Stream); err != nil {
		return fmt.Errorf("looking at the stream: %w", err)
	}
	return nil
}

// Revived receives a value after the stream was reopened: its consumers have to be
// made again. For a joined server it never receives.
func (b *Bus) Revived() <-chan struct{} { return b.revived }

// fatal reports whether a message of the server means that its stream has
// stopped taking messages.
func fatal(msg string) bool {
	return strings.Contains(msg, "write error") || strings.Contains(msg, "failed to store a msg") ||
		strings.Contains(msg, "DISABLED")
}

func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("asking for the free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
