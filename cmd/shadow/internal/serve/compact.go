package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store/objectstore"
)

// compactEvery is how often one of the shadows of a store compacts its roll-ups.
const compactEvery = 15 * time.Minute

// compactor compacts roll-ups and deletes what is older than it should be kept, if no other shadow on the bus does.
type compactor struct {
	store  objectstore.Store
	bus    *bus.Bus
	policy rollup.Policy
	audit  *audit.Log
	log    *slog.Logger
	note   func(string, ...any)
	now    func() time.Time

	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	last error // of the last pass
}

func (c *compactor) start() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.done.Go(func() {
		for {
			// Shadows that start together should not ask together.
			wait := timers.NewTicker(compactEvery/2 + rand.N(compactEvery))
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
				wait.Stop()
			}
			err := c.pass(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.note("%s", c.trouble(err))
			}
			c.mu.Lock()
			c.last = err
			c.mu.Unlock()
		}
	})
}

// failed is why the last pass failed; nil: it did not.
func (c *compactor) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *compactor) trouble(err error) string {
	return fmt.Sprintf("compacting the roll-ups of %s: %s; it is tried again", c.store, text.OneLine(err.Error()))
}

func (c *compactor) close() {
	c.stop()
	c.done.Wait()
}

// pass does what is due.
func (c *compactor) pass(ctx context.Context) error {
	host, _ := os.Hostname() // who it is, for people only
	_, err := rollup.WithLease(ctx, c.bus.JetStream(), "compaction", host+":"+strconv.Itoa(os.Getpid()), func(ctx context.Context) error {
		done, err := rollup.Compact(ctx, c.store, rollup.CompactOptions{Logger: c.log}, c.now())
		if done != nil {
			for _, m := range done.Missing {
				c.log.Warn("not merged", "store", c.store.String(), "object", m.Key, "why", m.Why)
			}
		}
		if err != nil {
			return err
		}
		c.log.Info("roll-ups were compacted", "store", c.store.String(), "partitions", done.Partitions, "merged", done.Merged, "written", done.Written, "deleted", done.Deleted, "unreadable", len(done.Missing))
		if c.policy == (rollup.Policy{}) {
			return nil
		}
		plan, err := rollup.Plan(ctx, c.store, c.policy, c.now())
		if err != nil {
			return err
		}
		return errors.Join(err, rollup.Apply(ctx, c.store, plan, c.now(), func(d rollup.Deletion) {
			if err := c.audit.Add(audit.Entry{Time: c.now(), Who: "retention", Action: audit.Delete, What: d.Name, Result: audit.Done}); err != nil {
				c.note("%v", err)
			}
			c.log.Info("deleted for its age", "store", c.store.String(), "kind", d.Kind, "name", d.Name, "objects", d.Objects, "bytes", d.Bytes)
		}))
	})
	return err
}
