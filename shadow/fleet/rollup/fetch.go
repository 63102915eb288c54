package rollup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"stackagent/shadow/store/objectstore"
)

// meter is a store that bounds how many requests are on their way, and counts them.
type meter struct {
	objectstore.Store
	room     chan struct{}
	requests atomic.Int64
	bytes    atomic.Int64
}

func newMeter(s objectstore.Store, parallel int) *meter {
	return &meter{Store: s, room: make(chan struct{}, parallel)}
}

// enter waits until a request may be sent.
func (m *meter) enter(ctx context.Context) error {
	select {
	case m.room <- struct{}{}:
		m.requests.Add(1)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *meter) leave() { <-m.room }

// get reads a range of an object whole, so that no request stays open while its bytes are used.
func (m *meter) get(ctx context.Context, key string, into []byte, offset int64) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.leave()
	r, _, err := m.Store.GetRange(ctx, key, offset, int64(len(into)))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.ReadFull(r, into)
	m.bytes.Add(int64(n))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// GetRange counts; the request is over when the content is closed.
func (m *meter) GetRange(ctx context.Context, key string, offset, n int64) (io.ReadCloser, objectstore.Object, error) {
	if err := m.enter(ctx); err != nil {
		return nil, objectstore.Object{}, err
	}
	r, o, err := m.Store.GetRange(ctx, key, offset, n)
	if err != nil {
		m.leave()
		return nil, o, err
	}
	return &metered{ReadCloser: r, m: m}, o, nil
}

type metered struct {
	io.ReadCloser
	m      *meter
	closed bool
}

func (r *metered) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.m.bytes.Add(int64(n))
	return n, err
}

func (r *metered) Close() error {
	if !r.closed {
		r.closed = true
		r.m.leave()
	}
	return r.ReadCloser.Close()
}

// list collects the objects of a prefix.
func (m *meter) list(ctx context.Context, prefix string) (all []objectstore.Object, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.leave()
	for o, err := range m.Store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", prefix, err)
		}
		all = append(all, o)
	}
	m.requests.Add(int64(len(all) / listedAtOnce))
	return all, nil
}

// listedAtOnce is how many objects a request for a list gives.
const listedAtOnce = 1000

// wholeBytes is up to which size a file is read by one request.
const wholeBytes = 1 << 20

// file is an object that is read at offsets.
type file struct {
	ctx  context.Context
	from *meter
	key  string
}

func (f *file) ReadAt(p []byte, at int64) (int, error) { return f.from.get(f.ctx, f.key, p, at) }

// whole reads all of a small object.
func (m *meter) whole(ctx context.Context, key string, size int64) ([]byte, error) {
	data := make([]byte, size)
	_, err := m.get(ctx, key, data, 0)
	return data, err
}

// readFile passes the selected rows of an object to use.
func readFile(ctx context.Context, s *meter, key string, size int64, sel Selection, use func([]Row) error) error {
	if size > wholeBytes {
		return Read(&file{ctx, s, key}, size, sel, use)
	}
	data, err := s.whole(ctx, key, size)
	if err != nil {
		return err
	}
	return Read(bytes.NewReader(data), size, sel, use)
}

// rowsOf iterates over the rows of an object, in order; data is its content, or nil. After an error it ends.
func rowsOf(ctx context.Context, s *meter, in input, data []byte) iter.Seq2[Row, error] {
	stop := errors.New("no more is wanted")
	var r io.ReaderAt = &file{ctx, s, in.key}
	if data != nil {
		r = bytes.NewReader(data)
	}
	return func(yield func(Row, error) bool) {
		err := Read(r, in.bytes, Selection{}, func(rows []Row) error {
			for _, r := range rows {
				if !yield(r, nil) {
					return stop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(Row{}, fmt.Errorf("%s: %w", in.key, err))
		}
	}
}
