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
	strangers map[string]os.FileInfo // by path
	since     time.Time              // when the first of them was read
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
	before := s.strangers
	if time.Since(s.since) > strangersFor {
		before, s.since = nil, time.Now()
	}
	s.strangers = make(map[string]os.FileInfo)
	for _, folder := range folders {
		for _, path := range spool.Files(folder) {
			info, err := os.Lstat(path)
			if err != nil {
				continue // another shadow has just delivered it
			}
			if same(before[path], info) {
				s.strangers[path] = info
				continue
			}
			r, delivered, err := s.file(ctx, js, address, path, info)
			errs = errors.Join(errs, err)
			if delivered {
				results = append(results, r)
			}
		}
	}
	return results, errs
}

// file delivers one file if it is for the bus, and remembers it if it is not.
func (s *Sweeper) file(ctx context.Context, js jetstream.JetStream, address, path string, info os.FileInfo) (r Result, delivered bool, err error) {
	l, err := spool.Open(path)
	switch {
	case errors.Is(err, spool.ErrNotSpool):
		s.strangers[path] = info
		return r, false, nil
	case errors.Is(err, spool.ErrInUse), errors.Is(err, os.ErrNotExist):
		return r, false, nil
	case err != nil:
		return r, false, err
	case !SameBus(l.Meta.Bus, address):
		s.strangers[path] = info
		l.Close()
		return r, false, nil
	}
	r, err = Deliver(ctx, js, l)
	return r, err == nil, err
}

// same tells whether a file has not changed; old is nil when it was not there.
func same(old, now os.FileInfo) bool {
	return old != nil && os.SameFile(old, now) && old.Size() == now.Size() && old.ModTime().Equal(now.ModTime())
}
