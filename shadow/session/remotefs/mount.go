package remotefs

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"stackagent/internal/sessionfs"
	"stackagent/shadow/store/objectstore"
)

var (
	mu      sync.Mutex
	mounted = map[string]mount{} // by bucket
)

// mount is a bucket that is open.
type mount struct {
	options string
	store   *objectstore.Counting
}

// Mount opens the object store of an address s3://bucket/path?options, and gives the path by which the readers of sessions
// find it: s3:/bucket/path. A path that is on the disk stays as it is. A bucket is opened once; it has one set of options.
func Mount(ctx context.Context, address string) (string, error) {
	dir, _, err := open(ctx, address)
	return dir, err
}

// open gives the path of an address, and the store of its bucket; nil for a folder on the disk.
func open(ctx context.Context, address string) (string, *objectstore.Counting, error) {
	if !objectstore.Remote(address) {
		return address, nil, nil
	}
	if err := objectstore.CheckAddress(address); err != nil {
		return "", nil, err
	}
	where, options, _ := strings.Cut(address, "?")
	dir := filepath.Clean(where)
	bucket, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(dir, "s3:"), "/"), "/")
	mu.Lock()
	defer mu.Unlock()
	if m, ok := mounted[bucket]; ok && (options == "" || options == m.options) {
		return dir, m.store, nil
	} else if ok {
		return "", nil, fmt.Errorf("the bucket %s is open with other options: give them once", bucket)
	}
	root := "s3://" + bucket
	if options != "" {
		root += "?" + options
	}
	store, err := objectstore.Open(ctx, root)
	if err != nil {
		return "", nil, err
	}
	m := mount{options: options, store: objectstore.NewCounting(store)}
	mounted[bucket] = m
	sessionfs.Mount("s3:/"+bucket, New(ctx, m.store))
	return dir, m.store, nil
}

// Cost is what was asked of all stores that are mounted.
func Cost() (sum objectstore.Cost) {
	mu.Lock()
	defer mu.Unlock()
	for _, m := range mounted {
		sum.Add(m.store.Cost())
	}
	return sum
}

// Forget closes the stores that are mounted, so that they can be opened with other options. Files that are open stay so.
func Forget() {
	mu.Lock()
	defer mu.Unlock()
	clear(mounted)
}
