// Package ingest takes batches from the bus and stores them: in order, once,
// on one clock, with gaps counted. A message is acknowledged only when what it
// brought is on the disk.
package ingest

import (
	"context"
	"log/slog"
	"time"

	"stackagent/shadow/bus"
	"stackagent/shadow/store"
)

// Options of Start; zero values choose the defaults.
type Options struct {
	Bus          *bus.Bus
	Root         string        // each session becomes a folder in it
	PartRows     int           // a part closes at this many rows
	PartInterval time.Duration // or this long after its first batch came
	LostContact  time.Duration // a session without a batch for so long is closed
	MaxSessions  int           // open at once
	Live         Live          // may be nil
	Logger       *slog.Logger
}

// Progress is where a session stands.
type Progress struct {
	Session   string
	Folder    string // its folder
	JVM       store.JVM
	Received  store.Counts // events received, stored or about to be
	Stored    store.Counts
	Lost      store.Lost
	Batches   uint64
	Ended     string // one of store's Ended constants
	LastBatch time.Time
}

// Live is told what happens, for a display. Calls come from several goroutines
// and must return quickly.
type Live interface {
	// Progress comes at the start, after every stored part, and at the end of a session.
	Progress(p Progress)
	// Problem comes once when storing stops working, and with nil when it works again.
	Problem(session string, err error)
}

// Ingest is a running consumer.
type Ingest struct{}

// Start begins to consume.
func Start(ctx context.Context, o Options) (*Ingest, error) { return nil, nil }

// Drain returns when everything that was published before the call is stored.
func (in *Ingest) Drain(ctx context.Context) error { return nil }

// Sessions tells where all sessions seen so far stand, in order of appearance.
func (in *Ingest) Sessions() []Progress { return nil }

// Close stores what has been received and ends: sessions that have not ended
// are marked with ended (store.EndedClosed, or store.EndedLostContact when
// their JVMs are known to be gone).
func (in *Ingest) Close(ended string) error { return nil }
