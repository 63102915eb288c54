package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"stackagent/internal/spool"
)

// Spool says where batches wait that memory has no room for.
type Spool struct {
	Folder   string // default spool.DefaultFolder
	MaxBytes int64  // bound of the file; 0: no file
}

const (
	spoolLook = time.Second // between two attempts on a failing disk
	keepLook  = time.Second // between two looks at the progress of Keep
	keepQuiet = 5           // looks without progress: the disk does not answer
	keepLooks = 30          // in all: the program is waiting to end
)

// spooler is the goroutine that moves batches between memory and the file.
type spooler struct {
	*Publisher
	file         *spool.File // nil until it is needed
	woken        chan struct{}
	done         chan struct{}
	retry        time.Time // no attempt to write before
	reported     bool      // that the disk fails
	reportedFull bool
	kept         atomic.Int64 // batches that keepAll has written
}

func newSpooler(p *Publisher) *spooler {
	return &spooler{Publisher: p, woken: make(chan struct{}, 1), done: make(chan struct{})}
}

// poke makes the goroutine look; never blocks. A nil spooler has nothing to do.
func (s *spooler) poke() {
	if s == nil {
		return
	}
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *spooler) run(ctx context.Context) {
	defer close(s.done)
	defer func() { <-disks }()
	defer func() {
		if x := recover(); x != nil {
			s.cfg.Notice(fmt.Sprintf("an internal error ended the use of the spool file, the program runs on: %v\n%s", x, debug.Stack()))
		}
	}()
	timer := time.NewTimer(spoolLook)
	defer timer.Stop()
	for ctx.Err() == nil {
		if s.step(time.Now()) {
			continue
		}
		timer.Reset(s.pause())
		select {
		case <-ctx.Done():
		case <-s.woken:
		case <-timer.C:
		}
	}
}

// pause is the time until the next look, if nothing pokes.
func (s *spooler) pause() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tail) == 0 {
		return calmLook
	}
	return spoolLook
}

// step does the most urgent thing; false: there is nothing to do.
func (s *spooler) step(now time.Time) bool {
	s.free()
	s.mu.Lock()
	load := s.low()
	if !load {
		s.spillOrSend()
	}
	store := len(s.tail) > 0 && !now.Before(s.retry)
	var next message
	switch {
	case load:
		next = s.inFile[0]
	case store:
		next, s.moving = s.tail[0], true
	}
	s.mu.Unlock()
	switch {
	case load:
		s.readBack(next)
	case store:
		return s.put(next, now)
	}
	return load
}

// spillOrSend moves the tail to the head if that has room; with the lock held.
func (s *spooler) spillOrSend() {
	if len(s.tail) > 0 && s.bytes <= s.headMax {
		s.shortcut()
		s.Publisher.poke()
	}
}

// put writes m, the first of the tail, to the file.
func (s *spooler) put(m message, now time.Time) bool {
	ref, err := s.store(m)
	s.mu.Lock()
	s.moving = false
	if err == nil {
		s.wrote(ref)
		s.stats.Spooled++
		s.wake()
	}
	s.mu.Unlock()
	if err == nil {
		s.reported, s.reportedFull = false, false
		return true
	}
	s.retry = now.Add(spoolLook)
	s.refused(err)
	return false
}

func (s *spooler) store(m message) (spool.Ref, error) {
	if s.file == nil {
		if err := s.create(); err != nil {
			return spool.Ref{}, err
		}
	}
	return s.file.Append(m.seq, m.data)
}

func (s *spooler) create() error {
	folder := s.cfg.Spool.Folder
	if folder == "" {
		folder = spool.DefaultFolder()
	}
	if err := spool.Prepare(folder); err != nil {
		return err
	}
	var err error
	s.file, err = spool.Create(folder, spool.Meta{Session: s.cfg.Session, Process: s.cfg.Process, Bus: s.shown, PID: os.Getpid()}, s.cfg.Spool.MaxBytes)
	return err
}

// refused reports once that the file takes nothing more.
func (s *spooler) refused(err error) {
	switch {
	case errors.Is(err, spool.ErrFull) && !s.reportedFull:
		s.reportedFull = true
		s.cfg.Notice(fmt.Sprintf("the bus at %s is away or too slow and the spool file %s is full (%d MiB); batches beyond that are dropped and counted", s.shown, s.file.Path(), s.cfg.Spool.MaxBytes>>20))
	case !errors.Is(err, spool.ErrFull) && !s.reported:
		s.reported = true
		s.cfg.Notice(fmt.Sprintf("batches cannot be kept on the disk, the program runs on: %v; choose another folder with spool=, or spool=off", err))
	}
}

// readBack reads m, the oldest in the file, into memory.
func (s *spooler) readBack(m message) {
	data, err := s.file.Read(m.ref)
	if err != nil {
		s.cfg.Notice("a batch is lost: " + err.Error())
		data = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load(data)
	if data == nil {
		s.stats.Damaged++
	}
	s.wake()
	s.Publisher.poke()
}

// free returns the space of delivered batches to the disk.
func (s *spooler) free() {
	s.mu.Lock()
	end := s.delivered()
	s.mu.Unlock()
	if end > 0 {
		s.retry = time.Time{}
		if err := s.file.Release(end); err != nil {
			s.refused(err)
		}
	}
}

// Kept is what Keep has left for later.
type Kept struct {
	Path    string // of the spool file; "": nothing is left to deliver
	Batches int    // in it
	Lost    int    // batches that could not be kept
}

// Keep ends publishing and leaves what is not acknowledged in the spool file, for
// `shadow deliver` or a shadow on this machine. If there is nothing to keep, it leaves
// no file. The error says why batches are lost.
func (p *Publisher) Keep() (Kept, error) {
	p.Close()
	if p.spooler == nil {
		return Kept{Lost: p.undelivered().Batches}, nil
	}
	type result struct {
		kept Kept
		err  error
	}
	done := make(chan result, 1)
	go func() {
		<-p.spooler.done
		disks <- struct{}{}
		defer func() { <-disks }()
		kept, err := p.spooler.keep()
		done <- result{kept, err}
	}()
	tick := time.NewTicker(keepLook)
	defer tick.Stop()
	kept := int64(0)
	for quiet, looks := 0, 0; quiet < keepQuiet && looks < keepLooks; looks++ {
		select {
		case r := <-done:
			return r.kept, r.err
		case <-tick.C: // a stopped process gets one of them
		}
		if n := p.spooler.kept.Load(); n != kept {
			kept, quiet = n, 0
		} else {
			quiet++
		}
	}
	return Kept{Lost: p.undelivered().Batches}, errors.New("the disk of the spool file does not answer")
}

// keep writes what is in memory only to the file; the goroutine has ended.
func (s *spooler) keep() (Kept, error) {
	s.free()
	s.mu.Lock()
	total, list := len(s.open), s.unfiled()
	s.mu.Unlock()
	if total == 0 {
		if s.file == nil {
			return Kept{}, nil
		}
		return Kept{}, s.file.Remove()
	}
	lost, err := s.keepAll(list)
	if s.file == nil {
		return Kept{Lost: total}, err
	}
	kept := Kept{Path: s.file.Path(), Batches: total - lost, Lost: lost}
	if kept.Batches == 0 {
		return Kept{Lost: lost}, errors.Join(err, s.file.Remove())
	}
	return kept, errors.Join(err, s.file.Close())
}

// keepAll writes list. The bound of the file does not apply to it: what memory held
// has a bound of its own.
func (s *spooler) keepAll(list []message) (lost int, err error) {
	for i, m := range list {
		if s.file == nil {
			if err := s.create(); err != nil {
				return len(list), err
			}
		}
		if i == 0 {
			s.file.Grow(int64(s.cfg.MaxBytes + forcedBytes))
		}
		if _, err := s.file.Append(m.seq, m.data); err != nil {
			return len(list) - i, err
		}
		s.kept.Add(1)
	}
	return 0, nil
}
