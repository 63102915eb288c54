package wire

import "sync"

// Decoding a full batch takes megabytes for a moment, many times a second:
// what is let go of is used again rather than cleared and collected.
var (
	executionLists = sync.Pool{New: func() any { return new([]Execution) }}
	creationLists  = sync.Pool{New: func() any { return new([]Creation) }}
	codeLists      = sync.Pool{New: func() any { return new([]uint64) }}
)

// reuse gives a list of n entries, whose content is left over from before.
func reuse[T any](pool *sync.Pool, n int) []T {
	p := pool.Get().(*[]T)
	if cap(*p) < n {
		return make([]T, n)
	}
	return (*p)[:n]
}

func letGo[T any](pool *sync.Pool, list []T) {
	if cap(list) > 0 {
		pool.Put(&list)
	}
}

// Release lets Decode use the memory of b's executions and creations again;
// b has none after it. It is for batches that came from Decode, and optional.
func (b *Batch) Release() {
	letGo(&executionLists, b.Executions)
	letGo(&creationLists, b.Creations)
	b.Executions, b.Creations = nil, nil
}
