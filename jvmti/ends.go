package jvmti

/*
#include <stdlib.h>
#include "agent.h"
*/
import "C"

import (
	"time"
	"unsafe"
)

// ThreadCounts is what a platform thread has produced, or lost, until now;
// Thread 0 stands for all virtual threads.
type ThreadCounts struct {
	Thread                      uint32 // wire.Thread.ID
	Executions, Creations, Lost uint64
}

// Settle waits until no probe is at work any more, at most for max. To be
// called after recording has stopped, and not concurrently with Drain.
func Settle(max time.Duration) { C.sa_settle(C.uint64_t(max)) }

// Running returns records of the executions that have not ended, in the
// layout of a ring, and by thread how many had no room there. To be called
// after Settle.
func Running() (slots []byte, skipped []ThreadCounts) {
	const room = 32 << 20 // C memory, of which only what is used gets touched
	const lines = 1 << 16
	out := C.malloc(room)
	defer C.free(out)
	left := (*C.sa_thread_counts)(C.calloc(lines, C.sizeof_sa_thread_counts))
	defer C.free(unsafe.Pointer(left))
	var used C.size_t
	n := C.sa_snapshot_running((*C.uint8_t)(out), room, left, lines, &used)
	for _, c := range unsafe.Slice(left, int(used)) {
		if c.lost > 0 {
			skipped = append(skipped, threadCounts(&c))
		}
	}
	return C.GoBytes(out, C.int(n)), skipped
}

// FinalCounts returns what each platform thread that is alive has produced,
// running executions included, and how many virtual threads are executing
// now. To be called after Settle.
func FinalCounts() (threads []ThreadCounts, virtualRunning uint64) {
	n := C.sa_final_counts(nil, 0) + 64 // some may attach themselves meanwhile
	out := (*C.sa_thread_counts)(C.calloc(n, C.sizeof_sa_thread_counts))
	defer C.free(unsafe.Pointer(out))
	lines := unsafe.Slice(out, int(min(n, C.sa_final_counts(out, n))))
	for i := range lines[1:] {
		threads = append(threads, threadCounts(&lines[1+i]))
	}
	return threads, uint64(lines[0].executions)
}

func threadCounts(c *C.sa_thread_counts) ThreadCounts {
	return ThreadCounts{uint32(c.thread_id), uint64(c.executions), uint64(c.creations), uint64(c.lost)}
}
