package ingest

import (
	"sync"
	"time"
)

// foreignPause is the shortest time between two lines about rows of strangers.
const foreignPause = 10 * time.Second

// Rows is a Live that also learns when somebody who is no shadow writes into the shadows' table on the bus, with how
// many rows were ignored since the start.
type Rows interface {
	ForeignRow(err error, rows uint64)
}

// foreignRows counts them.
type foreignRows struct {
	in *Ingest

	mu             sync.Mutex
	n              uint64
	last, reported time.Time
}

func (f *foreignRows) report(key string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	f.last = time.Now()
	if f.last.Sub(f.reported) < foreignPause {
		return
	}
	f.reported = f.last
	f.in.log.Warn("ingest: a row of the shadows' table is ignored", "key", key, "error", err, "rows", f.n)
	if r, ok := f.in.o.Live.(Rows); ok {
		r.ForeignRow(err, f.n)
	}
}

// ForeignRows counts the rows of the shadows' table that no shadow had written, and says when the last came.
func (in *Ingest) ForeignRows() (n uint64, last time.Time) {
	in.foreign.mu.Lock()
	defer in.foreign.mu.Unlock()
	return in.foreign.n, in.foreign.last
}
