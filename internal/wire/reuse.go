package wire

import "sync"

// Decoding a full batch takes megabytes for a moment, many times a second:
// what is let go of is used again rather than cleared and collected.
var (
	codeLists = sync.Pool{New: func() any { return new([]uint64) }}
)

// reuse gives a list of n entries, whose content is left over from before.
func reuse[T any](pool *sync.Pool, n int) []T {
	p, _ := pool.Get().(*[]T)
	if p == nil || cap(*p) < n {
		return make([]T, n)
	}
	return (*p)[:n]
}

func letGo[T any](pool *sync.Pool, list []T) {
	if cap(list) > 0 {
		pool.Put(&list)
	}
}

// Release lets Decode use the memory of b's records again; b has none after
// it. It is for batches that came from Decode, and optional.
func (b *Batch) Release() {
	letGo(&executionsPayload.lists, b.Executions)
	letGo(&creationsPayload.lists, b.Creations)
	letGo(&submissionsPayload.lists, b.Submissions)
	letGo(&constructionsPayload.lists, b.Constructions)
	letGo(&waitsPayload.lists, b.Waits)
	letGo(&taskTracesPayload.lists, b.TaskTraces)
	b.Executions, b.Creations, b.Submissions, b.Constructions, b.Waits, b.TaskTraces = nil, nil, nil, nil, nil, nil
}
