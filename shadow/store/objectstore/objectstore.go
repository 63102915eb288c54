// Package objectstore keeps files in a folder or in an S3-compatible object store, behind five operations. Everything that
// the fleet shares is built of them: an object appears whole or not at all, and PutIfAbsent decides between writers.
package objectstore

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors that callers tell apart. Stores wrap them and name the object.
var (
	ErrNotFound = errors.New("there is no such object")
	ErrExists   = errors.New("the object exists already")
)

// Object describes one.
type Object struct {
	Key      string // below the store's root, with slashes
	Bytes    int64
	Modified time.Time // by the store's clock
}

// Store is a folder or a bucket's prefix. Its methods may be called at once from several goroutines. A reader sees an
// object as it was before a write or after it, and lists and reads what was written before (S3 promises both).
type Store interface {
	// Put writes an object of size bytes and replaces the one of that name. Nothing is visible before all of it is.
	Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error
	// PutIfAbsent is Put if there is no such object; else it gives ErrExists. Of several writers one wins.
	PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error
	// GetRange reads at most n bytes from offset on; n < 0: to the end. The object that is returned describes the whole.
	GetRange(ctx context.Context, key string, offset, n int64) (io.ReadCloser, Object, error)
	// List gives the objects whose keys begin with prefix, in the order of their keys.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error
	// String is the store's address as users give it, without secrets.
	String() string
}
