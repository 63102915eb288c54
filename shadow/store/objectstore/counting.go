package objectstore

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
)

// keysPerPage is how many keys an object store lists per request.
const keysPerPage = 1000

// Cost is what was asked of a store: requests as an object store bills them, without repeated attempts, and bytes of
// objects. A folder is counted as if it were one.
type Cost struct {
	Puts    int64 `json:"puts"` // a large object takes one per part and two more
	Gets    int64 `json:"gets"`
	Lists   int64 `json:"lists"` // one per 1,000 keys
	Deletes int64 `json:"deletes"`
	Read    int64 `json:"bytes_read"`
	Written int64 `json:"bytes_written"`
}

// Counting is a store that counts what is asked of it.
type Counting struct {
	Store
	puts, gets, lists, deletes, read, written atomic.Int64
}

// NewCounting counts what is asked of a store through it.
func NewCounting(s Store) *Counting { return &Counting{Store: s} }

// Cost is the sum so far.
func (c *Counting) Cost() Cost {
	return Cost{
		Puts: c.puts.Load(), Gets: c.gets.Load(), Lists: c.lists.Load(), Deletes: c.deletes.Load(),
		Read: c.read.Load(), Written: c.written.Load(),
	}
}

// Put counts one request, or those of an upload in parts.
func (c *Counting) Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if c.puts.Add(1); size > partBytes {
		c.puts.Add((size+partBytes-1)/partBytes + 1)
	}
	c.written.Add(size)
	return c.Store.Put(ctx, key, content, size)
}

// PutIfAbsent counts one request.
func (c *Counting) PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	c.puts.Add(1)
	c.written.Add(size)
	return c.Store.PutIfAbsent(ctx, key, content, size)
}

// GetRange counts one request and the bytes that are read.
func (c *Counting) GetRange(ctx context.Context, key string, offset, n int64) (io.ReadCloser, Object, error) {
	c.gets.Add(1)
	body, o, err := c.Store.GetRange(ctx, key, offset, n)
	if err != nil {
		return nil, o, err
	}
	return countedBody{body, &c.read}, o, nil
}

type countedBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}

// List counts a request per page.
func (c *Counting) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		c.lists.Add(1)
		keys := 0
		for o, err := range c.Store.List(ctx, prefix) {
			if keys++; keys > 1 && keys%keysPerPage == 1 {
				c.lists.Add(1)
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// Delete counts one request.
func (c *Counting) Delete(ctx context.Context, key string) error {
	c.deletes.Add(1)
	return c.Store.Delete(ctx, key)
}

// Requests is how many there were in all.
func (c Cost) Requests() int64 { return c.Puts + c.Gets + c.Lists + c.Deletes }

// Add adds what was asked of another store.
func (c *Cost) Add(o Cost) {
	c.Puts, c.Gets, c.Lists, c.Deletes = c.Puts+o.Puts, c.Gets+o.Gets, c.Lists+o.Lists, c.Deletes+o.Deletes
	c.Read, c.Written = c.Read+o.Read, c.Written+o.Written
}
