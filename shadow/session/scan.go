package session

import (
	"runtime"

	"stackagent/shadow/store"
)

// maxWorkers bounds the goroutines of a scan, each of which has its own state.
const maxWorkers = 4

// Workers is the number of goroutines on which scans run.
func Workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// ScanExecutions reads the wanted columns of all executions, in no order; the
// others are empty. use is called from several goroutines at once, each with
// its own number, 0 to Workers()-1. Chunks are reused between calls. Scans of a
// damaged session give the same rows each time, whatever the columns, unless a
// later one finds more damage.
func (s *Session) ScanExecutions(want store.Columns, use func(worker int, c *Chunk) error) error {
	return s.scanExecutions(want, Workers(), use)
}

// ScanCreations reads the wanted columns of all creations.
func (s *Session) ScanCreations(want store.Columns, use func(worker int, c *CreationChunk) error) error {
	return s.scanCreations(want, Workers(), use)
}

// scanExecutions with one worker keeps the order of the batches.
func (s *Session) scanExecutions(want store.Columns, workers int, use func(worker int, c *Chunk) error) error {
	bad, err := s.folder.ScanExecutions(want, workers, use)
	s.warnRows(bad)
	return hint(err)
}

func (s *Session) scanCreations(want store.Columns, workers int, use func(worker int, c *CreationChunk) error) error {
	bad, err := s.folder.ScanCreations(want, workers, use)
	s.warnRows(bad)
	return hint(err)
}

// SumExecutions reads all executions, part by part: those that have sums by these, of the others the wanted columns of
// the rows. Counts, sums and extremes are exact either way. Both are called as ScanExecutions calls use.
func (s *Session) SumExecutions(want store.Columns, sums func(worker int, x *store.Sums) error, use func(worker int, c *Chunk) error) error {
	bad, err := s.folder.SumExecutions(want, Workers(), sums, use)
	s.warnRows(bad)
	return hint(err)
}

// sumCreations is SumExecutions for the creations.
func (s *Session) sumCreations(want store.Columns, sums func(worker int, x *store.Sums) error, use func(worker int, c *CreationChunk) error) error {
	bad, err := s.folder.SumCreations(want, Workers(), sums, use)
	s.warnRows(bad)
	return hint(err)
}
