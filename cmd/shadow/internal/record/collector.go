// Package record records JVMs into a folder: an embedded bus and what stores its batches (Collector), counters in the
// threads of each JVM (Watcher), and what the scheduler does with them (Switches).
package record

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/leftover"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/collect/ownership"
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

// BusFolder holds the stream while the shadow runs; the leading dot keeps it
// apart from session folders, whose names never begin with one.
const BusFolder = ".bus"

// Collector is an embedded bus and what stores its batches.
type Collector struct {
	root    string
	Bus     *bus.Bus
	Ingest  *ingest.Ingest
	private privateFolder
	lock    *os.File          // of private
	Left    []leftover.Result // what agents had left in spool files
}

// Start listens on a free loopback port and stores under root.
func Start(ctx context.Context, env console.Env, root string, live ingest.Live) (*Collector, error) {
	quiet := slog.New(slog.DiscardHandler) // problems come by live
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: filepath.Join(root, BusFolder), Logger: quiet, Full: func(full bool) { NoteFull(env, full) }})
	if err != nil {
		return nil, fmt.Errorf("starting to collect in %s: %w", root, err)
	}
	in, err := ingest.Start(ctx, ingest.Options{Bus: b, Root: root, KeepEnded: keepAll, Live: live, Logger: quiet})
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("starting to collect in %s: %w", root, err)
	}
	c := &Collector{root: root, Bus: b, Ingest: in}
	if c.private, c.lock, err = newPrivateFolder(root, b.Token()); err != nil {
		c.Abandon()
		return nil, err
	}
	return c, nil
}

// Finish stores what is on the bus and ends. It waits a moment for JVMs that
// outlive the command; those that still run are in alive.
func (c *Collector) Finish(ctx context.Context) (sessions []ingest.Progress, alive []int, err error) {
	err = c.Drain(ctx)
	for end := time.Now().Add(daemonPatience); slices.ContainsFunc(c.running(), mayEnd) && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(pollInterval)
	}
	alive = c.running()
	if err == nil {
		c.Left, err = leftover.Sweep(ctx, c.Bus.JetStream(), c.Bus.ClientURL(), c.private.spool())
	}
	if err == nil {
		err = c.Drain(ctx)
	}
	ended := store.EndedLostContact
	if len(alive) > 0 {
		ended = store.EndedClosed
	}
	err = errors.Join(err, c.Ingest.Close(ended))
	sessions = c.Ingest.Sessions()
	c.Bus.Close()
	c.lock.Close()
	c.private.remove()
	if err == nil { // else the stream still holds what could not be stored
		err = c.clear()
	}
	if err != nil {
		err = fmt.Errorf("storing the last batches: %w; after you fix that, `shadow serve --store %s` stores the rest", err, text.ShellWord(c.root))
	}
	return sessions, alive, err
}

// Drain stores what is on the bus. It goes on as long as storing does, and ends
// with ctx.
func (c *Collector) Drain(ctx context.Context) error {
	for quiet, stored := 0, c.stored(); ; {
		look, cancel := context.WithTimeout(ctx, drainLook)
		err := c.Ingest.Drain(look)
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
func (c *Collector) stored() uint64 {
	n := uint64(0)
	for _, p := range c.Ingest.Sessions() {
		n += p.Stored.Sum()
	}
	return n
}

// Abandon ends a collection that nothing came of.
func (c *Collector) Abandon() {
	_ = c.Ingest.Close(store.EndedClosed)
	c.Bus.Close()
	c.lock.Close() // of nil: an error, which is fine
	c.private.remove()
	_ = c.clear()
}

// clear removes what only a running shadow needs.
func (c *Collector) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(c.root, BusFolder)), ownership.Remove(c.root))
}

// mayEnd reports whether a process is not stopped.
func mayEnd(pid int) bool {
	stat, err := proc.Process(pid).Stat()
	return err != nil || stat.State != 'T' && stat.State != 't'
}

// running are the processes of sessions that have not ended.
func (c *Collector) running() []int {
	var pids []int
	for _, p := range c.Ingest.Sessions() {
		if p.Ended == store.EndedRunning && proc.Alive(p.JVM.PID) {
			pids = append(pids, p.JVM.PID)
		}
	}
	return pids
}
