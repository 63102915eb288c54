package ingest

import (
	"sync"
	"time"
)

// foreignTell is the shortest time between two lines about rows of strangers.
const foreignTell = 10 * time.Second

// Rows is a Live that is also told when somebody who is no shadow writes into the shadows' table on the bus, with how
// many rows were ignored since the start.
type Rows interface {
	ForeignRow(err error, rows uint64)
}

// foreignRows counts them.
type foreignRows struct {
	in *Ingest

	mu         sync.Mutex
	n          uint64
	last, told time.Time
}

func (f *foreignRows) tell(key string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	f.last = time.Now()
	if f.last.Sub(f.told) < foreignTell {
		return
	}
	f.told = f.last
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
