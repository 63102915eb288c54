package remotefs

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"stackagent/internal/sessionfs"
	"stackagent/shadow/store/objectstore"
)

const (
	// unit is what is read at least. The footer of most files of a session fits.
	unit = 64 << 10
	// mostAhead bounds a request: one that goes on where the last one ended asks for twice as much.
	mostAhead = 1 << 20 / unit
	// cacheUnits bounds what is kept: 64 MiB.
	cacheUnits = 1024
)

// cache keeps pieces of objects. An object is read in requests that grow while it is read in order, so that a footer costs
// 64 KiB and a whole file few requests.
type cache struct {
	ctx   context.Context
	store objectstore.Store

	mu    sync.Mutex
	units map[place]*list.Element // of *piece
	used  *list.List              // the latest first
}

// place is a unit of an object.
type place struct {
	key string
	n   int64
}

// piece is the content of a unit, when ready is closed.
type piece struct {
	place
	ready chan struct{}
	data  []byte
	err   error
	run   int64 // units of the request that it came with
}

func newCache(ctx context.Context, store objectstore.Store) *cache {
	return &cache{ctx: ctx, store: store, units: map[place]*list.Element{}, used: list.New()}
}

// readAt reads from an object of that size, as io.ReaderAt does.
func (c *cache) readAt(key string, size int64, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: offset %d", key, off)
	}
	for n < len(p) && off < size {
		piece, err := c.get(key, size, off/unit, (off+int64(len(p)-n)-1)/unit)
		if err != nil {
			return n, err
		}
		got := copy(p[n:], piece[off%unit:])
		n, off = n+got, off+int64(got)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// get gives unit n of an object; units up to last are wanted next.
func (c *cache) get(key string, size, n, last int64) ([]byte, error) {
	p, fetch := c.lookup(key, size, n, last)
	if fetch != nil {
		c.fetch(key, size, fetch)
	}
	select {
	case <-p.ready:
		return p.data, p.err
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

// lookup finds a unit, or makes it and those that are to be fetched with it.
func (c *cache) lookup(key string, size, n, last int64) (p *piece, fetch []*piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.units[place{key, n}]; e != nil {
		c.used.MoveToFront(e)
		return e.Value.(*piece), nil
	}
	run := last - n + 1
	if before := c.units[place{key, n - 1}]; before != nil {
		run = max(run, 2*before.Value.(*piece).run)
	}
	run = min(run, mostAhead, (size+unit-1)/unit-n)
	for at := n; at < n+run && c.units[place{key, at}] == nil; at++ {
		fetch = append(fetch, &piece{place: place{key, at}, ready: make(chan struct{})})
	}
	for _, x := range fetch {
		x.run = int64(len(fetch))
		c.units[x.place] = c.used.PushFront(x)
	}
	for len(c.units) > cacheUnits { // who waits for one that goes has it in hand
		oldest := c.used.Back()
		c.used.Remove(oldest)
		delete(c.units, oldest.Value.(*piece).place)
	}
	return fetch[0], fetch
}

// fetch reads consecutive units by one request. What fails is asked for again by the next reader.
func (c *cache) fetch(key string, size int64, fetch []*piece) {
	begin := fetch[0].n * unit
	data := make([]byte, min(int64(len(fetch))*unit, size-begin))
	err := c.read(key, size, begin, data)
	for i, x := range fetch {
		if err == nil {
			x.data = data[i*unit : min((i+1)*unit, len(data))]
		}
		x.err = err
		close(x.ready)
	}
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range fetch {
		if e := c.units[x.place]; e != nil && e.Value == x {
			c.used.Remove(e)
			delete(c.units, x.place)
		}
	}
}

func (c *cache) read(key string, size, begin int64, data []byte) error {
	body, o, err := c.store.GetRange(c.ctx, key, begin, int64(len(data)))
	if errors.Is(err, objectstore.ErrNotFound) { // deleted since it was listed
		return failed("read", key, err)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", sessionfs.ErrUnreachable, err)
	}
	defer func() { _ = body.Close() }()
	if o.Bytes != size {
		return fmt.Errorf("%s/%s has %d bytes, not %d: it was replaced while it was read", c.store, key, o.Bytes, size)
	}
	if _, err := io.ReadFull(body, data); err != nil {
		return fmt.Errorf("%w: %s/%s: %w", sessionfs.ErrUnreachable, c.store, key, err)
	}
	return nil
}
