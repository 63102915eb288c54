package leftover

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/spool"
)

// strangersFor is how long a file that is not for the bus is left alone without another look, as long as it does not
// change: the machine may get another name or address.
const strangersFor = time.Minute

// Sweeper delivers the files that JVMs have left, again and again. It remembers which are not for its bus: reading
// those each time would take more of a CPU than all else that an idle shadow does.
type Sweeper struct {
	strangers map[string]stranger    // by path
	folders   map[string]os.FileInfo // in which there are only files for other buses
	since     time.Time              // when the first of them was read
}

type stranger struct {
	info    os.FileInfo
	another bool // it is for another bus; else no spool file, perhaps as yet
}

// Sweep delivers the files of folders once, see Sweeper.Sweep.
func Sweep(ctx context.Context, js jetstream.JetStream, address string, folders ...string) ([]Result, error) {
	return new(Sweeper).Sweep(ctx, js, address, folders...)
}

// Sweep delivers the files of folders whose batches were to go to the bus at
// address (a URL as agents write it). Files of running JVMs and of other buses
// are left alone.
func (s *Sweeper) Sweep(ctx context.Context, js jetstream.JetStream, address string, folders ...string) ([]Result, error) {
	var results []Result
	var errs error
	if time.Since(s.since) > strangersFor || s.strangers == nil {
		s.strangers, s.folders, s.since = map[string]stranger{}, map[string]os.FileInfo{}, time.Now()
	}
	for _, folder := range folders {
		now, err := os.Stat(folder)
		if err != nil || same(s.folders[folder], now) {
			continue // it is not there yet, or still holds strangers only
		}
		delete(s.folders, folder)
		only := true
		for _, path := range spool.Files(folder) {
			r, delivered, err := s.file(ctx, js, address, path)
			errs = errors.Join(errs, err)
			if delivered {
				results = append(results, r)
			}
			only = only && s.strangers[path].another
		}
		if only && time.Since(now.ModTime()) > time.Second { // else another file may come with the same time
			s.folders[folder] = now
		}
	}
	return results, errs
}

// file delivers one file if it is for the bus, and remembers it if it is not.
func (s *Sweeper) file(ctx context.Context, js jetstream.JetStream, address, path string) (r Result, delivered bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		delete(s.strangers, path)
		return r, false, nil // another shadow has just delivered it
	case same(s.strangers[path].info, info):
		return r, false, nil
	}
	delete(s.strangers, path)
	l, err := spool.Open(path)
	switch {
	case errors.Is(err, spool.ErrNotSpool):
		s.strangers[path] = stranger{info: info}
		return r, false, nil
	case errors.Is(err, spool.ErrInUse), errors.Is(err, os.ErrNotExist):
		return r, false, nil
	case err != nil:
		return r, false, err
	case !SameBus(l.Meta.Bus, address):
		s.strangers[path] = stranger{info: info, another: true}
		l.Close()
		return r, false, nil
	}
	r, err = Deliver(ctx, js, l)
	return r, err == nil, err
}

// same reports whether a file has not changed; old is nil when it was not there.
func same(old, now os.FileInfo) bool {
	return old != nil && os.SameFile(old, now) && old.Size() == now.Size() && old.ModTime().Equal(now.ModTime())
}
