package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnconditional is a store that ignores the condition of a write: two writers would both believe that they won.
var ErrUnconditional = errors.New("the object store ignores If-None-Match: * on writes, which keeps two shadows from counting the same twice; use one that knows conditional writes")

// Cleaner is a store in which writers that died leave something behind that nobody sees.
type Cleaner interface {
	// CleanUploads removes what is below prefix and was begun more than age ago, and says how many.
	CleanUploads(ctx context.Context, prefix string, age time.Duration) (int, error)
}

// Probe writes an object twice, on the condition that there is none, and removes it. That a store ignores the condition is
// ErrUnconditional; other errors say that it cannot be written to at the moment.
func Probe(ctx context.Context, s Store) error {
	key := "probe/" + rand.Text()
	const content = "Tests whether conditional writes work. It can be deleted."
	put := func() error { return s.PutIfAbsent(ctx, key, strings.NewReader(content), int64(len(content))) }
	if err := put(); err != nil {
		return fmt.Errorf("trying the object store: %w", err)
	}
	err := put()
	switch {
	case err == nil:
		err = ErrUnconditional
	case errors.Is(err, ErrExists):
		err = nil
	}
	return errors.Join(err, s.Delete(ctx, key))
}
