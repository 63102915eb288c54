package rollup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stackagent/shadow/store/objectstore"
)

// memory is a store whose operations can be made to fail, and whose clock the test turns.
type memory struct {
	mu      sync.Mutex
	objects map[string]stored
	now     time.Time
	// before and after an operation, by its number from 1 on, they may return an error; after: it was done.
	before, after func(n int, op, key string) error
	operations    int
}

type stored struct {
	data     []byte
	modified time.Time
}

func newMemory() *memory { return &memory{objects: map[string]stored{}, now: midnight} }

// clone is a store of the same content, without faults.
func (m *memory) clone() *memory { return &memory{objects: maps.Clone(m.objects), now: m.now} }

func (m *memory) String() string { return "memory" }

// do runs an operation, between the faults.
func (m *memory) do(op, key string, run func() error) error {
	m.mu.Lock()
	m.operations++
	n, before, after := m.operations, m.before, m.after
	m.mu.Unlock()
	if before != nil {
		if err := before(n, op, key); err != nil { // it may use the store
			return err
		}
	}
	m.mu.Lock()
	err := run()
	m.mu.Unlock()
	if err == nil && after != nil {
		err = after(n, op, key)
	}
	return err
}

func (m *memory) set(key string, content io.ReadSeeker, size int64) error {
	data, err := io.ReadAll(content)
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("%s: %d bytes, not %d", key, len(data), size)
	}
	if err == nil {
		m.objects[key] = stored{data, m.now}
	}
	return err
}

func (m *memory) Put(_ context.Context, key string, content io.ReadSeeker, size int64) error {
	return m.do("put", key, func() error { return m.set(key, content, size) })
}

func (m *memory) PutIfAbsent(_ context.Context, key string, content io.ReadSeeker, size int64) error {
	return m.do("put if absent", key, func() error {
		if _, there := m.objects[key]; there {
			return fmt.Errorf("%s: %w", key, objectstore.ErrExists)
		}
		return m.set(key, content, size)
	})
}

func (m *memory) GetRange(_ context.Context, key string, offset, n int64) (r io.ReadCloser, o objectstore.Object, err error) {
	err = m.do("get", key, func() error {
		x, there := m.objects[key]
		if !there {
			return fmt.Errorf("%s: %w", key, objectstore.ErrNotFound)
		}
		o = objectstore.Object{Key: key, Bytes: int64(len(x.data)), Modified: x.modified}
		rest := x.data[min(offset, o.Bytes):]
		if n >= 0 {
			rest = rest[:min(n, int64(len(rest)))]
		}
		r = io.NopCloser(bytes.NewReader(rest))
		return nil
	})
	return r, o, err
}

func (m *memory) List(_ context.Context, prefix string) iter.Seq2[objectstore.Object, error] {
	var found []objectstore.Object
	err := m.do("list", prefix, func() error {
		for _, k := range slices.Sorted(maps.Keys(m.objects)) {
			if strings.HasPrefix(k, prefix) {
				found = append(found, objectstore.Object{Key: k, Bytes: int64(len(m.objects[k].data)), Modified: m.objects[k].modified})
			}
		}
		return nil
	})
	return func(yield func(objectstore.Object, error) bool) {
		if err != nil {
			yield(objectstore.Object{}, err)
			return
		}
		for _, o := range found {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (m *memory) Delete(_ context.Context, key string) error {
	return m.do("delete", key, func() error {
		delete(m.objects, key)
		return nil
	})
}

// keys are those with a prefix.
func (m *memory) keys(prefix string) []string {
	all := slices.Sorted(maps.Keys(m.objects))
	return slices.DeleteFunc(all, func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

var errCrash = errors.New("crashed")

// crashAt lets all operations from number n on fail; done: the n-th is done all the same.
func (m *memory) crashAt(n int, done bool) {
	m.operations = 0
	m.before = func(i int, _, _ string) error {
		if i > n || i == n && !done {
			return errCrash
		}
		return nil
	}
	m.after = func(i int, _, _ string) error {
		if i >= n {
			return errCrash
		}
		return nil
	}
}

// recover ends the faults.
func (m *memory) recover() { m.before, m.after, m.operations = nil, nil, 0 }
