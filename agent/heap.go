package agent

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Bounds of the Go heap. What lives is some MiB, besides the batches that wait for the bus.
const (
	gcPercent   = 200      // of what lives: at 50 a collection came every 2 MiB
	heapLimit   = 24 << 20 // soft, see docs/internals/design-limits.md: near it collections come more often, and what is free goes back to the system
	heapRoom    = 12 << 20 // at least so much beyond what lives, or collections would take the program's time
	heapStep    = 4 << 20  // the limit changes by multiples of it
	heapLookout = 500 * time.Millisecond
)

// heapLimitFor is the limit of a heap in which so many bytes live.
func heapLimitFor(live int64) int64 {
	limit := max(heapLimit, live+live/4+heapRoom)
	return (limit + heapStep - 1) / heapStep * heapStep
}

// watchHeap keeps the limit above what lives until ctx ends: batches that wait for a bus that is away
// may take more than heapLimit.
func watchHeap(ctx context.Context) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := time.NewTicker(heapLookout)
	defer ticker.Stop()
	limit := int64(heapLimit)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		metrics.Read(sample)
		if next := heapLimitFor(int64(sample[0].Value.Uint64())); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}
