package jvmti

/*
#include <stdlib.h>
#include "drain.h"
*/
import "C"

import (
	"time"
	"unsafe"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// ThreadCounts is what a platform thread has produced, or lost, until now;
// Thread 0 stands for all virtual threads.
type ThreadCounts struct {
	Thread                      uint32 // wire.Thread.ID
	Executions, Creations, Lost uint64
	Running                     uint64 // of Executions
}

// Settle waits until no probe is at work any more, at most for max. Mounts of virtual threads that have not ended become open executions of
// their carriers. To be called after recording has stopped, and not concurrently with Drain.
func Settle(max time.Duration) {
	C.sa_settle(C.uint64_t(max))
	C.sa_mounts_open()
}

// Running returns a function that reads records of the executions that have not ended, in
// the layout of a ring, a part with each call; an empty part is the end. The part is
// valid until the next call. Call it after Settle.
func Running() func() []byte {
	const room = 1 << 20
	at := (*C.sa_running)(C.calloc(1, C.sizeof_sa_running))
	buffer := make([]byte, room)
	return func() []byte {
		if at == nil {
			return nil
		}
		n := C.sa_snapshot_running(at, (*C.uint8_t)(unsafe.Pointer(&buffer[0])), room)
		if n == 0 {
			C.free(unsafe.Pointer(at))
			at = nil
		}
		return buffer[:n]
	}
}

// FinalCounts returns what each platform thread that is alive has produced,
// running executions included, and how many virtual threads are executing
// now. Call it after Settle.
func FinalCounts() (threads []ThreadCounts, virtualRunning uint64) {
	n := C.sa_final_counts(nil, 0) + 64 // more may attach themselves meanwhile
	out := (*C.sa_thread_counts)(C.calloc(n, C.sizeof_sa_thread_counts))
	defer C.free(unsafe.Pointer(out))
	lines := unsafe.Slice(out, int(min(n, C.sa_final_counts(out, n))))
	for i := range lines[1:] {
		threads = append(threads, threadCounts(&lines[1+i]))
	}
	return threads, uint64(lines[0].executions)
}

func threadCounts(c *C.sa_thread_counts) ThreadCounts {
	return ThreadCounts{uint32(c.thread_id), uint64(c.executions), uint64(c.creations), uint64(c.lost), uint64(c.running)}
}

// RunningNow is what platform threads execute at the moment; it may be called at any time.
func RunningNow() *wire.RunningReport {
	list := make([]C.sa_open_thread, wire.MaxRunningThreads)
	var more C.uint64_t
	r := &wire.RunningReport{At: Clock().Ticks}
	n := int(C.sa_open_now(&list[0], C.size_t(len(list)), &more))
	r.More = uint64(more)
	for i := range list[:n] {
		t := &list[i]
		x := wire.RunningThread{Thread: uint32(t.thread_id), Executions: make([]wire.RunningExecution, t.n)}
		for k := range x.Executions {
			e := &t.executions[k]
			x.Executions[k] = wire.RunningExecution{TaskID: uint64(e.task_id), Class: uint32(e.class_id), Start: units.Ticks(e.start_ticks)}
		}
		r.Threads = append(r.Threads, x)
	}
	return r
}

var _ = [1]struct{}{}[C.SA_OPEN_DEPTH-wire.MaxRunning]
