package agent

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Bounds of the Go heap. A few MiB are live, and the batches that wait for the bus.
const (
	gcPercent   = 200      // of the live heap: at 50 there was a collection every 2 MiB
	heapLimit   = 24 << 20 // soft, see docs/internals/design-limits.md: near it the runtime collects more often and returns free memory
	heapRoom    = 12 << 20 // at least this much above the live heap, or collections would take the program's time
	heapStep    = 4 << 20  // the limit changes in these steps
	heapLookout = 500 * time.Millisecond
)

// heapLimitFor is the limit of a heap with that many live bytes.
func heapLimitFor(live int64) int64 {
	limit := max(heapLimit, live+live/4+heapRoom)
	return (limit + heapStep - 1) / heapStep * heapStep
}

// watchHeap keeps the limit above the live heap until ctx ends: while the bus is away,
// waiting batches may take more than heapLimit.
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
