package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"stackagent/cmd/shadow/internal/leftover"
	"stackagent/internal/proc"
	"stackagent/shadow/bus"
	"stackagent/shadow/ingest"
	"stackagent/shadow/share"
	"stackagent/shadow/store"
)

// Bounds of the wait for the last batches, after the command has ended.
const (
	drainLook      = 5 * time.Second // at what is on the bus
	drainLooks     = 4               // with nothing stored in them; in one of them the machine may have stood still
	daemonPatience = 3 * time.Second // for JVMs that outlive the command
	pollInterval   = 20 * time.Millisecond
)

// keepAll: the command reports every session when it ends.
const keepAll = 1 << 20

// busFolder holds the stream while the shadow runs; the leading dot keeps it
// apart from session folders, whose names never begin with one.
const busFolder = ".bus"

// collector is an embedded bus and what stores its batches.
type collector struct {
	root    string
	bus     *bus.Bus
	ingest  *ingest.Ingest
	private privateFolder
	left    []leftover.Result // what agents had left in spool files
}

// startCollector listens on a free loopback port and stores under root.
func startCollector(ctx context.Context, env Env, root string, live ingest.Live) (*collector, error) {
	quiet := slog.New(slog.DiscardHandler) // problems come by live
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: filepath.Join(root, busFolder), Logger: quiet, Full: func(full bool) { noteFull(env, full) }})
	if err != nil {
		return nil, fmt.Errorf("starting to collect in %s: %w", root, err)
	}
	in, err := ingest.Start(ctx, ingest.Options{Bus: b, Root: root, KeepEnded: keepAll, Live: live, Logger: quiet})
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("starting to collect in %s: %w", root, err)
	}
	c := &collector{root: root, bus: b, ingest: in}
	if c.private, err = newPrivateFolder(b.Token()); err != nil {
		c.abandon()
		return nil, err
	}
	return c, nil
}

// finish stores what is on the bus and ends. It waits a moment for JVMs that
// outlive the command; those that still run are in alive.
func (c *collector) finish(ctx context.Context) (sessions []ingest.Progress, alive []int, err error) {
	err = c.drain(ctx)
	for end := time.Now().Add(daemonPatience); len(c.running()) > 0 && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(pollInterval)
	}
	alive = c.running()
	if err == nil {
		c.left, err = leftover.Sweep(ctx, c.bus.JetStream(), c.bus.ClientURL(), c.private.spool())
	}
	if err == nil {
		err = c.drain(ctx)
	}
	ended := store.EndedLostContact
	if len(alive) > 0 {
		ended = store.EndedClosed
	}
	err = errors.Join(err, c.ingest.Close(ended))
	sessions = c.ingest.Sessions()
	c.bus.Close()
	c.private.remove()
	if err == nil { // else the stream still holds what could not be stored
		err = c.clear()
	}
	if err != nil {
		err = fmt.Errorf("storing the last batches: %w; after you fix that, `shadow serve --store %s` stores the rest", err, c.root)
	}
	return sessions, alive, err
}

// drain stores what is on the bus. It goes on as long as storing does, and ends
// with ctx.
func (c *collector) drain(ctx context.Context) error {
	for quiet, stored := 0, c.stored(); ; {
		look, cancel := context.WithTimeout(ctx, drainLook)
		err := c.ingest.Drain(look)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if now := c.stored(); now != stored {
			quiet, stored = 0, now
		} else if quiet++; quiet == drainLooks {
			return err
		}
	}
}

// stored is how many events are stored so far.
func (c *collector) stored() uint64 {
	n := uint64(0)
	for _, p := range c.ingest.Sessions() {
		n += p.Stored.Sum()
	}
	return n
}

// abandon ends a collection that nothing came of.
func (c *collector) abandon() {
	_ = c.ingest.Close(store.EndedClosed)
	c.bus.Close()
	c.private.remove()
	_ = c.clear()
}

// clear removes what only a running shadow needs.
func (c *collector) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(c.root, busFolder)), share.Remove(c.root))
}

// running are the processes of sessions that have not ended.
func (c *collector) running() []int {
	var pids []int
	for _, p := range c.ingest.Sessions() {
		if p.Ended == store.EndedRunning && proc.Alive(p.JVM.PID) {
			pids = append(pids, p.JVM.PID)
		}
	}
	return pids
}
